// Number field with its label and, where it has steps, buttons for one step down and up. Like
// `slider.js` it is independent of Streamlit: for pages, embeds and notebooks.
//
// options: { label, help, value } and those of `number_field.js`; value: null where none is given
// yet.

import { NumberField } from "./number_field.js";
import { createElement, labelRow } from "./slider.js";

const STEPS_COMMIT_MS = 200; // several steps are one value
const STALE_MS = 2000; // a value of the page may be older than the report

export class NumberBox {
  commitTimer = 0;

  // onCommit(text): a new value as in a permalink, "" for none.
  constructor(host, onCommit) {
    Object.assign(this, { host, onCommit });
  }

  set({ value, ...options }) {
    const frameKey = JSON.stringify(options);
    if (this.frameKey !== frameKey) {
      const focused = this.host.contains(document.activeElement);
      this.frameKey = frameKey;
      this.build(options);
      if (focused) this.field.input.focus();
      this.reported = undefined;
    }
    if (this.reported !== undefined && this.reported !== value && performance.now() - this.reportedAt < STALE_MS) return;
    this.field.show(value);
  }

  build(options) {
    const { label, help, step, words } = options;
    this.host.replaceChildren();
    const id = `seqviz-${Math.random().toString(36).slice(2)}`;
    labelRow(createElement("div", this.host, { className: "head" }), label, help, id);
    const row = createElement("div", this.host, { className: "box" });
    const input = createElement("input", row, { id, className: "field" });
    this.field = new NumberField(input, this.host, options, (number, stepped) => this.report(number, stepped));
    if (step === null) return;
    for (const [sign, name, key] of [["\u2212", "decrement", "ArrowDown"], ["+", "increment", "ArrowUp"]]) {
      // For the keyboard the arrow keys do the same.
      const button = createElement("button", row, { type: "button", textContent: sign, tabIndex: -1 });
      button.setAttribute("aria-label", words[name]);
      button.onclick = () => this.field.step(key);
    }
  }

  report(number, stepped) {
    this.reported = number;
    this.reportedAt = performance.now();
    clearTimeout(this.commitTimer);
    this.commitTimer = setTimeout(() => this.close(), stepped ? STEPS_COMMIT_MS : 0);
    return number;
  }

  // Removed from the page, or done: report the value.
  close() {
    clearTimeout(this.commitTimer);
    if (this.commitTimer) this.onCommit(String(this.reported ?? ""));
    this.commitTimer = 0;
  }
}
