// A slider on a native input, with a box for exact values, for a number or for stops in a list.
// Plain: nothing here knows Streamlit, so embeds and notebooks use the same.
//
// options: { label, help, low, high, step, start, value, whole, stops, unit, words: { exact, back,
// forward, field } }. stops: [{ text, value }] in place of low, high and step. start: the default, where
// a double click goes. unit: "token|tokens", as it is read after one and after several, or "".
// words.back: there are two buttons for one step. words.field: see `number_field.js`.
// on: { input(text, dragged), stop(), rest(text) }: at each movement (dragged: a finger or a mouse
// holds the handle), when the handle is let go, and once when the hand has come to rest. Texts are
// values as they stand in a link.

import { FINE, NumberField, PAGE } from "./number_field.js";

const REST_MS = 150;
const FEW = 12; // places of the handle

export function element(tag, parent, properties = {}) {
  const made = Object.assign(document.createElement(tag), properties);
  parent.append(made);
  return made;
}

// Label and help of a control; `id` is of what it labels, "" for a group.
export function headed(head, label, help, id = "") {
  if (label) Object.assign(element(id ? "label" : "span", head, { textContent: label }), id && { htmlFor: id });
  if (!help) return;
  const asked = element("button", head, { type: "button", className: "help", textContent: "?" });
  asked.setAttribute("aria-label", help);
  element("span", asked, { className: "tip", textContent: help });
}

const decimals = (step) => Math.min(10, (String(step).split(".")[1] ?? "").length);
const shown = (number, digits) =>
  number.toLocaleString("en-US", { maximumFractionDigits: digits }).replace("-", "\u2212");

export class Slider {
  constructor(host, on) {
    this.on = on;
    this.host = host;
    this.resting = 0;
    this.told = null;
    this.dragged = false;
  }

  // New words or ends: everything is made again. A new value alone moves the handle.
  set(options) {
    const { value, ...frame } = options;
    const said = JSON.stringify(frame);
    if (this.said !== said && this.resting === 0) {
      const focused = this.host.contains(document.activeElement) && document.activeElement.type;
      this.said = said;
      this.options = options;
      this.build();
      if (focused) this.host.querySelector(`[type=${focused}]`)?.focus();
    }
    if (this.resting === 0) this.show(this.placed(value));
  }

  build() {
    const { label, help, low, high, step, stops, whole, words } = this.options;
    const host = this.host;
    host.replaceChildren();
    const id = `seqviz-${Math.random().toString(36).slice(2)}`;
    const head = element("div", host, { className: "head" });
    headed(head, label, help, id);
    if (stops) this.exact = element("output", head, { className: "exact" });
    else {
      this.exact = element("input", head, { className: "exact" });
      this.exact.setAttribute("aria-label", `${label}: ${words.exact}`);
      const unit = whole ? step : Number((step / FINE).toFixed(10));
      this.field = new NumberField(this.exact, host, { low, high, step, unit, whole, words: words.field }, (number) => {
        this.move(number, true);
        return this.value;
      });
    }
    this.range = element("input", host, { type: "range", id });
    Object.assign(this.range, stops
      ? { min: 0, max: stops.length - 1, step: 1 }
      : { min: low, max: high, step: whole ? step : step / FINE });
    this.range.oninput = () => this.move(this.snapped(Number(this.range.value), this.shift));
    this.range.onchange = () => {
      this.show(this.value);
      this.letGo();
    };
    this.range.onkeydown = (event) => this.key(event);
    this.range.onpointerdown = this.range.onpointermove = (event) => {
      this.shift = event.shiftKey;
      this.dragged = event.buttons > 0;
    };
    this.range.onpointerup = this.range.onpointercancel = () => this.letGo();
    this.range.ondblclick = () => this.move(this.placed(this.options.start), true);
    this.buttons = words.back
      ? [["back", -1], ["forward", 1]].map(([name, by]) => {
          const row = host.querySelector(".steps") ?? element("div", host, { className: "steps" });
          const button = element("button", row, { type: "button", textContent: words[name] });
          button.dataset.by = by;
          button.onclick = () => this.move(this.value + by * step);
          return button;
        })
      : [];
  }

  // A value of the options as a place of the handle: itself, or its place among the stops.
  placed(value) {
    const { stops } = this.options;
    if (!stops) return Number(value);
    const at = stops.findIndex((stop) => Number(stop.value) === Number(value));
    return at < 0 ? 0 : at;
  }

  snapped(number, fine = false) {
    const { low, high, step, whole, stops } = this.options;
    if (stops) return Math.min(stops.length - 1, Math.max(0, Math.round(number)));
    if (!Number.isFinite(number)) return this.value;
    const unit = fine && !whole ? step / FINE : step;
    const near = low + Math.round((number - low) / unit) * unit;
    return Number(Math.min(high, Math.max(low, near)).toFixed(10));
  }

  key(event) {
    const { low, high, step, whole, stops } = this.options;
    const unit = stops ? 1 : event.shiftKey && !whole ? step / FINE : step;
    const ends = stops ? [0, stops.length - 1] : [low, high];
    const to = {
      ArrowRight: this.value + unit, ArrowUp: this.value + unit,
      ArrowLeft: this.value - unit, ArrowDown: this.value - unit,
      PageUp: this.value + PAGE * unit, PageDown: this.value - PAGE * unit,
      Home: ends[0], End: ends[1],
    }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    this.move(this.snapped(to, event.shiftKey));
  }

  // resting: ms after which it rests here, if nothing moves it on.
  move(value, atOnce = false, resting = atOnce ? 0 : REST_MS) {
    const before = this.value;
    this.show(this.snapped(value, true));
    if (this.value === before && this.resting === 0) return;
    if (this.value !== before) this.on.input(this.text, this.dragged);
    clearTimeout(this.resting);
    this.resting = setTimeout(() => this.rest(), resting);
  }

  letGo() {
    if (this.dragged) this.on.stop();
    this.dragged = false;
  }

  rest() {
    this.resting = 0;
    this.on.rest(this.text);
  }

  get text() {
    return this.written(this.value);
  }

  // A place of the handle as it stands in a link.
  written(place) {
    const { stops } = this.options;
    return stops ? stops[place].value : String(place);
  }

  // Where the handle may go next, nearest first: one step to either side; everywhere, where it has
  // few places.
  get likely() {
    const { low, high, step, stops } = this.options;
    const unit = stops ? 1 : step;
    const places = stops ? stops.length : Math.round((high - low) / step) + 1;
    const found = new Set();
    for (let far = 1; far <= (places > FEW ? 1 : places); far++)
      for (const way of [1, -1]) found.add(this.snapped(this.value + way * far * unit));
    found.delete(this.value);
    return [...found].map((place) => this.written(place));
  }

  // A value as a screen reader says it.
  spoken(text) {
    const [one, many = one] = this.options.unit.split("|");
    return `${text}${one === "%" ? "" : " "}${text === "1" ? one : many}`.trim();
  }

  // value: a place of the handle.
  show(value) {
    const { low, high, step, stops } = this.options;
    this.value = value;
    this.range.value = value;
    const text = stops ? stops[value].text : shown(value, decimals(step) + 1);
    this.range.setAttribute("aria-valuetext", this.spoken(text));
    if (stops) this.exact.value = text;
    else this.field.show(value);
    const [from, to] = stops ? [0, stops.length - 1] : [low, high];
    this.range.style.setProperty("--part", (value - from) / (to - from || 1));
    for (const button of this.buttons)
      button.disabled = Number(button.dataset.by) < 0 ? value <= from : value >= to;
  }

  close() {
    clearTimeout(this.resting);
  }
}
