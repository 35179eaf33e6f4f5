// Keys of the lecture hall: Page Down and Page Up, which a clicker sends, go from bench to bench and
// beyond the last to the next lesson; left and right move the slider that was used last.

const PRESSED = ["range", "checkbox", "radio", "button", "submit", "reset", "file"]; // inputs without a text
const TYPING = `input:not(${PRESSED.map((type) => `[type="${type}"]`)}), select, textarea, [contenteditable="true"]`;
const INSIDE = '[role="dialog"], [role="listbox"], [role="menu"], .stDataFrame'; // what scrolls or steps by itself
const SCROLLS = ':is(.katex-display, table, pre, .seqviz-scrolls)[tabindex="0"]'; // sideways (accessibility.js)
const TAKES_ARROWS = `[type="range"], [type="radio"], [role="radio"], [role="toolbar"] *, [role="slider"], [role="tab"], ${SCROLLS}`;
const NEAR = 16; // pixels within which a bench stands at the upper edge
let used = null; // the slider
let listening = new AbortController();

const inSight = (element) => {
  const { top, bottom, height } = element.getBoundingClientRect();
  return element.isConnected && height > 0 && bottom > 0 && top < window.innerHeight;
};

// Whether the page is now elsewhere, in this lesson or another.
function walk(forward) {
  const page = document.querySelector('[data-testid="stMain"]');
  const benches = [...document.querySelectorAll('[class*="st-key-bench-"]')]
    .filter((bench) => bench.getClientRects().length > 0)
    .map((bench) => ({ bench, top: bench.getBoundingClientRect().top }));
  if (benches.length === 0) return false;
  const before = page.scrollTop;
  const ahead = forward
    ? benches.filter(({ top }) => top > NEAR)
    : benches.filter(({ top }) => top < 0).reverse();
  for (const { bench } of ahead) {
    bench.scrollIntoView({ block: "start" });
    if (page.scrollTop !== before) return true;
  }
  if (!forward && before > 0) {
    page.scrollTo(0, 0);
    return true;
  }
  const door = document.querySelector(`.st-key-go-${forward ? "next" : "previous"} button`);
  door?.click();
  return Boolean(door);
}

function slide(key, shiftKey) {
  const sliders = [...document.querySelectorAll('input[type="range"]')];
  const slider = used && inSight(used) ? used : sliders.find(inSight);
  if (!slider) return false;
  slider.focus({ preventScroll: true });
  const pressed = { key, shiftKey, bubbles: true, cancelable: true };
  if (!slider.dispatchEvent(new KeyboardEvent("keydown", pressed))) return true;
  slider[key === "ArrowRight" ? "stepUp" : "stepDown"](); // one that leaves its keys to the browser
  slider.dispatchEvent(new Event("input", { bubbles: true }));
  slider.dispatchEvent(new Event("change", { bubbles: true }));
  return true;
}

function pressed(event) {
  const { key, isTrusted, altKey, ctrlKey, metaKey, shiftKey } = event;
  const focused = event.target; // in a frame it is an element of the page there
  if (!isTrusted || altKey || ctrlKey || metaKey || focused.matches(TYPING)) return;
  if (focused.closest(INSIDE) || document.querySelector(".stDialog")) return;
  const taken =
    key === "PageDown" || key === "PageUp"
      ? walk(key === "PageDown")
      : (key === "ArrowLeft" || key === "ArrowRight") &&
        !focused.matches(TAKES_ARROWS) &&
        slide(key, shiftKey);
  if (!taken) return;
  event.preventDefault();
  event.stopPropagation(); // a slider that has the focus would take a page for ten steps
}

export default function () {
  listening.abort();
  const mine = (listening = new AbortController());
  const options = { capture: true, signal: mine.signal };
  window.addEventListener("keydown", pressed, options);
  for (const kind of ["pointerdown", "focusin"])
    window.addEventListener(
      kind,
      ({ target }) => {
        if (target.matches?.('input[type="range"]')) used = target;
      },
      options,
    );
  // Keys that are pressed in a frame are heard only there. Who has the focus is known a little later.
  const enterFrame = () => document.activeElement?.contentWindow?.addEventListener("keydown", pressed, options);
  window.addEventListener("blur", () => setTimeout(enterFrame), options);
  return () => mine.abort();
}
