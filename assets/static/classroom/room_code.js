// Room codes as typed, and their check letter: equivalent to seqviz/classroom/codes.py.

const ALPHABET = "ACEFHJKMNPRTWXY34679";
const TIMES_ALPHA = [0, 2, 3, 1];

// Normalize case, full-width forms, spaces and hyphens.
export const parseCode = (text) => text.normalize("NFKC").toUpperCase().replace(/[\s\-–—·]/g, "");

// Return whether the check letter fits: it never does after one wrong letter or two swapped neighbors.
export function isValid(code) {
  let checkGF4 = 0, checkMod5 = 0;
  for (const letter of code) {
    const index = ALPHABET.indexOf(letter);
    if (index < 0) return false;
    checkGF4 = TIMES_ALPHA[checkGF4] ^ Math.floor(index / 5);
    checkMod5 = (2 * checkMod5 + index) % 5;
  }
  return code !== "" && checkGF4 === 0 && checkMod5 === 0;
}

// Format for people: in two halves.
export const formatCode = (code) => `${code.slice(0, Math.ceil(code.length / 2))} ${code.slice(Math.ceil(code.length / 2))}`;
