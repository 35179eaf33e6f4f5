// Paint the figure that came with the page (`seqviz/ui/prerender/shell.py`) and show it until the
// page's own stands in its place, or says why it does not. Streamlit's page is out of sight till then:
// what it builds meanwhile would be seen jumping.

import { Chart } from "../bench/chart.js";

const PAINTS_MS = 3000; // after the page has run: then whatever there is of it is shown
const STILL = 8; // frames
const RUN = '.stApp[data-test-script-state="notRunning"] .st-key-masthead';
const UNMADE = '#root [data-testid="stSkeleton"]';
const SAID = '#root :is([data-testid="stException"], [data-testid="stAlert"], [role="dialog"])';
const first = document.getElementById("seqviz-first");
const { place, stands, figures } = JSON.parse(document.getElementById("seqviz-first-figure").textContent);

// Where the page's own figure stands, when the page has run and the scripts of its widgets are there;
// "" before. What is above may still be on its way.
function standing(run) {
  const own = run && !document.querySelector(UNMADE) && document.querySelector(stands);
  if (!own) return "";
  const { top, left, width, height } = own.getBoundingClientRect();
  return [top, left, width, height].join();
}

function show() {
  const { alt, figure } = (first.classList.contains("dark") && figures.dark) || figures.light || {};
  if (figure) {
    const host = first.querySelector(".seqviz-chart");
    host.dataset.place = place;
    host.chart = new Chart(host);
    host.chart.show(figure, alt);
  }
  let before = "", frames = 0, end = Infinity;
  const look = () => {
    const run = document.querySelector(RUN) !== null;
    if (run) end = Math.min(end, performance.now() + PAINTS_MS);
    const now = standing(run);
    frames = now !== "" && now === before ? frames + 1 : 0;
    before = now;
    const wait = first.isConnected && frames < STILL && performance.now() < end && !document.querySelector(SAID);
    if (wait) return requestAnimationFrame(look);
    first.remove(); // and with it the rule that hides the page
  };
  look();
}

try {
  show();
} catch {
  first.remove();
}
