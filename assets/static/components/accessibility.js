// Accessibility: labels that Streamlit and Plotly lack are added after each render, for screen
// readers, and a key opens the data of the focused figure.

const FIGURES = '[class*="-figure"] :is(.seqviz-chart, canvas[role="img"])';
const SCROLLABLE = ".katex-display, .stMarkdown table, .stCode pre, .seqviz-scrolls";
const SHORTCUTS = "D Enter";
let words = {};

const keyOf = (element, suffix) =>
  [...element.classList].find((name) => name.startsWith("st-key-") && name.endsWith(suffix))?.slice(0, -suffix.length);

const dataButton = (figure) => {
  const bench = keyOf(figure.closest('[class*="-figure"]'), "-figure");
  return bench && document.querySelector(`.${bench}-data button`);
};

// The sentences under a figure describe it; they were added or replaced.
function describe(figure) {
  const bench = keyOf(figure.closest('[class*="-figure"]'), "-figure");
  const place = figure.closest('[class*="st-key-bench-"]') ?? document;
  const notes = [...place.querySelectorAll(`[class*="${bench}-notes-"]`)].filter((note) => !note.closest(".seqviz-overlay"));
  notes.forEach((note, index) => (note.id ||= `${bench.replace("st-key-", "note-")}-${index + 1}`));
  const ids = notes.map(({ id }) => id).join(" ");
  if (ids) set(figure, "aria-describedby", ids);
}

function set(element, name, value) {
  if (element.getAttribute(name) !== value) element.setAttribute(name, value);
}

// Make an image focusable, for its key and its description.
function makeFiguresFocusable() {
  for (const figure of document.querySelectorAll(FIGURES)) {
    if (!dataButton(figure)) continue;
    set(figure, "tabindex", "0");
    set(figure, "aria-keyshortcuts", SHORTCUTS);
    set(figure, "data-keys", words.data ?? "");
    describe(figure);
  }
}

// Content wider than its box is focusable, so that the arrow keys scroll it.
function makeScrollableFocusable() {
  for (const box of document.querySelectorAll(SCROLLABLE)) {
    const overflows = box.scrollWidth > box.clientWidth + 1 && getComputedStyle(box).overflowX !== "visible";
    if (overflows) set(box, "tabindex", "0");
    else box.removeAttribute("tabindex");
  }
}

// A bench is a group named by its heading: "Data" occurs once in each.
function nameBenches() {
  for (const bench of document.querySelectorAll('[class*="st-key-bench-"]:not([aria-labelledby])')) {
    const title = bench.querySelector("h2[id]");
    if (!title) continue;
    set(bench, "role", "group");
    set(bench, "aria-labelledby", title.id);
  }
}

// In a narrow window Streamlit's page list contains sections, with the items inside. An icon's text is its
// name in a font ("bolt icon"); Plotly measures text in a hidden image.
const REPAIRS = [
  ['[data-testid="stSidebarNavItems"] > div', "role", "listitem"],
  ['[data-testid="stSidebarNavItems"] > div > li', "role", "none"],
  ['[data-testid="stMarkdownContainer"] [role="img"][aria-label$=" icon"]', "aria-hidden", "true"],
  ["#js-plotly-tester", "aria-hidden", "true"],
];
function repairStreamlit() {
  for (const [selector, name, value] of REPAIRS)
    document.querySelectorAll(selector).forEach((element) => set(element, name, value));
}

function onKeyDown(event) {
  const { key, altKey, ctrlKey, metaKey, shiftKey, target } = event;
  // The table uses this key for its cells, and a panel that contains it would not close.
  if (key === "Escape" && target.matches?.(".stDataFrame canvas"))
    target.closest('[role="dialog"]')?.querySelector("button")?.click();
  if (altKey || ctrlKey || metaKey || shiftKey || !["d", "D", "Enter"].includes(key)) return;
  if (!target.matches?.(FIGURES)) return;
  const button = dataButton(target);
  if (!button) return;
  event.preventDefault();
  button.click();
}

export function updateAccessibility(newWords) {
  words = newWords;
  makeFiguresFocusable();
  makeScrollableFocusable();
  nameBenches();
  repairStreamlit();
}

window.addEventListener("keydown", onKeyDown, { capture: true });
