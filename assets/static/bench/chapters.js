// Chapters of a lesson: a numbered dot in the header for each figure of the core. Its ring fills
// with what this browser remembers: predicted, tried, solved.

const HEADER = '[data-testid="stHeader"]';
const COLORS = ["--st-primary-color", "--st-background-color", "--st-text-color", "--st-border-color", "--st-font"]; // known in components only
const READING_SHARE = 0.4; // of the window: the figure that starts above this line is being read

const create = (name, parent, properties = {}) => parent.appendChild(Object.assign(document.createElement(name), properties));
// What is polled writes only what has changed: observers of the page would never come to rest.
const setOnce = (element, name, value) => {
  if (element.style.getPropertyValue(name) !== value) element.style.setProperty(name, value);
};
const benchOf = (name) => document.querySelector(`.st-key-bench-${name}`);

export class Chapters {
  // goTo: scrolls to a bench, by name.
  constructor(host, goTo) {
    this.host = host;
    this.goTo = goTo;
    this.nav = create("nav", document.body, { className: "seqviz-chapters" });
  }

  // chapters: [{ name, title, predicted: [task], solved: [task] }]; words: translations.
  set(chapters, words) {
    const key = JSON.stringify([chapters, words]);
    if (key === this.key) return;
    Object.assign(this, { key, chapters, words });
    this.nav.ariaLabel = words.label;
    this.nav.replaceChildren();
    this.dots = chapters.map(({ name, title }, index) => {
      const link = create("a", this.nav, { href: `#bench-${name}`, onclick: (event) => this.open(event, name) });
      create("span", link, { className: "dot", textContent: index + 1, ariaHidden: "true" });
      const card = create("span", link, { className: "card" });
      create("strong", card, { textContent: title });
      return { link, lines: create("span", card) };
    });
  }

  open(event, name) {
    event.preventDefault();
    this.goTo(name);
  }

  // done: names of the completed tasks of the lesson.
  update(done) {
    const style = getComputedStyle(this.host);
    for (const name of COLORS) setOnce(this.nav, name, style.getPropertyValue(name));
    this.chapters.forEach((chapter, index) => {
      const parts = this.parts(chapter, new Set(done)), nDone = parts.filter(([, isDone]) => isDone).length;
      const { link, lines } = this.dots[index];
      setOnce(link, "--share", String(nDone / parts.length));
      link.classList.toggle("complete", nDone === parts.length);
      const text = parts.map(([part, isDone]) => `${isDone ? "✓" : "○"} ${this.words[part]}`).join("  ");
      if (lines.textContent !== text) lines.textContent = text;
    });
  }

  // What there is to do in a chapter, and whether it is done.
  parts({ name, predicted, solved }, done) {
    const targets = [...(benchOf(name)?.querySelectorAll(".seqviz-target") ?? [])].map(({ dataset }) => `target-${dataset.target}`);
    const tasks = { predicted, tried: [`tried-${name}`], solved: [...solved, ...targets] };
    return Object.entries(tasks)
      .filter(([, names]) => names.length > 0)
      .map(([part, names]) => [part, names.every((task) => done.has(task))]);
  }

  // Mark the chapter that is being read; none where the header is not shown.
  locate() {
    const header = document.querySelector(HEADER);
    const isHidden = !header || header.getClientRects().length === 0 || document.querySelector(".stDialog") !== null;
    if (this.nav.hidden !== isHidden) this.nav.hidden = isHidden;
    document.documentElement.classList.toggle("seqviz-has-chapters", !isHidden);
    const line = READING_SHARE * window.innerHeight;
    const started = this.chapters.map(({ name }) => benchOf(name)).filter((bench) => bench?.getBoundingClientRect().top < line);
    this.dots.forEach(({ link }, index) => {
      const isCurrent = index === started.length - 1;
      if (link.hasAttribute("aria-current") !== isCurrent) isCurrent ? link.setAttribute("aria-current", "true") : link.removeAttribute("aria-current");
    });
  }

  close() {
    this.nav.remove();
    document.documentElement.classList.remove("seqviz-has-chapters");
  }
}
