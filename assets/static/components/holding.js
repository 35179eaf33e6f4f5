// Whether a finger or the mouse holds the handle of a slider. What only looks through the page waits
// until it is let go: the figure needs each frame.

let held = null;

window.addEventListener("pointerdown", ({ target }) => (held = target.matches?.('input[type="range"]') ? target : null), { capture: true });
for (const kind of ["pointerup", "pointercancel"])
  window.addEventListener(kind, () => (held = null), { capture: true });

export const isHolding = () => held?.isConnected === true;
