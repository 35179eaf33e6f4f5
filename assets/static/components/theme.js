// Set the language of the document, and report a switch of the theme to the server: a chart whose
// data have not changed keeps the colors of its first paint, so it must be sent again.

import { updateAccessibility } from "./accessibility.js";
import { installClipboard } from "./copy.js";
import { isHolding } from "./holding.js";
import { setRoutes } from "./navigation.js";
import { stopSync, startSync } from "./iframe_url_sync.js";

const INTERVAL_MS = 400;
const EVERY = 5; // intervals, after which a page that has not changed is looked through again
let timer;
let isChanged = true;
new MutationObserver(() => (isChanged = true)).observe(document.body, { childList: true, subtree: true });

export default function ({ data, parentElement, setTriggerValue }) {
  document.documentElement.lang = data.lang;
  installClipboard(data.words);
  setRoutes(data.ways);
  const host = parentElement.host ?? parentElement;
  startSync(() => host.isConnected);
  let reported = data.theme;
  let ticks = 0;
  clearInterval(timer);
  timer = setInterval(() => {
    if (!host.isConnected) return clearInterval(timer);
    if (isHolding()) return;
    ticks += 1;
    if (isChanged || ticks % EVERY === 0) {
      isChanged = false;
      updateAccessibility(data.words);
    }
    const [red, green, blue] = getComputedStyle(document.querySelector(".stApp"))
      .backgroundColor.match(/\d+/g)
      .map(Number);
    const theme = red + green + blue < 384 ? "dark" : "light";
    if (theme === reported) return;
    reported = theme;
    setTriggerValue("theme", theme);
  }, INTERVAL_MS);
  return () => {
    clearInterval(timer);
    stopSync();
  };
}
