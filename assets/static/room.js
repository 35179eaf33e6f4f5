// A class in a room: a teacher's browser tells what it shows, students' browsers follow, and a chip
// says where one is.

import { every } from "./live.js";
import { room as enter } from "./room_link.js";
import { element } from "./slider.js";
import { filled } from "./words.js";

const WATCH_MS = 100;
const WHERE_MS = 3000; // between two words about where a student is
const SPREAD_MS = 1200; // in which the pages of a class are drawn that no hand can draw
const SETTING = /^[a-z]{2}\.[a-z_.]+$/;
const HELD = 'input, select, textarea, button, [role="radio"], [role="option"], [role="tab"], .seqviz-slider, .js-plotly-plot';
const same = (one, other) => one === other || (one !== null && other !== null && Number(one) === Number(other));

const slug = () => location.pathname.split("/").pop();
const settings = (url = new URL(location)) =>
  Object.fromEntries([...url.searchParams].filter(([key]) => SETTING.test(key)));
const benches = () =>
  [...document.querySelectorAll('[class*="st-key-bench-"]')].filter((one) => one.getClientRects().length > 0);
const nameOf = (bench) => /st-key-bench-(\w+)/.exec(bench.className)[1];

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

// What a teacher shows, with what a hand has moved and the address does not say yet.
function shown() {
  const values = settings();
  for (const { key, slider } of sliders()) {
    if (same(slider.text, slider.options.start)) delete values[key];
    else values[key] = slider.text;
  }
  return { lesson: slug(), bench: inSight(), values };
}

// Streamlit goes where the address says, as it does for "back".
function go(url) {
  history.replaceState(history.state, "", url);
  window.dispatchEvent(new PopStateEvent("popstate", { state: history.state }));
}

class Class {
  following = true;
  told = ""; // what was said last
  saying = false;
  applied = "";
  where = { at: 0, bench: null, left: null };

  constructor(host) {
    this.host = host;
    this.timer = setInterval(() => this.watch(), WATCH_MS);
    this.listening = new AbortController();
    const options = { capture: true, passive: true, signal: this.listening.signal };
    for (const kind of ["pointerdown", "keydown"])
      window.addEventListener(kind, (event) => this.touched(event), options);
  }

  take({ code, words }) {
    this.words = words;
    if (this.room?.code !== code) {
      this.room = enter(code);
      this.heard = () => this.changed();
      this.room.listeners.add(this.heard);
    }
    this.changed();
  }

  close() {
    clearInterval(this.timer);
    clearTimeout(this.going);
    this.listening.abort();
    this.room?.listeners.delete(this.heard);
    for (const bench of benches()) bench.inert = false;
  }

  // A student's hand on a control goes its own way.
  touched({ isTrusted, target, type, key }) {
    if (!isTrusted || !this.room || this.room.teaches || !this.following) return;
    if (type === "keydown" && (["Tab", "Escape"].includes(key) || !target.matches?.(HELD))) return;
    const held = target.closest?.(HELD);
    if (!held?.closest('[class*="st-key-bench-"]') || held.closest(".seqviz-ballot")) return;
    if (!this.room.state?.place?.lesson) return;
    this.following = false;
    this.changed();
  }

  watch() {
    const { room } = this;
    if (!room?.state || room.state.lost || room.ended) return;
    this.hold(room.state);
    if (room.teaches) this.tell(room);
    else this.report(room);
  }

  async tell(room) {
    const place = shown();
    const text = JSON.stringify(place);
    if (this.saying || text === this.told || document.hidden) return;
    this.told = text;
    this.saying = true;
    try {
      await room.say({ kind: "place", ...place });
    } catch (refusal) {
      this.refused = refusal.problem;
      this.changed();
    }
    this.saying = false;
  }

  report(room) {
    const now = performance.now(), bench = `${slug() || "home"}/${inSight()}`, left = !this.following;
    if (now - this.where.at < WHERE_MS || (bench === this.where.bench && left === this.where.left)) return;
    this.where = { at: now, bench, left };
    room.say({ kind: "where", bench, left }).catch(() => (this.where.bench = null));
  }

  // Pause, range and spotlight: what is not to be used has no focus and takes no press.
  hold({ mode, benches: allowed, spotlight, place }) {
    const student = !this.room.teaches && !this.room.ended;
    const only = spotlight ? [place.bench] : allowed;
    for (const bench of benches()) {
      const barred = student && (mode === "paused" || (only.length > 0 && !only.includes(nameOf(bench))));
      if (bench.inert !== barred) bench.inert = barred;
    }
  }

  changed() {
    const { room } = this;
    if (!room) return;
    if (room.state && !room.teaches && this.following && !room.ended && !room.state.lost) this.follow(room.state.place);
    if (room.ended) for (const bench of benches()) bench.inert = false;
    this.draw();
  }

  follow(place) {
    if (!place?.lesson && place?.lesson !== "") return;
    const text = JSON.stringify(place);
    if (text === this.applied) return;
    const before = this.applied ? JSON.parse(this.applied).bench : null;
    this.applied = text;
    const url = new URL(location);
    for (const key of Object.keys(settings(url))) url.searchParams.delete(key);
    for (const [key, value] of Object.entries(place.values)) url.searchParams.set(key, value);
    clearTimeout(this.going);
    if (place.lesson !== slug()) {
      url.pathname = url.pathname.replace(/[^/]*$/, place.lesson);
      this.applied = ""; // once more where the page has come
      return go(url);
    }
    this.set(place.values, url);
    if (place.bench && place.bench !== before) this.lookAt(place.bench);
  }

  // Only what differs. A slider moves as under a hand; for anything else the picture comes first,
  // and the page a little later.
  set(values, url) {
    const known = new Map(sliders().map((control) => [control.key, control]));
    for (const [key, { slider }] of known) {
      const wanted = values[key] ?? slider.options.start;
      if (!same(wanted, slider.text)) slider.move(slider.placed(wanted), true);
    }
    const own = settings();
    const others = [...new Set([...Object.keys(own), ...Object.keys(values)])]
      .filter((key) => !known.has(key) && !same(own[key] ?? null, values[key] ?? null));
    if (others.length === 0) return;
    for (const place of every())
      place.set(Object.fromEntries(others.filter((key) => key.startsWith(`${place.source?.bench}.`)).map((key) => [key, values[key] ?? null])));
    this.going = setTimeout(() => go(url), Math.random() * SPREAD_MS);
  }

  lookAt(name) {
    document.querySelector(`.st-key-bench-${name}`)?.scrollIntoView({ block: "start", behavior: "smooth" });
  }

  back() {
    this.following = true;
    this.applied = "";
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
    const heading = lesson === slug() && document.querySelector(`.st-key-bench-${bench} h2`)?.textContent;
    return heading ? `${title}: ${heading}` : title;
  }

  // Made anew only where it says something else, so that the focus stays.
  draw() {
    const parts = this.parts();
    const told = JSON.stringify(parts, (_, one) => (typeof one === "function" ? undefined : one));
    if (told === this.drawn) return;
    this.drawn = told;
    const { host } = this;
    host.replaceChildren();
    for (const part of parts) {
      if (!part.press) element("span", host, { textContent: part.text, className: part.kind ?? "" });
      else element("button", host, { type: "button", textContent: part.text, onclick: part.press });
    }
  }

  parts() {
    const { room, words } = this;
    const { state } = room;
    const code = { text: room.code.replace(/^(...)/, "$1 "), kind: "code" };
    if (room.ended) return [{ text: words.ended }, { text: words.leave, press: () => this.gone() }];
    if (room.problem && !state) return [code, { text: this.sentence(room.problem) }, { text: words.leave, press: () => this.gone() }];
    if (!state) return [code];
    const lost = state.lost ? [{ text: words.lost, kind: "lost" }] : [];
    const here = { text: filled(words.here, { count: state.present }) };
    if (!room.teaches) {
      const me = { text: this.name(room.mine.number), kind: "name" };
      if (state.mode === "paused") return [me, { text: words.paused, kind: "calm" }, ...lost];
      if (!state.place.lesson) return [me, { text: words.waits }, ...lost];
      return this.following
        ? [me, { text: words.following }, ...lost]
        : [me, { text: filled(words.teacher_at, { place: this.placed(state.place) }) }, { text: words.back, press: () => this.back() }, ...lost];
    }
    const say = (said) => () => room.say(said).catch(() => {});
    const paused = state.mode === "paused";
    const { left } = state;
    const apart = left ? [{ text: filled(words.apart, { count: left }) }] : [];
    const stuck = Object.values(state.dots ?? {}).reduce((sum, dot) => sum + dot[1], 0);
    return [
      code, here, ...apart, ...(stuck ? [{ text: filled(words.stuck, { count: stuck }) }] : []),
      { text: paused ? words.resume : words.pause, press: say({ kind: "mode", mode: paused ? "free" : "paused" }) },
      { text: state.spotlight ? words.all_benches : words.spotlight, press: say({ kind: "spotlight", on: !state.spotlight }) },
      { text: words.end, press: () => confirm(words.sure) && say({ kind: "end" })() },
      ...(this.refused ? [{ text: words[`problem_${this.refused}`] ?? words.problem_bad, kind: "lost" }] : []), ...lost,
    ];
  }

  sentence({ problem, details }) {
    return filled(this.words[`problem_${problem}`] ?? this.words.lost, details ?? {});
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
