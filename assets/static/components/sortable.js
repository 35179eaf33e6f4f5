// A sortable list: items are reordered by dragging, with the arrow keys, or with two buttons each.
// It has the interface of a slider (slider.js).
//
// options: { label, help, names, start, value, words: { place, earlier, later, how, start } }.
// names: label of each item. start, value: the keys in order, joined by "+", as in a permalink.

import { COMMIT_MS, createElement, labelRow } from "./slider.js";

const ARROWS = { ArrowUp: -1, ArrowLeft: -1, ArrowDown: 1, ArrowRight: 1 };

export class Sortable {
  commitTimer = 0;

  constructor(host, on) {
    this.host = host;
    this.callbacks = on;
  }

  set(options) {
    const { value, ...frame } = options;
    const frameKey = JSON.stringify(frame);
    if (this.commitTimer !== 0 || this.draggedRow) return;
    if (this.frameKey !== frameKey) {
      this.frameKey = frameKey;
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
    const head = createElement("div", host, { className: "head" });
    labelRow(head, label, help);
    head.firstChild.id = id;
    this.resetButton = createElement("button", head, { type: "button", className: "back", textContent: words.start });
    this.resetButton.onclick = () => {
      this.change(start);
      this.rows.get(start.split("+")[0]).firstChild.focus();
    };
    this.list = createElement("ol", host, { className: "order" });
    this.list.setAttribute("aria-labelledby", id);
    const instructions = createElement("div", host, { className: "visually-hidden", id: `${id}-how`, textContent: words.how });
    this.rows = new Map();
    for (const name of start.split("+")) {
      const row = createElement("li", this.list);
      row.dataset.name = name;
      const handle = createElement("button", row, { type: "button", className: "handle", textContent: names[name] });
      handle.setAttribute("aria-describedby", instructions.id);
      handle.onkeydown = (event) => this.onKey(event, name);
      for (const [buttonLabel, offset, sign] of [[words.earlier, -1, "↑"], [words.later, 1, "↓"]]) {
        const button = createElement("button", row, { type: "button", className: "by", textContent: sign });
        button.setAttribute("aria-label", `${names[name]}: ${buttonLabel}`);
        button.dataset.by = offset;
        button.onclick = () => this.onStep(button, name, offset);
      }
      this.rows.set(name, row);
    }
    this.drag();
  }

  // The dragged row follows the pointer; the list captures the pointer, because rows move.
  drag() {
    const { list } = this;
    list.onpointerdown = (event) => {
      const handle = event.target.closest(".handle");
      if (!handle || event.button !== 0) return;
      this.draggedRow = handle.parentElement;
      this.draggedRow.classList.add("dragging");
      list.setPointerCapture(event.pointerId);
    };
    list.onpointermove = (event) => {
      if (!this.draggedRow) return;
      const names = this.value.split("+");
      const { name } = this.draggedRow.dataset;
      const index = names.findIndex((rowName) => event.clientY < this.rows.get(rowName).getBoundingClientRect().bottom);
      this.move(name, (index < 0 ? names.length - 1 : index) - names.indexOf(name), true);
    };
    list.onlostpointercapture = () => {
      if (!this.draggedRow) return;
      this.draggedRow.classList.remove("dragging");
      this.draggedRow.firstChild.focus();
      this.draggedRow = null;
      this.callbacks.onRelease();
    };
  }

  onKey(event, name) {
    const offset = ARROWS[event.key] ?? { Home: -this.rows.size, End: this.rows.size }[event.key];
    if (offset === undefined) return;
    event.preventDefault();
    this.move(name, offset);
  }

  onStep(button, name, offset) {
    this.move(name, offset);
    if (button.disabled) this.rows.get(name).firstChild.focus();
  }

  move(name, offset, isDragging = false) {
    const names = this.value.split("+");
    const from = names.indexOf(name);
    const to = Math.min(names.length - 1, Math.max(0, from + offset));
    names.splice(to, 0, ...names.splice(from, 1));
    this.change(names.join("+"), isDragging);
  }

  change(value, isDragging = false) {
    if (value === this.value) return;
    this.value = value;
    this.show();
    this.callbacks.onInput(value, isDragging);
    clearTimeout(this.commitTimer);
    this.commitTimer = setTimeout(() => {
      this.commitTimer = 0;
      this.callbacks.onCommit(this.text);
    }, COMMIT_MS);
  }

  // The focused row stays in the DOM, and the others are placed around it.
  show() {
    const names = this.value.split("+");
    const { names: labels, words } = this.options;
    const rows = names.map((name) => this.rows.get(name));
    const focused = rows.findIndex((row) => row.contains(document.activeElement));
    rows.forEach((row, index) => {
      if (index < focused) rows[focused].before(row);
      else if (index !== focused) this.list.append(row);
      const position = words.place.replace("{place}", index + 1).replace("{of}", names.length);
      row.firstChild.setAttribute("aria-label", `${labels[names[index]]}: ${position}`);
      for (const button of row.querySelectorAll(".by"))
        button.disabled = index === (Number(button.dataset.by) < 0 ? 0 : names.length - 1);
    });
    this.resetButton.hidden = this.value === this.options.start;
  }

  get text() {
    return this.value;
  }

  get neighbors() {
    return []; // too many
  }

  close() {
    clearTimeout(this.commitTimer);
  }
}
