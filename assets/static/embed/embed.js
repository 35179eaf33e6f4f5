// A bench in a page of its own (`seqviz/ui/embed`): what it shows came with the page. While a
// hand moves a slider, `live.js` asks for its picture as in a lesson; when the hand rests, or
// something else is set, the settings go to the server, which says what there is to see from then on.
// What a reader writes goes in the body, never in an address.

import { Chart } from "../bench/chart.js";
import { Controls } from "../components/native_controls.js";
import { bench } from "../bench/live.js";

const AGAIN_MS = 2000; // between two looks whether a model is there; after a failure twice as long
const MOST_MS = 60_000;
const DARK = matchMedia("(prefers-color-scheme: dark)");
const part = (id) => document.getElementById(id);
const root = document.documentElement;

const notes = () => document.querySelectorAll("#over .said, #under .said");
const readouts = () => document.querySelectorAll("#readouts dd");

class Embed {
  token = "";
  asked = 0; // numbers of what was told; the last answer counts
  begun = false;
  patience = AGAIN_MS;

  constructor() {
    const host = document.querySelector(".seqviz-chart");
    this.chart = new Chart(host);
    host.tell = (pick) => this.tell({ pick });
    this.controls = new Controls(
      { above: part("above"), front: part("front"), behind: part("behind"), more: part("more") },
      this,
    );
    this.take(JSON.parse(part("told").textContent));
    document.addEventListener("click", ({ target }) => {
      const piece = target.closest("[data-sets]");
      if (piece) this.set(`${this.told.bench}.${piece.dataset.sets}`, piece.value);
    });
    for (const kind of ["pointerover", "focusin"]) addEventListener(kind, () => this.begin(), { once: true });
    DARK.addEventListener("change", () => this.recolor());
    if (this.told.themed && this.dark !== this.told.dark) this.tell();
  }

  get dark() {
    return root.dataset.theme ? root.dataset.theme === "dark" : DARK.matches;
  }

  get place() {
    return bench(this.told.bench);
  }

  // --- from the hand --------------------------------------------------------------------------

  // Somebody is here: ask for a session, so that the first movement has its pictures.
  begin() {
    if (this.begun) return;
    this.begun = true;
    const { live } = this.told;
    if (!live) return;
    const place = bench(this.told.bench);
    this.beginning = this.post({ begin: true }).then(
      ({ live: mine }) => {
        if (this.token || this.told.live !== live) return; // told meanwhile
        this.token = mine.token;
        place.source = mine;
        place.equip();
        if (place.moved.size > 0) this.asks(place);
      },
      () => (this.begun = false),
    );
  }

  asks(place) {
    place.wanted = true;
    place.ask();
  }

  move(key, text, dragged) {
    this.begin();
    this.place.move(key, text, dragged);
  }

  stop() {
    this.place.stop();
  }

  // A slider has come to rest.
  rest(key, text) {
    this.place.stop();
    if (text === this.value(key)) return this.place.forget(key);
    this.place.told(key);
    this.set(key, text);
  }

  value(key) {
    return this.told.controls.find((one) => one.key === key)?.value;
  }

  set(key, text, typed = false) {
    if (typed) {
      this.place.told(key);
      this.told.texts[key] = text;
      delete this.told.query[key];
    } else this.told.query[key] = text;
    this.tell();
  }

  async post(more) {
    const { query, texts } = this.told;
    const body = JSON.stringify({ query, texts, dark: this.dark, ...more });
    const headers = { "Content-Type": "application/json", "X-SeqViz-Session": this.token };
    const answer = await fetch(document.body.dataset.post, { method: "POST", credentials: "same-origin", headers, body });
    if (!answer.ok) throw new Error(answer.status);
    return answer.json();
  }

  async tell(more = {}) {
    const mine = (this.asked += 1);
    clearTimeout(this.again);
    const wait = setTimeout(() => this.chart.host.classList.add("waiting"), 300);
    try {
      await this.beginning; // else there would be two sessions
      const told = await this.post(more);
      this.patience = AGAIN_MS;
      this.token = told.live?.token ?? this.token;
      if (mine === this.asked) this.take(told);
    } catch {
      if (mine === this.asked) this.again = setTimeout(() => this.tell(more), this.patience);
      this.patience = Math.min(MOST_MS, 2 * this.patience);
    }
    clearTimeout(wait);
    this.chart.host.classList.remove("waiting");
  }

  // --- from the server ------------------------------------------------------------------------

  take(told) {
    const { live } = told;
    const place = bench(told.bench);
    // A hand has moved on: what is told is older than what stands there, and more will be told.
    const late = live && place.overtaken(live.values);
    this.told = told;
    if (live) {
      const source = { ...live, address: live.token ? live.address : null };
      if (late) {
        place.source = source;
        place.painter ??= this.painter();
        this.asks(place);
      } else place.drawn(source, this.painter());
    }
    this.controls.take(told.controls);
    part("lesson").href = told.lesson;
    if (!late) this.show(told);
    clearTimeout(this.again);
    if (told.loading) this.again = setTimeout(() => this.tell(), AGAIN_MS);
  }

  show(told) {
    for (const id of ["over", "readouts", "under", "problem"])
      if (part(id).innerHTML !== told[id]) part(id).innerHTML = told[id];
    part("origin").textContent = told.origin;
    const { figure, vega, component } = told;
    const host = this.chart.host;
    part("box").hidden = !(figure || vega || component);
    document.body.classList.toggle("undrawn", part("box").hidden);
    if (figure) {
      host.tell = told.picks ? (pick) => this.tell({ pick }) : null;
      this.chart.missing = told.missing;
      this.chart.show(figure, told.alt);
    } else if (component) this.draw(component);
    else if (vega) {
      host.setAttribute("role", "img");
      host.setAttribute("aria-label", told.alt);
      host.innerHTML = vega;
      document.body.classList.add("still");
    }
  }

  // A drawing that answers in the browser by itself, with its controls.
  async draw({ name, ...data }) {
    document.body.classList.add("alone");
    const host = this.chart.host;
    host.innerHTML ||= `<div class="seqviz-${name}"></div>`;
    const { default: start } = await import(`../figures/${name}.js`);
    const setTriggerValue = (_, values) => this.linked(data.start, values);
    start({ data, parentElement: host, setTriggerValue });
  }

  // The lesson's address with what the drawing has been set to.
  linked(start, values) {
    const link = new URL(part("lesson").href);
    for (const name of Object.keys(start)) {
      const key = `${this.told.bench}.${name}`;
      if (values[name] === start[name]) link.searchParams.delete(key);
      else link.searchParams.set(key, values[name]);
    }
    part("lesson").href = link.href;
  }

  // In the other theme: the chart is painted again; what the server has colored is asked for.
  recolor() {
    const { told } = this;
    if (told.themed) this.tell();
    else this.show(told);
  }

  painter() {
    const { chart } = this;
    return {
      uncover: () => this.show(this.told),
      there: () => chart.host.isConnected,
      wait: (on) => chart.host.classList.toggle("waiting", on),
      paint: (answer) => {
        const end = answer.indexOf("\n");
        const { alt, readouts: read, notes: said } = JSON.parse(answer.slice(0, end));
        chart.show(answer.slice(end + 1), alt, true);
        const [numbers, sentences] = [readouts(), notes()];
        if (numbers.length === read.length)
          numbers.forEach((one, at) => {
            one.querySelector("span").textContent = read[at].value;
            const beside = one.querySelector("small");
            if (beside) beside.textContent = read[at].beside ?? "";
          });
        if (sentences.length === said.length)
          sentences.forEach((one, at) => said[at] !== null && (one.innerHTML = said[at]));
      },
    };
  }
}

globalThis.seqvizEmbed = new Embed(); // for measuring from outside
