// Things in a row that a hand puts in another order: by dragging one, with the arrows, or with the
// two buttons beside it. Told, and telling, as a slider (slider.js).
//
// options: { label, help, names, start, value, words: { place, earlier, later, how, start } }. names: the
// words for each. start, value: the names in their order, "+" between them, as in a link.

import { element, headed } from "./slider.js";

const SETTLED_MS = 150;
const ARROWS = { ArrowUp: -1, ArrowLeft: -1, ArrowDown: 1, ArrowRight: 1 };

export class Order {
  resting = 0;

  constructor(host, on) {
    this.host = host;
    this.on = on;
  }

  set(options) {
    const { value, ...frame } = options;
    const said = JSON.stringify(frame);
    if (this.resting !== 0 || this.held) return;
    if (this.said !== said) {
      this.said = said;
      this.options = options;
      this.build();
    }
    this.value = value;
    this.show();
  }

  build() {
    const { label, help, names, start, words } = this.options;
    const { host } = this;
    host.replaceChildren();
    const id = `seqviz-${Math.random().toString(36).slice(2)}`;
    const head = element("div", host, { className: "head" });
    headed(head, label, help);
    head.firstChild.id = id;
    this.back = element("button", head, { type: "button", className: "back", textContent: words.start });
    this.back.onclick = () => {
      this.change(start);
      this.rows.get(start.split("+")[0]).firstChild.focus();
    };
    this.list = element("ol", host, { className: "order" });
    this.list.setAttribute("aria-labelledby", id);
    const how = element("div", host, { className: "spoken", id: `${id}-how`, textContent: words.how });
    this.rows = new Map();
    for (const name of start.split("+")) {
      const row = element("li", this.list);
      row.dataset.name = name;
      const handle = element("button", row, { type: "button", className: "handle", textContent: names[name] });
      handle.setAttribute("aria-describedby", how.id);
      handle.onkeydown = (event) => this.key(event, name);
      for (const [words_, by, sign] of [[words.earlier, -1, "↑"], [words.later, 1, "↓"]]) {
        const button = element("button", row, { type: "button", className: "by", textContent: sign });
        button.setAttribute("aria-label", `${names[name]}: ${words_}`);
        button.dataset.by = by;
        button.onclick = () => this.pressed(button, name, by);
      }
      this.rows.set(name, row);
    }
    this.drag();
  }

  // The row under the finger goes where the finger is; the list holds the pointer, as rows move.
  drag() {
    const { list } = this;
    list.onpointerdown = (event) => {
      const handle = event.target.closest(".handle");
      if (!handle || event.button !== 0) return;
      this.held = handle.parentElement;
      this.held.classList.add("held");
      list.setPointerCapture(event.pointerId);
    };
    list.onpointermove = (event) => {
      if (!this.held) return;
      const names = this.value.split("+");
      const { name } = this.held.dataset;
      const over = names.findIndex((one) => event.clientY < this.rows.get(one).getBoundingClientRect().bottom);
      this.move(name, (over < 0 ? names.length - 1 : over) - names.indexOf(name), true);
    };
    list.onlostpointercapture = () => {
      if (!this.held) return;
      this.held.classList.remove("held");
      this.held.firstChild.focus();
      this.held = null;
      this.on.stop();
    };
  }

  key(event, name) {
    const by = ARROWS[event.key] ?? { Home: -this.rows.size, End: this.rows.size }[event.key];
    if (by === undefined) return;
    event.preventDefault();
    this.move(name, by);
  }

  pressed(button, name, by) {
    this.move(name, by);
    if (button.disabled) this.rows.get(name).firstChild.focus();
  }

  move(name, by, dragged = false) {
    const names = this.value.split("+");
    const from = names.indexOf(name);
    const to = Math.min(names.length - 1, Math.max(0, from + by));
    names.splice(to, 0, ...names.splice(from, 1));
    this.change(names.join("+"), dragged);
  }

  change(value, dragged = false) {
    if (value === this.value) return;
    this.value = value;
    this.show();
    this.on.input(value, dragged);
    clearTimeout(this.resting);
    this.resting = setTimeout(() => {
      this.resting = 0;
      this.on.rest(this.text);
    }, SETTLED_MS);
  }

  // The row that has the focus stays where it is, and the others are put around it.
  show() {
    const names = this.value.split("+");
    const { names: said, words } = this.options;
    const rows = names.map((name) => this.rows.get(name));
    const fixed = rows.findIndex((row) => row.contains(document.activeElement));
    rows.forEach((row, place) => {
      if (place < fixed) rows[fixed].before(row);
      else if (place !== fixed) this.list.append(row);
      const told = words.place.replace("{place}", place + 1).replace("{of}", names.length);
      row.firstChild.setAttribute("aria-label", `${said[names[place]]}: ${told}`);
      for (const button of row.querySelectorAll(".by"))
        button.disabled = place === (Number(button.dataset.by) < 0 ? 0 : names.length - 1);
    });
    this.back.hidden = this.value === this.options.start;
  }

  get text() {
    return this.value;
  }

  get likely() {
    return []; // too many
  }

  close() {
    clearTimeout(this.resting);
  }
}
