// The room chip: a teacher's browser reports what it shows, students' browsers follow, and the chip
// shows the state of the room.

import { liveBenches } from "../bench/live.js";
import { CLOSED_CARD, goToBench, showFigure } from "../bench/viewport.js";
import { Ink } from "./ink.js";
import { currentQuestion, questionElement, Sheet } from "./question_sheet.js";
import { Board } from "./room_board.js";
import { formatCode } from "./room_code.js";
import { openRoom, trackPress, joinRoom } from "./room_client.js";
import { createElement } from "../components/slider.js";
import { interpolate } from "../components/format.js";

const TICK_MS = 100;
const PRESENCE_MS = 3000; // between two reports of a student's location
const NOTE_MS = 2500;
const SHEET_GAP_PX = 6; // between a sheet and the chip
const IDLE_MS = 400; // after which a teacher's value is committed in students' pages
const PER_STUDENT_MS = 50; // more for each student: their pages commit within all of that, as each runs its script
const RETRY_MS = 1000; // after a report that was rejected as too fast, or lost
const JITTER_MS = 1200; // within which the pages of a class navigate
const NAV_RETRY_MS = 2500; // after a navigation that got lost; then doubled
const SETTING = /^[a-z]{2}\.[a-z_0-9.]+$/;
const CONTROLS = 'input, select, textarea, button, [role="radio"], [role="option"], [role="tab"], .seqviz-slider, .js-plotly-plot';
const sameValue = (a, b) => a === b || (a !== null && b !== null && Number(a) === Number(b));

const slug = () => location.pathname.split("/").pop();
const settings = (url = new URL(location)) =>
  Object.fromEntries([...url.searchParams].filter(([key]) => SETTING.test(key)));
const allBenches = () => [...document.querySelectorAll('[class*="st-key-bench-"]')];
const visibleBenches = () => allBenches().filter((element) => element.getClientRects().length > 0 && !element.closest(CLOSED_CARD));
const benchName = (element) => /st-key-bench-(\w+)/.exec(element.className)[1];

const headingOf = (name) => benchElement(name)?.querySelector("h2")?.textContent;
const benchElement = (name) => (name ? document.querySelector(`.st-key-bench-${name}`) : null);

// The control that opens the card of the lesson with a hidden element.
const openerOf = (element) => element?.closest(CLOSED_CARD)?.querySelector("summary") ?? null;

// The bench with the largest visible area.
function benchInView() {
  const visibleHeight = (element) => {
    const { top, bottom } = element.getBoundingClientRect();
    return Math.min(bottom, window.innerHeight) - Math.max(top, 0);
  };
  const best = visibleBenches().reduce((a, b) => (!a || visibleHeight(b) > visibleHeight(a) ? b : a), null);
  return best && visibleHeight(best) > 0 ? benchName(best) : "";
}

const sliders = () => [...liveBenches()].flatMap((liveBench) => [...liveBench.controls.values()]).filter(({ slider }) => slider.positionOf);

// The style in which the server renders a figure for this page during a drag; equal for many students.
function renderStyle(name) {
  const liveBench = [...liveBenches()].find(({ source, view }) => source?.bench.endsWith(`.${name}`) && view.isMounted());
  const { query, client_renderer: clientRenderer, address } = liveBench?.source ?? {};
  return !address || clientRenderer || "own" in query ? null : [query.lang, query.present === "true", query.dark === "true"];
}

// The teacher's view, with slider values that are not in the URL yet.
export function currentView() {
  const values = settings();
  for (const { key, slider } of sliders()) {
    if (sameValue(slider.text, slider.options.start)) delete values[key];
    else values[key] = slider.text;
  }
  return { lesson: slug(), bench: benchInView(), values };
}

// Streamlit follows the URL, as after "back".
export function navigate(url) {
  history.replaceState(history.state, "", url);
  window.dispatchEvent(new PopStateEvent("popstate", { state: history.state }));
}

// On a phone, short labels are used where they exist.
function appendLabel(host, { text, short, press }) {
  if (!short) return host.append(text);
  createElement("span", host, { className: "long", textContent: text });
  createElement("span", host, { className: "short", textContent: short });
  if (press) host.ariaLabel = text;
}

const MAX_BAR_PX = 56; // pixels: an open list is over the page
const BAR_GAP_PX = 16;
let hasInput = false; // this tab was used
let isWatching = false; // a second page of the teacher that follows the first: its prose are the notes
const isPhone = () => matchMedia("(max-width: 640px)").matches;

class RoomChip {
  reported = ""; // the last reported view, as JSON
  isReporting = false;
  appliedJson = "";
  presence = { at: 0, json: "" };
  navigation = { at: performance.now(), wait: NAV_RETRY_MS }; // to where the teacher is, or asked for it
  goals = new Set(); // that this page has shown as reached
  isOverviewOpen = false; // where all students are
  isListOpen = false; // the list of what was sent
  ink = new Ink(); // what the teacher has drawn on the figure
  notes = new Map(); // notes that the teacher has asked for, by the number of the submission

  constructor(host) {
    this.host = host;
    this.timer = setInterval(() => this.tick(), TICK_MS);
    this.listeners = new AbortController();
    const options = { capture: true, passive: true, signal: this.listeners.signal };
    for (const kind of ["pointerdown", "keydown", "wheel"])
      window.addEventListener(kind, (event) => this.onUserInput(event), options);
    this.board = new Board(this, this.listeners.signal);
    this.sheet = new Sheet(() => this.closeQuestion(), this.listeners.signal);
    this.isPressed = trackPress(host, () => this.render(), this.listeners.signal);
  }

  currentView = currentView;

  get isFollowing() {
    return this.room.isFollowing;
  }

  set isFollowing(value) {
    this.room.isFollowing = value;
  }

  // lesson: of the rendered page; the URL is ahead of it while a page loads.
  update({ code, words, lesson, address }) {
    this.words = words;
    this.address = address;
    if (this.room?.code !== code) {
      this.room = joinRoom(code);
      this.listener = () => this.refresh();
      this.room.listeners.add(this.listener);
    }
    const { room } = this;
    if ((room.lesson ?? lesson) !== lesson && !room.expectedLessons.has(lesson)) room.isFollowing = false;
    room.lesson = lesson;
    this.refresh();
  }

  close() {
    clearInterval(this.timer);
    clearTimeout(this.navTimer);
    this.listeners.abort();
    this.room?.listeners.delete(this.listener);
    for (const element of visibleBenches()) element.inert = false;
    this.sheet.hide();
    this.board.close();
    this.ink.close();
    for (const name of ["height", "width"]) document.documentElement.style.removeProperty(`--seqviz-room-${name}`);
  }

  // A student who uses a control detaches from the teacher; a teacher who uses a page moves the class there.
  onUserInput({ isTrusted, target, type, key }) {
    if (isTrusted && !isWatching && !target.closest?.(".seqviz-room")) {
      hasInput = true;
      if (JSON.stringify(this.room?.state?.place) !== this.reported) this.reported = ""; // another device has reported since
    }
    if (type === "wheel" || !isTrusted || !this.room || this.room.isTeacher || !this.isFollowing) return;
    if (type === "keydown" && (["Tab", "Escape"].includes(key) || !target.matches?.(CONTROLS))) return;
    const control = target.closest?.(CONTROLS);
    if (!control?.closest('[class*="st-key-bench-"]') || control.closest('.seqviz-poll, .seqviz-class-run, [class*="-question"]')) return;
    if (!this.room.state?.place?.values) return;
    this.isFollowing = false;
    for (const { slider } of sliders()) if (slider.commitTimer) slider.move(slider.value, true); // the page hears of it now
    this.refresh();
  }

  tick() {
    const { room } = this;
    if (!room?.state || room.state.lost || room.ended) return;
    this.applyPermissions(room.state);
    this.onBenchChange();
    if (room.isTeacher) return isWatching ? this.recoverNavigation(room.state) : this.reportView(room);
    this.updateQuestion(room);
    this.recoverNavigation(room.state);
    this.reportLocation(room);
  }

  // Streamlit runs its last request: a script that requests its own rerun while the page changes keeps
  // the old page.
  recoverNavigation({ place }) {
    const { navigation, room } = this, now = performance.now();
    if (!room.isFollowing || !place?.values || place.lesson === room.lesson) this.navigation = { at: now, wait: NAV_RETRY_MS };
    else if (now - navigation.at > navigation.wait && document.querySelector(".stApp")?.dataset.testScriptState === "notRunning") {
      this.navigation = { at: now, wait: 2 * navigation.wait };
      navigate(this.addressOf(place));
    }
  }

  // A question is shown to followers whenever it needs an action or has a result; one that is already
  // revealed is not shown to a newcomer. It closes when the teacher moves something afterwards.
  updateQuestion(room) {
    const question = currentQuestion(room.state), { lesson, values } = room.state.place;
    const place = question?.state === "revealed" && JSON.stringify([lesson, values]);
    const stage = question && `${question.number} ${question.round} ${question.state === "revealed"}`;
    if (stage !== room.stage) {
      const isNew = question && (question.state !== "revealed" || room.stage !== undefined);
      const isSame = room.isSheetOpen && parseInt(stage) === parseInt(room.stage);
      room.isSheetOpen = Boolean(isNew && (room.isFollowing || isSame));
      Object.assign(room, { stage, placeAtReveal: place });
    }
    const isMoved = room.placeAtReveal !== place, isClosed = isMoved && room.isSheetOpen;
    if (isMoved) room.isSheetOpen = false;
    const host = room.isSheetOpen ? questionElement(question) : null;
    if (!host) this.sheet.hide();
    if (isClosed && place && room.isFollowing) showFigure(benchElement(room.state.place.bench));
    if (!host) return;
    openerOf(host)?.click();
    this.sheet.show(host, this.words, window.innerHeight - this.host.getBoundingClientRect().top + SHEET_GAP_PX);
  }

  // Go to the current question of the class, wherever it is.
  openQuestion(question) {
    const { room } = this;
    room.isSheetOpen = true;
    if (!questionElement(question)) return this.resumeFollowing();
    this.updateQuestion(room);
    this.sheet.focus();
  }

  closeQuestion() {
    this.room.isSheetOpen = false;
    this.sheet.hide();
  }

  // Another bench has become the visible one.
  onBenchChange() {
    const visible = benchInView(), state = `${visible} ${Boolean(this.board.field(benchElement(visible)))}`;
    this.visibleBench = visible;
    if (state === this.benchState) return;
    this.benchState = state;
    this.render();
  }

  async reportView(room) {
    if (room.restoring) return; // the server hears first how the room was
    if (room.lesson !== slug()) return; // on its way: the address is ahead of the figures
    // A second device of the teacher moves the class when it is used, not when it is opened.
    hasInput ||= !room.state.place?.values;
    const place = currentView();
    const text = JSON.stringify(place);
    if (!hasInput || this.isReporting || text === this.reported || document.hidden) return;
    this.reported = text;
    this.isReporting = true;
    try {
      await room.send({ kind: "navigate", ...place });
      this.rejection = null;
    } catch (error) {
      this.rejection = error.problem;
      if (["too_fast", "lost"].includes(error.problem)) setTimeout(() => (this.reported = ""), RETRY_MS);
    }
    this.isReporting = false;
    this.refresh();
  }

  reportLocation(room) {
    const now = performance.now();
    if (now - this.presence.at < PRESENCE_MS) return;
    for (const { dataset } of document.querySelectorAll('.seqviz-target[data-reached="true"]'))
      this.goals.add(`${slug()}/${dataset.target}`);
    const visible = benchInView();
    const message = { kind: "presence", bench: `${slug() || "home"}/${visible}`, detached: !this.isFollowing, goals: [...this.goals].slice(0, 40), view: renderStyle(visible) };
    const json = JSON.stringify(message);
    if (json === this.presence.json) return;
    this.presence = { at: now, json };
    room.send(message).catch(() => (this.presence.json = ""));
  }

  // Send something to the teacher, and show that it has arrived.
  async sendWithNotice(send, confirmation) {
    try {
      await send();
      this.showNotice(confirmation);
    } catch (error) {
      this.showNotice(this.errorMessage(error));
    }
  }

  showNotice(note) {
    this.note = note;
    this.refresh();
    setTimeout(() => {
      this.note = "";
      this.refresh();
    }, NOTE_MS);
  }

  // URL of a location in the app.
  addressOf({ lesson, values }) {
    const url = new URL(location);
    for (const key of Object.keys(settings(url))) url.searchParams.delete(key);
    for (const [key, value] of Object.entries(values)) url.searchParams.set(key, value);
    url.pathname = url.pathname.replace(/[^/]*$/, lesson);
    return url;
  }

  // Export questions, votes, links and goals as a table; it contains no names.
  async saveTable() {
    const summary = await this.room.get("summary");
    const rows = [["kind", "what", "round", "answer", "count"], ["seats", "", "", "", summary.seats]];
    for (const { key, counts } of summary.questions)
      counts.forEach((votes, round) => votes.forEach((count, answer) => rows.push(["vote", key, round + 1, answer + 1, count])));
    for (const { key, flow } of summary.questions)
      flow?.forEach((row, from) => row.forEach((count, to) => rows.push(["flow", key, from + 1, to + 1, count])));
    for (const place of summary.sent) {
      const url = this.addressOf(place);
      url.searchParams.delete("room");
      rows.push(["link", `${url}${place.bench ? `#bench-${place.bench}` : ""}`, "", "", ""]);
    }
    for (const { lesson, bench, text } of summary.texts) rows.push(["text", `${lesson}/${bench}`, "", text.replace(/^\s*[=+\-@＝＋－＠]/, "'$&"), ""]);
    for (const [goal, count] of Object.entries(summary.goals)) rows.push(["goal", goal, "", "", count]);
    const cell = (value) => `"${String(value).replaceAll('"', '""')}"`;
    this.download(new Blob(["\ufeff", rows.map((row) => row.map(cell).join(",")).join("\r\n")], { type: "text/csv" }), "csv");
  }

  async saveNotebook() {
    this.download(await (await this.room.notebook(new URL(".", location.origin + location.pathname).href)).blob(), "ipynb");
  }

  download(file, kind) {
    const link = Object.assign(document.createElement("a"), { href: URL.createObjectURL(file), download: `seqviz-class.${kind}` });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
  }

  // Pause, and figures that are locked: they take no focus and no input.
  applyPermissions({ paused }) {
    const student = !this.room.isTeacher && !this.room.ended;
    for (const element of visibleBenches()) {
      const isBarred = student && (paused || !this.isAllowed(benchName(element)));
      if (element.inert !== isBarred) element.inert = isBarred;
    }
  }

  isAllowed(name) {
    const { allowed } = this.room.state;
    return !allowed.length || allowed.includes(`${slug()}/${name}`);
  }

  // The figures from the visible one to another, in page order.
  benchRange(name) {
    const names = allBenches().map(benchName);
    const [first, last] = [names.indexOf(this.visibleBench), names.indexOf(name)].sort((a, b) => a - b);
    return names.slice(first, last + 1).map((id) => `${slug()}/${id}`);
  }

  refresh() {
    const { room } = this;
    if (!room) return;
    if (room.hasNewServer) {
      room.hasNewServer = false; // the server is another one: it hears again where this page is
      this.reported = "";
      this.presence.json = "";
    }
    const follows = (!room.isTeacher || isWatching) && this.isFollowing;
    if (room.state && follows && !room.ended && !room.state.lost) this.syncTo(room.state.place);
    this.showInk();
    if (room.ended) {
      for (const element of visibleBenches()) element.inert = false;
      this.sheet.hide();
    }
    if (room.state && !room.ended) this.board.onState(room.state);
    if (room.isTeacher && room.state) this.board.render();
    if (room.state && !room.isTeacher && !room.ended && !room.state.lost) this.updateQuestion(room);
    this.render();
  }

  // The page that draws shows its own strokes (present.js).
  showInk() {
    const { place, ink } = this.room.state ?? {};
    const isShown = ink?.length && this.isFollowing && !this.room.ended && place.lesson === slug() && !document.querySelector(".seqviz-presenter");
    this.ink.show(() => benchElement(place.bench), isShown ? ink : []);
  }

  syncTo(place) {
    if (!place?.values) return;
    const text = JSON.stringify(place);
    if (text === this.appliedJson) return;
    const before = this.appliedJson ? JSON.parse(this.appliedJson).bench : null;
    const url = this.addressOf(place);
    clearTimeout(this.navTimer);
    if (place.lesson !== this.room.lesson) {
      this.appliedJson = ""; // until the page has come
      this.room.expectedLessons.add(place.lesson);
      if (place.lesson !== slug()) navigate(url);
      return;
    }
    this.room.expectedLessons.clear();
    this.appliedJson = text;
    this.set(place.values, url);
    if (place.bench && place.bench !== before) goToBench(place.bench);
  }

  // Apply only differences. A slider moves as in a drag; for anything else the figure comes first, and the
  // page navigates a little later.
  set(values, url) {
    const slidersByKey = new Map(sliders().map((control) => [control.key, control]));
    for (const [key, { slider, bench: liveBench }] of slidersByKey) {
      const target = values[key] ?? slider.options.start;
      if (sameValue(target, slider.text)) continue;
      slider.move(slider.positionOf(target), true, IDLE_MS + Math.random() * PER_STUDENT_MS * this.room.state.present);
      liveBench.isFollower = true;
    }
    const current = settings();
    const stepsByKey = new Map([...liveBenches()].filter(({ steps }) => steps).map(({ steps }) => [steps.data.key, steps]));
    for (const [key, steps] of stepsByKey) steps.follow(Number(values[key] ?? 0));
    const otherKeys = [...new Set([...Object.keys(current), ...Object.keys(values)])]
      .filter((key) => !slidersByKey.has(key) && !stepsByKey.has(key) && !sameValue(current[key] ?? null, values[key] ?? null));
    if (otherKeys.length === 0) return;
    // Sliders of a page that was left are gone: values set there would never be rendered.
    for (const liveBench of [...liveBenches()].filter(({ view, controls }) => view?.isMounted() || controls.size > 0))
      liveBench.set(Object.fromEntries(otherKeys.filter((key) => key.startsWith(`${liveBench.source?.bench}.`)).map((key) => [key, values[key] ?? null])));
    const lesson = slug();
    this.navTimer = setTimeout(() => this.isFollowing && slug() === lesson && navigate(url), Math.random() * JITTER_MS);
  }

  // Go to a location that a participant has sent.
  visit(place) {
    if (this.room.isTeacher) this.watch(false);
    else this.isFollowing = false;
    navigate(this.addressOf(place));
    setTimeout(() => goToBench(place.bench), place.lesson === slug() ? 0 : JITTER_MS);
    this.refresh();
  }

  // Open a text of the board in its bench, at the settings for which it was sent.
  useText({ lesson, bench, values, key, text }) {
    const prefix = key.replace(/[^.]*$/, "");
    const others = Object.entries(settings()).filter(([name]) => lesson === slug() && !name.startsWith(prefix));
    this.visit({ lesson, bench, values: { ...Object.fromEntries(others), ...values, [key]: text } });
  }

  // A second page of the teacher follows the first, or leads the class from here.
  watch(isOn) {
    isWatching = isOn;
    hasInput = !isOn;
    this.isFollowing = true;
    this.appliedJson = this.reported = "";
    this.refresh();
  }

  resumeFollowing() {
    this.isFollowing = true;
    this.appliedJson = "";
    const question = currentQuestion(this.room.state);
    if (question && question.state !== "revealed") this.room.isSheetOpen = true;
    this.refresh();
  }

  participantName(number) {
    const { names } = this.words;
    const round = Math.floor((number - 1) / names.length);
    return names[(number - 1) % names.length] + (round ? ` ${round + 1}` : "");
  }

  // A location in the page's language.
  describePlace({ lesson, bench }) {
    const title = this.words.lessons[lesson] ?? this.words.home;
    const heading = lesson === slug() && headingOf(bench);
    return heading ? `${title} · ${heading}` : title;
  }

  // A dot per student at each figure, hollow for one who is stuck, and per reached goal.
  overview({ dots, goals }) {
    const { words } = this, rows = new Map();
    const addRow = (text, full, hollow) => {
      const [nFull, nHollow] = rows.get(text) ?? [0, 0];
      rows.set(text, [nFull + full, nHollow + hollow]);
    };
    for (const [place, [count, stuck]] of Object.entries(dots)) {
      const [lesson, bench] = place.split("/");
      if (place) addRow(this.describePlace({ lesson, bench }), count - stuck, stuck);
    }
    for (const [goal, count] of Object.entries(goals)) {
      const [lesson, target] = goal.split("/");
      const goalElement = document.querySelector(`.seqviz-target[data-target="${target}"]`)?.closest('[class*="st-key-bench-"]');
      addRow(interpolate(words.dots_goal, { place: this.describePlace({ lesson, bench: goalElement ? benchName(goalElement) : "" }) }), count, 0);
    }
    const render = (host) => {
      const list = createElement("ol", host, { className: "sent seat-dots" });
      createElement("li", list, { textContent: words.dots });
      for (const [text, [full, hollow]] of rows) {
        const item = createElement("li", list);
        createElement("span", item, { textContent: text });
        createElement("b", item, { textContent: full + hollow });
        createElement("i", item, { textContent: "●".repeat(full) + "○".repeat(hollow), ariaHidden: "true" });
      }
    };
    return { render, data: [...rows] };
  }

  // Rebuilt only where the content changes, so that the focus stays; the action of a button may change, as it
  // refers to the visible figure.
  render() {
    if (this.isPressed()) return;
    const items = (this.renderedItems = this.items());
    const json = JSON.stringify(items, (_, value) => (typeof value === "function" ? undefined : value));
    if (json === this.renderedJson) return;
    this.renderedJson = json;
    const { host } = this;
    host.replaceChildren();
    for (const [index, item] of items.entries()) {
      if (item.render) item.render(host);
      else if (item.list) this.renderList(item.list);
      else if (!item.press) appendLabel(createElement("span", host, { className: item.kind ?? "" }), item);
      else appendLabel(createElement("button", host, { type: "button", className: item.kind ?? "", onclick: () => this.renderedItems[index].press() }), item);
    }
    this.reportSize();
  }

  // Its place at the edge of the window, for what else stands there (phone.css, present.css).
  reportSize() {
    const { style } = document.documentElement;
    style.setProperty("--seqviz-room-height", `${Math.min(MAX_BAR_PX, this.host.offsetHeight) + BAR_GAP_PX}px`);
    style.setProperty("--seqviz-room-width", `${this.host.offsetWidth + BAR_GAP_PX}px`);
  }

  // Submissions in the teacher's order. They show only locations, and a note that was asked for.
  renderList(sent) {
    const { words } = this;
    const list = createElement("ol", this.host, { className: "sent" });
    for (const place of sent) {
      const item = createElement("li", list);
      const { has_text: hasText } = place;
      createElement("span", item, { textContent: `${this.describePlace(place)}${hasText ? ` (${words.with_text})` : ""}` });
      const numbers = sent.map(({ number }) => number), otherNumbers = numbers.filter((number) => number !== place.number);
      const onError = (error) => this.showNotice(this.errorMessage(error));
      const order = (next) => () => this.room.send({ kind: "order", sent: next }).catch(onError);
      const press = (text, onclick) => createElement("button", item, { type: "button", textContent: text, onclick });
      // The values are requested when they are needed.
      const visit = (texts) => async () => {
        try {
          const { text_keys: textKeys, note, ...details } = await this.room.get(`submissions/${place.number}`);
          const values = Object.entries(details.values).filter(([key]) => texts || !textKeys.includes(key));
          this.visit({ ...details, values: Object.fromEntries(values) });
        } catch (error) {
          onError(error);
        }
      };
      // On a projector the class would read it, so it is shown when the teacher asks.
      const readNote = async () => {
        try {
          this.notes.set(place.number, (await this.room.get(`submissions/${place.number}`)).note);
          this.render();
        } catch (error) {
          onError(error);
        }
      };
      if (this.notes.has(place.number)) createElement("q", item, { textContent: this.notes.get(place.number) });
      else if (place.has_note) press(words.show_note, readNote);
      if (hasText && this.openItem === place.number) {
        press(words.show_with, visit(true));
        press(words.show_without, visit(false));
      } else
        press(words.show, () => {
          if (!hasText) return visit(true)();
          this.openItem = place.number;
          this.render();
        });
      press(words.first, order([place.number, ...otherNumbers]));
      press(words.remove, order(otherNumbers));
      press(words.send_out, () => this.removeSeat(place));
    }
  }

  // The figures that the class may use: from the visible one to another.
  rangeList() {
    const others = allBenches().map(benchName).filter((name) => name !== this.visibleBench && headingOf(name));
    const render = (host) => {
      const list = createElement("ol", host, { className: "sent range" });
      createElement("li", list, { textContent: interpolate(this.words.range_to, { place: headingOf(this.visibleBench) }) });
      for (const name of others) {
        const press = () => {
          this.isRangeOpen = false;
          this.room.send({ kind: "allow", benches: this.benchRange(name) }).catch((error) => this.showNotice(this.errorMessage(error)));
        };
        createElement("button", createElement("li", list), { type: "button", textContent: headingOf(name), onclick: press });
      }
    };
    return { render, data: [this.visibleBench, others] };
  }

  items() {
    const { room, words } = this;
    const { state } = room;
    const code = { text: formatCode(room.code), kind: "code" };
    if (room.ended) {
      const reopen = room.endReason === "room_lost" ? [{ text: words.new_room, press: () => this.reopen() }] : [];
      return [{ text: words[room.endReason] ?? words.ended }, ...reopen, { text: words.leave, press: () => this.onClosed() }];
    }
    if (room.isDisplaced) return [{ text: words.displaced, kind: "calm" }];
    if (room.error && !state) return [code, { text: this.errorMessage(room.error) }, { text: words.leave, press: () => this.onClosed() }];
    if (!state) return [code];
    const lostNote = state.lost ? [{ text: words.lost, kind: "lost" }] : [];
    const toggleOverview = () => {
      this.isOverviewOpen = !this.isOverviewOpen;
      this.refresh();
    };
    const presentItem = { text: interpolate(words.here, { count: state.present }), kind: "count", press: toggleOverview };
    const [lists, buttons] = this.board.items(benchElement(this.visibleBench));
    if (!room.isTeacher) {
      const nameItem = { text: this.participantName(room.credentials.number), kind: "name" };
      if (state.paused) return [nameItem, { text: words.paused, kind: "calm" }, ...lostNote];
      if (!state.place.values) return [nameItem, { text: words.waits }, ...lostNote];
      const notAllowed = this.visibleBench && !this.isAllowed(this.visibleBench) ? [{ text: words.not_yet, kind: "calm" }] : [];
      const question = this.questionItems(currentQuestion(state));
      const send = this.note
        ? [{ text: this.note }]
        : currentQuestion(state)?.state === "open"
          ? []
          : [{ text: words.send, short: words.send_short, press: () => this.sendWithNotice(() => room.send({ kind: "send", ...currentView() }), words.was_sent) }, ...buttons];
      const followItems = question.length ? [] : [{ text: words.following, short: words.following_short }];
      const place = this.describePlace(state.place), title = this.describePlace({ lesson: state.place.lesson });
      const awayItems = [{ text: interpolate(words.teacher_at, { place }), short: interpolate(words.teacher_short, { place: title }) }, { text: words.back, press: () => this.resumeFollowing() }];
      return [...lists, nameItem, ...question, ...notAllowed, ...(this.isFollowing ? (notAllowed.length ? [] : followItems) : awayItems), ...send, ...lostNote];
    }
    const command = (message) => () => room.send(message).catch((error) => this.showNotice(this.errorMessage(error)));
    const { detached, paused } = state;
    const detachedItem = detached ? [{ text: interpolate(words.apart, { count: detached }) }] : [];
    const nReached = Object.values(state.goals ?? {}).reduce((sum, count) => sum + count, 0);
    const goals = nReached ? [{ text: interpolate(words.reached, { count: nReached }) }] : [];
    const sent = state.sent ?? [];
    if (!sent.length) this.isListOpen = false; // what is sent next does not open it on the projector
    const toggle = () => {
      this.isListOpen = !this.isListOpen;
      this.refresh();
    };
    const list = sent.length ? [{ text: interpolate(words.sent, { count: sent.length }), press: toggle }] : [];
    const visibleName = this.visibleBench ? [`${slug()}/${this.visibleBench}`] : [];
    const toggleRange = () => {
      this.isRangeOpen = !this.isRangeOpen;
      this.refresh();
    };
    const permissionItems = state.allowed.length
      ? [{ text: words.use, kind: "use" }, { text: words.all_benches, press: command({ kind: "allow", benches: [] }) }]
      : visibleName.length
        ? [{ text: words.use, kind: "use" }, { text: words.spotlight, press: command({ kind: "allow", benches: visibleName }) }, { text: words.range, press: toggleRange }]
        : [];
    const address = this.address ? [{ text: this.address, kind: "address" }] : [];
    const rangeLists = this.isRangeOpen && !state.allowed.length && visibleName.length ? [this.rangeList()] : [];
    const nStuck = Object.values(state.dots ?? {}).reduce((sum, dot) => sum + dot[1], 0);
    return [
      ...(this.isOverviewOpen ? [this.overview(state)] : []), ...(this.isListOpen && sent.length ? [{ list: sent, openItem: this.openItem, notes: [...this.notes] }] : []), ...rangeLists, ...lists, code, ...address, presentItem, ...detachedItem, ...goals, ...list, ...buttons,
      ...(this.note ? [{ text: this.note }] : []), ...(nStuck ? [{ text: interpolate(words.stuck, { count: nStuck }) }] : []),
      { text: paused ? words.resume : words.pause, press: command({ kind: "pause", on: !paused }) },
      ...(state.door ? [] : [{ text: words.door_closed, kind: "calm" }]),
      { text: state.door ? words.door_close : words.door_open, press: command({ kind: "door", open: !state.door }) },
      ...permissionItems,
      ...(isWatching || isPhone() ? [{ text: isWatching ? words.lead : words.watch, press: () => this.watch(!isWatching) }] : []),
      { text: words.keep, press: () => this.saveTable().catch((error) => this.showNotice(this.errorMessage(error))) },
      { text: words.keep_notebook, press: () => this.saveNotebook().catch((error) => this.showNotice(this.errorMessage(error))) },
      { text: words.end, press: () => confirm(words.sure) && command({ kind: "end" })() },
      ...(this.rejection ? [{ text: words[`problem_${this.rejection}`] ?? words.problem_bad, kind: "lost" }] : []), ...lostNote,
    ];
  }

  // Before it is revealed: that there is a question, and a button that opens it.
  questionItems(question) {
    const { words } = this;
    if (!question || question.state === "revealed") return [];
    const { isDrawing, state, round } = question;
    const press = () => this.openQuestion(question);
    if (state === "open")
      return [{ text: isDrawing ? words.drawing_open : words.vote_open, kind: "put" }, { text: isDrawing ? words.to_draw : words.to_vote, press }];
    const text = isDrawing ? words.drawing_closed : round === 1 ? words.talk : words.closed;
    return [{ text, short: isDrawing ? "" : words.closed }, { text: words.to_question, press }];
  }

  errorMessage({ problem, details }) {
    return interpolate(this.words[`problem_${problem}`] ?? this.words.lost, details ?? {});
  }

  // Create a room where the server has lost this one. The page is reloaded, because its own connection to
  // that server may not exist yet.
  async reopen() {
    try {
      const url = new URL(location);
      url.searchParams.set("room", await openRoom());
      location.assign(url);
    } catch (error) {
      this.showNotice(this.errorMessage(error));
    }
  }

  // Remove a seat with its submissions.
  async removeSeat({ seat, device }) {
    try {
      await this.room.send({ kind: "remove", seat });
      this.showNotice(device ? this.words.was_sent_out : this.words.sent_out_door);
    } catch (error) {
      this.showNotice(this.errorMessage(error));
    }
  }

  onClosed() {
    joinRoom("");
    this.onLeave?.();
  }
}

export default function ({ data, parentElement, setTriggerValue }) {
  const host = parentElement.querySelector(".seqviz-room");
  host.chip ??= new RoomChip(host);
  host.chip.onLeave = () => setTriggerValue("leave", Date.now());
  host.chip.update(data);
  return () => {
    host.chip?.close();
    delete host.chip;
  };
}
