// A drawing on a figure. A stroke is `{ panel, points }`: a subplot as Plotly names it ("" for the
// whole figure), and x, y, x, y, ... in per mille of it, so that it lies on the same curve in a
// figure of another size or with its panels stacked.

const SVG = "http://www.w3.org/2000/svg";
const PER_MILLE = 1000;
const [LOWEST, HIGHEST] = [-1000, 2000]; // as in seqviz/classroom/ink.py
const MAX_STROKES = 40, MAX_NUMBERS = 800;
const MIN_STEP = 6; // per mille between two points of a stroke

export const figureOf = (bench) => bench?.querySelector('[class*="-figure"]') ?? null;

// The rectangles of a figure that strokes refer to, by name, in pixels of the window.
function panelsOf(figure) {
  const chart = figure.querySelector(".seqviz-chart");
  const panels = new Map([["", figure.getBoundingClientRect()]]);
  const { left, top, width } = chart?.getBoundingClientRect() ?? {};
  const scale = width / chart?.offsetWidth; // presenter mode enlarges a chart
  for (const [name, { xaxis, yaxis }] of Object.entries(chart?._fullLayout?._plots ?? {})) {
    const box = [left + scale * xaxis._offset, top + scale * yaxis._offset, scale * xaxis._length, scale * yaxis._length];
    panels.set(name, new DOMRect(...box));
  }
  return panels;
}

const contains = ({ left, right, top, bottom }, x, y) => x >= left && x <= right && y >= top && y <= bottom;
const clamp = (value) => Math.max(LOWEST, Math.min(HIGHEST, Math.round(value)));
const toPanel = ({ left, top, width, height }, x, y) =>
  [clamp((PER_MILLE * (x - left)) / width), clamp((PER_MILLE * (y - top)) / height)];

const nNumbers = (strokes) => strokes.reduce((sum, { points }) => sum + points.length, 0);

export class Ink {
  strokes = [];
  bench = () => null; // the bench with the figure

  constructor() {
    this.svg = document.createElementNS(SVG, "svg");
    this.svg.classList.add("seqviz-ink");
    this.svg.ariaHidden = "true";
    Object.assign(this.svg.style, { position: "fixed", inset: 0, width: "100vw", height: "100vh", zIndex: 6, pointerEvents: "none" });
    Object.assign(this.svg.style, { fill: "none", stroke: "#E11D48", strokeWidth: "max(2.5px, .5vh)", strokeLinecap: "round", strokeLinejoin: "round" });
  }

  show(bench, strokes) {
    Object.assign(this, { bench, strokes });
    cancelAnimationFrame(this.frame);
    this.paint();
  }

  // Follows the figure, wherever it goes.
  paint = () => {
    const figure = this.strokes.length ? figureOf(this.bench()) : null;
    if (!this.strokes.length) return this.svg.remove();
    if (!this.svg.isConnected) document.body.append(this.svg);
    const panels = figure ? panelsOf(figure) : new Map();
    const lines = this.strokes.filter(({ panel }) => panels.get(panel)?.width > 0).map(({ panel, points }) => {
      const { left, top, width, height } = panels.get(panel);
      const pairs = [];
      for (let n = 0; n < points.length; n += 2)
        pairs.push(`${(left + (points[n] * width) / PER_MILLE).toFixed(1)} ${(top + (points[n + 1] * height) / PER_MILLE).toFixed(1)}`);
      return `M${pairs.join("L")}${pairs.length === 1 ? "h.01" : ""}`; // a dot is a short line
    });
    const path = (this.svg.firstChild ?? this.svg.appendChild(document.createElementNS(SVG, "path")));
    if (path.getAttribute("d") !== lines.join("")) path.setAttribute("d", lines.join(""));
    this.frame = requestAnimationFrame(this.paint);
  };

  // Begin a stroke at a point of the window. False where there is no figure, or no room for more.
  begin(x, y) {
    const figure = figureOf(this.bench());
    if (!figure || this.strokes.length >= MAX_STROKES || !contains(figure.getBoundingClientRect(), x, y)) return false;
    const panels = panelsOf(figure);
    const [panel] = [...panels].find(([name, box]) => name && contains(box, x, y)) ?? [""];
    this.show(this.bench, [...this.strokes, { panel, points: toPanel(panels.get(panel), x, y) }]);
    return true;
  }

  // Continue it.
  extend(x, y) {
    const { panel, points } = this.strokes.at(-1);
    const box = panelsOf(figureOf(this.bench())).get(panel);
    if (!box || nNumbers(this.strokes) + 2 > MAX_NUMBERS) return;
    const next = toPanel(box, x, y);
    if (Math.hypot(next[0] - points.at(-2), next[1] - points.at(-1)) >= MIN_STEP) points.push(...next);
  }

  close() {
    this.show(() => null, []);
  }
}
