"""Induction heads on repeated random tokens: bits by token, stripes, attention maps."""

from __future__ import annotations

import numpy as np

from seqviz.compute.transformer.interpretability.induction import Induction
from seqviz.plotting import NAMED, STYLE, Figure, Sheet, Style, axes, escape
from seqviz.stats.estimate import stack

_LEFT, _RIGHT = (0.0, 0.5), (0.62, 1.0)
_STRIPES, _MAP = (0.7, 1.0), (0.0, 0.4)


def induction_lines(result: Induction, off: int, style: Style = STYLE) -> Figure:
    """Plot bits by token (left), induction stripes of the best heads and one map (right).

    Left: all heads, without the best `off` heads, and without as many random ones; means over
    several sequences have a band, their 95% interval. Top right: ablated heads are dark; a click on
    a bar gives the number of ablated heads. Bottom right: attention weights of the last ablated
    head, or of the best one.

    Args:
        result: results of all ablations.
        off: number of ablated heads.
        style: language, theme and scale of the figure.
    """
    label, length, rank = style.labels("figure.induction_"), result.length, max(off - 1, 0)
    sheet = Sheet(style, barmode="overlay")
    _losses(sheet, result, off)
    _stripes(sheet, result, off)
    ends, ticks = [0.5, 2 * length + 0.5], [1, length, 2 * length]
    panel = sheet.panel(
        axes.axis(label("key"), range=ends, tickvals=ticks, showgrid=False),
        axes.axis(label("query"), range=ends[::-1], tickvals=ticks, showgrid=False),
        across=_RIGHT, up=_MAP, title=label("map", head=result.name(rank)),
    )  # fmt: skip
    observed = np.tri(2 * length, dtype=bool)
    panel.weights(result.maps[rank], observed, style.text("figure.weight"), bar=None, xgap=0,
                  ygap=0)  # fmt: skip
    panel.rectangle((0.5, length + 0.5), (length + 0.5, 2 * length + 0.5),
                    style.palette.highlight, width=1.5)  # fmt: skip
    return sheet.described("alt.induction", gap=0.14, **result.summary(off))


def _losses(sheet: Sheet, result: Induction, off: int) -> None:
    label, palette = sheet.style.labels("figure.induction_"), sheet.style.palette
    visible = [("all", "best", 0, palette.baseline, "solid")]
    if off:
        visible += [("random", "random", off, palette.truth, "dash"),
                    ("best", "best", off, palette.prediction, "solid")]  # fmt: skip
    lines = [result.loss(kind, count) for _, kind, count, *_ in visible]
    highest = [np.nan_to_num([line.mean, *line.ci]).max() for line in lines]
    last, copy = 2 * result.length, result.length + 0.5
    panel = sheet.panel(
        axes.axis(label("token"), range=[0.5, last + 0.5], tickvals=[1, *range(8, last + 1, 8)],
                  showgrid=False),
        axes.axis(label("bits"), range=[0, 1.05 * max(*highest, result.alike)]), across=_LEFT,
    )  # fmt: skip
    panel.vertical(copy, palette.highlight, width=1.5)
    panel.words(f" {label('copy')}", copy, 0.0, yref="domain", xanchor="left", yanchor="bottom",
                color=palette.highlight)  # fmt: skip
    panel.reference([1, last], [result.alike] * 2, label("alike", bits=result.alike))
    pieces = [escape(piece) for piece in result.pieces[1:]]
    hover = f"{'%{customdata}' if pieces else '%{x}'}: %{{y:.3g}} {label('unit')}{NAMED}"
    positions = np.arange(2, last + 1)
    for (name, _, count, color, dash), line in zip(visible, lines, strict=True):
        if result.sequences > 1:
            panel.band(positions, *line.ci, color)
        panel.line(positions, line.mean, label(name, off=count), color, dash=dash, width=2,
                   customdata=pieces or None, hover=hover)  # fmt: skip


def _stripes(sheet: Sheet, result: Induction, off: int) -> None:
    label, palette = sheet.style.labels("figure.induction_"), sheet.style.palette
    ranks = range(len(result.heads))
    stripes = 100 * stack(result.stripe_of(rank) for rank in ranks)
    panel = sheet.panel(
        axes.names([result.name(rank) for rank in ranks], label("head"), tickangle=-90),
        axes.axis(label("stripe"), range=[0, 108], tickvals=[0, 50, 100]),
        across=_RIGHT, up=_STRIPES,
    )  # fmt: skip
    panel.horizontal(100 * result.even, palette.baseline, width=1.5, dash="dot")
    colors = [palette.prediction if rank < off else palette.baseline for rank in ranks]
    panel.token_bars(
        stripes if result.sequences > 1 else stripes.mean, label("stripe"), colors, pick=True,
        legend=False, hover="%{x}: %{y:.1f}%",
    )  # fmt: skip
