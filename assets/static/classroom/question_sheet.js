// A question that a teacher puts to the class comes as a sheet over the page of who follows. It stays
// in the page where it is: only its place on the screen is another, so nothing of it is made twice.

import { element } from "../components/slider.js";

const MARK = "data-seqviz-sheet"; // a name that the page's own scripts do not take away

// The question that was put last, a vote or one that is drawn; null where there is none.
export function asked({ ballot, sketch }) {
  const drawn = (sketch?.number ?? 0) > (ballot?.number ?? 0);
  const last = drawn ? sketch : ballot;
  return last && { key: last.key, number: last.number, round: last.round ?? 1, state: last.state, drawn };
}

// Where it stands in this page; null where the page is another's.
export const placeOf = ({ key }) => document.querySelector(`.st-key-${key.replaceAll(".", "-")}-question`);

export class Sheet {
  host = null;

  // closed: called when the reader closes it.
  constructor(closed, signal) {
    this.closed = closed;
    const escape = ({ key, defaultPrevented }) => this.host && key === "Escape" && !defaultPrevented && this.closed();
    document.addEventListener("keydown", escape, { signal });
  }

  // bottom: pixels below it that are not its own.
  show(host, words, bottom) {
    const shown = this.host === host && host.hasAttribute(MARK);
    if (!shown) {
      this.hide();
      this.raise(host, words);
    }
    host.style.setProperty("--bottom", `${bottom}px`);
    host.style.setProperty("--paper", getComputedStyle(document.querySelector(".stApp")).backgroundColor);
  }

  raise(host, words) {
    this.host = host;
    this.before = document.activeElement;
    host.parentElement.style.minHeight = `${host.offsetHeight}px`; // what is below it stays where it is
    const head = element("div", host, { className: "seqviz-sheet-head" });
    host.prepend(head);
    element("b", head, { textContent: words.question });
    const close = element("button", head, { type: "button", textContent: "✕", title: words.close_question, onclick: () => this.closed() });
    const said = { [MARK]: "", role: "dialog", "aria-label": words.question, tabindex: -1, popover: "manual" };
    close.setAttribute("aria-label", words.close_question);
    for (const [name, value] of Object.entries(said)) host.setAttribute(name, value);
    host.showPopover?.(); // above everything, whatever clips its place
    this.lower = () => {
      host.hidePopover?.();
      head.remove();
      for (const name of Object.keys(said)) host.removeAttribute(name);
      host.parentElement?.style.removeProperty("min-height");
    };
    this.focus();
  }

  focus() {
    this.host?.focus({ preventScroll: true });
  }

  hide() {
    const { host, before } = this;
    if (!host) return;
    const inside = host.contains(document.activeElement);
    this.host = null;
    this.lower();
    if (inside) before?.focus({ preventScroll: true });
  }
}
