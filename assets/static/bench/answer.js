// The reader's prediction above the figure that answers it: its place in the figure lights up when the
// veil lifts, and again at each click.
//
// data: { bench, sentence, right, lights }, see seqviz/ui/page/components.py.

import { createElement } from "../components/slider.js";
import { lightUp } from "./step_lights.js";

const CALM = window.matchMedia("(prefers-reduced-motion: reduce)");
const LOOK_MS = 100;
const FOLLOW_MS = 2000;

class Answer {
  constructor(host) {
    this.button = createElement("button", host, { type: "button", onclick: () => this.light() });
  }

  update({ bench, sentence, right, lights }) {
    this.bench = bench;
    this.button.textContent = `${right ? "\u2713" : "\u2715"} ${sentence}`;
    this.button.disabled = lights.length === 0;
    const text = JSON.stringify(lights);
    const isNew = text !== this.text;
    Object.assign(this, { lights, text });
    if (isNew) this.light();
  }

  light() {
    this.close();
    if (this.lights.length > 0) this.follow(performance.now());
  }

  // The figure may be drawn a moment later, in place of the veiled one.
  follow(start) {
    const chart = document.querySelector(`.st-key-${this.bench.replaceAll(".", "-")}-figure .seqviz-chart`);
    if (chart?._fullLayout && chart !== this.chart) {
      this.clear?.();
      this.chart = chart;
      this.clear = lightUp(chart, this.lights, CALM.matches);
    }
    if (performance.now() - start < FOLLOW_MS) this.timer = setTimeout(() => this.follow(start), LOOK_MS);
  }

  close() {
    clearTimeout(this.timer);
    this.clear?.();
    this.clear = this.chart = null;
  }
}

export default function ({ data, parentElement }) {
  const host = parentElement.querySelector(".seqviz-answer");
  host.answer ??= new Answer(host);
  host.answer.update(data);
  return () => {
    host.answer?.close();
    delete host.answer;
    host.replaceChildren();
  };
}
