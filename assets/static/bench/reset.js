// Reset buttons, which say how many settings of their bench differ from the defaults, and Ctrl+Z over
// the moves. The address has every setting that differs, and a step of the history for each move.

const KEY = /\bst-key-(\w+)-(\w+)-restore\b/;
const TYPING = 'input:not([type="range"], [type="checkbox"], [type="radio"]), textarea, [contenteditable="true"]';
let address = location.href;
let moves = 0; // in this lesson, since it was opened

export function updateResets() {
  if (location.href !== address) {
    moves = new URL(address).pathname === location.pathname ? moves + 1 : 0;
    address = location.href;
  }
  const steps = new Set(Array.from(document.querySelectorAll(".seqviz-steps"), ({ dataset }) => dataset.key));
  const isSetting = (name) => !steps.has(name) && !name.endsWith(".pin");
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

window.addEventListener("popstate", () => {
  moves = Math.max(0, moves - 1);
  address = location.href;
});
window.addEventListener("keydown", (event) => {
  const isUndo = (event.ctrlKey || event.metaKey) && !event.shiftKey && event.key.toLowerCase() === "z";
  if (!isUndo || moves === 0 || event.target.closest?.(TYPING)) return;
  event.preventDefault();
  history.back();
});
