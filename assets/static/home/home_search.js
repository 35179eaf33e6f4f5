// Search of the home page, and progress on this device, shown on the lesson cards.

import { erase, read } from "../bench/progress.js";
import { Search } from "./combobox.js";

const CARDS = ".st-key-home-cards";
let stop = () => {};

const interpolate = (sentence, done, total) => sentence.replace("{done}", done).replace("{all}", total);

// Progress of a lesson, counting only its known tasks, not other content of the storage.
function progressText(card, done, words) {
  if (!done.includes("visited")) return "";
  const tasks = card.dataset.tasks.split(" ").filter(Boolean);
  const parts = [["predict", words.answered], ["exercise", words.solved], ["target", words.reached]].map(([kind, sentence]) => {
    const all = tasks.filter((task) => task.startsWith(`${kind}-`));
    return all.length > 0 ? interpolate(sentence, all.filter((task) => done.includes(task)).length, all.length) : "";
  });
  const total = Number(card.dataset.questions);
  const scores = done.map((name) => Number(/^quiz-(\d)$/.exec(name)?.[1] ?? NaN)).filter((score) => score <= total);
  if (scores.length > 0) parts.push(interpolate(words.quiz, Math.max(...scores), total));
  return [words.visited, ...parts].filter(Boolean).map((part) => ` · ${part}`).join("");
}

function markCards(words, device) {
  const progress = read();
  for (const card of document.querySelectorAll(`${CARDS} .seqviz-card`)) {
    const line = card.querySelector(".small");
    const text = progressText(card, progress[card.dataset.slug] ?? [], words);
    const span = line.querySelector(".done") ?? line.appendChild(Object.assign(document.createElement("span"), { className: "done" }));
    if (span.textContent !== text) span.textContent = text;
  }
  device.hidden = Object.keys(progress).length === 0 && device.dataset.erased !== "true";
}

// The panel that opens a room.
function openShare() {
  const button = document.querySelector(".st-key-share button");
  button?.scrollIntoView({ block: "center" });
  button?.click();
}

export default function ({ data, parentElement }) {
  stop();
  const { words } = data;
  const host = parentElement.querySelector(".seqviz-home-search");
  host.replaceChildren();
  const create = (tag, properties) => Object.assign(document.createElement(tag), properties);
  const add = (tag, properties) => host.appendChild(create(tag, properties));
  const doors = add("div", { className: "doors" });
  for (const [question, ...ways] of [
    [words.new, create("a", { href: data.first, textContent: words.new_link })],
    [words.teach, create("button", { type: "button", textContent: words.teach_open, onclick: openShare }),
      " · ", create("a", { href: data.plan, textContent: words.teach_plan })],
  ]) {
    const line = doors.appendChild(create("p", {}));
    line.append(create("strong", { textContent: question }), " ", ...ways);
  }
  const search = new Search(add("div", { className: "search" }), data);
  const device = add("p", { className: "device", role: "status" });
  const showDevice = () => {
    device.replaceChildren(words.kept, " ");
    const button = Object.assign(document.createElement("button"), { type: "button", textContent: words.erase });
    button.onclick = () => {
      erase();
      device.dataset.erased = "true";
      device.textContent = words.erased;
      markCards(words, device);
    };
    device.append(button);
  };
  showDevice();
  add("h2", { textContent: words.lessons });
  const refreshCards = () => markCards(words, device);
  const cards = document.querySelector(CARDS)?.parentElement ?? document.body;
  const observer = new MutationObserver(refreshCards); // the cards may come later, or anew
  observer.observe(cards.closest("[data-testid=stMain]") ?? document.body, { childList: true, subtree: true });
  window.addEventListener("storage", refreshCards); // another tab
  refreshCards();
  stop = () => {
    observer.disconnect();
    window.removeEventListener("storage", refreshCards);
    search.close();
  };
  return stop;
}
