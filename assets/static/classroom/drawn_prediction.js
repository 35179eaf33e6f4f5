// A prediction that is drawn on the axes of a figure before its result is shown (seqviz/lessons/framework/
// sketch.py), alone or by a class in a room. A sketch is whole numbers: heights in parts of the axis,
// or column and row of a cell. What it misses by is computed here and told nobody.

import { Chart, unpacked } from "../bench/chart.js";
import { go } from "./room.js";
import { InRoom, presses, Told } from "./room_client.js";
import { element } from "../components/slider.js";
import { filled, number } from "../components/format.js";

const SVG = "http://www.w3.org/2000/svg";
const FINE = 1000; // parts of the axis
const STEP = 10, FAR = 100; // of them, for an arrow key and for a page key
const LOST_MS = 10_000; // after which the page is told once more that the result is wanted
const WIDE = 0.55; // of the distance between two bars
const COLORS = "--st-chart-categorical-colors"; // of the theme, in the order of plotting/style.py
const sketches = new Map(); // by key: what is drawn outlives the place where it is drawn

const shape = (tag, parent, attributes) => {
  const made = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  parent.append(made);
  return made;
};
const within = (value, low, high) => Math.min(high, Math.max(low, value));

// How far a sketch is from the computed values on average, in units of the axis (decades on a log one);
// of a cell how much less than the largest it has.
export function missed({ kind, ends: [low, high], y }, marks) {
  if (kind === "cell") return Math.max(...y.flat().filter((one) => one !== null)) - y[marks[1]][marks[0]];
  const misses = marks.map((mark, at) => (y[at] === null ? null : Math.abs(low + ((high - low) * mark) / FINE - y[at])));
  const known = misses.filter((miss) => miss !== null);
  return known.reduce((sum, miss) => sum + miss, 0) / known.length;
}

// The ends of the interval of a class's median; null where there is none.
const interval = ({ median, below, above }) =>
  below.length ? [median.map((mark, at) => mark - below[at]), median.map((mark, at) => mark + above[at])] : null;

// At how many places the computed value lies in it.
export function held({ ends: [low, high], y }, cloud) {
  const [least, largest] = interval(cloud);
  const at = (mark) => low + ((high - low) * mark) / FINE, places = [...y.keys()].filter((place) => y[place] !== null);
  const inside = places.filter((place) => at(least[place]) <= y[place] && y[place] <= at(largest[place]));
  return { inside: inside.length, places: places.length };
}

// Heights of a curve between the places where it was drawn: straight, and level beyond them.
export function filledIn(touched, count) {
  const places = [...touched.keys()].sort((a, b) => a - b);
  return Array.from({ length: count }, (_, at) => {
    const after = places.findIndex((place) => place >= at);
    if (after === -1) return touched.get(places.at(-1));
    const [low, high] = [places[Math.max(0, after - 1)], places[after]];
    const part = high === low ? 0 : within((at - low) / (high - low), 0, 1);
    return Math.round(touched.get(low) + part * (touched.get(high) - touched.get(low)));
  });
}

class Sketch extends InRoom {
  at = 0; // the mark that keys move
  cloud = null; // what a class has drawn, once it is revealed
  sent = ""; // the marks that the room has

  constructor(host) {
    super(host);
    this.heard = () => this.changed();
    this.how = element("p", host, { className: "how" });
    const frame = element("div", host, { className: "axes" });
    this.chart = new Chart(element("div", frame, { className: "seqviz-chart" }));
    this.chart.drawn = () => this.draw();
    this.svg = shape("svg", frame, { "aria-hidden": "true" });
    this.pad = element("div", frame, { className: "pad", tabIndex: 0 });
    this.pad.setAttribute("role", "slider");
    this.result = element("div", host, { className: "result" });
    this.result.setAttribute("role", "status");
    this.row = element("div", host, { className: "row" });
    this.pressed = presses(this.row, () => this.below(), this.leaving.signal);
    this.pad.onpointerdown = (event) => this.start(event);
    this.pad.onpointermove = (event) => this.last && this.drag(event);
    this.pad.onpointerup = this.pad.onpointercancel = () => (this.last = null);
    this.pad.onkeydown = (event) => this.key(event);
    this.pad.onfocus = this.pad.onblur = () => this.draw();
    this.sight = new IntersectionObserver((seen) => seen.some((one) => one.isIntersecting) && this.show());
    this.sight.observe(frame);
    this.printing = () => this.show();
    window.addEventListener("beforeprint", this.printing);
  }

  entered() {
    this.cloud = null;
  }

  close() {
    super.close();
    this.sight.disconnect();
    window.removeEventListener("beforeprint", this.printing);
    this.chart.observer.disconnect();
  }

  take(data) {
    this.data = data;
    this.awaits = null;
    this.chart.host.classList.remove("waiting");
    if (!sketches.has(data.key)) sketches.set(data.key, new Map());
    this.touched = sketches.get(data.key);
    this.chart.missing = data.missing;
    this.host.style.setProperty("--height", `${data.height}px`);
    this.how.textContent = data.words[`how_${data.kind}`];
    if (this.shown) this.show();
    this.find();
    this.changed();
  }

  show() {
    this.shown = true;
    this.sight.disconnect();
    this.chart.show(this.data.figure, this.data.alt);
    this.draw();
  }

  // --- what is drawn ---------------------------------------------------------------------------

  // The question that the room is at, if it is this one.
  get asked() {
    const found = this.room?.state?.sketch;
    return found?.key === this.data.key ? found : null;
  }

  get editable() {
    if (this.data.y) return false;
    return !this.room || (!this.room.teaches && (!this.asked || this.asked.state === "open"));
  }

  get level() {
    const [low, high] = this.data.ends;
    return within(Math.round((FINE * (0 - low)) / (high - low)), 0, FINE);
  }

  // The whole sketch; null where nothing has been drawn.
  get marks() {
    const { touched, data } = this;
    if (touched.size === 0) return null;
    if (data.kind === "curve") return filledIn(touched, data.x.length);
    return data.most.map((_, at) => touched.get(at) ?? this.level);
  }

  set(at, mark) {
    this.touched.set(at, within(Math.round(mark), 0, this.data.most[at]));
  }

  clear() {
    this.touched.clear();
    this.changed();
  }

  // --- places in pixels ------------------------------------------------------------------------

  get axes() {
    const layout = this.chart.host._fullLayout;
    return layout?.xaxis?._length ? { x: layout.xaxis, y: layout.yaxis } : null;
  }

  height(mark) {
    const [low, high] = this.data.ends, { y } = this.axes;
    return y._offset + y.l2p(low + ((high - low) * mark) / FINE);
  }

  across(at) {
    return this.axes.x._offset + this.axes.x.d2p(this.data.x[at]);
  }

  down(at) {
    return this.axes.y._offset + this.axes.y.d2p(this.data.rows[at]);
  }

  nearest(pixel, count, place) {
    let best = 0;
    for (let at = 1; at < count; at += 1) if (Math.abs(place(at) - pixel) < Math.abs(place(best) - pixel)) best = at;
    return best;
  }

  // --- by hand ---------------------------------------------------------------------------------

  start(event) {
    if (!this.editable || event.button > 0) return;
    this.pad.setPointerCapture(event.pointerId);
    this.last = {};
    this.drag(event);
  }

  drag(event) {
    const { left, top } = this.svg.getBoundingClientRect();
    const x = event.clientX - left, y = event.clientY - top;
    const { data } = this, place = this.nearest(x, data.x.length, (at) => this.across(at));
    if (data.kind === "cell") {
      this.set(0, place);
      this.set(1, this.nearest(y, data.rows.length, (at) => this.down(at)));
      return this.changed();
    }
    const [top0, bottom] = [this.height(FINE), this.height(0)];
    const mark = within((FINE * (bottom - y)) / (bottom - top0), 0, FINE);
    // A quick hand passes places between two events.
    const from = this.last.place ?? place, was = this.last.mark ?? mark, steps = Math.abs(place - from);
    for (let step = 0; step <= steps; step += 1)
      this.set(from + Math.sign(place - from) * step, steps ? was + ((mark - was) * step) / steps : mark);
    this.last = { place, mark };
    this.at = place;
    this.changed();
  }

  key(event) {
    const { key, shiftKey } = event;
    if (!this.editable) return;
    const cell = this.data.kind === "cell";
    const sideways = { ArrowRight: 1, ArrowLeft: -1, Home: -Infinity, End: Infinity }[key];
    const upright = { ArrowUp: 1, ArrowDown: -1, PageUp: FAR / STEP, PageDown: -FAR / STEP }[key];
    if (sideways === undefined && upright === undefined) return;
    event.preventDefault();
    if (cell) {
      const [column, row] = this.marks ?? this.data.most.map((end) => Math.floor(end / 2));
      const up = this.data.rows.length > 1 && this.down(1) < this.down(0) ? 1 : -1;
      this.set(0, column + (sideways ?? 0));
      this.set(1, row + up * Math.sign(upright ?? 0));
    } else if (sideways !== undefined) this.at = within(this.at + sideways, 0, this.data.x.length - 1);
    else {
      const was = this.marks?.[this.at] ?? (this.data.kind === "bar" ? this.level : FINE / 2);
      this.set(this.at, was + upright * STEP * (shiftKey ? 5 : 1));
    }
    this.changed();
  }

  // --- the picture -----------------------------------------------------------------------------

  changed() {
    if (!this.data) return;
    this.hear();
    this.draw();
    this.tellMarks();
    this.below();
  }

  color(slot) {
    return getComputedStyle(this.host).getPropertyValue(COLORS).split(",")[slot]?.trim();
  }

  draw() {
    const { svg, pad, chart, data } = this;
    svg.replaceChildren();
    if (!this.axes || !data) return (pad.hidden = true);
    const { x, y } = this.axes;
    svg.setAttribute("viewBox", `0 0 ${chart.frame.clientWidth} ${chart.frame.clientHeight}`);
    this.host.style.setProperty("--own", this.color(3));
    this.host.style.setProperty("--quiet", this.color(6));
    pad.hidden = !this.editable;
    Object.assign(pad.style, { left: `${x._offset}px`, top: `${y._offset}px`, width: `${x._length}px`, height: `${y._length}px` });
    if (this.cloud) this.drawClass();
    const { marks } = this;
    if (data.kind === "cell") {
      if (data.y) this.best();
      else this.grid();
      if (marks) for (const kind of ["halo", "own"]) this.cell(...marks, kind);
      return;
    }
    if (marks) this.outline(marks, "own");
    if (document.activeElement !== pad || pad.hidden) return;
    const mark = marks?.[this.at] ?? (data.kind === "bar" ? this.level : FINE / 2);
    shape("circle", svg, { class: "at", cx: this.across(this.at), cy: this.height(mark), r: 7 });
  }

  line(marks) {
    return marks.map((mark, at) => `${at ? "L" : "M"}${this.across(at).toFixed(1)} ${this.height(mark).toFixed(1)}`).join("");
  }

  // A curve, or bars from zero.
  outline(marks, kind) {
    if (this.data.kind === "curve") return shape("path", this.svg, { class: `${kind} line`, d: this.line(marks) });
    const half = (WIDE / 2) * Math.abs(this.across(1) - this.across(0)), floor = this.height(this.level);
    const bars = marks.map((mark, at) =>
      `M${this.across(at) - half} ${floor}V${this.height(mark).toFixed(1)}h${2 * half}V${floor}`);
    shape("path", this.svg, { class: `${kind} bars`, d: bars.join("") });
  }

  // Where the cells will be.
  grid() {
    const { x, y } = this.axes, { data } = this;
    const lines = (count, start, length) => Array.from({ length: count + 1 }, (_, at) => start + (at * length) / count);
    const upright = lines(data.x.length, x._offset, x._length).map((at) => `M${at} ${y._offset}v${y._length}`);
    const level = lines(data.rows.length, y._offset, y._length).map((at) => `M${x._offset} ${at}h${x._length}`);
    shape("path", this.svg, { class: "grid", d: upright.join("") + level.join("") });
  }

  cell(column, row, kind) {
    const { x, y } = this.axes, { data } = this;
    const wide = Math.abs(x._length / data.x.length), high = Math.abs(y._length / data.rows.length);
    const box = { x: this.across(column) - wide / 2, y: this.down(row) - high / 2, width: wide, height: high };
    return shape("rect", this.svg, { class: `${kind} box`, ...box });
  }

  // The cells with the highest value.
  best() {
    const { data } = this, rows = [...data.rows.keys()], columns = [...data.x.keys()];
    for (const row of rows)
      for (const column of columns) if (missed(data, [column, row]) === 0) this.cell(column, row, "best");
  }

  // All sketches as one path with gaps, however many there are.
  drawClass() {
    const { cloud, svg, data } = this;
    if (data.kind === "cell") {
      for (const [column, row, count] of cloud.cells)
        shape("text", svg, { class: "count", x: this.across(column), y: this.down(row) }).textContent = count;
      return;
    }
    const dots = (marks) => marks.map((mark, at) => `M${this.across(at).toFixed(1)} ${this.height(mark).toFixed(1)}h0`).join("");
    const one = data.kind === "curve" ? (marks) => this.line(marks) : dots;
    if (cloud.sketches?.length) {
      const opacity = within(3 / Math.sqrt(cloud.count), 0.22, 0.6);
      shape("path", svg, { class: `cloud ${data.kind}`, opacity, d: cloud.sketches.map(one).join("") });
    }
    if (!cloud.median.length) return;
    const { low, median, high } = cloud, sure = interval(cloud);
    if (data.kind === "curve") {
      const back = [...high.keys()].reverse().map((at) => `L${this.across(at).toFixed(1)} ${this.height(high[at]).toFixed(1)}`);
      shape("path", svg, { class: "half", d: `${this.line(low)}${back.join("")}Z` });
      if (sure) shape("path", svg, { class: "sure", d: sure.map((end) => this.line(end)).join("") });
      shape("path", svg, { class: "median", d: this.line(median) });
      return;
    }
    const half = (WIDE / 2) * Math.abs(this.across(1) - this.across(0));
    const upright = (below, above) => below.map((mark, at) => `M${this.across(at)} ${this.height(mark)}V${this.height(above[at])}`).join("");
    const middles = median.map((mark, at) => `M${this.across(at) - half} ${this.height(mark)}h${2 * half}`);
    shape("path", svg, { class: "span", d: upright(low, high) });
    if (sure) shape("path", svg, { class: "sure span", d: upright(...sure) });
    shape("path", svg, { class: "median", d: middles.join("") });
  }

  // For who does not see the picture: where the mark is that keys move.
  tellMarks() {
    const { pad, data, marks } = this, { titles, named } = data;
    const place = named.x?.[this.at] ?? number(data.x[this.at]);
    pad.setAttribute("aria-label", data.words[`how_${data.kind}`]);
    const [now, most] = data.kind === "cell"
      ? [marks ? marks[1] * data.x.length + marks[0] : 0, data.x.length * data.rows.length - 1]
      : [marks?.[this.at] ?? this.level, FINE];
    for (const [name, value] of Object.entries({ valuemin: 0, valuemax: most, valuenow: now })) pad.setAttribute(`aria-${name}`, value);
    const [low, high] = data.ends, height = low + ((high - low) * now) / FINE;
    const name = (letter, list, at) => `${titles[letter]}: ${named[letter]?.[at] ?? number(list[at])}`;
    const said = data.kind === "cell"
      ? marks ? `${name("x", data.x, marks[0])}; ${name("y", data.rows, marks[1])}` : data.words.nothing
      : `${titles.x}: ${place}; ${titles.y}: ${marks ? number(data.log ? 10 ** height : height) : data.words.nothing}`;
    pad.setAttribute("aria-valuetext", said);
  }

  // --- the room --------------------------------------------------------------------------------

  compute(on) {
    if (this.awaits === on) return;
    this.awaits = on;
    this.chart.host.classList.add("waiting");
    this.tell(on);
    setTimeout(() => (this.awaits = null), LOST_MS);
  }

  // What the room says of this question: a new one hides the result, and a revealed one shows it.
  hear() {
    const { asked, room, data } = this;
    if (!asked || room.state.lost) return;
    if (this.number !== asked.number) {
      this.number = asked.number;
      this.cloud = null;
      this.remember(room.state.answers?.sketch);
    }
    const revealed = asked.state === "revealed";
    if (revealed !== Boolean(data.y)) this.compute(revealed);
    if (!revealed || this.cloud || this.fetching) return;
    this.fetching = room.drawn()
      .then((cloud) => cloud.number === this.number && (this.cloud = cloud))
      .catch(() => {})
      .finally(() => {
        this.fetching = null;
        if (this.cloud) this.changed();
      });
  }

  // What this seat has sent, which a page that was loaded anew does not know.
  remember(own) {
    this.sent = own?.join() ?? "";
    if (own && this.touched.size === 0) own.forEach((mark, at) => this.touched.set(at, mark));
  }

  async send() {
    const marks = this.marks, { number: asked } = this.asked;
    try {
      await this.room.draw(asked, marks);
      this.sent = marks.join();
      this.problem = "";
    } catch (refusal) {
      this.refused(refusal);
    }
    this.changed();
  }

  ask(said) {
    this.room.say({ kind: "sketch", ...said }).catch((refusal) => this.refused(refusal));
  }

  refused(refusal) {
    const { words, room } = this.data, { problem, details } = refusal instanceof Told ? refusal : {};
    this.problem = filled(words[`problem_${problem}`] ?? room[`problem_${problem}`] ?? room.lost, details ?? {});
    this.changed();
  }

  // --- below the figure ------------------------------------------------------------------------

  misses() {
    const { data, marks, cloud } = this, { words } = data, said = [];
    const miss = (sentence, found, own = 0) =>
      filled(sentence, { error: number(found), factor: number(10 ** found), value: number(own), best: number(own + found) });
    if (data.y && marks) {
      const found = missed(data, marks);
      this.host.dataset.error = found;
      said.push(miss(words.own, found, data.kind === "cell" ? data.y[marks[1]][marks[0]] : 0));
    } else delete this.host.dataset.error;
    this.host.dataset.marks = marks ?? "";
    if (!cloud) return said;
    if (!cloud.count) return [...said, words.nobody];
    if (data.kind !== "cell") {
      said.push(filled(words[`class_${data.kind}`], { count: cloud.count }));
      said.push(interval(cloud) ? words[`interval_${data.kind}`] : words.interval_none);
      if (data.y) said.push(miss(words.median, missed(data, cloud.median)));
      if (data.y && interval(cloud)) said.push(filled(words.interval_held, held(data, cloud)));
    } else if (data.y) {
      const right = cloud.cells.filter(([column, row]) => missed(data, [column, row]) === 0);
      said.push(filled(words.class_cell, { count: cloud.count, right: right.reduce((sum, cell) => sum + cell[2], 0) }));
    }
    return said;
  }

  parts() {
    const { data, room, asked, marks } = this, { words } = data;
    const open = data.y ? [{ text: words.open, press: () => this.openBench() }] : [];
    const clear = { text: words.clear, press: () => this.clear(), off: !marks };
    if (!room)
      return data.y
        ? [{ text: words.again, press: () => this.compute(false) }, ...open]
        : [{ text: words.compute, press: () => this.compute(true), off: !marks, main: true }, clear];
    const said = this.problem ? [{ text: this.problem }] : [];
    if (!room.state) return said;
    if (room.teaches) return [...this.teachers(open), ...said];
    if (asked?.state === "revealed") return [...open, ...said];
    if (!asked) return [clear, { text: words.waiting }, ...said];
    if (asked.state === "closed") return [{ text: words.closed }, ...said];
    const same = marks && this.sent === marks.join();
    const note = this.sent ? (same ? words.sent : words.changed) : words.now;
    return [{ text: words.send, press: () => this.send(), off: !marks || same, main: true }, clear, { text: note }, ...said];
  }

  teachers(open) {
    const { data: { words, room: names, key, kind, most }, asked, room } = this;
    const put = (text) => ({ text, press: () => this.ask({ action: "ask", key, type: kind, most }) });
    if (!asked) return [{ ...put(words.ask), main: true }, ...open];
    const count = { text: filled(words.count, { drawn: asked.drawn, present: Math.max(room.state.present, asked.drawn) }) };
    if (asked.state === "revealed") return [put(words.once_more), ...open];
    if (asked.state === "open") return [{ text: names.close, press: () => this.ask({ action: "close" }), main: true }, count];
    return [{ text: names.reveal, press: () => this.ask({ action: "reveal" }), main: true }, count];
  }

  // Made anew only where something else is said, so that the focus stays.
  below() {
    this.how.hidden = !this.editable;
    const lines = this.misses(), parts = this.parts();
    const told = JSON.stringify([lines, parts, this.data.words]);
    if (told === this.told || this.pressed()) return;
    this.told = told;
    this.result.replaceChildren(...lines.map((textContent) => Object.assign(document.createElement("p"), { textContent })));
    const focused = document.activeElement?.dataset?.part, inside = this.row.contains(document.activeElement);
    this.row.replaceChildren();
    parts.forEach(({ text, press, off, main }, part) => {
      if (!press) return element("span", this.row, { textContent: text });
      const button = element("button", this.row, { type: "button", textContent: text, onclick: press, disabled: Boolean(off) });
      button.dataset.part = part;
      button.classList.toggle("main", Boolean(main));
    });
    if (inside) this.row.querySelector(`[data-part="${focused}"]`)?.focus();
  }

  // The bench with the settings of the question.
  openBench() {
    const { prefix, settings, bench } = this.data, url = new URL(location);
    for (const key of [...url.searchParams.keys()]) if (key.startsWith(`${prefix}.`)) url.searchParams.delete(key);
    for (const [key, value] of Object.entries(settings)) url.searchParams.set(key, value);
    go(url);
    document.querySelector(`.st-key-bench-${bench}`)?.scrollIntoView({ block: "start" });
  }
}

export default function ({ data: bytes, parentElement, setTriggerValue }) {
  const host = parentElement.querySelector(".seqviz-sketch");
  host.sketch ??= new Sketch(host);
  host.sketch.tell = (on) => setTriggerValue("compute", { on, at: Date.now() });
  host.sketch.take(unpacked(new TextDecoder().decode(bytes)));
  return () => {
    host.sketch?.close();
    host.replaceChildren();
    delete host.sketch;
  };
}
