"""Truncated backpropagation: its lost terms, and the mean of randomly truncated gradients."""

from __future__ import annotations

import numpy as np

from seqviz.compute.vanishing_gradients import GradientTerms, Randomized, Truncation
from seqviz.figures.vanishing_gradients.style import diamond, log10
from seqviz.plotting import STYLE, Figure, Panel, Sheet, Style, axes, scales
from seqviz.plotting.decades import POWER
from seqviz.plotting.scales import ColorScale

_DEEPEST = 12  # decades that the colors tell apart
_GRAYS = [[0, "rgba(128,140,152,0.08)"], [1, "rgba(128,140,152,0.75)"]]
_WINDOWS = (1, 2, 5, 10, 20, 50, 100, 200, 500)


def kept_and_lost(
    terms: GradientTerms, truncation: Truncation, window: int, style: Style = STYLE
) -> Figure:
    """Plot the terms of the gradient (left) and the truncation error by window (right).

    Left: lost terms are gray. Right: angle (top) and length (bottom) of the truncated gradient;
    diamonds mark the window.

    Args:
        terms: kept and lost terms.
        truncation: angle and length by window.
        window: window of `terms`.
        style: language, theme and scale of the figure.
    """
    text, palette = style.text, style.palette
    half = (terms.steps[1] - terms.steps[0]) / 2 if len(terms.steps) > 1 else 0.5
    square = {"range": [float(terms.steps[0] - half), float(terms.steps[-1] + half)]}
    last = truncation.windows[-1]
    sheet = Sheet(style)
    across, up = (axes.axis(text(f"figure.{name}"), showgrid=False, **square)
                  for name in ("carried_to", "error_of_step"))  # fmt: skip
    _maps(sheet.panel(across, up, across=(0, 0.48)), terms)
    windows = axes.axis(
        text("figure.window"), type="log", range=[-0.04, float(np.log10(last)) + 0.04],
        tickvals=[k for k in _WINDOWS if k <= last], anchor="y3",
    )  # fmt: skip
    angle, length = (axes.axis(text(f"figure.{name}"), rangemode="tozero")
                     for name in ("angle", "length"))  # fmt: skip
    upper = sheet.panel(windows, angle, across=(0.7, 1), up=(0.56, 1))
    lower = sheet.panel(upper, length, up=(0, 0.44))
    position = int(np.argmin(np.abs(truncation.windows - window)))
    for panel, name, values, color, dash in (
        (upper, "angle", truncation.angle, palette.rnn, "solid"),
        (lower, "length", truncation.length, palette.prediction, "dash"),
    ):
        panel.line(truncation.windows, values, text(f"figure.{name}"), color, width=2.4, dash=dash,
                   symbol="circle", size=5, legend=False)  # fmt: skip
        diamond(panel, truncation.windows[position], values[position], "", palette.highlight)
    chosen = truncation.effect(truncation.nearest(window))
    return sheet.described("alt.truncation", last=int(last), **{**chosen, "window": window})


def _maps(panel: Panel, terms: GradientTerms) -> None:
    """Draw the sizes of kept and of lost terms on one color scale of decades."""
    text, sizes = panel.style.text, terms.log10[np.isfinite(terms.log10)]
    high = int(np.ceil(np.nanmax(terms.log10)))
    low = int(max(np.floor(sizes.min()), high - _DEEPEST)) if sizes.size else high - 1
    low = min(low, high - 1)
    ticks = scales.decades(low, high, 6)
    for name, retained, scale in (
        ("kept", True, scales.unit_scale(low, high, ticks)),
        ("lost", False, ColorScale(_GRAYS, low, high)),
    ):
        # A term that is exactly zero (there is no state before the first step) has no color.
        there = (terms.is_included == retained) & np.isfinite(terms.log10)
        if there.any():
            named = text(f"figure.terms_{name}")
            panel.cells(
                np.where(there, terms.log10, np.nan), named, scale, x=terms.steps, y=terms.steps,
                bar=text("figure.term_size") if retained else None, bar_at=0.5, hoverongaps=False,
                hover=f"t = %{{x}}, τ = %{{y}}: {POWER}<extra>{named}</extra>",
            )  # fmt: skip


def mean_of_draws(randomized: Randomized, style: Style = STYLE) -> Figure:
    """Plot the distance of the mean of n randomly truncated gradients from the full one, by n.

    The dotted line falls as 1/sqrt(n); the dashed line is fixed truncation.
    """
    text, palette, draws = style.text, style.palette, randomized.draws
    sheet, sizes = Sheet(style), log10(np.append(randomized.error, randomized.fixed))
    panel = sheet.panel(
        axes.axis(text("figure.draws"), type="log", tickvals=draws.tolist()),
        axes.decades(sizes, text("figure.relative_distance")),
    )
    for name, values, color, dash, symbol in (
        ("random", randomized.error, palette.prediction, "solid", "circle"),
        ("square_root", randomized.error[0] / np.sqrt(draws), palette.baseline, "dot", None),
        ("fixed", np.full(len(draws), randomized.fixed), palette.rnn, "dash", None),
    ):
        named = text(f"figure.draws_{name}", window=randomized.window)
        panel.line(draws, values, named, color, width=2.4, dash=dash, symbol=symbol)
    return sheet.described("alt.draws", **randomized.compared())
