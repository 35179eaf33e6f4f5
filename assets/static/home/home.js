// Bench of the home page: figure, slider and sentence of a lesson's first bench. It is painted
// during a drag as in the lesson (`live.js`), and has nothing else that the page would render.

import { Chart, unpack } from "../bench/chart.js";
import { liveBench } from "../bench/live.js";
import { heroFigure } from "./hero.js";
import { Slider } from "../components/slider.js";

class HomeBench {
  constructor(host) {
    this.host = host;
    this.chart = new Chart(host.querySelector(".seqviz-chart"));
    this.note = host.querySelector(".sentence");
    this.lessonLink = host.querySelector(".lesson-link");
    this.slider = new Slider(host.querySelector(".seqviz-slider"), {
      onInput: (text, isDragging) => {
        this.bench.move(this.key, text, isDragging);
        this.updateLink(text);
      },
      onRelease: () => this.bench.release(),
      onCommit: () => this.commit(),
    });
  }

  // New data from the page: its first figure, or one in another language or theme.
  update(data) {
    this.bench = liveBench(data.live.bench);
    this.key = data.key;
    this.sentence = data.sentence;
    this.words = data.words;
    this.lesson = data.lesson;
    this.chart.missing = data.missing;
    this.host.querySelector(".name").textContent = data.words.title;
    this.host.querySelector(".lead").textContent = data.words.lead;
    this.lessonLink.textContent = data.words.open;
    if (!this.bench.pending.has(data.key)) {
      this.slider.set(data.options);
      this.bench.onRendered(data.live, this.createView());
      this.paint(data);
    } else this.bench.onStale(data.live);
    this.updateLink(this.slider.text);
    this.host.dataset.live = "true";
  }

  createView() {
    return {
      restore: () => {},
      isMounted: () => this.host.isConnected,
      setWaiting: (on) => this.chart.host.classList.toggle("waiting", on),
      paint: (answer) => this.paint(unpack(answer), true),
    };
  }

  paint({ figure, alt, readouts }, isDragging = false) {
    this.chart.show(heroFigure(figure, this.words), alt, isDragging);
    this.note.textContent = this.words.says.replace(/\{(\w+)\}/g, (_, name) => readouts[this.sentence[name]].value);
  }

  commit() {
    this.bench.release();
    this.bench.prefetch(this.key, this.slider.neighbors);
    this.keepInAddress();
  }

  // The link to the lesson carries the value of the slider.
  updateLink(text) {
    const setting = this.isStart(text) ? "" : `&${this.key}=${encodeURIComponent(text)}`;
    this.lessonLink.href = this.lesson + setting;
  }

  isStart(text) {
    return Number(text) === Number(this.slider.options.start);
  }

  // So does the address of home, for Back and reload.
  keepInAddress() {
    const url = new URL(location);
    if (this.isStart(this.slider.text)) url.searchParams.delete(this.key);
    else url.searchParams.set(this.key, this.slider.text);
    history.replaceState(history.state, "", url);
  }
}

export default function ({ data: bytes, parentElement }) {
  const host = parentElement.querySelector(".seqviz-home-bench");
  host.bench ??= new HomeBench(host);
  host.bench.update(unpack(new TextDecoder().decode(bytes)));
}
