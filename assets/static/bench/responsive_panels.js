// On a narrow screen the panels of a figure that stand side by side are put one below the other.

const NARROW = 560; // pixels
const GAP = 0.11; // of the figure's height: the lower title of one panel, if it says nothing else
const BAR = 0.83; // where a panel ends that has a color bar beside it
const SMALL = 10; // pixels: letters of words that stand side by side in a row
const BESIDE = 110; // pixels: about what stands left and right of a panel

const axisKey = (id, letter) => letter + "axis" + (id ?? letter).slice(1);
const span = (axis) => axis?.domain ?? [0, 1];

// One entry a horizontal axis: the vertical axes drawn over it and the rectangle they share.
function panels(traces, layout) {
  const found = new Map();
  for (const { xaxis, yaxis } of traces) {
    const x = axisKey(xaxis, "x");
    const y = axisKey(yaxis, "y");
    if (!found.has(x)) found.set(x, { x, verticals: new Set() });
    found.get(x).verticals.add(y);
  }
  for (const panel of found.values()) {
    const heights = [...panel.verticals].flatMap((y) => span(layout[y]));
    panel.left = span(layout[panel.x])[0];
    panel.bottom = Math.min(...heights);
    panel.top = Math.max(...heights);
  }
  return [...found.values()].sort((a, b) => b.top - a.top || a.left - b.left);
}

// Signs of half a letter's width: all but Chinese and the like.
const wide = (sign) => (sign.codePointAt(0) >= 0x2e80 ? 1 : 0.52);

// Words with line breaks, so that none is longer than `room` letters' heights; tags have no width.
function broken(text, room) {
  const parts = text.match(/<[^>]*>|&[^;\s]+;|[\u2e80-\uffff]|(?:[^<&\s\u2e80-\uffff]|\u00a0)+|[^\S\u00a0]+|./gu) ?? [];
  let used = 0;
  return parts
    .map((part) => {
      if (part.startsWith("<br")) used = 0;
      if (part.startsWith("<")) return part;
      const width = part.startsWith("&") ? 0.52 : [...part].reduce((sum, sign) => sum + wide(sign), 0);
      const next = used > 0 && used + width > room;
      used = next ? width : used + width;
      return next ? `<br>${part.trimStart()}` : part;
    })
    .join("");
}

// As much of a word as there is room for, in letters' heights, with dots for the rest. Numbers stay.
function cut(text, room) {
  if (!/\p{L}/u.test(text) || text.includes("<")) return text;
  const signs = text.match(/&[^;\s]+;|./gu) ?? [];
  const width = (some) => some.reduce((sum, sign) => sum + (sign.length > 2 ? 0.52 : wide(sign)), 0);
  if (width(signs) <= room) return text;
  while (signs.length > 1 && width(signs) + 0.8 > room) signs.pop();
  return signs.join("") + "…";
}

// Its first letters without dots, where there are a few letters' room only.
function begun(text, room) {
  const whole = cut(text, room);
  if (whole === text) return text;
  const letters = text.replace(/^␣/, "").match(/&[^;\s]+;|./gu) ?? [];
  return letters.slice(0, Math.max(1, Math.floor(room / wide(letters[0])))).join("");
}

// A table of words with narrow columns, or words side by side in a row: they are cut, and whole on
// hover. across: pixels of the panel.
function narrowed(trace, axis, across) {
  if (trace.type === "heatmap" && trace.texttemplate === "%{text}") {
    const room = across / trace.text[0].length / (trace.textfont?.size ?? 12) - 0.4;
    const cells = trace.text.map((row) => row.map((word) => cut(word, room)));
    const ticktext = axis?.ticktext?.map((word) => cut(word, room));
    const whole = trace.hovertext ?? trace.text;
    return { trace: { ...trace, text: cells, hovertext: whole }, axis: ticktext ? { ...axis, ticktext } : axis };
  }
  if (trace.mode !== "text" || !Array.isArray(trace.text) || !axis?.range) return { trace, axis };
  const pixels = (apart(trace) * across) / Math.abs(axis.range[1] - axis.range[0]);
  const fits = (size) => trace.text.map((word) => begun(word, pixels / size));
  const whole = fits(trace.textfont?.size ?? 12);
  if (whole.every((word, place) => word === trace.text[place])) return { trace, axis };
  return { trace: { ...trace, text: fits(SMALL), textfont: { ...trace.textfont, size: SMALL } }, axis };
}

// The least distance along x between two words of one row.
function apart({ x, y }) {
  const rows = new Map();
  [...x].forEach((at, place) => rows.set(y[place], [...(rows.get(y[place]) ?? []), at]));
  const gaps = [...rows.values()].flatMap((row) => {
    const sorted = row.sort((a, b) => a - b);
    return sorted.slice(1).map((at, place) => at - sorted[place]);
  });
  return Math.min(Infinity, ...gaps.filter((gap) => gap > 0));
}

// Headlines start at the left edge of the sheet; on a narrow screen they go on in the next line.
function headlines(layout, width) {
  const fits = (note) => broken(note.text, (width - 56) / (note.font?.size ?? 14));
  const over = (note) => note.xref === "paper" && note.yref === "paper";
  const annotations = layout.annotations?.map((note) =>
    over(note) ? { ...note, text: fits(note) } : note,
  );
  const title = layout.title?.text && { ...layout.title, text: fits(layout.title) };
  const lines = (note) => note.text?.split("<br>").length ?? 1;
  const before = [...(layout.annotations ?? []), layout.title ?? {}].map(lines);
  const more = [...(annotations ?? []), title ?? {}].map((note, place) => lines(note) - before[place]);
  if (more.at(-1) > 0) title.pad = { ...title.pad, t: (title.pad?.t ?? 0) + 6 };
  const margin = { ...layout.margin, t: (layout.margin?.t ?? 44) + 20 * Math.max(0, ...more) };
  return { ...layout, margin, ...(annotations && { annotations }), ...(title && { title }) };
}

// {layout, traces, taller}: `taller` is how many times the usual height the figure now needs.
export function stacked(traces, given, width) {
  const layout = width < NARROW ? headlines(given, width) : given;
  const all = panels(traces, layout);
  const verticals = all.flatMap((panel) => [...panel.verticals]);
  const rows = new Set(all.map((panel) => panel.top)).size;
  const shared = new Set(verticals).size < verticals.length;
  if (width >= NARROW) return { traces, layout, taller: 1 };
  const moved = { ...layout };
  const redrawn = [...traces];
  const inside = ({ xaxis }, x) => axisKey(xaxis, "x") === x;
  const bars = (x) => traces.some((one) => inside(one, x) && one.colorbar && one.showscale !== false);
  const narrow = (x, share) =>
    traces.forEach((whole, place) => {
      if (!inside(whole, x)) return;
      const { trace, axis } = narrowed(whole, moved[x], (width - BESIDE) * share);
      if (axis) moved[x] = axis;
      redrawn[place] = trace;
    });
  if (rows === all.length || shared) {
    for (const { x } of all) {
      const [left, right] = span(layout[x]);
      narrow(x, (right - left) * (bars(x) ? BAR : 1));
    }
    return { traces: redrawn, layout: moved, taller: 1 };
  }
  const gap = layout.meta?.gap ?? GAP;
  const room = 1 - gap * (all.length - 1);
  const sum = all.reduce((total, { top, bottom }) => total + top - bottom, 0);
  let ceiling = 1;
  for (const { x, verticals: over, top, bottom } of all) {
    const height = (room * (top - bottom)) / sum;
    const floor = ceiling - height;
    const lift = (share) => floor + (height * (share - bottom)) / (top - bottom);
    const barred = bars(x);
    moved[x] = { ...layout[x], domain: [0, barred ? BAR : 1] };
    // A panel that shared its neighbor's numbers beside it has no neighbor now.
    for (const y of over)
      moved[y] = { ...layout[y], domain: span(layout[y]).map(lift), showticklabels: true };
    narrow(x, barred ? BAR : 1);
    const bar = { x: BAR + 0.02, y: (floor + ceiling) / 2, len: height };
    redrawn.forEach((trace, place) => {
      if (inside(trace, x) && trace.colorbar)
        redrawn[place] = { ...trace, colorbar: { ...trace.colorbar, ...bar } };
    });
    ceiling = floor - gap;
  }
  return { traces: redrawn, layout: moved, taller: 1 + 0.75 * (all.length - rows) };
}
