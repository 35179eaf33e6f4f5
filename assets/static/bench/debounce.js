// Debounce: when the settings of a bench have not changed for 250 ms, request its dependent
// benches, each only when it is near the viewport.

import { isNear } from "./viewport.js";

const DEBOUNCE_MS = 250;
const SCROLL_MS = 100;
const MARGIN_WINDOWS = 0.25; // heights of the window beyond its edges
const benches = new Map(); // bench -> { settings, stale, host, trigger, timer }

const triggerVisible = (bench) => {
  if (!bench.host.isConnected) bench.stale.clear(); // the reader has gone to another page
  const visible = [...bench.stale].filter((name) => isNear(name, MARGIN_WINDOWS));
  if (visible.length === 0) return;
  visible.forEach((name) => bench.stale.delete(name));
  bench.trigger("commit", visible);
};

const wait = (bench, delayMs) => {
  clearTimeout(bench.timer);
  bench.timer = setTimeout(() => triggerVisible(bench), delayMs);
};

// The page scrolls in an inner element, whose events are received in the capture phase.
for (const event of ["scroll", "resize"]) {
  window.addEventListener(
    event,
    () => benches.forEach((bench) => bench.stale.size > 0 && wait(bench, SCROLL_MS)),
    { capture: true, passive: true },
  );
}

export default function ({ data, parentElement, setTriggerValue }) {
  const bench = benches.get(data.bench) ?? { settings: data.settings, stale: new Set() };
  benches.set(data.bench, bench);
  bench.host = parentElement;
  bench.trigger = setTriggerValue;
  if (bench.settings === data.settings) return;
  bench.settings = data.settings;
  bench.stale = new Set(data.followers);
  wait(bench, DEBOUNCE_MS);
}
