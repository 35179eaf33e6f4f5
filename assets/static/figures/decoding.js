// From the scores of a next token to a draw, as in seqviz/compute/gpt: filters.py, draw.py and
// uniform.py, by the same names. scores: Float64Array, -Infinity where a token is cut.

export const ORDER = ["penalty", "temperature", "top_k", "top_p", "min_p", "typical"];
export const OFF = { penalty: 1, temperature: 1, top_k: 0, top_p: 1, min_p: 0, typical: 1 };

// Loops: with functions for each of 49,152 scores a step takes three times as long, and a hand moves.
function highest(scores) {
  let most = -Infinity;
  for (let token = 0; token < scores.length; token++) if (scores[token] > most) most = scores[token];
  return most;
}

export function probabilities(scores) {
  const most = highest(scores);
  const raised = new Float64Array(scores.length);
  let whole = 0;
  for (let token = 0; token < scores.length; token++) whole += raised[token] = Math.exp(scores[token] - most);
  for (let token = 0; token < scores.length; token++) raised[token] /= whole;
  return raised;
}

// Of a distribution, in bits.
export function entropy(likely) {
  return -likely.reduce((sum, p) => (p > 0 ? sum + p * Math.log2(p) : sum), 0);
}

// The probability, by the scores before, of all tokens that are cut after.
export function cut(before, after) {
  const likely = probabilities(before);
  return after.reduce((sum, score, token) => (score === -Infinity ? sum + likely[token] : sum), 0);
}

// What is not cut, from the highest down: few to sort where much is cut.
function ranked(scores, least = -Infinity) {
  const found = new Float64Array(scores.length);
  let count = 0;
  for (const score of scores) if (score > -Infinity && score >= least) found[count++] = score;
  return found.subarray(0, count).sort().reverse();
}

// The same with probabilities, and without what lies below all that have `mass` together: tokens that
// have less than the rest of it divided by their number do not make it up.
function upper(scores, mass) {
  const most = highest(scores);
  let whole = 0;
  for (const score of scores) whole += Math.exp(score - most);
  const left = ranked(scores, most + Math.log((whole * (1 - mass)) / (2 * scores.length)));
  return [left, left.map((score) => Math.exp(score - most) / whole)];
}

// The name of each filter that is on, in order, and the scores behind it.
export function stages(scores, ids, chain) {
  const found = [];
  let now = scores;
  for (const name of chain.order ?? ORDER) {
    const value = chain[name] ?? OFF[name];
    if (value === OFF[name]) continue;
    now = FILTERS[name](now, value, ids);
    found.push({ name, scores: now });
  }
  return found;
}

// The token on which u in [0, 1) falls where probabilities stand from the highest down.
export function draw(scores, u) {
  const [left, likely] = upper(scores, u);
  let at = 0;
  for (let sum = likely[0]; sum <= u && at + 1 < left.length; sum += likely[at]) at += 1;
  let equal = at - left.indexOf(left[at]); // of equal scores the smaller number stands first
  return scores.findIndex((score) => score === left[at] && equal-- === 0);
}

const FILTERS = {
  penalty(scores, by, ids) {
    const changed = Float64Array.from(scores);
    for (const token of new Set(ids)) {
      changed[token] = scores[token] < 0 ? scores[token] * by : scores[token] / by;
    }
    return changed;
  },
  temperature: (scores, by) => scores.map((score) => score / by),
  top_k(scores, k) {
    const left = ranked(scores);
    const least = left[Math.min(k, left.length) - 1];
    return scores.map((score) => (score >= least ? score : -Infinity));
  },
  top_p(scores, mass) {
    const [left, likely] = upper(scores, mass);
    let kept = 0;
    for (let before = 0; kept < left.length && before < mass; kept += 1) before += likely[kept];
    const least = left[Math.max(kept, 1) - 1];
    let equal = Math.max(kept, 1) - left.indexOf(least);
    const stays = (score) => score > least || (score === least && equal-- > 0);
    return scores.map((score) => (stays(score) ? score : -Infinity));
  },
  min_p(scores, share) {
    const likely = probabilities(scores);
    const least = share * likely.reduce((a, b) => Math.max(a, b), 0);
    return scores.map((score, token) => (likely[token] >= least ? score : -Infinity));
  },
  typical(scores, mass) {
    const likely = probabilities(scores);
    const logs = likely.map(Math.log);
    const expected = -likely.reduce((sum, p, k) => (p > 0 ? sum + p * logs[k] : sum), 0);
    const far = logs.map((log) => Math.abs(-log - expected));
    const nearest = Uint32Array.from(far.keys()).sort((a, b) => far[a] - far[b] || a - b);
    let last = 0;
    for (let sum = likely[nearest[0]]; sum < mass && last < scores.length - 1; ) {
      last += 1;
      sum += likely[nearest[last]];
    }
    return scores.map((score, token) => (far[token] <= far[nearest[last]] ? score : -Infinity));
  },
};

// Four random 32-bit numbers for a counter of four under a key of two: Philox4x32-10.
export function philox(counter, key) {
  let [a, b, c, d] = counter;
  let [first, second] = key;
  for (let round = 0; round < 10; round += 1) {
    const [one, two] = [wide(0xd2511f53, a), wide(0xcd9e8d57, c)];
    [a, b, c, d] = [two[0] ^ b ^ first, two[1], one[0] ^ d ^ second, one[1]];
    [first, second] = [(first + 0x9e3779b9) | 0, (second + 0xbb67ae85) | 0];
  }
  return [a, b, c, d].map((word) => word >>> 0);
}

// High and low 32 bits of a product; no part of it is above 2^53.
function wide(one, two) {
  const [high, low] = [one >>> 16, one & 0xffff];
  const [top, rest] = [high * (two >>> 0), low * (two >>> 0)];
  const sum = (top % 0x10000) * 0x10000 + rest;
  return [(Math.floor(top / 0x10000) + Math.floor(sum / 0x100000000)) | 0, Math.imul(one, two)];
}

// The first numbers of a seed, multiples of 2^-32 in [0, 1).
export function uniforms(seed, count, stream = 0) {
  return Array.from({ length: count }, (_, t) => philox([t, stream, 0, 0], [seed, 0])[0] / 2 ** 32);
}
