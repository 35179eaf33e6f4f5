"""Codes that are read from a projector and typed on a phone: letters, check letter, length."""

from __future__ import annotations

import math
import secrets

# Without letters and digits that are taken for one another in any type: 0 O Q D, 1 I L, 2 Z, 5 S,
# 8 B, U V, G C.
ALPHABET = "ACEFHJKMNPRTWXY34679"
_TIMES_ALPHA = (0, 2, 3, 1)  # products with a generator of the field of four elements


def length(rooms: int, guesses: float, risk: float) -> int:
    """The fewest letters with which a guesser finds one of the open rooms at most with this risk.

    The check letter is not counted: a guesser can compute it.

    guesses: how many the limits let through while a room is open. By the union bound: each guess
    hits one of `rooms` among all codes.
    """
    return math.ceil(math.log(rooms * guesses / risk, len(ALPHABET)))


def new(length: int) -> str:
    """Draw so many letters from the system's source of randomness, and add the check letter."""
    rendered = "".join(secrets.choice(ALPHABET) for _ in range(length))
    return next(rendered + check for check in ALPHABET if is_valid(rendered + check))


def is_valid(code: str) -> bool:
    """Return whether the check letter fits; one wrong letter or two swapped neighbors never do.

    The alphabet is taken as the product of the fields of four and of five elements; a code is
    valid where its letters, weighted with the powers of a generator, sum to zero in both. The
    difference of two neighboring weights is not zero either, so a swap shows as well.
    `assets/static/classroom/room_code.js` computes the same.
    """
    four = five = 0
    for letter in code:
        index = ALPHABET.index(letter)
        four = _TIMES_ALPHA[four] ^ (index // 5)
        five = (2 * five + index) % 5
    return bool(code) and four == five == 0


def read(typed: str) -> str:
    """A code as it was typed: in lower case, full-width, with spaces or a hyphen. Empty for none.

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
    """As it is written for people: in two halves.

    >>> shown("KMTRAX")
    'KMT RAX'
    """
    half = (len(code) + 1) // 2
    return f"{code[:half]} {code[half:]}"
