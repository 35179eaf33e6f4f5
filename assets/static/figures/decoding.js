// Decoding from the logits of a next token to a sample, equivalent to filters.py, draw.py and
// uniform.py in seqviz/compute/gpt, with the same names. scores: Float64Array, -Infinity where a
// token is cut.

export const ORDER = ["penalty", "temperature", "top_k", "top_p", "min_p", "typical"];
export const OFF = { penalty: 1, temperature: 1, top_k: 0, top_p: 1, min_p: 0, typical: 1 };

// Loops: with callbacks, 49,152 scores take three times as long, too slow for a drag.
function highest(scores) {
  let max = -Infinity;
  for (let token = 0; token < scores.length; token++) if (scores[token] > max) max = scores[token];
  return max;
}

export function probabilities(scores) {
  const max = highest(scores);
  const weights = new Float64Array(scores.length);
  let total = 0;
  for (let token = 0; token < scores.length; token++) total += weights[token] = Math.exp(scores[token] - max);
  for (let token = 0; token < scores.length; token++) weights[token] /= total;
  return weights;
}

// Entropy of a distribution, in bits.
export function entropy(chances) {
  return -chances.reduce((sum, p) => (p > 0 ? sum + p * Math.log2(p) : sum), 0);
}

// Probability, by the scores before, of all tokens that are cut after.
export function cut(before, after) {
  const chances = probabilities(before);
  return after.reduce((sum, score, token) => (score === -Infinity ? sum + chances[token] : sum), 0);
}

// The tokens that are not cut, in descending order; sorting is fast where many are cut.
function ranked(scores, threshold = -Infinity) {
  const values = new Float64Array(scores.length);
  let count = 0;
  for (const score of scores) if (score > -Infinity && score >= threshold) values[count++] = score;
  return values.subarray(0, count).sort().reverse();
}

// The same with probabilities, without the tail below cumulative probability `mass`: tokens with less than
// the remaining mass divided by their number cannot complete it.
function upper(scores, mass) {
  const max = highest(scores);
  let total = 0;
  for (const score of scores) total += Math.exp(score - max);
  const sorted = ranked(scores, max + Math.log((total * (1 - mass)) / (2 * scores.length)));
  return [sorted, sorted.map((score) => Math.exp(score - max) / total)];
}

// The name of each active filter in order, with the scores after it.
export function stages(scores, ids, chain) {
  const results = [];
  let current = scores;
  for (const name of chain.order ?? ORDER) {
    const value = chain[name] ?? OFF[name];
    if (value === OFF[name]) continue;
    current = FILTERS[name](current, value, ids);
    results.push({ name, scores: current });
  }
  return results;
}

// The token at u in [0, 1) of the cumulative probabilities in descending order.
export function draw(scores, u) {
  const [sorted, chances] = upper(scores, u);
  let index = 0;
  for (let sum = chances[0]; sum <= u && index + 1 < sorted.length; sum += chances[index]) index += 1;
  let equal = index - sorted.indexOf(sorted[index]); // of equal scores the smaller number stands first
  return scores.findIndex((score) => score === sorted[index] && equal-- === 0);
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
    const sorted = ranked(scores);
    const threshold = sorted[Math.min(k, sorted.length) - 1];
    return scores.map((score) => (score >= threshold ? score : -Infinity));
  },
  top_p(scores, mass) {
    const [sorted, chances] = upper(scores, mass);
    let count = 0;
    for (let before = 0; count < sorted.length && before < mass; count += 1) before += chances[count];
    const threshold = sorted[Math.max(count, 1) - 1];
    let equal = Math.max(count, 1) - sorted.indexOf(threshold);
    const isKept = (score) => score > threshold || (score === threshold && equal-- > 0);
    return scores.map((score) => (isKept(score) ? score : -Infinity));
  },
  min_p(scores, share) {
    const chances = probabilities(scores);
    const threshold = share * chances.reduce((a, b) => Math.max(a, b), 0);
    return scores.map((score, token) => (chances[token] >= threshold ? score : -Infinity));
  },
  typical(scores, mass) {
    const chances = probabilities(scores);
    const logs = chances.map(Math.log);
    const expected = -chances.reduce((sum, p, k) => (p > 0 ? sum + p * logs[k] : sum), 0);
    const distances = logs.map((log) => Math.abs(-log - expected));
    const nearest = Uint32Array.from(distances.keys()).sort((a, b) => distances[a] - distances[b] || a - b);
    let lastIndex = 0;
    for (let sum = chances[nearest[0]]; sum < mass && lastIndex < scores.length - 1; ) {
      lastIndex += 1;
      sum += chances[nearest[lastIndex]];
    }
    return scores.map((score, token) => (distances[token] <= distances[nearest[lastIndex]] ? score : -Infinity));
  },
};

// Four random 32-bit numbers for a counter of four words and a key of two: Philox4x32-10.
export function philox(counter, key) {
  let [a, b, c, d] = counter;
  let [first, second] = key;
  for (let round = 0; round < 10; round += 1) {
    const [productA, productC] = [wide(0xd2511f53, a), wide(0xcd9e8d57, c)];
    [a, b, c, d] = [productC[0] ^ b ^ first, productC[1], productA[0] ^ d ^ second, productA[1]];
    [first, second] = [(first + 0x9e3779b9) | 0, (second + 0xbb67ae85) | 0];
  }
  return [a, b, c, d].map((word) => word >>> 0);
}

// High and low 32 bits of a product; no part exceeds 2^53.
function wide(a, b) {
  const [high, low] = [a >>> 16, a & 0xffff];
  const [top, rest] = [high * (b >>> 0), low * (b >>> 0)];
  const sum = (top % 0x10000) * 0x10000 + rest;
  return [(Math.floor(top / 0x10000) + Math.floor(sum / 0x100000000)) | 0, Math.imul(a, b)];
}

// The first uniform numbers of a seed, multiples of 2^-32 in [0, 1).
export function uniforms(seed, count, stream = 0) {
  return Array.from({ length: count }, (_, t) => philox([t, stream, 0, 0], [seed, 0])[0] / 2 ** 32);
}
