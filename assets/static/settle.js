// Tell the server when the settings of a bench have come to rest, so that the benches which build
// on it are drawn after the hand has left the slider and not under it.

const REST_MS = 250;
const known = new Map(); // bench -> { settings: last told, timer }

export default function ({ data, setTriggerValue }) {
  const bench = known.get(data.bench) ?? { settings: data.settings };
  known.set(data.bench, bench);
  clearTimeout(bench.timer);
  if (bench.settings === data.settings) return;
  bench.timer = setTimeout(() => {
    bench.settings = data.settings;
    setTriggerValue("settled", data.settings);
  }, REST_MS);
}
