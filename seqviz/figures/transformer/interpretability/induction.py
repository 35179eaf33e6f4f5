"""Random tokens read twice: bits of each token, heads by their stripe, and the map of one."""

from __future__ import annotations

import numpy as np

from seqviz.compute.transformer.interpretability.induction import Induction
from seqviz.core.i18n import number, percent
from seqviz.plotting import STYLE, Figure, Sheet, Style, axes, escape

_LEFT, _RIGHT = (0.0, 0.5), (0.62, 1.0)
_STRIPES, _MAP = (0.7, 1.0), (0.0, 0.4)


def induction_lines(found: Induction, off: int, style: Style = STYLE) -> Figure:
    """Left the bits of each token with all heads, without the best `off`, and without others.

    Of several sequences the mean in the band of its 95% interval. Right the stripe of the best
    heads, dark those that are off (a click gives how many are), and below the weights of the last
    of them (of the best where none is).
    """
    text, palette = style.text, style.palette
    sheet = Sheet(style, barmode="overlay")
    _losses(sheet, found, off)
    _stripes(sheet, found, off)
    rank = max(off - 1, 0)
    size = 2 * found.length
    ends, ticks = [0.5, size + 0.5], [1, found.length, size]
    panel = sheet.panel(
        axes.axis(text("figure.induction_key"), range=ends, tickvals=ticks, showgrid=False),
        axes.axis(text("figure.induction_query"), range=ends[::-1], tickvals=ticks, showgrid=False),
        across=_RIGHT, up=_MAP, title=text("figure.induction_map", head=found.name(rank)),
    )  # fmt: skip
    seen = np.tril(np.ones((size, size), bool))
    panel.weights(found.maps[rank], seen, text("figure.weight"), bar=None, xgap=0, ygap=0)
    panel.rectangle((0.5, found.length + 0.5), (found.length + 0.5, size + 0.5), palette.highlight,
                    width=1.5)  # fmt: skip
    return sheet.described(
        "alt.induction",
        gap=0.14,
        sequences=found.sequences,
        first=number(found.first),
        second=number(found.second),
        off=off,
        best=number(found.gain("best", off)),
        random=number(found.gain("random", off)),
        gain=number(found.gain("best", 0)),
        head=found.name(0),
        stripe=percent(found.stripe_of(0)),
        even=percent(found.even),
    )


def _losses(sheet: Sheet, found: Induction, off: int) -> None:
    text, palette = sheet.style.text, sheet.style.palette
    places = np.arange(2, 2 * found.length + 1)
    shown = [("induction_all", "best", 0, palette.baseline, "solid")]
    if off:
        shown += [
            ("induction_random", "random", off, palette.truth, "dash"),
            ("induction_best", "best", off, palette.prediction, "solid"),
        ]
    lines = [found.loss(kind, count) for _, kind, count, *_ in shown]
    bands = [found.band(kind, count) for _, kind, count, *_ in shown]
    top = 1.05 * max(np.max(lines), np.nan_to_num(bands).max(), found.alike)
    panel = sheet.panel(
        axes.axis(text("figure.induction_token"), range=[0.5, 2 * found.length + 0.5],
                  tickvals=[1, *range(8, 2 * found.length + 1, 8)], showgrid=False),
        axes.axis(text("figure.induction_bits"), range=[0, top]),
        across=_LEFT,
    )  # fmt: skip
    panel.vertical(found.length + 0.5, palette.highlight, width=1.5)
    panel.words(f" {text('figure.induction_copy')}", found.length + 0.5, 0.0, yref="domain",
                xanchor="left", yanchor="bottom", color=palette.highlight)  # fmt: skip
    panel.reference([1, 2 * found.length], [found.alike] * 2,
                    text("figure.induction_alike", bits=number(found.alike)))  # fmt: skip
    pieces = [escape(piece) for piece in found.pieces[1:]]
    hover = "%{customdata}: %{y:.3g}" if pieces else "%{x}: %{y:.3g}"
    for (name, _, count, color, dash), line, (low, high) in zip(shown, lines, bands, strict=True):
        if found.sequences > 1:
            panel.band(places, low, high, color)
        panel.line(places, line, text(f"figure.{name}", off=count), color, dash=dash, width=2,
                   customdata=pieces or None, hover=f"{hover} {text('figure.induction_unit')}"
                   "<extra>%{fullData.name}</extra>")  # fmt: skip


def _stripes(sheet: Sheet, found: Induction, off: int) -> None:
    text, palette = sheet.style.text, sheet.style.palette
    ranks = range(len(found.heads))
    values = 100 * np.array([found.stripe_of(rank) for rank in ranks])
    names = [found.name(rank) for rank in ranks]
    panel = sheet.panel(
        axes.names(names, text("figure.induction_head"), tickangle=-90),
        axes.axis(text("figure.induction_stripe"), range=[0, 108], tickvals=[0, 50, 100]),
        across=_RIGHT, up=_STRIPES,
    )  # fmt: skip
    panel.horizontal(100 * found.even, palette.baseline, width=1.5, dash="dot")
    colors = [palette.prediction if rank < off else palette.baseline for rank in ranks]
    ends = None
    if found.sequences > 1:
        ends = 100 * np.array([found.stripe_ends(rank) for rank in ranks]).T
    panel.bars(
        np.arange(1, len(names) + 1), values, text("figure.induction_stripe"), colors, pick=True,
        legend=False, whiskers=None if ends is None else (ends[0], ends[1]),
        hover="%{x}: %{y:.1f}%",
    )  # fmt: skip
