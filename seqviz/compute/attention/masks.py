"""Who may look at whom: a matrix of permissions [query, key] from a mask's name and its cells."""

from __future__ import annotations

import re

import numpy as np
from jaxtyping import Bool

from seqviz.compute import typed_numbers as typed
from seqviz.core.errors import UserError

MASK_KINDS = ("own", "none", "causal", "reverse", "diagonal", "window", "strided")
SPARSE = ("window", "strided")
REACH = 4
_CELL = re.compile(r"(\d{1,4})\.(\d{1,4})", re.ASCII)
MOST_CELLS = 400


def allowed(
    real: Bool[np.ndarray, "token"],
    kind: str,
    decoder: bool,
    padding: bool = True,
    cells: tuple[tuple[int, int], ...] = (),
    reach: int = REACH,
) -> Bool[np.ndarray, "query key"]:
    """True where a query may look at a key.

    real: False for padding; where `padding` is on, nobody looks there. kind: "own" (what the model
    was trained with: causal in a decoder, everything in an encoder), "none", "causal" (only back
    and to itself), "reverse" (only ahead and to itself), "diagonal" (everything but itself),
    "window" (tokens less than `reach` away), "strided" (these, and every `reach`-th token counted
    from the query: Child et al. 2019, section 4.2, whose two patterns are joined here; only back in
    a decoder). cells: (query, key) pairs, from 0, whose permission is turned over; those beyond the
    text are ignored. Raises ValueError for an unknown kind and for a reach below 1.
    """
    tokens = len(real)
    if kind not in MASK_KINDS:
        raise ValueError(f"The mask must be one of {', '.join(MASK_KINDS)}, not {kind!r}.")
    full = np.ones((tokens, tokens), bool)
    if kind == "causal" or (kind == "own" and decoder):
        full = np.tril(full)
    elif kind == "reverse":
        full = np.triu(full)
    elif kind == "diagonal":
        np.fill_diagonal(full, False)
    elif kind in SPARSE:
        if reach < 1:
            raise ValueError(f"A sparse pattern reaches at least one token, not {reach}.")
        gap = np.abs(np.arange(tokens)[:, None] - np.arange(tokens))
        full = gap < reach
        if kind == "strided":
            full |= gap % reach == 0
        if decoder:
            full &= np.tril(full)
    if padding:
        full &= real[None, :]
    for query, key in cells:
        if query < tokens and key < tokens:
            full[query, key] = not full[query, key]
    return full


def cells_computed(kind: str, tokens: int, decoder: bool, reach: int = REACH) -> int:
    """How many of tokens x tokens scores a pattern asks for."""
    return int(allowed(np.ones(tokens, bool), kind, decoder, reach=reach).sum())


def pairs(text: str) -> tuple[tuple[int, int], ...]:
    """ "2.5 3.0" as ((2, 5), (3, 0)), sorted, each once. Raises UserError("pairs") for anything
    else.

    The form in which heads that are off (layer.head) and cells of a mask (query.key) stand in a
    link.
    """
    result = set()
    for part in " ".join(typed.cut(text, ",;+")).split():
        match = _CELL.fullmatch(typed.normalize(part))
        if not match:
            raise UserError(
                "pairs",
                f"“{part[:20]}” is not a pair of numbers with a point between them, such as 2.5.",
                part=part[:20],
            )
        result.add((int(match[1]), int(match[2])))
    if len(result) > MOST_CELLS:
        raise UserError("many_pairs", f"At most {MOST_CELLS} pairs.", limit=MOST_CELLS)
    return tuple(sorted(result))


def written(cells: tuple[tuple[int, int], ...]) -> str:
    """The pairs as text; `pairs` reads it back."""
    return " ".join(f"{a}.{b}" for a, b in cells)
