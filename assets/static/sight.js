// Whether a bench is in sight or soon will be: it ends less than `above` heights of the window over
// the upper edge, and begins less than `ahead` below the lower one. In a closed tab it has no place.
export const near = (name, ahead, above = ahead) => {
  const bench = document.querySelector(`.st-key-bench-${name}`);
  if (bench === null || bench.getClientRects().length === 0) return false;
  const { top, bottom } = bench.getBoundingClientRect();
  return bottom > -above * window.innerHeight && top < (1 + ahead) * window.innerHeight;
};
