"""Sinusoidal positions as clocks, their wavelengths, and norms beside word embeddings."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from jaxtyping import Float, Int

from seqviz.compute.positions.clocks import Clocks, EmbeddingScale
from seqviz.compute.positions.sinusoidal import Sinusoids
from seqviz.core.i18n import number
from seqviz.plotting import NAMED, STYLE, Figure, Panel, Sheet, Style, axes

_MOST = 32  # maximum number of clocks
_WIDE, _HIGH = 2.5, 3.1  # width and height of the cell of a clock with radius 1
_SHAPE = 1.7  # width over height, between that of a desktop and a phone
_BINS = 80


def clock_hands(before: Clocks, after: Clocks, style: Style = STYLE) -> Figure:
    """Plot a clock for each pair, with its hand at one position (thin) and another (thick).

    The clocks run from the fastest to the slowest in reading order; the wavelength stands below
    each. Of more than 32 clocks, 32 evenly chosen ones are shown.

    Args:
        before: angles at the first position.
        after: angles at the other position, which is not 0.
        style: language, theme and scale of the figure.
    """
    label, palette, sheet = style.labels("figure.pos_"), style.palette, Sheet(style)
    pairs = len(before.angle)
    visible = np.unique(np.round(np.linspace(0, pairs - 1, min(pairs, _MOST))).astype(int))
    columns = _columns(len(visible))
    x = _WIDE * (np.arange(len(visible)) % columns)
    y = -_HIGH * (np.arange(len(visible)) // columns).astype(float)
    floor = float(y[-1]) - _HIGH + (1.15 if pairs == len(visible) else 0.5)
    hidden: dict[str, Any] = {"visible": False, "constrain": "domain"}
    faces = sheet.panel(
        axes.axis(label("pair"), range=[-_WIDE / 2, (columns - 0.5) * _WIDE], **hidden),
        axes.axis(label("sine"), range=[floor, 1.15], scaleanchor="x", constraintoward="top",
                  **hidden),
    )  # fmt: skip
    turn = np.linspace(0, 2 * np.pi, 41)
    _parted(faces, x, y, np.cos(turn), np.sin(turn), palette.grid, 2)
    pointers = ((before, palette.baseline, 2.0), (after, palette.prediction, 3.5))
    for at, color, width in pointers:
        tips = (at.cosine[visible, None] * [0, 1], at.sine[visible, None] * [0, 1])
        _parted(faces, x, y, *tips, color, width)
    # Angles of the hands for the legend and the data table; outside the visible range.
    beyond = {"overlaying": "y", "range": [100, 101], "visible": False}
    angles = sheet.panel(faces, axes.axis(label("angle"), **beyond))
    for at, color, width in pointers:
        angles.line(np.arange(pairs), at.angle, label("hand", position=at.position), color,
                    width=width, hover=False)  # fmt: skip
    _wavelengths_below(faces, before, after, visible, x, y)
    if pairs > len(visible):
        sheet.words(label("some_clocks", shown=len(visible), pairs=pairs), 1, 0,
                    color=palette.baseline, xanchor="right", yanchor="bottom")  # fmt: skip
    turned = after.turns - before.turns
    return sheet.described("alt.pos_clocks", pairs=pairs, before=before, after=after,
                           offset=after.position - before.position, fast=float(turned[0]),
                           slow=float(turned[-1]))  # fmt: skip


def _columns(count: int) -> int:
    """Return the number of clocks in a row that maximizes their size."""

    def size(columns: int) -> float:
        return min(_SHAPE / (columns * _WIDE), 1 / (math.ceil(count / columns) * _HIGH))

    return max(range(1, count + 1), key=size)


def _parted(
    panel: Panel,
    x: Float[np.ndarray, "clock"],
    y: Float[np.ndarray, "clock"],
    across: Float[np.ndarray, "*clock point"],
    up: Float[np.ndarray, "*clock point"],
    color: str,
    width: float,
) -> None:
    """Draw one line for each clock around its center, all in one unnamed trace."""
    empty = np.full((len(x), 1), np.nan)
    panel.line(
        np.hstack([x[:, None] + across, empty]).ravel(),
        np.hstack([y[:, None] + up, empty]).ravel(),
        "", color, width=width, hover=False, legend=False,
    )  # fmt: skip


def _wavelengths_below(
    panel: Panel,
    before: Clocks,
    after: Clocks,
    visible: Int[np.ndarray, "clock"],
    x: Float[np.ndarray, "clock"],
    y: Float[np.ndarray, "clock"],
) -> None:
    """Write positions per turn under each clock; the hover text has both angles."""
    for pair, across, up in zip(visible.tolist(), x.tolist(), y.tolist(), strict=True):
        hover = panel.style.text("figure.pos_hover_clock", pair=pair, before=before.angle[pair],
                                 after=after.angle[pair])  # fmt: skip
        panel.words(_short(after.position / float(after.turns[pair])), across, up - 1.05, size=12,
                    yanchor="top", hovertext=hover)  # fmt: skip


def _short(value: float) -> str:
    """Return a number of at most seven characters."""
    if value < 99_950:
        return number(value, 2 if value > 99 else 3)
    power = math.floor(math.log10(value))
    return f"{value / 10**power:.1f}·10<sup>{power}</sup>"


def wavelengths(sines: Sinusoids, style: Style = STYLE) -> Figure:
    """Plot the wavelength of each pair in positions on a log axis.

    Dotted lines: 2 pi, and 2 pi times the base.
    """
    label, palette, lengths = style.labels("figure.pos_"), style.palette, sines.wavelengths
    pairs, sheet = len(lengths), Sheet(style)
    low, high = 2 * np.pi, 2 * np.pi * sines.base
    panel = sheet.panel(
        axes.counted(pairs, label("pair")),
        axes.decades(np.log10([low, high, *lengths]), label("wavelength_axis")),
    )
    panel.line(
        np.arange(pairs), lengths, label("wavelength"), palette.truth, width=2.4, legend=False,
        symbol="circle", size=7 if pairs <= 64 else 3,
        hover=label("hover_pair", pair="%{x}") + ": %{y:,.4g}",
    )  # fmt: skip
    upper = f"2π × {sines.base:,.7g} = {number(high)}"
    for end, words, x, xanchor, yanchor in ((low, f"2π = {number(low)}", 1, "right", "top"),
                                            (high, upper, 0, "left", "bottom")):  # fmt: skip
        panel.horizontal(end, palette.baseline, dash="dot")
        panel.words(words, x, math.log10(end), xref="domain", color=palette.baseline,
                    xanchor=xanchor, yanchor=yanchor)  # fmt: skip
    return sheet.described("alt.pos_wavelengths", pairs=pairs, sines=sines, end=high)


def embedding_norms(embedding_scale: EmbeddingScale, style: Style = STYLE) -> Figure:
    """Plot the norms of word embeddings, before and after scaling, and of the encoding.

    Shares of the vectors are in bins of equal ratio on one log axis; norms of 0 are left out.
    """
    label, palette, sheet = style.labels("figure.pos_"), style.palette, Sheet(style)
    norms, facts = embedding_scale, embedding_scale.medians()
    observed = np.concatenate([norms.embedding, norms.scaled, norms.encoding])
    observed = observed[observed > 0] if observed.any() else np.ones(1)
    edges = np.geomspace(observed.min() / 1.5, observed.max() * 1.5, _BINS + 1)
    panel = sheet.panel(
        axes.decades(np.log10(edges), label("norm_log")),
        axes.axis(label("share_of_vectors"), rangemode="tozero"),
    )
    tint = {"fill": "tozeroy", "fillcolor": palette.band, "zorder": -1}  # behind other lines
    styles: tuple[tuple[str, np.ndarray, str, str, float, dict[str, Any]], ...] = (
        ("words", norms.embedding, palette.truth, "dash", 2.4, {}),
        ("scaled", norms.scaled, palette.truth, "solid", 2.4, {}),
        ("added", norms.encoding, palette.prediction, "solid", 3, tint),
    )
    for name, values, color, dash, width, more in styles:
        share = 100 * np.histogram(values, edges)[0] / max(len(values), 1)
        panel.line(
            edges, np.append(share, 0.0), label(f"norms_{name}", **facts), color,
            line={"color": color, "dash": dash, "width": width, "shape": "hv"},
            hover=f"%{{x:.3g}}: %{{y:.1f}}%{NAMED}", **more,
        )  # fmt: skip
    return sheet.described("alt.pos_norms", **facts)
