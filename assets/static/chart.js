// A Plotly chart that is updated in place. Streamlit's own element builds a new chart for each new
// figure: twice the time from slider to picture, and a blink in between.

const SOURCE = "/app/static/plotly.min.js";
const CONFIG = { displayModeBar: false, scrollZoom: false, doubleClick: "reset" };
const PALETTE = "--st-chart-categorical-colors";

let library;

function plotly() {
  library ??= new Promise((resolve, reject) => {
    const script = document.createElement("script");
    script.src = SOURCE;
    script.onload = () => resolve(window.Plotly);
    script.onerror = () => reject(new Error(`cannot load ${SOURCE}`));
    document.head.append(script);
  });
  return library;
}

// Figures name the theme's colors by ten reserved ones, #000001 to #000010 (figures/grammar/style.py).
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
function unpacked(bytes) {
  const text = new TextDecoder().decode(bytes);
  const end = text.indexOf("\n");
  return { ...JSON.parse(text.slice(0, end)), figure: text.slice(end + 1) };
}

export default function ({ data: bytes, parentElement, setTriggerValue }) {
  const data = unpacked(bytes);
  const host = parentElement.querySelector(".seqviz-chart");
  const frame = host.closest('[class*="-figure"]') ?? host.parentElement;
  host.setAttribute("role", "img");
  host.setAttribute("aria-label", data.alt);
  host.tell = data.picks ? (point) => setTriggerValue("pick", point) : null;
  const written = themed(data.figure, host);

  const paint = (Plotly) => {
    const figure = JSON.parse(written); // anew each time: Plotly writes into what it is given
    const { traces, layout, taller } = stacked(figure.data, figure.layout, frame.clientWidth);
    // Streamlit gave the frame's wrapper its height; stacked panels need more of it.
    const height = taller > 1 ? `${taller * layout.height}px` : "";
    Object.assign(frame.parentElement.style, { height, flexBasis: height });
    const size = { width: frame.clientWidth, height: frame.clientHeight };
    if (!size.width || !size.height) return;
    Plotly.react(host, traces, { ...layout, ...size }, CONFIG);
    listen(host);
  };
  if (window.Plotly?.react) paint(window.Plotly);
  else
    plotly().then(paint, () => {
      host.textContent = data.missing;
    });

  host.observer?.disconnect();
  host.observer = new ResizeObserver(() => {
    const { clientWidth: width, clientHeight: height } = frame;
    const drawn = host._fullLayout; // none yet where the chart was in a closed tab
    if (!window.Plotly?.react || !width || !height) return;
    if (drawn?.width !== width || drawn?.height !== height) paint(window.Plotly);
  });
  host.observer.observe(frame);
}
