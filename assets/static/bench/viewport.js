// Visibility of a bench: in the viewport or near it, at most `above` window heights over its upper
// edge or `ahead` below its lower one. In a closed tab or card a bench has no position.
export const CLOSED_CARD = "details:not([open])";
export const isNear = (name, ahead, above = ahead) => {
  const bench = document.querySelector(`.st-key-bench-${name}`);
  if (bench === null || bench.closest(CLOSED_CARD) || bench.getClientRects().length === 0) return false;
  const { top, bottom } = bench.getBoundingClientRect();
  return bottom > -above * window.innerHeight && top < (1 + ahead) * window.innerHeight;
};

const HOLD_MS = 4000; // in which what is above a bench may still arrive
const LOOK_MS = 150;
let held = new AbortController();

// Scroll to a bench, open its card, and stay at it while content above loads, unless the reader scrolls
// or the page goes to another bench.
export function goToBench(name) {
  held.abort();
  const interrupted = (held = new AbortController());
  const end = performance.now() + HOLD_MS;
  for (const kind of ["wheel", "touchmove", "keydown", "pointerdown"])
    window.addEventListener(kind, () => interrupted.abort(), { capture: true, passive: true, signal: interrupted.signal });
  const hold = () => {
    const bench = document.querySelector(`.st-key-bench-${name}`);
    if (interrupted.signal.aborted || performance.now() > end) {
      clearInterval(timer);
      if (!interrupted.signal.aborted && bench && document.activeElement === document.body) {
        bench.tabIndex = -1; // a reader with a keyboard goes on from here
        bench.focus({ preventScroll: true });
      }
      interrupted.abort();
    } else if (bench?.closest(CLOSED_CARD)) {
      bench.closest(CLOSED_CARD).querySelector("summary").click();
    } else if (bench && Math.abs(bench.getBoundingClientRect().top - parseFloat(getComputedStyle(bench).scrollMarginTop)) > 2) {
      bench.scrollIntoView({ block: "start" });
    }
  };
  const timer = setInterval(hold, LOOK_MS);
  hold();
}

// Scroll to an element; the page no longer stays at a bench.
export function goTo(element, options) {
  held.abort();
  element?.scrollIntoView(options);
}

// The figure with a chart of the bench that an element belongs to; null where there is none.
export const figureOf = (element) =>
  element?.closest('[class*="st-key-bench-"]')?.querySelector('[class*="-figure"]:has(.seqviz-chart)') ?? null;

// Bring the figure of a bench into sight: the question above it may fill the window.
export function showFigure(bench) {
  if (document.querySelector(".seqviz-presenter")) return; // a slide fills the window
  goTo(figureOf(bench) ?? bench, { block: "center", behavior: "smooth" });
}

export const PHONE = window.matchMedia("(max-width: 640px)"); // as in ui/render/css.py
export const TOUCH = window.matchMedia("(pointer: coarse)");
const SIDEWAYS = window.matchMedia("(max-height: 500px) and (pointer: coarse)");
const HEADER_PX = 60; // pixels that Streamlit's header covers
const MAX_PINNED_SHARE = 0.45; // of the window, for a figure that stays in sight on a phone

// On a phone a figure of this height sticks below the header and takes at most its share of the window;
// of a taller one the lower end stays. `box` is the sticky element.
export function pinFigure(box, height) {
  box.toggleAttribute("data-seqviz-pinned", true); // for ui/render/css.py
  if (!PHONE.matches && !SIDEWAYS.matches) return;
  const available = PHONE.matches ? MAX_PINNED_SHARE * window.innerHeight : window.innerHeight - HEADER_PX;
  const top = Math.min(HEADER_PX, available + HEADER_PX - height);
  box.style.setProperty("--seqviz-top", `${top}px`);
  const app = document.querySelector(".stApp");
  if (app) box.style.setProperty("--seqviz-background", getComputedStyle(app).backgroundColor);
}
