// A number in a field of its own, with its label and, where it has steps, a button for one down and one up.
// Plain, as `slider.js`: the same in a page, in embeds and in notebooks.
//
// options: { label, help, value } and those of `number_field.js`; value: null where none is given yet.

import { NumberField } from "./number_field.js";
import { element, headed } from "./slider.js";

const PAUSE_MS = 200; // several steps are one value
const OLD_MS = 2000; // what the page says within it may be older than what it was told

export class NumberBox {
  telling = 0;

  // take(text) hears of a new value: as it stands in a link, "" for none.
  constructor(host, take) {
    Object.assign(this, { host, take });
  }

  set({ value, ...options }) {
    const said = JSON.stringify(options);
    if (this.said !== said) {
      const focused = this.host.contains(document.activeElement);
      this.said = said;
      this.build(options);
      if (focused) this.field.input.focus();
      this.told = undefined;
    }
    if (this.told !== undefined && this.told !== value && performance.now() - this.at < OLD_MS) return;
    this.field.show(value);
  }

  build(options) {
    const { label, help, step, words } = options;
    this.host.replaceChildren();
    const id = `seqviz-${Math.random().toString(36).slice(2)}`;
    headed(element("div", this.host, { className: "head" }), label, help, id);
    const row = element("div", this.host, { className: "box" });
    const input = element("input", row, { id, className: "field" });
    this.field = new NumberField(input, this.host, options, (number, stepped) => this.tell(number, stepped));
    if (step === null) return;
    for (const [sign, name, key] of [["\u2212", "decrement", "ArrowDown"], ["+", "increment", "ArrowUp"]]) {
      // By keyboard the arrow keys do the same.
      const button = element("button", row, { type: "button", textContent: sign, tabIndex: -1 });
      button.setAttribute("aria-label", words[name]);
      button.onclick = () => this.field.step(key);
    }
  }

  tell(number, stepped) {
    this.told = number;
    this.at = performance.now();
    clearTimeout(this.telling);
    this.telling = setTimeout(() => this.close(), stepped ? PAUSE_MS : 0);
    return number;
  }

  // Gone from the page, or done: what has been given is told.
  close() {
    clearTimeout(this.telling);
    if (this.telling) this.take(String(this.told ?? ""));
    this.telling = 0;
  }
}
