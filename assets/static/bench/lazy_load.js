// Ask for the benches that keep a place on the page and that the reader is about to see. They come
// near in many ways (scrolling, a tab, a chart above that turns out smaller, a server that has
// forgotten them), so their places are read a few times a second, which takes some microseconds.

import { notice } from "./progress.js";
import { asksForPaper, dress, print, undress } from "./print.js";
import { near } from "./viewport.js";

const LOOK_MS = 150;
const TOP = 68; // pixels of the header above a bench that a link names (ui/render/css.py)
const AHEAD = 0.5; // heights of the window beyond its edges
const ARRIVAL_MS = 6000; // in which a page that nobody scrolls draws only what is in sight
const AGAIN_MS = 10_000; // after which one that has not come is asked for once more
const NOTICE_MS = 1000;
const STAYS_MS = 4000; // in which what is above the bench that a link names may still arrive
const asked = new Map(); // bench of the lesson in `place` -> when
let place = null;
let settled = 0; // when the page no longer arrives
let stop = () => {};
let noticed = 0;
let followed = ""; // the address of which the bench that it names has been gone to

// Go to that bench, and stay at it while what is above arrives, unless the reader goes elsewhere.
function follow(name) {
  const left = new AbortController();
  const end = performance.now() + STAYS_MS;
  for (const kind of ["wheel", "touchmove", "keydown", "pointerdown"])
    window.addEventListener(kind, () => left.abort(), { capture: true, passive: true, signal: left.signal });
  const timer = setInterval(() => {
    const bench = document.querySelector(`.st-key-bench-${name}`);
    if (left.signal.aborted || performance.now() > end) {
      clearInterval(timer);
      if (!left.signal.aborted && bench && document.activeElement === document.body) {
        bench.tabIndex = -1; // a reader with a keyboard goes on from here
        bench.focus({ preventScroll: true });
      }
      left.abort();
    } else if (bench && Math.abs(bench.getBoundingClientRect().top - TOP) > 2) {
      bench.scrollIntoView({ block: "start" });
    }
  }, LOOK_MS);
}

function followLink() {
  if (followed === location.href) return;
  followed = location.href;
  const name = /#bench-(\w+)$/.exec(location.hash)?.[1];
  if (name) follow(name);
}
followLink();

const waits = (name) =>
  document.querySelector(`.st-key-bench-${name} [class*="-waiting"]`) !== null;
const justAsked = (name) => performance.now() - asked.get(name) < AGAIN_MS;

export default function ({ data, parentElement, setTriggerValue }) {
  stop();
  const host = parentElement.host ?? parentElement;
  if (place !== host) {
    asked.clear();
    settled = performance.now() + ARRIVAL_MS;
    followLink();
  }
  place = host;
  const ask = (names) => {
    const waiting = names.filter(waits);
    if (waiting.every(justAsked)) return;
    const now = performance.now();
    waiting.filter((name) => !justAsked(name)).forEach((name) => asked.set(name, now));
    setTriggerValue("near", waiting); // of two messages at once only the later one is heard
  };
  // Others wait for what it loads, even when it has been passed.
  const above = (name) => (data.leads.includes(name) ? Infinity : AHEAD);
  const everything = () => ask(data.benches);
  // Its button turns while the file of the whole lesson is made, which waits for all benches.
  const making = `${data.whole} [data-testid="stSpinnerIcon"]`;
  const timer = setInterval(() => {
    if (!host.isConnected) return stop(); // the reader has gone to another page
    if (performance.now() - noticed > NOTICE_MS) {
      noticed = performance.now();
      notice(data.lesson);
    }
    if (document.querySelector(making)) return everything();
    const ahead = performance.now() < settled ? 0 : AHEAD;
    ask(data.benches.filter((name) => near(name, ahead, above(name))));
  }, LOOK_MS);
  const scrolled = () => (settled = 0);
  const paper = (event) => {
    if (!(event.type === "click" ? event.target.closest?.('a[href="#print"]') : asksForPaper(event))) return;
    event.preventDefault();
    print(everything);
  };
  const listening = new AbortController();
  const listen = (kind, heard) =>
    window.addEventListener(kind, heard, { capture: true, passive: kind === "scroll", signal: listening.signal });
  listen("scroll", scrolled);
  listen("keydown", paper);
  listen("click", paper);
  listen("beforeprint", ({ isTrusted }) => {
    everything();
    if (isTrusted) dress(); // another only asks for the whole lesson
  });
  listen("afterprint", undress);
  stop = () => {
    clearInterval(timer);
    listening.abort();
  };
}
