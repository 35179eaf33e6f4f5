// A search that answers while one types, as the combobox of the ARIA practices: arrows go through what is
// found, Enter opens it, Escape clears. Everything that can be found is there: nothing is asked for.
// rows: [kind, name, lesson, address, what finds it] (seqviz/content/search_index.py, which also says what `normal` does).

import { element } from "../components/slider.js";
import { open } from "../components/navigation.js";

const MOST = 12;
const KINDS = { lesson: 1.1, bench: 0.5, term: 0 }; // a lesson goes before a word that is found better
const MARKS = /[\\{}$_^*`“”"']/g;
const normal = (text) => text.normalize("NFKC").toLowerCase().replace(MARKS, "").trim();
const letter = /[\p{Script=Latin}\p{Script=Greek}\p{N}]/u;

// How well a word is found: as a whole word, at a word's beginning, within one; 0 where it is not.
function weight(said, word) {
  let best = 0;
  for (let at = said.indexOf(word); at >= 0; at = said.indexOf(word, at + 1)) {
    const begins = !letter.test(said[at - 1] ?? " ") || !letter.test(word[0]);
    const ends = !letter.test(said[at + word.length] ?? " ") || !letter.test(word[0]);
    best = Math.max(best, begins && ends ? 3 : begins ? 2 : word.length > 2 ? 1 : 0);
  }
  return best;
}

export function found(rows, typed) {
  const words = normal(typed).split(/\s+/).filter(Boolean);
  if (words.length === 0) return [];
  return rows
    .map((row) => [Math.min(...words.map((word) => weight(row[4], word))), row])
    .filter(([much]) => much > 0)
    .map(([much, row]) => [much + KINDS[row[0]], row])
    .sort(([a], [b]) => b - a)
    .map(([, row]) => row);
}

const filled = (sentence, values) => sentence.replace(/\{(\w+)\}/g, (_, name) => values[name]);

function described(tag, parent, properties, attributes) {
  const made = element(tag, parent, properties);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  return made;
}

export class Search {
  constructor(host, { rows, lessons, words }) {
    Object.assign(this, { rows, lessons, words, at: -1, shown: [] });
    const id = "seqviz-search";
    element("label", host, { htmlFor: id, textContent: words.search });
    this.input = described("input", host, { id, type: "text", autocomplete: "off", placeholder: words.placeholder }, {
      role: "combobox", "aria-autocomplete": "list", "aria-expanded": "false", "aria-controls": `${id}-list`,
      enterkeyhint: "go", maxlength: 80,
    });
    this.list = described("ul", host, { id: `${id}-list` }, { role: "listbox", "aria-label": words.search });
    this.status = described("p", host, { className: "status" }, { role: "status" });
    this.none = described("p", host, { className: "none" }, { "aria-hidden": "true" });
    this.input.oninput = () => this.look();
    this.input.onkeydown = (event) => this.key(event);
    this.input.onblur = () => this.close();
    this.input.onfocus = () => this.look();
  }

  look() {
    const { words, input } = this;
    const typed = input.value;
    const all = found(this.rows, typed);
    this.shown = all.slice(0, MOST);
    this.list.replaceChildren();
    this.shown.forEach(([kind, name, lesson, href], place) => {
      const option = described("li", this.list, { id: `seqviz-found-${place}` }, { role: "option", "aria-selected": "false" });
      element("span", option, { textContent: name });
      element("small", option, { textContent: filled(words[`kind_${kind}`], { lesson: this.lessons[lesson] }) });
      option.onmousedown = (event) => event.preventDefault(); // the field keeps the focus
      option.onclick = () => open(href);
    });
    this.point(-1);
    input.setAttribute("aria-expanded", String(this.shown.length > 0));
    const nothing = normal(typed) && all.length === 0 ? filled(words.none, { typed: typed.trim() }) : "";
    const count = all.length === 1 ? words.found_one : filled(words.found, { count: all.length });
    this.none.textContent = nothing;
    this.status.textContent = nothing || (all.length > 0 ? count : "");
  }

  point(place) {
    this.list.children[this.at]?.setAttribute("aria-selected", "false");
    this.at = place;
    const option = this.list.children[place];
    option?.setAttribute("aria-selected", "true");
    option?.scrollIntoView({ block: "nearest" });
    if (option) this.input.setAttribute("aria-activedescendant", option.id);
    else this.input.removeAttribute("aria-activedescendant");
  }

  key(event) {
    const many = this.shown.length;
    if (event.isComposing) return; // Chinese is being typed
    if (event.key === "Escape") {
      this.input.value = "";
      this.look();
    } else if (event.key === "Enter" && many > 0) open(this.shown[Math.max(0, this.at)][3]);
    else if (event.key === "ArrowDown" && many > 0) this.point((this.at + 1) % many);
    else if (event.key === "ArrowUp" && many > 0) this.point((Math.max(this.at, 0) + many - 1) % many);
    else return;
    event.preventDefault();
  }

  close() {
    this.list.replaceChildren();
    this.shown = [];
    this.point(-1);
    this.input.setAttribute("aria-expanded", "false");
  }
}
