// Bookmarks: the star of a bench adds one, the list of a page shows all of them. Nothing is sent to the
// server, except a setting and its note that a student sends to the teacher of a room.

import { interpolate } from "../components/format.js";
import { addressOf, toNotebook, toPage } from "./bookmark_files.js";
import { addBookmark, annotateBookmark, NOTE_LIMIT, readBookmarks, removeBookmark } from "./bookmark_storage.js";
import { composeSvg } from "./save_image.js";

const STAR = /\bst-key-([a-z]{2})-(\w+)-bookmark\b/;
const WIDTH_PX = 320;
const NOTICE_MS = 6000;
const FILES = { page: ["html", "text/html", toPage], notebook: ["ipynb", "application/x-ipynb+json", toNotebook] };
let stop = () => {};

// A small PNG of a bench's figure as it stands; "" without one.
async function thumbnail(code, bench) {
  const host = document.querySelector(`.st-key-${code}-${bench}-figure`) ?? document.querySelector(`.st-key-bench-${bench}`);
  const svg = host && composeSvg(host, getComputedStyle(document.querySelector(".stApp")).backgroundColor);
  if (!svg) return "";
  const url = URL.createObjectURL(new Blob([new XMLSerializer().serializeToString(svg)], { type: "image/svg+xml;charset=utf-8" }));
  try {
    const image = new Image();
    image.src = url;
    await image.decode();
    const canvas = Object.assign(document.createElement("canvas"), { width: WIDTH_PX });
    canvas.height = Math.round((WIDTH_PX * svg.getAttribute("height")) / svg.getAttribute("width"));
    canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
    return canvas.toDataURL("image/png");
  } catch {
    return ""; // a picture that the browser cannot draw
  } finally {
    URL.revokeObjectURL(url);
  }
}

class BookmarkList {
  // data: { lang, words, setup, titles: { slug: title of the lesson } }
  constructor(host, data) {
    Object.assign(this, { host, data, words: data.words });
    this.details = this.create("details", host);
    this.summary = this.create("summary", this.details);
    this.list = this.create("ul", this.details);
    const files = this.create("div", this.details, { className: "row files" });
    for (const kind of Object.keys(FILES)) this.create("button", files, { type: "button", textContent: this.words[kind], onclick: () => this.save(kind) });
    this.notice = this.create("p", host, { className: "notice", role: "status" });
    this.details.ontoggle = () => this.details.open && this.show();
    this.show();
  }

  create(name, parent, properties = {}) {
    return parent.appendChild(Object.assign(document.createElement(name), properties));
  }

  say(message) {
    this.notice.textContent = message;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => (this.notice.textContent = ""), NOTICE_MS);
  }

  // Bookmarks of the lessons that exist.
  items() {
    return readBookmarks().filter(({ lesson }) => Object.hasOwn(this.data.titles, lesson));
  }

  async add(code, bench) {
    const { currentView } = await import("../classroom/room.js"); // with slider values that are not in the URL yet
    const { lesson, values } = currentView();
    const heading = document.querySelector(`.st-key-bench-${bench} h2`)?.textContent.trim();
    const title = [this.data.titles[lesson], heading].filter(Boolean).join(" · ");
    const picture = await thumbnail(code, bench);
    const id = crypto.getRandomValues(new Uint32Array(2)).join("_");
    const problem = addBookmark({ id, lesson, bench, values, title, note: "", picture });
    this.say(this.words[problem || "added"]);
    this.show();
  }

  async show() {
    const room = this.details.open ? await this.room() : null;
    const items = this.items();
    this.details.hidden = items.length === 0;
    this.summary.textContent = interpolate(this.words.title, { count: items.length });
    if (!this.details.open) return;
    this.list.replaceChildren();
    for (const item of items) this.showItem(item, room);
  }

  // The room in which the reader is a student; null elsewhere.
  async room() {
    if (!document.querySelector(".seqviz-room")) return null;
    const { currentRoom } = await import("../classroom/room_client.js");
    const room = currentRoom();
    return room && !room.isTeacher && !room.ended ? room : null;
  }

  showItem(item, room) {
    const { words } = this;
    const entry = this.create("li", this.list);
    if (item.picture) this.create("img", entry, { src: item.picture, alt: "", width: 160 });
    const side = this.create("div", entry, { className: "side" });
    this.create("strong", side, { textContent: item.title });
    const note = this.create("input", side, { value: item.note, maxLength: NOTE_LIMIT, placeholder: words.note, ariaLabel: `${words.note}: ${item.title}` });
    note.onchange = () => {
      item.note = note.value; // also for what is sent
      const problem = annotateBookmark(item.id, note.value);
      if (problem) this.say(words[problem]);
    };
    const row = this.create("div", side, { className: "row" });
    this.create("a", row, { href: addressOf(item, this.data.lang), textContent: words.open, ariaLabel: `${words.open}: ${item.title}` });
    const button = (label, press) => this.create("button", row, { type: "button", textContent: label, onclick: press, ariaLabel: `${label}: ${item.title}` });
    if (room) button(words.send, () => this.send(room, item));
    button(words.remove, () => {
      removeBookmark(item.id);
      this.show().then(() => (this.list.querySelector("button") ?? this.summary).focus());
    });
  }

  async send(room, { lesson, bench, values, note }) {
    try {
      await room.send({ kind: "send", lesson, bench, values, ...(note && { note }) });
      this.say(this.words[note ? "sent_note" : "sent"]);
    } catch {
      this.say(this.words.not_sent);
    }
  }

  save(kind) {
    const [suffix, type, convert] = FILES[kind];
    const file = new Blob([convert(this.items(), this.data.lang, this.data)], { type: `${type};charset=utf-8` });
    const link = Object.assign(document.createElement("a"), { href: URL.createObjectURL(file), download: `seqviz-bookmarks.${suffix}` });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
  }
}

export default function ({ data, parentElement }) {
  stop();
  const host = parentElement.querySelector(".seqviz-bookmarks");
  const key = JSON.stringify(data);
  if (host.key !== key) { // a run of the page leaves an open list open
    host.replaceChildren();
    Object.assign(host, { key, bookmarks: new BookmarkList(host, data) });
  }
  const { bookmarks } = host;
  const listeners = new AbortController(), { signal } = listeners;
  const onClick = (event) => {
    const [, code, bench] = STAR.exec(event.target.closest?.('[class*="-bookmark"]')?.className) ?? [];
    if (!bench || !event.target.closest("button")) return;
    event.stopPropagation(); // nothing for the server to do
    bookmarks.add(code, bench);
  };
  document.addEventListener("click", onClick, { capture: true, signal });
  window.addEventListener("storage", () => bookmarks.show(), { signal }); // another tab
  stop = () => {
    listeners.abort();
    clearTimeout(bookmarks.timer);
  };
  return stop;
}
