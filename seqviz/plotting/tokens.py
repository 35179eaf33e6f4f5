"""What a network read, as words on an axis: plain text, as many as there is room for."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np

_LETTERS, _WORDS = 60, 40  # tokens that find room below a figure: letters upright, words turned
_LONGEST = 16  # characters of one token
_TICKS = 8
_ASIDE = 0.2  # of a step: a tick on the step itself would take the place of its token on hover


def escape(text: str) -> str:
    """A student's text as it is: Plotly reads tags, entities and "%{...}" in labels."""
    text = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return text.replace("%{", "%&#123;")


def labels(tokens: Sequence[str], limit: int | None = None) -> tuple[dict[str, Any], bool]:
    """The keys of an axis under these tokens, and whether each stands at its place.

    Where there are more than `limit` the places are numbered.
    """
    result, named = _labels(tuple(tokens), limit)
    return dict(result), named


@lru_cache(64)  # while the rest of a figure moves its axis stays
def _labels(tokens: tuple[str, ...], limit: int | None) -> tuple[dict[str, Any], bool]:
    visible = [escape(short(token)) for token in tokens]
    letters = all(len(token) <= 2 for token in tokens)
    if len(tokens) > (limit or (_LETTERS if letters else _WORDS)):
        return numbered(len(tokens), visible), False
    result: dict[str, Any] = {"tickvals": list(range(1, len(tokens) + 1)), "ticktext": visible}
    if letters:
        result["tickangle"] = 0  # letters on their side cannot be read as a text
    return result, True


def numbered(last: int, names: Sequence[str]) -> dict[str, Any]:
    """An axis from 1 to `last` with round numbers; on hover each place has its own name."""
    steps = (1, 2, 5, 10, 20, 25, 50, 100, 200, 500, 1000, 2000)
    step = next((s for s in steps if last / s <= _TICKS), max(1, last // _TICKS))
    positions = [1, *range(step if step > 1 else 2, last + 1, step)]
    return {
        "tickvals": np.array(positions) + _ASIDE,
        "ticktext": [str(position) for position in positions],
        "labelalias": {str(position): name for position, name in enumerate(names, 1)},
    }


def short(word: str, max_chars: int = _LONGEST) -> str:
    """At most so many characters of it."""
    return word if len(word) <= max_chars else word[: max_chars - 1] + "…"
