// What a step points to in a figure: its traces keep their color while the others fade, the range of an
// axis is marked, a cell gets a frame. Nothing is painted again: only classes and a layer above the figure.
//
// lights: [{ kind: "trace", name, axis } | { kind: "axis", name, low, high } | { kind: "cell", x, y, axes }],
// see seqviz/lessons/framework/steps.py.

import { createElement } from "../components/slider.js";

const LIGHT_MS = 4000;
const REFRESH_MS = 250; // a figure may be painted again meanwhile
const BAR_PX = 4; // width of the mark of an axis
const GROUPS = ".cartesianlayer .trace, .cartesianlayer .hm, .legend .traces";

const layoutAxis = (host, id) => host._fullLayout?.[id.replace(/^./, (letter) => `${letter}axis`)];

export function isLit(trace, lights) {
  return lights.some(({ name, axis }) =>
    (typeof name === "number" ? Number.parseInt(trace.uid) === name : trace.name === name) && (!axis || trace.yaxis === axis));
}

// Pixels of a value along an axis, from the left or upper edge of the figure.
const pixel = (axis, value) => axis._offset + (axis.type === "category" ? axis.d2p(value) : axis.c2p(axis.d2c(value)));

function axisBox(host, { name, low, high }) {
  const axis = layoutAxis(host, name);
  if (!axis) return null;
  const anchor = layoutAxis(host, axis.anchor ?? (name.startsWith("x") ? "y" : "x"));
  const [first, last] = [low ?? axis.range[0], high ?? axis.range[1]].map((value) => pixel(axis, value)).sort((a, b) => a - b);
  const start = Math.max(axis._offset, first), end = Math.min(axis._offset + axis._length, last);
  const length = Math.max(BAR_PX, end - start);
  return name.startsWith("x")
    ? { left: start, top: anchor._offset + anchor._length - BAR_PX / 2, width: length, height: BAR_PX }
    : { left: anchor._offset - BAR_PX / 2, top: start, width: BAR_PX, height: length };
}

function cellBox(host, { x, y, axes }) {
  const [horizontal, vertical] = axes.map((id) => layoutAxis(host, id));
  if (!horizontal || !vertical) return null;
  const width = Math.abs(horizontal.c2p(1) - horizontal.c2p(0)), height = Math.abs(vertical.c2p(1) - vertical.c2p(0));
  return { left: pixel(horizontal, x) - width / 2, top: pixel(vertical, y) - height / 2, width, height };
}

// Ring controls in the color of the theme, which an element in a component knows; the returned function ends it.
export function ring(elements, component) {
  const color = getComputedStyle(component).getPropertyValue("--st-primary-color") || "currentColor";
  for (const element of elements) {
    element.closest("details:not([open])")?.querySelector("summary").click(); // "More settings"
    element.style.setProperty("--seqviz-ring", color);
    element.toggleAttribute("data-seqviz-ring", true); // Streamlit writes the classes anew
  }
  return () => elements.forEach((element) => element.removeAttribute("data-seqviz-ring"));
}

// Light up parts of a chart for a time; the returned function ends it. isCalm: nothing fades.
export function lightUp(host, lights, isCalm, duration = LIGHT_MS) {
  const traces = lights.filter(({ kind }) => kind === "trace");
  const boxes = lights.filter(({ kind }) => kind === "axis" || kind === "cell");
  host.chart?.reveal(lights);
  const layer = createElement("div", host, { className: "seqviz-step-lights", ariaHidden: "true" });
  const apply = () => {
    if (!host._fullLayout) return;
    if (!layer.isConnected) host.append(layer);
    host.classList.toggle("seqviz-lighting", traces.length > 0 && !isCalm);
    for (const group of host.querySelectorAll(GROUPS)) {
      const trace = [group.__data__].flat(2)[0]?.trace;
      if (trace) group.classList.toggle("seqviz-lit", isLit(trace, traces));
    }
    layer.replaceChildren();
    for (const light of boxes) {
      const box = light.kind === "axis" ? axisBox(host, light) : cellBox(host, light);
      if (!box) continue;
      const mark = createElement("div", layer, { className: light.kind });
      for (const [side, px] of Object.entries(box)) mark.style[side] = `${px}px`;
    }
  };
  const interval = setInterval(apply, REFRESH_MS);
  const clear = () => {
    clearInterval(interval);
    clearTimeout(timer);
    layer.remove();
    host.classList.remove("seqviz-lighting");
    for (const group of host.querySelectorAll(".seqviz-lit")) group.classList.remove("seqviz-lit");
  };
  const timer = Number.isFinite(duration) ? setTimeout(clear, duration) : 0;
  apply();
  return clear;
}
