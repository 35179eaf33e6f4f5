// A bench that a class runs: each seat is a seed. The server computes and draws (`seqviz/ui/page/
// class_run.py`); this asks for the picture whenever there is more, and marks the own seat in it.

import { Chart, unpacked } from "../bench/chart.js";
import { shown } from "./room.js";
import { InRoom } from "./room_client.js";
import { near } from "../bench/viewport.js";
import { element } from "../components/slider.js";
import { filled } from "../components/format.js";

const RING = "#000008"; // the theme's color for what is to be looked at (plotting/style.py)
const AGAIN_MS = 2000;
const NEAR = 0.5; // heights of the window within which a figure is brought into sight

class ClassRun extends InRoom {
  picture = null; // what was drawn last
  marked; // the seed that is marked in it
  asked = ""; // number and version of the run that was asked for last
  busy = false;

  constructor(host) {
    super(host);
    this.row = element("div", host, { className: "row" });
    this.button = element("button", this.row, { type: "button" });
    this.stop = element("button", this.row, { type: "button" });
    this.state = element("span", this.row, { role: "status" });
    this.box = element("div", host, { className: "drawn" });
    this.title = element("h3", this.box);
    this.settings = element("div", this.box, { className: "settings" });
    const frame = element("div", element("div", this.box), { className: "axes" });
    this.chart = new Chart(element("div", frame, { className: "seqviz-chart" }));
    this.frame = frame;
    this.own = element("p", this.box, { className: "own" });
    this.said = element("p", this.box);
    this.values = element("details", this.box);
  }

  take(data) {
    const other = this.data && (this.data.lang !== data.lang || this.data.theme !== data.theme || this.data.present !== data.present);
    this.data = data;
    this.frame.style.height = `${data.height}px`;
    this.chart.missing = data.words.missing;
    this.title.textContent = data.words.run_title;
    if (other) this.asked = "";
    this.find();
    this.draw();
  }

  // The run of this bench, if that is what the class runs.
  get run() {
    const run = this.room?.state?.run;
    return run && run.lesson === this.data.lesson && run.bench === this.data.bench ? run : null;
  }

  draw() {
    const { room, run, data: { words } } = this;
    this.host.hidden = !room?.state || (!room.teaches && !run);
    if (this.host.hidden) return;
    const growing = run && !run.stopped && !run.failed && run.done < run.of;
    this.button.hidden = !room.teaches || room.ended;
    this.button.textContent = run ? words.run_again : words.run;
    this.button.title = words.run_help;
    this.button.onclick = () => this.say({ kind: "run", ...shown(), lesson: this.data.lesson, bench: this.data.bench });
    this.stop.hidden = !room.teaches || !growing;
    this.stop.textContent = words.run_stop;
    this.stop.onclick = () => this.say({ kind: "stop" });
    const state = growing ? (run.training ? words.run_training : words.run_growing) : run?.stopped ? words.run_stopped : run ? "" : words.run_help;
    this.state.textContent = this.refused ?? filled(state, run ?? {});
    this.box.hidden = !run || !this.picture;
    if (run && run.version > 0) this.fetch(run);
    if (this.seed !== this.marked) this.mark();
  }

  // The own one; a teacher has none.
  get seed() {
    return this.room?.teaches ? null : (this.room?.mine?.number ?? null);
  }

  async say(said) {
    this.refused = null;
    try {
      await this.room.say(said);
    } catch ({ problem, details }) {
      this.refused = filled(this.data.words[`problem_${problem}`] ?? this.data.words.lost, details ?? {});
    }
    this.draw();
  }

  // The last version only: one request at a time.
  async fetch(run) {
    const name = `${run.number} ${run.version}`;
    if (this.busy || name === this.asked || this.room.ended) return;
    this.busy = true;
    this.asked = name;
    try {
      const { lang, present } = this.data;
      const answer = await this.room.picture(`lang=${lang}&present=${present}`);
      if (answer) this.show(unpacked(answer), run.number);
    } catch {
      setTimeout(() => ((this.asked = ""), this.draw()), AGAIN_MS);
    }
    this.busy = false;
    if (this.run && `${this.run.number} ${this.run.version}` !== this.asked && this.asked) this.draw();
  }

  show(picture, number) {
    const before = this.picture;
    this.picture = { ...picture, number };
    this.box.hidden = false;
    for (const part of [this.title, this.settings, this.frame, this.own, this.values]) part.hidden = Boolean(picture.problem);
    if (picture.problem) {
      this.said.innerHTML = picture.problem;
      return;
    }
    this.settings.innerHTML = picture.settings;
    this.said.textContent = picture.alt;
    this.mark();
    this.table();
    if (before?.number !== number && near(this.data.bench, NEAR)) this.host.scrollIntoView({ block: "nearest", behavior: "smooth" });
  }

  // The own seat, in the figure and below it.
  mark() {
    const { picture, seed, data: { words } } = this;
    if (!picture?.figure || picture.problem) return;
    this.marked = seed;
    const own = seed ? picture.marks[seed] : null;
    this.own.textContent = !seed ? "" : own ? filled(words.run_yours, { seed, value: this.read(own) }) : filled(words.run_not_yet, { seed });
    const figure = JSON.parse(picture.figure);
    if (own) {
      const marker = { symbol: "circle-open", size: 19, color: RING, line: { color: RING, width: 3.5 } };
      figure.data.push({ type: "scatter", mode: "markers", x: own[0], y: own[1], name: words.run_yours_short, marker, hoverinfo: "skip" });
    }
    this.chart.show(JSON.stringify(figure), picture.alt);
  }

  // The numbers of a seed, each with its name where there are several.
  read([, , values]) {
    const { kinds } = this.picture;
    return values.map((value, at) => (kinds.length ? `${kinds[at]} ${value}` : value)).join(" · ");
  }

  table() {
    const { values, picture, data: { words } } = this;
    const { open } = values;
    values.replaceChildren();
    values.open = open;
    element("summary", values, { textContent: words.run_values });
    const table = element("table", values);
    const line = (cells, kind) => {
      const row = element("tr", table);
      for (const textContent of cells) element(kind, row, { textContent });
    };
    line([words.run_seed, ...(picture.kinds.length ? picture.kinds : [picture.quantity])], "th");
    for (const [seed, [, , values]] of Object.entries(picture.marks)) line([seed, ...values], "td");
  }
}

export default function ({ data, parentElement }) {
  const host = parentElement.querySelector(".seqviz-class-run");
  host.run ??= new ClassRun(host);
  host.run.take(data);
  return () => {
    host.run?.close();
    host.replaceChildren();
    delete host.run;
  };
}
