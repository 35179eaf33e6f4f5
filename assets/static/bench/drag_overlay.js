// The read-outs beside a figure, the sentences and the badge under it, under a hand: a copy of what the
// page shows, with the new words in it, stands in its place until the page itself has drawn them.

const OVER = "seqviz-over";

// original: what is copied of it.
function over(place, original = place) {
  let copy = place.querySelector(`:scope > .${OVER}`);
  if (copy) return copy;
  copy = original.cloneNode(true);
  copy.removeAttribute("id");
  copy.className = `${copy.className.replace(/\bst-key-\S+/g, "")} ${OVER}`;
  place.append(copy);
  place.classList.add("seqviz-behind");
  return copy;
}

const inside = (place) => over(place, place.firstElementChild);

export function uncover(place) {
  place?.querySelectorAll(`.${OVER}`).forEach((copy) => {
    copy.parentElement.classList.remove("seqviz-behind");
    copy.remove();
  });
}

// Words into an element of the page's own, past the elements that only wrap them.
function write(element, text) {
  let inner = element;
  while (inner?.childElementCount === 1 && inner.textContent === inner.firstElementChild.textContent)
    inner = inner.firstElementChild;
  if (inner && inner.textContent !== text) inner.textContent = text;
}

// readouts: [{ value, beside }] in the order of the page. Another number of them waits. Of each only
// what changes is a copy: its label and its help answer as before.
export function showReadouts(place, readouts) {
  const shown = place?.querySelectorAll("[data-testid=stMetric]") ?? [];
  if (shown.length !== readouts.length) return;
  shown.forEach((metric, at) => {
    write(inside(metric.querySelector("[data-testid=stMetricValue]")), readouts[at].value);
    const beside = metric.querySelector("[data-testid=stMetricDelta]");
    if (beside) write(inside(beside), readouts[at].beside ?? "");
  });
}

export function showBadge(place, words) {
  if (!place || words === undefined) return;
  inside(place).querySelector(".stMarkdownBadge").lastChild.nodeValue = ` ${words}`;
}

const SAID = "[data-testid=stMarkdownContainer], [data-testid=stHtml]";

// notes: HTML that the server has made of its own sentences; null: it stays as it is.
export function showNotes(places, notes) {
  const copies = [...places].map((place) => over(place));
  const said = copies.flatMap((copy) => [...copy.querySelectorAll(SAID)]);
  if (said.length !== notes.length) return places.forEach(uncover);
  said.forEach((one, at) => {
    if (notes[at] !== null) one.innerHTML = notes[at];
  });
}
