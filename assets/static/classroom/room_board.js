// Texts that a class writes for a bench. A student sends what stands in a text field; the teacher
// reads one after another in a window of its own, which no projector shows, and approves it or throws
// it away; what is approved is on everybody's board.

import { presses } from "./room_client.js";
import { element } from "../components/slider.js";
import { filled } from "../components/format.js";

const NARROW = "(max-width: 700px)"; // no projector is

const keyOf = (input) =>
  /(?:^|\s)st-key-([a-z]{2}(?:-[a-z_][a-z_0-9]*)+)(?:\s|$)/.exec(input.closest('[class*="st-key-"]')?.className)?.[1].replaceAll("-", ".");

export class Board {
  texts = []; // { number, lesson, bench, values, key, text }
  open = false;
  reading = null; // { number, text } that the teacher reads

  // chip: the `Class` of this page.
  constructor(chip, signal) {
    this.chip = chip;
    this.signal = signal;
    window.addEventListener("focusin", ({ target }) => (this.last = target), { signal });
  }

  // The text field of a bench: the one that was written in last, or the first.
  field(bench) {
    const all = [...(bench?.querySelectorAll('input[type="text"]:not([role])') ?? [])].filter(keyOf);
    return all.find((one) => one === this.last) ?? all[0];
  }

  heard({ board: [revision] }) {
    if (this.revision === revision) return;
    this.revision = revision;
    const { room } = this.chip;
    if (revision === 0) this.texts = [];
    else
      room.ask("board").then(
        ({ texts }) => {
          this.texts = texts;
          this.chip.changed();
        },
        () => setTimeout(() => (this.revision = null), 3000),
      );
  }

  async send(bench, place) {
    const input = this.field(bench);
    await this.chip.room.say({ kind: "text", ...place, key: keyOf(input), text: input.value });
  }

  // Lists above the chip, and buttons in it.
  parts(bench) {
    const { chip, texts } = this;
    const { words, room } = chip;
    const count = room.state.pending?.count;
    const lists = [], buttons = [];
    if (this.within && (count || this.reading)) lists.push({ told: [room.state.pending, this.reading], draw: (host) => this.card(element("div", host, { className: "private" })) });
    if (this.open && texts.length) lists.push({ told: texts, draw: (host) => this.list(host) });
    if (!room.teaches && this.field(bench)) buttons.push({ text: words.send_text, press: () => chip.sent(() => this.send(bench, chip.shown()), words.text_sent) });
    if (count) buttons.push({ text: filled(words.texts_waiting, { count }), press: () => this.read() });
    if (texts.length) buttons.push({ text: filled(words.board, { count: texts.length }), press: () => this.toggle() });
    return [lists, buttons];
  }

  toggle() {
    this.open = !this.open;
    this.chip.changed();
  }

  list(host) {
    const { words, room } = this.chip;
    const list = element("ol", host, { className: "sent" });
    for (const text of this.texts) {
      const item = element("li", list);
      const said = element("span", item);
      element("bdi", said, { textContent: text.text });
      element("small", said, { textContent: this.chip.placed(text) });
      const press = (words, onclick) => element("button", item, { type: "button", textContent: words, onclick });
      press(words.use_text, () => this.chip.use(text));
      if (room.teaches) press(words.remove, () => this.say("discard", text.number));
    }
  }

  async say(kind, number) {
    const { chip } = this;
    this.reading = null;
    try {
      await chip.room.say({ kind, number });
    } catch (refusal) {
      this.problem = chip.sentence(refusal);
    }
    chip.changed();
    this.draw();
  }

  // The seat whose text is read is closed, with all of its texts.
  async sendOut() {
    const { chip, reading } = this;
    this.reading = null;
    await chip.sendOut(reading);
    this.problem = chip.note;
    this.draw();
  }

  // Texts that wait are in a window of their own; on a phone, which no class sees, in the chip.
  read() {
    const { chip } = this;
    this.reading = null;
    if (matchMedia(NARROW).matches) this.within = !this.within;
    else this.window = this.opened(window.open("", "seqviz-texts", "popup,width=480,height=380"));
    if (this.within || this.window) this.draw();
    else chip.notice(chip.words.no_window);
    chip.changed();
  }

  opened(other) {
    if (other && other !== this.window) this.pressed = presses(other.document.body, () => this.draw(), this.signal);
    return other;
  }

  draw() {
    const { window: other, chip } = this;
    if (!other || other.closed) return;
    const told = JSON.stringify([chip.room.state.pending, this.reading, this.problem]);
    if (other.told === told || this.pressed()) return; // the focus stays, and a button that is held
    other.told = told;
    const { document: page } = other;
    const { fontFamily, color, backgroundColor } = getComputedStyle(chip.host);
    page.title = chip.words.texts_title;
    page.documentElement.lang = document.documentElement.lang;
    Object.assign(page.body.style, { font: `17px/1.5 ${fontFamily}`, color, background: backgroundColor, margin: "1.2rem" });
    page.body.replaceChildren();
    element("h1", page.body, { textContent: chip.words.texts_title }).style.fontSize = "1.2rem";
    element("p", page.body, { textContent: chip.words.texts_private });
    this.card(page.body);
  }

  // The first that waits: where it belongs, and what it says when that is asked for.
  card(host) {
    const { chip, reading, problem } = this;
    const { words, room } = chip;
    const { count, first } = room.state.pending;
    element("p", host, { textContent: first ? filled(words.text_for, { count, place: chip.placed(first) }) : words.no_texts });
    const line = element("p", host);
    const press = (text, onclick) => {
      const button = element("button", line, { type: "button", textContent: text, onclick });
      if (host.ownerDocument !== document) Object.assign(button.style, { font: "inherit", color: "inherit", background: "transparent", border: "1px solid", borderRadius: "8px", padding: ".4rem 1rem", marginRight: ".6rem", cursor: "pointer" });
    };
    if (first && reading?.number === first.number) {
      const text = element("blockquote", host, { textContent: reading.text, dir: "auto" });
      Object.assign(text.style, { margin: "0 0 1rem", overflowWrap: "anywhere", unicodeBidi: "isolate" });
      host.insertBefore(text, line);
      press(words.approve, () => this.say("approve", first.number));
      press(words.throw_away, () => this.say("discard", first.number));
      press(words.send_out, () => this.sendOut());
    } else if (first)
      press(words.read, async () => {
        this.reading = await room.ask("pending").catch(() => null);
        chip.changed();
        this.draw();
      });
    if (problem) element("p", host, { textContent: problem });
    this.problem = null;
  }

  close() {
    this.window?.close();
  }
}
