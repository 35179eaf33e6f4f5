// Reset buttons, which say how many settings of their bench differ from the defaults, and Ctrl+Z over
// the moves. The address has every setting that differs, and a step of the history for each move.

const KEY = /\bst-key-(\w+)-(\w+)-restore\b/;
const TYPING = 'input:not([type="range"], [type="checkbox"], [type="radio"]), textarea, [contenteditable="true"]';
let moves = 0; // in this lesson, since it was opened

// No event tells of a new step of the history, and two of them may come between two looks at it.
const { pushState } = history;
history.pushState = (...args) => {
  const { pathname } = location;
  pushState.apply(history, args);
  moves = location.pathname === pathname ? moves + 1 : 0;
};

const LOOK_MS = 1000; // until the page is looked through again at the same address: benches come and go
let lookedAt = -Infinity;
let address = null;

export function updateResets() {
  const now = performance.now();
  if (location.search === address && now - lookedAt < LOOK_MS) return;
  address = location.search;
  lookedAt = now;
  const steps = new Set(Array.from(document.querySelectorAll(".seqviz-steps"), ({ dataset }) => dataset.key));
  const isSetting = (name) => !steps.has(name) && !/\.(pin|defaults)$/.test(name);
  const names = [...new URLSearchParams(location.search).keys()].filter(isSetting);
  for (const element of document.querySelectorAll('[class*="-restore"]')) {
    const [, lesson, bench] = KEY.exec(element.className) ?? [];
    const count = lesson ? names.filter((name) => name.startsWith(`${lesson}.${bench}.`)).length : 0;
    if (String(count) !== (element.dataset.count ?? "0")) {
      element.style.setProperty("--seqviz-count", `"${count}"`); // for the label of the button
      if (count) element.dataset.count = count;
      else delete element.dataset.count;
    }
  }
}

window.addEventListener("popstate", () => (moves = Math.max(0, moves - 1)));
window.addEventListener("keydown", (event) => {
  const isUndo = (event.ctrlKey || event.metaKey) && !event.shiftKey && event.key.toLowerCase() === "z";
  if (!isUndo || moves === 0 || event.target.closest?.(TYPING)) return;
  event.preventDefault();
  history.back();
});
