// The first bench of GPT and decoding under a moving hand, answered here: what
// seqviz/lessons/gpt/next_token.py shows, from scores that have come once (seqviz/lessons/gpt/client_payload.py). The
// figure is that of seqviz/figures/gpt/scores.py, with other numbers in its traces.

import { OFF, ORDER, draw, entropy, philox, probabilities, stages } from "./decoding.js";
import { count, filled, literal, number, percent } from "../components/format.js";

const LONGEST = 12; // characters of a token
const HIGH = 0.05; // of the cumulative bar: a token finds room in its part
const OUTSIDE = -1; // of it: where Plotly does not draw words
const NONE = 1e-9; // percent: what is left by rounding
const [BEFORE, AFTER, DRAWN, PARTS, PART, U, CUT, BEHIND] = [0, 1, 2, 3, 4, 5, 6, 7]; // traces

function bytes(base64) {
  return Uint8Array.from(atob(base64), (sign) => sign.charCodeAt(0)).buffer;
}

// A half float, from its 16 bits.
export function half(bits) {
  const [sign, exponent, part] = [bits >> 15 ? -1 : 1, (bits >> 10) & 31, bits & 1023];
  if (exponent === 31) return part ? NaN : sign * Infinity;
  return sign * (exponent ? 2 ** (exponent - 15) * (1 + part / 1024) : 2 ** -14 * (part / 1024));
}

const plain = (text) =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll("%{", "%&#123;");
const short = (text) => {
  const signs = [...text];
  return signs.length <= LONGEST ? text : `${signs.slice(0, LONGEST - 1).join("")}…`;
};
const isCut = (score) => score === -Infinity;

// The tokens of the highest scores, of equals the one of the smaller number first.
function foremost(scores, most) {
  const found = [];
  for (let token = 0; token < scores.length; token++) {
    if (isCut(scores[token]) || (found.length === most && scores[token] <= scores[found.at(-1)])) continue;
    let place = found.length;
    while (place > 0 && scores[found[place - 1]] < scores[token]) place -= 1;
    found.splice(place, 0, token);
    if (found.length > most) found.pop();
  }
  return found;
}

// Where a token begins and ends when all stand on one another, the likeliest at the bottom.
function ends(scores, chances, drawn) {
  let low = 0;
  for (let token = 0; token < scores.length; token++)
    if (scores[token] > scores[drawn] || (scores[token] === scores[drawn] && token < drawn)) low += chances[token];
  return [low, low + chances[drawn]];
}

function numbers(values) {
  const own = (name) => Number(values[name]);
  return { ...Object.fromEntries(Object.keys(OFF).map((name) => [name, own(name)])), order: values.order.split("+") };
}

export class Answers {
  // data: as it came. part: asks for another part of it, by its name.
  constructor(data, part) {
    this.data = data;
    this.part = part;
    const rounded = new Uint16Array(bytes(data.half));
    const first = new Float32Array(bytes(data.first));
    const least = first.at(-1);
    this.scores = Float64Array.from(rounded, (bits) => Math.min(half(bits), least));
    data.ids.forEach((token, place) => (this.scores[token] = first[place]));
    this.chances = probabilities(this.scores);
    this.entropy = entropy(this.chances);
    this.shown = data.ids.slice(0, data.figure.layout.yaxis.tickvals.length - 1);
    this.pieces = new Map(data.ids.map((token, place) => [token, data.pieces[place]]));
  }

  // What the bench shows with these values, in the two lines of an answer of the server; null where
  // that has to be asked. values: of the controls that are not at their start, by name.
  answer(values) {
    this.learn(); // a hand moves: it may come to where a draw falls on any token
    const now = { ...this.data.start, ...values };
    const found = this.filtered(numbers(now), now);
    const piece = this.piece(found.token);
    if (piece === undefined) return null;
    const read = this.read(found);
    const alt = filled(this.data.alt, { ...read, first: this.names[0] });
    const around = { alt, readouts: this.readouts(read), notes: this.notes(found, read, piece, now), arrays: [] };
    return { around, figure: this.figure(found, alt) };
  }

  // As `Filtered` in seqviz/compute/gpt/filtered.py.
  filtered(chain, { seed, number: place }) {
    const behind = stages(this.scores, this.data.seen, chain).map((stage) => ({ ...stage, chances: probabilities(stage.scores) }));
    const { scores, chances } = behind.at(-1) ?? this;
    const [u] = philox([Number(place) - 1, 0, 0, 0], [Number(seed), 0]).map((word) => word / 2 ** 32);
    const token = draw(scores, u);
    let [kept, cut] = [0, 0];
    scores.forEach((score, at) => (isCut(score) ? (cut += this.chances[at]) : (kept += 1)));
    return { stages: behind, scores, chances, u, token, kept, cut, ends: ends(scores, chances, token), entropy: entropy(chances) };
  }

  piece(token) {
    return this.pieces.get(token) ?? this.vocabulary?.[token];
  }

  learn() {
    this.learning ??= this.part("vocabulary").then(
      (all) => (this.vocabulary = all),
      () => (this.learning = null),
    );
  }

  get names() {
    return this.data.figure.layout.meta.names.y;
  }

  // Numbers as they are said.
  read({ u, ends: [low, high], kept, cut, entropy: bits, chances }) {
    const three = (value) => value.toFixed(3);
    return {
      u: three(u), low: three(low), high: three(high), kept: count(kept), cut: percent(cut), entropy: number(bits),
      before: number(100 * this.chances[this.shown[0]]), after: number(100 * chances[this.shown[0]]),
    }; // prettier-ignore
  }

  readouts({ kept, cut, entropy: bits }) {
    const beside = filled(this.data.beside, { before: number(this.entropy) });
    return [{ value: kept, beside: null }, { value: cut, beside: null }, { value: bits, beside }];
  }

  notes(found, read, piece, now) {
    const { notes, notes_before, targets, filters, goal, joined } = this.data;
    const names = found.stages.map(({ name }) => literal(filters[name])).join(joined);
    const values = { ...read, filters: names, token: literal(piece), before: number(this.entropy) };
    const said = filled(names ? notes.scores : notes.scores_none, values) + this.order(found, now);
    const reached = found.kept <= goal[0] && found.entropy > goal[1];
    return [...Array(notes_before).fill(null), said, filled(targets[Number(reached)], read)];
  }

  // How far the distribution is from that of the usual order, where another is chosen.
  order(found, now) {
    if (now.order === ORDER.join("+")) return "";
    const usual = this.filtered(numbers({ ...now, order: ORDER.join("+") }), now);
    const apart = found.chances.reduce((most, p, token) => Math.max(most, Math.abs(p - usual.chances[token])), 0);
    const { order, order_same } = this.data.notes;
    const values = { apart: percent(apart), kept: count(usual.kept), entropy: number(usual.entropy) };
    return filled(apart > this.data.rounding ? order : order_same, values);
  }

  // Percent of the tokens that have a row, and of all others together.
  rows(chances) {
    const some = this.shown.map((token) => 100 * chances[token]);
    return [...some, Math.max(100 - some.reduce((a, b) => a + b, 0), 0)];
  }

  figure(found, alt) {
    const { data, layout } = this.data.figure;
    const { filters, behind: words, u } = this.data;
    const [before, after] = [this.rows(this.chances), this.rows(found.chances)];
    const at = before.map((_, row) => row + 1);
    const all = found.stages.map(({ name, chances }) => ({ name, rows: this.rows(chances) }));
    const passed = all.slice(0, -1);
    const place = this.shown.indexOf(found.token);
    const chosen = place < 0 ? this.shown.length : place;
    const ends = this.rowEnds(found, [before, after, ...passed.map(({ rows }) => rows)], all);
    const gone = ends.flatMap(({ name }, row) => (name ? [row] : []));
    const most = Math.max(1, ...before, ...after, ...passed.flatMap(({ rows }) => rows));
    const sums = this.cumulated(found);
    const traces = [
      { ...data[BEFORE], x: before, y: at },
      { ...data[AFTER], x: after, y: at },
      { ...data[DRAWN], x: [after[chosen]], y: [chosen + 1] },
      { ...data[PARTS], ...sums.bars },
      { ...data[PART], y: [found.ends[1] - found.ends[0]], base: [found.ends[0]] },
      { ...data[U], y: [found.u], name: filled(u, { u: found.u.toFixed(3) }) },
      ...(gone.length ? [{ ...data[CUT], x: gone.map((row) => before[row]), y: gone.map((row) => row + 1) }] : []),
      ...passed.map(({ name, rows }, stage) => ({
        ...data[BEHIND + stage], x: rows, y: at, name: filled(words, { filter: filters[name] }),
      })),
    ]; // prettier-ignore
    const annotations = [...ends.map(({ note }) => note), ...sums.notes];
    const xaxis = { ...layout.xaxis, range: [0, 1.22 * most] };
    return { data: traces, layout: { ...layout, xaxis, annotations, meta: { ...layout.meta, alt } } };
  }

  // Beyond the last mark of each row its percent, or that it is cut and by what.
  rowEnds({ stages: behind }, marks, all) {
    const { annotations } = this.data.figure.layout;
    const kept = annotations[0]; // the likeliest is kept there, and all others are cut
    const gone = annotations[this.shown.length];
    const cutBy = [
      ...this.shown.map((token) => behind.find(({ scores }) => isCut(scores[token]))?.name),
      all.find(({ rows }) => rows.at(-1) < NONE)?.name,
    ];
    return cutBy.map((name, row) => {
      const text = name ? this.data.filters[name] : `${marks[1][row].toFixed(1)}%`;
      const { font, xshift } = name ? gone : kept;
      return { name, note: { ...annotations[row], font, xshift, text, x: Math.max(...marks.map((rows) => rows[row])) } };
    });
  }

  // All tokens on one another.
  cumulated({ scores, chances, kept }) {
    const { figure } = this.data;
    const ranked = foremost(scores, Math.min(this.shown.length, kept));
    const parts = ranked.map((token) => chances[token]);
    const base = [];
    let sum = 0;
    for (const part of parts) {
      base.push(sum);
      sum += part;
    }
    const rest = Math.max(1 - sum, 0);
    const colors = figure.data[PARTS].marker.color;
    const bars = {
      x: [...parts, rest].map(() => 1), y: [...parts, rest], base: [...base, 1 - rest],
      marker: { ...figure.data[PARTS].marker, color: [...parts.map(() => colors[0]), colors.at(-1)] },
    }; // prettier-ignore
    const model = figure.layout.annotations[this.shown.length + 1];
    const notes = figure.layout.annotations.slice(this.shown.length + 1).map((_, place) => {
      const piece = this.pieces.get(ranked[place]);
      const text = parts[place] > HIGH && piece !== undefined ? plain(short(piece)) : "";
      return { ...model, text, y: text ? base[place] + parts[place] / 2 : OUTSIDE };
    });
    return { bars, notes };
  }
}
