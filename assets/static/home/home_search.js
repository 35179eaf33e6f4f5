// The search of the home page, and what has been done on this device, on the cards of the lessons.

import { erase, read } from "../bench/progress.js";
import { Search } from "./combobox.js";

const CARDS = ".st-key-home-cards";
let stop = () => {};

const filled = (sentence, done, all) => sentence.replace("{done}", done).replace("{all}", all);

// What is said of a lesson: of what it has, and not of what lies in the storage under another name.
function said(card, done, words) {
  if (!done.includes("visited")) return "";
  const tasks = card.dataset.tasks.split(" ").filter(Boolean);
  const parts = [["predict", words.answered], ["exercise", words.solved], ["target", words.reached]].map(([kind, sentence]) => {
    const all = tasks.filter((task) => task.startsWith(`${kind}-`));
    return all.length > 0 ? filled(sentence, all.filter((task) => done.includes(task)).length, all.length) : "";
  });
  return [words.visited, ...parts].filter(Boolean).map((part) => ` · ${part}`).join("");
}

function mark(words, device) {
  const all = read();
  for (const card of document.querySelectorAll(`${CARDS} .seqviz-card`)) {
    const line = card.querySelector(".small");
    const text = said(card, all[card.dataset.slug] ?? [], words);
    const mine = line.querySelector(".done") ?? line.appendChild(Object.assign(document.createElement("span"), { className: "done" }));
    if (mine.textContent !== text) mine.textContent = text;
  }
  device.hidden = Object.keys(all).length === 0 && device.dataset.erased !== "true";
}

export default function ({ data, parentElement }) {
  stop();
  const { words } = data;
  const host = parentElement.querySelector(".seqviz-road");
  host.replaceChildren();
  const add = (tag, properties) => host.appendChild(Object.assign(document.createElement(tag), properties));
  add("h2", { textContent: words.lessons });
  const search = new Search(add("div", { className: "search" }), data);
  const device = add("p", { className: "device", role: "status" });
  const remember = () => {
    device.replaceChildren(words.kept, " ");
    const button = Object.assign(document.createElement("button"), { type: "button", textContent: words.erase });
    button.onclick = () => {
      erase();
      device.dataset.erased = "true";
      device.textContent = words.erased;
      mark(words, device);
    };
    device.append(button);
  };
  remember();
  const again = () => mark(words, device);
  const cards = document.querySelector(CARDS)?.parentElement ?? document.body;
  const observer = new MutationObserver(again); // the cards may come later, or anew
  observer.observe(cards.closest("[data-testid=stMain]") ?? document.body, { childList: true, subtree: true });
  window.addEventListener("storage", again); // another tab
  again();
  stop = () => {
    observer.disconnect();
    window.removeEventListener("storage", again);
    search.close();
  };
  return stop;
}
