// Paint the prerendered figure (`seqviz/ui/prerender/shell.py`) and show the shell until the page's
// own figure or an error message is rendered. Streamlit's page is hidden until then, because its
// layout jumps while it loads.

import { Chart } from "../bench/chart.js";

const TIMEOUT_MS = 3000; // after the page has run: then whatever there is of it is shown
const STABLE_FRAMES = 8; // frames
const PAGE_RUN = '.stApp[data-test-script-state="notRunning"] .st-key-masthead';
const SKELETON = '#root [data-testid="stSkeleton"]';
const MESSAGE = '#root :is([data-testid="stException"], [data-testid="stAlert"], [role="dialog"])';
const shell = document.getElementById("seqviz-shell");
const { bench_selector: benchSelector, figure_selector: figureSelector, figures } = JSON.parse(document.getElementById("seqviz-shell-figure").textContent);
const emptyControl = `${benchSelector ?? "#root"} .seqviz-slider:empty`; // its script is on its way

// Position of the page's own figure, once the page has run, its widgets' scripts are loaded and the
// bench has its controls; "" before. Elements above may still be loading.
function figurePosition(hasRun) {
  const isComplete = hasRun && !document.querySelector(SKELETON) && !document.querySelector(emptyControl);
  const element = isComplete && document.querySelector(figureSelector);
  if (!element) return "";
  const { top, left, width, height } = element.getBoundingClientRect();
  return [top, left, width, height].join();
}

function show() {
  const { alt, figure } = (shell.classList.contains("dark") && figures.dark) || figures.light || {};
  if (figure) {
    const host = shell.querySelector(".seqviz-chart");
    host.dataset.bench = benchSelector;
    host.chart = new Chart(host);
    host.chart.show(figure, alt);
  }
  let lastPosition = "", frames = 0, end = Infinity;
  const check = () => {
    const hasRun = document.querySelector(PAGE_RUN) !== null;
    if (hasRun) end = Math.min(end, performance.now() + TIMEOUT_MS);
    const position = figurePosition(hasRun);
    frames = position !== "" && position === lastPosition ? frames + 1 : 0;
    lastPosition = position;
    const isWaiting = shell.isConnected && frames < STABLE_FRAMES && performance.now() < end && !document.querySelector(MESSAGE);
    if (isWaiting) return requestAnimationFrame(check);
    shell.remove(); // and with it the rule that hides the page
  };
  check();
}

try {
  show();
} catch {
  shell.remove();
}
