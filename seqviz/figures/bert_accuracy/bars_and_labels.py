"""Shared parts of the accuracy figures: shares as text, bars with intervals, baselines.

Every share has its n and its Wilson interval. Arguments are shares in [0, 1], axes are in percent.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from jaxtyping import Real, Shaped

from seqviz.core.i18n import Text, percent
from seqviz.plotting import NAMED, Panel
from seqviz.stats.proportions import Proportion

HOVER = "%{x}: %{y:.1f}%" + NAMED
_FEW = 12  # maximum number of points with markers
_HATCH = 6  # distance of the strokes of a hatched bar in pixels


def bare(share: float) -> str:
    """Return a share in percent without the sign, for axes and labels that have it."""
    return percent(share).removesuffix("%")


def format_proportion(proportion: Proportion, text: Text) -> str:
    """Return share, interval and n as text for hover texts and descriptions."""
    if not proportion.n:
        return text("figure.acc_none")
    low, high = (100 * end for end in proportion.ci)
    return text("figure.acc_said", share=proportion.share, n=proportion.n, low=low, high=high)


def format_proportions(result: Proportion, text: Text) -> np.ndarray:
    """Return `format_proportion` of each element, in an array of the same shape."""
    words = [format_proportion(result[row], text) for row in np.ndindex(result.n.shape)]
    return np.array(words, object).reshape(result.n.shape)


def curve(
    panel: Panel, x: Shaped[np.ndarray, "point"], percents: Real[np.ndarray, "point"], name: str,
    style: tuple[str, str, str], **more: Any,
) -> None:  # fmt: skip
    """Draw a line, with markers where there are few points; a single point has no line.

    Args:
        panel: panel to draw in.
        x: x values.
        percents: y values in percent.
        name: name of the trace.
        style: color, dash and marker.
        **more: further keys of `Panel.line`.
    """
    color, dash, symbol = style
    marker = symbol if len(x) <= _FEW else None
    panel.line(x, percents, name, color, dash=dash, symbol=marker, **{"hover": HOVER, **more})


def bar(
    panel: Panel, index: float, proportion: Proportion, name: str, color: str, *,
    hatched: bool = False, **more: Any,
) -> None:  # fmt: skip
    """Draw a bar in percent with its interval as a whisker.

    Args:
        panel: panel to draw in.
        index: position on the axis of names.
        proportion: share, interval and n.
        name: name of the trace.
        color: CSS color.
        hatched: True for a value printed in a text, not computed here; the bar is then empty
            inside, and its interval, where n is known, follows from share and n.
        **more: further keys of `Panel.bars`.
    """
    hover = format_proportion(proportion, panel.style.text) + NAMED
    keys: dict[str, Any] = {"width": 0.62, "hover": hover}
    if hatched:
        keys["marker"] = {
            "color": "rgba(0,0,0,0)",
            "line": {"color": color, "width": 1.8},
            "pattern": {"shape": "/", "fgcolor": color, "size": _HATCH, "solidity": 0.2},
        }
    value, low, high = ([100 * share] for share in (proportion.share, *proportion.ci))
    panel.bars([index], value, name, color, whiskers=(low, high), legend=False, **{**keys, **more})


def majority(
    panel: Panel, proportion: Proportion, ends: Sequence[float], *, upright: bool = False,
    words_at: float | None = 1,
) -> None:  # fmt: skip
    """Draw the accuracy of the answer that is most frequent in training as a dotted line.

    Args:
        panel: panel to draw in.
        proportion: this accuracy.
        ends: ends of the line along the axis.
        upright: True for a vertical line through horizontal bars.
        words_at: position of its name and value as a share of the panel's width; None for no text.
    """
    value = [100 * proportion.share] * 2
    x, y = (value, ends) if upright else (ends, value)
    text = panel.style.text
    panel.reference(x, y, text("figure.acc_majority"), legend=False)
    if words_at is not None and proportion.n:
        words = text("figure.acc_majority_at", share=proportion.share)
        on_line(panel, words, value[0], x=words_at)


def undecided(panel: Panel, ends: Sequence[float], *, above: bool = False) -> None:
    """Draw a labeled line at 50%, where the answer changes."""
    words = panel.style.text("figure.acc_undecided")
    panel.reference(ends, [50, 50], words, legend=False)
    on_line(panel, words, 50, above=above, x=0)


def on_line(panel: Panel, words: str, at: float, *, above: bool = False, x: float = 1) -> None:
    """Write text at a horizontal reference line.

    Args:
        panel: panel to draw in.
        words: the text.
        at: height of the line.
        above: True to write above the line, not below it.
        x: position as a share of the panel's width.
    """
    anchor = {"xanchor": "right" if x > 0.5 else "left", "yanchor": "bottom" if above else "top"}
    color = panel.style.palette.baseline
    panel.words(words, x, at, xref="domain", yshift=1 if above else -1, color=color, **anchor)


def reading(panel: Panel, words: str, x: float, last: float, first: float = 0.0) -> None:
    """Write a value at the top beside a vertical line, on the side with room.

    Args:
        panel: panel to draw in.
        words: the value as text.
        x: position of the line.
        last: right end of the axis.
        first: left end of the axis.
    """
    side, shift = ("left", 6) if x <= (first + last) / 2 else ("right", -6)
    panel.words(words, x, 1, yref="domain", xanchor=side, xshift=shift, yanchor="top")


def fitted(
    *values: Shaped[np.ndarray, "..."] | Sequence[float], minimum: float = 10, above: float = 0.12,
    below: float = 0.0,
) -> tuple[float, float]:  # fmt: skip
    """Return the ends of an axis in percent around values, at most [-1, 101] plus room for text.

    Args:
        *values: values in percent; nan is left out.
        minimum: minimum span in percent.
        above: room for text at the top, as a share of the span.
        below: room for text at the bottom, likewise.
    """
    flat = np.concatenate([np.ravel(np.asarray(value, float)) for value in values])
    finite = flat[np.isfinite(flat)]
    low, high = (float(finite.min()), float(finite.max())) if finite.size else (0.0, 100.0)
    short = max(0.0, minimum - (high - low)) / 2
    low, high = low - short, high + short
    low, high = max(low - 0.06 * (high - low), -1.0), min(high + 0.06 * (high - low), 101.0)
    return low - below * (high - low), high + above * (high - low)
