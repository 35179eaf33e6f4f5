// Presenter keys: Page Down and Page Up, which a clicker sends, go from bench to bench and after
// the last to the next lesson; left and right move the slider used last.

const NON_TEXT_TYPES = ["range", "checkbox", "radio", "button", "submit", "reset", "file"]; // inputs without a text
const TEXT_FIELDS = `input:not(${NON_TEXT_TYPES.map((type) => `[type="${type}"]`)}), select, textarea, [contenteditable="true"]`;
const OWN_KEYS = '[role="dialog"], [role="listbox"], [role="menu"], .stDataFrame'; // what scrolls or steps by itself
const SCROLLABLE = ':is(.katex-display, table, pre, .seqviz-scrolls)[tabindex="0"]'; // sideways (accessibility.js)
const TAKES_ARROWS = `[type="range"], [type="radio"], [role="radio"], [role="toolbar"] *, [role="slider"], [role="tab"], ${SCROLLABLE}`;
const TOP_TOLERANCE_PX = 16; // within which a bench is at the upper edge
let lastSlider = null; // the slider
let listeners = new AbortController();

const isVisible = (element) => {
  const { top, bottom, height } = element.getBoundingClientRect();
  return element.isConnected && height > 0 && bottom > 0 && top < window.innerHeight;
};

// Return whether the page has changed, in this lesson or to another.
function goToBench(forward) {
  const page = document.querySelector('[data-testid="stMain"]');
  const benches = [...document.querySelectorAll('[class*="st-key-bench-"]')]
    .filter((bench) => bench.getClientRects().length > 0)
    .map((bench) => ({ bench, top: bench.getBoundingClientRect().top }));
  if (benches.length === 0) return false;
  const scrollBefore = page.scrollTop;
  const targets = forward
    ? benches.filter(({ top }) => top > TOP_TOLERANCE_PX)
    : benches.filter(({ top }) => top < 0).reverse();
  for (const { bench } of targets) {
    bench.scrollIntoView({ block: "start" });
    if (page.scrollTop !== scrollBefore) return true;
  }
  if (!forward && scrollBefore > 0) {
    page.scrollTo(0, 0);
    return true;
  }
  const pageButton = document.querySelector(`.st-key-go-${forward ? "next" : "previous"} button`);
  pageButton?.click();
  return Boolean(pageButton);
}

function moveSlider(key, shiftKey) {
  const sliders = [...document.querySelectorAll('input[type="range"]')];
  const slider = lastSlider && isVisible(lastSlider) ? lastSlider : sliders.find(isVisible);
  if (!slider) return false;
  slider.focus({ preventScroll: true });
  const keyEvent = { key, shiftKey, bubbles: true, cancelable: true };
  if (!slider.dispatchEvent(new KeyboardEvent("keydown", keyEvent))) return true;
  slider[key === "ArrowRight" ? "stepUp" : "stepDown"](); // one that leaves its keys to the browser
  slider.dispatchEvent(new Event("input", { bubbles: true }));
  slider.dispatchEvent(new Event("change", { bubbles: true }));
  return true;
}

function onKeyDown(event) {
  const { key, isTrusted, altKey, ctrlKey, metaKey, shiftKey } = event;
  const focused = event.target; // in a frame it is an element of the page there
  if (!isTrusted || altKey || ctrlKey || metaKey || focused.matches(TEXT_FIELDS)) return;
  if (focused.closest(OWN_KEYS) || document.querySelector(".stDialog")) return;
  const isHandled =
    key === "PageDown" || key === "PageUp"
      ? goToBench(key === "PageDown")
      : (key === "ArrowLeft" || key === "ArrowRight") &&
        !focused.matches(TAKES_ARROWS) &&
        moveSlider(key, shiftKey);
  if (!isHandled) return;
  event.preventDefault();
  event.stopPropagation(); // a slider that has the focus would take a page for ten steps
}

export default function () {
  listeners.abort();
  const controller = (listeners = new AbortController());
  const options = { capture: true, signal: controller.signal };
  window.addEventListener("keydown", onKeyDown, options);
  for (const kind of ["pointerdown", "focusin"])
    window.addEventListener(
      kind,
      ({ target }) => {
        if (target.matches?.('input[type="range"]')) lastSlider = target;
      },
      options,
    );
  // Keys pressed in a frame are received only there. The focus is known a little later.
  const enterFrame = () => document.activeElement?.contentWindow?.addEventListener("keydown", onKeyDown, options);
  window.addEventListener("blur", () => setTimeout(enterFrame), options);
  return () => controller.abort();
}
