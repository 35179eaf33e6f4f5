// Client of a room: state received from the server, and messages to it. A teacher's token and a
// seat's secret stay in the browser's storage; they travel in headers only.

import { liveBench } from "../bench/live.js";

const STORAGE_KEY = "seqviz.room"; // { code: { token } or { seat, number } }
const BASE = new URL(import.meta.url).pathname.replace(/\/app\/static\/.*$/, "/room");
const RETRY_MS = 1000; // then twice as long, and so on
const MAX_RETRY_MS = 5000; // a class is back within ten seconds of its server
const FIND_MS = 300;
const CLICK_MS = 300; // in which a finger that is lifted has pressed, or has not
const SILENT_MS = 40_000; // a stream beats every 15 s: one that does not is lost
const MAX_MISSING = 3; // times in a row that a room is not found, then it has ended
const MAX_QUESTIONS = 40; // questions

function readStorage() {
  try {
    const stored = JSON.parse(localStorage.getItem(STORAGE_KEY));
    return stored && typeof stored === "object" ? stored : {};
  } catch {
    return {};
  }
}

function writeStorage(code, value) {
  try {
    const otherRooms = Object.entries(readStorage()).filter(([key]) => key !== code).slice(-8);
    localStorage.setItem(STORAGE_KEY, JSON.stringify({ ...Object.fromEntries(otherRooms), ...(value && { [code]: value }) }));
  } catch {
    // a browser without storage: the room is forgotten with the page
  }
}

// A broadcast frame: compressed as a response for `live.js`, then in base64.
async function unpackFrame(text) {
  const bytes = Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  const stream = new Blob([bytes]).stream();
  return new Response(bytes[0] === 0x1f ? stream.pipeThrough(new DecompressionStream("gzip")) : stream).text();
}

// A broadcast frame comes before the teacher's new view, so that followers need not request it.
function onFrame(event) {
  const [header, text] = event.split("\n").slice(1).map((line) => line.slice("data: ".length));
  const { bench: prefix, query } = JSON.parse(header);
  liveBench(prefix).offerFrame(query, () => unpackFrame(text));
}

export class RoomError extends Error {
  constructor(status, { problem = "lost", ...details } = {}) {
    super(problem);
    Object.assign(this, { status, problem, details });
  }
}

async function request(path, { payload, headers, signal } = {}) {
  let response;
  try {
    response = await fetch(BASE + path, {
      method: payload === undefined ? "GET" : "POST",
      headers: { "X-SeqViz-Room": "1", ...headers },
      body: payload === undefined ? undefined : JSON.stringify(payload),
      cache: "no-store",
      signal,
    });
  } catch {
    throw new RoomError(0);
  }
  if (response.ok) return response;
  throw new RoomError(response.status, await response.json().catch(() => ({})));
}

// Create a room: this browser is its teacher.
export async function openRoom() {
  const { code, token } = await (await request("", { payload: {} })).json();
  writeStorage(code, { token });
  return code;
}

export async function takeSeat(code) {
  const stored = readStorage()[code];
  const seat = await (await request(`/${encodeURIComponent(code)}/seat`, { payload: { seat: stored?.seat ?? "" } })).json();
  const memory = stored?.number === seat.number ? stored.memory : undefined;
  writeStorage(code, { ...seat, memory });
  return seat;
}

// From a teacher's link for another device, ?room=CODE#teacher=TOKEN: an inline script removes the token
// from the URL first (seqviz/ui/server/index_page.py). It is stored once it is verified.
function takeToken() {
  const token = window.seqvizToken;
  delete window.seqvizToken;
  return token;
}

// The questions of the room by number, with the current state of this one.
const withLatest = (questions = [], question, names) =>
  question ? [...questions.filter(({ number }) => number !== question.number), Object.fromEntries(names.map((name) => [name, question[name]]))].slice(-MAX_QUESTIONS) : questions;

// The room of this tab. `listeners` are called at each change of `state`.
export class RoomClient {
  state = null;
  credentials = null; // { token }, or { seat, number }
  ended = false;
  error = null;
  listeners = new Set();
  stage; // of the question that was put last, as its sheet has last come for it
  isSheetOpen = false; // the sheet of that question
  placeAtReveal; // of the teacher when it was revealed
  claimedToken = takeToken();
  isDisplaced = false; // other tabs of this browser have its lines
  nMissing = 0; // times in a row that the room was not found
  hasNewServer = false; // the server was restarted and has forgotten what this page reported
  isFollowing = true;
  lesson; // of the page of this tab
  expectedLessons = new Set(); // lessons to which this tab goes because the teacher is there

  constructor(code) {
    this.code = code;
    this.controller = new AbortController();
    this.connect();
  }

  get isTeacher() {
    return Boolean(this.credentials?.token);
  }

  get headers() {
    return this.isTeacher ? { "X-SeqViz-Teacher": this.credentials.token } : { "X-SeqViz-Seat": this.credentials?.seat ?? "" };
  }

  // Join again where the server no longer knows this page.
  async send(payload) {
    try {
      return await request(`/${this.code}/messages`, { payload, headers: this.headers });
    } catch (error) {
      if (error.status === 404 || error.problem === "not_yours") this.streamAbort?.abort();
      throw error;
    }
  }

  async get(path) {
    return (await request(`/${this.code}/${path}`, { headers: this.headers })).json();
  }

  notebook(address) {
    const payload = { language: document.documentElement.lang, address };
    return request(`/${this.code}/notebook`, { payload, headers: this.headers });
  }

  // Current seed experiment: see seqviz/ui/classroom/seed_experiment.py. Empty without one.
  async getPicture(looks) {
    return (await request(`/${this.code}/run?${looks}`, { headers: this.headers })).text();
  }

  // Drawings of the class, once they are revealed.
  async getDrawings() {
    return (await request(`/${this.code}/drawings`, { headers: this.headers })).json();
  }

  async vote(number, round, option) {
    await this.send({ kind: "vote", number, round, option });
    const otherVotes = (this.memory.votes ?? []).filter((vote) => vote[0] !== number || vote[1] !== round);
    this.remember({ votes: [...otherVotes, [number, round, option]].slice(-2 * MAX_QUESTIONS) });
  }

  async sendDrawing(number, marks) {
    await this.send({ kind: "sketch", number, marks });
    const otherSketches = (this.memory.sketches ?? []).filter((sketch) => sketch[0] !== number);
    this.remember({ sketches: [...otherSketches, [number, marks]].slice(-MAX_QUESTIONS) });
  }

  get memory() {
    return readStorage()[this.code]?.memory ?? {};
  }

  // State that a restarted server has lost and this browser restores.
  remember(changes) {
    const memory = { ...this.memory, ...changes };
    if (JSON.stringify(memory) !== JSON.stringify(this.memory)) writeStorage(this.code, { ...readStorage()[this.code], memory });
  }

  // A teacher's page restores the room, and students' pages then restore their answers.
  async restoreServer({ epoch, forgotten, restored }) {
    const { memory } = this;
    if (this.isTeacher) {
      if (!forgotten || this.restoring || !memory.ballots) return;
      this.restoring = this.send({ kind: "restore", ...memory }).catch(() => {});
      await this.restoring;
      this.restoring = null;
      this.notify();
    } else if (restored && this.recalledEpoch !== epoch) {
      this.recalledEpoch = epoch;
      const { votes = [], sketches = [] } = memory;
      if (votes.length || sketches.length) this.send({ kind: "recall", votes, sketches }).catch(() => {});
    }
  }

  notify() {
    for (const listener of this.listeners) listener(this);
  }

  // Receive events, reconnecting after any failure, until this tab leaves.
  async connect() {
    const { signal } = this.controller;
    for (let wait = RETRY_MS; !signal.aborted && !this.ended; wait = Math.min(MAX_RETRY_MS, 2 * wait)) {
      try {
        await this.enter();
        this.nMissing = 0;
        await this.listen(() => (wait = RETRY_MS));
      } catch (error) {
        this.onError(error instanceof RoomError ? error : new RoomError(0));
      }
      if (this.isDisplaced && !signal.aborted) {
        await whenUsed(signal);
        this.isDisplaced = false;
        continue;
      }
      this.state &&= { ...this.state, lost: true };
      this.notify();
      // Spreads the reconnects of a class.
      if (!this.ended) await new Promise((resolve) => setTimeout(resolve, wait * (0.5 + Math.random())));
    }
  }

  // A missing room is gone: for its teacher at once, because only the room's own server could reject the token.
  onError(error) {
    this.error = error;
    if (error.problem === "sent_out") this.end("sent_out");
    if (error.problem === "mistyped") this.controller.abort(); // a link: asking again changes nothing
    if (error.status !== 404) return;
    this.nMissing += 1;
    if (this.isTeacher) this.end("room_lost");
    else if (this.state && this.nMissing >= MAX_MISSING) this.end("ended");
  }

  // why: the message for it.
  end(why) {
    this.ended = true;
    this.endReason = why;
    writeStorage(this.code, null);
  }

  // Use the token of a link, if this server has issued it for this room; else continue as before.
  async enter() {
    this.credentials = readStorage()[this.code] ?? null;
    const token = this.claimedToken ?? this.credentials?.token;
    if (!token) {
      this.credentials = await takeSeat(this.code);
      return;
    }
    try {
      await request(`/${this.code}/teacher`, { payload: {}, headers: { "X-SeqViz-Teacher": token } });
    } catch (error) {
      if (!this.claimedToken || error.status !== 404) throw error;
      this.claimedToken = null;
      return this.enter();
    }
    if (this.claimedToken) writeStorage(this.code, (this.credentials = { token }));
    this.claimedToken = null;
  }

  async listen(onAlive) {
    const streamAbort = (this.streamAbort = new AbortController());
    const signal = AbortSignal.any([streamAbort.signal, this.controller.signal]);
    window.addEventListener("offline", () => streamAbort.abort(), { signal }); // known before it is silent
    const response = await request(`/${this.code}/events`, { headers: this.headers, signal });
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    let buffer = "", timer;
    try {
      for (;;) {
        clearTimeout(timer);
        timer = setTimeout(() => streamAbort.abort(), SILENT_MS);
        const { value, done } = await reader.read();
        if (done) return;
        onAlive();
        const events = (buffer + value).split("\n\n");
        buffer = events.pop();
        const frame = events.filter((event) => event.startsWith("event: picture\n")).pop();
        if (frame) onFrame(frame);
        const last = events.filter((event) => event.startsWith("data: ")).pop();
        if (last) this.onState(JSON.parse(last.slice("data: ".length)));
      }
    } finally {
      clearTimeout(timer);
    }
  }

  onState(state) {
    this.error = null;
    if (state.sent_out) return this.end("sent_out"), this.notify();
    if (state.displaced) return (this.isDisplaced = true), this.notify();
    this.hasNewServer ||= Boolean(this.state) && this.state.epoch !== state.epoch;
    this.state = state;
    if (state.ended) this.end("ended");
    else if (this.isTeacher && !state.forgotten) this.rememberRoom(state);
    this.restoreServer(state);
    this.notify();
  }

  rememberRoom({ paused, door, allowed, removed, devices, ballot, sketch }) {
    const { ballots, sketches } = this.memory;
    this.remember({
      paused, door, allowed, removed, devices,
      ballots: withLatest(ballots, ballot, ["number", "key", "options", "state", "round"]),
      sketches: withLatest(sketches, sketch, ["number", "key", "type", "most", "state"]),
    });
  }

  leave() {
    this.controller.abort();
    this.ended = true;
    this.notify();
  }
}

// When this tab is used again.
function whenUsed(signal) {
  return new Promise((resolve) => {
    const onUse = () => document.visibilityState === "visible" && (listeners.abort(), resolve());
    const listeners = new AbortController();
    signal.addEventListener("abort", resolve);
    for (const kind of ["pointerdown", "keydown", "focus"]) window.addEventListener(kind, onUse, { signal: listeners.signal });
    document.addEventListener("visibilitychange", onUse, { signal: listeners.signal });
  });
}

let current = null;

export const currentRoom = () => current;

// Set the room of this tab; the previous one is left.
export function joinRoom(code) {
  if (current?.code !== code) {
    current?.leave();
    current = code ? new RoomClient(code) : null;
  }
  return current;
}

// Track whether a button inside `host` is pressed: one that is re-rendered before it is released gets no
// click. render: called after the release.
export function trackPress(host, render, signal) {
  let isPressed = false, timer;
  const onRelease = () => {
    clearTimeout(timer);
    if (!isPressed || signal.aborted) return;
    isPressed = false;
    render();
  };
  const onDown = ({ button }) => {
    if (button !== 0) return; // a menu opens, and nobody says when the button is let go
    clearTimeout(timer); // of the press before
    isPressed = true;
  };
  const onUp = () => {
    if (isPressed) timer = setTimeout(onRelease, CLICK_MS);
  };
  host.addEventListener("pointerdown", onDown, { signal });
  host.addEventListener("click", onRelease, { signal });
  const { defaultView } = host.ownerDocument;
  for (const kind of ["pointerup", "pointercancel"]) defaultView.addEventListener(kind, onUp, { signal });
  return () => isPressed;
}

// A component that shows the state of the room: `render` is called at each change, `onRoomChange` before
// it when another room was joined.
export class RoomComponent {
  room = null;
  controller = new AbortController();

  constructor(host) {
    this.host = host;
    this.listener = () => this.render();
    this.timer = setInterval(() => this.findRoom(), FIND_MS);
  }

  findRoom() {
    if (current === this.room) return;
    this.room?.listeners.delete(this.listener);
    this.room = current;
    this.room?.listeners.add(this.listener);
    this.onRoomChange?.();
    this.listener();
  }

  close() {
    clearInterval(this.timer);
    this.room?.listeners.delete(this.listener);
    this.controller.abort();
  }
}
