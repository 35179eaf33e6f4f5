// Embedded bench as a page (`seqviz/ui/embed`): its first payload is part of the page. While a
// slider is dragged, `live.js` requests its figure as in a lesson; on commit, or after another
// change, the settings go to the server, which returns the next payload. Texts of a reader travel
// in the body, never in a URL.

import { Chart } from "../bench/chart.js";
import { updateEquation } from "../bench/equation.js";
import { Controls } from "../components/native_controls.js";
import { liveBench } from "../bench/live.js";

const POLL_MS = 2000; // between two looks whether a model is there; after a failure twice as long
const MAX_POLL_MS = 60_000;
const DARK_SCHEME = matchMedia("(prefers-color-scheme: dark)");
const byId = (id) => document.getElementById(id);
const root = document.documentElement;

const notes = () => document.querySelectorAll("#over .sentence, #under .sentence");
const readouts = () => document.querySelectorAll("#readouts dd");

class Embed {
  token = "";
  nRequests = 0; // the response to the last one counts
  hasBegun = false;
  retryMs = POLL_MS;

  constructor() {
    const host = document.querySelector(".seqviz-chart");
    this.chart = new Chart(host);
    host.onPick = (pick) => this.refresh({ pick });
    this.controls = new Controls(
      { above: byId("above"), front: byId("front"), behind: byId("behind"), more: byId("more") },
      this,
    );
    this.update(JSON.parse(byId("payload").textContent));
    document.addEventListener("click", ({ target }) => {
      const button = target.closest("[data-sets]");
      if (button) this.onChange(`${this.payload.bench}.${button.dataset.sets}`, button.value);
    });
    for (const kind of ["pointerover", "focusin"]) addEventListener(kind, () => this.beginSession(), { once: true });
    DARK_SCHEME.addEventListener("change", () => this.recolor());
    if (this.payload.themed && this.dark !== this.payload.dark) this.refresh();
  }

  get dark() {
    return root.dataset.theme ? root.dataset.theme === "dark" : DARK_SCHEME.matches;
  }

  get bench() {
    return liveBench(this.payload.bench);
  }

  // --- events of the controls -----------------------------------------------------------------

  // On the first sign of use, request a session, so that the first drag is painted.
  beginSession() {
    if (this.hasBegun) return;
    this.hasBegun = true;
    const { live } = this.payload;
    if (!live) return;
    const bench = liveBench(this.payload.bench);
    this.sessionRequest = this.post({ begin: true }).then(
      ({ live: session }) => {
        if (this.token || this.payload.live !== live) return; // another payload has come meanwhile
        this.token = session.token;
        bench.source = session;
        bench.loadClientRenderer();
        if (bench.pending.size > 0) this.request(bench);
      },
      () => (this.hasBegun = false),
    );
  }

  request(bench) {
    bench.isDirty = true;
    bench.request();
  }

  onInput(key, text, isDragging) {
    this.beginSession();
    this.bench.move(key, text, isDragging);
  }

  onRelease() {
    this.bench.release();
  }

  // A slider is committed.
  onCommit(key, text) {
    this.bench.release();
    if (text === this.value(key)) return this.bench.reset(key);
    this.bench.markReported(key);
    this.onChange(key, text);
  }

  value(key) {
    return this.payload.controls.find((control) => control.key === key)?.value;
  }

  onChange(key, text, isText = false) {
    if (isText) {
      this.bench.markReported(key);
      this.payload.texts[key] = text;
      delete this.payload.query[key];
    } else this.payload.query[key] = text;
    this.refresh();
  }

  async post(changes) {
    const { query, texts } = this.payload;
    const body = JSON.stringify({ query, texts, dark: this.dark, ...changes });
    const headers = { "Content-Type": "application/json", "X-SeqViz-Session": this.token };
    const answer = await fetch(document.body.dataset.post, { method: "POST", credentials: "same-origin", headers, body });
    if (!answer.ok) throw new Error(answer.status);
    return answer.json();
  }

  async refresh(changes = {}) {
    const number = (this.nRequests += 1);
    clearTimeout(this.retryTimer);
    const waitingTimer = setTimeout(() => this.chart.host.classList.add("waiting"), 300);
    try {
      await this.sessionRequest; // else there would be two sessions
      const payload = await this.post(changes);
      this.retryMs = POLL_MS;
      this.token = payload.live?.token ?? this.token;
      if (number === this.nRequests) this.update(payload);
    } catch {
      if (number === this.nRequests) this.retryTimer = setTimeout(() => this.refresh(changes), this.retryMs);
      this.retryMs = Math.min(MAX_POLL_MS, 2 * this.retryMs);
    }
    clearTimeout(waitingTimer);
    this.chart.host.classList.remove("waiting");
  }

  // --- responses of the server ----------------------------------------------------------------

  update(payload) {
    const { live } = payload;
    const bench = liveBench(payload.bench);
    // After further input the payload is older than what is on screen, and another one will follow.
    const isOutdated = live && bench.isStale(live.values);
    this.payload = payload;
    this.chart.bench = payload.bench;
    if (live) {
      const source = { ...live, address: live.token ? live.address : null };
      if (isOutdated) {
        bench.source = source;
        bench.view ??= this.createView();
        this.request(bench);
      } else bench.onRendered(source, this.createView());
    }
    this.controls.update(payload.controls);
    byId("lesson").href = payload.lesson;
    if (!isOutdated) this.show(payload);
    clearTimeout(this.retryTimer);
    if (payload.loading) this.retryTimer = setTimeout(() => this.refresh(), POLL_MS);
  }

  show(payload) {
    for (const id of ["over", "readouts", "under", "problem"])
      if (byId(id).innerHTML !== payload[id]) byId(id).innerHTML = payload[id];
    byId("origin").textContent = payload.origin;
    const { figure, vega, component } = payload;
    const host = this.chart.host;
    byId("box").hidden = !(figure || vega || component);
    document.body.classList.toggle("undrawn", byId("box").hidden);
    if (figure) {
      host.onPick = payload.picks ? (pick) => this.refresh({ pick }) : null;
      this.chart.missing = payload.missing;
      this.chart.show(figure, payload.alt);
    } else if (component) this.draw(component);
    else if (vega) {
      host.setAttribute("role", "img");
      host.setAttribute("aria-label", payload.alt);
      host.innerHTML = vega;
      document.body.classList.add("static");
    }
  }

  // A client component with its own controls.
  async draw({ name, ...data }) {
    document.body.classList.add("alone");
    const host = this.chart.host;
    host.innerHTML ||= `<div class="seqviz-${name}"></div>`;
    const { default: start } = await import(`../figures/${name}.js`);
    const setTriggerValue = (_, values) => this.updateLessonLink(data.start, values);
    start({ data, parentElement: host, setTriggerValue });
  }

  // The lesson's URL with the component's settings.
  updateLessonLink(start, values) {
    const link = new URL(byId("lesson").href);
    for (const name of Object.keys(start)) {
      const key = `${this.payload.bench}.${name}`;
      if (values[name] === start[name]) link.searchParams.delete(key);
      else link.searchParams.set(key, values[name]);
    }
    byId("lesson").href = link.href;
  }

  // After a switch of the theme: the chart is repainted; content colored by the server is requested.
  recolor() {
    const { payload } = this;
    if (payload.themed) this.refresh();
    else this.show(payload);
  }

  createView() {
    const { chart } = this;
    return {
      restore: () => this.show(this.payload),
      isMounted: () => chart.host.isConnected,
      setWaiting: (on) => chart.host.classList.toggle("waiting", on),
      paint: (answer) => {
        const end = answer.indexOf("\n");
        const { alt, readouts: newReadouts, notes: newNotes } = JSON.parse(answer.slice(0, end));
        chart.show(answer.slice(end + 1), alt, true);
        const [readoutElements, noteElements] = [readouts(), notes()];
        if (readoutElements.length === newReadouts.length)
          readoutElements.forEach((element, index) => {
            element.querySelector("span").textContent = newReadouts[index].value;
            const caption = element.querySelector("small");
            if (caption) caption.textContent = newReadouts[index].caption ?? "";
          });
        if (noteElements.length === newNotes.length)
          noteElements.forEach((element, index) => {
            if (newNotes[index] !== null && !updateEquation(element, newNotes[index])) element.innerHTML = newNotes[index];
          });
      },
    };
  }
}

globalThis.seqvizEmbed = new Embed(); // for measuring from outside
