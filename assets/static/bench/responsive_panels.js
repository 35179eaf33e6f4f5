// Responsive layout: on a narrow screen, panels of a figure are stacked instead of side by side.

const NARROW_PX = 560; // pixels
const GAP = 0.11; // of the figure's height: the lower title of one panel, if it says nothing else
const COLOR_BAR_START = 0.83; // where a panel ends that has a color bar beside it
const MAX_NUMBERED = 8; // rows and columns of a heat map that shows its numbers on a narrow screen
const SMALL_FONT_PX = 10; // pixels: letters of words that stand side by side in a row
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

// Half-width characters: all but Chinese and the like.
const widthOf = (character) => (character.codePointAt(0) >= 0x2e80 ? 1 : 0.52);

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

// Truncate a word to the available ems, with an ellipsis. Numbers stay complete.
function truncate(text, room) {
  if (!/\p{L}/u.test(text) || text.includes("<")) return text;
  const characters = text.match(/&[^;\s]+;|./gu) ?? [];
  const width = (list) => list.reduce((sum, character) => sum + (character.length > 2 ? 0.52 : widthOf(character)), 0);
  if (width(characters) <= room) return text;
  while (characters.length > 1 && width(characters) + 0.8 > room) characters.pop();
  return characters.join("") + "…";
}

// Its first letters without an ellipsis, where only a few ems are available.
function abbreviate(text, room) {
  const truncated = truncate(text, room);
  if (truncated === text) return text;
  const letters = text.replace(/^␣/, "").match(/&[^;\s]+;|./gu) ?? [];
  return letters.slice(0, Math.max(1, Math.floor(room / widthOf(letters[0])))).join("");
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

// A table of words with narrow columns, or words side by side in a row: they are truncated, and complete
// on hover. widthPx: of the panel.
function fitToPanel(trace, axis, widthPx) {
  if (isLargeTable(trace)) return { trace: { ...trace, texttemplate: "" }, axis };
  if (trace.type === "heatmap" && trace.texttemplate === "%{text}") {
    const room = widthPx / trace.text[0].length / (trace.textfont?.size ?? 12) - 0.4;
    const cells = trace.text.map((row) => row.map((word) => truncate(word, room)));
    const ticktext = axis?.ticktext?.map((word) => truncate(word, room));
    const fullText = trace.hovertext ?? trace.text;
    return { trace: { ...trace, text: cells, hovertext: fullText }, axis: ticktext ? { ...axis, ticktext } : axis };
  }
  if (trace.mode !== "text" || !Array.isArray(trace.text) || !axis?.range) return { trace, axis };
  const pixels = (minDistance(trace) * widthPx) / Math.abs(axis.range[1] - axis.range[0]);
  const fits = (size) => trace.text.map((word) => abbreviate(word, pixels / size));
  const fullText = fits(trace.textfont?.size ?? 12);
  if (fullText.every((word, index) => word === trace.text[index])) return { trace, axis };
  return { trace: { ...trace, text: fits(SMALL_FONT_PX), textfont: { ...trace.textfont, size: SMALL_FONT_PX } }, axis };
}

// The smallest distance along x between two words of one row.
function minDistance({ x, y }) {
  const rows = new Map();
  [...x].forEach((position, index) => rows.set(y[index], [...(rows.get(y[index]) ?? []), position]));
  const gaps = [...rows.values()].flatMap((row) => {
    const sorted = row.sort((a, b) => a - b);
    return sorted.slice(1).map((position, index) => position - sorted[index]);
  });
  return Math.min(Infinity, ...gaps.filter((gap) => gap > 0));
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

// Return the layout and traces of stacked panels, with the factor by which the figure's height grows.
export function stackPanels(traces, givenLayout, width) {
  const layout = width < NARROW_PX ? wrapHeadlines(givenLayout, width) : givenLayout;
  const allPanels = panels(traces, layout);
  const verticals = allPanels.flatMap((panel) => [...panel.verticals]);
  const rows = new Set(allPanels.map((panel) => panel.top)).size;
  const shared = new Set(verticals).size < verticals.length;
  if (width >= NARROW_PX) return { traces, layout, heightFactor: 1 };
  const newLayout = { ...layout };
  const newTraces = [...traces];
  const isInPanel = ({ xaxis }, x) => axisKey(xaxis, "x") === x;
  const hasColorBar = (x) => traces.some((trace) => isInPanel(trace, x) && trace.colorbar && trace.showscale !== false);
  const fitPanel = (x, share) =>
    traces.forEach((original, index) => {
      if (!isInPanel(original, x)) return;
      const { trace, axis } = fitToPanel(original, newLayout[x], (width - SIDE_MARGINS_PX) * share);
      if (axis) newLayout[x] = axis;
      newTraces[index] = trace;
    });
  if (rows === allPanels.length || shared) {
    for (const { x } of allPanels) {
      const [left, right] = span(layout[x]);
      fitPanel(x, (right - left) * (hasColorBar(x) ? COLOR_BAR_START : 1));
    }
    return { traces: newTraces, layout: newLayout, heightFactor: 1 };
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
    newLayout[x] = { ...layout[x], domain: [0, withBar ? COLOR_BAR_START : 1] };
    // A panel that shared its neighbor's tick labels needs its own when stacked.
    for (const y of overlaid)
      newLayout[y] = { ...layout[y], domain: span(layout[y]).map(lift), showticklabels: true };
    fitPanel(x, withBar ? COLOR_BAR_START : 1);
    const bar = { x: COLOR_BAR_START + 0.02, y: (floor + ceiling) / 2, len: height };
    newTraces.forEach((trace, index) => {
      if (isInPanel(trace, x) && trace.colorbar)
        newTraces[index] = { ...trace, colorbar: { ...trace.colorbar, ...bar } };
    });
    ceiling = floor - gap;
  }
  return { traces: newTraces, layout: newLayout, heightFactor: 1 + 0.75 * (allPanels.length - rows) };
}
