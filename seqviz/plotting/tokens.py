"""Token labels for axes, as plain text: `labels`, `escape`."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np

_LETTERS, _WORDS = 60, 40  # tokens that fit below a figure: upright letters, rotated words
_LONGEST = 16  # maximum characters of a token label
_TICKS = 8
_ASIDE = 0.2  # tick offset in positions: a tick at the position would replace its hover label


def escape(text: str) -> str:
    """Return user text escaped for Plotly, which interprets tags, entities and "%{...}"."""
    text = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return text.replace("%{", "%&#123;")


def labels(tokens: Sequence[str], limit: int | None = None) -> tuple[dict[str, Any], bool]:
    """Return axis keys with the tokens as tick labels, numbered where there are too many.

    Args:
        tokens: the tokens.
        limit: number of tokens that fit; by default that of a horizontal axis.

    Returns:
        The Plotly axis keys, and True where each tick shows its token.
    """
    result, named = _labels(tuple(tokens), limit)
    return dict(result), named


@lru_cache(64)  # the axis stays the same while a slider changes the rest of the figure
def _labels(tokens: tuple[str, ...], limit: int | None) -> tuple[dict[str, Any], bool]:
    visible = [escape(short(token)) for token in tokens]
    letters = all(len(token) <= 2 for token in tokens)
    if len(tokens) > (limit or (_LETTERS if letters else _WORDS)):
        return numbered(len(tokens), visible), False
    result: dict[str, Any] = {"tickvals": list(range(1, len(tokens) + 1)), "ticktext": visible}
    if letters:
        result["tickangle"] = 0  # rotated letters do not read as a text
    return result, True


def numbered(last: int, names: Sequence[str]) -> dict[str, Any]:
    """Return axis keys with round numbers from 1 to `last`; hover texts show the names.

    Args:
        last: last position.
        names: name of each position, escaped.
    """
    steps = (1, 2, 5, 10, 20, 25, 50, 100, 200, 500, 1000, 2000)
    step = next((s for s in steps if last / s <= _TICKS), max(1, last // _TICKS))
    positions = [1, *range(step if step > 1 else 2, last + 1, step)]
    return {
        "tickvals": np.array(positions) + _ASIDE,
        "ticktext": [str(position) for position in positions],
        "labelalias": {str(position): name for position, name in enumerate(names, 1)},
    }


def short(word: str, max_chars: int = _LONGEST) -> str:
    """Return a word truncated with an ellipsis.

    Args:
        word: the word.
        max_chars: maximum length in characters, including the ellipsis.
    """
    return word if len(word) <= max_chars else word[: max_chars - 1] + "…"
