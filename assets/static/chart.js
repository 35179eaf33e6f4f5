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

// Figures name the theme's colors by ten reserved ones, #000001 to #000010 (figures/style.py).
function themed(figure, host) {
  const colors = getComputedStyle(host).getPropertyValue(PALETTE).split(",");
  return colors.reduce(
    (text, color, slot) => text.replaceAll(`#${String(slot + 1).padStart(6, "0")}`, color.trim()),
    figure,
  );
}

export default function ({ data, parentElement }) {
  const host = parentElement.querySelector(".seqviz-chart");
  const frame = host.closest('[class*="-figure"]') ?? host.parentElement;
  host.setAttribute("role", "img");
  host.setAttribute("aria-label", data.alt);
  const { data: traces, layout } = JSON.parse(themed(data.figure, host));

  const paint = (Plotly) => {
    const size = { width: frame.clientWidth, height: frame.clientHeight };
    if (size.width && size.height) Plotly.react(host, traces, { ...layout, ...size }, CONFIG);
  };
  if (window.Plotly?.react) paint(window.Plotly);
  else
    plotly().then(paint, () => {
      host.textContent = data.missing;
    });

  host.observer?.disconnect();
  host.observer = new ResizeObserver(() => {
    const { clientWidth: width, clientHeight: height } = frame;
    const drawn = host._fullLayout;
    if (drawn && width && height && (drawn.width !== width || drawn.height !== height))
      window.Plotly.relayout(host, { width, height });
  });
  host.observer.observe(frame);
}
