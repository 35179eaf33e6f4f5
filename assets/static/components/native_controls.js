// The controls of a bench in a page of its own: sliders as in a lesson, the others native ones of the
// same look. Each stays where it is while its value alone changes, so a hand and a keyboard keep it.

import { NumberBox } from "./number_box.js";
import { Order } from "./sortable.js";
import { element, headed, Slider } from "./slider.js";

const NONE = "-"; // in a link: none of several

export class Controls {
  // places: { above, front, behind, more }. on: { move, stop, rest, set }, see `embed.js`.
  constructor(places, on) {
    this.places = places;
    this.on = on;
    this.known = new Map(); // key -> { place, frame, show, busy }
  }

  // told: those that apply, in their order, as `seqviz/lessons/framework/control_schema.py` describes them.
  take(told) {
    const keys = new Set(told.map(({ key }) => key));
    for (const [key, one] of this.known)
      if (!keys.has(key)) {
        one.place.remove();
        one.close?.();
        this.known.delete(key);
      }
    const next = new Map(); // in each place, where the next one stands
    for (const control of told) {
      const parent = this.places[control.above ? "above" : control.more ? "behind" : "front"];
      const { value, ...rest } = control;
      const frame = JSON.stringify({ ...rest, slider: undefined, order: undefined, number: undefined });
      let one = this.known.get(control.key);
      if (one && one.frame !== frame) {
        one.place.remove();
        one = null;
      }
      if (!one) {
        const place = document.createElement("div");
        place.className = "control seqviz-slider";
        one = { place, frame, ...this[control.kind](place, control) };
        this.known.set(control.key, one);
      }
      const before = next.has(parent) ? next.get(parent).nextSibling : parent.firstChild;
      if (before !== one.place) parent.insertBefore(one.place, before);
      next.set(parent, one.place);
      one.show(control);
    }
    this.places.more.hidden = !this.places.behind.firstChild;
  }

  slider(place, { key }) {
    return this.#moved(key, "slider", (on) => new Slider(place, on));
  }

  order(place, { key }) {
    return this.#moved(key, "order", (on) => new Order(place, on));
  }

  // What a hand moves, told by its kind.
  #moved(key, kind, make) {
    const made = make({
      input: (text, dragged) => this.on.move(key, text, dragged),
      stop: () => this.on.stop(),
      rest: (text) => this.on.rest(key, text),
    });
    return { show: (told) => made.set(told[kind]), close: () => made.close() };
  }

  // Buttons side by side, of which one is on.
  one(place, control) {
    return this.#group(place, control, "radio", (inputs) => inputs.find((one) => one.checked).value);
  }

  several(place, control) {
    return this.#group(place, control, "checkbox", (inputs) => {
      const on = inputs.filter((one) => one.checked).map(({ value }) => value);
      return on.join("+") || (control.none ? NONE : "");
    });
  }

  #group(place, { key, label, help, options, above }, type, read) {
    const group = element("fieldset", place, { className: type });
    const legend = element("legend", group);
    if (above) legend.className = "spoken";
    headed(legend, label, help);
    const row = element("div", group, { className: "buttons" });
    const inputs = options.map(({ value, html }) => {
      const button = element("label", row);
      const input = element("input", button, { type, name: key, value });
      element("span", button, { innerHTML: html });
      return input;
    });
    group.onchange = () => this.on.set(key, read(inputs));
    return {
      show: ({ value }) => {
        const on = value.split("+");
        for (const input of inputs) input.checked = on.includes(input.value);
      },
    };
  }

  #field(place, { label, help }, made) {
    const head = element("div", place, { className: "head" });
    const id = `seqviz-${Math.random().toString(36).slice(2)}`;
    headed(head, label, help, id);
    return Object.assign(element(made.tag, place, { id, className: "field" }), made.with);
  }

  menu(place, control) {
    const menu = this.#field(place, control, { tag: "select", with: {} });
    for (const { value, html } of control.options) {
      const option = element("option", menu, { value, innerHTML: html });
      option.textContent = option.textContent; // without what is set in italics
    }
    menu.onchange = () => this.on.set(control.key, menu.value);
    return { show: ({ value }) => (menu.value = value) };
  }

  switch(place, { key, label, help }) {
    const head = element("div", place, { className: "head" });
    const button = element("label", head, { className: "switch" });
    const input = element("input", button, { type: "checkbox" });
    input.setAttribute("role", "switch");
    element("span", button, { textContent: label });
    headed(head, "", help);
    input.onchange = () => this.on.set(key, String(input.checked));
    return { show: ({ value }) => (input.checked = value === "true") };
  }

  number(place, { key }) {
    const box = new NumberBox(place, (text) => this.on.set(key, text));
    return { show: ({ number }) => box.set(number), close: () => box.close() };
  }

  // A reader's own text: at its end, and at each letter where the picture follows.
  text(place, control) {
    const field = this.#field(place, control, { tag: "input", with: { type: "text", maxLength: control.limit } });
    field.onchange = () => this.on.set(control.key, field.value, true);
    if (control.typed) field.oninput = ({ isComposing }) => isComposing || this.on.move(control.key, field.value, false);
    return { show: ({ value }) => document.activeElement !== field && (field.value = value) };
  }
}
