"""Room codes to read from a projector and type on a phone, with a check letter."""

from __future__ import annotations

import math
import secrets

# Excludes letters and digits that are confused in some typeface: 0 O Q D, 1 I L, 2 Z, 5 S, 8 B,
# U V, G C (only C remains).
ALPHABET = "ACEFHJKMNPRTWXY34679"
_TIMES_ALPHA = (0, 2, 3, 1)  # products with a generator of the field of four elements


def length(rooms: int, guesses: float, risk: float) -> int:
    """Return the number of letters that bounds the probability of guessing an open room's code.

    The check letter is not counted, because a guesser can compute it. Union bound: each guess hits
    an open room with probability `rooms` / 20**n for n letters of the 20 in `ALPHABET`.

    Args:
        rooms: number of open rooms.
        guesses: number of guesses that the rate limits allow while a room is open.
        risk: the bound on the probability.
    """
    return math.ceil(math.log(rooms * guesses / risk, len(ALPHABET)))


def new(length: int) -> str:
    """Draw random letters from the operating system's source and append the check letter."""
    rendered = "".join(secrets.choice(ALPHABET) for _ in range(length))
    return next(rendered + check for check in ALPHABET if is_valid(rendered + check))


def is_valid(code: str) -> bool:
    """Return True where the check letter fits.

    A single wrong letter or a swap of two neighbors is always detected.

    The index of a letter in `ALPHABET` stands for two elements: index // 5 of the field of four
    elements and index % 5 of the field of five. A code is valid if in both fields its letters,
    weighted with the powers of a generator (the last letter with 1), sum to zero. No weight is
    zero, so a wrong letter changes a sum; neighboring weights differ, so a swap does as well.
    `assets/static/classroom/room_code.js` computes the same.
    """
    four = five = 0
    for letter in code:
        index = ALPHABET.index(letter)
        four = _TIMES_ALPHA[four] ^ (index // 5)
        five = (2 * five + index) % 5
    return bool(code) and four == five == 0


def read(typed: str) -> str:
    """Normalize a typed code: case, full-width letters, spaces and hyphens.

    Returns "" for a code with characters outside `ALPHABET`. The check letter is not tested; see
    `is_valid`. Of long input only the first 40 characters are read.

    >>> read("ｋｍｔ-rax")
    'KMTRAX'
    """
    result = "".join(
        chr(ord(letter) - 0xFEE0) if "！" <= letter <= "～" else letter
        for letter in typed[:40]
        if letter not in " \u3000-－–—·"
    ).upper()
    return result if result and set(result) <= set(ALPHABET) else ""


def format_code(code: str) -> str:
    """Return a code in two halves, for display.

    >>> format_code("KMTRAX")
    'KMT RAX'
    """
    half = (len(code) + 1) // 2
    return f"{code[:half]} {code[half:]}"
