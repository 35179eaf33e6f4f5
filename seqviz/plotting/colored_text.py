"""Text whose tokens are colored by values (saliency map), as HTML without scripts."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from html import escape

import numpy as np
from jaxtyping import Float

from seqviz.core.i18n import number
from seqviz.plotting.scales import ABOVE, BELOW
from seqviz.plotting.style import Style

_STYLE = Style()
# Highest opacity that leaves text a contrast of 4.5:1 in both themes.
STRONGEST = 0.7
_MARKS = str.maketrans({"\n": "↵", "\r": "", "\t": "⇥"})
_CONTROLS = {*range(32), *range(0x7F, 0xA0)} - {ord(letter) for letter in "\t\n\r"}
_SQUARES = dict.fromkeys(_CONTROLS, "\ufffd")


def colored_text(
    pieces: Sequence[str],
    values: Float[np.ndarray, "pieces"],
    signed: bool,
    title: str,
    selected: int | None = None,
    unknown: Sequence[bool] | None = None,
    style: Style = _STYLE,
) -> str:
    """Return HTML of tokens, each on a background color that encodes its value.

    All text from the student is escaped.

    Args:
        pieces: tokens with their spaces and line breaks.
        values: values in [0, 1], in deepening blue; with `signed`, any values, blue below zero and
            orange above, scaled to the largest magnitude.
        signed: values have a sign.
        title: name of the values, as plain text.
        selected: 1-based index of a token to outline.
        unknown: True for tokens out of the vocabulary, which get a dotted underline.
        style: style of the figure.
    """
    floats = np.ascontiguousarray(values, float)
    word = style.text("figure.unknown_symbol")
    existing = () if unknown is None else tuple(unknown)
    spans = [*_spans(tuple(pieces), floats.tobytes(), signed, existing, word)]
    if selected is not None and 1 <= selected <= len(spans):
        line_style, rest = spans[selected - 1]
        spans[selected - 1] = (
            f"{line_style};outline:2px solid currentColor;border-radius:2px",
            rest,
        )
    alt = style.text(
        "alt.colored_text",
        title=title,
        text=_one_line("".join(pieces)),
        low=number(float(np.min(values))) if len(pieces) else "–",
        high=number(float(np.max(values))) if len(pieces) else "–",
    )
    return (
        f'<div role="img" aria-label="{_escaped(alt)}" style="white-space:pre-wrap;'
        "overflow-wrap:anywhere;font-variant-ligatures:none;line-height:1.9;color:inherit"
        f'">{"".join(map("".join, spans))}</div>'
    )


@lru_cache(32)  # moving the selection changes only an outline, which is added afterwards
def _spans(
    pieces: tuple[str, ...], floats: bytes, signed: bool, unknown: tuple[bool, ...], word: str
) -> tuple[tuple[str, str], ...]:
    """Return each token's span cut in two after its style, so that more style can be appended.

    Args:
        pieces: the tokens.
        floats: bytes of the values, a hashable form.
        signed: values have a sign.
        unknown: True for tokens out of the vocabulary.
        word: title of an unknown token.
    """
    values = np.frombuffer(floats)
    strength = np.nan_to_num(values)
    if signed:
        strength = strength / (np.abs(strength).max(initial=0) or 1.0)
    strength = STRONGEST * np.clip(strength, -1 if signed else 0, 1)
    above, below = (f'<span style="background:rgba({r},{g},{b},' for r, g, b in (ABOVE, BELOW))
    results: list[tuple[str, str]] = []
    for piece, value, deep in zip(pieces, values.tolist(), strength.tolist(), strict=True):
        color = above if signed and deep > 0 else below
        name, visible = _read(piece)
        style, summary = f"{color}{abs(deep):.2f});padding:.2em 0", f"{name}: {number(value)}"
        if unknown and unknown[len(results)]:
            style += ";text-decoration:underline dotted;text-underline-offset:.2em"
            summary += _escaped(f" ({word})")
        results.append((style, f'" title="{summary}">{visible}</span>'))
    return tuple(results)


@lru_cache(1000)
def _read(piece: str) -> tuple[str, str]:
    """Return a token as tooltip text and as visible HTML; cached, as tokens recur."""
    # A line break has no width to be colored, so a visible mark precedes it.
    visible_text = _escaped(piece).replace("\r\n", "\n").replace("\r", "\n").replace("\n", "↵\n")
    return _escaped(_one_line(piece)), visible_text


def _one_line(text: str) -> str:
    return text.translate(_MARKS)


def _escaped(text: str) -> str:
    """Return text escaped for HTML; characters that HTML cannot contain become U+FFFD."""
    retained = text.translate(_SQUARES)
    return escape(retained.encode("utf-8", "replace").decode("utf-8"), quote=True)
