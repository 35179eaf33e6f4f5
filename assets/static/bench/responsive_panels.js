// Responsive layout: on a narrow screen, panels of a figure are stacked instead of side by side.

const NARROW_PX = 560; // pixels
const GAP = 0.11; // of the figure's height: the lower title of one panel, if it says nothing else
const COLOR_BAR_START = 0.83; // where a panel ends that has a color bar beside it
const MAX_NUMBERED = 8; // rows and columns of a heat map that shows its numbers on a narrow screen
const SMALL_FONT_PX = 10; // pixels: letters of words that stand side by side in a row
const MAX_WIDER = 3; // times, for a figure that scrolls
const SIDE_MARGINS_PX = 110; // pixels: about what stands left and right of a panel

const axisKey = (id, letter) => letter + "axis" + (id ?? letter).slice(1);
const span = (axis) => axis?.domain ?? [0, 1];

// One entry per horizontal axis: the vertical axes drawn over it and the rectangle they share.
function panels(traces, layout) {
  const panelsByAxis = new Map();
  for (const { xaxis, yaxis } of traces) {
    const x = axisKey(xaxis, "x");
    const y = axisKey(yaxis, "y");
    if (!panelsByAxis.has(x)) panelsByAxis.set(x, { x, verticals: new Set() });
    panelsByAxis.get(x).verticals.add(y);
  }
  for (const panel of panelsByAxis.values()) {
    const heights = [...panel.verticals].flatMap((y) => span(layout[y]));
    panel.left = span(layout[panel.x])[0];
    panel.bottom = Math.min(...heights);
    panel.top = Math.max(...heights);
  }
  return [...panelsByAxis.values()].sort((a, b) => b.top - a.top || a.left - b.left);
}

// Half-width characters: all but Chinese and the like, and the sign of a space.
const widthOf = (character) => (character.codePointAt(0) >= 0x2e80 || "␣…".includes(character) ? 1 : 0.52);

// Wrap words so that no line is longer than `room` ems; tags have no width.
function wrap(text, room) {
  const parts = text.match(/<[^>]*>|&[^;\s]+;|[\u2e80-\uffff]|(?:[^<&\s\u2e80-\uffff]|\u00a0)+|[^\S\u00a0]+|./gu) ?? [];
  let used = 0;
  return parts
    .map((part) => {
      if (part.startsWith("<br")) used = 0;
      if (part.startsWith("<")) return part;
      const width = part.startsWith("&") ? 0.52 : [...part].reduce((sum, character) => sum + widthOf(character), 0);
      const next = used > 0 && used + width > room;
      used = next ? width : used + width;
      return next ? `<br>${part.trimStart()}` : part;
    })
    .join("");
}

// Width of a text in ems; tags have none. Numbers are not counted: they stay as they are.
function emsOf(text) {
  if (!/\p{L}/u.test(text ?? "")) return 0;
  return (text.match(/<[^>]*>|&[^;\s]+;|./gu) ?? []).reduce((sum, one) => sum + (one.startsWith("<") ? 0 : one.length > 2 ? 0.52 : widthOf(one)), 0);
}

// A heat map of numbers with more rows or columns: only colors, and the number on tap.
function isLargeTable({ type, texttemplate, text, z }) {
  if (type !== "heatmap" || !texttemplate) return false;
  // An encoded array is one of numbers, with its shape as "rows, columns".
  if (texttemplate.startsWith("%{z") && z.shape) return Math.max(...String(z.shape).split(",").map(Number)) > MAX_NUMBERED;
  const rows = texttemplate === "%{text}" ? text : texttemplate.startsWith("%{z") ? z : null;
  if (!rows?.length || Math.max(rows.length, rows[0].length) <= MAX_NUMBERED) return false;
  const words = [...rows].flatMap((row) => [...row]).filter((cell) => cell !== null && cell !== "");
  return words.every((cell) => /\d/.test(cell) && !/\p{L}/u.test(cell));
}

// Tokens below narrow columns are turned; those in cells, or side by side in a row, are small where that
// is enough, and otherwise the figure is `wider` (times) and scrolls. widthPx: of the panel.
function fitToPanel(trace, axis, widthPx) {
  if (isLargeTable(trace)) return { trace: { ...trace, texttemplate: "" }, axis, wider: 1 };
  const isTable = trace.type === "heatmap" && trace.texttemplate === "%{text}";
  if (isTable && axis?.ticktext) {
    const room = widthPx / axis.ticktext.length / (axis.tickfont?.size ?? 13) - 0.4;
    if (axis.tickangle === 0) axis = { ...axis, ticktext: axis.ticktext.map((word) => wrap(word, room)) };
    else if (axis.ticktext.some((word) => emsOf(word) > room)) axis = { ...axis, tickangle: -90 };
  }
  const isRow = trace.mode === "text" && Array.isArray(trace.text) && axis?.range;
  if (!isTable && !isRow) return { trace, axis, wider: 1 };
  const sizePx = trace.textfont?.size ?? 12;
  const needed = (px) => (isTable ? cellsPx(trace, px) : rowPx(trace, axis, px)) / widthPx;
  if (needed(sizePx) <= 1) return { trace, axis, wider: 1 };
  if (needed(SMALL_FONT_PX) > 1) return { trace, axis, wider: Math.min(MAX_WIDER, needed(sizePx)) };
  return { trace: { ...trace, textfont: { ...trace.textfont, size: SMALL_FONT_PX } }, axis, wider: 1 };
}

// Pixels for a table whose cells hold their longest word.
const cellsPx = ({ text }, px) => text[0].length * (Math.max(0, ...[...text].flat().map(emsOf)) * px + 5);

// Pixels for a panel in which no word of a row touches the next.
function rowPx({ x, y, text, textposition }, axis, px) {
  const rows = new Map(), extent = Math.abs(axis.range[1] - axis.range[0]);
  const sideOf = (index) => (Array.isArray(textposition) ? textposition[index] : textposition) ?? "";
  [...x].forEach((at, index) => rows.set(y[index], [...(rows.get(y[index]) ?? []), { at, width: emsOf(text[index]) * px, side: sideOf(index) }]));
  const shares = { left: [1, 0], right: [0, 1] }; // of a word to the left and to the right of its point
  const share = ({ side }, place) => (shares[side.split(" ").at(-1)] ?? [0.5, 0.5])[place];
  const gaps = [...rows.values()].flatMap((row) => {
    const sorted = row.sort((a, b) => a.at - b.at);
    return sorted.slice(1).map((b, index) => [b.at - sorted[index].at, sorted[index].width * share(sorted[index], 1) + b.width * share(b, 0) + 2]);
  });
  return Math.max(0, ...gaps.filter(([distance]) => distance > 0).map(([distance, width]) => (width * extent) / distance));
}

// Headlines start at the left edge of the figure; on a narrow screen they wrap.
function wrapHeadlines(layout, width) {
  const fits = (note) => wrap(note.text, (width - 56) / (note.font?.size ?? 14));
  const isHeadline = (note) => note.xref === "paper" && note.yref === "paper";
  const annotations = layout.annotations?.map((note) =>
    isHeadline(note) ? { ...note, text: fits(note) } : note,
  );
  const title = layout.title?.text && { ...layout.title, text: fits(layout.title) };
  const lines = (note) => note.text?.split("<br>").length ?? 1;
  const linesBefore = [...(layout.annotations ?? []), layout.title ?? {}].map(lines);
  const extraLines = [...(annotations ?? []), title ?? {}].map((note, index) => lines(note) - linesBefore[index]);
  if (extraLines.at(-1) > 0) title.pad = { ...title.pad, t: (title.pad?.t ?? 0) + 6 };
  const margin = { ...layout.margin, t: (layout.margin?.t ?? 44) + 20 * Math.max(0, ...extraLines) };
  return { ...layout, margin, ...(annotations && { annotations }), ...(title && { title }) };
}

// Share of the width for the labels of a vertical axis and its title, so that it needs no margin of the figure.
function labelShare(axis, width) {
  const fontPx = axis.tickfont?.size ?? 13;
  const longest = Math.max(4, ...(axis.ticktext ?? []).map((text) => [...text.replace(/<[^>]*>/g, "")].length));
  return Math.min(0.3, ((longest * 0.56 + 0.5) * fontPx + (axis.title?.text ? 1.4 * fontPx : 0)) / width);
}

const belongs = (reference, ids) => ["paper", ...ids].includes((reference ?? "paper").split(" ")[0]);
const axisId = (key) => key.replace("axis", "");
const idsOf = ({ x, verticals }) => [x, ...verticals].map(axisId);
const plain = (text) => (text ?? "").replace(/<br>/g, " ").replace(/<[^>]*>/g, "").replace(/&lt;/g, "<").replace(/&gt;/g, ">").replace(/&amp;/g, "&").trim();

// The panels that would be stacked, in their order: the name of each, and the ids of its axes. Empty
// where nothing is stacked, and for a map, whose parts change another panel.
export function tabsOf(traces, layout, width) {
  if (width >= NARROW_PX || layout.meta?.map) return [];
  const allPanels = panels(traces, layout);
  const verticals = allPanels.flatMap((panel) => [...panel.verticals]);
  const rows = new Set(allPanels.map((panel) => panel.top)).size;
  if (rows === allPanels.length || new Set(verticals).size < verticals.length) return [];
  const titles = allPanels.map((panel) => {
    const ids = idsOf(panel), [across, up] = [layout[panel.x], layout[axisKey(ids[1], "y")]];
    const isTitle = (note) => note.xref === `${ids[0]} domain` && note.yref === `${ids[1]} domain` && note.y === 1;
    const axes = up?.ticktext && !across?.ticktext ? [across, up] : [up, across]; // the quantity before the names
    return [layout.annotations?.find(isTitle)?.text, ...axes.map((axis) => axis?.title?.text)].map(plain);
  });
  const ways = [0, 1, 2].map((place) => titles.map((all) => all[place]));
  ways.push(titles.map((all) => all.find(Boolean)), titles.map((all) => all.filter(Boolean).join(", ")));
  const names = ways.find((way) => new Set(way.filter(Boolean)).size === way.length);
  return allPanels.map((panel, index) => ({ ids: idsOf(panel), name: names?.[index] ?? `${index + 1}` }));
}

// One of the panels that would be stacked, alone.
export function onlyPanel(traces, layout, index) {
  const panel = panels(traces, layout)[index], { x, verticals, bottom, top } = panel, ids = idsOf(panel);
  const isShown = ({ xref, yref }) => belongs(xref, ids) && belongs(yref, ids);
  const newTraces = traces
    .filter(({ xaxis }) => axisKey(xaxis, "x") === x)
    .map((trace) => (trace.colorbar ? { ...trace, colorbar: { ...trace.colorbar, x: COLOR_BAR_START + 0.02, y: 0.5, len: 1 } } : trace));
  const hasColorBar = newTraces.some(({ colorbar, showscale }) => colorbar && showscale !== false);
  const others = ([key]) => !/^[xy]axis\d*$/.test(key) || key === x || verticals.has(key);
  const newLayout = Object.fromEntries(Object.entries(layout).filter(others));
  newLayout[x] = { ...layout[x], domain: [0, hasColorBar ? COLOR_BAR_START : 1] };
  const lift = (share) => (share - bottom) / (top - bottom);
  for (const y of verticals) newLayout[y] = { ...layout[y], domain: span(layout[y]).map(lift), showticklabels: true };
  for (const key of [x, ...verticals]) if (!ids.includes(newLayout[key]?.matches)) delete newLayout[key]?.matches;
  for (const name of ["annotations", "shapes"]) if (layout[name]) newLayout[name] = layout[name].filter(isShown);
  return { traces: newTraces, layout: newLayout };
}

// The panels in which the traces of two figures differ.
export function changedPanels(before, after, tabs) {
  const tracesOf = ({ data }, ids) => JSON.stringify(data.filter(({ xaxis }) => ids.includes(xaxis ?? "x")));
  return tabs.flatMap(({ ids }, index) => (tracesOf(before, ids) === tracesOf(after, ids) ? [] : [index]));
}

// Return the layout and traces of stacked panels, with the factors by which the figure's height and width grow.
export function stackPanels(traces, givenLayout, width) {
  const layout = width < NARROW_PX ? wrapHeadlines(givenLayout, width) : givenLayout;
  const allPanels = panels(traces, layout);
  const verticals = allPanels.flatMap((panel) => [...panel.verticals]);
  const rows = new Set(allPanels.map((panel) => panel.top)).size;
  const shared = new Set(verticals).size < verticals.length;
  if (width >= NARROW_PX) return { traces, layout, heightFactor: 1, widthFactor: 1 };
  const newLayout = { ...layout };
  const newTraces = [...traces];
  const isInPanel = ({ xaxis }, x) => axisKey(xaxis, "x") === x;
  const hasColorBar = (x) => traces.some((trace) => isInPanel(trace, x) && trace.colorbar && trace.showscale !== false);
  let widthFactor = 1;
  const fitPanel = (x, share) =>
    traces.forEach((original, index) => {
      if (!isInPanel(original, x)) return;
      const { trace, axis, wider } = fitToPanel(original, newLayout[x], (width - SIDE_MARGINS_PX) * share);
      if (axis) newLayout[x] = axis;
      newTraces[index] = trace;
      widthFactor = Math.max(widthFactor, wider);
    });
  if (rows === allPanels.length || shared) {
    for (const { x } of allPanels) {
      const [left, right] = span(layout[x]);
      fitPanel(x, (right - left) * (hasColorBar(x) ? COLOR_BAR_START : 1));
    }
    return { traces: newTraces, layout: newLayout, heightFactor: 1, widthFactor };
  }
  const gap = layout.meta?.gap ?? GAP;
  const room = 1 - gap * (allPanels.length - 1);
  const sum = allPanels.reduce((total, { top, bottom }) => total + top - bottom, 0);
  let ceiling = 1;
  for (const { x, verticals: overlaid, top, bottom } of allPanels) {
    const height = (room * (top - bottom)) / sum;
    const floor = ceiling - height;
    const lift = (share) => floor + (height * (share - bottom)) / (top - bottom);
    const withBar = hasColorBar(x);
    // Beside a map, which has no labels and takes the whole width, labels would move the map aside.
    const isBesideMap = layout.meta?.map && layout[x].visible !== false;
    const left = isBesideMap ? Math.max(...[...overlaid].map((y) => labelShare(layout[y], width))) : 0;
    newLayout[x] = { ...layout[x], domain: [left, withBar ? COLOR_BAR_START : 1] };
    // A panel that shared its neighbor's tick labels needs its own when stacked.
    for (const y of overlaid)
      newLayout[y] = { ...layout[y], domain: span(layout[y]).map(lift), showticklabels: true, ...(left > 0 && { automargin: false }) };
    fitPanel(x, withBar ? COLOR_BAR_START : 1);
    const bar = { x: COLOR_BAR_START + 0.02, y: (floor + ceiling) / 2, len: height };
    newTraces.forEach((trace, index) => {
      if (isInPanel(trace, x) && trace.colorbar)
        newTraces[index] = { ...trace, colorbar: { ...trace.colorbar, ...bar } };
    });
    ceiling = floor - gap;
  }
  return { traces: newTraces, layout: newLayout, heightFactor: 1 + 0.75 * (allPanels.length - rows), widthFactor };
}
