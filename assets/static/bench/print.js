// A lesson on paper. All benches are drawn first, where the reader asks for paper by key or link; a browser's
// own menu leaves no time for that. Figures are painted anew at the width of a sheet and in light colors;
// in place of the controls stands one line with their values; at the end, where the page is.

const PATIENCE_MS = 60_000; // then whatever there is of the page is printed
const LOOK_MS = 100;
const SHARP = 3; // times the screen, for a drawing that is no vector
const ADDED = "seqviz-printed";
const CONTROLS = [
  ".seqviz-slider", "[role=radiogroup]", "[role=toolbar]", ".stSelectbox", ".stTextInput",
  ".stCheckbox", ".seqviz-sinusoid .buttons",
].join();

const PARTS = '[data-testid="stTabPanel"]';
const WAITS = '[class*="st-key-bench-"] :is([class*="-waiting"], [data-testid="stProgress"])';

const added = (kind, text, place, before = null) => {
  const element = document.createElement(kind);
  element.className = ADDED;
  element.textContent = text;
  place.insertBefore(element, before);
  return element;
};

const words = (element) => element?.textContent.trim().replace(/\s+/g, " ") ?? "";
// A formula stands there twice, for eyes and for ears.
const label = (element) => {
  const copy = element?.cloneNode(true);
  copy?.querySelectorAll(".katex-html, .help, button, [data-testid=stTooltipIcon]").forEach((part) => part.remove());
  copy?.querySelectorAll("annotation").forEach((part) => part.remove());
  return words(copy);
};

function value(control) {
  const name = label(control.querySelector("label"));
  const input = control.querySelector("input:not([type=range])");
  const rows = [...control.querySelectorAll(".order .handle")];
  if (rows.length) return [label(control.querySelector(".head").firstChild), rows.map(words).join(" → ")];
  if (control.matches(".seqviz-slider")) return [name, control.querySelector(".exact, .field").value];
  if (control.matches(".stCheckbox")) return [name, input.checked ? "✓" : "–"];
  if (input && !input.matches("[type=radio]")) return [name, input.value];
  const chosen = [...control.querySelectorAll("[aria-checked=true], [aria-pressed=true], [data-selected]")];
  const said = chosen.map(label).join(", ");
  if (control.matches(".stSelectbox")) return [name, said || words(control.querySelector("[data-baseweb=select]"))];
  return [control.getAttribute("aria-label") ?? label(control.parentElement.querySelector(".label")), said];
}

function valuesOf(bench) {
  const controls = [...bench.querySelectorAll(CONTROLS)].filter((one) => one.getClientRects().length > 0);
  return controls.map(value).filter(([, set]) => set).map(([name, set]) => (name ? `${name}: ${set}` : set));
}

function dressBench(bench) {
  const row = bench.querySelector(".stHorizontalBlock:has(> .stColumn)") ?? bench.querySelector('[class*="-figure"]');
  const values = valuesOf(bench);
  if (row && values.length) added("p", values.join(" · "), row.parentElement, row);
}

// A part in a closed tab is printed as well, under its name.
function dressPart(panel, at) {
  const tab = panel.closest(".stTabs").querySelectorAll("[role=tab]")[at];
  added("h2", label(tab), panel, panel.firstChild);
}

function dressDrawing(canvas) {
  if (!canvas.enlarged) return;
  const image = added("img", "", canvas.parentElement, canvas);
  image.src = canvas.enlarged(SHARP).toDataURL();
}

const repaint = () =>
  document.querySelectorAll(".seqviz-chart").forEach((host) => host.chart?.recolored());

export function dress() {
  undress();
  const benches = [...document.querySelectorAll('[class*="st-key-bench-"]')];
  const [paper] = getComputedStyle(document.querySelector(".stApp")).backgroundColor.match(/\d+/g);
  document.documentElement.classList.add("seqviz-paper");
  document.documentElement.classList.toggle("seqviz-from-dark", paper < 128);
  document.querySelectorAll(PARTS).forEach(dressPart);
  benches.forEach(dressBench);
  document.querySelectorAll(".seqviz-sinusoid canvas").forEach(dressDrawing);
  const main = document.querySelector(".stMainBlockContainer > .stVerticalBlock");
  if (main) added("p", location.href, main).classList.add("address");
  document.documentElement.classList.add("seqviz-dressed"); // the values have been read off
  repaint();
}

export function undress() {
  if (!document.documentElement.classList.contains("seqviz-paper")) return;
  document.documentElement.classList.remove("seqviz-paper", "seqviz-dressed", "seqviz-from-dark");
  document.querySelectorAll(`.${ADDED}`).forEach((one) => one.remove());
  repaint();
}

const painted = (host) => host.querySelector(".main-svg") !== null || host.getClientRects().length === 0;
const whole = () =>
  document.querySelector(".stApp")?.dataset.testScriptState === "notRunning" &&
  document.querySelector(WAITS) === null &&
  [...document.querySelectorAll(".seqviz-chart")].every(painted);

// ask: for all benches that only keep their place.
export async function print(ask) {
  const end = performance.now() + PATIENCE_MS;
  for (let still = 0; still < 3 && performance.now() < end; still = whole() ? still + 1 : 0) {
    ask();
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }
  window.print();
}

export const asksForPaper = ({ key, ctrlKey, metaKey, altKey, shiftKey }) =>
  key.toLowerCase() === "p" && (ctrlKey || metaKey) && !altKey && !shiftKey;
