// Whether a bench is in sight, soon will be, or has been passed: its upper edge lies less than
// `ahead` heights of the window below the lower one. A bench in a closed tab has no place.
const near = (name, ahead) => {
  const bench = document.querySelector(`.st-key-bench-${name}`);
  return (
    bench !== null &&
    bench.getClientRects().length > 0 &&
    bench.getBoundingClientRect().top < (1 + ahead) * window.innerHeight
  );
};
