// Ask for the benches that the reader is about to see. They come near in many ways (scrolling, a
// tab, a chart above that turns out smaller), so their places are read a few times a second, which
// takes some microseconds, until the last one has been asked for.

const LOOK_MS = 150;
const AHEAD = 0.5; // heights of the window below its lower edge
let watching = { host: null, settings: "", stop: () => {} };

export default function ({ data, parentElement, setTriggerValue }) {
  const host = parentElement.host ?? parentElement;
  const settings = JSON.stringify(data);
  if (watching.host === host && watching.settings === settings) return; // nothing new
  watching.stop();
  const pending = new Set(data.pending);
  const asked = [];
  const ask = (names) => {
    if (names.length === 0) return;
    names.forEach((name) => pending.delete(name));
    asked.push(...names);
    setTriggerValue("near", [...asked]); // all so far: of two at once only the later one is heard
    if (pending.size === 0) stop();
  };
  const everything = () => ask([...pending]);
  const wholeLesson = (event) => event.target.closest?.(data.whole) && everything();
  const timer = setInterval(() => {
    if (!host.isConnected) return stop(); // the reader has gone to another page
    ask([...pending].filter((name) => near(name, AHEAD)));
  }, LOOK_MS);
  window.addEventListener("click", wholeLesson, true);
  window.addEventListener("beforeprint", everything);
  const stop = () => {
    clearInterval(timer);
    window.removeEventListener("click", wholeLesson, true);
    window.removeEventListener("beforeprint", everything);
  };
  watching = { host, settings, stop };
}
