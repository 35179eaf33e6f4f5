"""Axes and colors for quantities that run over many decades, some beyond what float64 holds."""

from __future__ import annotations

from typing import Any

import numpy as np
from jaxtyping import Float

from seqviz.figures.grammar.style import Style, axis_layout

LOWEST, HIGHEST = -50.0, 45.0  # just beyond float32: what is further out is said in words
_TICKS = 8
# What stands over a cell of a map that shows log10: the browser writes it, from the number that is
# there already. Ten thousand numbers in words took longer than computing them, and were most of
# what was sent.
POWER = "10<sup>%{z:.2f}</sup>"
BELOW, ABOVE = (43, 108, 196), (214, 104, 20)  # red, green, blue of the ends of `diverging`


def powers(log10: Float[np.ndarray, "*shape"]) -> Float[np.ndarray, "*shape"]:
    """10 to each of these; nan (a gap in the line) where float64 has no full number for it."""
    with np.errstate(over="ignore", under="ignore"):
        values = np.power(10.0, log10)
    return np.where(np.isfinite(values) & (values >= np.finfo(float).tiny), values, np.nan)


def log_axis(
    style: Style, log10: Float[np.ndarray, "values"], title: str, **more: Any
) -> dict[str, Any]:
    """A log axis around these values, decades only, cut where float32 has long ended."""
    shown = log10[np.isfinite(log10)]
    shown = np.clip(shown, LOWEST, HIGHEST) if shown.size else np.zeros(1)
    low, high = float(shown.min()), float(shown.max())
    margin = max(0.3, 0.05 * (high - low))
    low, high = low - margin, high + margin
    return axis_layout(
        style,
        type="log",
        range=[low, high],
        dtick=max(1, int(np.ceil((high - low) / _TICKS))),
        title={"text": title},
        **more,
    )


def diverging(style: Style) -> list[list[Any]]:
    """Blue below zero, orange above, and nothing (the page itself) at zero.

    Both ends are colors with a role of their own turned transparent toward the middle, so that the
    neutral color is the background in either theme.
    """
    scale: list[list[Any]] = []
    for position in np.linspace(0, 1, 11):
        color = BELOW if position < 0.5 else ABOVE
        strength = abs(position - 0.5) * 2
        scale.append([float(position), f"rgba({color[0]},{color[1]},{color[2]},{strength:.2f})"])
    return scale


def ticks_of_ten(low: int, high: int, most: int = 7) -> tuple[list[int], list[str]]:
    """Places and labels of whole powers of ten, for a color bar that shows log10."""
    step = max(1, -(-(high - low) // (most - 1)))
    places = [k for k in range(low, high + 1) if k % step == 0]
    return places, [f"10<sup>{k}</sup>".replace("-", "−") for k in places]
