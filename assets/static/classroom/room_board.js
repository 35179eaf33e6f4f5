// Board of texts that a class writes for a bench. A student submits the content of a text field;
// the teacher reviews submissions one by one in a separate window, which is not projected, and
// approves or rejects them; approved texts are on every participant's board.

import { trackPress } from "./room_client.js";
import { createElement } from "../components/slider.js";
import { interpolate } from "../components/format.js";

const NARROW = "(max-width: 700px)"; // no projector is

const keyOf = (input) =>
  /(?:^|\s)st-key-([a-z]{2}(?:-[a-z_][a-z_0-9]*)+)(?:\s|$)/.exec(input.closest('[class*="st-key-"]')?.className)?.[1].replaceAll("-", ".");

export class Board {
  texts = []; // { number, lesson, bench, values, key, text }
  isOpen = false;
  currentText = null; // { number, text } that the teacher reads

  // chip: the `RoomChip` of this page.
  constructor(chip, signal) {
    this.chip = chip;
    this.signal = signal;
    window.addEventListener("focusin", ({ target }) => (this.lastField = target), { signal });
  }

  // The text field of a bench: the last edited one, or the first.
  field(bench) {
    const fields = [...(bench?.querySelectorAll('input[type="text"]:not([role])') ?? [])].filter(keyOf);
    return fields.find((field) => field === this.lastField) ?? fields[0];
  }

  onState({ board: [revision] }) {
    if (this.revision === revision) return;
    this.revision = revision;
    const { room } = this.chip;
    if (revision === 0) this.texts = [];
    else
      room.get("board").then(
        ({ texts }) => {
          this.texts = texts;
          this.chip.refresh();
        },
        () => setTimeout(() => (this.revision = null), 3000),
      );
  }

  async send(bench, place) {
    const input = this.field(bench);
    await this.chip.room.send({ kind: "text", ...place, key: keyOf(input), text: input.value });
  }

  // Lists above the chip, and its buttons.
  items(bench) {
    const { chip, texts } = this;
    const { words, room } = chip;
    const count = room.state.pending?.count;
    const lists = [], buttons = [];
    if (this.isInline && (count || this.currentText)) lists.push({ data: [room.state.pending, this.currentText], render: (host) => this.renderCard(createElement("div", host, { className: "private" })) });
    if (this.isOpen && texts.length) lists.push({ data: texts, render: (host) => this.renderList(host) });
    if (!room.isTeacher && this.field(bench)) buttons.push({ text: words.send_text, press: () => chip.sendWithNotice(() => this.send(bench, chip.currentView()), words.text_sent) });
    if (count) buttons.push({ text: interpolate(words.texts_waiting, { count }), press: () => this.openTexts() });
    if (texts.length) buttons.push({ text: interpolate(words.board, { count: texts.length }), press: () => this.toggle() });
    return [lists, buttons];
  }

  toggle() {
    this.isOpen = !this.isOpen;
    this.chip.refresh();
  }

  renderList(host) {
    const { words, room } = this.chip;
    const list = createElement("ol", host, { className: "sent" });
    for (const text of this.texts) {
      const item = createElement("li", list);
      const label = createElement("span", item);
      createElement("bdi", label, { textContent: text.text });
      createElement("small", label, { textContent: this.chip.describePlace(text) });
      const press = (words, onclick) => createElement("button", item, { type: "button", textContent: words, onclick });
      press(words.use_text, () => this.chip.useText(text));
      if (room.isTeacher) press(words.remove, () => this.moderate("discard", text.number));
    }
  }

  async moderate(kind, number) {
    const { chip } = this;
    this.currentText = null;
    try {
      await chip.room.send({ kind, number });
    } catch (error) {
      this.problem = chip.errorMessage(error);
    }
    chip.refresh();
    this.render();
  }

  // Remove the seat of the displayed text, with all its texts.
  async removeSeat() {
    const { chip, currentText } = this;
    this.currentText = null;
    await chip.removeSeat(currentText);
    this.problem = chip.note;
    this.render();
  }

  // Pending texts are in a separate window; on a phone, which is not projected, in the chip.
  openTexts() {
    const { chip } = this;
    this.currentText = null;
    if (matchMedia(NARROW).matches) this.isInline = !this.isInline;
    else this.popup = this.adoptPopup(window.open("", "seqviz-texts", "popup,width=480,height=380"));
    if (this.isInline || this.popup) this.render();
    else chip.showNotice(chip.words.no_window);
    chip.refresh();
  }

  adoptPopup(popup) {
    if (popup && popup !== this.popup) this.isPressed = trackPress(popup.document.body, () => this.render(), this.signal);
    return popup;
  }

  render() {
    const { popup, chip } = this;
    if (!popup || popup.closed) return;
    const json = JSON.stringify([chip.room.state.pending, this.currentText, this.problem]);
    if (popup.renderedJson === json || this.isPressed()) return; // the focus stays, and a button that is held
    popup.renderedJson = json;
    const { document: popupDocument } = popup;
    const { fontFamily, color, backgroundColor } = getComputedStyle(chip.host);
    popupDocument.title = chip.words.texts_title;
    popupDocument.documentElement.lang = document.documentElement.lang;
    Object.assign(popupDocument.body.style, { font: `17px/1.5 ${fontFamily}`, color, background: backgroundColor, margin: "1.2rem" });
    popupDocument.body.replaceChildren();
    createElement("h1", popupDocument.body, { textContent: chip.words.texts_title }).style.fontSize = "1.2rem";
    createElement("p", popupDocument.body, { textContent: chip.words.texts_private });
    this.renderCard(popupDocument.body);
  }

  // The first pending text: its bench, and its content on request.
  renderCard(host) {
    const { chip, currentText, problem } = this;
    const { words, room } = chip;
    const { count, first } = room.state.pending;
    createElement("p", host, { textContent: first ? interpolate(words.text_for, { count, place: chip.describePlace(first) }) : words.no_texts });
    const line = createElement("p", host);
    const press = (text, onclick) => {
      const button = createElement("button", line, { type: "button", textContent: text, onclick });
      if (host.ownerDocument !== document) Object.assign(button.style, { font: "inherit", color: "inherit", background: "transparent", border: "1px solid", borderRadius: "8px", padding: ".4rem 1rem", marginRight: ".6rem", cursor: "pointer" });
    };
    if (first && currentText?.number === first.number) {
      const text = createElement("blockquote", host, { textContent: currentText.text, dir: "auto" });
      Object.assign(text.style, { margin: "0 0 1rem", overflowWrap: "anywhere", unicodeBidi: "isolate" });
      host.insertBefore(text, line);
      press(words.approve, () => this.moderate("approve", first.number));
      press(words.throw_away, () => this.moderate("discard", first.number));
      press(words.send_out, () => this.removeSeat());
    } else if (first)
      press(words.read, async () => {
        this.currentText = await room.get("pending").catch(() => null);
        chip.refresh();
        this.render();
      });
    if (problem) createElement("p", host, { textContent: problem });
    this.problem = null;
  }

  close() {
    this.popup?.close();
  }
}
