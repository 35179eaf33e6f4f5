// Client renderer of the first bench of GPT and decoding, for drags: the output of
// seqviz/lessons/gpt/next_token.py, from scores that are loaded once
// (seqviz/lessons/gpt/client_payload.py). The figure is that of seqviz/figures/gpt/scores.py, with
// other numbers in its traces.

import { OFF, ORDER, draw, entropy, philox, probabilities, stages } from "./decoding.js";
import { count, interpolate, escapeHtml, number, percent } from "../components/format.js";

const MAX_TOKEN_CHARS = 12; // characters of a token
const MIN_LABEL_SHARE = 0.05; // of the cumulative bar: a token finds room in its part
const HIDDEN_Y = -1; // of it: where Plotly does not draw words
const ROUNDING_PERCENT = 1e-9; // percent: what is left by rounding
const [BEFORE, AFTER, DRAWN, PARTS, PART, U, CUT, BEHIND] = [0, 1, 2, 3, 4, 5, 6, 7]; // traces

function bytes(base64) {
  return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0)).buffer;
}

// Decode a half-precision float from its 16 bits.
export function half(bits) {
  const [sign, exponent, part] = [bits >> 15 ? -1 : 1, (bits >> 10) & 31, bits & 1023];
  if (exponent === 31) return part ? NaN : sign * Infinity;
  return sign * (exponent ? 2 ** (exponent - 15) * (1 + part / 1024) : 2 ** -14 * (part / 1024));
}

const escapeText = (text) =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll("%{", "%&#123;");
const shorten = (text) => {
  const characters = [...text];
  return characters.length <= MAX_TOKEN_CHARS ? text : `${characters.slice(0, MAX_TOKEN_CHARS - 1).join("")}…`;
};
const isCut = (score) => score === -Infinity;

// The tokens with the highest scores; among equals the lowest index first.
function topTokens(scores, limit) {
  const tokens = [];
  for (let token = 0; token < scores.length; token++) {
    if (isCut(scores[token]) || (tokens.length === limit && scores[token] <= scores[tokens.at(-1)])) continue;
    let index = tokens.length;
    while (index > 0 && scores[tokens[index - 1]] < scores[token]) index -= 1;
    tokens.splice(index, 0, token);
    if (tokens.length > limit) tokens.pop();
  }
  return tokens;
}

// Start and end of each token in a stacked bar, the most probable at the bottom.
function tokenBounds(scores, chances, drawnToken) {
  let low = 0;
  for (let token = 0; token < scores.length; token++)
    if (scores[token] > scores[drawnToken] || (scores[token] === scores[drawnToken] && token < drawnToken)) low += chances[token];
  return [low, low + chances[drawnToken]];
}

function numbers(values) {
  const valueOf = (name) => Number(values[name]);
  return { ...Object.fromEntries(Object.keys(OFF).map((name) => [name, valueOf(name)])), order: values.order.split("+") };
}

export class ClientRenderer {
  // data: the first payload. loadPayload: returns another payload by name.
  constructor(data, loadPayload) {
    this.data = data;
    this.loadPayload = loadPayload;
    const rounded = new Uint16Array(bytes(data.half));
    const first = new Float32Array(bytes(data.first));
    const lowest = first.at(-1);
    this.scores = Float64Array.from(rounded, (bits) => Math.min(half(bits), lowest));
    data.ids.forEach((token, index) => (this.scores[token] = first[index]));
    this.chances = probabilities(this.scores);
    this.entropy = entropy(this.chances);
    this.rowTokens = data.ids.slice(0, data.figure.layout.yaxis.tickvals.length - 1);
    this.pieces = new Map(data.ids.map((token, index) => [token, data.pieces[index]]));
  }

  // The output of the bench at these values, as in the two lines of a server response; null where the
  // server must respond. values: of the controls that differ from their defaults, by name.
  render(values) {
    this.loadVocabulary(); // during a drag a draw may fall on any token
    const settings = { ...this.data.start, ...values };
    const result = this.filter(numbers(settings), settings);
    const piece = this.piece(result.token);
    if (piece === undefined) return null;
    const texts = this.formatNumbers(result);
    const alt = interpolate(this.data.alt, { ...texts, first: this.names[0] });
    const around = { alt, readouts: this.readouts(texts), notes: this.notes(result, texts, piece, settings), arrays: [] };
    return { metadata: around, figure: this.figure(result, alt) };
  }

  // Like `Filtered` in seqviz/compute/gpt/filtered.py.
  filter(chain, { seed, number: drawNumber }) {
    const filterStages = stages(this.scores, this.data.seen, chain).map((stage) => ({ ...stage, chances: probabilities(stage.scores) }));
    const { scores, chances } = filterStages.at(-1) ?? this;
    const [u] = philox([Number(drawNumber) - 1, 0, 0, 0], [Number(seed), 0]).map((word) => word / 2 ** 32);
    const token = draw(scores, u);
    let [nKept, cut] = [0, 0];
    scores.forEach((score, index) => (isCut(score) ? (cut += this.chances[index]) : (nKept += 1)));
    return { stages: filterStages, scores, chances, u, token, kept: nKept, cut, ends: tokenBounds(scores, chances, token), entropy: entropy(chances) };
  }

  piece(token) {
    return this.pieces.get(token) ?? this.vocabulary?.[token];
  }

  loadVocabulary() {
    this.loading ??= this.loadPayload("vocabulary").then(
      (all) => (this.vocabulary = all),
      () => (this.loading = null),
    );
  }

  get names() {
    return this.data.figure.layout.meta.names.y;
  }

  // Formatted metrics.
  formatNumbers({ u, ends: [low, high], kept, cut, entropy: bits, chances }) {
    const three = (value) => value.toFixed(3);
    return {
      u: three(u), low: three(low), high: three(high), kept: count(kept), cut: percent(cut), entropy: number(bits),
      before: number(100 * this.chances[this.rowTokens[0]]), after: number(100 * chances[this.rowTokens[0]]),
    }; // prettier-ignore
  }

  readouts({ kept, cut, entropy: bits }) {
    const caption = interpolate(this.data.caption, { before: number(this.entropy) });
    return [{ value: kept, caption: null }, { value: cut, caption: null }, { value: bits, caption }];
  }

  notes(result, texts, piece, settings) {
    const { notes, notes_before, targets, filters, goal, joined, equation } = this.data;
    const names = result.stages.map(({ name }) => escapeHtml(filters[name])).join(joined);
    const values = { ...texts, filters: names, token: escapeHtml(piece), before: number(this.entropy) };
    const [first, rest] = notes[names ? (result.cut ? "scores" : "scores_kept") : "scores_none"];
    const folded = (rest ? interpolate(rest, values) : "") + this.orderNote(result, settings);
    const reached = result.kept <= goal[0] && result.entropy > goal[1];
    const equations = equation ? [interpolate(equation, settings)] : [];
    const target = interpolate(targets[Number(reached)], texts);
    return [...Array(notes_before).fill(null), ...equations, interpolate(first, values), target, ...(folded ? [folded] : [])];
  }

  // Largest difference of a probability from the usual order of filters, where another is chosen.
  orderNote(result, settings) {
    if (settings.order === ORDER.join("+")) return "";
    const usual = this.filter(numbers({ ...settings, order: ORDER.join("+") }), settings);
    const distance = result.chances.reduce((max, p, token) => Math.max(max, Math.abs(p - usual.chances[token])), 0);
    const { order: [order], order_same: [order_same] } = this.data.notes;
    const values = { apart: percent(distance), kept: count(usual.kept), entropy: number(usual.entropy) };
    return interpolate(distance > this.data.rounding ? order : order_same, values);
  }

  // Percent of the tokens that have a row, and of all others together.
  percentages(chances) {
    const shown = this.rowTokens.map((token) => 100 * chances[token]);
    return [...shown, Math.max(100 - shown.reduce((a, b) => a + b, 0), 0)];
  }

  figure(result, alt) {
    const { data, layout } = this.data.figure;
    const { filters, behind: words, u } = this.data;
    const [before, after] = [this.percentages(this.chances), this.percentages(result.chances)];
    const at = before.map((_, row) => row + 1);
    const allStages = result.stages.map(({ name, chances }) => ({ name, rows: this.percentages(chances) }));
    const earlierStages = allStages.slice(0, -1);
    const position = this.rowTokens.indexOf(result.token);
    const chosenRow = position < 0 ? this.rowTokens.length : position;
    const rowEnds = this.rowEnds(result, [before, after, ...earlierStages.map(({ rows }) => rows)], allStages);
    const cutRows = rowEnds.flatMap(({ name }, row) => (name ? [row] : []));
    const max = Math.max(1, ...before, ...after, ...earlierStages.flatMap(({ rows }) => rows));
    const sums = this.cumulative(result);
    const traces = [
      { ...data[BEFORE], x: before, y: at },
      { ...data[AFTER], x: after, y: at },
      { ...data[DRAWN], x: [after[chosenRow]], y: [chosenRow + 1] },
      { ...data[PARTS], ...sums.bars },
      { ...data[PART], y: [result.ends[1] - result.ends[0]], base: [result.ends[0]] },
      { ...data[U], y: [result.u], name: interpolate(u, { u: result.u.toFixed(3) }) },
      ...(cutRows.length ? [{ ...data[CUT], x: cutRows.map((row) => before[row]), y: cutRows.map((row) => row + 1) }] : []),
      ...earlierStages.map(({ name, rows }, stage) => ({
        ...data[BEHIND + stage], x: rows, y: at, name: interpolate(words, { filter: filters[name] }),
      })),
    ]; // prettier-ignore
    const annotations = [...rowEnds.map(({ note }) => note), ...sums.notes];
    const xaxis = { ...layout.xaxis, range: [0, 1.22 * max] };
    return { data: traces, layout: { ...layout, xaxis, annotations, meta: { ...layout.meta, alt } } };
  }

  // After the last mark of each row its percent, or that it is cut and by which filter.
  rowEnds({ stages: filterStages }, marks, all) {
    const { annotations } = this.data.figure.layout;
    const keptStyle = annotations[0]; // the likeliest is kept there, and all others are cut
    const cutStyle = annotations[this.rowTokens.length];
    const cutBy = [
      ...this.rowTokens.map((token) => filterStages.find(({ scores }) => isCut(scores[token]))?.name),
      all.find(({ rows }) => rows.at(-1) < ROUNDING_PERCENT)?.name,
    ];
    return cutBy.map((name, row) => {
      const text = name ? this.data.filters[name] : `${marks[1][row].toFixed(1)}%`;
      const { font, xshift } = name ? cutStyle : keptStyle;
      return { name, note: { ...annotations[row], font, xshift, text, x: Math.max(...marks.map((rows) => rows[row])) } };
    });
  }

  // All tokens as one stacked bar.
  cumulative({ scores, chances, kept }) {
    const { figure } = this.data;
    const ranked = topTokens(scores, Math.min(this.rowTokens.length, kept));
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
    const model = figure.layout.annotations[this.rowTokens.length + 1];
    const notes = figure.layout.annotations.slice(this.rowTokens.length + 1).map((_, index) => {
      const piece = this.pieces.get(ranked[index]);
      const text = parts[index] > MIN_LABEL_SHARE && piece !== undefined ? escapeText(shorten(piece)) : "";
      return { ...model, text, y: text ? base[index] + parts[index] / 2 : HIDDEN_Y };
    });
    return { bars, notes };
  }
}
