"""Random tokens read twice: bits of each token, heads by their stripe, and the map of one."""

from __future__ import annotations

import numpy as np

from seqviz.compute.transformer.interpretability.induction import Induction
from seqviz.plotting import STYLE, Figure, Sheet, Style, axes, escape
from seqviz.stats.estimate import stack

_LEFT, _RIGHT = (0.0, 0.5), (0.62, 1.0)
_STRIPES, _MAP = (0.7, 1.0), (0.0, 0.4)


def induction_lines(result: Induction, off: int, style: Style = STYLE) -> Figure:
    """Left the bits of each token with all heads, without the best `off`, and without others.

    Of several sequences the mean in the band of its 95% interval. Right the stripe of the best
    heads, dark those that are off (a click gives how many are), and below the weights of the last
    of them (of the best where none is).
    """
    text, palette = style.text, style.palette
    sheet = Sheet(style, barmode="overlay")
    _losses(sheet, result, off)
    _stripes(sheet, result, off)
    rank = max(off - 1, 0)
    size = 2 * result.length
    ends, ticks = [0.5, size + 0.5], [1, result.length, size]
    panel = sheet.panel(
        axes.axis(text("figure.induction_key"), range=ends, tickvals=ticks, showgrid=False),
        axes.axis(text("figure.induction_query"), range=ends[::-1], tickvals=ticks, showgrid=False),
        across=_RIGHT, up=_MAP, title=text("figure.induction_map", head=result.name(rank)),
    )  # fmt: skip
    observed = np.tril(np.ones((size, size), bool))
    panel.weights(result.maps[rank], observed, text("figure.weight"), bar=None, xgap=0, ygap=0)
    panel.rectangle(
        (0.5, result.length + 0.5), (result.length + 0.5, size + 0.5), palette.highlight, width=1.5
    )
    return sheet.described(
        "alt.induction",
        gap=0.14,
        sequences=result.sequences,
        first=result.first,
        second=result.second,
        off=off,
        best=result.gain("best", off).mean,
        random=result.gain("random", off).mean,
        gain=result.gain("best", 0).mean,
        head=result.name(0),
        stripe=result.stripe_of(0).mean,
        even=result.even,
    )


def _losses(sheet: Sheet, result: Induction, off: int) -> None:
    text, palette = sheet.style.text, sheet.style.palette
    positions = np.arange(2, 2 * result.length + 1)
    visible = [("induction_all", "best", 0, palette.baseline, "solid")]
    if off:
        visible += [
            ("induction_random", "random", off, palette.truth, "dash"),
            ("induction_best", "best", off, palette.prediction, "solid"),
        ]
    lines = [result.loss(kind, count) for _, kind, count, *_ in visible]
    highest = [np.nan_to_num([line.mean, *line.ci]).max() for line in lines]
    top = 1.05 * max(*highest, result.alike)
    panel = sheet.panel(
        axes.axis(text("figure.induction_token"), range=[0.5, 2 * result.length + 0.5],
                  tickvals=[1, *range(8, 2 * result.length + 1, 8)], showgrid=False),
        axes.axis(text("figure.induction_bits"), range=[0, top]),
        across=_LEFT,
    )  # fmt: skip
    panel.vertical(result.length + 0.5, palette.highlight, width=1.5)
    panel.words(f" {text('figure.induction_copy')}", result.length + 0.5, 0.0, yref="domain",
                xanchor="left", yanchor="bottom", color=palette.highlight)  # fmt: skip
    panel.reference([1, 2 * result.length], [result.alike] * 2,
                    text("figure.induction_alike", bits=result.alike))  # fmt: skip
    pieces = [escape(piece) for piece in result.pieces[1:]]
    hover = "%{customdata}: %{y:.3g}" if pieces else "%{x}: %{y:.3g}"
    for (name, _, count, color, dash), line in zip(visible, lines, strict=True):
        if result.sequences > 1:
            panel.band(positions, *line.ci, color)
        panel.line(positions, line.mean, text(f"figure.{name}", off=count), color, dash=dash,
                   width=2, customdata=pieces or None,
                   hover=f"{hover} {text('figure.induction_unit')}"
                   "<extra>%{fullData.name}</extra>")  # fmt: skip


def _stripes(sheet: Sheet, result: Induction, off: int) -> None:
    text, palette = sheet.style.text, sheet.style.palette
    ranks = range(len(result.heads))
    stripes = 100 * stack(result.stripe_of(rank) for rank in ranks)
    names = [result.name(rank) for rank in ranks]
    panel = sheet.panel(
        axes.names(names, text("figure.induction_head"), tickangle=-90),
        axes.axis(text("figure.induction_stripe"), range=[0, 108], tickvals=[0, 50, 100]),
        across=_RIGHT, up=_STRIPES,
    )  # fmt: skip
    panel.horizontal(100 * result.even, palette.baseline, width=1.5, dash="dot")
    colors = [palette.prediction if rank < off else palette.baseline for rank in ranks]
    panel.bars(
        np.arange(1, len(names) + 1), stripes.mean, text("figure.induction_stripe"), colors,
        pick=True, legend=False, whiskers=stripes.ci if result.sequences > 1 else None,
        hover="%{x}: %{y:.1f}%",
    )  # fmt: skip
