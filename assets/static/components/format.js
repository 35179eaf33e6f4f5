// Format of labels and numbers, with the names of seqviz/core/i18n.py.

const SUPERSCRIPTS = "⁰¹²³⁴⁵⁶⁷⁸⁹";
const formats = new Map(); // by digits: `toLocaleString` makes one for each number, in 60 µs
function groupDigits(value, digits) {
  if (!formats.has(digits)) formats.set(digits, new Intl.NumberFormat("en-US", { minimumFractionDigits: digits, maximumFractionDigits: digits }));
  return formats.get(digits).format(value);
}
const withMinusSign = (text) => text.replace("-", "\u2212");

// Three significant digits, thousands separated by commas, powers of ten for many zeros.
export function number(value) {
  if (Number.isNaN(value)) return "–";
  if (!Number.isFinite(value)) return value > 0 ? "∞" : "\u2212∞";
  if (value === 0) return "0";
  const [mantissa, power] = value.toExponential(2).split("e");
  const exponent = Number(power);
  if (exponent >= -3 && exponent <= 6) return withMinusSign(groupDigits(value, Math.max(0, 2 - exponent)));
  const superscript = [...String(exponent)].map((character) => SUPERSCRIPTS[character] ?? "⁻").join("");
  return withMinusSign(`${mantissa}\u00a0×\u00a010${superscript}`);
}

export const percent = (share) => (Number.isNaN(share) ? "–" : withMinusSign(`${groupDigits(100 * share, 1)}%`));
export const count = (value) => groupDigits(value, 0);

// Insert values into a sentence; `{kept:of token}` is "1 token" or "488 tokens".
export const interpolate = (sentence, values) =>
  sentence.replace(/\{(\w+)(?::of (\w+))?\}/g, (_, name, noun) =>
    noun ? `${values[name]} ${noun}${values[name] === "1" ? "" : "s"}` : values[name]);

const ENTITIES = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };
// Escape a text for HTML.
export const escapeHtml = (text) => text.replace(/[\r\n]+/g, " ").replace(/[&<>"]/g, (character) => ENTITIES[character]);
