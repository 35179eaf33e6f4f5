// Metrics, notes and badge of a bench during a drag: a copy with the new text covers the page's own
// elements until the page has rendered.

import { updateEquation } from "./equation.js";

const OVERLAY = "seqviz-overlay";

// source: the element that is copied.
function overlay(element, source = element) {
  let copy = element.querySelector(`:scope > .${OVERLAY}`);
  if (copy) return copy;
  copy = source.cloneNode(true);
  copy.removeAttribute("id");
  copy.className = `${copy.className.replace(/\bst-key-\S+/g, "")} ${OVERLAY}`;
  element.append(copy);
  element.classList.add("seqviz-covered");
  return copy;
}

const overlayFirstChild = (element) => overlay(element, element.firstElementChild);

export function restore(element) {
  element?.querySelectorAll(`.${OVERLAY}`).forEach((copy) => {
    copy.parentElement.classList.remove("seqviz-covered");
    copy.remove();
  });
}

// Set the text of an element, inside the elements that only wrap it.
function write(element, text) {
  let innermost = element;
  while (innermost?.childElementCount === 1 && innermost.textContent === innermost.firstElementChild.textContent)
    innermost = innermost.firstElementChild;
  if (innermost && innermost.textContent !== text) innermost.textContent = text;
}

// readouts: [{ value, caption }] in page order. A different number of them waits for the page. Only changed
// parts are copied: label and help keep working.
export function updateReadouts(elements, readouts) {
  const metrics = [...elements].flatMap((element) => [...element.querySelectorAll("[data-testid=stMetric]")]);
  if (metrics.length !== readouts.length) return;
  metrics.forEach((metric, index) => {
    write(overlayFirstChild(metric.querySelector("[data-testid=stMetricValue]")), readouts[index].value);
    const caption = metric.querySelector("[data-testid=stMetricDelta]");
    if (caption) write(overlayFirstChild(caption), readouts[index].caption ?? "");
  });
}

export function updateBadge(element, words) {
  if (!element || words === undefined) return;
  overlayFirstChild(element).querySelector(".stMarkdownBadge").lastChild.nodeValue = ` ${words}`;
}

const SENTENCES = "[data-testid=stMarkdownContainer], [data-testid=stCaptionContainer], [data-testid=stHtml]";

// notes: HTML that the server has made of its own sentences; null: unchanged.
export function updateNotes(elements, notes) {
  const copies = [...elements].map((element) => overlay(element));
  const sentences = copies.flatMap((copy) => [...copy.querySelectorAll(SENTENCES)]);
  if (sentences.length !== notes.length) return elements.forEach(restore);
  sentences.forEach((sentence, index) => {
    if (notes[index] !== null && !updateEquation(sentence, notes[index])) sentence.innerHTML = notes[index];
  });
}
