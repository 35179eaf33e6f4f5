// A class in a room: a teacher's browser tells what it shows, students' browsers follow, and a chip
// says where one is.

import { every } from "../bench/live.js";
import { asked, placeOf, Sheet } from "./question_sheet.js";
import { Board } from "./room_board.js";
import { shown as codeShown } from "./room_code.js";
import { openRoom, presses, room as enter } from "./room_client.js";
import { element } from "../components/slider.js";
import { filled } from "../components/format.js";

const WATCH_MS = 100;
const WHERE_MS = 3000; // between two words about where a student is
const NOTE_MS = 2500;
const BELOW = 6; // pixels between a sheet and the chip
const RESTED_MS = 400; // after which a teacher's slider is at rest
const EACH_MS = 50; // and for each who is here: in all of that the pages hear of it, as each runs for it
const AGAIN_MS = 1000; // after which a teacher's word is said again that was too much, or lost
const SPREAD_MS = 1200; // in which the pages of a class are drawn that no hand can draw
const LOST_MS = 2500; // after which a change of page is asked for again; then twice as long, and so on
const SETTING = /^[a-z]{2}\.[a-z_0-9.]+$/;
const PARTS = '[data-testid="stTabPanel"]'; // of a lesson, one of them open
const HELD = 'input, select, textarea, button, [role="radio"], [role="option"], [role="tab"], .seqviz-slider, .js-plotly-plot';
const same = (one, other) => one === other || (one !== null && other !== null && Number(one) === Number(other));

const slug = () => location.pathname.split("/").pop();
const settings = (url = new URL(location)) =>
  Object.fromEntries([...url.searchParams].filter(([key]) => SETTING.test(key)));
const all = () => [...document.querySelectorAll('[class*="st-key-bench-"]')];
const benches = () => all().filter((one) => one.getClientRects().length > 0);
const nameOf = (bench) => /st-key-bench-(\w+)/.exec(bench.className)[1];

const headingOf = (name) => bench(name)?.querySelector("h2")?.textContent;
const bench = (name) => (name ? document.querySelector(`.st-key-bench-${name}`) : null);

// What opens the part of the lesson in which an element is out of sight.
function partOf(element) {
  const part = element?.closest(PARTS);
  if (!part || element.getClientRects().length > 0) return null;
  const tabs = part.closest(".stTabs");
  return tabs.querySelectorAll("[role=tab]")[[...tabs.querySelectorAll(PARTS)].indexOf(part)];
}

// The bench that takes the most of the window.
function inSight() {
  const seen = (bench) => {
    const { top, bottom } = bench.getBoundingClientRect();
    return Math.min(bottom, window.innerHeight) - Math.max(top, 0);
  };
  const best = benches().reduce((one, other) => (!one || seen(other) > seen(one) ? other : one), null);
  return best && seen(best) > 0 ? nameOf(best) : "";
}

const sliders = () => [...every()].flatMap((place) => [...place.controls.values()]).filter(({ slider }) => slider.placed);

// How a figure looks on this page, where it is the server that draws it under a hand: the same for many.
function drawnAs(name) {
  const place = [...every()].find(({ source, painter }) => source?.bench.endsWith(`.${name}`) && painter.there());
  const { query, answers, address } = place?.source ?? {};
  return !address || answers || "own" in query ? null : [query.lang, query.present === "true", query.dark === "true"];
}

// What a teacher shows, with what a hand has moved and the address does not say yet.
export function shown() {
  const values = settings();
  for (const { key, slider } of sliders()) {
    if (same(slider.text, slider.options.start)) delete values[key];
    else values[key] = slider.text;
  }
  return { lesson: slug(), bench: inSight(), values };
}

// Streamlit goes where the address says, as it does for "back".
export function go(url) {
  history.replaceState(history.state, "", url);
  window.dispatchEvent(new PopStateEvent("popstate", { state: history.state }));
}

// A phone has room for the short words of a part, where it has them.
function said(host, { text, short, press }) {
  if (!short) return host.append(text);
  element("span", host, { className: "long", textContent: text });
  element("span", host, { className: "short", textContent: short });
  if (press) host.ariaLabel = text;
}

let moved = false; // a hand was on this tab

class Class {
  told = ""; // what was said last
  saying = false;
  applied = "";
  where = { at: 0, told: "" };
  came = { at: performance.now(), wait: LOST_MS }; // to where the teacher is, or asked for it
  goals = new Set(); // that this page has shown as reached
  looking = false; // at where all are
  open = false; // the list of what was sent

  constructor(host) {
    this.host = host;
    this.timer = setInterval(() => this.watch(), WATCH_MS);
    this.listening = new AbortController();
    const options = { capture: true, passive: true, signal: this.listening.signal };
    for (const kind of ["pointerdown", "keydown", "wheel"])
      window.addEventListener(kind, (event) => this.touched(event), options);
    this.board = new Board(this, this.listening.signal);
    this.sheet = new Sheet(() => this.leaveQuestion(), this.listening.signal);
    this.pressed = presses(host, () => this.draw(), this.listening.signal);
  }

  shown = shown;

  get following() {
    return this.room.following;
  }

  set following(on) {
    this.room.following = on;
  }

  // lesson: whose page this is; the address is ahead of it while a page is on its way.
  take({ code, words, lesson }) {
    this.words = words;
    if (this.room?.code !== code) {
      this.room = enter(code);
      this.heard = () => this.changed();
      this.room.listeners.add(this.heard);
    }
    const { room } = this;
    if ((room.lesson ?? lesson) !== lesson && !room.asked.has(lesson)) room.following = false;
    room.lesson = lesson;
    this.changed();
  }

  close() {
    clearInterval(this.timer);
    clearTimeout(this.going);
    this.listening.abort();
    this.room?.listeners.delete(this.heard);
    for (const bench of benches()) bench.inert = false;
    this.sheet.hide();
    this.board.close();
  }

  // A student's hand on a control goes its own way; a teacher's on a page takes the class there.
  touched({ isTrusted, target, type, key }) {
    if (isTrusted && !target.closest?.(".seqviz-room")) {
      moved = true;
      if (JSON.stringify(this.room?.state?.place) !== this.told) this.told = ""; // another device has told since
    }
    if (type === "wheel" || !isTrusted || !this.room || this.room.teaches || !this.following) return;
    if (type === "keydown" && (["Tab", "Escape"].includes(key) || !target.matches?.(HELD))) return;
    const held = target.closest?.(HELD);
    if (!held?.closest('[class*="st-key-bench-"]') || held.closest(".seqviz-ballot, .seqviz-class-run")) return;
    if (!this.room.state?.place?.values) return;
    this.following = false;
    for (const { slider } of sliders()) if (slider.resting) slider.move(slider.value, true); // the page hears of it now
    this.changed();
  }

  watch() {
    const { room } = this;
    if (!room?.state || room.state.lost || room.ended) return;
    this.hold(room.state);
    this.look();
    if (room.teaches) return this.tell(room);
    this.question(room);
    this.arrive(room.state);
    this.report(room);
  }

  // Streamlit runs the last that it was asked for: a script that asks for its own rerun while the page
  // changes keeps the page.
  arrive({ place }) {
    const { came, room } = this, now = performance.now();
    if (!room.following || !place?.values || place.lesson === room.lesson) this.came = { at: now, wait: LOST_MS };
    else if (now - came.at > came.wait && document.querySelector(".stApp")?.dataset.testScriptState === "notRunning") {
      this.came = { at: now, wait: 2 * came.wait };
      go(this.address(place));
    }
  }

  // Each time that there is something to do or to see in it, the question comes to who follows; who
  // finds it revealed has not been there. It goes when the teacher moves something after that.
  question(room) {
    const question = asked(room.state), { lesson, values } = room.state.place;
    const place = question?.state === "revealed" && JSON.stringify([lesson, values]);
    const stage = question && `${question.number} ${question.round} ${question.state === "revealed"}`;
    if (stage !== room.stage) {
      const comes = question && (question.state !== "revealed" || room.stage !== undefined);
      const same = room.opens && parseInt(stage) === parseInt(room.stage);
      room.opens = Boolean(comes && (room.following || same));
      Object.assign(room, { stage, place });
    }
    if (room.place !== place) room.opens = false;
    const host = room.opens ? placeOf(question) : null;
    if (!host) return this.sheet.hide();
    partOf(host)?.click();
    this.sheet.show(host, this.words, window.innerHeight - this.host.getBoundingClientRect().top + BELOW);
  }

  // To the question that the class is at, wherever it is.
  openQuestion(question) {
    const { room } = this;
    room.opens = true;
    if (!placeOf(question)) return this.back();
    this.question(room);
    this.sheet.focus();
  }

  leaveQuestion() {
    this.room.opens = false;
    this.sheet.hide();
  }

  // Another bench than before is in sight.
  look() {
    const seen = inSight(), looks = `${seen} ${Boolean(this.board.field(bench(seen)))}`;
    this.seen = seen;
    if (looks === this.looks) return;
    this.looks = looks;
    this.draw();
  }

  async tell(room) {
    if (room.restoring) return; // the server hears first how the room was
    if (room.lesson !== slug()) return; // on its way: the address is ahead of the figures
    // A second device of the teacher takes the class along when it is used, not when it is opened.
    moved ||= !room.state.place?.values;
    const place = shown();
    const text = JSON.stringify(place);
    if (!moved || this.saying || text === this.told || document.hidden) return;
    this.told = text;
    this.saying = true;
    try {
      await room.say({ kind: "navigate", ...place });
      this.refused = null;
    } catch (refusal) {
      this.refused = refusal.problem;
      if (["too_fast", "lost"].includes(refusal.problem)) setTimeout(() => (this.told = ""), AGAIN_MS);
    }
    this.saying = false;
    this.changed();
  }

  report(room) {
    const now = performance.now();
    if (now - this.where.at < WHERE_MS) return;
    for (const { dataset } of document.querySelectorAll('.seqviz-target[data-reached="true"]'))
      this.goals.add(`${slug()}/${dataset.target}`);
    const seen = inSight();
    const said = { kind: "presence", bench: `${slug() || "home"}/${seen}`, detached: !this.following, goals: [...this.goals].slice(0, 40), looks: drawnAs(seen) };
    const told = JSON.stringify(said);
    if (told === this.where.told) return;
    this.where = { at: now, told };
    room.say(said).catch(() => (this.where.told = ""));
  }

  // Something that goes to the teacher, and that it has.
  async sent(send, done) {
    try {
      await send();
      this.notice(done);
    } catch (refusal) {
      this.notice(this.sentence(refusal));
    }
  }

  notice(note) {
    this.note = note;
    this.changed();
    setTimeout(() => {
      this.note = "";
      this.changed();
    }, NOTE_MS);
  }

  // Where a place is in the app.
  address({ lesson, values }) {
    const url = new URL(location);
    for (const key of Object.keys(settings(url))) url.searchParams.delete(key);
    for (const [key, value] of Object.entries(values)) url.searchParams.set(key, value);
    url.pathname = url.pathname.replace(/[^/]*$/, lesson);
    return url;
  }

  // Questions, votes, links and goals as a table in a file; nobody's name is in it.
  async keep() {
    const left = await this.room.ask("summary");
    const rows = [["kind", "what", "round", "answer", "count"], ["seats", "", "", "", left.seats]];
    for (const { key, counts } of left.questions)
      counts.forEach((votes, round) => votes.forEach((count, answer) => rows.push(["vote", key, round + 1, answer + 1, count])));
    for (const { key, flow } of left.questions)
      flow?.forEach((row, from) => row.forEach((count, to) => rows.push(["flow", key, from + 1, to + 1, count])));
    for (const place of left.sent) {
      const url = this.address(place);
      url.searchParams.delete("room");
      rows.push(["link", `${url}${place.bench ? `#bench-${place.bench}` : ""}`, "", "", ""]);
    }
    for (const { lesson, bench, text } of left.texts) rows.push(["text", `${lesson}/${bench}`, "", text.replace(/^\s*[=+\-@＝＋－＠]/, "'$&"), ""]);
    for (const [goal, count] of Object.entries(left.goals)) rows.push(["goal", goal, "", "", count]);
    const cell = (one) => `"${String(one).replaceAll('"', '""')}"`;
    this.save(new Blob(["\ufeff", rows.map((row) => row.map(cell).join(",")).join("\r\n")], { type: "text/csv" }), "csv");
  }

  async keepNotebook() {
    this.save(await (await this.room.notebook(new URL(".", location.origin + location.pathname).href)).blob(), "ipynb");
  }

  save(file, kind) {
    const link = Object.assign(document.createElement("a"), { href: URL.createObjectURL(file), download: `seqviz-class.${kind}` });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
  }

  // Pause, and figures that are not to be used: they have no focus and take no press.
  hold({ paused }) {
    const student = !this.room.teaches && !this.room.ended;
    for (const bench of benches()) {
      const barred = student && (paused || !this.allowed(nameOf(bench)));
      if (bench.inert !== barred) bench.inert = barred;
    }
  }

  allowed(name) {
    const { allowed } = this.room.state;
    return !allowed.length || allowed.includes(`${slug()}/${name}`);
  }

  // The figures from the one in sight to another, in the order of the page.
  between(name) {
    const names = all().map(nameOf);
    const [first, last] = [names.indexOf(this.seen), names.indexOf(name)].sort((one, other) => one - other);
    return names.slice(first, last + 1).map((one) => `${slug()}/${one}`);
  }

  changed() {
    const { room } = this;
    if (!room) return;
    if (room.fresh) {
      room.fresh = false; // the server is another one: it hears again where this page is
      this.told = "";
      this.where.told = "";
    }
    if (room.state && !room.teaches && this.following && !room.ended && !room.state.lost) this.follow(room.state.place);
    if (room.ended) {
      for (const bench of benches()) bench.inert = false;
      this.sheet.hide();
    }
    if (room.state && !room.ended) this.board.heard(room.state);
    if (room.teaches && room.state) this.board.draw();
    if (room.state && !room.teaches && !room.ended && !room.state.lost) this.question(room);
    this.draw();
  }

  follow(place) {
    if (!place?.values) return;
    const text = JSON.stringify(place);
    if (text === this.applied) return;
    const before = this.applied ? JSON.parse(this.applied).bench : null;
    const url = this.address(place);
    clearTimeout(this.going);
    if (place.lesson !== this.room.lesson) {
      this.applied = ""; // until the page has come
      this.room.asked.add(place.lesson);
      if (place.lesson !== slug()) go(url);
      return;
    }
    this.room.asked.clear();
    this.applied = text;
    this.set(place.values, url);
    if (place.bench && place.bench !== before) this.lookAt(place.bench);
  }

  // Only what differs. A slider moves as under a hand; for anything else the picture comes first,
  // and the page a little later.
  set(values, url) {
    const known = new Map(sliders().map((control) => [control.key, control]));
    for (const [key, { slider, place }] of known) {
      const wanted = values[key] ?? slider.options.start;
      if (same(wanted, slider.text)) continue;
      slider.move(slider.placed(wanted), true, RESTED_MS + Math.random() * EACH_MS * this.room.state.present);
      place.led = true;
    }
    const own = settings();
    const others = [...new Set([...Object.keys(own), ...Object.keys(values)])]
      .filter((key) => !known.has(key) && !same(own[key] ?? null, values[key] ?? null));
    if (others.length === 0) return;
    // Those of a page that was left are gone: nothing would ever draw what is set there.
    for (const place of [...every()].filter(({ painter, controls }) => painter?.there() || controls.size > 0))
      place.set(Object.fromEntries(others.filter((key) => key.startsWith(`${place.source?.bench}.`)).map((key) => [key, values[key] ?? null])));
    const on = slug();
    this.going = setTimeout(() => this.following && slug() === on && go(url), Math.random() * SPREAD_MS);
  }

  lookAt(name) {
    const found = bench(name), tab = partOf(found);
    if (tab) {
      tab.click();
      setTimeout(() => found.scrollIntoView({ block: "start" }), WATCH_MS); // it has a place by then
      return;
    }
    found?.scrollIntoView({ block: "start", behavior: "smooth" });
  }

  // To a place that somebody has sent.
  visit(place) {
    if (this.room.teaches) moved = true;
    else this.following = false;
    go(this.address(place));
    setTimeout(() => this.lookAt(place.bench), place.lesson === slug() ? 0 : SPREAD_MS);
    this.changed();
  }

  // A text of the board in its bench, at the settings for which it was sent.
  use({ lesson, bench, values, key, text }) {
    const own = key.replace(/[^.]*$/, "");
    const others = Object.entries(settings()).filter(([one]) => lesson === slug() && !one.startsWith(own));
    this.visit({ lesson, bench, values: { ...Object.fromEntries(others), ...values, [key]: text } });
  }

  back() {
    this.following = true;
    this.applied = "";
    const question = asked(this.room.state);
    if (question && question.state !== "revealed") this.room.opens = true;
    this.changed();
  }

  name(number) {
    const { names } = this.words;
    const round = Math.floor((number - 1) / names.length);
    return names[(number - 1) % names.length] + (round ? ` ${round + 1}` : "");
  }

  // Where somebody is, in the words of this page.
  placed({ lesson, bench }) {
    const title = this.words.lessons[lesson] ?? this.words.home;
    const heading = lesson === slug() && headingOf(bench);
    return heading ? `${title} · ${heading}` : title;
  }

  // A dot for each student at each figure, hollow for who is stuck, and for each goal that is reached.
  dots({ dots, goals }) {
    const { words } = this, rows = new Map();
    const add = (text, full, hollow) => {
      const [one, other] = rows.get(text) ?? [0, 0];
      rows.set(text, [one + full, other + hollow]);
    };
    for (const [place, [count, stuck]] of Object.entries(dots)) {
      const [lesson, bench] = place.split("/");
      if (place) add(this.placed({ lesson, bench }), count - stuck, stuck);
    }
    for (const [goal, count] of Object.entries(goals)) {
      const [lesson, target] = goal.split("/");
      const at = document.querySelector(`.seqviz-target[data-target="${target}"]`)?.closest('[class*="st-key-bench-"]');
      add(filled(words.dots_goal, { place: this.placed({ lesson, bench: at ? nameOf(at) : "" }) }), count, 0);
    }
    const draw = (host) => {
      const list = element("ol", host, { className: "sent dots" });
      element("li", list, { textContent: words.dots });
      for (const [text, [full, hollow]] of rows) {
        const item = element("li", list);
        element("span", item, { textContent: text });
        element("b", item, { textContent: full + hollow });
        element("i", item, { textContent: "●".repeat(full) + "○".repeat(hollow), ariaHidden: "true" });
      }
    };
    return { draw, told: [...rows] };
  }

  // Made anew only where it says something else, so that the focus stays; what a press does may be
  // another, as it is about the figure in sight.
  draw() {
    if (this.pressed()) return;
    const parts = (this.drawnParts = this.parts());
    const told = JSON.stringify(parts, (_, one) => (typeof one === "function" ? undefined : one));
    if (told === this.drawn) return;
    this.drawn = told;
    const { host } = this;
    host.replaceChildren();
    for (const [at, part] of parts.entries()) {
      if (part.draw) part.draw(host);
      else if (part.list) this.list(part.list);
      else if (!part.press) said(element("span", host, { className: part.kind ?? "" }), part);
      else said(element("button", host, { type: "button", onclick: () => this.drawnParts[at].press() }), part);
    }
  }

  // What was sent, in the teacher's order. Nothing that a student wrote stands here: only where it is.
  list(sent) {
    const { words } = this;
    const list = element("ol", this.host, { className: "sent" });
    for (const place of sent) {
      const item = element("li", list);
      const { has_text: own } = place;
      element("span", item, { textContent: `${this.placed(place)}${own ? ` (${words.with_text})` : ""}` });
      const numbers = sent.map(({ number }) => number), others = numbers.filter((one) => one !== place.number);
      const failed = (refusal) => this.notice(this.sentence(refusal));
      const order = (next) => () => this.room.say({ kind: "order", sent: next }).catch(failed);
      const press = (text, onclick) => element("button", item, { type: "button", textContent: text, onclick });
      // Its values are asked for when they are wanted.
      const visit = (texts) => async () => {
        try {
          const { text_keys: own, ...whole } = await this.room.ask(`submissions/${place.number}`);
          const kept = Object.entries(whole.values).filter(([key]) => texts || !own.includes(key));
          this.visit({ ...whole, values: Object.fromEntries(kept) });
        } catch (refusal) {
          failed(refusal);
        }
      };
      if (own && this.asked === place.number) {
        press(words.show_with, visit(true));
        press(words.show_without, visit(false));
      } else
        press(words.show, () => {
          if (!own) return visit(true)();
          this.asked = place.number;
          this.draw();
        });
      press(words.first, order([place.number, ...others]));
      press(words.remove, order(others));
      press(words.send_out, () => this.sendOut(place));
    }
  }

  // Which figures the class may use: from the one in sight to another.
  ranges() {
    const others = all().map(nameOf).filter((name) => name !== this.seen && headingOf(name));
    const draw = (host) => {
      const list = element("ol", host, { className: "sent range" });
      element("li", list, { textContent: filled(this.words.range_to, { place: headingOf(this.seen) }) });
      for (const name of others) {
        const press = () => {
          this.ranging = false;
          this.room.say({ kind: "allow", benches: this.between(name) }).catch((refusal) => this.notice(this.sentence(refusal)));
        };
        element("button", element("li", list), { type: "button", textContent: headingOf(name), onclick: press });
      }
    };
    return { draw, told: [this.seen, others] };
  }

  parts() {
    const { room, words } = this;
    const { state } = room;
    const code = { text: codeShown(room.code), kind: "code" };
    if (room.ended) {
      const anew = room.why === "room_lost" ? [{ text: words.new_room, press: () => this.anew() }] : [];
      return [{ text: words[room.why] ?? words.ended }, ...anew, { text: words.leave, press: () => this.gone() }];
    }
    if (room.displaced) return [{ text: words.displaced, kind: "calm" }];
    if (room.problem && !state) return [code, { text: this.sentence(room.problem) }, { text: words.leave, press: () => this.gone() }];
    if (!state) return [code];
    const lost = state.lost ? [{ text: words.lost, kind: "lost" }] : [];
    const looks = () => {
      this.looking = !this.looking;
      this.changed();
    };
    const count = { text: filled(words.here, { count: state.present }), press: looks };
    const [lists, buttons] = this.board.parts(bench(this.seen));
    if (!room.teaches) {
      const me = { text: this.name(room.mine.number), kind: "name" };
      if (state.paused) return [me, { text: words.paused, kind: "calm" }, ...lost];
      if (!state.place.values) return [me, { text: words.waits }, ...lost];
      const closed = this.seen && !this.allowed(this.seen) ? [{ text: words.not_yet, kind: "calm" }] : [];
      const send = this.note
        ? [{ text: this.note }]
        : [{ text: words.send, short: words.send_short, press: () => this.sent(() => room.say({ kind: "send", ...shown() }), words.was_sent) }, ...buttons];
      const question = this.questionParts(asked(state));
      const follows = question.length ? [] : [{ text: words.following, short: words.following_short }];
      const place = this.placed(state.place), title = this.placed({ lesson: state.place.lesson });
      const away = [{ text: filled(words.teacher_at, { place }), short: filled(words.teacher_short, { place: title }) }, { text: words.back, press: () => this.back() }];
      return [...lists, me, ...question, ...closed, ...(this.following ? (closed.length ? [] : follows) : away), ...send, ...lost];
    }
    const say = (said) => () => room.say(said).catch((refusal) => this.notice(this.sentence(refusal)));
    const { detached: left, paused } = state;
    const apart = left ? [{ text: filled(words.apart, { count: left }) }] : [];
    const reached = Object.values(state.goals ?? {}).reduce((sum, one) => sum + one, 0);
    const goals = reached ? [{ text: filled(words.reached, { count: reached }) }] : [];
    const sent = state.sent ?? [];
    const toggle = () => {
      this.open = !this.open;
      this.changed();
    };
    const list = sent.length ? [{ text: filled(words.sent, { count: sent.length }), press: toggle }] : [];
    const here = this.seen ? [`${slug()}/${this.seen}`] : [];
    const range = () => {
      this.ranging = !this.ranging;
      this.changed();
    };
    const choose = state.allowed.length
      ? [{ text: words.all_benches, press: say({ kind: "allow", benches: [] }) }]
      : here.length
        ? [{ text: words.spotlight, press: say({ kind: "allow", benches: here }) }, { text: words.range, press: range }]
        : [];
    const ranges = this.ranging && !state.allowed.length && here.length ? [this.ranges()] : [];
    const stuck = Object.values(state.dots ?? {}).reduce((sum, dot) => sum + dot[1], 0);
    return [
      ...(this.looking ? [this.dots(state)] : []), ...(this.open && sent.length ? [{ list: sent, asked: this.asked }] : []), ...ranges, ...lists, code, count, ...apart, ...goals, ...list, ...buttons,
      ...(this.note ? [{ text: this.note }] : []), ...(stuck ? [{ text: filled(words.stuck, { count: stuck }) }] : []),
      { text: paused ? words.resume : words.pause, press: say({ kind: "pause", on: !paused }) },
      ...(state.door ? [] : [{ text: words.door_closed, kind: "calm" }]),
      { text: state.door ? words.door_close : words.door_open, press: say({ kind: "door", open: !state.door }) },
      ...choose,
      { text: words.keep, press: () => this.keep().catch((refusal) => this.notice(this.sentence(refusal))) },
      { text: words.keep_notebook, press: () => this.keepNotebook().catch((refusal) => this.notice(this.sentence(refusal))) },
      { text: words.end, press: () => confirm(words.sure) && say({ kind: "end" })() },
      ...(this.refused ? [{ text: words[`problem_${this.refused}`] ?? words.problem_bad, kind: "lost" }] : []), ...lost,
    ];
  }

  // Until it is revealed: that there is one, and what opens it.
  questionParts(question) {
    const { words } = this;
    if (!question || question.state === "revealed") return [];
    const { drawn, state, round } = question;
    const press = () => this.openQuestion(question);
    if (state === "open")
      return [{ text: drawn ? words.drawing_open : words.vote_open, kind: "put" }, { text: drawn ? words.to_draw : words.to_vote, press }];
    const text = drawn ? words.drawing_closed : round === 1 ? words.talk : words.closed;
    return [{ text, short: drawn ? "" : words.closed }, { text: words.to_question, press }];
  }

  sentence({ problem, details }) {
    return filled(this.words[`problem_${problem}`] ?? this.words.lost, details ?? {});
  }

  // A new room where the server has lost this one. The page is loaded again: its own line to that
  // server may not be there yet.
  async anew() {
    try {
      const url = new URL(location);
      url.searchParams.set("room", await openRoom());
      location.assign(url);
    } catch (refusal) {
      this.notice(this.sentence(refusal));
    }
  }

  // A seat is closed, with what it has sent.
  async sendOut({ seat, device }) {
    try {
      await this.room.say({ kind: "remove", seat });
      this.notice(device ? this.words.was_sent_out : this.words.sent_out_door);
    } catch (refusal) {
      this.notice(this.sentence(refusal));
    }
  }

  gone() {
    enter("");
    this.left?.();
  }
}

export default function ({ data, parentElement, setTriggerValue }) {
  const host = parentElement.querySelector(".seqviz-room");
  host.class ??= new Class(host);
  host.class.left = () => setTriggerValue("left", Date.now());
  host.class.take(data);
  return () => {
    host.class?.close();
    delete host.class;
  };
}
