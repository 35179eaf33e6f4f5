// Paint only what differs from the picture before, while a hand moves. `Plotly.react` works out and
// draws everything anew, whatever has changed: 30 to 60 ms. Here the values that are new are put
// where Plotly keeps them, and its own parts draw the traces, axes, shapes and notes that they
// belong to. Margins stay as they are. Plotly's copy of the figure is then half old, so a whole
// painting has to follow when the hand has come to rest.

const ARRAYS = new Set(["x", "y", "z", "base", "customdata", "text", "hovertext"]);
const TICKS = new Set(["range", "dtick", "tick0", "tickvals", "ticktext"]);

const equal = (one, other) =>
  one === other ||
  (typeof one === "object" && typeof other === "object" && JSON.stringify(one) === JSON.stringify(other));

// The names under which two objects differ; null where one has a name that the other has not.
function different(one, other) {
  const names = Object.keys(other);
  if (names.length !== Object.keys(one).length || names.some((name) => !(name in one))) return null;
  return names.filter((name) => !equal(one[name], other[name]));
}

const kind = (values) => (Array.isArray(values) ? typeof values.find((one) => one !== null) : "number");

// What there is to paint. sets: [what Plotly keeps, a name in it, its new value].
class Changes {
  sets = [];
  traces = new Set();
  axes = new Set();
  shapes = [];
  annotations = [];
  title = false;
  titled = new Set(); // axes whose title is another
  names = []; // of the legend: [trace, the old one, the new one]

  constructor(host) {
    this.data = host._fullData;
    this.layout = host._fullLayout;
  }

  // Each says whether all that differs can be painted alone.
  trace(place, old, now) {
    const full = this.data[place];
    const names = different(old, now);
    if (names === null || full.type !== now.type) return false;
    for (const name of names) {
      if (name === "name") {
        if (full.showlegend && this.layout.showlegend) this.names.push([full, old.name, now.name]);
      } else if (name === "marker") {
        if (different(old.marker, now.marker)?.join() !== "color") return false;
        this.traces.add(place);
        this.sets.push([full.marker, "color", now.marker.color]);
        continue;
      } else if (!ARRAYS.has(name) || !this.#alike(full, name, old[name], now[name])) return false;
      else this.traces.add(place);
      const value = now[name]?.bdata === undefined ? now[name] : Plotly.parts.decoded(now[name]);
      this.sets.push([full, name, value]);
    }
    return true;
  }

  // Words on a category axis, and the shape of a heatmap, decide about the axes themselves.
  #alike(full, name, old, now) {
    if (name === "z") return old.shape !== undefined && equal(old.shape, now.shape);
    if (name !== "x" && name !== "y") return true;
    const axis = this.layout[full[`${name}axis`].replace(/^./, (letter) => `${letter}axis`)];
    return full.type !== "heatmap" && axis.type !== "category" && kind(old) === kind(now);
  }

  axis(key, old, now) {
    this.axes.add(key);
    for (const name of different(old, now) ?? [null]) {
      const titled = name === "title" && different(old.title, now.title)?.join() === "text";
      if (titled) {
        this.titled.add(key);
        this.sets.push([this.layout[key].title, "text", now.title.text]);
      } else if (TICKS.has(name)) this.sets.push([this.layout[key], name, now[name]]);
      else return false;
    }
    return true;
  }

  list(key, old, now) {
    if (old.length !== now.length) return false;
    return now.every((one, place) => {
      const names = different(old[place], one);
      const kept = this.layout[key][place];
      for (const name of names ?? [null]) {
        if (name === "font" && different(old[place].font, one.font)?.join() === "color")
          this.sets.push([kept.font, "color", one.font.color]);
        else if (name === null || typeof one[name] === "object") return false;
        else this.sets.push([kept, name, one[name]]);
      }
      if (names.length > 0) this[key].push(place);
      return true;
    });
  }

  whole(key, old, now) {
    if (key === "meta") return true;
    if (/^[xy]axis\d*$/.test(key)) return this.axis(key, old, now);
    if (key === "shapes" || key === "annotations") return this.list(key, old, now);
    if (key !== "title" || different(old, now)?.join() !== "text") return false;
    this.sets.push([this.layout.title, "text", now.text]);
    this.title = true;
    return true;
  }
}

// False where a trace has no line any more: Plotly's parts would leave the last one.
function calculated(host, places) {
  let drawn = true;
  for (const place of places) {
    const full = host._fullData[place];
    const lengths = ["x", "y"].map((name) => full[name]?.length).filter((one) => one !== undefined);
    if (full.type !== "heatmap") full._length = Math.min(...lengths);
    full._extremes = {};
    const points = full._length === 0 ? [] : full._module.calc(host, full);
    if (!points[0]) points[0] = { x: undefined, y: undefined };
    points[0].t ??= {};
    points[0].trace = full;
    host.calcdata[place] = points;
    const there = points.filter(({ x, y }) => x !== undefined && y !== undefined).length;
    if (full.type === "scatter") drawn &&= there > (full.mode.includes("lines") ? 1 : 0);
  }
  // Bars of one place push one another aside.
  const modules = new Set([...places].map((place) => host._fullData[place]._module));
  for (const { crossTraceCalc } of modules)
    for (const panel of Object.values(host._fullLayout._plots)) crossTraceCalc?.(host, panel);
  if (places.size > 0) Plotly.parts.component("errorbars", "calc")(host);
  return drawn;
}

// The axes that no longer show what they did.
function ranged(host, keys) {
  const { axes, steps } = Plotly.parts;
  const all = axes.list(host, "", true);
  const before = all.map((axis) => axis.range.join());
  for (const key of keys) {
    const axis = host._fullLayout[key];
    axis.range = [...axis.range];
    axis._r = [...axis.range];
    axis._rl = axis.range.map(axis.r2l);
  }
  steps.doAutoRangeAndConstraints(host);
  return all.filter((axis, place) => keys.has(axis._name) || before[place] !== axis.range.join());
}

// Whether words beside an axis are cut off by the edge: the margin would have to grow.
function cut(host, axes) {
  const { left } = host.getBoundingClientRect();
  const words = axes.flatMap(({ _id: id }) => [
    ...(id.startsWith("y") ? host.querySelectorAll(`.${id}tick text, .g-${id}title text`) : []),
  ]);
  return words.some((one) => one.getBoundingClientRect().left < left);
}

// Put other digits, all of one width, into an entry of the legend; false where more than these
// differs. Plotly would measure each entry anew, for which the browser lays out the whole page.
function renamed(host, trace, was, now) {
  if (was.replace(/\d/g, "0") !== now.replace(/\d/g, "0")) return false;
  const entry = [...host.querySelectorAll(".legendtext")].find((one) => one.__data__?.[0]?.trace === trace);
  const [old, said] = [was, now].map((name) => name.replace(/<[^>]*>/g, ""));
  if (entry?.textContent.replaceAll("\u200b", "") !== old) return false;
  const texts = document.createTreeWalker(entry, NodeFilter.SHOW_TEXT);
  let place = 0;
  while (texts.nextNode()) texts.currentNode.data = texts.currentNode.data.replace(/[^\u200b]/g, () => said[place++]);
  entry.setAttribute("data-unformatted", now); // by which Plotly knows what it has measured
  return true;
}

// Draw the axes that moved. Where their words stay the same, so does what Plotly would measure them
// for: the place of the title, and whether they reach over the edge. titled: those with another title.
function drawAxes(host, moved, titled) {
  const { axes } = Plotly.parts;
  const words = ({ _id: id }) => [...host.querySelectorAll(`.${id}tick text`)].map((one) => one.textContent).join();
  const measured = moved.filter((axis) => {
    if (titled.has(axis._name)) return true;
    const { title, automargin, ticklabeloverflow } = axis;
    const before = words(axis);
    Object.assign(axis, { title: Object.create(title), automargin: false, ticklabeloverflow: "allow" });
    try {
      axes.draw(host, [axis._id], { skipTitle: true });
    } finally {
      Object.assign(axis, { title, automargin, ticklabeloverflow });
    }
    return words(axis) !== before;
  });
  if (measured.length > 0) axes.draw(host, measured.map((axis) => axis._id));
}

// A line that becomes points or is dashed otherwise is another trace, said by its name: `Plotly.react`
// would leave some of the line.
export const named = (traces) =>
  traces.map((trace, place) => {
    const { type, mode = "", line } = trace;
    return { ...trace, uid: `${place}${type}${mode}${line?.dash ?? ""}`.replace(/\W/g, "") };
  });

// Plotly turns arrows at points by the axes with which a trace was calculated, before the margins had
// grown for the words beside them: up to 5 degrees from the line. Turn them by the axes that are drawn.
export function turnArrows(host) {
  const axis = (id) => host._fullLayout[id.replace(/^./, (letter) => `${letter}axis`)];
  const turned = host._fullData.filter(({ marker }) => marker?.angleref === "previous");
  for (const trace of turned) Object.assign(trace, { _xA: axis(trace.xaxis), _yA: axis(trace.yaxis) });
  if (turned.length > 0) Plotly.parts.plots.style(host);
}

// Paint `now` in place of `old` ({traces, layout}); false where that takes a whole painting, which
// then has to follow.
export function repainted(host, old, now) {
  if (old.traces.length !== now.traces.length) return false;
  const changes = new Changes(host);
  const keys = different(old.layout, now.layout);
  const alone =
    keys?.every((key) => changes.whole(key, old.layout[key], now.layout[key])) &&
    now.traces.every((trace, place) => changes.trace(place, old.traces[place], trace));
  if (!alone) return false;
  for (const [kept, name, value] of changes.sets) kept[name] = value;

  const { parts } = Plotly;
  const layout = host._fullLayout;
  const { margin } = layout;
  const grows = margin.autoexpand;
  margin.autoexpand = false;
  try {
    if (!calculated(host, changes.traces)) return false;
    const moved = ranged(host, changes.axes);
    if (moved.length > 0) drawAxes(host, moved, changes.titled);
    if (moved.length > 0 || changes.traces.size > 0) {
      for (const module of layout._basePlotModules) module.plot(host);
      parts.plots.style(host);
    }
    for (const key of ["shapes", "annotations"])
      if (moved.length > 0) parts.component(key, "draw")(host);
      else for (const place of changes[key]) parts.component(key, "drawOne")(host, place);
    if (changes.title) parts.steps.drawMainTitle(host);
    if (!changes.names.every(([trace, was, name]) => renamed(host, trace, was, name)))
      parts.component("legend", "draw")(host);
    return !cut(host, moved);
  } finally {
    margin.autoexpand = grows;
  }
}
