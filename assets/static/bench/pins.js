// Pinned curves: the lines and bars of a figure as it was, thin and pale below those of now, while its
// controls move. Up to three a figure, as chips with their settings and in the address. A pin that is
// set here is the figure on screen; one from an address is requested like any other setting.

import { interpolate } from "../components/format.js";
import { liveBench } from "./live.js";

const BUTTON = /\bst-key-([a-z]{2})-(\w+)-pin\b/;
const SETTING = /^[a-z]{2}\.[a-z_0-9.]+$/;
const MAX_PINS = 3;
const MIN_POINTS = 3; // a line of two is a threshold or a guide
const OPACITY = 0.45;
const DASHES = ["solid", "dash", "dot"]; // of the pins in their order; `pins.css` underlines the letters alike
const RESERVED = "#000001"; // one of the theme's colors as figures name it (`chart.js`)
const BAR_COLOR = "#888"; // on a bar and on the page, light or dark
const RETRY_MS = 500; // until the page has rendered the bench
const boards = new Map(); // prefix of a bench -> its PinBoard

const cssClass = (key) => `.st-key-${key.replaceAll(".", "-")}`;
const decoded = (values) => (values?.bdata === undefined ? values : window.Plotly.parts.decoded(values));
const letter = (index) => String.fromCharCode("A".charCodeAt(0) + index);

export function pinBoard(prefix) {
  if (!boards.has(prefix)) boards.set(prefix, new PinBoard(prefix));
  return boards.get(prefix);
}

// The settings of a request for a figure, without language and theme.
const settingsOf = (query) => Object.fromEntries(Object.entries(query).filter(([key]) => SETTING.test(key)).sort());

// What a figure's trace leaves behind; null for what is no curve, or a bar beside another.
function ghost(trace, traces, index, dash) {
  const { type = "scatter", mode = "", xaxis = "x", yaxis = "y", line, visible } = trace;
  const common = { index, meta: "ghost", xaxis, yaxis, opacity: OPACITY, showlegend: false, hoverinfo: "skip" };
  const [x, y] = [decoded(trace.x), decoded(trace.y)];
  if (visible === false || !y || y.length < MIN_POINTS) return null;
  if (type === "scatter" && mode.includes("lines"))
    return { ...common, type, mode: "lines", x, y, line: { ...line, width: 1, dash } };
  const isAlone = traces.filter((other) => other.type === "bar" && (other.yaxis ?? "y") === yaxis).length === 1;
  if (type !== "bar" || !isAlone || trace.base !== undefined) return null;
  // One stepped line over the tops: markers would be styled one by one at each repaint.
  const shape = trace.orientation === "h" ? "vhv" : "hvh";
  return { ...common, opacity: 1, type: "scatter", mode: "lines", x, y, line: { shape, width: 1.5, color: BAR_COLOR, dash } };
}

const ghostsOf = ({ data, layout }, dash) => ({ layout, curves: data.map((trace, index) => ghost(trace, data, index, dash)).filter(Boolean) });

// The end of a curve, within the axis if there is one, that is farther from the curve of now on the scale of the
// axis: { at, distance }.
function farEnd({ y }, now, axis) {
  const isFinite = (value) => Number.isFinite(value);
  const ends = [[...y].findIndex(isFinite), [...y].findLastIndex(isFinite)];
  const value = (number) => (axis?.type === "log" ? Math.log10(number) : number);
  const [low, high] = axis?.range ?? [-Infinity, Infinity];
  const isWithin = (at) => value(y[at]) >= low && value(y[at]) <= high;
  const distance = (at) => (isWithin(at) ? Math.abs(value(y[at]) - value(now?.[at])) || 0 : -1);
  const at = distance(ends[1]) >= distance(ends[0]) ? ends[1] : ends[0];
  return { at, distance: distance(at) };
}

// Its name in its first panel, at the curve that differs most from now. One, as letters are slow to draw.
function nameTag(curves, figure, name) {
  const [{ xaxis, yaxis }] = curves;
  const axis = figure.layout[yaxis.replace(/^y/, "yaxis")];
  const ends = curves
    .filter((curve) => curve.xaxis === xaxis && curve.yaxis === yaxis)
    .map((curve) => ({ ...curve, ...farEnd(curve, decoded(figure.data[curve.index]?.y), axis) }));
  const { x, y, at } = ends.reduce((best, end) => (end.distance > best.distance ? end : best));
  return {
    type: "scatter", meta: "ghost", mode: "text", xaxis, yaxis, x: [x?.[at] ?? at], y: [y[at]], text: [`<b>${name}</b>`],
    textposition: "top center", cliponaxis: false, opacity: 0.8, showlegend: false, hoverinfo: "skip",
  };
}

// Widen an axis so that it shows the pinned curves, too.
function widen(axis, other) {
  const [ours, theirs] = [axis?.range, other?.range];
  if (!ours || !theirs || axis.type !== other.type || ours[0] > ours[1] || theirs[0] > theirs[1]) return;
  axis.range = [Math.min(ours[0], theirs[0]), Math.max(ours[1], theirs[1])];
}

class PinBoard {
  items = []; // { settings, figure, isText }; figure: its JSON, null until it is there
  host = null; // of the chips
  data = null; // { bench, key, labels, options, words }
  report = null; // tells the page

  constructor(prefix) {
    this.prefix = prefix;
  }

  // Add the pinned curves to a parsed figure; a drag only moves what is drawn (`repaint.js`).
  // theme: replaces the reserved colors of a figure's JSON.
  apply(figure, theme) {
    const panels = new Set(figure.data.map(({ xaxis = "x", yaxis = "y" }) => xaxis + yaxis));
    const [ghosts, named] = [[], []];
    this.items.forEach((item, number) => {
      if (!item.figure) return;
      const colors = theme(RESERVED);
      const dash = DASHES[number];
      if (item.ghosts?.colors !== colors || item.ghosts.dash !== dash)
        item.ghosts = { colors, dash, ...ghostsOf(JSON.parse(theme(item.figure)), dash) };
      const curves = item.ghosts.curves.filter(({ xaxis, yaxis }) => panels.has(xaxis + yaxis));
      if (curves.length > 0) named.push([curves, letter(number)]);
      ghosts.push(...curves.map((curve) => ({ ...curve })));
      for (const name of Object.keys(figure.layout)) if (/^[xy]axis\d*$/.test(name)) widen(figure.layout[name], item.ghosts.layout[name]);
    });
    figure.data.push(...ghosts, ...named.map(([curves, name]) => nameTag(curves, figure, name)));
  }

  get chart() {
    return document.querySelector(`${cssClass(`${this.prefix}.figure`)} .seqviz-chart`)?.chart;
  }

  add() {
    const { chart, items } = this;
    if (!chart?.figure) return;
    const query = liveBench(this.prefix).currentQuery();
    const bench = liveBench(this.prefix);
    const isText = "own" in query || Object.keys(query).some((key) => bench.source.typed?.includes(key));
    const settings = settingsOf(query);
    const isSame = (item) => JSON.stringify(item.settings) === JSON.stringify(settings);
    if (!isText && items.some(isSame)) return this.say(this.data.words.same);
    if (items.length === MAX_PINS) items.shift();
    items.push({ settings, figure: chart.figure, isText });
    this.say("");
    this.changed();
  }

  remove(index) {
    this.items.splice(index, 1);
    this.changed();
  }

  changed() {
    this.write();
    this.show();
    this.chart?.repaintAll();
  }

  // The page writes the pins that another reader can see to the address: not those of a reader's own text.
  write() {
    const linked = this.items.filter(({ isText }) => !isText);
    this.report(linked.length ? linked.map(({ settings }) => new URLSearchParams(settings).toString()).join("|") : null);
  }

  // The address has changed, or the page has been drawn anew. An address without pins may be one of before
  // they were set: they stay, but for a student whose teacher has removed them.
  follow() {
    const isLinked = new URLSearchParams(location.search).has(this.data.key);
    if (isLinked) return this.read();
    if (this.items.length === 0) return this.show();
    if (liveBench(this.prefix).isFollower) this.items = this.items.filter(({ isText }) => isText);
    this.changed();
  }

  // Take over the pins of the address.
  read() {
    const raw = new URLSearchParams(location.search).get(this.data.key);
    const linked = raw === null ? [] : raw.split("|").slice(0, MAX_PINS);
    const known = new Map(this.items.map((item) => [new URLSearchParams(item.settings).toString(), item]));
    const before = this.items;
    this.items = linked.map((text) => known.get(text) ?? { settings: settingsOf(Object.fromEntries(new URLSearchParams(text))), figure: null, isText: false });
    this.items.push(...before.filter(({ isText }) => isText));
    this.items.splice(MAX_PINS);
    this.fetch();
    this.show();
    if (before.length > 0) this.chart?.repaintAll();
  }

  async fetch() {
    for (const item of this.items) {
      if (item.figure || item.isFetching) continue;
      const bench = liveBench(this.prefix);
      if (!bench.source || !this.chart?.size) {
        clearTimeout(this.timer);
        this.timer = setTimeout(() => this.host?.isConnected && this.fetch(), RETRY_MS);
        return;
      }
      item.isFetching = true;
      item.figure = await this.request(bench, item.settings).catch(() => null);
      item.isFetching = false;
      if (!item.figure) this.items = this.items.filter((other) => other !== item);
      this.show();
      this.chart?.repaintAll();
    }
  }

  // The figure at these settings; null where the server has none, or would draw a reader's own text.
  async request(bench, settings) {
    const frame = Object.entries(bench.source.query).filter(([key]) => !SETTING.test(key));
    if (frame.some(([key]) => key === "own")) return null;
    const query = { ...Object.fromEntries(frame), ...settings };
    const answer = bench.renderInBrowser(query) ?? (await bench.fetchAnswer(bench.source, query, {}));
    return answer && answer.slice(answer.indexOf("\n") + 1);
  }

  // A pin in words: the settings in which any pin differs from the defaults.
  name(settings) {
    const { labels, options, words, defaults } = this.data;
    const keys = [...new Set(this.items.flatMap((item) => Object.keys(item.settings)))].filter((key) => labels[key]);
    const own = keys.map((key) => [key, settings[key] ?? defaults[key]]);
    const value = (key, text) =>
      options[key] ? text.split("+").map((option) => options[key][option] ?? option).join(", ") : text.replace(/^-(?=\d)/, "−");
    return own.map(([key, text]) => `${labels[key]} ${value(key, text)}`).join(" · ") || words.defaults;
  }

  say(message) {
    const place = this.host?.querySelector(".says");
    if (place) place.textContent = message;
  }

  show() {
    const { host, items } = this;
    if (!host) return;
    const chips = items.map((item, index) => {
      const chip = Object.assign(document.createElement("li"), { title: item.isText ? this.data.words.text : "" });
      chip.classList.toggle("waiting", !item.figure);
      chip.append(Object.assign(document.createElement("b"), { textContent: letter(index) }), ` ${this.name(item.settings)} `);
      const name = interpolate(this.data.words.remove, { pin: letter(index) });
      const button = Object.assign(document.createElement("button"), { type: "button", textContent: "×", title: name, ariaLabel: name });
      button.onclick = () => this.remove(index);
      chip.append(button);
      return chip;
    });
    const list = host.querySelector("ul");
    list.replaceChildren(...chips);
    list.ariaLabel = this.data.words.label;
    host.classList.toggle("empty", items.length === 0);
  }
}

document.addEventListener("click", (event) => {
  const [, code, bench] = BUTTON.exec(event.target.closest?.("[class*='-pin']")?.className ?? "") ?? [];
  if (!code || !event.target.closest("button")) return;
  event.stopPropagation();
  pinBoard(`${code}.${bench}`).add();
}, true);
window.addEventListener("popstate", () => {
  for (const board of boards.values()) if (board.host?.isConnected) board.follow();
});

export default function ({ data, parentElement, setTriggerValue }) {
  const board = pinBoard(data.bench);
  const isNew = !board.host?.isConnected;
  board.host = parentElement.querySelector(".seqviz-pins");
  board.data = data;
  board.report = (pins) => setTriggerValue("pins", { pins });
  if (isNew) board.follow();
  else board.show();
}
