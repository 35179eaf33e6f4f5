// The bench of the home page: figure, slider and sentence of a lesson's first bench. It draws while the
// hand moves, as in the lesson (`live.js`), and has nothing else that the page would have to draw.

import { Chart, unpacked } from "../bench/chart.js";
import { bench } from "../bench/live.js";
import { Slider } from "../components/slider.js";

class HomeBench {
  constructor(host) {
    this.host = host;
    this.chart = new Chart(host.querySelector(".seqviz-chart"));
    this.said = host.querySelector(".said");
    this.door = host.querySelector(".door");
    this.slider = new Slider(host.querySelector(".seqviz-slider"), {
      input: (text, dragged) => {
        this.place.move(this.key, text, dragged);
        this.lead(text);
      },
      stop: () => this.place.stop(),
      rest: () => this.rest(),
    });
  }

  // New from the page: its first figure, or one in another language or theme.
  take(data) {
    this.place = bench(data.live.bench);
    this.key = data.key;
    this.sentence = data.sentence;
    this.lesson = data.lesson;
    this.chart.missing = data.missing;
    this.host.querySelector(".name").textContent = data.words.title;
    this.host.querySelector(".lead").textContent = data.words.lead;
    this.door.textContent = data.words.open;
    if (!this.place.moved.has(data.key)) {
      this.slider.set(data.options);
      this.place.drawn(data.live, this.painter());
      this.paint(data);
    } else this.place.renewed(data.live);
    this.lead(this.slider.text);
    this.host.dataset.live = "true";
  }

  painter() {
    return {
      uncover: () => {},
      there: () => this.host.isConnected,
      wait: (on) => this.chart.host.classList.toggle("waiting", on),
      paint: (answer) => this.paint(unpacked(answer), true),
    };
  }

  paint({ figure, alt, notes }, moving = false) {
    this.chart.show(figure, alt, moving);
    this.said.innerHTML = notes[this.sentence] ?? "";
  }

  rest() {
    this.place.stop();
    this.place.expect(this.key, this.slider.likely);
  }

  // The lesson goes on where the hand is.
  lead(text) {
    const { start } = this.slider.options;
    const set = Number(text) === Number(start) ? "" : `&${this.key}=${encodeURIComponent(text)}`;
    this.door.href = this.lesson + set;
  }
}

export default function ({ data: bytes, parentElement }) {
  const host = parentElement.querySelector(".seqviz-home-bench");
  host.bench ??= new HomeBench(host);
  host.bench.take(unpacked(new TextDecoder().decode(bytes)));
}
