// Plotly chart component that is updated in place. Streamlit's element creates a new chart for each
// figure: twice the time from slider to figure, with a flicker.

import { liveBench } from "./live.js";
import { dropGhosts, withTraceIds, repaint, turnArrows } from "./repaint.js";
import { updateBadge, updateNotes, updateReadouts, restore } from "./drag_overlay.js";
import { markTrace } from "./equation.js";
import { pinBoard } from "./pins.js";
import { createElement } from "../components/slider.js";
import { PHONE, TOUCH, pinFigure } from "./viewport.js";
import { isLit } from "./step_lights.js";
import { changedPanels, onlyPanel, stackPanels, tabsOf } from "./responsive_panels.js";

const PLOTLY_URL = new URL("../plotly.min.js", import.meta.url).href;
const CONFIG = { displayModeBar: false, scrollZoom: false, doubleClick: "reset" };
const FULL_PAINT_MS = 400; // after a partial paint, the full one
// Pixels: a frame is narrower only until the columns of the page have their widths, or in a closed tab.
const MIN_WIDTH_PX = 100;
const TAB_HEIGHT_SHARE = 0.8; // of a figure's height, for one of its panels on a phone
const DRAG_PAUSE_MS = 1000; // between two drags
const HAS_MAP = /"meta":\{"map":/; // a figure with parts to choose (plotting/maps.py)
const PALETTE = "--st-chart-categorical-colors";
const FONT_TIMEOUT_MS = 1000; // that fonts may take

let library;
let Plotly; // once it is loaded, with the fonts that it measures

async function ready() {
  const timeout = new Promise((resolve) => setTimeout(resolve, FONT_TIMEOUT_MS));
  await Promise.race([document.fonts.load('1em "Source Sans"').catch(() => {}), timeout]);
  Plotly = window.Plotly;
}

function loadPlotly() {
  library ??= new Promise((resolve, reject) => {
    if (window.Plotly?.react) return resolve(ready());
    const script = document.createElement("script");
    script.src = PLOTLY_URL;
    script.onload = () => resolve(ready());
    script.onerror = () => {
      library = null; // the next figure tries again
      reject(new Error(`cannot load ${PLOTLY_URL}`));
    };
    document.head.append(script);
  });
  return library;
}

// Figures name the theme's colors by ten reserved ones, #000001 to #000010 (plotting/style.py).
function applyTheme(figure, host) {
  const colors = getComputedStyle(host).getPropertyValue(PALETTE).split(",");
  return colors.reduce(
    (text, color, slot) => text.replaceAll(`#${String(slot + 1).padStart(6, "0")}`, color.trim()),
    figure,
  );
}

// A click on a trace with meta "pick" goes to the server; the cursor over it is a pointer.
function listenForPicks(host) {
  if (host.listening) return;
  host.listening = true;
  const pickedPoint = (event) =>
    host.onPick && event.points?.find((point) => point.data.meta === "pick");
  host.on("plotly_hover", (event) => {
    host.classList.toggle("picking", !!pickedPoint(event));
    markTrace(host, event.points?.[0]?.fullData);
  });
  host.on("plotly_unhover", () => {
    host.classList.remove("picking");
    markTrace(host, null);
  });
  host.on("plotly_click", (event) => {
    const point = pickedPoint(event);
    if (point) host.onPick({ x: point.x, y: point.y });
  });
}

// Two lines of JSON: metadata and the figure.
export function unpack(text) {
  const end = text.indexOf("\n");
  return { ...JSON.parse(text.slice(0, end)), figure: text.slice(end + 1) };
}

const cssClass = (key) => `st-key-${key.replaceAll(".", "-")}`;

// One chart, updated by the page and, during a drag, by `live.js`.
export class Chart {
  hasTabs = false; // where a phone shows one panel
  panel = 0; // the one that is seen there
  tabs = []; // names of the panels and ids of their axes
  traces = []; // of all panels
  draggedAt = 0;

  constructor(host) {
    this.host = host;
    this.observer = new ResizeObserver(() => this.onResize());
    this.attach();
  }

  attach() {
    this.frame = this.host.closest('[class*="-figure"]') ?? this.host.parentElement;
    this.observer.disconnect();
    this.observer.observe(this.frame);
    if (this.size) pinFigure(this.frame.parentElement, this.size.height);
  }

  // The same figure is not painted twice: after a drag the page sends it once more. isDragging: paint only
  // what differs from the last figure.
  show(figure, alt, isDragging = false) {
    this.host.setAttribute("role", HAS_MAP.test(figure) ? "group" : "img");
    this.host.setAttribute("aria-label", alt);
    this.figure = figure;
    const json = applyTheme(figure, this.host);
    if (json === this.json && this.host._fullLayout) return;
    const before = this.json;
    this.json = json;
    this.replay?.follow();
    if (isDragging && this.showsOther(before)) return this.paint();
    if (isDragging && this.size && Plotly?.parts) return this.repaint(before);
    if (Plotly) return this.paint();
    loadPlotly().then(() => this.paint(), () => (this.host.textContent = this.missing));
  }

  // Parsed again for each paint, because Plotly modifies its input.
  parse(json) {
    const figure = JSON.parse(json);
    this.replay?.apply(figure);
    const { data, layout } = this.withPins(figure);
    const width = this.frame.clientWidth, traces = withTraceIds(data);
    const isPresented = document.documentElement.style.getPropertyValue("--seqviz-scale") !== ""; // present.js
    this.tabs = this.hasTabs && PHONE.matches && !isPresented ? tabsOf(traces, layout, width) : [];
    if (this.tabs.length === 0) return stackPanels(traces, layout, width);
    this.traces = traces;
    this.panel = Math.min(this.panel, this.tabs.length - 1);
    const alone = onlyPanel(traces, layout, this.panel);
    return stackPanels(alone.traces, alone.layout, width);
  }

  // A drag that changes other panels than the one that is seen: the first of them is seen.
  showsOther(before) {
    const now = performance.now(), begins = now - this.draggedAt > DRAG_PAUSE_MS;
    this.draggedAt = now;
    if (!begins || this.tabs.length === 0 || !before) return false;
    const changed = changedPanels(JSON.parse(before), JSON.parse(this.json), this.tabs);
    if (changed.length === 0 || changed.includes(this.panel)) return false;
    this.panel = changed[0];
    return true;
  }

  // One panel with what a step points to is seen.
  reveal(lights) {
    if (this.tabs.length === 0) return;
    const traces = lights.filter(({ kind }) => kind === "trace");
    const isPointedAt = (trace) => isLit({ ...trace, yaxis: trace.yaxis ?? "y" }, traces);
    const axes = [
      ...lights.flatMap(({ kind, name, axes = [] }) => (kind === "axis" ? [name] : axes)),
      ...this.traces.filter(isPointedAt).map(({ xaxis }) => xaxis ?? "x"),
    ];
    const isIn = ({ ids }) => ids.some((id) => axes.includes(id));
    if (isIn(this.tabs[this.panel]) || !this.tabs.some(isIn)) return;
    this.panel = this.tabs.findIndex(isIn);
    this.paint();
  }

  // The tabs stand below the chart: of a figure that is pinned the lower end stays in sight.
  showTabs() {
    if (this.tabs.length === 0) return this.tabRow?.remove();
    if (!this.tabRow?.isConnected) {
      this.tabRow = createElement("div", this.host.parentElement, { className: "seqviz-panel-tabs", role: "tablist" });
    }
    this.tabRow.replaceChildren();
    const choose = (index) => {
      this.panel = index;
      this.paint();
      this.tabRow.children[index]?.focus({ preventScroll: true });
    };
    this.tabs.forEach(({ name }, index) => {
      const isShown = index === this.panel;
      const tab = createElement("button", this.tabRow, { type: "button", role: "tab", textContent: name, ariaSelected: isShown, tabIndex: isShown ? 0 : -1 });
      tab.onclick = () => choose(index);
      tab.onkeydown = ({ key }) => {
        const step = { ArrowLeft: -1, ArrowRight: 1 }[key];
        if (this.tabs[index + step]) choose(index + step);
      };
    });
  }

  // The curves that the reader has pinned, below those of now.
  withPins(figure) {
    if (this.bench) pinBoard(this.bench).apply(figure, (text) => applyTheme(text, this.host));
    return figure;
  }

  repaint(before) {
    this.previous ??= this.parse(before);
    const after = this.parse(this.json);
    const isDone = this.previous.widthFactor === after.widthFactor && repaint(this.host, this.previous, after);
    if (!isDone) this.paint();
    else this.showMap(after.layout.meta);
    this.previous = after;
    clearTimeout(this.fullPaintTimer);
    if (isDone) this.fullPaintTimer = setTimeout(() => this.paint(), FULL_PAINT_MS);
  }

  paint() {
    clearTimeout(this.fullPaintTimer);
    const { host, frame } = this;
    this.size = null;
    if (frame.clientWidth < MIN_WIDTH_PX) return; // `onResize` paints it when there is room
    const { traces, layout, heightFactor, widthFactor } = this.parse(this.json);
    const isWider = widthFactor > 1; // it scrolls sideways
    Object.assign(host.parentElement.style, isWider ? { overflowX: "auto", overflowY: "hidden" } : { overflow: "" });
    this.showTabs();
    const tabsPx = this.tabs.length ? this.tabRow.offsetHeight : 0;
    // Streamlit sets the height of the frame's wrapper; stacked panels need more, and one of them less.
    const needed = tabsPx ? TAB_HEIGHT_SHARE * layout.height + tabsPx : heightFactor * layout.height;
    const height = tabsPx || heightFactor > 1 ? `${needed}px` : "";
    Object.assign(frame.parentElement.style, { height, flexBasis: height });
    this.size = { width: frame.clientWidth, height: frame.clientHeight };
    if (!this.size.height) return;
    pinFigure(frame.parentElement, this.size.height);
    this.previous = null;
    dropGhosts(host);
    const size = { width: this.size.width * widthFactor, height: this.size.height - tabsPx };
    // A finger on a figure scrolls the page or a wide figure; Plotly would zoom.
    const drag = isWider || TOUCH.matches ? { dragmode: false } : {};
    Plotly.react(host, traces, { ...layout, ...size, ...drag }, CONFIG).then(() => {
      turnArrows(host);
      this.showMap(layout.meta);
      this.onPainted?.();
    });
    listenForPicks(host);
  }

  // Paint what a change of the replay has changed.
  change(set) {
    if (!this.json || !this.size || !Plotly?.parts) return;
    this.previous ??= this.parse(this.json);
    set();
    this.repaint(this.json);
  }

  // Pins have changed.
  repaintAll() {
    if (this.json && Plotly) this.paint();
  }

  // Buttons over the parts of a map; the script is loaded for the first figure that has one.
  showMap(meta) {
    if (!meta?.map && !this.partButtons) return;
    import("../figures/map.js").then(({ showMap }) => showMap(this, meta?.map));
  }

  // Recolor for the current theme; on paper it is the light one.
  recolor() {
    if (!this.figure || !Plotly) return;
    this.json = applyTheme(this.figure, this.host);
    this.paint();
  }

  onResize() {
    const { clientWidth: width, clientHeight: height } = this.frame;
    if (!this.json || !Plotly || width < MIN_WIDTH_PX || !height) return;
    // In a closed tab it had no size, and its last figure was not painted.
    if (this.size?.width !== width || this.size?.height !== height) this.paint();
  }

  // The view through which `live.js` paints its responses.
  createView(prefix) {
    const place = () => this.host.closest('[class*="st-key-bench-"]') ?? document;
    const readouts = () => document.querySelectorAll(`.${cssClass(prefix)}-readouts, .${cssClass(prefix)}-details`);
    const notes = () => place().querySelectorAll(`.${cssClass(prefix)}-equation, [class*="${cssClass(prefix)}-notes-"]`);
    const badge = () => document.querySelector(`.${cssClass(prefix)}-footer > :first-child`);
    const restoreAll = () => [...readouts(), ...notes(), badge()].forEach(restore);
    const paint = (answer, isDragging) => {
      const { figure, alt, readouts: newReadouts, notes: sentences, badge: badgeText } = unpack(answer);
      this.show(figure, alt, isDragging);
      updateReadouts(readouts(), newReadouts);
      updateNotes(notes(), sentences);
      updateBadge(badge(), badgeText);
    };
    let acknowledged = null; // the response of the last commit, which covers the page's own render
    restoreAll();
    return {
      adopt: (answer) => (acknowledged = answer),
      restore: () => {
        if (acknowledged !== null) return paint(acknowledged, false);
        restoreAll();
        this.show(this.pageFigure.figure, this.pageFigure.alt);
      },
      isMounted: () => this.host.isConnected,
      setWaiting: (on) => this.host.classList.toggle("waiting", on),
      paint: (answer) => paint(answer, true),
    };
  }
}

// The prerendered figure (`shell.js`), once painted, is not painted again.
function adoptShellChart(host) {
  const shellChart = document.querySelector("#seqviz-shell .seqviz-chart:has(.main-svg)");
  if (host.chart || !shellChart || !host.closest(shellChart.dataset.bench)) return host;
  host.replaceWith(shellChart);
  shellChart.chart.attach();
  return shellChart;
}

// Show the page's own figure; during a drag to other values it is deferred, because the page sends it once.
function update(chart, data) {
  chart.cancelDeferred?.();
  chart.pageFigure = data;
  chart.bench = data.live?.bench;
  if (data.live) {
    const bench = liveBench(data.live.bench);
    if (bench.isStale(data.live.values)) {
      // Set before the bench is drawn for the first time, as where one follows a room.
      if (!bench.view?.isMounted()) bench.view = chart.createView(data.live.bench);
      bench.onStale(data.live);
      chart.cancelDeferred = bench.whenIdle(() => chart.host.isConnected && update(chart, data));
      return;
    }
    bench.onRendered(data.live, chart.createView(data.live.bench));
  }
  chart.show(data.figure, data.alt);
}

export default function ({ data: bytes, parentElement, setTriggerValue }) {
  const data = unpack(new TextDecoder().decode(bytes));
  const host = adoptShellChart(parentElement.querySelector(".seqviz-chart"));
  const chart = (host.chart ??= new Chart(host));
  chart.missing = data.missing;
  if (!chart.hasTabs) {
    chart.hasTabs = true;
    if (PHONE.matches) chart.repaintAll(); // the prerendered figure has its panels stacked
  }
  host.onPick = data.picks ? (point) => setTriggerValue("pick", point) : null;
  update(chart, data);
  return () => setTimeout(() => data.live && liveBench(data.live.bench).onUnmount());
}
