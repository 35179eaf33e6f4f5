// While a hand moves a control of a bench, ask for its picture with these values and draw it in
// place. The latest value only: one request for a bench at a time, and what has been overtaken is
// neither asked for nor drawn. When the hand has come to rest, the page hears of the value once and
// draws everything as it always does. If anything fails here, only that happens.
//
// Some benches are answered here, without the server, from what has come once (seqviz/lessons/framework/
// lesson.py: Answers). Their script has a class Answers(data, part): data as they came, `await
// part(name)` for more; its answer(values) gives { around, figure } as an answer of the server has
// them in its two lines, or null where that has to be asked.

export const TOLD_MS = 2000; // after which the page draws what it was told last, whatever it is
const SLOW_MS = 300; // an answer that takes longer is waited for with a quiet mark
const PATIENCE_MS = 5000;
const STOPPED_MS = 40; // what a hand that has stopped waits for an answer to where it was before
const RESTED_MS = 300; // after which a hand that goes on is expected to go one step
const AHEAD = 16; // pictures that are kept for it
const TRIES = 5;
const EQUIP_MS = 500; // after the page, what answers here comes
const AGAIN_MS = 3000; // and where it did not come, it is asked for once more
const LARGE = /"bdata":"(#[0-9a-f]{16}|[A-Za-z0-9+/=]{4096,})"/g; // as in ui/live/handler.py
const benches = new Map();

export function bench(prefix) {
  if (!benches.has(prefix)) benches.set(prefix, new Bench());
  return benches.get(prefix);
}

export const every = () => benches.values();

export const same = (one, other) => one === other || Number(one) === Number(other);

// What is asked for, the same whatever was moved first.
function named(values) {
  const names = new URLSearchParams(values);
  names.sort();
  return names.toString();
}

// The first of an answer's two lines: what is said around the figure. passing: what is drawn may be
// another figure the next time, with the same values.
const said = (answer) => JSON.parse(answer.slice(0, answer.indexOf("\n")));

class Bench {
  moved = new Map(); // key of a control -> what the hand has set, and when the page was told
  wanted = false;
  busy = false;
  home = false; // the hand has come back to what the page shows
  led = false; // the hand is a teacher's, in another browser
  moving = false; // the hand holds a handle: it will want another picture soon
  flight = null; // { abort, moving } of the request that is under way
  source = null; // { address, query, token }: where to ask, with everything that no hand moves
  painter = null; // draws the answer
  arrays = new Map(); // the large ones of the last answer, which need not travel again
  ahead = new Map(); // answers to what has not been asked for yet
  expecting = null; // fetches them: can be aborted
  pictures = []; // when the last ones were painted, for measuring
  controls = new Map(); // by key, those that want to hear that the page knows where the hand rests
  painted = null; // { names, answer }: what stands on screen in place of what the page has drawn
  offered = null; // { number, values, answer } of the rest that the page was told last
  rests = 0;
  tell = null; // says to the page that the hand rests (`commit_reporter.js`)
  shape = null; // of what the page has drawn: of one shape, it would not draw more than an answer shows
  waiting = []; // for the last answer
  sent = null; // { names, unpack }: what all of a class are sent, for whom it is the picture to ask for
  forgone = new Set(); // who waits with what the page has drawn, while the hand is elsewhere
  here = null; // { name, answers }: what answers here; answers: null while it is on its way

  // The page has drawn the bench: with these values, and this is where to ask for others.
  drawn(source, painter) {
    this.source = source;
    this.painter = painter;
    this.painted = null;
    for (const [key, { text, told, once }] of this.moved)
      if (once || (told && same(text, source.values[key]))) this.moved.delete(key);
    setTimeout(() => this.equip(), EQUIP_MS);
  }

  // The page has drawn older values of what moves. Where anything else is set otherwise in it, that
  // counts for the hand as well.
  renewed(source) {
    const fixed = ({ query }) => named(Object.entries(query).filter(([key]) => !this.moved.has(key)));
    if (this.source && fixed(source) === fixed(this.source)) return;
    this.source = source;
    this.wanted = true;
    this.ask();
  }

  // Whether what the page has drawn is older than what the hand has set meanwhile.
  overtaken(values) {
    const now = performance.now();
    return [...this.moved].some(
      ([key, { text, told }]) =>
        values[key] !== undefined && !same(text, values[key]) && !(told && now - told > TOLD_MS),
    );
  }

  // Do something when the page has drawn what it was told, in TOLD_MS at the earliest; what is returned
  // calls it off.
  afterwards(action) {
    let timer;
    const end = () => {
      clearTimeout(timer);
      this.forgone.delete(end);
    };
    this.forgone.add(end);
    const wait = () => {
      timer = setTimeout(() => {
        const state = document.querySelector(".stApp")?.dataset.testScriptState ?? "notRunning";
        if (state !== "notRunning") return wait();
        end();
        action();
      }, TOLD_MS);
    };
    wait();
    return end;
  }

  move(key, text, moving = false) {
    this.moving = moving;
    this.led = false;
    this.expecting?.abort();
    this.home = false;
    this.moved.set(key, { text, told: 0 });
    this.wanted = true;
    this.ask();
  }

  // Somebody else has set these, and the page hears of it by itself: their picture until it draws.
  // null: the default.
  set(values) {
    for (const [key, text] of Object.entries(values)) this.moved.set(key, { text, told: performance.now(), once: true });
    this.wanted ||= Object.keys(values).length > 0;
    this.ask();
  }

  // The handle is let go. Pictures of hands that move wait for those of hands that have stopped: the
  // one that is under way may come late, and is asked for anew.
  stop() {
    this.moving = false;
    const { flight } = this;
    if (!flight?.moving) return;
    setTimeout(() => {
      if (this.flight !== flight) return;
      this.wanted = true;
      flight.abort();
    }, STOPPED_MS);
  }

  told(key) {
    const moved = this.moved.get(key);
    if (moved) moved.told = performance.now();
  }

  // The hand rests on this control. What the page would draw is on screen already, or `draw` asks for it.
  async rest(key, draw) {
    this.told(key);
    const moved = this.moved.get(key);
    if (this.busy || this.wanted)
      await new Promise((resolve) => {
        this.waiting.push(resolve);
        setTimeout(resolve, SLOW_MS);
      });
    if (this.moved.get(key) !== moved) return; // it has moved on, and rests again later
    const { painted, shape } = this;
    const shows =
      shape && painted?.names === named(this.asked()) && said(painted.answer).shape === shape &&
      [...this.moved.values()].every(({ told }) => told);
    if (!shows || !this.tell || this.forgone.size > 0) return draw();
    const values = Object.fromEntries([...this.moved].map(([name, { text }]) => [name, text]));
    this.offered = { number: ++this.rests, values, answer: painted.answer };
    this.tell({ number: this.rests, values, shape });
  }

  // The page knows where the hand rests, and has not drawn the bench; or it has, as of this shape.
  heard({ shape, number }) {
    this.shape = shape;
    if (this.offered?.number !== number) return;
    const { values, answer } = this.offered;
    this.offered = null;
    // What the page has drawn before would come when the hand has gone, and would be old: once more.
    if (this.forgone.size > 0) {
      for (const [key, text] of Object.entries(values)) this.controls.get(key)?.tell(text);
      return;
    }
    Object.assign(this.source.query, values);
    Object.assign(this.source.values, values);
    this.painter.keep(answer);
    for (const [key, text] of Object.entries(values)) this.controls.get(key)?.heard(text);
  }

  // The page does not know the text that is typed in this box; or it does, and draws it or has it.
  typed(key, text) {
    if (text === this.source.values[key]) return this.forget(key);
    this.move(key, text);
  }

  // What is asked for: where the hand is, and everything else as the page has it.
  asked() {
    const values = { ...this.source.query };
    for (const [key, { text }] of this.moved)
      if (text === null) delete values[key];
      else values[key] = text;
    return values;
  }

  // The page knows this value, and draws the bench with it next.
  known(key) {
    this.moved.delete(key);
  }

  // The page is where the hand is: its own figure and words stand there again.
  forget(key) {
    this.moved.delete(key);
    if (this.moved.size > 0) return;
    this.home = true;
    if (this.painter?.there()) this.uncover();
  }

  // Where its chart is gone with the page, so is what was set there; a slider forgets by itself.
  left() {
    if (this.painter?.there()) return;
    for (const key of this.moved.keys()) if (!this.controls.has(key)) this.moved.delete(key);
  }

  uncover() {
    this.painted = null;
    this.painter.uncover();
  }

  // An answer with the arrays that only were named, of those that were there when it was asked for;
  // null where one is not.
  whole(text, had) {
    const end = text.indexOf("\n");
    const { arrays } = said(text);
    const kept = new Map();
    let place = 0;
    const figure = text.slice(end).replace(LARGE, (_, given) => {
      const name = arrays[place++];
      kept.set(name, given.startsWith("#") ? had.get(name) : given);
      return `"bdata":"${kept.get(name)}"`;
    });
    this.arrays = [...kept.values()].includes(undefined) ? new Map() : kept;
    return this.arrays === kept ? text.slice(0, end) + figure : null;
  }

  // Fetch what answers here, where it has not come: once for all that a hand moves.
  async equip() {
    const { answers, address, query } = this.source ?? {};
    if (!answers || !address) return;
    const needed = Object.fromEntries(Object.entries(query).filter(([key]) => answers.needs.includes(key)));
    const name = named(needed);
    if (this.here?.name === name) return;
    const here = (this.here = { name, answers: null });
    const part = (one) => this.part(needed, one);
    try {
      const [{ Answers }, data] = await Promise.all([import(`../figures/${answers.script}.js`), part("")]);
      here.answers = new Answers(data, part);
    } catch {
      setTimeout(() => {
        if (this.here !== here) return;
        this.here = null;
        if (this.painter?.there()) this.equip();
      }, AGAIN_MS);
    }
  }

  async part(needed, name) {
    const { address, token } = this.source;
    const headers = { "X-SeqViz-Session": token, "X-SeqViz-Payload": name };
    const found = await fetch(`${address}?${named(needed)}`, { credentials: "omit", cache: "no-store", headers });
    if (found.status !== 200) throw new Error(found.status);
    return found.json();
  }

  // The answer to these values, made here; null where nothing is here for them.
  answered(values) {
    const { answers, bench: prefix } = this.source;
    if (!answers || !this.here?.answers) return null;
    const needed = Object.entries(values).filter(([key]) => answers.needs.includes(key));
    if (named(Object.fromEntries(needed)) !== this.here.name) return null;
    const own = Object.entries(values).filter(([key]) => key.startsWith(`${prefix}.`));
    const found = this.here.answers.answer(
      Object.fromEntries(own.map(([key, text]) => [key.slice(prefix.length + 1), text])),
    );
    if (found === null) return null;
    return `${JSON.stringify({ ...found.around, shape: this.shape })}\n${JSON.stringify(found.figure)}`;
  }

  // The hand has come to rest: fetch what it may want next, one after the other. A class that is busy
  // gives nothing; a page that still arrives is so for a moment.
  async expect(key, texts) {
    this.expecting?.abort();
    if (this.here?.answers || this.led) return;
    const { signal } = (this.expecting = new AbortController());
    const pause = () => new Promise((resolve) => setTimeout(resolve, RESTED_MS));
    const left = texts.filter((text) => !this.ahead.has(named({ ...this.source?.query, [key]: text })));
    try {
      await pause();
      for (let tries = 0; left.length > 0 && tries < TRIES && !signal.aborted; ) {
        const asked = this.source;
        const values = { ...asked.query, [key]: left[0] };
        const answer = await this.fetched(asked, values, { "X-SeqViz-Prefetch": "1" }, signal);
        if (answer === null || this.source !== asked) {
          tries += 1;
          await pause();
          continue;
        }
        if (!said(answer).passing) this.ahead.set(named(values), answer);
        if (this.ahead.size > AHEAD) this.ahead.delete(this.ahead.keys().next().value);
        left.shift();
      }
    } catch {
      // The hand has moved on, or asks again when it does.
    }
  }

  // The answer, or null where there is none.
  async fetched({ address, token, typed = [] }, values, headers, signal) {
    const had = this.arrays;
    const entries = Object.entries(values);
    const own = entries.filter(([key]) => typed.includes(key));
    const others = Object.fromEntries(entries.filter(([key]) => !typed.includes(key)));
    const found = await fetch(`${address}?${named(others)}`, {
      credentials: "omit",
      cache: "no-store",
      headers: {
        "X-SeqViz-Session": token,
        "X-SeqViz-Known-Arrays": [...had.keys()].join(),
        ...(own.length > 0 && { "X-SeqViz-Live-Text": encodeURIComponent(JSON.stringify(Object.fromEntries(own))) }),
        ...headers,
      },
      signal,
    });
    return found.status === 200 ? this.whole(await found.text(), had) : null;
  }

  // What is asked for under one name, however a number is written and whether a default stands there.
  plain(values) {
    const found = { ...values };
    for (const [key, { slider }] of this.controls) {
      const text = found[key] ?? null, start = slider.options?.start;
      if (text === null || same(text, start)) delete found[key];
      else if (Number.isFinite(Number(text))) found[key] = Number(text);
    }
    return named(found);
  }

  // The answer to this query, in case that the hand of a teacher leads to it; unpacked only then.
  offer(query, unpack) {
    this.sent = { names: this.plain(query), unpack };
  }

  async taken(values) {
    if (this.sent?.names !== this.plain(values)) return null;
    try {
      return this.whole(await this.sent.unpack(), new Map());
    } catch {
      return null; // it is asked for
    }
  }

  async ask() {
    if (this.busy || !this.wanted || !this.source?.address) return;
    const values = this.asked();
    const made = this.answered(values);
    if (made !== null) {
      this.wanted = false;
      if (this.painter.there()) this.paint(made, values);
      this.waiting.splice(0).forEach((resolve) => resolve());
      return;
    }
    this.busy = true;
    this.wanted = false;
    const asked = this.source;
    const slow = setTimeout(() => this.painter.wait(true), SLOW_MS);
    const aborter = new AbortController();
    const patience = setTimeout(() => aborter.abort(), PATIENCE_MS);
    const { moving } = this;
    this.flight = { abort: () => aborter.abort(), moving };
    let answer = null; // the page says why, when the hand has come to rest
    try {
      answer =
        (this.sent && (await this.taken(values))) ??
        (await this.ahead.get(named(values))) ??
        (await this.fetched(asked, values, moving ? { "X-SeqViz-Dragging": "1" } : {}, aborter.signal));
    } catch {
      // The line is down, or the answer came too late.
    }
    clearTimeout(slow);
    clearTimeout(patience);
    this.busy = false;
    this.flight = null;
    // The page has been drawn anew meanwhile, perhaps as another figure: this answer is old.
    const old = this.source !== asked;
    if (old && this.moved.size > 0) this.wanted = true;
    if (this.wanted) this.ask(); // the next is on its way while this one is painted
    this.painter.wait(false);
    if (!old && answer !== null && this.painter.there()) this.paint(answer, values);
    if (!this.busy) this.waiting.splice(0).forEach((resolve) => resolve());
  }

  paint(answer, values) {
    try {
      this.painter.paint(answer);
    } catch {
      return; // something between here and the server has answered in its place
    }
    this.painted = { names: named(values), answer };
    if (this.home) this.uncover();
    this.pictures.push({ at: performance.now(), values });
    if (this.pictures.length > 500) this.pictures.splice(0, 250);
  }
}

// What is typed into a box of the page: the picture follows, and the page hears of the text as always,
// when it is done. Letters from which a sign is still being made are not yet its text.
function typing(event, act) {
  if (!(event.target instanceof HTMLInputElement) || event.isComposing) return;
  for (const place of benches.values())
    for (const key of place.source?.typed ?? [])
      if (event.target.closest(`.st-key-${key.replaceAll(".", "-")}`)) act(place, key, event.target.value);
}

const follow = (event) => typing(event, (place, key, text) => place.typed(key, text));
const done = (event) => typing(event, (place, key) => place.told(key));
document.addEventListener("input", follow);
document.addEventListener("compositionend", follow);
document.addEventListener("focusout", done);
document.addEventListener("keydown", (event) => event.key === "Enter" && done(event));

globalThis.seqvizLive = bench; // for measuring from outside
