// What this browser knows of its class's room, and what it says there. A teacher's token and a seat's
// secret stay in the browser's storage; they travel in headers only.

import { bench } from "../bench/live.js";

const KEPT = "seqviz.room"; // { code: { token } or { seat, number } }
const BASE = new URL(import.meta.url).pathname.replace(/\/app\/static\/.*$/, "/room");
const AGAIN_MS = 1000; // then twice as long, and so on
const MOST_MS = 5000; // a class is back within ten seconds of its server
const FIND_MS = 300;
const CLICK_MS = 300; // in which a finger that is lifted has pressed, or has not
const SILENT_MS = 40_000; // a stream beats every 15 s: one that does not is lost
const GONE = 3; // times in a row that a room is not found, then it has ended
const REMEMBERED = 40; // questions

function kept() {
  try {
    const found = JSON.parse(localStorage.getItem(KEPT));
    return found && typeof found === "object" ? found : {};
  } catch {
    return {};
  }
}

function keep(code, what) {
  try {
    const others = Object.entries(kept()).filter(([one]) => one !== code).slice(-8);
    localStorage.setItem(KEPT, JSON.stringify({ ...Object.fromEntries(others), ...(what && { [code]: what }) }));
  } catch {
    // a browser that keeps nothing: the room is forgotten with the page
  }
}

// A picture that a class is sent: packed as an answer of `live.js` would be, then in base64.
async function unpacked(text) {
  const bytes = Uint8Array.from(atob(text), (one) => one.charCodeAt(0));
  const stream = new Blob([bytes]).stream();
  return new Response(bytes[0] === 0x1f ? stream.pipeThrough(new DecompressionStream("gzip")) : stream).text();
}

// Before it is heard where the teacher is: so who follows takes it instead of asking.
function offered(event) {
  const [what, text] = event.split("\n").slice(1).map((line) => line.slice("data: ".length));
  const { bench: prefix, query } = JSON.parse(what);
  bench(prefix).offer(query, () => unpacked(text));
}

export class Told extends Error {
  constructor(status, { problem = "lost", ...details } = {}) {
    super(problem);
    Object.assign(this, { status, problem, details });
  }
}

async function ask(path, { said, headers, signal } = {}) {
  let answer;
  try {
    answer = await fetch(BASE + path, {
      method: said === undefined ? "GET" : "POST",
      headers: { "X-SeqViz-Room": "1", ...headers },
      body: said === undefined ? undefined : JSON.stringify(said),
      cache: "no-store",
      signal,
    });
  } catch {
    throw new Told(0);
  }
  if (answer.ok) return answer;
  throw new Told(answer.status, await answer.json().catch(() => ({})));
}

// A new room: this browser is its teacher.
export async function openRoom() {
  const { code, token } = await (await ask("", { said: {} })).json();
  keep(code, { token });
  return code;
}

export async function takeSeat(code) {
  const before = kept()[code];
  const found = await (await ask(`/${encodeURIComponent(code)}/seat`, { said: { seat: before?.seat ?? "" } })).json();
  const memory = before?.number === found.number ? before.memory : undefined;
  keep(code, { ...found, memory });
  return found;
}

// Of a teacher's link for another device, ?room=CODE#teacher=TOKEN: the page has taken it out of the
// address before anything else could (seqviz/ui/server/index_page.py). It is kept when it is proved.
function takeToken() {
  const token = window.seqvizToken;
  delete window.seqvizToken;
  return token;
}

// The questions that were put, by their numbers, with this one as it is now.
const among = (questions = [], one, names) =>
  one ? [...questions.filter(({ number }) => number !== one.number), Object.fromEntries(names.map((name) => [name, one[name]]))].slice(-REMEMBERED) : questions;

// One room of this tab. heard(state): at each change; state: null while the line is down.
export class Membership {
  state = null;
  mine = null; // { token }, or { seat, number }
  ended = false;
  problem = null;
  listeners = new Set();
  stage; // of the question that was put last, as its sheet has last come for it
  opens = false; // the sheet of that question
  place; // of the teacher when it was revealed
  claimed = takeToken();
  displaced = false; // other tabs of this browser have its lines
  missing = 0; // times in a row that the room was not found
  fresh = false; // the server is another one than before: what the page has said there is forgotten
  following = true;
  lesson; // of the page of this tab
  asked = new Set(); // lessons to which this tab goes because the teacher is there

  constructor(code) {
    this.code = code;
    this.leaving = new AbortController();
    this.stay();
  }

  get teaches() {
    return Boolean(this.mine?.token);
  }

  get headers() {
    return this.teaches ? { "X-SeqViz-Teacher": this.mine.token } : { "X-SeqViz-Seat": this.mine?.seat ?? "" };
  }

  // A server that does not know this page any more is asked to let it in again.
  async say(said) {
    try {
      return await ask(`/${this.code}/messages`, { said, headers: this.headers });
    } catch (refusal) {
      if (refusal.status === 404 || refusal.problem === "not_yours") this.line?.abort();
      throw refusal;
    }
  }

  async ask(path) {
    return (await ask(`/${this.code}/${path}`, { headers: this.headers })).json();
  }

  notebook(address) {
    const said = { language: document.documentElement.lang, address };
    return ask(`/${this.code}/notebook`, { said, headers: this.headers });
  }

  // What the class runs, as it stands: see seqviz/ui/classroom/seed_experiment.py. Empty where there is nothing.
  async picture(looks) {
    return (await ask(`/${this.code}/run?${looks}`, { headers: this.headers })).text();
  }

  // What the class has drawn, once that is revealed.
  async drawn() {
    return (await ask(`/${this.code}/drawings`, { headers: this.headers })).json();
  }

  async vote(number, round, option) {
    await this.say({ kind: "vote", number, round, option });
    const others = (this.memory.votes ?? []).filter((one) => one[0] !== number || one[1] !== round);
    this.remember({ votes: [...others, [number, round, option]].slice(-2 * REMEMBERED) });
  }

  async draw(number, marks) {
    await this.say({ kind: "sketch", number, marks });
    const others = (this.memory.sketches ?? []).filter((one) => one[0] !== number);
    this.remember({ sketches: [...others, [number, marks]].slice(-REMEMBERED) });
  }

  get memory() {
    return kept()[this.code]?.memory ?? {};
  }

  // What a server that is started anew has forgotten, and this browser tells it then.
  remember(what) {
    const memory = { ...this.memory, ...what };
    if (JSON.stringify(memory) !== JSON.stringify(this.memory)) keep(this.code, { ...kept()[this.code], memory });
  }

  // A teacher's page tells how the room was, and students' pages after it what they have answered.
  async retell({ epoch, forgotten, restored }) {
    const { memory } = this;
    if (this.teaches) {
      if (!forgotten || this.restoring || !memory.ballots) return;
      this.restoring = this.say({ kind: "restore", ...memory }).catch(() => {});
      await this.restoring;
      this.restoring = null;
      this.tell();
    } else if (restored && this.recalled !== epoch) {
      this.recalled = epoch;
      const { votes = [], sketches = [] } = memory;
      if (votes.length || sketches.length) this.say({ kind: "recall", votes, sketches }).catch(() => {});
    }
  }

  tell() {
    for (const heard of this.listeners) heard(this);
  }

  // Hear what the room is, whatever happens to the line or the server, until this tab leaves.
  async stay() {
    const { signal } = this.leaving;
    for (let wait = AGAIN_MS; !signal.aborted && !this.ended; wait = Math.min(MOST_MS, 2 * wait)) {
      try {
        await this.enter();
        this.missing = 0;
        await this.listen(() => (wait = AGAIN_MS));
      } catch (refusal) {
        this.refused(refusal instanceof Told ? refusal : new Told(0));
      }
      if (this.displaced && !signal.aborted) {
        await used(signal);
        this.displaced = false;
        continue;
      }
      this.state &&= { ...this.state, lost: true };
      this.tell();
      // Not all of a class at the same moment.
      if (!this.ended) await new Promise((resolve) => setTimeout(resolve, wait * (0.5 + Math.random())));
    }
  }

  // A room that is not found is gone: for its teacher at once, whose token nobody else can refuse.
  refused(refusal) {
    this.problem = refusal;
    if (refusal.problem === "sent_out") this.end("sent_out");
    if (refusal.problem === "mistyped") this.leaving.abort(); // a link: asking again changes nothing
    if (refusal.status !== 404) return;
    this.missing += 1;
    if (this.teaches) this.end("room_lost");
    else if (this.state && this.missing >= GONE) this.end("ended");
  }

  // why: the words for it.
  end(why) {
    this.ended = true;
    this.why = why;
    keep(this.code, null);
  }

  // With the token of a link, if this server has given it for this room; else as before.
  async enter() {
    this.mine = kept()[this.code] ?? null;
    const token = this.claimed ?? this.mine?.token;
    if (!token) {
      this.mine = await takeSeat(this.code);
      return;
    }
    try {
      await ask(`/${this.code}/teacher`, { said: {}, headers: { "X-SeqViz-Teacher": token } });
    } catch (refusal) {
      if (!this.claimed || refusal.status !== 404) throw refusal;
      this.claimed = null;
      return this.enter();
    }
    if (this.claimed) keep(this.code, (this.mine = { token }));
    this.claimed = null;
  }

  async listen(alive) {
    const silent = (this.line = new AbortController());
    const signal = AbortSignal.any([silent.signal, this.leaving.signal]);
    window.addEventListener("offline", () => silent.abort(), { signal }); // known before it is silent
    const answer = await ask(`/${this.code}/events`, { headers: this.headers, signal });
    const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
    let left = "", timer;
    try {
      for (;;) {
        clearTimeout(timer);
        timer = setTimeout(() => silent.abort(), SILENT_MS);
        const { value, done } = await reader.read();
        if (done) return;
        alive();
        const events = (left + value).split("\n\n");
        left = events.pop();
        const picture = events.filter((one) => one.startsWith("event: picture\n")).pop();
        if (picture) offered(picture);
        const last = events.filter((one) => one.startsWith("data: ")).pop();
        if (last) this.heard(JSON.parse(last.slice("data: ".length)));
      }
    } finally {
      clearTimeout(timer);
    }
  }

  heard(state) {
    this.problem = null;
    if (state.sent_out) return this.end("sent_out"), this.tell();
    if (state.displaced) return (this.displaced = true), this.tell();
    this.fresh ||= Boolean(this.state) && this.state.epoch !== state.epoch;
    this.state = state;
    if (state.ended) this.end("ended");
    else if (this.teaches && !state.forgotten) this.rememberRoom(state);
    this.retell(state);
    this.tell();
  }

  rememberRoom({ paused, door, allowed, removed, devices, ballot, sketch }) {
    const { ballots, sketches } = this.memory;
    this.remember({
      paused, door, allowed, removed, devices,
      ballots: among(ballots, ballot, ["number", "key", "options", "state", "round"]),
      sketches: among(sketches, sketch, ["number", "key", "type", "most", "state"]),
    });
  }

  leave() {
    this.leaving.abort();
    this.ended = true;
    this.tell();
  }
}

// When this tab is used again.
function used(signal) {
  return new Promise((resolve) => {
    const done = () => document.visibilityState === "visible" && (listening.abort(), resolve());
    const listening = new AbortController();
    signal.addEventListener("abort", resolve);
    for (const kind of ["pointerdown", "keydown", "focus"]) window.addEventListener(kind, done, { signal: listening.signal });
    document.addEventListener("visibilitychange", done, { signal: listening.signal });
  });
}

let current = null;

// The room of this tab; the one before is left.
export function room(code) {
  if (current?.code !== code) {
    current?.leave();
    current = code ? new Membership(code) : null;
  }
  return current;
}

// Whether a button in this place is held down: one that is made anew before it is let go does not hear
// the press. draw: what has waited for that.
export function presses(host, draw, signal) {
  let pressed = false, timer;
  const released = () => {
    clearTimeout(timer);
    if (!pressed || signal.aborted) return;
    pressed = false;
    draw();
  };
  const down = ({ button }) => {
    if (button !== 0) return; // a menu opens, and nobody says when the button is let go
    clearTimeout(timer); // of the press before
    pressed = true;
  };
  const up = () => {
    if (pressed) timer = setTimeout(released, CLICK_MS);
  };
  host.addEventListener("pointerdown", down, { signal });
  host.addEventListener("click", released, { signal });
  const { defaultView } = host.ownerDocument;
  for (const kind of ["pointerup", "pointercancel"]) defaultView.addEventListener(kind, up, { signal });
  return () => pressed;
}

// What stands on a page and hears of the room, which is entered beside it: `draw` at whatever is new,
// `entered` before that where it is another room.
export class InRoom {
  room = null;
  leaving = new AbortController();

  constructor(host) {
    this.host = host;
    this.heard = () => this.draw();
    this.timer = setInterval(() => this.find(), FIND_MS);
  }

  find() {
    if (current === this.room) return;
    this.room?.listeners.delete(this.heard);
    this.room = current;
    this.room?.listeners.add(this.heard);
    this.entered?.();
    this.heard();
  }

  close() {
    clearInterval(this.timer);
    this.room?.listeners.delete(this.heard);
    this.leaving.abort();
  }
}
