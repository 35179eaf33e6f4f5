// Shannon's guessing game: the reader guesses a sentence character by character. The number of guesses
// for each character goes to the page once, when the sentence is complete.
//
// data: { values: { sentence, number, keys, played }, words }, see seqviz/ui/page/components.py.
// A record is the number of the sentence and the guesses for each character, separated by spaces.

import { createElement } from "../components/slider.js";

const END = "\n";
const SIGNS = { " ": "\u2423", [END]: "\u23ce" };

class Guessing {
  ranks = []; // guesses for each character that is found
  wrong = new Set(); // keys tried for the next one

  constructor(host) {
    this.text = createElement("p", host, { className: "sentence" });
    this.says = createElement("p", host, { className: "says" });
    this.says.setAttribute("aria-live", "polite");
    this.board = createElement("div", host, { className: "keys" });
    this.board.setAttribute("role", "group");
    host.tabIndex = 0;
    host.setAttribute("role", "application");
    host.onkeydown = (event) => this.onKey(event);
    this.host = host;
  }

  update({ values, words }) {
    const isNew = values.number !== this.values?.number || (this.values.played && !values.played);
    Object.assign(this, { values, words });
    this.host.setAttribute("aria-label", words.label);
    if (isNew) this.restart();
    if (values.played && values.played !== this.loaded) this.ranks = values.played.split(" ").slice(1).map(Number);
    this.loaded = values.played;
    this.build();
    this.render();
  }

  restart() {
    this.ranks = [];
    this.wrong.clear();
  }

  build() {
    if (this.built === this.words.label) return;
    this.built = this.words.label;
    this.board.replaceChildren();
    this.keys = [...this.values.keys].map((key) => {
      const button = createElement("button", this.board, {
        type: "button",
        textContent: SIGNS[key] ?? key,
        onclick: () => this.guess(key),
      });
      if (SIGNS[key]) button.setAttribute("aria-label", key === END ? this.words.end : this.words.space);
      button.dataset.key = key;
      return button;
    });
    this.again = createElement("button", this.board, {
      type: "button",
      className: "again",
      textContent: this.words.again,
      onclick: () => (this.restart(), this.render()),
    });
  }

  get isComplete() {
    return this.ranks.length === this.values.sentence.length;
  }

  onKey(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const onButton = event.target.closest("button") && (event.key === " " || event.key === "Enter");
    const key = event.key === "Enter" ? END : event.key.toLowerCase();
    if (onButton || !this.values.keys.includes(key) || key.length !== 1) return;
    event.preventDefault(); // the space bar would scroll, an apostrophe would search
    event.stopPropagation(); // the keys of a presenter turn pages
    this.guess(key);
  }

  guess(key) {
    if (this.isComplete || this.wrong.has(key)) return;
    if (this.ranks.length + this.wrong.size === 0) this.board.scrollIntoView({ block: "nearest" }); // above the bar of a room
    if (key !== this.values.sentence[this.ranks.length].toLowerCase()) this.wrong.add(key);
    else {
      this.ranks.push(this.wrong.size + 1);
      this.wrong.clear();
    }
    this.render();
    if (this.isComplete) this.report([this.values.number, ...this.ranks].join(" "));
  }

  render() {
    const { sentence } = this.values, { words, ranks } = this;
    this.text.replaceChildren();
    [...sentence].forEach((character, index) => {
      const isFound = index < ranks.length;
      const box = createElement("span", this.text, { className: index === ranks.length ? "next" : isFound ? "found" : "open" });
      const shown = isFound ? (character === END ? SIGNS[END] : character) : "\u00b7";
      createElement("span", box, { textContent: shown });
      createElement("small", box, { textContent: isFound ? ranks[index] : "" });
    });
    this.text.setAttribute("aria-label", sentence.slice(0, ranks.length).trim() || words.label);
    const state = this.isComplete ? words.done : this.wrong.size ? words.wrong : words.guess;
    const sums = { n: ranks.length + 1, all: sentence.length, tried: this.wrong.size };
    this.says.textContent = state.replace(/\{(\w+)\}/g, (_, name) => sums[name]);
    for (const button of this.keys) button.disabled = this.isComplete || this.wrong.has(button.dataset.key);
    this.again.hidden = ranks.length === 0;
  }
}

export default function ({ data, parentElement, setTriggerValue }) {
  const host = parentElement.querySelector(".seqviz-guessing");
  host.game ??= new Guessing(host);
  host.game.report = (record) => setTriggerValue("played", { record });
  host.game.update(data);
  const bench = host.closest('[class*="st-key-bench-"]');
  bench?.toggleAttribute("data-seqviz-guessing", true); // phone.css: nothing lies on its keys
  return () => {
    bench?.removeAttribute("data-seqviz-guessing");
    delete host.game;
    host.onkeydown = null;
    host.replaceChildren();
  };
}
