// Controls of an embedded bench: sliders as in a lesson, other controls native with the same look.
// An element stays in place while only its value changes, so pointer and focus stay on it.

import { NumberBox } from "./number_box.js";
import { Sortable } from "./sortable.js";
import { createElement, labelRow, Slider } from "./slider.js";

const NONE = "-"; // in a link: none of several

export class Controls {
  // places: { above, front, behind, more }. callbacks: { onInput, onRelease, onCommit, onChange }, see `embed.js`.
  constructor(places, callbacks) {
    this.places = places;
    this.callbacks = callbacks;
    this.entries = new Map(); // key -> { element, frame, show, close }
  }

  // controls: the active ones in order, as described by `seqviz/lessons/framework/control_schema.py`.
  update(controls) {
    const keys = new Set(controls.map(({ key }) => key));
    for (const [key, entry] of this.entries)
      if (!keys.has(key)) {
        entry.element.remove();
        entry.close?.();
        this.entries.delete(key);
      }
    const lastIn = new Map(); // the last control of each parent
    for (const control of controls) {
      const parent = this.places[control.above ? "above" : control.more ? "behind" : "front"];
      const { value, ...rest } = control;
      const frame = JSON.stringify({ ...rest, slider: undefined, order: undefined, number: undefined });
      let entry = this.entries.get(control.key);
      if (entry && entry.frame !== frame) {
        entry.element.remove();
        entry = null;
      }
      if (!entry) {
        const element = document.createElement("div");
        element.className = "control seqviz-slider";
        element.dataset.control = control.key;
        entry = { element, frame, ...this[control.kind](element, control) };
        this.entries.set(control.key, entry);
      }
      const sibling = lastIn.has(parent) ? lastIn.get(parent).nextSibling : parent.firstChild;
      if (sibling !== entry.element) parent.insertBefore(entry.element, sibling);
      lastIn.set(parent, entry.element);
      entry.show(control);
    }
    this.places.more.hidden = !this.places.behind.firstChild;
  }

  slider(element, { key }) {
    return this.#draggable(key, "slider", (callbacks) => new Slider(element, callbacks));
  }

  order(element, { key }) {
    return this.#draggable(key, "order", (callbacks) => new Sortable(element, callbacks));
  }

  // A slider or a sortable.
  #draggable(key, kind, build) {
    const widget = build({
      onInput: (text, isDragging) => this.callbacks.onInput(key, text, isDragging),
      onRelease: () => this.callbacks.onRelease(),
      onCommit: (text) => this.callbacks.onCommit(key, text),
    });
    return { show: (control) => widget.set(control[kind]), close: () => widget.close() };
  }

  // Buttons side by side, one of them selected.
  choice(element, control) {
    return this.#group(element, control, "radio", (inputs) => inputs.find((input) => input.checked).value);
  }

  multiple_choice(element, control) {
    return this.#group(element, control, "checkbox", (inputs) => {
      const chosen = inputs.filter((input) => input.checked).map(({ value }) => value);
      return chosen.join("+") || (control.none ? NONE : "");
    });
  }

  #group(element, { key, label, help, options, above }, type, read) {
    const group = createElement("fieldset", element, { className: type });
    const legend = createElement("legend", group);
    if (above) legend.className = "visually-hidden";
    labelRow(legend, label, help);
    const row = createElement("div", group, { className: "buttons" });
    const inputs = options.map(({ value, html }) => {
      const button = createElement("label", row);
      const input = createElement("input", button, { type, name: key, value });
      createElement("span", button, { innerHTML: html });
      return input;
    });
    group.onchange = () => this.callbacks.onChange(key, read(inputs));
    return {
      show: ({ value }) => {
        const chosen = value.split("+");
        for (const input of inputs) input.checked = chosen.includes(input.value);
      },
    };
  }

  #field(element, { label, help }, spec) {
    const head = createElement("div", element, { className: "head" });
    const id = `seqviz-${Math.random().toString(36).slice(2)}`;
    labelRow(head, label, help, id);
    return Object.assign(createElement(spec.tag, element, { id, className: "field" }), spec.with);
  }

  menu(element, control) {
    const menu = this.#field(element, control, { tag: "select", with: {} });
    for (const { value, html } of control.options) {
      const option = createElement("option", menu, { value, innerHTML: html });
      option.textContent = option.textContent; // without what is set in italics
    }
    menu.onchange = () => this.callbacks.onChange(control.key, menu.value);
    return { show: ({ value }) => (menu.value = value) };
  }

  switch(element, { key, label, help }) {
    const head = createElement("div", element, { className: "head" });
    const button = createElement("label", head, { className: "switch" });
    const input = createElement("input", button, { type: "checkbox" });
    input.setAttribute("role", "switch");
    createElement("span", button, { textContent: label });
    labelRow(head, "", help);
    input.onchange = () => this.callbacks.onChange(key, String(input.checked));
    return { show: ({ value }) => (input.checked = value === "true") };
  }

  number(element, { key }) {
    const box = new NumberBox(element, (text) => this.callbacks.onChange(key, text));
    return { show: ({ number }) => box.set(number), close: () => box.close() };
  }

  // Text input: committed at its end, and reported at each keystroke where the figure follows.
  text(element, control) {
    const field = this.#field(element, control, { tag: "input", with: { type: "text", maxLength: control.limit } });
    field.onchange = () => this.callbacks.onChange(control.key, field.value, true);
    if (control.typed) field.oninput = ({ isComposing }) => isComposing || this.callbacks.onInput(control.key, field.value, false);
    return { show: ({ value }) => document.activeElement !== field && (field.value = value) };
  }
}
