// Drawn prediction: a curve or cell that is drawn on the axes of a figure before its result is
// shown (seqviz/lessons/framework/sketch.py), alone or by a class in a room. A sketch consists of
// integers: heights in parts of the axis, or column and row of a cell. Its error is computed here
// and not sent.

import { Chart, unpack } from "../bench/chart.js";
import { showFigure } from "../bench/viewport.js";
import { navigate } from "./room.js";
import { RoomComponent, trackPress, RoomError } from "./room_client.js";
import { createElement } from "../components/slider.js";
import { interpolate, number } from "../components/format.js";

const SVG = "http://www.w3.org/2000/svg";
const AXIS_PARTS = 1000; // parts of the axis
const KEY_STEP = 10, PAGE_STEP = 100; // of them, for an arrow key and for a page key
const RETRY_MS = 10_000; // after which the page is told once more that the result is wanted
const BAR_WIDTH = 0.55; // of the distance between two bars
const COLORS = "--st-chart-categorical-colors"; // of the theme, in the order of plotting/style.py
const sketches = new Map(); // by key: what is drawn outlives the place where it is drawn

const svgElement = (tag, parent, attributes) => {
  const created = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) created.setAttribute(name, value);
  parent.append(created);
  return created;
};
const clamp = (value, low, high) => Math.min(high, Math.max(low, value));

// Mean absolute error of a sketch in units of the axis (decades on a log axis); for a cell, the difference
// from the largest value.
export function meanError({ kind, ends: [low, high], y }, marks) {
  if (kind === "cell") return Math.max(...y.flat().filter((value) => value !== null)) - y[marks[1]][marks[0]];
  const allErrors = marks.map((mark, index) => (y[index] === null ? null : Math.abs(low + ((high - low) * mark) / AXIS_PARTS - y[index])));
  const errors = allErrors.filter((error) => error !== null);
  return errors.reduce((sum, error) => sum + error, 0) / errors.length;
}

// Bounds of the interval of the class's median; null without one.
const interval = ({ median, below, above }) =>
  below.length ? [median.map((mark, index) => mark - below[index]), median.map((mark, index) => mark + above[index])] : null;

// Number of positions where the computed value lies in it.
export function countInside({ ends: [low, high], y }, classSketches) {
  const [lower, upper] = interval(classSketches);
  const valueAt = (mark) => low + ((high - low) * mark) / AXIS_PARTS, indices = [...y.keys()].filter((index) => y[index] !== null);
  const insideIndices = indices.filter((index) => valueAt(lower[index]) <= y[index] && y[index] <= valueAt(upper[index]));
  return { inside: insideIndices.length, places: indices.length };
}

// Heights of a curve between drawn positions: linear, and constant outside.
export function fillIn(points, count) {
  const indices = [...points.keys()].sort((a, b) => a - b);
  return Array.from({ length: count }, (_, index) => {
    const after = indices.findIndex((place) => place >= index);
    if (after === -1) return points.get(indices.at(-1));
    const [low, high] = [indices[Math.max(0, after - 1)], indices[after]];
    const fraction = high === low ? 0 : clamp((index - low) / (high - low), 0, 1);
    return Math.round(points.get(low) + fraction * (points.get(high) - points.get(low)));
  });
}

class DrawnPrediction extends RoomComponent {
  activeIndex = 0; // the mark that keys move
  classSketches = null; // what a class has drawn, once it is revealed
  sentMarks = ""; // the marks that the room has

  constructor(host) {
    super(host);
    this.listener = () => this.refresh();
    this.instructions = createElement("p", host, { className: "how" });
    const frame = createElement("div", host, { className: "axes" });
    this.chart = new Chart(createElement("div", frame, { className: "seqviz-chart" }));
    this.chart.onPainted = () => this.render();
    this.svg = svgElement("svg", frame, { "aria-hidden": "true" });
    this.pad = createElement("div", frame, { className: "pad", tabIndex: 0 });
    this.pad.setAttribute("role", "slider");
    this.result = createElement("div", host, { className: "result" });
    this.result.setAttribute("role", "status");
    this.row = createElement("div", host, { className: "row" });
    this.isPressed = trackPress(this.row, () => this.renderBelow(), this.controller.signal);
    this.pad.onpointerdown = (event) => this.onPointerDown(event);
    this.pad.onpointermove = (event) => this.lastPoint && this.drag(event);
    this.pad.onpointerup = this.pad.onpointercancel = () => (this.lastPoint = null);
    this.pad.onkeydown = (event) => this.onKey(event);
    this.pad.onfocus = this.pad.onblur = () => this.render();
    this.observer = new IntersectionObserver((entries) => entries.some((entry) => entry.isIntersecting) && this.show());
    this.observer.observe(frame);
    this.onPrint = () => this.show();
    window.addEventListener("beforeprint", this.onPrint);
  }

  onRoomChange() {
    this.classSketches = null;
  }

  close() {
    super.close();
    this.observer.disconnect();
    window.removeEventListener("beforeprint", this.onPrint);
    this.chart.observer.disconnect();
  }

  update(data) {
    this.data = data;
    this.pendingReveal = null;
    this.chart.host.classList.remove("waiting");
    if (!sketches.has(data.key)) sketches.set(data.key, new Map());
    this.points = sketches.get(data.key);
    this.chart.missing = data.missing;
    this.host.style.setProperty("--height", `${data.height}px`);
    this.instructions.textContent = data.words[`how_${data.kind}`];
    if (this.isShown) this.show();
    this.findRoom();
    this.refresh();
  }

  show() {
    this.isShown = true;
    this.observer.disconnect();
    this.chart.show(this.data.figure, this.data.alt);
    this.render();
  }

  // --- the sketch ------------------------------------------------------------------------------

  // The current question of the room, if it is this one.
  get question() {
    const sketch = this.room?.state?.sketch;
    return sketch?.key === this.data.key ? sketch : null;
  }

  get isEditable() {
    if (this.data.y) return false;
    return !this.room || (!this.room.isTeacher && (!this.question || this.question.state === "open"));
  }

  get zeroMark() {
    const [low, high] = this.data.ends;
    return clamp(Math.round((AXIS_PARTS * (0 - low)) / (high - low)), 0, AXIS_PARTS);
  }

  // The complete sketch; null before one is drawn.
  get marks() {
    const { points, data } = this;
    if (points.size === 0) return null;
    if (data.kind === "curve") return fillIn(points, data.x.length);
    return data.most.map((_, at) => points.get(at) ?? this.zeroMark);
  }

  setMark(at, mark) {
    this.points.set(at, clamp(Math.round(mark), 0, this.data.most[at]));
  }

  clear() {
    this.points.clear();
    this.refresh();
  }

  // --- pixel positions -------------------------------------------------------------------------

  get axes() {
    const layout = this.chart.host._fullLayout;
    return layout?.xaxis?._length ? { x: layout.xaxis, y: layout.yaxis } : null;
  }

  yOf(mark) {
    const [low, high] = this.data.ends, { y } = this.axes;
    return y._offset + y.l2p(low + ((high - low) * mark) / AXIS_PARTS);
  }

  xOf(at) {
    return this.axes.x._offset + this.axes.x.d2p(this.data.x[at]);
  }

  rowY(at) {
    return this.axes.y._offset + this.axes.y.d2p(this.data.rows[at]);
  }

  nearest(pixel, count, place) {
    let best = 0;
    for (let at = 1; at < count; at += 1) if (Math.abs(place(at) - pixel) < Math.abs(place(best) - pixel)) best = at;
    return best;
  }

  // --- input ---------------------------------------------------------------------------------

  onPointerDown(event) {
    if (!this.isEditable || event.button > 0) return;
    this.pad.setPointerCapture(event.pointerId);
    this.lastPoint = {};
    this.drag(event);
  }

  drag(event) {
    const { left, top, width } = this.svg.getBoundingClientRect();
    const scale = width / this.chart.frame.clientWidth; // in presenter mode it is enlarged
    const x = (event.clientX - left) / scale, y = (event.clientY - top) / scale;
    const { data } = this, place = this.nearest(x, data.x.length, (at) => this.xOf(at));
    if (data.kind === "cell") {
      this.setMark(0, place);
      this.setMark(1, this.nearest(y, data.rows.length, (at) => this.rowY(at)));
      return this.refresh();
    }
    const [axisTop, bottom] = [this.yOf(AXIS_PARTS), this.yOf(0)];
    const mark = clamp((AXIS_PARTS * (bottom - y)) / (bottom - axisTop), 0, AXIS_PARTS);
    // A fast drag skips positions between two events.
    const from = this.lastPoint.place ?? place, previous = this.lastPoint.mark ?? mark, steps = Math.abs(place - from);
    for (let step = 0; step <= steps; step += 1)
      this.setMark(from + Math.sign(place - from) * step, steps ? previous + ((mark - previous) * step) / steps : mark);
    this.lastPoint = { place, mark };
    this.activeIndex = place;
    this.refresh();
  }

  onKey(event) {
    const { key, shiftKey } = event;
    if (!this.isEditable) return;
    const isCell = this.data.kind === "cell";
    const dx = { ArrowRight: 1, ArrowLeft: -1, Home: -Infinity, End: Infinity }[key];
    const dy = { ArrowUp: 1, ArrowDown: -1, PageUp: PAGE_STEP / KEY_STEP, PageDown: -PAGE_STEP / KEY_STEP }[key];
    if (dx === undefined && dy === undefined) return;
    event.preventDefault();
    if (isCell) {
      const [column, row] = this.marks ?? this.data.most.map((end) => Math.floor(end / 2));
      const up = this.data.rows.length > 1 && this.rowY(1) < this.rowY(0) ? 1 : -1;
      this.setMark(0, column + (dx ?? 0));
      this.setMark(1, row + up * Math.sign(dy ?? 0));
    } else if (dx !== undefined) this.activeIndex = clamp(this.activeIndex + dx, 0, this.data.x.length - 1);
    else {
      const previous = this.marks?.[this.activeIndex] ?? (this.data.kind === "bar" ? this.zeroMark : AXIS_PARTS / 2);
      this.setMark(this.activeIndex, previous + dy * KEY_STEP * (shiftKey ? 5 : 1));
    }
    this.refresh();
  }

  // --- rendering -------------------------------------------------------------------------------

  refresh() {
    if (!this.data) return;
    this.syncRoom();
    this.render();
    this.updateAria();
    this.renderBelow();
  }

  color(slot) {
    return getComputedStyle(this.host).getPropertyValue(COLORS).split(",")[slot]?.trim();
  }

  render() {
    const { svg, pad, chart, data } = this;
    svg.replaceChildren();
    if (!this.axes || !data) return (pad.hidden = true);
    const { x, y } = this.axes;
    svg.setAttribute("viewBox", `0 0 ${chart.frame.clientWidth} ${chart.frame.clientHeight}`);
    this.host.style.setProperty("--own", this.color(3));
    this.host.style.setProperty("--quiet", this.color(6));
    pad.hidden = !this.isEditable;
    Object.assign(pad.style, { left: `${x._offset}px`, top: `${y._offset}px`, width: `${x._length}px`, height: `${y._length}px` });
    if (this.classSketches) this.drawClass();
    const { marks } = this;
    if (data.kind === "cell") {
      if (data.y) this.drawBest();
      else this.drawGrid();
      if (marks) for (const className of ["outline", "own"]) this.drawCell(...marks, className);
      return;
    }
    if (marks) this.drawOutline(marks, "own");
    if (document.activeElement !== pad || pad.hidden) return;
    const mark = marks?.[this.activeIndex] ?? (data.kind === "bar" ? this.zeroMark : AXIS_PARTS / 2);
    svgElement("circle", svg, { class: "at", cx: this.xOf(this.activeIndex), cy: this.yOf(mark), r: 7 });
  }

  pathOf(marks) {
    return marks.map((mark, at) => `${at ? "L" : "M"}${this.xOf(at).toFixed(1)} ${this.yOf(mark).toFixed(1)}`).join("");
  }

  // A curve, or bars from zero.
  drawOutline(marks, className) {
    if (this.data.kind === "curve") return svgElement("path", this.svg, { class: `${className} line`, d: this.pathOf(marks) });
    const half = (BAR_WIDTH / 2) * Math.abs(this.xOf(1) - this.xOf(0)), baseline = this.yOf(this.zeroMark);
    const bars = marks.map((mark, at) =>
      `M${this.xOf(at) - half} ${baseline}V${this.yOf(mark).toFixed(1)}h${2 * half}V${baseline}`);
    svgElement("path", this.svg, { class: `${className} bars`, d: bars.join("") });
  }

  // Positions of the cells.
  drawGrid() {
    const { x, y } = this.axes, { data } = this;
    const lines = (count, start, length) => Array.from({ length: count + 1 }, (_, at) => start + (at * length) / count);
    const columnLines = lines(data.x.length, x._offset, x._length).map((at) => `M${at} ${y._offset}v${y._length}`);
    const rowLines = lines(data.rows.length, y._offset, y._length).map((at) => `M${x._offset} ${at}h${x._length}`);
    svgElement("path", this.svg, { class: "grid", d: columnLines.join("") + rowLines.join("") });
  }

  drawCell(column, row, className) {
    const { x, y } = this.axes, { data } = this;
    const width = Math.abs(x._length / data.x.length), height = Math.abs(y._length / data.rows.length);
    const box = { x: this.xOf(column) - width / 2, y: this.rowY(row) - height / 2, width, height };
    return svgElement("rect", this.svg, { class: `${className} box`, ...box });
  }

  // The cells with the highest value.
  drawBest() {
    const { data } = this, rows = [...data.rows.keys()], columns = [...data.x.keys()];
    for (const row of rows)
      for (const column of columns) if (meanError(data, [column, row]) === 0) this.drawCell(column, row, "best");
  }

  // All sketches as one path with gaps, however many there are.
  drawClass() {
    const { classSketches, svg, data } = this;
    if (data.kind === "cell") {
      for (const [column, row, count] of classSketches.cells)
        svgElement("text", svg, { class: "count", x: this.xOf(column), y: this.rowY(row) }).textContent = count;
      return;
    }
    const pointMarks = (marks) => marks.map((mark, at) => `M${this.xOf(at).toFixed(1)} ${this.yOf(mark).toFixed(1)}h0`).join("");
    const pathOf = data.kind === "curve" ? (marks) => this.pathOf(marks) : pointMarks;
    if (classSketches.sketches?.length) {
      const opacity = clamp(3 / Math.sqrt(classSketches.count), 0.22, 0.6);
      svgElement("path", svg, { class: `class-sketches ${data.kind}`, opacity, d: classSketches.sketches.map(pathOf).join("") });
    }
    if (!classSketches.median.length) return;
    const { low, median, high } = classSketches, bounds = interval(classSketches);
    if (data.kind === "curve") {
      const returnPath = [...high.keys()].reverse().map((at) => `L${this.xOf(at).toFixed(1)} ${this.yOf(high[at]).toFixed(1)}`);
      svgElement("path", svg, { class: "half", d: `${this.pathOf(low)}${returnPath.join("")}Z` });
      if (bounds) svgElement("path", svg, { class: "interval", d: bounds.map((end) => this.pathOf(end)).join("") });
      svgElement("path", svg, { class: "median", d: this.pathOf(median) });
      return;
    }
    const half = (BAR_WIDTH / 2) * Math.abs(this.xOf(1) - this.xOf(0));
    const verticalLines = (below, above) => below.map((mark, at) => `M${this.xOf(at)} ${this.yOf(mark)}V${this.yOf(above[at])}`).join("");
    const medianLines = median.map((mark, at) => `M${this.xOf(at) - half} ${this.yOf(mark)}h${2 * half}`);
    svgElement("path", svg, { class: "span", d: verticalLines(low, high) });
    if (bounds) svgElement("path", svg, { class: "interval span", d: verticalLines(...bounds) });
    svgElement("path", svg, { class: "median", d: medianLines.join("") });
  }

  // Position of the keyboard mark, for screen readers.
  updateAria() {
    const { pad, data, marks } = this, { titles, named } = data;
    const place = named.x?.[this.activeIndex] ?? number(data.x[this.activeIndex]);
    pad.setAttribute("aria-label", data.words[`how_${data.kind}`]);
    const [current, max] = data.kind === "cell"
      ? [marks ? marks[1] * data.x.length + marks[0] : 0, data.x.length * data.rows.length - 1]
      : [marks?.[this.activeIndex] ?? this.zeroMark, AXIS_PARTS];
    for (const [name, value] of Object.entries({ valuemin: 0, valuemax: max, valuenow: current })) pad.setAttribute(`aria-${name}`, value);
    const [low, high] = data.ends, height = low + ((high - low) * current) / AXIS_PARTS;
    const describe = (letter, list, at) => `${titles[letter]}: ${named[letter]?.[at] ?? number(list[at])}`;
    const valueText = data.kind === "cell"
      ? marks ? `${describe("x", data.x, marks[0])}; ${describe("y", data.rows, marks[1])}` : data.words.nothing
      : `${titles.x}: ${place}; ${titles.y}: ${marks ? number(data.log ? 10 ** height : height) : data.words.nothing}`;
    pad.setAttribute("aria-valuetext", valueText);
  }

  // --- the room --------------------------------------------------------------------------------

  requestResult(on) {
    if (this.pendingReveal === on) return;
    this.pendingReveal = on;
    this.chart.host.classList.add("waiting");
    this.onReveal(on);
    setTimeout(() => (this.pendingReveal = null), RETRY_MS);
  }

  // State of the question in the room: a new one hides the result, a revealed one shows it.
  syncRoom() {
    const { question, room, data } = this;
    if (!question || room.state.lost) return;
    if (this.number !== question.number) {
      this.number = question.number;
      this.classSketches = null;
      this.restoreOwn(room.state.answers?.sketch);
    }
    const isRevealed = question.state === "revealed";
    if (isRevealed !== Boolean(data.y)) this.requestResult(isRevealed);
    if (!isRevealed || this.classSketches || this.request) return;
    this.request = room.getDrawings()
      .then((response) => response.number === this.number && (this.classSketches = response))
      .catch(() => {})
      .finally(() => {
        this.request = null;
        if (this.classSketches) this.refresh();
      });
  }

  // Restore what this seat has sent, which a reloaded page does not know.
  restoreOwn(marks) {
    this.sentMarks = marks?.join() ?? "";
    if (marks && this.points.size === 0) marks.forEach((mark, at) => this.points.set(at, mark));
  }

  async send() {
    const marks = this.marks, { number: questionNumber } = this.question;
    try {
      await this.room.sendDrawing(questionNumber, marks);
      this.sentMarks = marks.join();
      this.problem = "";
    } catch (error) {
      this.showError(error);
    }
    this.refresh();
  }

  sendCommand(command) {
    this.room.send({ kind: "sketch", ...command }).catch((error) => this.showError(error));
  }

  showError(error) {
    const { words, room } = this.data, { problem, details } = error instanceof RoomError ? error : {};
    this.problem = interpolate(words[`problem_${problem}`] ?? room[`problem_${problem}`] ?? room.lost, details ?? {});
    this.refresh();
  }

  // --- below the figure ------------------------------------------------------------------------

  resultLines() {
    const { data, marks, classSketches } = this, { words } = data, lines = [];
    const describeError = (sentence, error, value = 0) =>
      interpolate(sentence, { error: number(error), factor: number(10 ** error), value: number(value), best: number(value + error) });
    if (data.y && marks) {
      const error = meanError(data, marks);
      this.host.dataset.error = error;
      lines.push(describeError(words.own, error, data.kind === "cell" ? data.y[marks[1]][marks[0]] : 0));
    } else delete this.host.dataset.error;
    this.host.dataset.marks = marks ?? "";
    if (!classSketches) return lines;
    if (!classSketches.count) return [...lines, words.nobody];
    if (data.kind !== "cell") {
      lines.push(interpolate(words[`class_${data.kind}`], { count: classSketches.count }));
      lines.push(interval(classSketches) ? words[`interval_${data.kind}`] : words.interval_none);
      if (data.y) lines.push(describeError(words.median, meanError(data, classSketches.median)));
      if (data.y && interval(classSketches)) lines.push(interpolate(words.interval_held, countInside(data, classSketches)));
    } else if (data.y) {
      const hits = classSketches.cells.filter(([column, row]) => meanError(data, [column, row]) === 0);
      lines.push(interpolate(words.class_cell, { count: classSketches.count, right: hits.reduce((sum, cell) => sum + cell[2], 0) }));
    }
    return lines;
  }

  buttons() {
    const { data, room, question, marks } = this, { words } = data;
    const open = data.y ? [{ text: words.open, press: () => this.openBench() }] : [];
    const clear = { text: words.clear, press: () => this.clear(), isDisabled: !marks };
    if (!room)
      return data.y
        ? [{ text: words.again, press: () => this.requestResult(false) }, ...open]
        : [{ text: words.compute, press: () => this.requestResult(true), isDisabled: !marks, isPrimary: true }, clear,
            { text: words.skip, press: () => this.requestResult(true), isQuiet: true }];
    const problems = this.problem ? [{ text: this.problem }] : [];
    if (!room.state) return problems;
    if (room.isTeacher) return [...this.teacherButtons(open), ...problems];
    if (question?.state === "revealed") return [...open, ...problems];
    if (!question) return [clear, { text: words.waiting }, ...problems];
    if (question.state === "closed") return [{ text: words.closed }, ...problems];
    const isSent = marks && this.sentMarks === marks.join();
    const note = this.sentMarks ? (isSent ? words.sent : words.changed) : words.now;
    return [{ text: words.send, press: () => this.send(), isDisabled: !marks || isSent, isPrimary: true }, clear, { text: note }, ...problems];
  }

  teacherButtons(open) {
    const { data: { words, room: roomWords, key, kind, most }, question, room } = this;
    const askButton = (text) => ({ text, press: () => this.sendCommand({ action: "ask", key, type: kind, most }) });
    if (!question) return [{ ...askButton(words.ask), isPrimary: true }, ...open];
    const count = { text: interpolate(words.count, { drawn: question.drawn, present: Math.max(room.state.present, question.drawn) }) };
    if (question.state === "revealed") return [askButton(words.once_more), ...open];
    if (question.state === "open") return [{ text: roomWords.close, press: () => this.sendCommand({ action: "close" }), isPrimary: true }, count];
    return [{ text: roomWords.reveal, press: () => this.sendCommand({ action: "reveal" }), isPrimary: true }, count];
  }

  // Rebuilt only where the content changes, so that the focus stays.
  renderBelow() {
    this.instructions.hidden = !this.isEditable;
    const lines = this.resultLines(), buttons = this.buttons();
    const json = JSON.stringify([lines, buttons, this.data.words]);
    if (json === this.renderedJson || this.isPressed()) return;
    this.renderedJson = json;
    this.result.replaceChildren(...lines.map((textContent) => Object.assign(document.createElement("p"), { textContent })));
    const focused = document.activeElement?.dataset?.part, hadFocus = this.row.contains(document.activeElement);
    this.row.replaceChildren();
    buttons.forEach(({ text, press, isDisabled, isPrimary, isQuiet }, index) => {
      if (!press) return createElement("span", this.row, { textContent: text });
      const button = createElement("button", this.row, { type: "button", textContent: text, onclick: press, disabled: Boolean(isDisabled) });
      button.dataset.part = index;
      button.classList.toggle("primary", Boolean(isPrimary));
      button.classList.toggle("quiet", Boolean(isQuiet));
    });
    if (hadFocus) this.row.querySelector(`[data-part="${focused}"]`)?.focus();
  }

  // Open the bench at the settings of the question.
  openBench() {
    const { prefix, settings, bench } = this.data, url = new URL(location);
    for (const key of [...url.searchParams.keys()]) if (key.startsWith(`${prefix}.`)) url.searchParams.delete(key);
    for (const [key, value] of Object.entries(settings)) url.searchParams.set(key, value);
    navigate(url);
    showFigure(document.querySelector(`.st-key-bench-${bench}`));
  }
}

export default function ({ data: bytes, parentElement, setTriggerValue }) {
  const host = parentElement.querySelector(".seqviz-sketch");
  host.sketch ??= new DrawnPrediction(host);
  host.sketch.onReveal = (on) => setTriggerValue("reveal", { on, at: Date.now() });
  host.sketch.update(unpack(new TextDecoder().decode(bytes)));
  return () => {
    host.sketch?.close();
    host.replaceChildren();
    delete host.sketch;
  };
}
