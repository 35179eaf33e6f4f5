"""Hypotheses about a head on many texts: means of all heads, and single trials of one."""

from __future__ import annotations

from typing import Any

import numpy as np

from seqviz.compute.attention.trials import HeadTrials
from seqviz.core.i18n import percent
from seqviz.figures.attention.head_grid import HeadGrid
from seqviz.plotting import STYLE, Figure, Sheet, Style, axes, scales
from seqviz.plotting.progress_figure import share_done

_GRID, _TRIALS = (0.0, 0.36), (0.7, 1.0)
_FEW_ROWS = (0.3, 1.0)
_NAMED = 9  # maximum number of columns that are all numbered on a phone


def head_on_pairs(head_trials: HeadTrials, layer: int, head: int, style: Style = STYLE) -> Figure:
    """Plot all heads by their share on the right noun (left), and one head by pair (right).

    Right: for each pair, the share of the first noun in the sentence in which it is right (filled)
    and in the one in which it is wrong (hollow). A head that follows the changed word has the
    filled dot right of 50% and the hollow one left of it; a head that ignores the word has both in
    one place. A click on the grid chooses the head.

    Args:
        head_trials: shares by pair and head.
        layer: layer of the head, from 0; the last where there are fewer.
        head: the head, likewise.
        style: language, theme and scale of the figure.
    """
    sheet, layer, head = _grid(head_trials, layer, head, style)
    text, palette = style.text, style.palette
    panel = sheet.panel(
        axes.percent(text("figure.part_of_first"), range=[-4, 104], tickvals=[0, 50, 100]),
        axes.ranks(head_trials.labels, text("figure.pair"), text("figure.pair"), limit=30),
        across=_TRIALS,
    )
    panel.chance_line(sideways=True)
    rows = np.arange(1, len(head_trials.labels) + 1)
    right, wrong = (100 * head_trials.other[:, sentence, layer, head] for sentence in (0, 1))
    gaps = np.full(len(rows), np.nan)
    between = np.column_stack([right, wrong, gaps]).ravel()
    panel.line(between, np.repeat(rows, 3), text("figure.pair"), palette.baseline, width=1.5,
               hover=False, legend=False)  # fmt: skip
    hover = "%{y}: %{x:.1f}%"
    panel.points(wrong, rows, text("figure.first_wrong"), palette.baseline, size=8, hover=hover,
                 symbol="circle-open", edge={"color": palette.truth, "width": 1.6})  # fmt: skip
    panel.points(right, rows, text("figure.first_right"), palette.prediction, size=9, hover=hover)
    return _described(sheet, head_trials, layer, head)


def head_on_texts(head_trials: HeadTrials, layer: int, head: int, style: Style = STYLE) -> Figure:
    """Plot all heads by their mean share (left), and one head's sorted shares by text (right).

    The band is the mean's 95% interval; the dotted line is the share with uniform weights. A click
    on the grid chooses the head.

    Args:
        head_trials: shares by text and head.
        layer: layer of the head, from 0; the last where there are fewer.
        head: the head, likewise.
        style: language, theme and scale of the figure.
    """
    sheet, layer, head = _grid(head_trials, layer, head, style)
    text, palette = style.text, style.palette
    values = 100 * np.sort(head_trials.share[:, layer, head])
    panel = sheet.panel(
        axes.axis(text("figure.texts_by_share"), range=[0, len(values) + 1], showgrid=False),
        axes.percent(_measure(head_trials, style)),
        across=_TRIALS,
    )
    positions = np.arange(1, len(values) + 1)
    ends = np.array([0, len(values) + 1])
    panel.points(positions, values, text("figure.one_text"), palette.prediction, size=6,
                 hover="%{y:.1f}%")  # fmt: skip
    share = 100 * head_trials.mean_of(layer, head)
    mean, low, high = (np.full(2, value) for value in (share.mean, *share.ci))
    panel.band(ends, low, high, palette.highlight)
    panel.line(ends, mean, text("figure.trial_mean"), palette.highlight, hover="%{y:.1f}%")
    panel.reference(ends, np.full(2, 100 * head_trials.even), text("figure.all_alike"))
    return _described(sheet, head_trials, layer, head)


def trials_so_far(done: Any, style: Style = STYLE) -> Figure:
    """Plot the share of texts read so far."""
    return share_done(
        done, style, read="figure.texts_read", of="figure.all_texts", alt="alt.trials_so_far"
    )


def _grid(head_trials: HeadTrials, layer: int, head: int, style: Style) -> tuple[Sheet, int, int]:
    """Return a sheet with all heads on its left, and the chosen layer and head."""
    means = head_trials.means
    layers, heads = means.shape
    layer, head = min(layer, layers - 1), min(head, heads - 1)
    measure = style.text(f"figure.share_{head_trials.hypothesis}")
    sheet = Sheet(style)
    even = head_trials.hypothesis == "pronoun"
    # The names of the pairs, one a row, take the larger part of a phone's height.
    up = _FEW_ROWS if even else (0.0, 1.0)
    grid = HeadGrid(sheet, layers, heads, across=_GRID, up=up, named=_NAMED)
    reach = 100 * (float(np.abs(means - head_trials.even).max()) or 0.01)
    scale = scales.signed(reach) if even else scales.unit_scale(0, 100)
    visible = 100 * (means - head_trials.even if even else means)
    ticks = [-reach, 0, reach]
    if even:
        words = [f"{100 * head_trials.even + tick:.0f}%" for tick in ticks]
        scale = scales.ColorScale(scale.colors, scale.low, scale.high, (ticks, words))
    bar = {"x": _GRID[1] + 0.01, "y": sum(up) / 2, "len": up[1] - up[0]}
    grid.cells(
        visible.astype(np.float32), measure, scale, xgap=1, ygap=1,
        colorbar=scales.color_bar(style, "", scale.ticks, **bar),
        text=grid.turned(np.array([[percent(v) for v in row] for row in means])),
        hover=grid.hover("figure.hover_measure", measure=measure, value="%{text}"),
    )  # fmt: skip
    grid.outline(layer, head)
    if even:  # the highlight color is also that of values above chance
        at = (layer, head) if grid.deep else (head, layer)
        grid.panel.outline(style.palette.truth, column=at[0], row=at[1], width=1.5)
    grid.panel.title(_measure(head_trials, style))
    # On a phone the legend has two lines, above the title of the grid.
    sheet.legend(x=1, xanchor="right", y=1.06, traceorder="reversed")
    return sheet, layer, head


def _measure(head_trials: HeadTrials, style: Style) -> str:
    """Return the name of the measure, with its unit where the color scale has none."""
    measure = style.text(f"figure.share_{head_trials.hypothesis}")
    even = head_trials.hypothesis == "pronoun"
    return measure if even else style.text("figure.in_percent", measure=measure)


def _described(sheet: Sheet, head_trials: HeadTrials, layer: int, head: int) -> Figure:
    share, best = head_trials.mean_of(layer, head), head_trials.best
    return sheet.described(
        "alt.trials", measure=sheet.style.text(f"figure.share_{head_trials.hypothesis}"),
        texts=len(head_trials.labels), layer=layer, head=head, share=share, even=head_trials.even,
        best=f"{best[0]}.{best[1]}", most=head_trials.mean_of(*best).mean,
    )  # fmt: skip
