// Whether a bench is in sight or soon will be: it ends less than `above` heights of the window over
// the upper edge, and begins less than `ahead` below the lower one. In a closed tab it has no place.
export const near = (name, ahead, above = ahead) => {
  const bench = document.querySelector(`.st-key-bench-${name}`);
  if (bench === null || bench.getClientRects().length === 0) return false;
  const { top, bottom } = bench.getBoundingClientRect();
  return bottom > -above * window.innerHeight && top < (1 + ahead) * window.innerHeight;
};

const PHONE = window.matchMedia("(max-width: 640px)"); // as in ui/render/css.py
const SIDEWAYS = window.matchMedia("(max-height: 500px) and (pointer: coarse)");
const HEADER = 60; // pixels that Streamlit's header covers
const SHARE = 0.45; // of the window, for a figure that stays in sight on a phone

// On a phone a figure of this height sticks below the header, and takes at most its share of the
// window: of a taller one the lower end stays. `box` is what sticks.
export function stay(box, height) {
  if (!PHONE.matches && !SIDEWAYS.matches) return;
  const room = PHONE.matches ? SHARE * window.innerHeight : window.innerHeight - HEADER;
  const top = Math.min(HEADER, room + HEADER - height);
  box.style.setProperty("--seqviz-top", `${top}px`);
  const app = document.querySelector(".stApp");
  if (app) box.style.setProperty("--seqviz-paper", getComputedStyle(app).backgroundColor);
}
