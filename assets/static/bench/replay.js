// Replay of a training: the lines of a figure up to an update, and what was learned by then (`Panel.learns`), drawn
// again from the figure on screen. Nothing is computed or requested. While it still trains, each figure that the page
// sends has more updates: at the end of the slider they are followed, before it the reader's update stays.

import { interpolate, number } from "../components/format.js";

const PLAY_MS = 6000; // of a whole run
const KEYS = ["x", "y", "text", "customdata"];
const boards = new Map(); // prefix of a bench -> its Replay

const decoded = (values) => (values?.bdata === undefined ? values : window.Plotly.parts.decoded(values));
const retain = (values, indices) => (values === undefined ? undefined : indices.map((index) => values[index]));

const isByUpdate = ({ meta }) => meta === "by_update"; // point after point, on axes of another kind
const axisOf = ({ xaxis = "x" }) => xaxis;
const yAxisOf = (layout, { yaxis = "y" }) => layout[yaxis.replace(/^y/, "yaxis")];

// A trace up to an update. counted: axes whose x counts updates (`Panel.replays`).
function cut(trace, counted, at) {
  const x = decoded(trace.x);
  if (!isByUpdate(trace) && !counted.includes(axisOf(trace))) return trace;
  if (!x || x.length < 3) return trace; // a threshold
  const indices = [...x.keys()].filter((index) => (isByUpdate(trace) ? index : x[index]) <= at);
  const short = Object.fromEntries(KEYS.map((key) => [key, retain(decoded(trace[key]), indices)]).filter(([, v]) => v));
  return { ...trace, ...short };
}

// 10 to a power as displayed, also where it is no number (`format_log10`).
const powerText = (value) => (value < -300 && Number.isFinite(value) ? `10<sup>\u2212${-Math.floor(value)}</sup>` : number(10 ** value));

// A trace as it was at the last report up to an update.
function snapshot(trace, { updates, x, y }, at, isLog) {
  const values = y[updates.findLastIndex((update) => update <= at)] ?? [];
  const own = { x: x ?? trace.x, y: isLog ? values.map((value) => 10 ** value) : values };
  return { ...trace, ...own, ...(trace.customdata && { customdata: values.map(powerText) }) };
}

class Replay {
  at = null; // the update; null for the end
  training = ""; // the job that is drawn; empty where the app has brought the result
  host = null;

  constructor(prefix) {
    this.prefix = prefix;
  }

  get chart() {
    return document.querySelector(`.st-key-${this.prefix.replaceAll(".", "-")}-figure .seqviz-chart`)?.chart;
  }

  // What was learned, decoded once for a figure: that takes 10 ms.
  decode(learned) {
    const name = learned.map(({ y }) => y.bdata).join();
    if (this.snapshots?.name !== name) {
      const rows = (values) => values && Array.from(decoded(values), (row) => (ArrayBuffer.isView(row) ? [...row] : row));
      this.snapshots = { name, items: learned.map(({ trace, updates, x, y }) => ({ trace, updates: rows(updates), x: rows(x), y: rows(y) })) };
    }
    return this.snapshots.items;
  }

  // Cut the lines of a parsed figure, and draw what was learned.
  apply(figure) {
    const { data, layout } = figure;
    const run = layout.meta?.replay;
    if (!run || this.at === null) return;
    const learned = new Map(this.decode(run.learned ?? []).map((item) => [data[item.trace], item]));
    figure.data = data.map((trace) => {
      const own = learned.get(trace);
      if (!own) return cut(trace, run.axes, this.at);
      return snapshot(trace, own, this.at, yAxisOf(layout, trace)?.type === "log");
    });
  }

  // The updates that the lines of the figure have, as it came.
  read() {
    const { figure } = this.chart;
    if (this.run?.figure !== figure) this.run = { figure, ...this.updates(JSON.parse(figure)) };
    return this.run;
  }

  updates({ data, layout }) {
    const { axes = [], learned = [], title: counted } = layout.meta?.replay ?? {};
    const own = data.filter((trace) => axes.includes(axisOf(trace)) && (decoded(trace.x)?.length ?? 0) > 2);
    const counts = [...own.map(({ x }) => x), ...learned.map(({ updates }) => updates)];
    const all = counts.flatMap((values) => [...(decoded(values) ?? [])]).filter(Number.isFinite);
    const title = counted || (layout[axes[0]?.replace(/^x/, "xaxis")]?.title?.text ?? "");
    return { positions: [...new Set(all)].sort((a, b) => a - b), title };
  }

  // index: of the updates; from the last one on, the figure is the page's own.
  go(index) {
    const { chart } = this;
    if (!chart?.figure || !window.Plotly?.parts) return;
    const { positions, title } = this.read();
    const last = positions.length - 1;
    if (last < 0) return; // it has just begun
    this.index = Math.max(0, Math.min(last, index));
    chart.replay = this;
    chart.change(() => (this.at = this.index === last ? null : positions[this.index]));
    this.show(positions, title);
    return this.index < last;
  }

  // The chart has its next figure.
  follow() {
    if (this.index === undefined || !this.host.isConnected) return;
    const { positions, title } = this.read();
    if (positions.length === 0) return;
    this.index = this.indexIn(positions);
    this.show(positions, title);
  }

  // Of the reader's update.
  indexIn(positions) {
    if (this.at === null) return positions.length - 1;
    return Math.max(0, positions.findLastIndex((update) => update <= this.at));
  }

  show(positions, title) {
    const { words, range, output } = this;
    const last = positions.length - 1;
    range.max = last;
    range.value = this.index;
    const values = { axis: title, at: positions[this.index].toLocaleString("en-US"), last: positions[last].toLocaleString("en-US") };
    output.textContent = range.ariaValueText = interpolate(words.at, values);
  }

  play() {
    if (this.frame) return this.pause();
    const n = this.read().positions.length;
    const first = this.at === null ? 0 : this.index;
    const begin = performance.now() - (first / n) * PLAY_MS;
    const step = () => {
      this.frame = this.host.isConnected ? requestAnimationFrame(step) : null;
      if (!this.go(Math.floor(((performance.now() - begin) / PLAY_MS) * n))) this.pause();
    };
    this.frame = requestAnimationFrame(step);
    this.label();
  }

  pause() {
    cancelAnimationFrame(this.frame);
    this.frame = null;
    this.label();
  }

  label() {
    const name = this.frame ? this.words.pause : this.words.play;
    Object.assign(this.button, { textContent: this.frame ? "⏸" : "▶", title: name, ariaLabel: name });
  }

  // The page has drawn the bench anew: the same training with more updates, or another one.
  attach(parent, words, training) {
    const isSame = training !== "" && training === this.training;
    Object.assign(this, { host: parent.querySelector(".seqviz-replay"), words, training });
    const find = (name) => this.host.querySelector(name);
    [this.button, this.range, this.output] = [find(".play"), find("input"), find("output")];
    const current = () => this.index ?? (this.chart?.figure ? this.read().positions.length - 1 : 0);
    const step = (by) => () => (this.pause(), this.go(current() + by));
    for (const [name, by] of [["back", -1], ["next", 1]])
      Object.assign(find(`.${name}`), { title: words[name], ariaLabel: words[name], onclick: step(by) });
    this.button.onclick = () => this.play();
    this.range.ariaLabel = words.label;
    this.range.oninput = () => (this.pause(), this.go(Number(this.range.value)));
    if (isSame && this.index !== undefined && this.chart?.figure) {
      this.label();
      return this.go(this.indexIn(this.read().positions));
    }
    if (this.at !== null) this.chart?.change(() => (this.at = null));
    Object.assign(this.range, { max: 100, value: 100 });
    this.index = undefined;
    this.output.textContent = "";
    this.pause();
  }
}

export default function ({ data, parentElement }) {
  if (!boards.has(data.bench)) boards.set(data.bench, new Replay(data.bench));
  boards.get(data.bench).attach(parentElement, data.words, data.training);
}
