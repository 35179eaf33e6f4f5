// Progress on this device: lessons visited, predictions answered, figures tried, exercises solved,
// targets reached. It is kept in the browser's storage and never sent. Without storage, or with foreign
// content in it, nothing is remembered and everything else works.

const KEY = "seqviz.progress";
const DONE = /\bst-key-\w+?-((?:predict|exercise|sketch)-\w+|quiz-\d)-done\b/; // as ui/page/questions.py and quiz.py name them
const BENCH = /\bst-key-bench-(\w+)/;

// { slug: [task] }; "visited" is one of the tasks.
export function read() {
  try {
    const stored = JSON.parse(localStorage.getItem(KEY));
    const lessons = Object.entries(stored ?? {}).filter(([, done]) => Array.isArray(done));
    return Object.fromEntries(lessons.map(([slug, done]) => [slug, done.filter((name) => typeof name === "string")]));
  } catch {
    return {};
  }
}

export function erase() {
  try {
    localStorage.removeItem(KEY);
  } catch {
    // missing or invalid
  }
}

function record(slug, names) {
  const all = read();
  const done = new Set(all[slug]);
  const before = done.size;
  names.forEach((name) => done.add(name));
  if (done.size === before) return;
  try {
    localStorage.setItem(KEY, JSON.stringify({ ...all, [slug]: [...done] }));
  } catch {
    // no storage, or it is full
  }
}

// Whether the reader has taken a step of the bench or, where it has none, moved a control.
function isTried(bench) {
  if (bench.querySelector(".seqviz-steps")) return bench.querySelector(".seqviz-steps .done") !== null;
  return bench.querySelector('[class*="-restore"][data-count]') !== null;
}

// Completed tasks that the page of this lesson shows.
export function recordVisible(slug) {
  const doneElements = document.querySelectorAll('[class*="st-key-"][class*="-done"]');
  const done = [...doneElements].map((element) => DONE.exec(element.className)?.[1]).filter(Boolean);
  const targets = [...document.querySelectorAll('.seqviz-target[data-reached="true"]')];
  const tried = [...document.querySelectorAll('[class*="st-key-bench-"]')]
    .filter(isTried)
    .map(({ className }) => `tried-${BENCH.exec(className)?.[1]}`);
  record(slug, ["visited", ...done, ...tried, ...targets.map((element) => `target-${element.dataset.target}`)]);
}
