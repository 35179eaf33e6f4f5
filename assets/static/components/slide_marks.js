// What the containers of a page hold, as attributes for present.css. A rule with `:has` would be
// matched again for each element that a figure draws: a press on a slide took a second.

const OF = "data-seqviz-of"; // of a wrapper: kind of its container, and what that has
const WRAPPER = '[data-testid="stLayoutWrapper"]';
const BENCH = '[class*="st-key-bench-"]';
const KINDS = { figure: "-figure", notes: "-notes-", question: "-question", veiled: "-veiled", done: "-done" };
const PARTS = {
  figure: { "has-chart": ".seqviz-chart", "has-vega": ".stVegaLiteChart" },
  question: { "has-done": '[class*="-done"]', "has-sketch": ".seqviz-sketch", "has-poll": ".seqviz-poll" },
};
const ANSWERED = "data-seqviz-answered";
const DRAWN = ".seqviz-chart, .seqviz-overlay, .seqviz-presenter"; // changes there change no mark

const set = (element, name, value) => {
  if (element.getAttribute(name) !== value) element.setAttribute(name, value);
};

const kindOf = (wrapper) => {
  const key = [...(wrapper.firstElementChild?.classList ?? [])].find((name) => name.startsWith("st-key-")) ?? "";
  return Object.keys(KINDS).find((kind) => key.includes(KINDS[kind])) ?? "";
};

function marksOf(wrapper) {
  const kind = kindOf(wrapper), child = wrapper.firstElementChild;
  const marks = kind ? [kind] : [];
  for (const [name, selector] of Object.entries(PARTS[kind] ?? {})) if (child.querySelector(selector)) marks.push(name);
  if (child?.hasAttribute(ANSWERED)) marks.push("answered");
  if (!kind && wrapper.querySelector(':scope > * > * > [class*="-footer"]')) marks.push("has-footer");
  for (let next = wrapper.nextElementSibling; kind === "notes" && next; next = next.nextElementSibling)
    if (kindOf(next) === "figure") marks.push("before-figure");
  return marks.join(" ");
}

// Prose of the lesson, which slides leave out.
function markProse() {
  const goal = document.querySelector(".st-key-goal")?.parentElement;
  for (let next = goal?.nextElementSibling; next; next = next.nextElementSibling) {
    const isSlide = next.matches('[class*="st-key-card-"], .st-key-neighbours') || next.querySelector(`${BENCH}, .st-key-neighbours, [class*="-lazy"]`);
    next.toggleAttribute("data-seqviz-prose", !isSlide);
  }
  for (const block of document.querySelectorAll('[class*="st-key-card-"] details .stVerticalBlock'))
    if (!block.closest(BENCH)) for (const child of block.children) child.toggleAttribute("data-seqviz-prose", !child.querySelector(BENCH));
  document.documentElement.toggleAttribute("data-seqviz-slides", goal !== undefined);
}

export function mark() {
  for (const wrapper of document.querySelectorAll(WRAPPER)) {
    const marks = marksOf(wrapper);
    if (marks || wrapper.hasAttribute(OF)) set(wrapper, OF, marks);
    if (marks === "veiled") wrapper.parentElement.toggleAttribute("data-seqviz-veils", true);
  }
  for (const bench of document.querySelectorAll(BENCH))
    bench.toggleAttribute("data-seqviz-says", !!bench.querySelector(".seqviz-steps .says")?.textContent);
  for (const place of document.querySelectorAll(".seqviz-room, .st-key-masthead"))
    place.toggleAttribute("data-seqviz-code", place.querySelector(".code") !== null);
  markProse();
}

const observer = new MutationObserver((records) => {
  const isDrawn = ({ target }) => (target.closest ? target : target.parentElement)?.closest(DRAWN);
  if (!records.every(isDrawn)) mark();
});

export function watch() {
  mark();
  observer.observe(document.body, { childList: true, subtree: true, attributes: true, attributeFilter: [ANSWERED] });
}

export const unwatch = () => observer.disconnect();
