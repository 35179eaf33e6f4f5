// Presenter keys: Page Down and Page Up, which a clicker sends, walk the questions and steps of a bench,
// then from bench to bench, and after the last to the next lesson; left and right move the slider used
// last. B: black screen, N: notes, L: pointer, D: drawing on the screen.

import { interpolate } from "./format.js";
import { createElement } from "./slider.js";

const NON_TEXT_TYPES = ["range", "checkbox", "radio", "button", "submit", "reset", "file"]; // inputs without a text
const TEXT_FIELDS = `input:not(${NON_TEXT_TYPES.map((type) => `[type="${type}"]`)}), select, textarea, [contenteditable="true"]`;
const OWN_KEYS = '[role="dialog"], [role="listbox"], [role="menu"], .stDataFrame'; // what scrolls or steps by itself
const SCROLLABLE = ':is(.katex-display, table, pre, .seqviz-scrolls)[tabindex="0"]'; // sideways (accessibility.js)
const TAKES_ARROWS = `[type="range"], [type="radio"], [role="radio"], [role="toolbar"] *, [role="slider"], [role="tab"], ${SCROLLABLE}`;
const TOP_TOLERANCE_PX = 16; // within which a bench is at the upper edge
const ANSWERED = "data-seqviz-answered"; // of a question that is answered and still shown
const NOTES = "data-seqviz-notes"; // of the document, while the lesson's prose is shown
const DONE = '[class*="-done"]';
const DESIGN_PX = { width: 1150, height: 675 }; // window for which charts are drawn; others enlarge them
const LINE_SHARE = 0.005; // width of a drawn line, of the window's height
let lastSlider = null; // the slider
let words = {}; // translations
let overlay = null; // Overlay
let listeners = new AbortController();

const isVisible = (element) => {
  const { top, bottom, height } = element.getBoundingClientRect();
  return element.isConnected && height > 0 && bottom > 0 && top < window.innerHeight;
};

// The bench that fills the window; null on the title page and at the end.
const currentBench = () =>
  benches().find((bench) => Math.abs(bench.getBoundingClientRect().top) <= TOP_TOLERANCE_PX) ?? null;
const benches = () =>
  [...document.querySelectorAll('[class*="st-key-bench-"]')].filter((bench) => bench.getClientRects().length > 0);

// Take the next step of a question: open, close and reveal the vote of a class; else show the answer.
function advanceQuestion(question) {
  const sketch = question.querySelector(".seqviz-sketch")?.sketch;
  const button = question.querySelector(".seqviz-poll .next, .seqviz-sketch .primary:enabled, [class*='-skip'] button");
  if (!button && !(sketch?.room === null && !sketch.data.y)) return false;
  markAnswered(question);
  if (button) button.click();
  else sketch.requestResult(true);
  return true;
}

// An answered question stays until the next key (present.css).
const markAnswered = (question) => question?.setAttribute(ANSWERED, "");

// Walk within a bench: its questions, then its steps. False at its end.
function advanceBench(bench, forward) {
  const { steps } = bench.querySelector(".seqviz-steps") ?? {};
  if (!forward) {
    if (!steps || steps.current < 2) return false;
    steps.run(steps.current - 1);
    return true;
  }
  const questions = [...bench.querySelectorAll('[class*="-question"]')].filter((question) => question.getClientRects().length > 0);
  for (const question of questions) {
    if (question.hasAttribute(ANSWERED) && question.querySelector(DONE)) question.removeAttribute(ANSWERED);
    else if (!advanceQuestion(question)) continue;
    return true;
  }
  const lift = bench.querySelector('[class*="-lift"] button');
  if (lift) lift.click();
  else if (steps && steps.current < steps.data.steps.length) steps.run(steps.current + 1);
  else return false;
  return true;
}

// Return whether the page has changed, in this lesson or to another.
function advance(forward) {
  const bench = currentBench();
  if (bench && !hasNotes() && advanceBench(bench, forward)) return true;
  const page = document.querySelector('[data-testid="stMain"]');
  const scrollBefore = page.scrollTop;
  const distances = benches().map((item) => ({ item, top: item.getBoundingClientRect().top }));
  if (distances.length === 0) return false;
  const targets = forward
    ? distances.filter(({ top }) => top > TOP_TOLERANCE_PX)
    : distances.filter(({ top }) => top < -1).reverse();
  for (const { item } of targets) {
    item.scrollIntoView({ block: "start" });
    if (page.scrollTop !== scrollBefore) return true;
  }
  if (!forward && scrollBefore > 0) {
    page.scrollTo(0, 0);
    return true;
  }
  return leaveLesson(forward, page);
}

// The first press says where the second goes.
function leaveLesson(forward, page) {
  const button = document.querySelector(`.st-key-go-${forward ? "next" : "previous"} button`);
  if (!button) return false;
  const text = interpolate(words[forward ? "next" : "previous"], { title: button.querySelector("p")?.textContent ?? button.textContent });
  if (overlay.lastMessage === text) button.click();
  else {
    page.scrollTo(0, forward ? page.scrollHeight : 0);
    overlay.message.textContent = text;
  }
  return true;
}

function moveSlider(key, shiftKey) {
  const sliders = [...document.querySelectorAll('input[type="range"]')];
  const slider = lastSlider && isVisible(lastSlider) ? lastSlider : sliders.find(isVisible);
  if (!slider) return false;
  slider.focus({ preventScroll: true });
  const keyEvent = { key, shiftKey, bubbles: true, cancelable: true };
  if (!slider.dispatchEvent(new KeyboardEvent("keydown", keyEvent))) return true;
  slider[key === "ArrowRight" ? "stepUp" : "stepDown"](); // one that leaves its keys to the browser
  slider.dispatchEvent(new Event("input", { bubbles: true }));
  slider.dispatchEvent(new Event("change", { bubbles: true }));
  return true;
}

function onKeyDown(event) {
  const { key, isTrusted, altKey, ctrlKey, metaKey, shiftKey } = event;
  const focused = event.target; // in a frame it is an element of the page there
  if (!isTrusted || altKey || ctrlKey || metaKey || focused.matches(TEXT_FIELDS)) return;
  if (focused.closest(OWN_KEYS) || document.querySelector(".stDialog")) return;
  if (!event.repeat) overlay.takeMessage();
  const isHandled =
    key === "PageDown" || key === "PageUp"
      ? event.repeat || overlay.clear() || advance(key === "PageDown") // a key that is held is one press
      : key === "ArrowLeft" || key === "ArrowRight"
        ? !focused.matches(TAKES_ARROWS) && moveSlider(key, shiftKey)
        : overlay.toggle(key.toLowerCase());
  if (!isHandled) return;
  event.preventDefault();
  event.stopPropagation(); // a slider that has the focus would take a page for ten steps
}

const hasNotes = () => document.documentElement.hasAttribute(NOTES);

function toggleNotes() {
  const bench = currentBench();
  document.documentElement.toggleAttribute(NOTES);
  bench?.scrollIntoView({ block: "start" });
}

// What lies over the page.
class Overlay {
  constructor(parent, signal) {
    this.host = createElement("div", parent, { className: "seqviz-presenter" });
    this.message = createElement("div", this.host, { className: "message", role: "status" });
    this.blank = createElement("div", this.host, { className: "blank", hidden: true });
    this.pointer = createElement("div", this.host, { className: "pointer", hidden: true });
    this.canvas = createElement("canvas", this.host, { hidden: true });
    this.canvas.addEventListener("pointermove", (event) => event.buttons && this.draw(event));
    this.keys = { b: this.blank, ".": this.blank, l: this.pointer, d: this.canvas };
    window.addEventListener("pointerdown", () => this.takeMessage(), { capture: true, signal });
  }

  // A message stays until the next key or click.
  takeMessage() {
    this.lastMessage = this.message.textContent;
    this.message.textContent = "";
  }

  // The action of a key, if it has one.
  toggle(key) {
    if (key === "n") toggleNotes();
    else if (!(key in this.keys)) return false;
    else this.show(this.keys[key], this.keys[key].hidden);
    return true;
  }

  show(element, on) {
    element.hidden = !on;
    if (element === this.pointer) {
      if (on) window.addEventListener("pointermove", this.movePointer);
      else window.removeEventListener("pointermove", this.movePointer);
    }
    // A canvas that gets a size is empty.
    if (element === this.canvas && on) Object.assign(element, { width: window.innerWidth, height: window.innerHeight });
  }

  movePointer = ({ clientX, clientY }) => (this.pointer.style.transform = `translate(${clientX}px, ${clientY}px)`);

  // Events between two frames are drawn as well.
  draw(event) {
    const pen = this.canvas.getContext("2d");
    Object.assign(pen, { lineWidth: LINE_SHARE * window.innerHeight, lineCap: "round", strokeStyle: "#E11D48" });
    for (const { clientX, clientY, movementX, movementY } of event.getCoalescedEvents?.() ?? [event]) {
      pen.beginPath();
      pen.moveTo(clientX - movementX, clientY - movementY);
      pen.lineTo(clientX, clientY);
      pen.stroke();
    }
  }

  // A drawing belongs to what is under it, and a black screen ends with the next key: true for that.
  clear() {
    this.show(this.canvas, false);
    const wasBlank = !this.blank.hidden;
    this.blank.hidden = true;
    return wasBlank;
  }

  close() {
    this.show(this.pointer, false);
    this.host.remove();
  }
}

// Charts are drawn for a desk; their enlargement is known to present.css.
function setScale() {
  const scale = Math.min(window.innerWidth / DESIGN_PX.width, window.innerHeight / DESIGN_PX.height);
  document.documentElement.style.setProperty("--seqviz-scale", scale.toFixed(3));
}

export default function ({ data, parentElement }) {
  words = data;
  listeners.abort();
  overlay?.close();
  const controller = (listeners = new AbortController());
  const options = { capture: true, signal: controller.signal };
  overlay = new Overlay(parentElement, controller.signal);
  setScale();
  window.addEventListener("resize", setScale, options);
  window.addEventListener("keydown", onKeyDown, options);
  window.addEventListener("click", ({ target }) => markAnswered(target.closest?.('[class*="-question"]')), options);
  for (const kind of ["pointerdown", "focusin"])
    window.addEventListener(
      kind,
      ({ target }) => {
        if (target.matches?.('input[type="range"]')) lastSlider = target;
      },
      options,
    );
  // Keys pressed in a frame are received only there. The focus is known a little later.
  const enterFrame = () => document.activeElement?.contentWindow?.addEventListener("keydown", onKeyDown, options);
  window.addEventListener("blur", () => setTimeout(enterFrame), options);
  return () => {
    controller.abort();
    if (listeners !== controller) return;
    overlay.close();
    document.documentElement.removeAttribute(NOTES);
    document.documentElement.style.removeProperty("--seqviz-scale");
  };
}
