// Sinusoidal positional encodings with their controls: all of it is computed here, so that it
// answers at once, and goes on when the server is gone. What is chosen is told to the server when
// the hand has come to rest, for the link, the table and the code.

import { dials, filled, grouped, minus, painter, sayings, valueAt } from "./sinusoid_picture.js";
import { LAYOUTS, NAMES, STOPS, possible, written } from "./sinusoid_settings.js";
import { sineOf } from "./sinusoid_values.js";
import { stay } from "../bench/viewport.js";
import { Slider } from "../components/slider.js";

const REST_MS = 400;
const SPOKEN_MS = 150; // the table for screen readers need not follow each pixel of a drag
const TABLE = { position: "positions", dimension: "d_model" }; // one of as many
const ANSWER_MS = 5000; // an answer of the server to what it was told may take so long

function element(tag, parent, properties = {}) {
  const made = Object.assign(document.createElement(tag), properties);
  parent.append(made);
  return made;
}

// Colors, font and size of type as the theme and the presenter mode have set them.
function look(host) {
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
    this.settings = possible(data.values, data.start);
    this.given = written(this.settings);
    this.told = []; // what the server has yet to answer: {key, at}
    this.paint = painter();
    host.replaceChildren();
    const stage = element("div", host, { className: "stage" });
    this.picture = element("div", stage, { className: "picture" });
    this.canvas = element("canvas", this.picture);
    this.canvas.setAttribute("role", "img");
    this.canvas.enlarged = (factor) => this.enlarged(factor); // for save_image.js
    this.hint = element("div", this.picture, { className: "hint", hidden: true });
    this.table = element("table", this.picture, { className: "spoken" });
    this.sliders = {};
    this.linked = {}; // values that a link has brought, beside the stops
    this.buttons = [];
    this.controls(element("div", stage, { className: "controls" }));
    this.point();
    this.closing = new AbortController();
    const { signal } = this.closing;
    stage.addEventListener("pointerdown", () => (this.held = true), { signal });
    for (const kind of ["pointerup", "pointercancel"]) // wherever the hand has wandered
      window.addEventListener(kind, () => (this.held = false), { signal });
    this.observer = new ResizeObserver(() => this.redraw());
    this.observer.observe(this.picture);
    this.show();
  }

  controls(side) {
    for (const name of NAMES) {
      if (name === "layout") {
        const row = element("div", side, { className: "control" });
        const label = element("span", row, { className: "label", textContent: this.words[name] });
        label.id = `seqviz-${Math.random().toString(36).slice(2)}`;
        const group = element("div", row, { className: "buttons" });
        group.setAttribute("role", "group");
        group.setAttribute("aria-labelledby", label.id);
        for (const layout of LAYOUTS) {
          const button = element("button", group, { type: "button", value: layout });
          button.textContent = this.words[layout];
          button.onclick = () => this.change({ layout });
          this.buttons.push(button);
        }
        continue;
      }
      this.sliders[name] = new Slider(element("div", side, { className: "seqviz-slider" }), {
        input: (text) => this.change({ [name]: Number(text) }),
        stop: () => {},
        rest: () => {}, // a press on the picture counts as well: see `change`
      });
    }
  }

  // What a slider is told. One with stops has the present value among them, also where it is none.
  options(name) {
    const { settings, start, words } = this;
    const known = STOPS[name];
    const said = { label: words[name], value: String(settings[name]), start: String(start[name]),
      unit: "", words: { exact: words.exact, field: words.field } }; // prettier-ignore
    if (!known) return { ...said, low: 0, high: settings[TABLE[name]] - 1, step: 1, whole: true };
    if (!known.includes(settings[name])) (this.linked[name] ??= new Set()).add(settings[name]);
    const stops = [...known, ...(this.linked[name] ?? [])].sort((one, other) => one - other);
    return { ...said, stops: stops.map((stop) => ({ value: String(stop), text: grouped.format(stop) })) };
  }

  // Press or drag on the map, the wave or a clock; the value of a cell where the mouse rests.
  point() {
    const { canvas } = this;
    canvas.onpointerdown = (event) => {
      const target = this.target(event);
      if (event.button !== 0 || !target) return;
      canvas.setPointerCapture(event.pointerId);
      this.dragged = target;
      this.change(target.picked);
    };
    canvas.onpointermove = (event) => {
      const target = this.target(event, this.dragged?.panel);
      if (this.dragged) this.change(target.picked);
      canvas.classList.toggle("picking", !!target);
      this.say(target?.panel === "map" && !this.dragged ? target : null);
    };
    canvas.onlostpointercapture = () => (this.dragged = null);
    canvas.onpointerleave = () => this.say(null);
  }

  // {panel, picked, x, y}: what a place of the picture chooses, within one panel while dragging.
  target(event, panel) {
    const box = this.canvas.getBoundingClientRect();
    const [x, y] = [event.clientX - box.left, event.clientY - box.top];
    const { positions, d_model, layout } = this.settings;
    const within = (part, of) => Math.min(of - 1, Math.max(0, Math.floor(part * of)));
    const inside = ({ left, top, width, height }) =>
      x >= left && x < left + width && y >= top && y < top + height;
    const { map, wave } = this.plan;
    const picked = { position: within((x - map.left) / map.width, positions) };
    if (panel ? panel === "wave" : inside(wave)) return { panel: "wave", picked, x, y };
    if (panel ? panel === "map" : inside(map)) {
      picked.dimension = within((y - map.top) / map.height, d_model);
      return { panel: "map", picked, x, y };
    }
    const face = dials(this.plan, d_model).find(
      (one) => Math.hypot(x - one.x, y - one.y) <= one.radius,
    );
    if (face) return { panel: "clock", picked: { dimension: sineOf(face.pair, layout) }, x, y };
    return panel ? { panel, picked: {} } : null;
  }

  say(target) {
    this.hint.hidden = !target;
    if (!target) return;
    const { position, dimension } = target.picked;
    this.hint.textContent = filled(this.words.cell, {
      position: grouped.format(position),
      dimension,
      value: minus(valueAt(position, dimension, this.settings).toFixed(3)),
    });
    const room = this.picture.clientWidth - this.hint.offsetWidth;
    this.hint.style.left = `${Math.max(0, Math.min(room, target.x + 12))}px`;
    this.hint.style.top = `${target.y + 16}px`;
  }

  change(values) {
    const next = possible({ ...this.settings, ...values }, this.settings);
    if (written(next) === written(this.settings)) return;
    this.settings = next;
    this.show();
    clearTimeout(this.resting);
    this.resting = setTimeout(() => this.tell(), REST_MS);
  }

  tell() {
    this.resting = null;
    const at = Date.now(); // also makes what is told new, where a link has led away and back
    this.told.push({ key: written(this.settings), at });
    this.send({ ...this.settings, at });
  }

  // New values from the server: a link, the back button, or its answer to what it was told.
  take(values) {
    const next = possible(values, this.settings);
    const key = written(next);
    if (key === this.given) return;
    this.given = key;
    this.told = this.told.filter(({ at }) => Date.now() - at < ANSWER_MS);
    this.told.splice(0, 1 + this.told.findIndex((told) => told.key === key));
    // Under the hand, or on the way to an answer to something newer, they are out of date.
    if (this.held || this.resting || this.told.length) return;
    this.settings = next;
    this.show();
  }

  // Controls at once, the picture in the next frame, the words for the ear a little later.
  show() {
    const { settings, words } = this;
    for (const [name, slider] of Object.entries(this.sliders)) {
      slider.set(this.options(name));
      slider.range.name = name;
    }
    for (const button of this.buttons)
      button.setAttribute("aria-pressed", button.value === settings.layout);
    this.redraw();
    clearTimeout(this.speaking);
    this.speaking = setTimeout(() => this.speak(words), SPOKEN_MS);
  }

  redraw() {
    this.frame ??= requestAnimationFrame(() => {
      this.frame = null;
      const { width } = this.picture.getBoundingClientRect();
      if (!width) return;
      const { canvas, settings, words } = this;
      const started = performance.now();
      this.plan = this.paint(canvas, settings, words, look(this.host), width, devicePixelRatio);
      canvas.style.height = `${this.plan.height}px`;
      stay(this.picture, this.plan.height);
      canvas.dataset.drawn = written(settings);
      canvas.dataset.milliseconds = (performance.now() - started).toFixed(2);
    });
  }

  enlarged(factor) {
    const canvas = document.createElement("canvas");
    const { settings, words } = this;
    const { width } = this.picture.getBoundingClientRect();
    painter()(canvas, settings, words, look(this.host), width, factor);
    return canvas;
  }

  // The column of the chosen position as a table, and the picture in a sentence.
  speak(words) {
    const { settings, table } = this;
    const said = sayings(settings, words);
    this.canvas.setAttribute(
      "aria-label",
      filled(words.alt, { ...settings, ...said, formula: `${said.formula}^(${said.power}))` }),
    );
    table.replaceChildren();
    element("caption", table, { textContent: filled(words.table, settings) });
    const body = element("tbody", table);
    for (let dimension = 0; dimension < settings.d_model; dimension++) {
      const row = element("tr", body);
      element("th", row, { scope: "row", textContent: dimension });
      const number = valueAt(settings.position, dimension, settings);
      element("td", row, { textContent: minus(number.toFixed(3)) }).dataset.value = number;
    }
    table.dataset.settings = written(settings);
  }

  close() {
    this.observer.disconnect();
    this.closing.abort();
    for (const timer of [this.resting, this.speaking]) clearTimeout(timer);
    for (const slider of Object.values(this.sliders)) slider.close();
  }
}

export default function ({ data, parentElement, setTriggerValue }) {
  const host = parentElement.querySelector(".seqviz-sinusoid");
  // The presenter gives a figure a height; this one has its controls inside and takes its own. What
  // stays in sight on a phone is its picture.
  const frame = host.closest('[class*="-figure"]');
  for (const property of ["height", "flex-basis"])
    frame?.style.setProperty(property, "auto", "important");
  frame?.style.setProperty("overflow", "visible");
  const said = JSON.stringify(data.words);
  if (!host.live || host.live.said !== said) {
    const present = host.live?.settings;
    host.live?.close();
    host.live = new Sinusoid(host, present ? { ...data, values: present } : data);
    host.live.said = said;
  }
  const { live } = host;
  live.send = (settings) => setTriggerValue("settings", settings);
  live.take(data.values);
  live.redraw(); // the theme may have changed
  return () => live.close();
}
