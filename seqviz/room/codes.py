"""Codes that are read from a projector and typed on a phone, and how long they have to be."""

from __future__ import annotations

import math
import secrets

# Without letters and digits that are taken for one another in any type: 0 O Q D, 1 I L, 2 Z, 5 S,
# 8 B, U V, G C.
ALPHABET = "ACEFHJKMNPRTWXY34679"


def length(rooms: int, guesses: float, risk: float) -> int:
    """The fewest letters with which a guesser finds one of the open rooms at most with this risk.

    guesses: how many the limits let through while a room is open. By the union bound: each guess
    hits one of `rooms` among all codes.
    """
    return math.ceil(math.log(rooms * guesses / risk, len(ALPHABET)))


def new(letters: int) -> str:
    """A code of so many letters, each drawn from the system's source of randomness."""
    return "".join(secrets.choice(ALPHABET) for _ in range(letters))


def read(typed: str) -> str:
    """A code as it was typed: in lower case, with spaces or a hyphen. Empty where it is none."""
    found = "".join(letter for letter in typed.upper()[:40] if letter not in " -–—·")
    return found if found and set(found) <= set(ALPHABET) else ""


def shown(code: str) -> str:
    """As it is written for people: in two halves.

    >>> shown("KMTRAX")
    'KMT RAX'
    """
    half = (len(code) + 1) // 2
    return f"{code[:half]} {code[half:]}"
