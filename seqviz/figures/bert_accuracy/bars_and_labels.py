"""What the figures about accuracy share: shares in words, bars with intervals, the baseline.

Every share comes with its n and its Wilson interval. Arguments are shares of 1, axes in percent.
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
_FEW = 12  # points up to which each has a marker
_HATCH = 6  # pixels between the strokes of a hatched bar


def bare(share: float) -> str:
    """A share in percent without the sign, where an axis or its neighbor has it."""
    return percent(share).removesuffix("%")


def format_proportion(proportion: Proportion, text: Text) -> str:
    """A proportion in words, for hover texts and descriptions: share, interval, n."""
    if not proportion.n:
        return text("figure.acc_none")
    low, high = (100 * end for end in proportion.ci)
    return text("figure.acc_said", share=proportion.share, n=proportion.n, low=low, high=high)


def format_proportions(result: Proportion, text: Text) -> np.ndarray:
    """The same of many rows: an array of words of their shape."""
    words = [format_proportion(result[row], text) for row in np.ndindex(result.n.shape)]
    return np.array(words, object).reshape(result.n.shape)


def curve(
    panel: Panel, x: Shaped[np.ndarray, "point"], percents: Real[np.ndarray, "point"], name: str,
    style: tuple[str, str, str], **more: Any,
) -> None:  # fmt: skip
    """A named line, with markers where there are few points: of one there is no line.

    style: its color, dash and marker.
    """
    color, dash, symbol = style
    marker = symbol if len(x) <= _FEW else None
    panel.line(x, percents, name, color, dash=dash, symbol=marker, **{"hover": HOVER, **more})


def bar(
    panel: Panel, index: float, proportion: Proportion, name: str, color: str, *,
    hatched: bool = False, **more: Any,
) -> None:  # fmt: skip
    """One bar in percent with its interval as a whisker, at `index` of the axis of names.

    hatched: a figure from a text, not computed here (its interval, where n is known, follows from
    share and n); empty inside, so that it is not taken for ours.
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
    """The accuracy of the answer that is most frequent in training, given always.

    ends: of the axis along which the line runs. upright: the line stands, the bars lie. words_at:
    where on it its name and value stand, as a share of the panel's width; None: they do not.
    """
    value = [100 * proportion.share] * 2
    x, y = (value, ends) if upright else (ends, value)
    text = panel.style.text
    panel.reference(x, y, text("figure.acc_majority"), legend=False)
    if words_at is not None and proportion.n:
        words = text("figure.acc_majority_at", share=proportion.share)
        on_line(panel, words, value[0], x=words_at)


def undecided(panel: Panel, ends: Sequence[float], *, above: bool = False) -> None:
    """The line at 50%, where an answer turns, with its name below or above it."""
    words = panel.style.text("figure.acc_undecided")
    panel.reference(ends, [50, 50], words, legend=False)
    on_line(panel, words, 50, above=above, x=0)


def on_line(panel: Panel, words: str, at: float, *, above: bool = False, x: float = 1) -> None:
    """Words on a reference line at the height `at`, below or above it."""
    anchor = {"xanchor": "right" if x > 0.5 else "left", "yanchor": "bottom" if above else "top"}
    color = panel.style.palette.baseline
    panel.words(words, x, at, xref="domain", yshift=1 if above else -1, color=color, **anchor)


def reading(panel: Panel, words: str, x: float, last: float) -> None:
    """What is read off, at the top beside the upright line, on the side that has room."""
    side, shift = ("left", 6) if x <= 0.7 * last else ("right", -6)
    panel.words(words, x, 1, yref="domain", xanchor=side, xshift=shift, yanchor="top")


def fitted(
    *values: Shaped[np.ndarray, "..."] | Sequence[float], minimum: float = 10, above: float = 0.12,
    below: float = 0.0,
) -> tuple[float, float]:  # fmt: skip
    """Ends of an axis in percent around these values, never beyond 0 and (but for words) 100.

    minimum: percent that it spans. above, below: room for words, as shares of what it spans.
    """
    flat = np.concatenate([np.ravel(np.asarray(value, float)) for value in values])
    finite = flat[np.isfinite(flat)]
    low, high = (float(finite.min()), float(finite.max())) if finite.size else (0.0, 100.0)
    short = max(0.0, minimum - (high - low)) / 2
    low, high = low - short, high + short
    low, high = max(low - 0.06 * (high - low), -1.0), min(high + 0.06 * (high - low), 101.0)
    return low - below * (high - low), high + above * (high - low)
