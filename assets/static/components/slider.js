// A slider on a native input, with a box for exact values, for a number or for stops in a list. It
// is independent of Streamlit: for pages, embeds and notebooks.
//
// options: { label, help, low, high, step, start, value, whole, stops, unit, words: { exact, back,
// forward, field } }. stops: [{ text, value }] in place of low, high and step. start: the default,
// set by a double click. unit: "token|tokens", singular and plural for screen readers, or "".
// words.back: there are buttons for one step. words.field: see `number_field.js`. callbacks: {
// onInput(text, isDragging), onRelease(), onCommit(text) }: at each input (isDragging: the handle
// is held), when the handle is released, and once when the value is committed. Texts are values as
// in a permalink.

import { FINE, NumberField, PAGE } from "./number_field.js";

export const COMMIT_MS = 150;
const LATE_MS = 50;
const MAX_PREFETCHED_STOPS = 12; // positions

export function createElement(tag, parent, properties = {}) {
  const created = Object.assign(document.createElement(tag), properties);
  parent.append(created);
  return created;
}

// A finger does not hover, and what holds the controls of a phone would cut the help off. It closes with
// the next tap.
const TOUCH = window.matchMedia("(hover: none)");
function openOverPage(tip) {
  tip.popover = "auto";
  tip.showPopover();
  tip.ontoggle = ({ newState }) => newState === "closed" && tip.removeAttribute("popover");
}

// Label and help of a control; `id` of the element that it labels, "" for a group.
export function labelRow(head, label, help, id = "") {
  if (label) Object.assign(createElement(id ? "label" : "span", head, { textContent: label }), id && { htmlFor: id });
  if (!help) return;
  const helpButton = createElement("button", head, { type: "button", className: "help", textContent: "?" });
  helpButton.setAttribute("aria-label", help);
  const tip = createElement("span", helpButton, { className: "tip", textContent: help });
  helpButton.onclick = () => TOUCH.matches && openOverPage(tip);
}

const decimals = (step) => Math.min(10, (String(step).split(".")[1] ?? "").length);
const formatNumber = (number, digits) =>
  number.toLocaleString("en-US", { maximumFractionDigits: digits }).replace("-", "\u2212");

export class Slider {
  constructor(host, on) {
    this.callbacks = on;
    this.host = host;
    this.commitTimer = 0;
    this.isDragging = false;
  }

  // New labels or bounds rebuild the slider; a new value only moves the handle.
  set(options) {
    const { value, ...frame } = options;
    const frameKey = JSON.stringify(frame);
    if (this.frameKey !== frameKey && this.commitTimer === 0) {
      const focused = this.host.contains(document.activeElement) && document.activeElement.type;
      this.frameKey = frameKey;
      this.options = options;
      this.build();
      if (focused) this.host.querySelector(`[type=${focused}]`)?.focus();
    }
    if (this.commitTimer === 0) this.show(this.positionOf(value));
  }

  build() {
    const { label, help, low, high, step, stops, whole, words } = this.options;
    const host = this.host;
    host.replaceChildren();
    const id = `seqviz-${Math.random().toString(36).slice(2)}`;
    const head = createElement("div", host, { className: "head" });
    labelRow(head, label, help, id);
    if (stops) this.exact = createElement("output", head, { className: "exact" });
    else {
      this.exact = createElement("input", head, { className: "exact" });
      this.exact.setAttribute("aria-label", `${label}: ${words.exact}`);
      const unit = whole ? step : Number((step / FINE).toFixed(10));
      this.field = new NumberField(this.exact, host, { low, high, step, unit, whole, words: words.field }, (number) => {
        this.move(number, true);
        return this.value;
      });
    }
    this.range = createElement("input", host, { type: "range", id });
    Object.assign(this.range, stops
      ? { min: 0, max: stops.length - 1, step: 1 }
      : { min: low, max: high, step: whole ? step : step / FINE });
    this.range.oninput = () => this.move(this.snap(Number(this.range.value), this.shift));
    this.range.onchange = () => {
      this.show(this.value);
      this.release();
    };
    this.range.onkeydown = (event) => this.onKey(event);
    this.range.onpointerdown = this.range.onpointermove = (event) => {
      this.shift = event.shiftKey;
      this.isDragging = event.buttons > 0;
    };
    this.range.onpointerup = this.range.onpointercancel = () => this.release();
    this.range.ondblclick = () => this.move(this.positionOf(this.options.start), true);
    this.buttons = words.back
      ? [["back", -1], ["forward", 1]].map(([name, direction]) => {
          const row = host.querySelector(".steps") ?? createElement("div", host, { className: "steps" });
          const button = createElement("button", row, { type: "button", textContent: words[name] });
          button.dataset.by = direction;
          button.onclick = () => this.move(this.value + direction * step);
          return button;
        })
      : [];
  }

  // The position of a value: itself, or its index among the stops.
  positionOf(value) {
    const { stops } = this.options;
    if (!stops) return Number(value);
    const index = stops.findIndex((stop) => Number(stop.value) === Number(value));
    return index < 0 ? 0 : index;
  }

  snap(number, fine = false) {
    const { low, high, step, whole, stops } = this.options;
    if (stops) return Math.min(stops.length - 1, Math.max(0, Math.round(number)));
    if (!Number.isFinite(number)) return this.value;
    const unit = fine && !whole ? step / FINE : step;
    const nearest = low + Math.round((number - low) / unit) * unit;
    return Number(Math.min(high, Math.max(low, nearest)).toFixed(10));
  }

  onKey(event) {
    const { low, high, step, whole, stops } = this.options;
    const unit = stops ? 1 : event.shiftKey && !whole ? step / FINE : step;
    const ends = stops ? [0, stops.length - 1] : [low, high];
    const target = {
      ArrowRight: this.value + unit, ArrowUp: this.value + unit,
      ArrowLeft: this.value - unit, ArrowDown: this.value - unit,
      PageUp: this.value + PAGE * unit, PageDown: this.value - PAGE * unit,
      Home: ends[0], End: ends[1],
    }[event.key];
    if (target === undefined) return;
    event.preventDefault();
    this.move(this.snap(target, event.shiftKey));
  }

  // delayMs: without further input, until the value is committed.
  move(value, immediate = false, delayMs = immediate ? 0 : COMMIT_MS) {
    const before = this.value;
    this.show(this.snap(value, true));
    if (this.value === before && this.commitTimer === 0) return;
    if (this.value !== before) this.callbacks.onInput(this.text, this.isDragging);
    this.commitAfter(delayMs);
  }

  // A timer that comes late says that pictures have kept the page busy. Where the handle is held it may have
  // moved on meanwhile, and a commit, for which the page renders the bench anew, would only add to that.
  commitAfter(delayMs) {
    const due = performance.now() + delayMs;
    clearTimeout(this.commitTimer);
    this.commitTimer = setTimeout(() => {
      if (this.isDragging && performance.now() > due + LATE_MS) this.commitAfter(COMMIT_MS);
      else this.commit();
    }, delayMs);
  }

  release() {
    if (this.isDragging) this.callbacks.onRelease();
    this.isDragging = false;
  }

  commit() {
    this.commitTimer = 0;
    this.callbacks.onCommit(this.text);
  }

  get text() {
    return this.textOf(this.value);
  }

  // A position as text for a permalink.
  textOf(position) {
    const { stops } = this.options;
    return stops ? stops[position].value : String(position);
  }

  // Return the values that may come next, nearest first: one step to either side; all if there are few.
  get neighbors() {
    const { low, high, step, stops } = this.options;
    const unit = stops ? 1 : step;
    const nPositions = stops ? stops.length : Math.round((high - low) / step) + 1;
    const neighbors = new Set();
    for (let distance = 1; distance <= (nPositions > MAX_PREFETCHED_STOPS ? 1 : nPositions); distance++)
      for (const direction of [1, -1]) neighbors.add(this.snap(this.value + direction * distance * unit));
    neighbors.delete(this.value);
    return [...neighbors].map((position) => this.textOf(position));
  }

  // Return a value as text for screen readers.
  ariaText(text) {
    const [singular, plural = singular] = this.options.unit.split("|");
    return `${text}${singular === "%" ? "" : " "}${text === "1" ? singular : plural}`.trim();
  }

  // value: a position.
  show(value) {
    const { low, high, step, stops } = this.options;
    this.value = value;
    this.range.value = value;
    const text = stops ? stops[value].text : formatNumber(value, decimals(step) + 1);
    this.range.setAttribute("aria-valuetext", this.ariaText(text));
    if (stops) this.exact.value = text;
    else this.field.show(value);
    const [from, to] = stops ? [0, stops.length - 1] : [low, high];
    this.range.style.setProperty("--part", (value - from) / (to - from || 1));
    for (const button of this.buttons)
      button.disabled = Number(button.dataset.by) < 0 ? value <= from : value >= to;
  }

  close() {
    clearTimeout(this.commitTimer);
  }
}
