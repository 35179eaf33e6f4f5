// Seed experiment of a class: each seat is a seed. The server computes and plots
// (`seqviz/ui/classroom/seed_experiment.py`); this requests the figure after each change and marks
// the reader's seat in it.

import { Chart, unpack } from "../bench/chart.js";
import { currentView } from "./room.js";
import { RoomComponent } from "./room_client.js";
import { isNear } from "../bench/viewport.js";
import { createElement } from "../components/slider.js";
import { interpolate } from "../components/format.js";

const HIGHLIGHT = "#000008"; // the theme's color for what is to be looked at (plotting/style.py)
const RETRY_MS = 2000;
const MARGIN_WINDOWS = 0.5; // heights of the window within which a figure is brought into sight

class SeedExperiment extends RoomComponent {
  picture = null; // what was drawn last
  markedSeed; // the seed that is marked in it
  requestedVersion = ""; // number and version of the run that was asked for last
  busy = false;

  constructor(host) {
    super(host);
    this.row = createElement("div", host, { className: "row" });
    this.button = createElement("button", this.row, { type: "button" });
    this.stopButton = createElement("button", this.row, { type: "button" });
    this.state = createElement("span", this.row, { role: "status" });
    this.box = createElement("div", host, { className: "drawn" });
    this.title = createElement("h3", this.box);
    this.settings = createElement("div", this.box, { className: "settings" });
    const frame = createElement("div", createElement("div", this.box), { className: "axes" });
    this.chart = new Chart(createElement("div", frame, { className: "seqviz-chart" }));
    this.frame = frame;
    this.ownValue = createElement("p", this.box, { className: "own" });
    this.description = createElement("p", this.box);
    this.values = createElement("details", this.box);
  }

  update(data) {
    const hasNewStyle = this.data && (this.data.lang !== data.lang || this.data.theme !== data.theme || this.data.present !== data.present);
    this.data = data;
    this.frame.style.height = `${data.height}px`;
    this.chart.missing = data.words.missing;
    this.title.textContent = data.words.run_title;
    if (hasNewStyle) this.requestedVersion = "";
    this.findRoom();
    this.render();
  }

  // The run of this bench, if the class runs it.
  get run() {
    const run = this.room?.state?.run;
    return run && run.lesson === this.data.lesson && run.bench === this.data.bench ? run : null;
  }

  render() {
    const { room, run, data: { words } } = this;
    this.host.hidden = !room?.state || (!room.isTeacher && !run);
    if (this.host.hidden) return;
    const isRunning = run && !run.stopped && !run.failed && run.done < run.of;
    this.button.hidden = !room.isTeacher || room.ended;
    this.button.textContent = run ? words.run_again : words.run;
    this.button.title = words.run_help;
    this.button.onclick = () => this.send({ kind: "run", ...currentView(), lesson: this.data.lesson, bench: this.data.bench });
    this.stopButton.hidden = !room.isTeacher || !isRunning;
    this.stopButton.textContent = words.run_stop;
    this.stopButton.onclick = () => this.send({ kind: "stop" });
    const state = isRunning ? (run.training ? words.run_training : words.run_growing) : run?.stopped ? words.run_stopped : run ? "" : words.run_help;
    const left = isRunning && run.left_s ? ` ${interpolate(run.left_s < 90 ? words.run_left_s : words.run_left_min, { seconds: run.left_s, minutes: Math.round(run.left_s / 60) })}` : "";
    this.state.textContent = this.errorText ?? interpolate(state, run ?? {}) + left;
    this.box.hidden = !run || !this.picture;
    if (run && run.version > 0) this.fetchPicture(run);
    if (this.seed !== this.markedSeed) this.markSeed();
  }

  // The reader's seat; a teacher has none.
  get seed() {
    return this.room?.isTeacher ? null : (this.room?.credentials?.number ?? null);
  }

  async send(message) {
    this.errorText = null;
    try {
      await this.room.send(message);
    } catch ({ problem, details }) {
      this.errorText = interpolate(this.data.words[`problem_${problem}`] ?? this.data.words.lost, details ?? {});
    }
    this.render();
  }

  // Request the latest version only, one request at a time.
  async fetchPicture(run) {
    const version = `${run.number} ${run.version}`;
    if (this.busy || version === this.requestedVersion || this.room.ended) return;
    this.busy = true;
    this.requestedVersion = version;
    try {
      const { lang, present } = this.data;
      const text = await this.room.getPicture(`lang=${lang}&present=${present}`);
      if (text) this.show(unpack(text), run.number);
    } catch {
      setTimeout(() => ((this.requestedVersion = ""), this.render()), RETRY_MS);
    }
    this.busy = false;
    if (this.run && `${this.run.number} ${this.run.version}` !== this.requestedVersion && this.requestedVersion) this.render();
  }

  show(picture, number) {
    const before = this.picture;
    this.picture = { ...picture, number };
    this.box.hidden = false;
    for (const element of [this.title, this.settings, this.frame, this.ownValue, this.values]) element.hidden = Boolean(picture.problem);
    if (picture.problem) {
      this.description.innerHTML = picture.problem;
      return;
    }
    this.settings.innerHTML = picture.settings;
    this.description.textContent = picture.alt;
    this.markSeed();
    this.table();
    if (before?.number !== number && isNear(this.data.bench, MARGIN_WINDOWS)) this.host.scrollIntoView({ block: "nearest", behavior: "smooth" });
  }

  // Mark the reader's seat in the figure and below it.
  markSeed() {
    const { picture, seed, data: { words } } = this;
    if (!picture?.figure || picture.problem) return;
    this.markedSeed = seed;
    const ownMark = seed ? picture.marks[seed] : null;
    this.ownValue.textContent = !seed ? "" : ownMark ? interpolate(words.run_yours, { seed, value: this.formatValues(ownMark) }) : interpolate(words.run_not_yet, { seed });
    const figure = JSON.parse(picture.figure);
    if (ownMark) {
      const marker = { symbol: "circle-open", size: 19, color: HIGHLIGHT, line: { color: HIGHLIGHT, width: 3.5 } };
      figure.data.push({ type: "scatter", mode: "markers", x: ownMark[0], y: ownMark[1], name: words.run_yours_short, marker, hoverinfo: "skip" });
    }
    this.chart.show(JSON.stringify(figure), picture.alt);
  }

  // The results of a seed, each with its name where there are several.
  formatValues([, , values]) {
    const { kinds } = this.picture;
    return values.map((value, index) => (kinds.length ? `${kinds[index]} ${value}` : value)).join(" · ");
  }

  table() {
    const { values, picture, data: { words } } = this;
    const { open } = values;
    values.replaceChildren();
    values.open = open;
    createElement("summary", values, { textContent: words.run_values });
    const table = createElement("table", values);
    const line = (cells, kind) => {
      const row = createElement("tr", table);
      for (const textContent of cells) createElement(kind, row, { textContent });
    };
    line([words.run_seed, ...(picture.kinds.length ? picture.kinds : [picture.quantity])], "th");
    for (const [seed, [, , values]] of Object.entries(picture.marks)) line([seed, ...values], "td");
  }
}

export default function ({ data, parentElement }) {
  const host = parentElement.querySelector(".seqviz-class-run");
  host.run ??= new SeedExperiment(host);
  host.run.update(data);
  return () => {
    host.run?.close();
    host.replaceChildren();
    delete host.run;
  };
}
