// Lazy loading: request benches that are placeholders near the viewport. They come near in many
// ways (scrolling, a tab, a smaller chart above, a restarted server), so their positions are polled
// a few times per second, which takes some microseconds.

import { isHolding } from "../components/holding.js";
import { Chapters } from "./chapters.js";
import { read, recordVisible } from "./progress.js";
import { isPrintShortcut, preparePrint, print, restoreScreen } from "./print.js";
import { updateResets } from "./reset.js";
import { goToBench, isNear, showFigure } from "./viewport.js";

const INTERVAL_MS = 150;
const MARGIN_WINDOWS = 0.5; // in window heights
const ARRIVAL_MS = 6000; // in which a page that nobody scrolls draws only what is in sight
const RETRY_MS = 10_000; // after which one that has not come is asked for once more
const PROGRESS_MS = 1000;
const requestedAt = new Map(); // bench of the lesson -> when
let currentHost = null;
let arrivesUntil = 0; // when the page no longer arrives
let stop = () => {};
let chapters = null;
let progressAt = 0;
let anchorOf = ""; // the address of which the bench that it names has been gone to

function scrollToAnchor() {
  if (anchorOf === location.href) return;
  anchorOf = location.href;
  const name = /#bench-(\w+)$/.exec(location.hash)?.[1];
  if (name) goToBench(name);
}
scrollToAnchor();

// A link to a bench of this page, such as that of a part of a map, opens its card.
document.addEventListener("click", (event) => {
  const name = /^#bench-(\w+)$/.exec(event.target.closest?.("a")?.getAttribute("href") ?? "")?.[1];
  if (!name || event.defaultPrevented || event.ctrlKey || event.metaKey) return;
  event.preventDefault();
  goToBench(name);
});

// The button below an answered question sets the figure to the answer.
document.addEventListener("click", ({ target }) => {
  if (target.closest?.('[class*="-predict-"][class*="-show"] button')) showFigure(target.closest('[class*="st-key-bench-"]'));
});

function closeChapters() {
  chapters?.close();
  chapters = null;
}

const isPlaceholder = (name) =>
  document.querySelector(`.st-key-bench-${name} [class*="st-key-"][class*="-placeholder"]`) !== null;
const isRequested = (name) => performance.now() - requestedAt.get(name) < RETRY_MS;

export default function ({ data, parentElement, setTriggerValue }) {
  stop();
  const host = parentElement.host ?? parentElement;
  if (currentHost !== host) {
    closeChapters();
    requestedAt.clear();
    arrivesUntil = performance.now() + ARRIVAL_MS;
    scrollToAnchor();
  }
  currentHost = host;
  // Predictions answered in an earlier visit: their benches show their results.
  const done = new Set(read()[data.lesson]);
  const answered = data.predictions.filter((key) => done.has(key.split(".").slice(1).join("-")));
  if (answered.length) setTriggerValue("answered", answered);
  const request = (names) => {
    const placeholders = names.filter(isPlaceholder);
    if (placeholders.every(isRequested)) return;
    const now = performance.now();
    placeholders.filter((name) => !isRequested(name)).forEach((name) => requestedAt.set(name, now));
    setTriggerValue("visible", placeholders); // of two messages at once only the later one is heard
  };
  // A bench with dependents is loaded even after the reader has passed it.
  const marginAbove = (name) => (data.leads.includes(name) ? Infinity : MARGIN_WINDOWS);
  const requestAll = () => request(data.benches);
  if (data.chapters.length > 1) {
    chapters ??= new Chapters(host, goToBench);
    chapters.set(data.chapters, data.words);
  }
  // The button shows a spinner while the notebook is created, which waits for all benches.
  const exportSpinner = `${data.whole} [data-testid="stSpinnerIcon"]`;
  const timer = setInterval(() => {
    if (!host.isConnected) { // the reader has gone to another page
      closeChapters();
      return stop();
    }
    if (isHolding()) return;
    updateResets();
    if (performance.now() - progressAt > PROGRESS_MS) {
      progressAt = performance.now();
      recordVisible(data.lesson);
      chapters?.update(read()[data.lesson] ?? []);
    }
    chapters?.locate();
    if (document.querySelector(exportSpinner)) return requestAll();
    const marginBelow = performance.now() < arrivesUntil ? 0 : MARGIN_WINDOWS;
    request(data.benches.filter((name) => isNear(name, marginBelow, marginAbove(name))));
  }, INTERVAL_MS);
  const onScroll = () => (arrivesUntil = 0);
  const onPrintRequest = (event) => {
    if (!(event.type === "click" ? event.target.closest?.('a[href="#print"]') : isPrintShortcut(event))) return;
    event.preventDefault();
    print();
  };
  const listeners = new AbortController();
  const listen = (kind, handler) =>
    window.addEventListener(kind, handler, { capture: true, passive: kind === "scroll", signal: listeners.signal });
  listen("scroll", onScroll);
  listen("keydown", onPrintRequest);
  listen("click", onPrintRequest);
  listen("beforeprint", ({ isTrusted }) => {
    requestAll();
    if (isTrusted) preparePrint(); // another only asks for the whole lesson
  });
  listen("afterprint", restoreScreen);
  stop = () => {
    clearInterval(timer);
    listeners.abort();
  };
}
