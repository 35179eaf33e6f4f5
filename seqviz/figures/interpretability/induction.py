"""Random tokens read twice: bits of each token, heads by their stripe, and the map of one."""

from __future__ import annotations

import numpy as np

from seqviz.compute.interpretability.induction import Induction
from seqviz.figures.grammar import STYLE, Figure, Sheet, Style, axes, plain, scales
from seqviz.text import number, percent

_LEFT, _RIGHT = (0.0, 0.56), (0.7, 1.0)
_STRIPES, _MAP = (0.68, 1.0), (0.0, 0.42)


def induction_lines(found: Induction, off: int, style: Style = STYLE) -> Figure:
    """Left the bits of each token with all heads, without the best `off`, and without others.

    Of several sequences the mean in the band of its 95 % interval. Right the stripe of the best
    heads, dark those that are off (a click gives how many are), and below the weights of the last
    of them (of the best where none is).
    """
    text, palette = style.text, style.palette
    sheet = Sheet(style, barmode="overlay")
    _losses(sheet, found, off)
    _stripes(sheet, found, off)
    rank = max(off - 1, 0)
    size = 2 * found.length
    side = {"range": [0.5, size + 0.5], "tickvals": [1, found.length, size], "showgrid": False}
    y = axes.axis(text("figure.induction_query"), **{**side, "range": side["range"][::-1]})
    panel = sheet.panel(
        axes.axis(text("figure.induction_key"), **side), y, across=_RIGHT, up=_MAP,
        title=text("figure.induction_map", head=found.name(rank)),
    )  # fmt: skip
    seen = np.tril(np.ones((size, size), bool))
    panel.weights(found.maps[rank], seen, text("figure.weight"), bar=None, xgap=0, ygap=0)
    panel.rectangle((0.5, found.length + 0.5), (found.length + 0.5, size + 0.5), palette.highlight,
                    width=1.5)  # fmt: skip
    return sheet.described(
        "alt.induction",
        gap=None,
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
    shown = [("induction_all", "best", 0, palette.baseline, "dot", "circle")]
    if off:
        shown += [
            ("induction_random", "random", off, palette.truth, "dash", "square"),
            ("induction_best", "best", off, palette.prediction, "solid", "circle"),
        ]
    lines = [found.loss(kind, count) for _, kind, count, *_ in shown]
    bands = [found.band(kind, count) for _, kind, count, *_ in shown]
    top = 1.05 * max(float(np.nanmax(each)) for each in (*lines, *bands, [found.alike]))
    panel = sheet.panel(
        axes.axis(text("figure.induction_token"), range=[0.5, 2 * found.length + 0.5],
                  tickvals=[1, *range(8, 2 * found.length + 1, 8)], showgrid=False),
        axes.axis(text("figure.induction_bits"), range=[0, top]),
        across=_LEFT,
    )  # fmt: skip
    panel.vertical(found.length + 0.5, palette.highlight, width=1.5)
    panel.words(f" {text('figure.induction_copy')}", found.length + 0.5, 0.0, yref="domain",
                xanchor="left", yanchor="bottom", color=palette.highlight)  # fmt: skip
    panel.horizontal(found.alike, palette.grid, width=1.5)
    panel.words(text("figure.induction_alike", bits=number(found.alike)), 2 * found.length,
                found.alike, xanchor="right", yanchor="bottom")  # fmt: skip
    pieces = [plain(piece) for piece in found.pieces[1:]]
    hover = "%{customdata}: %{y:.3g}" if pieces else "%{x}: %{y:.3g}"
    for (name, _, count, color, dash, _), line, (low, high) in zip(
        shown, lines, bands, strict=True
    ):
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
        axes.names(names, text("figure.induction_head"), tickangle=-90, tickfont={"size": 11}),
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
        hover="%{x}: %{y:.1f} %",
    )  # fmt: skip
