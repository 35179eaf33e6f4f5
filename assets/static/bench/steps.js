// Steps of a bench: a chip sets the controls as a hand would (sliders move, live.js draws the frames,
// one commit), rings what it has moved, lights up a part of the figure, and shows a sentence of the run.
//
// data: as built by seqviz/ui/page/steps.py. A frame of the fast path names the step whose settings it
// has; any other frame ends the current step.

import { COMMIT_TIMEOUT_MS, liveBench, sameValue } from "./live.js";
import { createElement } from "../components/slider.js";
import { controlElement } from "./equation.js";
import { lightUp, ring } from "./step_lights.js";
import { figureOf, goTo } from "./viewport.js";

const MOVE_MS = 500;
const RING_MS = 4000;
const RETRY_MS = 2000; // doubled each time: a report is lost while the connection is down
const MAX_RETRY_MS = 60_000;
const CALM = window.matchMedia("(prefers-reduced-motion: reduce)");

const easeInOut = (share) => share * share * (3 - 2 * share);
const nextFrame = () => new Promise((resolve) => requestAnimationFrame(resolve));
const cssClass = (key) => `.st-key-${key.replaceAll(".", "-")}`;

class Steps {
  current = 0; // number of the step whose settings and sentence are shown
  followed = 0; // that of the teacher
  requested = 0; // that the page has not drawn yet
  done = new Set();
  ringed = []; // keys of the controls that the last step has moved
  settled = { current: 0, html: "" }; // at the values that the page has

  constructor(host, data) {
    this.host = host;
    this.bench = liveBench(data.bench);
    this.bench.steps = this;
    this.list = createElement("div", host, { className: "chips" });
    this.list.setAttribute("role", "group");
    this.says = createElement("p", host, { className: "says" });
    this.says.setAttribute("aria-live", "polite");
  }

  update(data) {
    const frameKey = JSON.stringify([data.steps.map(({ text }) => text), data.words]);
    this.data = data;
    if (frameKey !== this.frameKey) {
      this.frameKey = frameKey;
      this.build();
    }
    data.done.forEach((number) => this.done.add(number));
    const isOutdated = this.requested && this.requested !== data.current && performance.now() - this.requestedAt < COMMIT_TIMEOUT_MS;
    if (this.isMoving || isOutdated) return this.render();
    this.requested = 0;
    const at = data.sentence?.number ?? 0;
    const current = data.current || (at === this.followed ? at : 0);
    if (current && current !== this.current) {
      this.isAwaited = true;
      this.ringed = data.steps[current - 1].named;
    }
    this.settled = { current, html: current && current === at ? data.sentence.html : "" };
    this.apply(this.settled);
  }

  build() {
    const { steps, words } = this.data;
    this.host.dataset.key = this.data.key;
    this.list.replaceChildren();
    this.list.setAttribute("aria-label", words.label);
    createElement("span", this.list, { className: "label", textContent: words.label, ariaHidden: "true" });
    this.chips = steps.map(({ text }, index) => {
      const chip = createElement("button", this.list, { type: "button", onclick: () => this.run(index + 1) });
      createElement("span", chip, { className: "number", textContent: index + 1, ariaHidden: "true" });
      createElement("span", chip, { className: "text", textContent: text });
      chip.note = createElement("span", chip, { className: "visually-hidden" });
      return chip;
    });
  }

  render() {
    this.chips.forEach((chip, index) => {
      const number = index + 1, isDone = this.done.has(number);
      chip.classList.toggle("done", isDone);
      chip.setAttribute("aria-pressed", this.current === number);
      const note = isDone ? ` (${this.data.words.done})` : "";
      if (chip.note.textContent !== note) chip.note.textContent = note;
    });
  }

  apply({ current, html }) {
    this.current = current;
    if (html !== this.shown) this.says.innerHTML = html; // written by the server
    this.shown = html;
    if (!current) this.clear();
    this.render();
    if (!current || !html || !this.isAwaited) return;
    this.isAwaited = false;
    this.highlight();
  }

  // Whether the controls are still set as in a step.
  hasSettings(number) {
    const { steps, values } = this.data;
    return Object.entries(steps[number - 1].settings).every(([key, text]) =>
      sameValue(this.bench.controls.get(key)?.slider.text ?? values[key], text));
  }

  // Bring the chips and the figure below them into sight.
  bringIntoSight() {
    const figure = figureOf(this.host);
    // At once, because only frames in sight are drawn.
    if (figure && figure.getBoundingClientRect().bottom > window.innerHeight) goTo(this.host, { block: "start", behavior: "instant" });
  }

  // Take a step.
  async run(number) {
    const { settings, named } = this.data.steps[number - 1];
    this.bringIntoSight();
    const moves = [], others = [];
    for (const [key, text] of Object.entries(settings)) {
      const slider = this.bench.controls.get(key)?.slider;
      if (sameValue(slider?.text ?? this.data.values[key], text)) continue;
      if (slider?.positionOf && slider.textOf(slider.positionOf(text)) === text) moves.push({ key, slider, text });
      else others.push(key);
    }
    const moved = [...moves.map(({ key }) => key), ...others];
    this.clear();
    this.ringed = moved.length > 0 ? moved : named;
    this.current = number;
    this.followed = 0;
    this.isAwaited = true;
    this.done.add(number);
    this.render();
    if (!(await this.move(moves, number))) return;
    const keys = moves.map(({ key }) => key);
    const redraw = () => this.request(number, keys);
    // What a client renderer has drawn comes without a sentence.
    if (others.length > 0 || moves.length === 0 || this.bench.source?.client_renderer) return redraw();
    this.bench.reportFrame();
    this.commit(number, keys, redraw, RETRY_MS);
  }

  // Move sliders to their values; false where another step or a hand has taken over.
  async move(moves, number) {
    const token = (this.isMoving = {});
    for (const item of moves) Object.assign(item, { from: item.slider.value, to: item.slider.positionOf(item.text), last: item.slider.text });
    const start = performance.now(), duration = CALM.matches ? 0 : MOVE_MS;
    for (let share = 0; share < 1 && moves.length > 0; ) {
      if (duration > 0) await nextFrame();
      share = duration > 0 ? Math.min(1, (performance.now() - start) / duration) : 1;
      if (this.isMoving !== token) return false;
      if (moves.some(({ slider, last }) => slider.text !== last || slider.commitTimer !== 0)) {
        this.isMoving = null;
        this.apply({ current: 0, html: "" });
        return false;
      }
      for (const item of moves) {
        const { slider, key, from, to } = item;
        slider.show(slider.snap(from + (to - from) * easeInOut(share), share === 1));
        if (slider.text === item.last) continue;
        item.last = slider.text;
        this.bench.move(key, slider.text, share < 1);
      }
    }
    if (moves.length > 0) this.bench.release();
    this.isMoving = null;
    return this.current === number;
  }

  // The page sets the controls of the step, and draws the bench once.
  request(number, keys) {
    this.requested = number;
    this.requestedAt = performance.now();
    keys.forEach((key) => this.bench.markReported(key));
    this.trigger({ number, at: Date.now() });
  }

  // Repeated until the page has acknowledged it, like the commit of a slider.
  commit(number, keys, redraw, delayMs) {
    this.bench.commit(keys, redraw, number);
    clearTimeout(this.retryTimer);
    const isPending = () => this.current === number && keys.some((key) => this.bench.pending.has(key));
    this.retryTimer = setTimeout(
      () => isPending() && this.commit(number, keys, redraw, Math.min(MAX_RETRY_MS, 2 * delayMs)),
      delayMs,
    );
  }

  // A frame was painted. step: { number, html } where it has the settings of a step.
  onFrame(step) {
    if (this.isMoving || this.requested) return;
    if (step && step.number === this.followed && step.number !== this.current) {
      this.current = step.number;
      this.ringed = this.data.steps[this.current - 1].named;
      this.isAwaited = true;
    }
    if (this.current === 0) return;
    if (!this.hasSettings(this.current)) this.apply({ current: 0, html: "" });
    else if (step?.number === this.current) this.apply({ current: this.current, html: step.html });
  }

  // The page's own values are shown again, or those of the last commit.
  onRestored() {
    if (!this.isMoving && !this.requested) this.apply(this.settled);
  }

  // The page has taken over a commit without drawing the bench.
  onAcknowledged() {
    if (!this.isMoving && !this.requested) this.settled = { current: this.current, html: this.shown };
  }

  // The teacher of the room has taken a step, or none. Its frame is on its way, or on screen already.
  follow(number) {
    if (number === this.followed) return;
    this.followed = number;
    this.bench.reportFrame();
    if (number && number !== this.current && number === this.data.sentence?.number && this.hasSettings(number)) this.update(this.data);
  }

  highlight() {
    this.clear();
    const elements = this.ringed.map(controlElement).filter(Boolean);
    this.clearRings = ring(elements, this.host);
    this.ringTimer = setTimeout(this.clearRings, RING_MS);
    const chart = document.querySelector(`${cssClass(this.data.bench)}-figure .seqviz-chart`);
    if (chart) this.clearLights = lightUp(chart, this.data.steps[this.current - 1].lights, CALM.matches);
  }

  clear() {
    clearTimeout(this.ringTimer);
    this.clearRings?.();
    this.clearLights?.();
  }

  close() {
    clearTimeout(this.retryTimer);
    this.clear();
    this.isMoving = null;
    if (this.bench.steps === this) this.bench.steps = null;
  }
}

export default function ({ data, parentElement, setTriggerValue }) {
  const host = parentElement.querySelector(".seqviz-steps");
  host.steps ??= new Steps(host, data);
  host.steps.trigger = (payload) => setTriggerValue("step", payload);
  host.steps.update(data);
  return () => {
    host.steps?.close();
    delete host.steps;
    host.replaceChildren();
  };
}
