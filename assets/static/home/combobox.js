// Search-as-you-type combobox after the ARIA practices: arrows move through the results, Enter
// opens one, Escape clears. The index comes once, when the page is idle: no request is sent while
// one types. rows: [kind, name, where, address, names, further words]
// (seqviz/content/search_index.py, which also defines `normal`).

import { createElement } from "../components/slider.js";
import { open } from "../components/navigation.js";

const MAX_OPTIONS = 12;
const KIND_WEIGHTS = { lesson: 1.1, bench: 0.5, readout: 0, term: 0 }; // a lesson goes before a word that is found better
const FURTHER_WEIGHT = 0.3; // of a match in the text about an entry
const ROOT = new URL(import.meta.url).pathname.replace(/app\/static\/.*$/, "");
const IDLE_MS = 1500;
const indexes = new Map(); // by language

function loadIndex(lang) {
  if (!indexes.has(lang)) {
    const rows = fetch(`${ROOT}search/${lang}`).then((response) => (response.ok ? response.json() : Promise.reject(response)));
    indexes.set(lang, rows);
    rows.catch(() => indexes.delete(lang)); // the next focus tries again
  }
  return indexes.get(lang);
}
const MARKS = /[\\{}$_^*`“”"']/g;
const normalize = (text) => text.normalize("NFKC").toLowerCase().replace(MARKS, "").trim();
const LETTER = /[\p{Script=Latin}\p{Script=Greek}\p{N}]/u;

// Score of a match: a full word, the start of a word, within a word; 0 without a match.
function matchWeight(text, word) {
  let best = 0;
  for (let index = text.indexOf(word); index >= 0; index = text.indexOf(word, index + 1)) {
    const startsWord = !LETTER.test(text[index - 1] ?? " ") || !LETTER.test(word[0]);
    const endsWord = !LETTER.test(text[index + word.length] ?? " ") || !LETTER.test(word[0]);
    best = Math.max(best, startsWord && endsWord ? 3 : startsWord ? 2 : word.length > 2 ? 1 : 0);
  }
  return best;
}

export function searchRows(rows, query) {
  const words = normalize(query).split(/\s+/).filter(Boolean);
  if (words.length === 0) return [];
  return rows
    .map((row) => [Math.min(...words.map((word) => Math.max(matchWeight(row[4], word), FURTHER_WEIGHT * matchWeight(row[5], word)))), row])
    .filter(([score]) => score > 0)
    .map(([score, row]) => [score + KIND_WEIGHTS[row[0]], row])
    .sort(([a], [b]) => b - a)
    .map(([, row]) => row);
}

const interpolate = (sentence, values) => sentence.replace(/\{(\w+)\}/g, (_, name) => values[name]);

function createDescribed(tag, parent, properties, attributes) {
  const created = createElement(tag, parent, properties);
  for (const [name, value] of Object.entries(attributes)) created.setAttribute(name, value);
  return created;
}

export class Search {
  constructor(host, { lang, words }) {
    Object.assign(this, { rows: [], isLoaded: false, isSubmitted: false, lang, words, active: -1, options: [] });
    const id = "seqviz-search";
    createElement("label", host, { htmlFor: id, textContent: words.search });
    this.input = createDescribed("input", host, { id, type: "text", autocomplete: "off", placeholder: words.placeholder }, {
      role: "combobox", "aria-autocomplete": "list", "aria-expanded": "false", "aria-controls": `${id}-list`,
      enterkeyhint: "go", maxlength: 80,
    });
    this.list = createDescribed("ul", host, { id: `${id}-list` }, { role: "listbox", "aria-label": words.search });
    this.status = createDescribed("p", host, { className: "status" }, { role: "status" });
    this.emptyLine = createDescribed("p", host, { className: "none" }, { "aria-hidden": "true" });
    this.host = host;
    this.input.oninput = () => {
      this.awaitIndex(false); // other words than were submitted
      this.update();
    };
    this.input.onkeydown = (event) => this.onKey(event);
    this.input.onblur = () => this.close();
    this.input.onfocus = () => this.load();
    (window.requestIdleCallback ?? setTimeout)(() => setTimeout(() => host.isConnected && this.load(), IDLE_MS));
  }

  load() {
    loadIndex(this.lang).then((rows) => {
      Object.assign(this, { rows, isLoaded: true });
      if (this.input.matches(":focus")) this.update();
      if (this.isSubmitted && this.options.length > 0) this.openOption(0);
      this.awaitIndex(false);
    }, () => this.awaitIndex(false));
  }

  // Enter before the index is here, which a server that has just started builds for seconds.
  awaitIndex(isSubmitted) {
    this.isSubmitted = isSubmitted;
    this.host.ariaBusy = String(isSubmitted);
  }

  openOption(index) {
    open(this.options[index][3]);
  }

  update() {
    const { words, input } = this;
    if (!this.isLoaded) return this.load();
    const query = input.value;
    const matches = searchRows(this.rows, query);
    this.options = matches.slice(0, MAX_OPTIONS);
    this.list.replaceChildren();
    this.options.forEach(([kind, name, where, href], index) => {
      const option = createDescribed("li", this.list, { id: `seqviz-found-${index}` }, { role: "option", "aria-selected": "false" });
      createElement("span", option, { textContent: name });
      createElement("small", option, { textContent: [words[`kind_${kind}`], where].filter(Boolean).join(" · ") });
      option.onmousedown = (event) => event.preventDefault(); // the field keeps the focus
      option.onclick = () => open(href);
    });
    if (this.options.length > 0) this.list.scrollIntoView({ block: "nearest" });
    this.activate(-1);
    input.setAttribute("aria-expanded", String(this.options.length > 0));
    const emptyMessage = normalize(query) && matches.length === 0 ? interpolate(words.none, { typed: query.trim() }) : "";
    const count = matches.length === 1 ? words.found_one : interpolate(words.found, { count: matches.length });
    this.emptyLine.textContent = emptyMessage;
    this.status.textContent = emptyMessage || (matches.length > 0 ? count : "");
  }

  activate(index) {
    this.list.children[this.active]?.setAttribute("aria-selected", "false");
    this.active = index;
    const option = this.list.children[index];
    option?.setAttribute("aria-selected", "true");
    option?.scrollIntoView({ block: "nearest" });
    if (option) this.input.setAttribute("aria-activedescendant", option.id);
    else this.input.removeAttribute("aria-activedescendant");
  }

  onKey(event) {
    const nOptions = this.options.length;
    if (event.isComposing) return; // Chinese is being typed
    if (event.key === "Escape") {
      this.input.value = "";
      this.update();
    } else if (event.key === "Enter" && nOptions > 0) this.openOption(Math.max(0, this.active));
    else if (event.key === "Enter" && !this.isLoaded && normalize(this.input.value)) {
      this.awaitIndex(true);
      this.load();
    } else if (event.key === "ArrowDown" && nOptions > 0) this.activate((this.active + 1) % nOptions);
    else if (event.key === "ArrowUp" && nOptions > 0) this.activate((Math.max(this.active, 0) + nOptions - 1) % nOptions);
    else return;
    event.preventDefault();
  }

  close() {
    this.awaitIndex(false);
    this.list.replaceChildren();
    this.options = [];
    this.activate(-1);
    this.input.setAttribute("aria-expanded", "false");
  }
}
