// Client component of sinusoidal positional encodings with their controls. Everything is computed
// here, so it responds at once and works without the server. Settings are reported on commit, for
// the link, the table and the code.

import { writeNumbers } from "../bench/equation.js";
import { dials, interpolate, numberFormat, minus, painter, describe, valueAt } from "./sinusoid_picture.js";
import { LAYOUTS, NAMES, STOPS, clampSettings, settingsKey } from "./sinusoid_settings.js";
import { sineOf } from "./sinusoid_values.js";
import { pinFigure } from "../bench/viewport.js";
import { Slider } from "../components/slider.js";

const COMMIT_MS = 400;
const DESCRIBE_MS = 150; // the table for screen readers need not follow each pixel of a drag
const SIZE_OF = { position: "positions", dimension: "d_model" }; // one of as many
const ANSWER_MS = 5000; // an answer of the server to what it was told may take so long

function createElement(tag, parent, properties = {}) {
  const created = Object.assign(document.createElement(tag), properties);
  parent.append(created);
  return created;
}

// Colors, font and font size of the theme and the presenter mode.
function readLook(host) {
  const style = getComputedStyle(host);
  const css = (name) => style.getPropertyValue(`--st-${name}`).trim();
  const roles = css("chart-categorical-colors").split(","); // plotting/style.py
  return {
    text: css("text-color"),
    background: css("background-color"),
    border: css("border-color"),
    font: css("font"),
    line: roles[5],
    quiet: roles[6],
    highlight: roles[7],
    unit: parseFloat(getComputedStyle(document.documentElement).fontSize) / 16,
  };
}

class Sinusoid {
  constructor(host, data) {
    this.host = host;
    this.words = data.words;
    this.start = data.start;
    this.settings = clampSettings(data.values, data.start);
    this.serverKey = settingsKey(this.settings);
    this.pendingReports = []; // reports that the server has not answered: {key, at}
    this.paint = painter();
    host.replaceChildren();
    const main = createElement("div", host, { className: "main" });
    this.picture = createElement("div", main, { className: "picture" });
    this.canvas = createElement("canvas", this.picture);
    this.canvas.setAttribute("role", "img");
    this.canvas.renderAt = (factor) => this.renderAt(factor); // for save_image.js
    this.hint = createElement("div", this.picture, { className: "hint", hidden: true });
    this.table = createElement("table", this.picture, { className: "visually-hidden" });
    this.sliders = {};
    this.extraStops = {}; // values that a link has brought, beside the stops
    this.buttons = [];
    this.controls(createElement("div", main, { className: "controls" }));
    this.listenToPointer();
    this.closing = new AbortController();
    const { signal } = this.closing;
    main.addEventListener("pointerdown", () => (this.isHeld = true), { signal });
    for (const kind of ["pointerup", "pointercancel"]) // wherever the pointer is
      window.addEventListener(kind, () => (this.isHeld = false), { signal });
    this.observer = new ResizeObserver(() => this.redraw());
    this.observer.observe(this.picture);
    this.show();
  }

  controls(side) {
    for (const name of NAMES) {
      if (name === "layout") {
        const row = createElement("div", side, { className: "control" });
        const label = createElement("span", row, { className: "label", textContent: this.words[name] });
        label.id = `seqviz-${Math.random().toString(36).slice(2)}`;
        const group = createElement("div", row, { className: "buttons" });
        group.setAttribute("role", "group");
        group.setAttribute("aria-labelledby", label.id);
        for (const layout of LAYOUTS) {
          const button = createElement("button", group, { type: "button", value: layout });
          button.textContent = this.words[layout];
          button.onclick = () => this.change({ layout });
          this.buttons.push(button);
        }
        continue;
      }
      const element = createElement("div", side, { className: "seqviz-slider" });
      element.dataset.control = name;
      this.sliders[name] = new Slider(element, {
        onInput: (text) => this.change({ [name]: Number(text) }),
        onRelease: () => {},
        onCommit: () => {}, // a press on the picture counts as well: see `change`
      });
    }
  }

  // Options of a slider. Its stops include the present value, even if it is not one of them.
  options(name) {
    const { settings, start, words } = this;
    const standardStops = STOPS[name];
    const common = { label: words[name], value: String(settings[name]), start: String(start[name]),
      unit: "", words: { exact: words.exact, field: words.field } }; // prettier-ignore
    if (!standardStops) return { ...common, low: 0, high: settings[SIZE_OF[name]] - 1, step: 1, whole: true };
    if (!standardStops.includes(settings[name])) (this.extraStops[name] ??= new Set()).add(settings[name]);
    const stops = [...standardStops, ...(this.extraStops[name] ?? [])].sort((a, b) => a - b);
    return { ...common, stops: stops.map((stop) => ({ value: String(stop), text: numberFormat.format(stop) })) };
  }

  // Press or drag on the map, the wave or a clock; the value of the cell under the mouse.
  listenToPointer() {
    const { canvas } = this;
    canvas.onpointerdown = (event) => {
      const target = this.target(event);
      if (event.button !== 0 || !target) return;
      canvas.setPointerCapture(event.pointerId);
      this.dragTarget = target;
      this.change(target.picked);
    };
    canvas.onpointermove = (event) => {
      const target = this.target(event, this.dragTarget?.panel);
      if (this.dragTarget) this.change(target.picked);
      canvas.classList.toggle("picking", !!target);
      this.showHint(target?.panel === "map" && !this.dragTarget ? target : null);
    };
    canvas.onlostpointercapture = () => (this.dragTarget = null);
    canvas.onpointerleave = () => this.showHint(null);
  }

  // {panel, picked, x, y}: the selection at a position of the picture, within one panel during a drag.
  target(event, panel) {
    const box = this.canvas.getBoundingClientRect();
    const [x, y] = [event.clientX - box.left, event.clientY - box.top];
    const { positions, d_model, layout } = this.settings;
    const indexAt = (fraction, count) => Math.min(count - 1, Math.max(0, Math.floor(fraction * count)));
    const isInside = ({ left, top, width, height }) =>
      x >= left && x < left + width && y >= top && y < top + height;
    const { map, wave } = this.plan;
    const picked = { position: indexAt((x - map.left) / map.width, positions) };
    if (panel ? panel === "wave" : isInside(wave)) return { panel: "wave", picked, x, y };
    if (panel ? panel === "map" : isInside(map)) {
      picked.dimension = indexAt((y - map.top) / map.height, d_model);
      return { panel: "map", picked, x, y };
    }
    const face = dials(this.plan, d_model).find(
      (dial) => Math.hypot(x - dial.x, y - dial.y) <= dial.radius,
    );
    if (face) return { panel: "clock", picked: { dimension: sineOf(face.pair, layout) }, x, y };
    return panel ? { panel, picked: {} } : null;
  }

  showHint(target) {
    this.hint.hidden = !target;
    if (!target) return;
    const { position, dimension } = target.picked;
    this.hint.textContent = interpolate(this.words.cell, {
      position: numberFormat.format(position),
      dimension,
      value: minus(valueAt(position, dimension, this.settings).toFixed(3)),
    });
    const available = this.picture.clientWidth - this.hint.offsetWidth;
    this.hint.style.left = `${Math.max(0, Math.min(available, target.x + 12))}px`;
    this.hint.style.top = `${target.y + 16}px`;
  }

  change(values) {
    const next = clampSettings({ ...this.settings, ...values }, this.settings);
    if (settingsKey(next) === settingsKey(this.settings)) return;
    this.settings = next;
    this.show();
    writeNumbers(this.picture, { ...next, base: numberFormat.format(next.base) });
    clearTimeout(this.commitTimer);
    this.commitTimer = setTimeout(() => this.report(), COMMIT_MS);
  }

  report() {
    this.commitTimer = null;
    const at = Date.now(); // also makes what is told new, where a link has led away and back
    this.pendingReports.push({ key: settingsKey(this.settings), at });
    this.onReport({ ...this.settings, at });
  }

  // New values from the server: a link, the back button, or its acknowledgement of a report.
  update(values) {
    const next = clampSettings(values, this.settings);
    const key = settingsKey(next);
    if (key === this.serverKey) return;
    this.serverKey = key;
    this.pendingReports = this.pendingReports.filter(({ at }) => Date.now() - at < ANSWER_MS);
    this.pendingReports.splice(0, 1 + this.pendingReports.findIndex((report) => report.key === key));
    // During a drag, or while a newer report is not acknowledged, they are outdated.
    if (this.isHeld || this.commitTimer || this.pendingReports.length) return;
    this.settings = next;
    this.show();
  }

  // Controls at once, the picture in the next frame, the text for screen readers a little later.
  show() {
    const { settings, words } = this;
    for (const [name, slider] of Object.entries(this.sliders)) {
      slider.set(this.options(name));
      slider.range.name = name;
    }
    for (const button of this.buttons)
      button.setAttribute("aria-pressed", button.value === settings.layout);
    this.redraw();
    clearTimeout(this.describeTimer);
    this.describeTimer = setTimeout(() => this.updateDescription(words), DESCRIBE_MS);
  }

  redraw() {
    this.frame ??= requestAnimationFrame(() => {
      this.frame = null;
      const { width } = this.picture.getBoundingClientRect();
      if (!width) return;
      const { canvas, settings, words } = this;
      const started = performance.now();
      this.plan = this.paint(canvas, settings, words, readLook(this.host), width, devicePixelRatio);
      canvas.style.height = `${this.plan.height}px`;
      pinFigure(this.picture, this.plan.height);
      canvas.dataset.drawn = settingsKey(settings);
      canvas.dataset.milliseconds = (performance.now() - started).toFixed(2);
    });
  }

  renderAt(factor) {
    const canvas = document.createElement("canvas");
    const { settings, words } = this;
    const { width } = this.picture.getBoundingClientRect();
    painter()(canvas, settings, words, readLook(this.host), width, factor);
    return canvas;
  }

  // The column of the chosen position as a table, and the picture in a sentence.
  updateDescription(words) {
    const { settings, table } = this;
    const texts = describe(settings, words);
    this.canvas.setAttribute(
      "aria-label",
      interpolate(words.alt, { ...settings, ...texts, formula: `${texts.formula}^(${texts.power}))` }),
    );
    table.replaceChildren();
    createElement("caption", table, { textContent: interpolate(words.table, settings) });
    const body = createElement("tbody", table);
    for (let dimension = 0; dimension < settings.d_model; dimension++) {
      const row = createElement("tr", body);
      createElement("th", row, { scope: "row", textContent: dimension });
      const number = valueAt(settings.position, dimension, settings);
      createElement("td", row, { textContent: minus(number.toFixed(3)) }).dataset.value = number;
    }
    table.dataset.settings = settingsKey(settings);
  }

  close() {
    this.observer.disconnect();
    this.closing.abort();
    for (const timer of [this.commitTimer, this.describeTimer]) clearTimeout(timer);
    for (const slider of Object.values(this.sliders)) slider.close();
  }
}

export default function ({ data, parentElement, setTriggerValue }) {
  const host = parentElement.querySelector(".seqviz-sinusoid");
  // Presenter mode gives a figure a fixed height; this one contains its controls and sets its own. On a
  // phone only its picture stays on screen.
  const frame = host.closest('[class*="-figure"]');
  for (const property of ["height", "flex-basis"])
    frame?.style.setProperty(property, "auto", "important");
  frame?.style.setProperty("overflow", "visible");
  const wordsKey = JSON.stringify(data.words);
  if (!host.drawing || host.drawing.wordsKey !== wordsKey) {
    const currentSettings = host.drawing?.settings;
    host.drawing?.close();
    host.drawing = new Sinusoid(host, currentSettings ? { ...data, values: currentSettings } : data);
    host.drawing.wordsKey = wordsKey;
  }
  const { drawing } = host;
  drawing.onReport = (settings) => setTriggerValue("settings", settings);
  drawing.update(data.values);
  drawing.redraw(); // the theme may have changed
  return () => drawing.close();
}
