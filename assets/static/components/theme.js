// Tell the browser the language of the page, and the server when the reader switches between light and dark: a chart whose data have not
// changed keeps the colors it was first painted with, so it has to be sent again.

import { tend } from "./accessibility.js";
import { lendClipboard } from "./copy.js";
import { known } from "./navigation.js";
import { stopTelling, tellParent } from "./iframe_url_sync.js";

const INTERVAL_MS = 400;
let timer;

export default function ({ data, parentElement, setTriggerValue }) {
  document.documentElement.lang = data.lang;
  lendClipboard(data.words);
  known(data.ways);
  const host = parentElement.host ?? parentElement;
  tellParent(() => host.isConnected);
  let told = data.theme;
  clearInterval(timer);
  timer = setInterval(() => {
    if (!host.isConnected) return clearInterval(timer);
    tend(data.words);
    const [red, green, blue] = getComputedStyle(document.querySelector(".stApp"))
      .backgroundColor.match(/\d+/g)
      .map(Number);
    const theme = red + green + blue < 384 ? "dark" : "light";
    if (theme === told) return;
    told = theme;
    setTriggerValue("theme", theme);
  }, INTERVAL_MS);
  return () => {
    clearInterval(timer);
    stopTelling();
  };
}
