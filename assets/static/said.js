// The read-outs beside a figure and the sentences under it, while a hand moves: a copy of what the
// page shows, with the new words in it, stands in its place until the page itself has drawn them.

const OVER = "seqviz-over";

function over(place) {
  let copy = place.querySelector(`:scope > .${OVER}`);
  if (copy) return copy;
  copy = place.cloneNode(true);
  copy.removeAttribute("id");
  copy.className = `${copy.className.replace(/\bst-key-\S+/g, "")} ${OVER}`;
  place.append(copy);
  place.classList.add("seqviz-behind");
  return copy;
}

export function uncover(place) {
  place?.querySelector(`:scope > .${OVER}`)?.remove();
  place?.classList.remove("seqviz-behind");
}

// Words into an element of the page's own, past the elements that only wrap them.
function write(element, text) {
  let inner = element;
  while (inner?.childElementCount === 1 && inner.textContent === inner.firstElementChild.textContent)
    inner = inner.firstElementChild;
  if (inner && inner.textContent !== text) inner.textContent = text;
}

// readouts: [{ value, beside }] in the order of the page. Another number of them waits.
export function showReadouts(place, readouts) {
  const shown = place?.querySelectorAll(":scope > :not(.seqviz-over) [data-testid=stMetric]").length;
  if (!place || shown !== readouts.length) return;
  over(place)
    .querySelectorAll("[data-testid=stMetric]")
    .forEach((metric, at) => {
      write(metric.querySelector("[data-testid=stMetricValue]"), readouts[at].value);
      const beside = metric.querySelector("[data-testid=stMetricDelta]");
      if (beside) write(beside, readouts[at].beside ?? "");
    });
}

const SAID = "[data-testid=stMarkdownContainer], [data-testid=stHtml]";

// notes: HTML that the server has made of its own sentences; null: it stays as it is.
export function showNotes(places, notes) {
  const copies = [...places].map(over);
  const said = copies.flatMap((copy) => [...copy.querySelectorAll(SAID)]);
  if (said.length !== notes.length) return places.forEach(uncover);
  said.forEach((one, at) => {
    if (notes[at] !== null) one.innerHTML = notes[at];
  });
}
