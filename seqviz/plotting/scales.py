"""Color scales for heatmaps: diverging, attention weights, unit interval; color bars."""

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
    """Plotly color scale with limits.

    Attributes:
        colors: Plotly color stops from `low` to `high`.
        low: value at the lower end; None for the smallest value.
        high: value at the upper end; None for the largest value.
        ticks: positions and labels of the color bar, where Plotly's defaults do not fit.
    """

    colors: Sequence[Sequence[Any]]
    low: float | None = None
    high: float | None = None
    ticks: Ticks | None = None

    def keys(self) -> dict[str, Any]:
        """Return the keys of a heatmap trace."""
        ends = {} if self.low is None else {"zmin": self.low, "zmax": self.high}
        return {"colorscale": self.colors, **ends}


@cache
def diverging() -> list[list[Any]]:
    """Return a diverging scale: blue below zero, orange above, transparent at zero.

    Both ends fade toward the middle, so the neutral color is the background of either theme.
    """
    stops: list[list[Any]] = []
    for position in np.linspace(0, 1, 11):
        red, green, blue = BELOW if position < 0.5 else ABOVE
        strength = abs(position - 0.5) * 2
        stops.append([float(position), f"rgba({red},{green},{blue},{strength:.2f})"])
    return stops


def signed(limit: float, beyond: bool = False, ticks: Ticks | None = None) -> ColorScale:
    """Return a diverging scale from -limit to limit.

    Args:
        limit: value at the upper end.
        beyond: the end colors also stand for all larger magnitudes; the ticks say so.
        ticks: positions and labels of the color bar.
    """
    if beyond:
        positions = [-limit, -limit / 2, 0.0, limit / 2, limit]
        words = [number(position, 2) for position in positions]
        ticks = (positions, [f"≤ {words[0]}", *words[1:4], f"≥ {words[4]}"])
    return ColorScale(diverging(), -limit, limit, ticks)


def unit_scale(
    low: float | None = None, high: float | None = None, ticks: Ticks | None = None
) -> ColorScale:
    """Return a sequential scale in even steps, for gates, shares and counts.

    Args:
        low: value at the lower end; None for the smallest value.
        high: value at the upper end; None for the largest value.
        ticks: positions and labels of the color bar.
    """
    return ColorScale(WEIGHTS, low, high, ticks)


def weights(maximum: float = 1.0) -> ColorScale:
    """Return Cividis over the square root of weights in [0, maximum].

    Most weights are small: on a linear scale 0.05 would look black next to 0.9, although such
    weights often form the pattern.
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
    """Return a scale with one color for all cells, for maps that are read by their numbers."""
    return ColorScale([[0, color], [1, color]], -1, 1)


def tint() -> ColorScale:
    """Return a scale for shares in [0, 1] behind text: from transparent to a legible orange."""
    return ColorScale([[0, sign_color(1, 0.0)], [1, sign_color(1, 0.6)]], 0, 1)


def decades(low: int, high: int, maximum: int = 7) -> Ticks:
    """Return ticks at whole powers of ten, for a color bar that shows log10.

    Args:
        low: smallest exponent.
        high: largest exponent.
        maximum: maximum number of ticks.
    """
    step = max(1, -(-(high - low) // (maximum - 1)))
    positions = [k for k in range(low, high + 1) if k % step == 0]
    return positions, [f"10<sup>{k}</sup>".replace("-", "−") for k in positions]


def color_bar(style: Style, name: str, ticks: Ticks | None = None, **more: Any) -> dict[str, Any]:
    """Return a narrow Plotly color bar.

    Args:
        style: style of the figure.
        name: title of the color bar.
        ticks: positions and labels.
        **more: further Plotly keys, which override these.
    """
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
    """Return the largest finite magnitude in all arrays, for a scale shared by panels.

    It is 1 where there is none but 0.
    """
    return max(float(np.abs(a[np.isfinite(a)]).max(initial=0)) for a in arrays) or 1.0


def sign_color(value: float, depth: float = 1.0) -> str:
    """Return the color of a sign in the diverging scale: blue below zero, orange above.

    Args:
        value: number whose sign counts.
        depth: opacity in [0, 1].
    """
    red, green, blue = ABOVE if value > 0 else BELOW
    return f"rgba({red},{green},{blue},{depth:.2f})"
