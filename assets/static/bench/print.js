// Print view of a lesson. All benches are rendered before printing by key or link; the browser's
// own menu leaves no time for that. Figures are redrawn at the width of a sheet in light colors,
// one line with their values replaces the controls, and the URL of the page is at the end.

const TIMEOUT_MS = 60_000; // then whatever there is of the page is printed
const INTERVAL_MS = 100;
const PIXEL_RATIO = 3; // times the screen, for a drawing that is no vector
const PRINT_ONLY = "seqviz-printed";
const CONTROLS = [
  ".seqviz-slider", "[role=radiogroup]", "[role=toolbar]", ".stSelectbox", ".stTextInput",
  ".stCheckbox", ".seqviz-sinusoid .buttons",
].join();

const PENDING = '[class*="st-key-bench-"] :is([class*="st-key-"][class*="-placeholder"], [data-testid="stProgress"])';

const insert = (tag, text, parent, before = null) => {
  const element = document.createElement(tag);
  element.className = PRINT_ONLY;
  element.textContent = text;
  parent.insertBefore(element, before);
  return element;
};

const textOf = (element) => element?.textContent.trim().replace(/\s+/g, " ") ?? "";
// A formula is in the DOM twice, as visible layout and as MathML for screen readers.
const label = (element) => {
  const copy = element?.cloneNode(true);
  copy?.querySelectorAll(".katex-html, .help, button, [data-testid=stTooltipIcon]").forEach((part) => part.remove());
  copy?.querySelectorAll("annotation").forEach((part) => part.remove());
  return textOf(copy);
};

function value(control) {
  const name = label(control.querySelector("label"));
  const input = control.querySelector("input:not([type=range])");
  const rows = [...control.querySelectorAll(".order .handle")];
  if (rows.length) return [label(control.querySelector(".head").firstChild), rows.map(textOf).join(" → ")];
  if (control.matches(".seqviz-slider")) return [name, control.querySelector(".exact, .field").value];
  if (control.matches(".stCheckbox")) return [name, input.checked ? "✓" : "–"];
  if (input && !input.matches("[type=radio]")) return [name, input.value];
  const chosen = [...control.querySelectorAll("[aria-checked=true], [aria-pressed=true], [data-selected]")];
  const chosenText = chosen.map(label).join(", ");
  if (control.matches(".stSelectbox")) return [name, chosenText || textOf(control.querySelector("[data-baseweb=select]"))];
  return [control.getAttribute("aria-label") ?? label(control.parentElement.querySelector(".label")), chosenText];
}

function valuesOf(bench) {
  const controls = [...bench.querySelectorAll(CONTROLS)].filter((control) => control.getClientRects().length > 0);
  return controls.map(value).filter(([, setting]) => setting).map(([name, setting]) => (name ? `${name}: ${setting}` : setting));
}

function prepareBench(bench) {
  const figure = bench.querySelector('[data-testid="stLayoutWrapper"]:has(> [class*="-figure"])') ?? bench.querySelector(".stHorizontalBlock:has(> .stColumn)");
  const values = valuesOf(bench);
  if (figure && values.length) insert("p", values.join(" · "), figure.parentElement, figure); // on one sheet with it
}

function prepareCanvas(canvas) {
  if (!canvas.renderAt) return;
  const image = insert("img", "", canvas.parentElement, canvas);
  image.src = canvas.renderAt(PIXEL_RATIO).toDataURL();
}

const repaint = () =>
  document.querySelectorAll(".seqviz-chart").forEach((host) => host.chart?.recolor());

export function preparePrint() {
  restoreScreen();
  const benches = [...document.querySelectorAll('[class*="st-key-bench-"]')];
  const [red] = getComputedStyle(document.querySelector(".stApp")).backgroundColor.match(/\d+/g);
  document.documentElement.classList.add("seqviz-print");
  document.documentElement.classList.toggle("seqviz-from-dark", red < 128);
  benches.forEach(prepareBench);
  document.querySelectorAll(".seqviz-sinusoid canvas").forEach(prepareCanvas);
  const main = document.querySelector(".stMainBlockContainer > .stVerticalBlock");
  if (main) insert("p", location.href, main).classList.add("address");
  document.documentElement.classList.add("seqviz-print-ready"); // the values have been read off
  repaint();
}

export function restoreScreen() {
  if (!document.documentElement.classList.contains("seqviz-print")) return;
  document.documentElement.classList.remove("seqviz-print", "seqviz-print-ready", "seqviz-from-dark");
  document.querySelectorAll(`.${PRINT_ONLY}`).forEach((element) => element.remove());
  repaint();
}

const isPainted = (host) => host.querySelector(".main-svg") !== null || host.getClientRects().length === 0;
const isComplete = () =>
  document.querySelector(".stApp")?.dataset.testScriptState === "notRunning" &&
  document.querySelector(PENDING) === null &&
  [...document.querySelectorAll(".seqviz-chart")].every(isPainted);

export async function print() {
  const end = performance.now() + TIMEOUT_MS;
  document.querySelectorAll(".st-key-sources details:not([open]) > summary").forEach((summary) => summary.click());
  for (let nComplete = 0; nComplete < 3 && performance.now() < end; nComplete = isComplete() ? nComplete + 1 : 0) {
    window.dispatchEvent(new Event("beforeprint")); // requests all benches, paints all sketches
    await new Promise((resolve) => setTimeout(resolve, INTERVAL_MS));
  }
  window.print();
}

export const isPrintShortcut = ({ key, ctrlKey, metaKey, altKey, shiftKey }) =>
  key.toLowerCase() === "p" && (ctrlKey || metaKey) && !altKey && !shiftKey;
