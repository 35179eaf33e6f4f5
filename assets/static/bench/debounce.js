// When the settings of a bench have come to rest, ask for the benches that build on it: after the
// hand has left the slider and not under it, and each only when the reader is about to see it.

import { near } from "./viewport.js";

const REST_MS = 250;
const SCROLL_MS = 100;
const AHEAD = 0.25; // heights of the window beyond its edges
const known = new Map(); // bench -> { settings, stale, place, trigger, timer }

const look = (bench) => {
  if (!bench.place.isConnected) bench.stale.clear(); // the reader has gone to another page
  const due = [...bench.stale].filter((name) => near(name, AHEAD));
  if (due.length === 0) return;
  due.forEach((name) => bench.stale.delete(name));
  bench.trigger("settled", due);
};

const wait = (bench, milliseconds) => {
  clearTimeout(bench.timer);
  bench.timer = setTimeout(() => look(bench), milliseconds);
};

// The page scrolls in a box of its own, whose events can be caught on their way down.
for (const event of ["scroll", "resize"]) {
  window.addEventListener(
    event,
    () => known.forEach((bench) => bench.stale.size > 0 && wait(bench, SCROLL_MS)),
    { capture: true, passive: true },
  );
}

export default function ({ data, parentElement, setTriggerValue }) {
  const bench = known.get(data.bench) ?? { settings: data.settings, stale: new Set() };
  known.set(data.bench, bench);
  bench.place = parentElement;
  bench.trigger = setTriggerValue;
  if (bench.settings === data.settings) return;
  bench.settings = data.settings;
  bench.stale = new Set(data.followers);
  wait(bench, REST_MS);
}
