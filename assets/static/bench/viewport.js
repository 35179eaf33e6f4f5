// Visibility of a bench: in the viewport or near it, at most `above` window heights over its upper
// edge or `ahead` below its lower one. In a closed tab or card a bench has no position.
export const CLOSED_CARD = "details:not([open])";
export const isNear = (name, ahead, above = ahead) => {
  const bench = document.querySelector(`.st-key-bench-${name}`);
  if (bench === null || bench.closest(CLOSED_CARD) || bench.getClientRects().length === 0) return false;
  const { top, bottom } = bench.getBoundingClientRect();
  return bottom > -above * window.innerHeight && top < (1 + ahead) * window.innerHeight;
};

// Bring the figure of a bench into sight: the question above it may fill the window.
export function showFigure(bench) {
  const figure = bench?.querySelector('[class*="-figure"]') ?? bench;
  figure?.scrollIntoView({ block: "center", behavior: "smooth" });
}

export const PHONE = window.matchMedia("(max-width: 640px)"); // as in ui/render/css.py
const SIDEWAYS = window.matchMedia("(max-height: 500px) and (pointer: coarse)");
const HEADER_PX = 60; // pixels that Streamlit's header covers
const MAX_PINNED_SHARE = 0.45; // of the window, for a figure that stays in sight on a phone

// On a phone a figure of this height sticks below the header and takes at most its share of the window;
// of a taller one the lower end stays. `box` is the sticky element.
export function pinFigure(box, height) {
  if (!PHONE.matches && !SIDEWAYS.matches) return;
  const available = PHONE.matches ? MAX_PINNED_SHARE * window.innerHeight : window.innerHeight - HEADER_PX;
  const top = Math.min(HEADER_PX, available + HEADER_PX - height);
  box.style.setProperty("--seqviz-top", `${top}px`);
  const app = document.querySelector(".stApp");
  if (app) box.style.setProperty("--seqviz-background", getComputedStyle(app).backgroundColor);
}
