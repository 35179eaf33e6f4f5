// Presenter keys: Page Down and Page Up, which a clicker sends, walk the questions and steps of a bench,
// then from bench to bench, and after the last to the next lesson; left and right move the slider used
// last. B: black screen, N: the lesson's prose beside the slide, A: the whole page in place of slides,
// L: pointer, D: pen for the figure; Backspace takes back a stroke, E erases all. A room sees the drawing.

import { Ink } from "../classroom/ink.js";
import { currentView } from "../classroom/room.js";
import { currentRoom } from "../classroom/room_client.js";
import { interpolate } from "./format.js";
import { createElement } from "./slider.js";
import { unwatch, watch } from "./slide_marks.js";

const NON_TEXT_TYPES = ["range", "checkbox", "radio", "button", "submit", "reset", "file"]; // inputs without a text
const TEXT_FIELDS = `input:not(${NON_TEXT_TYPES.map((type) => `[type="${type}"]`)}), select, textarea, [contenteditable="true"]`;
const OWN_KEYS = '[role="dialog"], [role="listbox"], [role="menu"], .stDataFrame'; // what scrolls or steps by itself
const SCROLLABLE = ':is(.katex-display, table, pre, .seqviz-scrolls)[tabindex="0"]'; // sideways (accessibility.js)
const TAKES_ARROWS = `[type="range"], [type="radio"], [role="radio"], [role="toolbar"] *, [role="slider"], [role="tab"], ${SCROLLABLE}`;
const TOP_TOLERANCE_PX = 16; // within which a bench is at the upper edge
const ANSWERED = "data-seqviz-answered"; // of a question that is answered and still shown
const CAPTION = '[data-testid="stCaptionContainer"]'; // the keys, not prose
const WHOLE = "data-seqviz-whole"; // of the document, while the lesson is shown in place of slides
const BENCH = '[class*="st-key-bench-"]';
const DONE = '[class*="-done"]';
const DESIGN_PX = { width: 1150, height: 675 }; // window for which charts are drawn; others enlarge them
const SEND_MS = 250; // between two messages with a drawing
const WATCH_MS = 200; // between two looks whether the figure under a drawing, or the slide of the notes, is another
const MODIFIERS = ["Shift", "Control", "Alt", "AltGraph", "Meta"];
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
  [...document.querySelectorAll(BENCH)].filter((bench) => bench.getClientRects().length > 0);

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
  if (bench && !isWhole() && advanceBench(bench, forward)) return true;
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

// A drawing belongs to what is under it.
function turnPage(forward) {
  overlay.clear();
  return advance(forward);
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
  if (!isTrusted || altKey || ctrlKey || metaKey) return;
  if (!overlay.blank.hidden) {
    if (!event.repeat && !MODIFIERS.includes(key)) overlay.show(overlay.blank, false); // and nothing else
    event.preventDefault();
    event.stopPropagation();
    return;
  }
  if (focused.matches(TEXT_FIELDS) || focused.closest(OWN_KEYS) || document.querySelector(".stDialog")) return;
  if (!event.repeat) overlay.takeMessage();
  const isHandled =
    key === "PageDown" || key === "PageUp"
      ? event.repeat || turnPage(key === "PageDown") // a key that is held is one press
      : key === "ArrowLeft" || key === "ArrowRight"
        ? !focused.matches(TAKES_ARROWS) && moveSlider(key, shiftKey)
        : overlay.toggle(key.toLowerCase(), event.repeat);
  if (!isHandled) return;
  event.preventDefault();
  event.stopPropagation(); // a slider that has the focus would take a page for ten steps
}

const isWhole = () => document.documentElement.hasAttribute(WHOLE);

function toggleWhole() {
  const bench = currentBench();
  document.documentElement.toggleAttribute(WHOLE);
  bench?.scrollIntoView({ block: "start" });
}

// A slide that is used where it has come only in part, as by a wheel, fills the window.
function fitSlide(target) {
  const bench = target.closest?.(BENCH);
  if (bench && !isWhole() && bench !== currentBench() && Math.abs(bench.offsetHeight - window.innerHeight) <= 1)
    bench.scrollIntoView({ block: "start" });
}

// What a lesson says about a bench and a slide leaves out: what stands before it, its sentences, and what is folded below it.
function notesOf(bench) {
  const wrapper = bench.parentElement, parts = [...wrapper.parentElement.children], at = parts.indexOf(wrapper);
  const isBench = (part) => part.querySelector(BENCH) !== null;
  const from = parts.slice(0, at).findLastIndex(isBench) + 1, end = parts.slice(at + 1).findIndex(isBench);
  const before = parts.slice(from, at), after = parts.slice(at + 1, end < 0 ? undefined : at + 1 + end);
  const prose = (items) => items.flatMap((item) => [...item.querySelectorAll(`:scope > .stMarkdown:not(:has(${CAPTION}))`)]);
  const sentences = [...bench.querySelectorAll('[class*="-notes-"] .stMarkdown')];
  const folded = after.filter((item) => item.matches('[class*="st-key-more-"]'));
  return [...prose(before), ...sentences, ...folded.flatMap((item) => [...item.querySelectorAll(".stMarkdown")])];
}

// What lies over the page.
class Overlay {
  controller = new AbortController();

  constructor(parent) {
    this.host = createElement("div", parent, { className: "seqviz-presenter" });
    this.message = createElement("div", this.host, { className: "message", role: "status" });
    this.blank = createElement("div", this.host, { className: "blank", hidden: true });
    this.pointer = createElement("div", this.host, { className: "pointer", hidden: true });
    this.pen = createElement("div", this.host, { className: "pen", hidden: true });
    this.notes = createElement("div", this.host, { className: "notes", hidden: true, role: "region", tabIndex: 0, ariaLabel: words.notes });
    this.ink = new Ink();
    for (const kind of ["pointerdown", "pointermove", "pointerup", "pointercancel"])
      this.pen.addEventListener(kind, (event) => this.draw(event));
    this.keys = { b: this.blank, ".": this.blank, l: this.pointer, d: this.pen, n: this.notes };
    window.addEventListener("pointerdown", () => this.takeMessage(), { capture: true, signal: this.controller.signal });
  }

  // A message stays until the next key or click.
  takeMessage() {
    this.lastMessage = this.message.textContent;
    this.message.textContent = "";
  }

  // The action of a key, if it has one. A key that is held switches once.
  toggle(key, isRepeat) {
    if ((key === "e" || key === "backspace") && this.ink.strokes.length) this.setInk(key === "e" ? [] : this.ink.strokes.slice(0, -1));
    else if (key !== "a" && !(key in this.keys)) return false;
    else if (isRepeat) return true;
    else if (key === "a") toggleWhole();
    else this.show(this.keys[key], this.keys[key].hidden);
    return true;
  }

  show(element, on) {
    element.hidden = !on;
    if (element === this.pointer) {
      if (on) window.addEventListener("pointermove", this.movePointer);
      else window.removeEventListener("pointermove", this.movePointer);
    }
    if (element === this.notes) {
      clearInterval(this.notesWatch);
      if (on) this.notesWatch = setInterval(() => this.renderNotes(), WATCH_MS);
      if (on) this.renderNotes();
    }
  }

  // Those of the slide on the screen.
  renderNotes() {
    const bench = currentBench(), parts = bench ? notesOf(bench) : [];
    const text = parts.map(({ textContent }) => textContent).join("\n") || words.no_notes;
    if (text === this.notesText) return;
    this.notesText = text;
    this.notes.classList.toggle("none", parts.length === 0);
    if (parts.length) this.notes.replaceChildren(...parts.map((part) => part.cloneNode(true)));
    else this.notes.textContent = text;
    this.notes.scrollTop = 0;
  }

  movePointer = ({ clientX, clientY }) => (this.pointer.style.transform = `translate(${clientX}px, ${clientY}px)`);

  // Events between two frames are drawn as well.
  draw(event) {
    const { type, clientX, clientY } = event;
    if (type === "pointerdown") {
      if (!this.ink.strokes.length) this.beginInk();
      this.isDrawing = this.ink.begin(clientX, clientY);
      if (this.isDrawing) this.pen.setPointerCapture(event.pointerId);
    } else if (this.isDrawing && type === "pointermove")
      for (const point of event.getCoalescedEvents?.() ?? [event]) this.ink.extend(point.clientX, point.clientY);
    else this.isDrawing = false;
    if (this.isDrawing || type === "pointerup") this.sendInk();
  }

  // A drawing belongs to a figure at its settings, and is gone with them.
  beginInk() {
    const bench = currentBench();
    this.ink.show(() => (bench?.isConnected ? bench : null), []);
    const view = currentView(), before = JSON.stringify(view);
    this.inkPlace = { lesson: view.lesson, bench: view.bench };
    clearInterval(this.watch);
    this.watch = setInterval(() => JSON.stringify(currentView()) !== before && this.setInk([]), WATCH_MS);
  }

  setInk(strokes) {
    if (!strokes.length) clearInterval(this.watch);
    this.ink.show(this.ink.bench, strokes);
    this.sendInk();
  }

  // The class gets the drawing as it is: often while it is drawn, and always in the end.
  sendInk() {
    const room = currentRoom();
    if (!room?.isTeacher || this.inkTimer) return;
    this.inkTimer = setTimeout(async () => {
      const { strokes } = this.ink, message = JSON.stringify(strokes);
      const isSent = await room.send({ kind: "ink", ...this.inkPlace, strokes }).then(() => true, ({ problem }) => problem !== "too_fast" && problem !== "lost");
      this.inkTimer = null;
      if (!isSent || JSON.stringify(this.ink.strokes) !== message) this.sendInk();
    }, SEND_MS);
  }

  clear() {
    this.show(this.pen, false);
    if (this.ink.strokes.length) this.setInk([]);
  }

  close() {
    this.show(this.pointer, false);
    this.show(this.notes, false);
    this.controller.abort();
    clearInterval(this.watch);
    this.ink.close();
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
  const controller = (listeners = new AbortController());
  const options = { capture: true, signal: controller.signal };
  if (overlay) parentElement.append(overlay.host); // what is on the screen stays when the page is rendered again
  else overlay = new Overlay(parentElement);
  setScale();
  watch();
  window.addEventListener("resize", setScale, options);
  window.addEventListener("keydown", onKeyDown, options);
  window.addEventListener(
    "click",
    ({ target }) => {
      markAnswered(target.closest?.('[class*="-question"]'));
      fitSlide(target);
    },
    options,
  );
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
  const leave = () => {
    if (listeners !== controller) return; // rendered again
    overlay.close();
    overlay = null;
    unwatch();
    document.documentElement.removeAttribute(WHOLE);
    document.documentElement.style.removeProperty("--seqviz-scale");
  };
  return () => {
    controller.abort();
    setTimeout(leave);
  };
}
