// The equation under a figure: a symbol that is pointed at, focused or tapped lights up what it stands for
// (traces, an axis, a cell, a control), and a control or trace that is pointed at lights up its symbols.
//
// HTML: as written by seqviz/lessons/framework/equations.py; `data-lights` as in `step_lights.js`, with
// { kind: "control", key } besides.

import { isLit, lightUp, ring } from "./step_lights.js";

const CALM = window.matchMedia("(prefers-reduced-motion: reduce)");
const SYMBOL = ".seqviz-equation .symbol";
let clear = () => {}; // ends what the current symbol lights up
let current = null; // the symbol whose parts are lit
let held = null; // the focused or tapped one

const scope = (element) => element.closest('[class*="st-key-bench-"]') ?? document.querySelector("main") ?? document.body;
const symbolOf = ({ target }) => target.closest?.(SYMBOL) ?? null;
const lightsOf = (symbol) => JSON.parse(symbol.dataset.lights);
const visible = (root) => [...root.querySelectorAll(SYMBOL)].filter((symbol) => symbol.offsetParent);

export function controlElement(key) {
  const name = `.st-key-${key.replaceAll(".", "-")}`;
  const inComponent = `.seqviz-sinusoid [data-control="${key.split(".").pop()}"]`;
  return document.querySelector(`${name}-slider, ${name}, [data-control="${key}"], ${inComponent}`);
}

function show(symbol) {
  if (symbol === current) return;
  clear();
  clear = () => {};
  current = symbol;
  if (!symbol) return;
  const lights = lightsOf(symbol), chart = scope(symbol).querySelector(".seqviz-chart");
  const parts = lights.filter(({ kind }) => kind !== "control");
  const controls = lights.filter(({ kind }) => kind === "control").map(({ key }) => controlElement(key)).filter(Boolean);
  const ends = [ring(controls, chart ?? symbol)];
  if (chart && parts.length > 0) ends.push(lightUp(chart, parts, CALM.matches, Infinity));
  clear = () => ends.forEach((end) => end());
}

let lit = []; // the symbols that are marked
let markAgain = () => {};
// The page has written another equation under a hand that rests: its symbols are marked as well.
const rewritten = new MutationObserver(() => lit.some((symbol) => !symbol.isConnected) && markAgain());

// Mark the symbols of a bench that a part of it belongs to. isOf: (light) => whether it is that part.
function mark(root, isOf) {
  rewritten.disconnect();
  markAgain = () => mark(root, isOf);
  lit = visible(root).filter((symbol) => symbol.classList.toggle("lit", lightsOf(symbol).some(isOf)));
  for (const symbol of lit) rewritten.observe(symbol.closest('[class*="-equation"][class*="st-key-"]') ?? root, { childList: true, subtree: true });
}

function markControl({ target }) {
  if (!target.closest || target.closest(SYMBOL)) return;
  const root = scope(target);
  if (!root.querySelector(SYMBOL)) return;
  mark(root, ({ kind, key }) => kind === "control" && controlElement(key)?.contains(target));
}

// A trace of a chart is pointed at; null: none any more.
export function markTrace(host, trace) {
  mark(scope(host), (light) => trace && light.kind === "trace" && isLit(trace, [light]));
}

// Write the numbers of a newer equation into one on screen, whose symbols may be focused or lit; false where
// it is another equation.
export function updateEquation(element, html) {
  const after = new DOMParser().parseFromString(html, "text/html");
  const [old, fresh] = [element, after].map((root) => [...root.querySelectorAll(SYMBOL)]);
  const letters = (symbols) => symbols.map((symbol) => symbol.dataset.lights).join();
  if (fresh.length === 0 || letters(old) !== letters(fresh)) return false;
  fresh.forEach((symbol, index) => {
    for (const part of [".spoken", ".number"])
      old[index].querySelector(part).textContent = symbol.querySelector(part).textContent;
  });
  return true;
}

// Write settings that a component in the browser has changed. values: by the name of the control.
export function writeNumbers(element, values) {
  for (const symbol of visible(scope(element)))
    for (const { kind, key } of lightsOf(symbol))
      if (kind === "control" && key.split(".").pop() in values)
        symbol.querySelector(".number").textContent = values[key.split(".").pop()];
}

document.addEventListener("pointerover", (event) => {
  if (event.pointerType !== "mouse") return;
  show(symbolOf(event) ?? held);
  markControl(event);
});
document.addEventListener("focusin", (event) => {
  held = symbolOf(event);
  show(held);
  markControl(event);
});
document.addEventListener("focusout", (event) => {
  if (!symbolOf(event)) return;
  held = null;
  show(null);
});
document.addEventListener("click", (event) => {
  const symbol = symbolOf(event);
  if (symbol) held = symbol;
  else if (!event.target.closest?.("button, input, a, [role=slider]")) held = null;
  show(held);
});
document.addEventListener("keydown", ({ key }) => {
  if (key === "Escape") show((held = null));
});
