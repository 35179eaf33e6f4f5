// Question of a teacher as a sheet over the page of a follower. It keeps its place in the page;
// only its position on the screen changes, so nothing of it is created twice.

import { figureOf, goTo, PHONE } from "../bench/viewport.js";
import { createElement } from "../components/slider.js";

const MARK = "data-seqviz-sheet"; // a name that the page's own scripts do not take away

// The latest question, a poll or a drawn prediction; null without one.
export function currentQuestion({ ballot, sketch }) {
  const isDrawing = (sketch?.number ?? 0) > (ballot?.number ?? 0);
  const last = isDrawing ? sketch : ballot;
  return last && { key: last.key, number: last.number, round: last.round ?? 1, state: last.state, isDrawing };
}

// Its element in this page; null on another page.
export const questionElement = ({ key }) => document.querySelector(`.st-key-${key.replaceAll(".", "-")}-question`);

export class Sheet {
  host = null;

  // onClose: called when the reader closes it.
  constructor(onClose, signal) {
    this.onClose = onClose;
    const escape = ({ key, defaultPrevented }) => this.host && key === "Escape" && !defaultPrevented && this.onClose();
    document.addEventListener("keydown", escape, { signal });
  }

  // bottom: pixels below it that belong to other elements.
  show(host, words, bottom) {
    const isShown = this.host === host && host.hasAttribute(MARK);
    if (!isShown) {
      this.hide();
      this.open(host, words);
    }
    host.style.setProperty("--bottom", `${bottom}px`);
    host.style.setProperty("--paper", getComputedStyle(document.querySelector(".stApp")).backgroundColor);
  }

  open(host, words) {
    this.host = host;
    this.lastFocus = document.activeElement;
    host.parentElement.style.minHeight = `${host.offsetHeight}px`; // what is below it stays where it is
    const head = createElement("div", host, { className: "seqviz-sheet-head" });
    host.prepend(head);
    createElement("b", head, { textContent: words.question });
    const close = createElement("button", head, { type: "button", textContent: "✕", title: words.close_question, onclick: () => this.onClose() });
    const attributes = { [MARK]: "", role: "dialog", "aria-label": words.question, tabindex: -1, popover: "manual" };
    close.setAttribute("aria-label", words.close_question);
    for (const [name, value] of Object.entries(attributes)) host.setAttribute(name, value);
    host.showPopover?.(); // above everything, whatever clips its place
    this.restoreHost = () => {
      host.hidePopover?.();
      head.remove();
      for (const name of Object.keys(attributes)) host.removeAttribute(name);
      host.parentElement?.style.removeProperty("min-height");
    };
    const figure = figureOf(host);
    if (figure && PHONE.matches) goTo(figure, { block: "start" }); // above the sheet
    this.focus();
  }

  focus() {
    this.host?.focus({ preventScroll: true });
  }

  hide() {
    const { host, lastFocus } = this;
    if (!host) return;
    const hadFocus = host.contains(document.activeElement);
    this.host = null;
    this.restoreHost();
    if (hadFocus) lastFocus?.focus({ preventScroll: true });
  }
}
