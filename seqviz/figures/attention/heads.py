"""Heads compared by one number each: a grid of all, and bars of the largest values."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from jaxtyping import Float

from seqviz.compute.attention.patterns import HABITS, NAMED_FROM, Habits, ranked
from seqviz.compute.attention.results import Effects, Mosaic
from seqviz.core.i18n import Text, number
from seqviz.figures.attention.head_grid import HeadGrid
from seqviz.plotting import STYLE, Figure, Panel, Sheet, Style, axes, scales

_GRID, _BARS = (0.0, 0.5), (0.68, 1.0)
_MOST = 10  # maximum number of heads with a bar


def heads_by_measure(
    mosaic: Mosaic, measure: str, layer: int, head: int, style: Style = STYLE
) -> Figure:
    """Plot a clickable grid of all heads (left) and those with the largest measure (right).

    Args:
        mosaic: attention maps and habits of all heads.
        measure: field of `Habits`; the scale of a share ends at 1, and a dotted line marks the
            value from which a head is named after its habit.
        layer: layer of the outlined head, from 0; the last where there are fewer.
        head: the head, likewise.
        style: language, theme and scale of the figure.
    """
    return _ranked(
        getattr(mosaic.habits, measure), style.text(f"figure.habit_{measure}"), (layer, head),
        style, names=head_names(mosaic.habits, style.text, shares=False),
        share=measure in (*HABITS, "spread"),
        named_from=NAMED_FROM if measure in HABITS else None,
    )  # fmt: skip


def head_importance(effects: Effects, layer: int, head: int, style: Style = STYLE) -> Figure:
    """Plot the loss from switching off each head alone, for one text.

    The loss is in bits of the next token (decoder) or in cosine of the sentence vector (encoder).
    Heads that were not switched off yet are blank.

    Args:
        effects: loss by head.
        layer: layer of the outlined head, from 0.
        head: the head, from 0.
        style: language, theme and scale of the figure.
    """
    measure = style.text("figure.lost_bits" if effects.decoder else "figure.lost_cosine")
    return _ranked(effects.change, measure, (layer, head), style)


def importance_so_far(
    trail: Sequence[Effects], layer: int, head: int, style: Style = STYLE
) -> Figure:
    """Plot `head_importance` of a running measurement.

    Args:
        trail: reports so far; the latest is drawn.
        layer: layer of the outlined head, from 0.
        head: the head, from 0.
        style: language, theme and scale of the figure.
    """
    return head_importance(trail[-1], layer, head, style)


def head_names(habits: Habits, text: Text, shares: bool = True) -> list[list[str]]:
    """Return the name of each head's habit in the reader's language, by layer and head.

    Args:
        habits: measured habits.
        text: texts of the style.
        shares: True to append the share that the name rests on.
    """
    layers, heads = habits.entropy.shape

    def called(layer: int, head: int) -> str:
        name = habits.name(layer, head)
        word = text(f"figure.name_{name}")
        if name not in HABITS or not shares:
            return word
        return f"{word} {number(getattr(habits, name)[layer, head], 2)}"

    return [[called(layer, head) for head in range(heads)] for layer in range(layers)]


def _ranked(
    values: Float[np.ndarray, "layer head"],
    measure: str,
    chosen: tuple[int, int],
    style: Style,
    names: Sequence[Sequence[str]] | None = None,
    share: bool = False,
    named_from: float | None = None,
) -> Figure:
    """Plot one value for each head, nan where unknown; `names` are the names of their habits."""
    layers, heads = values.shape
    finite = values[np.isfinite(values)]
    order = ranked(np.nan_to_num(values, nan=-np.inf), min(_MOST, finite.size))
    labels = [names[a][b] if names else "" for a, b in order or [(0, 0)]]
    sheet = Sheet(style)
    grid = HeadGrid(sheet, layers, heads, across=_GRID)
    top = 1.0 if share else float(finite.max(initial=0)) or 1.0
    grid.cells(
        values.astype(np.float32), measure,
        scales.unit_scale(min(0.0, float(finite.min(initial=0))), top),
        xgap=1, ygap=1, hoverongaps=False,
        colorbar=scales.color_bar(style, "", x=_GRID[1] + 0.01),  # the headline names it
        hover=grid.hover("figure.hover_measure", measure=measure, value="%{z:.3g}"),
    )  # fmt: skip
    chosen = min(chosen[0], layers - 1), min(chosen[1], heads - 1)
    grid.outline(*chosen)
    bars = _bars(sheet, values, measure, order, labels, chosen)
    if named_from is not None:
        bars.vertical(named_from, style.palette.baseline, width=1, dash="dot")
    sheet.headline(measure, yshift=6)
    first = order[0] if order else (0, 0)
    return sheet.described(
        "alt.ranked_heads", names={bars.y: [f"{a}.{b}" for a, b in order]}, measure=measure,
        layer=first[0], head=first[1], value=values[first], name=labels[0] or "–",
        median=float(np.median(finite)) if finite.size else math.nan,
    )  # fmt: skip


def _bars(
    sheet: Sheet,
    values: Float[np.ndarray, "layer head"],
    measure: str,
    order: Sequence[tuple[int, int]],
    labels: Sequence[str],
    chosen: tuple[int, int],
) -> Panel:
    """Draw the heads in this order as bars with their values and the names of their habits."""
    palette, text = sheet.style.palette, sheet.style.text
    lengths = [float(values[position]) for position in order]
    largest = max([*lengths, 1e-12])
    # The right half has room for names; a share is at most 1.
    ticks = {"tickvals": [0, 0.5, 1]} if 0.5 <= largest <= 1 else {"nticks": 4}
    panel = sheet.panel(
        axes.axis(measure, range=[0, 2.3 * largest], showgrid=False, **ticks),
        axes.ranked([f"{a}.{b}" for a, b in order], text("figure.layer_head"),
                    range=[max(len(order), 1) + 0.5, 0.5]),
        across=_BARS,
    )  # fmt: skip
    panel.ranked_bars(
        lengths, measure,
        [palette.highlight if position == chosen else palette.prediction for position in order],
        ends=[f" {number(v)}  {words}" for v, words in zip(lengths, labels, strict=False)],
        legend=False, hover=False,
    )  # fmt: skip
    return panel
