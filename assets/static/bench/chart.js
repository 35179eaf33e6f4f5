// A Plotly chart that is updated in place. Streamlit's own element builds a new chart for each new
// figure: twice the time from slider to picture, and a blink in between.

import { bench } from "./live.js";
import { named, repainted, turnArrows } from "./repaint.js";
import { showBadge, showNotes, showReadouts, uncover } from "./drag_overlay.js";
import { stay } from "./viewport.js";
import { stacked } from "./responsive_panels.js";

const SOURCE = new URL("../plotly.min.js", import.meta.url).href;
const CONFIG = { displayModeBar: false, scrollZoom: false, doubleClick: "reset" };
const REST_MS = 400; // after which a picture that was painted in part is painted whole
// Pixels: a frame has less only until the columns of the page have their widths, or in a closed tab.
const LEAST = 100;
const PALETTE = "--st-chart-categorical-colors";
const LETTERS_MS = 1000; // that letters may take

let library;
let Plotly; // once it is here, and the letters that it measures when it paints

async function ready() {
  const late = new Promise((resolve) => setTimeout(resolve, LETTERS_MS));
  await Promise.race([document.fonts.load('1em "Source Sans"').catch(() => {}), late]);
  Plotly = window.Plotly;
}

function plotly() {
  library ??= new Promise((resolve, reject) => {
    if (window.Plotly?.react) return resolve(ready());
    const script = document.createElement("script");
    script.src = SOURCE;
    script.onload = () => resolve(ready());
    script.onerror = () => {
      library = null; // the next figure tries again
      reject(new Error(`cannot load ${SOURCE}`));
    };
    document.head.append(script);
  });
  return library;
}

// Figures name the theme's colors by ten reserved ones, #000001 to #000010 (plotting/style.py).
function themed(figure, host) {
  const colors = getComputedStyle(host).getPropertyValue(PALETTE).split(",");
  return colors.reduce(
    (text, color, slot) => text.replaceAll(`#${String(slot + 1).padStart(6, "0")}`, color.trim()),
    figure,
  );
}

// A click on a trace that says so (meta: "pick") goes to the server; over it the cursor is a hand.
function listen(host) {
  if (host.listening) return;
  host.listening = true;
  const picked = (event) =>
    host.tell && event.points?.find((point) => point.data.meta === "pick");
  host.on("plotly_hover", (event) => host.classList.toggle("picking", !!picked(event)));
  host.on("plotly_unhover", () => host.classList.remove("picking"));
  host.on("plotly_click", (event) => {
    const point = picked(event);
    if (point) host.tell({ x: point.x, y: point.y });
  });
}

// Two lines of JSON: what is said around the figure, and the figure.
export function unpacked(text) {
  const end = text.indexOf("\n");
  return { ...JSON.parse(text.slice(0, end)), figure: text.slice(end + 1) };
}

const css = (key) => `st-key-${key.replaceAll(".", "-")}`;

// One chart in its place: from the page, and from the answers while a hand moves (`live.js`).
export class Chart {
  constructor(host) {
    this.host = host;
    this.observer = new ResizeObserver(() => this.resized());
    this.placed();
  }

  placed() {
    this.frame = this.host.closest('[class*="-figure"]') ?? this.host.parentElement;
    this.observer.disconnect();
    this.observer.observe(this.frame);
    if (this.size) stay(this.frame.parentElement, this.size.height);
  }

  // The same picture is not painted twice: the page's own follows the last one under the hand.
  // moving: a hand moves, and what differs from the picture before is painted alone.
  show(figure, alt, moving = false) {
    this.host.setAttribute("role", "img");
    this.host.setAttribute("aria-label", alt);
    this.figure = figure;
    const written = themed(figure, this.host);
    if (written === this.written && this.host._fullLayout) return;
    const before = this.written;
    this.written = written;
    if (moving && this.size && Plotly?.parts) return this.repaint(before);
    if (Plotly) return this.paint();
    plotly().then(() => this.paint(), () => (this.host.textContent = this.missing));
  }

  // What is painted, parsed anew each time: Plotly writes into what it is given.
  spread(written) {
    const { data, layout } = JSON.parse(written);
    return stacked(named(data), layout, this.frame.clientWidth);
  }

  repaint(before) {
    this.spreadBefore ??= this.spread(before);
    const now = this.spread(this.written);
    const done = repainted(this.host, this.spreadBefore, now);
    if (!done) this.paint();
    this.spreadBefore = now;
    clearTimeout(this.resting);
    if (done) this.resting = setTimeout(() => this.paint(), REST_MS);
  }

  paint() {
    clearTimeout(this.resting);
    const { host, frame } = this;
    this.size = null;
    if (frame.clientWidth < LEAST) return; // `resized` paints it when there is room
    const { traces, layout, taller } = this.spread(this.written);
    // Streamlit gave the frame's wrapper its height; stacked panels need more of it.
    const height = taller > 1 ? `${taller * layout.height}px` : "";
    Object.assign(frame.parentElement.style, { height, flexBasis: height });
    this.size = { width: frame.clientWidth, height: frame.clientHeight };
    if (!this.size.height) return;
    stay(frame.parentElement, this.size.height);
    this.spreadBefore = null;
    Plotly.react(host, traces, { ...layout, ...this.size }, CONFIG).then(() => {
      turnArrows(host);
      this.drawn?.();
    });
    listen(host);
  }

  // In the colors that its place has now: on paper they are the light ones.
  recolored() {
    if (!this.figure || !Plotly) return;
    this.written = themed(this.figure, this.host);
    this.paint();
  }

  resized() {
    const { clientWidth: width, clientHeight: height } = this.frame;
    if (!this.written || !Plotly || width < LEAST || !height) return;
    // In a closed tab it had no room, and what it was told there has not been painted.
    if (this.size?.width !== width || this.size?.height !== height) this.paint();
  }

  // What `live.js` asks of who draws its answers.
  painter(prefix) {
    const readouts = () => document.querySelector(`.${css(prefix)}-readouts`);
    const notes = () => document.querySelectorAll(`[class*="${css(prefix)}-notes-"]`);
    const badge = () => document.querySelector(`.${css(prefix)}-footer > :has(.stMarkdownBadge)`);
    const back = () => [readouts(), ...notes(), badge()].forEach(uncover);
    const paint = (answer, moving) => {
      const { figure, alt, readouts: read, notes: said, badge: how } = unpacked(answer);
      this.show(figure, alt, moving);
      showReadouts(readouts(), read);
      showNotes(notes(), said);
      showBadge(badge(), how);
    };
    let own = null; // in place of what the page has drawn, an answer that the page knows of
    back();
    return {
      keep: (answer) => (own = answer),
      uncover: () => {
        if (own !== null) return paint(own, false);
        back();
        this.show(this.own.figure, this.own.alt);
      },
      there: () => this.host.isConnected,
      wait: (on) => this.host.classList.toggle("waiting", on),
      paint: (answer) => paint(answer, true),
    };
  }
}

// The figure that came with the page (`shell.js`), once painted, is not painted again in its place.
function moved(host) {
  const first = document.querySelector("#seqviz-first .seqviz-chart:has(.main-svg)");
  if (host.chart || !first || !host.closest(first.dataset.place)) return host;
  host.replaceWith(first);
  first.chart.placed();
  return first;
}

// What the page has drawn. While a hand is elsewhere it waits, and comes when that has gone: the page
// does not say it twice.
function take(chart, data) {
  chart.forgoes?.();
  chart.own = data;
  if (data.live) {
    const place = bench(data.live.bench);
    if (place.overtaken(data.live.values)) {
      place.renewed(data.live);
      chart.forgoes = place.afterwards(() => chart.host.isConnected && take(chart, data));
      return;
    }
    place.drawn(data.live, chart.painter(data.live.bench));
  }
  chart.show(data.figure, data.alt);
}

export default function ({ data: bytes, parentElement, setTriggerValue }) {
  const data = unpacked(new TextDecoder().decode(bytes));
  const host = moved(parentElement.querySelector(".seqviz-chart"));
  const chart = (host.chart ??= new Chart(host));
  chart.missing = data.missing;
  host.tell = data.picks ? (point) => setTriggerValue("pick", point) : null;
  take(chart, data);
  return () => setTimeout(() => data.live && bench(data.live.bench).left());
}
