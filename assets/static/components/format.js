// Words and numbers as they stand on screen, by the same names as in seqviz/core/i18n.py.

const RAISED = "⁰¹²³⁴⁵⁶⁷⁸⁹";
const grouped = (value, digits) =>
  value.toLocaleString("en-US", { minimumFractionDigits: digits, maximumFractionDigits: digits });
const signed = (text) => text.replace("-", "\u2212");

// Three significant digits, commas for thousands, powers of ten where there are many noughts.
export function number(value) {
  if (Number.isNaN(value)) return "–";
  if (!Number.isFinite(value)) return value > 0 ? "∞" : "\u2212∞";
  if (value === 0) return "0";
  const [mantissa, power] = value.toExponential(2).split("e");
  const exponent = Number(power);
  if (exponent >= -3 && exponent <= 6) return signed(grouped(value, Math.max(0, 2 - exponent)));
  const raised = [...String(exponent)].map((sign) => RAISED[sign] ?? "⁻").join("");
  return signed(`${mantissa}\u00a0×\u00a010${raised}`);
}

export const percent = (share) => (Number.isNaN(share) ? "–" : signed(`${grouped(100 * share, 1)}%`));
export const count = (value) => grouped(value, 0);

// The words of a sentence with values in their places.
export const filled = (words, values) => words.replace(/\{(\w+)\}/g, (_, name) => values[name]);

const MARKS = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };
// A text as it is, in HTML.
export const literal = (text) => text.replace(/[\r\n]+/g, " ").replace(/[&<>"]/g, (mark) => MARKS[mark]);
