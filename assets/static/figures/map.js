// Buttons over the parts of a map (seqviz/plotting/maps.py): a click, or a key, sets the control that
// holds the number of the chosen part. The map is one stop of the Tab key; arrows go from part to part.

import { liveBench } from "../bench/live.js";

const NEXT = { ArrowUp: 1, ArrowRight: 1, ArrowDown: -1, ArrowLeft: -1 }; // as the stream flows
const MIN_TARGET_PX = 24;
const STYLE = new CSSStyleSheet(); // the same in pages and embeds
STYLE.replaceSync(`
  .seqviz-map button {
    position: absolute; z-index: 2; padding: 0; border: 0; border-radius: 4px; background: transparent; cursor: pointer;
  }
  .seqviz-map button:hover { box-shadow: 0 0 0 2px var(--st-primary-color); }
  .seqviz-map button:focus-visible { outline: 3px solid var(--st-primary-color); outline-offset: 1px; }
  @media print { .seqviz-map { display: none; } }
`);
document.adoptedStyleSheets = [...document.adoptedStyleSheets, STYLE];

class PartButtons {
  constructor(chart) {
    this.chart = chart;
    this.list = document.createElement("div");
    this.list.className = "seqviz-map";
    this.list.setAttribute("role", "group");
    this.list.addEventListener("keydown", (event) => this.onKeyDown(event));
    chart.host.append(this.list);
  }

  get bench() {
    return liveBench(this.chart.bench);
  }

  get key() {
    return `${this.chart.bench}.${this.map.control}`;
  }

  // map: { control, chosen, parts: { number: { box, label } } } of the figure on screen.
  show(map) {
    this.map = map;
    const { xaxis, yaxis } = this.chart.host._fullLayout;
    const x = (value) => xaxis._offset + xaxis.l2p(value), y = (value) => yaxis._offset + yaxis.l2p(value);
    const numbers = Object.keys(map.parts).map(Number).sort((a, b) => a - b);
    const focused = this.buttons?.indexOf(document.activeElement) ?? -1;
    if (this.buttons?.length !== numbers.length) {
      this.buttons = numbers.map(() => Object.assign(document.createElement("button"), { type: "button" }));
      this.list.replaceChildren(...this.buttons);
    }
    const [first, last] = [numbers[0], numbers.at(-1)].map((number) => map.parts[number].box[0]);
    this.isLeftwards = last < first; // as the error goes back in time
    this.list.ariaLabel = this.chart.host.ariaLabel;
    numbers.forEach((number, index) => {
      const { box: [x0, x1, y0, y1], label } = map.parts[number];
      const button = this.buttons[index], isChosen = number === map.chosen;
      const [left, right, top, bottom] = [x(x0), x(x1), y(y1), y(y0)];
      const [width, height] = [Math.max(MIN_TARGET_PX, right - left), Math.max(MIN_TARGET_PX, bottom - top)];
      Object.assign(button.style, {
        left: `${(left + right - width) / 2}px`, top: `${(top + bottom - height) / 2}px`, width: `${width}px`, height: `${height}px`,
      });
      button.ariaLabel = label;
      button.title = label;
      button.onclick = () => this.choose(number);
      button.setAttribute("aria-pressed", isChosen);
      button.tabIndex = (focused < 0 ? isChosen : index === focused) ? 0 : -1;
    });
    if (focused < 0 && !map.parts[map.chosen]) this.buttons[0].tabIndex = 0;
  }

  // The tensor of the part is shown at once, from the figure itself. The value goes the way of the slider.
  choose(number) {
    this.preview(number);
    const control = this.bench.controls.get(this.key);
    if (control) return control.slider.move(number, true);
    this.chart.host.onPick?.({ x: number, y: 0 });
  }

  preview(number) {
    const figure = JSON.parse(this.chart.figure), { layout, data } = figure, { map } = layout.meta;
    const before = map.parts[map.chosen], after = map.parts[number];
    if (before === after || !after.view) return; // the server responds
    const { trace, axes, ...marks } = after.view;
    data[data.length - 1] = trace;
    Object.assign(layout, axes);
    for (const [kind, count] of Object.entries(map.counts)) layout[kind] = [...layout[kind].slice(0, count), ...marks[kind]];
    layout.shapes[before.shape].line = before.line;
    layout.shapes[after.shape].line = map.line;
    map.chosen = number;
    this.chart.show(JSON.stringify(figure), after.label, true);
  }

  onKeyDown(event) {
    const isSideways = event.key === "ArrowLeft" || event.key === "ArrowRight";
    const step = NEXT[event.key] * (isSideways && this.isLeftwards ? -1 : 1), index = this.buttons.indexOf(document.activeElement);
    if (!step || index < 0) return;
    event.preventDefault();
    const next = this.buttons[Math.min(this.buttons.length - 1, Math.max(0, index + step))];
    this.buttons.forEach((button) => (button.tabIndex = button === next ? 0 : -1));
    next.focus();
  }
}

// Called after each paint; a figure without a map has no buttons.
export function showMap(chart, map) {
  if (!map) {
    chart.partButtons?.list.remove();
    chart.partButtons = null;
    return;
  }
  chart.partButtons ??= new PartButtons(chart);
  chart.partButtons.show(map);
}
