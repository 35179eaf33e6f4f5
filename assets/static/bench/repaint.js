// Incremental repaint during a drag: paint only what differs from the last figure. `Plotly.react`
// recomputes and redraws everything in 30 to 60 ms. Here new values are written to Plotly's
// internal state, and Plotly's own functions draw the affected traces, axes, shapes and
// annotations. Margins stay unchanged. The internal state is then partly outdated, so a full redraw
// must follow the drag.

const ARRAYS = new Set(["x", "y", "z", "base", "customdata", "text", "hovertext"]);
const COLOR_RANGE = new Set(["zmin", "zmax"]);
const TICKS = new Set(["range", "dtick", "tick0", "tickvals", "ticktext"]);
// What may change within a font or a line of a shape or an annotation; a font of another size moves its neighbors.
const PAINTED_INSIDE = { font: new Set(["color"]), line: new Set(["color", "width"]) };

const equal = (a, b) =>
  a === b ||
  (typeof a === "object" && typeof b === "object" && JSON.stringify(a) === JSON.stringify(b));

// The keys in which two objects differ; null where their sets of keys differ.
function changedNames(a, b) {
  const names = Object.keys(b);
  if (names.length !== Object.keys(a).length || names.some((name) => !(name in a))) return null;
  return names.filter((name) => !equal(a[name], b[name]));
}

// Whether an axis or a color bar changes nothing of its title but the text.
const isRetitled = (before, after) => changedNames(before.title, after.title)?.join() === "text";

const typeOf = (values) => (Array.isArray(values) ? typeof values.find((value) => value !== null) : "number");

// The changes to paint. sets: [object of Plotly's state, key, new value].
class Changes {
  sets = [];
  traces = new Set();
  axes = new Set();
  shapes = [];
  annotations = [];
  title = false;
  colorBars = false;
  retitled = new Set(); // axes whose title is another
  names = []; // of the legend: [trace, the old one, the new one]

  constructor(host) {
    this.data = host._fullData;
    this.layout = host._fullLayout;
  }

  // Each returns whether all differences can be painted separately.
  trace(index, before, after) {
    const full = this.data[index];
    const names = changedNames(before, after);
    if (names === null || full.type !== after.type) return false;
    for (const name of names) {
      if (name === "legendgroup") {
        if (full.showlegend) return false;
      } else if (name === "name") {
        if (full.showlegend && this.layout.showlegend) this.names.push([full, before.name, after.name]);
      } else if (name === "marker") {
        if (changedNames(before.marker, after.marker)?.join() !== "color") return false;
        this.traces.add(index);
        this.sets.push([full.marker, "color", after.marker.color]);
        continue;
      } else if (name === "colorbar") {
        const isTitle = changedNames(before.colorbar, after.colorbar)?.join() === "title";
        if (!isTitle || !isRetitled(before.colorbar, after.colorbar)) return false;
        this.colorBars = true;
        this.sets.push([full.colorbar.title, "text", after.colorbar.title.text]);
        continue;
      } else if (COLOR_RANGE.has(name)) {
        this.colorBars = true;
        this.traces.add(index);
      } else if (!ARRAYS.has(name) || !this.#isCompatible(full, name, before[name], after[name])) return false;
      else this.traces.add(index);
      const value = after[name]?.bdata === undefined ? after[name] : Plotly.parts.decoded(after[name]);
      this.sets.push([full, name, value]);
    }
    return true;
  }

  // Labels of a category axis, and the shape of a heatmap, affect the axes themselves.
  #isCompatible(full, name, before, after) {
    if (name === "z") return before.shape !== undefined && equal(before.shape, after.shape);
    if (name !== "x" && name !== "y") return true;
    const axis = this.layout[full[`${name}axis`].replace(/^./, (letter) => `${letter}axis`)];
    return full.type !== "heatmap" && axis.type !== "category" && typeOf(before) === typeOf(after);
  }

  axis(key, before, after) {
    this.axes.add(key);
    for (const name of changedNames(before, after) ?? [null]) {
      if (name === "title" && isRetitled(before, after)) {
        this.retitled.add(key);
        this.sets.push([this.layout[key].title, "text", after.title.text]);
      } else if (TICKS.has(name)) this.sets.push([this.layout[key], name, after[name]]);
      else return false;
    }
    return true;
  }

  list(key, before, after) {
    if (before.length !== after.length) return false;
    return after.every((item, index) => {
      const names = changedNames(before[index], item);
      const current = this.layout[key][index];
      for (const name of names ?? [null]) {
        const inner = PAINTED_INSIDE[name] && changedNames(before[index][name], item[name]);
        if (inner?.every((part) => PAINTED_INSIDE[name].has(part)))
          for (const part of inner) this.sets.push([current[name], part, item[name][part]]);
        else if (name === null || typeof item[name] === "object") return false;
        else this.sets.push([current, name, item[name]]);
      }
      if (names.length > 0) this[key].push(index);
      return true;
    });
  }

  layoutChange(key, before, after) {
    if (key === "meta") return true;
    if (/^[xy]axis\d*$/.test(key)) return this.axis(key, before, after);
    if (key === "shapes" || key === "annotations") return this.list(key, before, after);
    if (key !== "title" || changedNames(before, after)?.join() !== "text") return false;
    this.sets.push([this.layout.title, "text", after.text]);
    this.title = true;
    return true;
  }
}

// False where a trace has no line any more: Plotly's functions would leave the last one.
function recalculate(host, indices) {
  let hasPoints = true;
  for (const index of indices) {
    const full = host._fullData[index];
    const lengths = ["x", "y"].map((name) => full[name]?.length).filter((length) => length !== undefined);
    if (full.type !== "heatmap") full._length = Math.min(...lengths);
    full._extremes = {};
    const points = full._length === 0 ? [] : full._module.calc(host, full);
    if (!points[0]) points[0] = { x: undefined, y: undefined };
    points[0].t ??= {};
    points[0].trace = full;
    host.calcdata[index] = points;
    const nPoints = points.filter(({ x, y }) => x !== undefined && y !== undefined).length;
    if (full.type === "scatter" && full.mode !== "none") hasPoints &&= nPoints > (full.mode.includes("lines") ? 1 : 0);
  }
  // Bars at one position shift each other.
  const modules = new Set([...indices].map((index) => host._fullData[index]._module));
  for (const { crossTraceCalc } of modules)
    for (const panel of Object.values(host._fullLayout._plots)) crossTraceCalc?.(host, panel);
  if (indices.size > 0) Plotly.parts.component("errorbars", "calc")(host);
  return hasPoints;
}

// The axes whose range or labels have changed.
function updateRanges(host, keys) {
  const { axes, steps } = Plotly.parts;
  const allAxes = axes.list(host, "", true);
  const rangesBefore = allAxes.map((axis) => axis.range.join());
  for (const key of keys) {
    const axis = host._fullLayout[key];
    axis.range = [...axis.range];
    axis._r = [...axis.range];
    axis._rl = axis.range.map(axis.r2l);
  }
  steps.doAutoRangeAndConstraints(host);
  return allAxes.filter((axis, index) => keys.has(axis._name) || rangesBefore[index] !== axis.range.join());
}

// Return whether tick labels are cut off by the edge: the margin would have to grow.
function hasClippedLabels(host, axes) {
  const { left } = host.getBoundingClientRect();
  const labels = axes.flatMap(({ _id: id }) => [
    ...(id.startsWith("y") ? host.querySelectorAll(`.${id}tick text, .g-${id}title text`) : []),
  ]);
  return labels.some((label) => label.getBoundingClientRect().left < left);
}

// Replace digits of one width in a legend entry; false where more than these differs. Plotly would measure
// each entry again, for which the browser lays out the whole page.
function renameLegendEntry(host, trace, from, to) {
  if (from.replace(/\d/g, "0") !== to.replace(/\d/g, "0")) return false;
  const entry = [...host.querySelectorAll(".legendtext")].find((text) => text.__data__?.[0]?.trace === trace);
  const [oldText, newText] = [from, to].map((name) => name.replace(/<[^>]*>/g, ""));
  if (entry?.textContent.replaceAll("\u200b", "") !== oldText) return false;
  const texts = document.createTreeWalker(entry, NodeFilter.SHOW_TEXT);
  let index = 0;
  while (texts.nextNode()) texts.currentNode.data = texts.currentNode.data.replace(/[^\u200b]/g, () => newText[index++]);
  entry.setAttribute("data-unformatted", to); // by which Plotly knows what it has measured
  return true;
}

// Draw the changed axes. With equal labels, their measurements stay as well: position of the title, and
// overflow at the edge. retitled: axes with another title.
function drawAxes(host, movedAxes, retitled) {
  const { axes } = Plotly.parts;
  const labels = ({ _id: id }) => [...host.querySelectorAll(`.${id}tick text`)].map((label) => label.textContent).join();
  const toMeasure = movedAxes.filter((axis) => {
    if (retitled.has(axis._name)) return true;
    const { title, automargin, ticklabeloverflow } = axis;
    const labelsBefore = labels(axis);
    Object.assign(axis, { title: Object.create(title), automargin: false, ticklabeloverflow: "allow" });
    try {
      axes.draw(host, [axis._id], { skipTitle: true });
    } finally {
      Object.assign(axis, { title, automargin, ticklabeloverflow });
    }
    return labels(axis) !== labelsBefore;
  });
  if (toMeasure.length > 0) axes.draw(host, toMeasure.map((axis) => axis._id));
}

// A line that becomes markers or changes its dash is another trace, with another name: `Plotly.react` would
// leave parts of the line.
export const withTraceIds = (traces) =>
  traces.map((trace, index) => {
    const { type, mode = "", line } = trace;
    return { ...trace, uid: `${index}${type}${mode}${line?.dash ?? ""}`.replace(/\W/g, "") };
  });

// Plotly rotates arrows at points by the axes that a trace was calculated with, before margins grew for
// labels: up to 5 degrees from the line. Rotate them by the axes as drawn.
export function turnArrows(host) {
  const axis = (id) => host._fullLayout[id.replace(/^./, (letter) => `${letter}axis`)];
  const withArrows = host._fullData.filter(({ marker }) => marker?.angleref === "previous");
  for (const trace of withArrows) Object.assign(trace, { _xA: axis(trace.xaxis), _yA: axis(trace.yaxis) });
  if (withArrows.length > 0) Plotly.parts.plots.style(host);
}

// Pinned curves (`pins.js`). In a partial repaint they are layers that only move with their axes; a full paint
// draws them again.
const isGhost = ({ meta }) => meta === "ghost";
const axisOf = (host, id) => host._fullLayout[id.replace(/^./, (letter) => `${letter}axis`)];
const scaleOf = ({ _m: slope, _b: offset }) => ({ slope, offset }); // of pixels over values

// Take the pinned curves, as they are drawn, out of what Plotly draws and styles.
function liftGhosts(host) {
  if (host.ghosts) return;
  const groups = [...host.querySelectorAll(".scatterlayer > g.trace")];
  host.ghosts = groups.filter((group) => isGhost(group.__data__[0].trace)).map((group) => {
    const { trace, x, y } = group.__data__[0];
    const axes = [trace.xaxis, trace.yaxis];
    const layer = document.createElementNS(group.namespaceURI, "g");
    group.closest(".scatterlayer").parentNode.append(layer);
    layer.append(group);
    group.setAttribute("class", "ghost");
    if (trace.cliponaxis) layer.setAttribute("clip-path", `url(#${host._fullLayout._plots[axes.join("")].clipId})`);
    for (const part of group.querySelectorAll("path")) {
      part.removeAttribute("clip-path"); // it would be scaled
      part.style.vectorEffect = "non-scaling-stroke";
    }
    return { layer, group, axes, isText: trace.mode === "text", point: [x, y], drawn: axes.map((id) => scaleOf(axisOf(host, id))) };
  });
}

function moveGhosts(host) {
  for (const { group, axes, isText, point, drawn } of host.ghosts) {
    const now = axes.map((id) => scaleOf(axisOf(host, id)));
    const scales = now.map(({ slope }, index) => slope / drawn[index].slope);
    const shifts = now.map(({ offset }, index) => offset - scales[index] * drawn[index].offset);
    const values = axes.map((id, index) => axisOf(host, id).c2l(point[index]));
    const letter = now.map(({ slope, offset }, index) => (slope - drawn[index].slope) * values[index] + offset - drawn[index].offset);
    group.setAttribute("transform", isText ? `translate(${letter})` : `translate(${shifts}) scale(${scales})`);
  }
}

// Before a full paint.
export function dropGhosts(host) {
  for (const { layer } of host.ghosts ?? []) layer.remove();
  host.ghosts = null;
}

// Paint `after` in place of `before` ({traces, layout}); false where that needs a full redraw, which
// must follow.
export function repaint(host, before, after) {
  if (before.traces.length !== after.traces.length) return false;
  const changes = new Changes(host);
  const keys = changedNames(before.layout, after.layout);
  const isPartial =
    keys?.every((key) => changes.layoutChange(key, before.layout[key], after.layout[key])) &&
    after.traces.every((trace, index) =>
      isGhost(trace) ? isGhost(before.traces[index]) : changes.trace(index, before.traces[index], trace));
  if (!isPartial) return false;
  for (const [object, name, value] of changes.sets) object[name] = value;

  const { parts } = Plotly;
  const layout = host._fullLayout;
  const { margin } = layout;
  const autoexpand = margin.autoexpand;
  margin.autoexpand = false;
  const own = [...after.traces.keys()].filter((index) => !isGhost(after.traces[index]));
  liftGhosts(host);
  try {
    if (!recalculate(host, changes.traces)) return false;
    const movedAxes = updateRanges(host, changes.axes);
    if (movedAxes.length > 0) drawAxes(host, movedAxes, changes.retitled);
    if (movedAxes.length > 0 || changes.traces.size > 0) {
      // Plotly takes an empty word out of its mark, and never puts one into it again.
      for (const mark of host.querySelectorAll(".textpoint:empty")) mark.remove();
      for (const module of layout._basePlotModules) module.plot(host, own);
      parts.plots.style(host);
      moveGhosts(host);
    }
    for (const key of ["shapes", "annotations"])
      if (movedAxes.length > 0) parts.component(key, "draw")(host);
      else for (const index of changes[key]) parts.component(key, "drawOne")(host, index);
    if (changes.title) parts.steps.drawMainTitle(host);
    if (changes.colorBars) parts.component("colorbar", "draw")(host);
    if (!changes.names.every(([trace, from, name]) => renameLegendEntry(host, trace, from, name)))
      parts.component("legend", "draw")(host);
    return !hasClippedLabels(host, movedAxes);
  } finally {
    margin.autoexpand = autoexpand;
  }
}
