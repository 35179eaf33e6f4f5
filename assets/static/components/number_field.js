// Input for a number that is typed or pasted. It accepts common spellings; where the text is
// unreadable or out of range, a sentence says why, and the value stays.
//
// options: { low, high, step, unit, whole, words }. low, high: null without bounds. step: of the
// arrow keys; unit: step of typed values; both null for any number. words: a sentence for each
// problem. onCommit(number, stepped) sets it, or null where the field is emptied, and returns what
// has been set.

import { interpolate } from "./format.js";

const NUMBER = /^([+-]?)\s*(\d+(?:[.,]\d*)?|[.,]\d+)(e[+-]?\d+)?$/i;
export const PAGE = 10; // steps of Page Up and Page Down
export const FINE = 10; // parts of a step, with Shift

// Convert a text to ASCII: full-width forms, other dashes, the Chinese full stop.
export const normalizeText = (text) =>
  text
    .replace(/[\uff01-\uff5e]/g, (character) => String.fromCharCode(character.charCodeAt(0) - 0xfee0))
    .replace(/[\u2010-\u2015\u2212\ufe58\ufe63]/g, "-")
    .replace(/[\u3002\uff61]/g, ".")
    .replace(/[\u200b-\u200f\u202a-\u202e\u2060-\u2069]/g, "")
    .trim();

// Return { number } or { problem: "unread", "thousands", "range" or "whole" }. A mark before exactly three digits
// may be a thousands separator, as in 1,000; only a point in a number that need not be an integer is unambiguous.
export function read(text, { low = null, high = null, whole = false } = {}) {
  const match = NUMBER.exec(normalizeText(text));
  if (!match) return { problem: "unread" };
  const [, sign, digits, power = ""] = match;
  const parseWith = (mark) => Number(sign + digits.replace(/[.,]/, mark) + power);
  const number = parseWith(".");
  if ((whole ? /^[1-9]\d{0,2}[.,]\d{3}$/ : /^[1-9]\d{0,2},\d{3}$/).test(digits))
    return { problem: "thousands", large: parseWith(""), small: number };
  if (low === null) return Number.isFinite(number) ? { number } : { problem: "unread" };
  if (!(number >= low && number <= high)) return { problem: "range" };
  return whole && !Number.isInteger(number) ? { problem: "whole" } : { number };
}

const formatValue = (value) => (typeof value === "number" ? String(value).replace("-", "\u2212") : value);

export class NumberField {
  value = null;

  // input: a text input. place: element that the error message is appended to.
  constructor(input, place, options, onCommit) {
    Object.assign(this, { input, options, onCommit });
    Object.assign(input, { type: "text", autocomplete: "off", spellcheck: false });
    input.setAttribute("role", "spinbutton");
    // The number pad of an iPhone has no minus sign.
    input.inputMode = options.low === null || options.low < 0 ? "text" : options.whole ? "numeric" : "decimal";
    for (const [name, bound] of [["min", options.low], ["max", options.high]])
      if (bound !== null) input.setAttribute(`aria-value${name}`, bound);
    this.note = Object.assign(document.createElement("p"), { className: "note" });
    this.note.id = `seqviz-${Math.random().toString(36).slice(2)}`;
    this.note.setAttribute("role", "alert");
    place.append(this.note);
    input.onchange = () => this.commit();
    input.onblur = () => this.isInvalid || this.write();
    input.onkeydown = (event) => this.onKey(event);
  }

  // Show a set value. An unreadable text stays with its message until another value is set.
  show(value) {
    const hasChanged = value !== this.value;
    this.value = value;
    if (value === null) this.input.removeAttribute("aria-valuenow");
    else this.input.setAttribute("aria-valuenow", value);
    if (hasChanged) this.showProblem("");
    if (!this.isInvalid && document.activeElement !== this.input) this.write();
  }

  write() {
    this.input.value = this.value ?? "";
  }

  restore() {
    this.showProblem("");
    this.write();
  }

  get isInvalid() {
    return this.input.getAttribute("aria-invalid") === "true";
  }

  // stepped: more steps may follow.
  commit(stepped = false) {
    const text = this.input.value.trim();
    const { number, problem, ...readings } = text ? read(text, this.options) : { number: null };
    if (problem) return this.showProblem(problem, { text, ...readings });
    if (number === null && this.options.low !== null) return this.restore();
    this.show(this.onCommit(number, stepped));
    this.restore();
    if (this.value !== number) this.showProblem("rounded", { text: this.value });
  }

  // problem: as in `read`, "rounded" where the nearest possible value was set, "" without a problem.
  showProblem(problem, details = {}) {
    const { low, high, unit: step, words } = this.options;
    const values = Object.entries({ low, high, step, ...details }).map(([name, value]) => [name, formatValue(value)]);
    this.note.textContent = problem && interpolate(words[problem], Object.fromEntries(values));
    const isInvalid = problem !== "" && problem !== "rounded";
    this.input.setAttribute("aria-invalid", isInvalid);
    if (problem) this.input.setAttribute("aria-describedby", this.note.id);
    else this.input.removeAttribute("aria-describedby");
  }

  // Arrow keys continue from the typed number, if valid; Escape restores the set value.
  onKey(event) {
    if (event.isComposing || event.ctrlKey || event.altKey || event.metaKey) return;
    if (event.key === "Escape") {
      if (this.input.value === String(this.value ?? "") && !this.isInvalid) return;
      event.stopPropagation();
      return this.restore();
    }
    if (this.step(event.key, event.shiftKey)) event.preventDefault();
  }

  // Return whether this key changes the value by steps.
  step(key, fine = false) {
    const { step, whole, low, high } = this.options;
    const nSteps = { ArrowUp: 1, ArrowDown: -1, PageUp: PAGE, PageDown: -PAGE }[key];
    if (!nSteps || step === null) return false;
    const from = read(this.input.value, this.options).number ?? this.value;
    const target = from + (nSteps * step) / (fine && !whole ? FINE : 1);
    this.input.value = Number(Math.min(high, Math.max(low, target)).toFixed(10));
    this.commit(true);
    return true;
  }
}
