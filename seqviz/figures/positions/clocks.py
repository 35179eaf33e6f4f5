"""A position as the hands of clocks, the clocks' wavelengths, and lengths beside those of words."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from jaxtyping import Float, Int

from seqviz.compute.positions.clocks import Clocks, EmbeddingScale
from seqviz.compute.positions.sinusoidal import Sinusoids
from seqviz.core.i18n import number
from seqviz.plotting import NAMED, STYLE, Figure, Panel, Sheet, Style, axes

_MOST = 32  # clocks that can be told apart
_WIDE, _HIGH = 2.5, 3.1  # room of a clock of radius 1 with its wavelength below
_SHAPE = 1.7  # width over height: between a desk's and a phone's
_BINS = 80


def clock_hands(before: Clocks, after: Clocks, style: Style = STYLE) -> Figure:
    """Draw a clock for each pair: its hand at one position (thin) and at another (strong).

    The fastest clock first, from left to right and from top to bottom; its wavelength stands below.
    Of more than 32 clocks 32 are shown, evenly chosen. `after` is not at position 0.
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
    # The angles behind the hands, for the legend and for the table: outside what is in view.
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
    """How many clocks stand in a row, so that they are as large as they can be."""

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
    """One line for each clock around its center, all of them one trace without a name."""
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
    """Write positions per turn under each clock; both angles on hover."""
    for pair, across, up in zip(visible.tolist(), x.tolist(), y.tolist(), strict=True):
        hover = panel.style.text("figure.pos_hover_clock", pair=pair, before=before.angle[pair],
                                 after=after.angle[pair])  # fmt: skip
        panel.words(_short(after.position / float(after.turns[pair])), across, up - 1.05, size=12,
                    yanchor="top", hovertext=hover)  # fmt: skip


def _short(value: float) -> str:
    """A number with room for seven characters."""
    if value < 99_950:
        return number(value, 2 if value > 99 else 3)
    power = math.floor(math.log10(value))
    return f"{value / 10**power:.1f}·10<sup>{power}</sup>"


def wavelengths(sines: Sinusoids, style: Style = STYLE) -> Figure:
    """Plot positions per turn of each pair on a log axis; dotted lines at 2 pi and 2 pi base."""
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
    """Plot how long word vectors are, before and after the factor, and what is added to them.

    Shares of the vectors in bins of equal ratio, on one log axis; a norm of 0 is in no bin.
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
    tint = {"fill": "tozeroy", "fillcolor": palette.band, "zorder": -1}  # behind the words' lines
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
