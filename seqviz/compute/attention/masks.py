"""Attention masks [query, key]: built from a kind and single cells, and cells as text."""

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
    """Return True where a query may attend to a key.

    Args:
        real: False for padding.
        kind: "own" (as in training: causal in a decoder, everything in an encoder), "none",
            "causal" (only back and to itself), "reverse" (only ahead and to itself), "diagonal"
            (everything but itself), "window" (tokens less than `reach` away), "strided" (these, and
            every `reach`-th token counted from the query).
        decoder: True for a decoder, whose sparse patterns only look back.
        padding: True to hide padding from all queries.
        cells: (query, key) pairs, from 0, whose permission is inverted; those beyond the text are
            ignored.
        reach: reach of a sparse pattern, in tokens.

    Raises:
        ValueError: unknown kind, or reach below 1.

    References:
        "strided": Child et al. (2019), section 4.2, whose two patterns are joined here.
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
    """Return how many of the tokens x tokens scores a pattern computes.

    Args:
        kind: one of `MASK_KINDS`.
        tokens: length of the text.
        decoder: as in `allowed`.
        reach: as in `allowed`.
    """
    return int(allowed(np.ones(tokens, bool), kind, decoder, reach=reach).sum())


def pairs(text: str) -> tuple[tuple[int, int], ...]:
    """Parse pairs of numbers: "2.5 3.0" as ((2, 5), (3, 0)), sorted, each once.

    In links, disabled heads (layer.head) and cells of a mask (query.key) have this form.

    Raises:
        UserError: "pairs" for any other text, "many_pairs" for more than `MOST_CELLS`.
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
    """Return the pairs as text that `pairs` parses."""
    return " ".join(f"{a}.{b}" for a, b in cells)
