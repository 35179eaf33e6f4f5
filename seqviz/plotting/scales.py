"""From values to colors: signed, weights, plain shares; each with the ticks of its color bar."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from jaxtyping import Shaped

from seqviz.core.i18n import number
from seqviz.plotting.style import WEIGHTS, Style

BELOW, ABOVE = (43, 108, 196), (214, 104, 20)  # red, green, blue of the ends of a signed scale
_STOPS = 33
Ticks = tuple[Sequence[float], Sequence[str]]


@dataclass(frozen=True)
class ColorScale:
    """colors: Plotly's color scale from `low` to `high`; None: from the least to the largest.

    ticks: places and words of the color bar, where Plotly's own will not do.
    """

    colors: Sequence[Sequence[Any]]
    low: float | None = None
    high: float | None = None
    ticks: Ticks | None = None

    def keys(self) -> dict[str, Any]:
        """What a heatmap says of it."""
        ends = {} if self.low is None else {"zmin": self.low, "zmax": self.high}
        return {"colorscale": self.colors, **ends}


@cache
def diverging() -> list[list[Any]]:
    """Blue below zero, orange above, and nothing (the page itself) at zero.

    Both ends turn transparent toward the middle, so that the neutral color is the background in
    either theme.
    """
    stops: list[list[Any]] = []
    for position in np.linspace(0, 1, 11):
        red, green, blue = BELOW if position < 0.5 else ABOVE
        strength = abs(position - 0.5) * 2
        stops.append([float(position), f"rgba({red},{green},{blue},{strength:.2f})"])
    return stops


def signed(limit: float, beyond: bool = False, ticks: Ticks | None = None) -> ColorScale:
    """Symmetric about zero, from -limit to limit; `beyond`: the ends stand for all beyond them."""
    if beyond:
        positions = [-limit, -limit / 2, 0.0, limit / 2, limit]
        words = [number(position, 2) for position in positions]
        ticks = (positions, [f"≤ {words[0]}", *words[1:4], f"≥ {words[4]}"])
    return ColorScale(diverging(), -limit, limit, ticks)


def unit_scale(
    low: float | None = None, high: float | None = None, ticks: Ticks | None = None
) -> ColorScale:
    """From nothing to all in even steps: gates, shares, counts."""
    return ColorScale(WEIGHTS, low, high, ticks)


def weights(maximum: float = 1.0) -> ColorScale:
    """Cividis over the square root of a weight in [0, 1], or of what goes from 0 to `maximum`.

    Most weights are small: one of 0.05 would be black beside one of 0.9, and it is often the one
    that carries the pattern.
    """
    shares = (0, 0.05, 0.2, 0.5, 1)
    positions = [maximum * share for share in shares]
    ticks = (
        positions,
        [str(share) if maximum == 1 else number(maximum * share, 2) for share in shares],
    )
    return ColorScale(_rooted(), 0, maximum, ticks)


@cache
def _rooted() -> list[list[Any]]:
    from plotly.colors import sample_colorscale

    shares = np.linspace(0, 1, _STOPS)
    colors = sample_colorscale(WEIGHTS, list(shares))
    return [[float(share**2), color] for share, color in zip(shares, colors, strict=True)]


def flat(color: str) -> ColorScale:
    """One color for every cell: a map whose point is what is written in it."""
    return ColorScale([[0, color], [1, color]], -1, 1)


def tint() -> ColorScale:
    """A share in [0, 1] behind words: from the page itself to an orange they can be read on."""
    return ColorScale([[0, sign_color(1, 0.0)], [1, sign_color(1, 0.6)]], 0, 1)


def decades(low: int, high: int, maximum: int = 7) -> Ticks:
    """Places and words of whole powers of ten, for a color bar that shows log10."""
    step = max(1, -(-(high - low) // (maximum - 1)))
    positions = [k for k in range(low, high + 1) if k % step == 0]
    return positions, [f"10<sup>{k}</sup>".replace("-", "−") for k in positions]


def color_bar(style: Style, name: str, ticks: Ticks | None = None, **more: Any) -> dict[str, Any]:
    """A slender color bar with its name."""
    bar: dict[str, Any] = {
        "title": {"text": name, "side": "right", "font": {"size": 13 * style.scale}},
        "tickfont": {"size": 12 * style.scale},
        "thickness": 12,
        "outlinewidth": 0,
        "xpad": 0,
    }
    if ticks is not None:
        bar |= {"tickvals": list(ticks[0]), "ticktext": list(ticks[1])}
    return {**bar, **more}


def largest(*arrays: Shaped[np.ndarray, "..."]) -> float:
    """The largest finite size in all of these, for a scale that panels share; 1 of none but 0."""
    return max(float(np.abs(a[np.isfinite(a)]).max(initial=0)) for a in arrays) or 1.0


def sign_color(value: float, depth: float = 1.0) -> str:
    """Blue below zero, orange above, as in the maps of the same quantity."""
    red, green, blue = ABOVE if value > 0 else BELOW
    return f"rgba({red},{green},{blue},{depth:.2f})"
