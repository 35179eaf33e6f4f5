// Plotly chart component that is updated in place. Streamlit's element creates a new chart for each
// figure: twice the time from slider to figure, with a flicker.

import { liveBench } from "./live.js";
import { withTraceIds, repaint, turnArrows } from "./repaint.js";
import { updateBadge, updateNotes, updateReadouts, restore } from "./drag_overlay.js";
import { pinBoard } from "./pins.js";
import { pinFigure } from "./viewport.js";
import { stackPanels } from "./responsive_panels.js";

const PLOTLY_URL = new URL("../plotly.min.js", import.meta.url).href;
const CONFIG = { displayModeBar: false, scrollZoom: false, doubleClick: "reset" };
const FULL_PAINT_MS = 400; // after a partial paint, the full one
// Pixels: a frame is narrower only until the columns of the page have their widths, or in a closed tab.
const MIN_WIDTH_PX = 100;
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
  host.on("plotly_hover", (event) => host.classList.toggle("picking", !!pickedPoint(event)));
  host.on("plotly_unhover", () => host.classList.remove("picking"));
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
    if (isDragging && this.size && Plotly?.parts) return this.repaint(before);
    if (Plotly) return this.paint();
    loadPlotly().then(() => this.paint(), () => (this.host.textContent = this.missing));
  }

  // Parsed again for each paint, because Plotly modifies its input.
  parse(json) {
    const { data, layout } = this.withPins(JSON.parse(json));
    return stackPanels(withTraceIds(data), layout, this.frame.clientWidth);
  }

  // The curves that the reader has pinned, below those of now.
  withPins(figure) {
    if (this.bench) pinBoard(this.bench).apply(figure, (text) => applyTheme(text, this.host));
    return figure;
  }

  repaint(before) {
    this.previous ??= this.parse(before);
    const after = this.parse(this.json);
    const isDone = repaint(this.host, this.previous, after);
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
    const { traces, layout, heightFactor } = this.parse(this.json);
    // Streamlit sets the height of the frame's wrapper; stacked panels need more.
    const height = heightFactor > 1 ? `${heightFactor * layout.height}px` : "";
    Object.assign(frame.parentElement.style, { height, flexBasis: height });
    this.size = { width: frame.clientWidth, height: frame.clientHeight };
    if (!this.size.height) return;
    pinFigure(frame.parentElement, this.size.height);
    this.previous = null;
    Plotly.react(host, traces, { ...layout, ...this.size }, CONFIG).then(() => {
      turnArrows(host);
      this.showMap(layout.meta);
      this.onPainted?.();
    });
    listenForPicks(host);
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
    const readouts = () => document.querySelector(`.${cssClass(prefix)}-readouts`);
    const notes = () => document.querySelectorAll(`[class*="${cssClass(prefix)}-notes-"]`);
    const badge = () => document.querySelector(`.${cssClass(prefix)}-footer > :has(.stMarkdownBadge)`);
    const restoreAll = () => [readouts(), ...notes(), badge()].forEach(restore);
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
  host.onPick = data.picks ? (point) => setTriggerValue("pick", point) : null;
  update(chart, data);
  return () => setTimeout(() => data.live && liveBench(data.live.bench).onUnmount());
}
