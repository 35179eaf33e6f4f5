"""Word vectors by window size: nearest words, substitutes, and training pairs."""

from __future__ import annotations

from collections.abc import Container
from typing import Any

import numpy as np
from jaxtyping import Float

from seqviz.compute.text.vectors.learned import METHODS, Nearest, Substitutes
from seqviz.compute.text.vectors.windows import TrainingPairs
from seqviz.plotting import STYLE, Figure, Panel, Sheet, Style, axes, escape, short
from seqviz.stats.estimate import stack

_LONGEST = 14


def two_windows(left: Nearest, right: Nearest, style: Style = STYLE) -> Figure:
    """Plot the nearest words under two window sizes; a word that both have is pale.

    Args:
        left: nearest words under one window size.
        right: nearest words to the same word under the other.
        style: language, theme and scale of the figure.
    """
    palette, sheet = style.palette, Sheet(style)
    sheet.margin(t=34)
    names = [_labels(item) for item in (left, right)]
    panels = sheet.row(*(_near_axes(item, style) for item in (left, right)), gaps=(0.4, 0.6))
    colors = palette.prediction, palette.rnn
    common = set(left.words) & set(right.words)
    for panel, result, color in zip(panels, (left, right), colors, strict=True):
        _near_bars(panel, result, color, common)
    return sheet.described(
        "alt.two_windows", names={"y": names[0], "y2": names[1]}, word=escape(left.word),
        one=left.window, other=right.window, first=", ".join(names[0]),
        second=", ".join(names[1]), gap=0.2,
    )  # fmt: skip


def _labels(near: Nearest) -> list[str]:
    return [escape(short(word, _LONGEST)) for word in near.words]


def _near_axes(near: Nearest, style: Style) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the axes of a panel of nearest words."""
    lowest = min(0.0, *near.cosines)
    title = style.text("figure.near_cosine")
    return (
        axes.axis(title, range=[lowest, 1.16], tickvals=[0, 0.25, 0.5, 0.75, 1]),
        axes.ranked(_labels(near), style.text("figure.near_word")),
    )


def _near_bars(panel: Panel, near: Nearest, color: str, pale: Container[str] = ()) -> None:
    """Draw the cosines of the nearest words; the words in `pale` have pale bars."""
    text, grid = panel.style.text, panel.style.palette.grid
    panel.ranked_bars(
        near.cosines, text("figure.near_cosine"),
        [grid if word in pale else color for word in near.words],
        edge={"color": color, "width": 1}, width=0.72, legend=False,
        hover="%{y}: %{x:.3f}", ends=[f"{value:.2f}" for value in near.cosines],
    )  # fmt: skip
    panel.title(text("figure.words_around", count=near.window), size=14)


def substitutes_by_window(substitutes: Substitutes, style: Style = STYLE) -> Figure:
    """Plot how often a substitute is nearer than a topic word, with 95% intervals."""
    text, palette = style.text, style.palette
    sheet = Sheet(style)
    windows = [str(window) for window in substitutes.windows]
    panel = sheet.panel(
        axes.names(windows, text("figure.window_axis")),
        axes.percent(text("figure.substitutes_nearer")),
    )
    panel.chance_line()
    for k, (method, symbol) in enumerate(zip(METHODS, ("circle", "diamond"), strict=True)):
        share = stack(substitutes.share(method, window) for window in substitutes.windows)
        panel.estimates(100 * share, text(f"figure.method_{method}"), palette.series[k],
                        dodge=(k, 2), symbol=symbol, hover="%{y:.0f}%")  # fmt: skip
    first, last = substitutes.windows[0], substitutes.windows[-1]
    shares: dict[str, Any] = {
        f"{method}_{end}": substitutes.share(method, window).share
        for method in METHODS
        for end, window in (("first", first), ("last", last))
    }
    return sheet.described(
        "alt.substitutes_by_window", names={"x": windows}, items=substitutes.items, first=first,
        last=last, **shares,
    )  # fmt: skip


def words_so_far(losses: Float[np.ndarray, "epoch"], near: Nearest, style: Style = STYLE) -> Figure:
    """Plot the loss by epoch so far (left), and the nearest words among the vectors so far (right).

    Args:
        losses: of each epoch, in nats for a pair with its negative samples.
        near: nearest words to a word.
        style: language, theme and scale of the figure.
    """
    color, sheet, name = style.palette.prediction, Sheet(style), style.text("figure.pair_loss")
    sheet.margin(t=34)
    left, right = sheet.row(
        (axes.axis(style.text("figure.epoch"), dtick=1), axes.axis(name)),
        _near_axes(near, style), gaps=(0.4, 0.6),
    )  # fmt: skip
    left.estimates(losses, name, color, legend=False, hover="%{y:.3f}")
    _near_bars(right, near, color)
    names = _labels(near)
    return sheet.described("alt.words_so_far", names={"y2": names}, epoch=len(losses),
                           last=losses[-1], word=escape(near.word),
                           near=", ".join(names))  # fmt: skip


def drawn_pairs(training_pairs: TrainingPairs, step: int, style: Style = STYLE) -> Figure:
    """Plot inputs and predicted words (columns) by center of the window (rows).

    Strong marks and the outlined row are the pair of this step, pale marks the earlier ones.

    Args:
        training_pairs: all pairs in order.
        step: step, from 1.
        style: language, theme and scale of the figure.
    """
    text, palette = style.text, style.palette
    sheet = Sheet(style)
    names = [escape(short(word, 9)) for word in training_pairs.words]
    panel = sheet.panel(
        axes.names(names, text("figure.pairs_word"), tickangle=-90),
        axes.ranked(names, text("figure.pairs_middle")),
    )
    now = training_pairs.pairs[step - 1]
    for kind, color, symbol in (
        ("input", palette.prediction, "circle"), ("predicted", palette.rnn, "square"),
    ):  # fmt: skip
        for part, opacity in ((training_pairs.pairs[: step - 1], 0.35), ((now,), 1.0)):
            cells = sorted({
                (pair.middle, at) for pair in part
                for at in (pair.given if kind == "input" else (pair.target,))
            })  # fmt: skip
            if cells:
                panel.points(
                    [at + 1 for _, at in cells], [row + 1 for row, _ in cells],
                    text(f"figure.pairs_{kind}"), color, symbol=symbol, size=15, opacity=opacity,
                    legend=opacity == 1.0, hover="%{x}",
                )  # fmt: skip
    panel.outline(palette.truth, row=now.middle + 1, width=1.5)
    return sheet.described(
        "alt.drawn_pairs", names={"x": names, "y": names}, step=step,
        pairs=len(training_pairs.pairs), given=", ".join(names[at] for at in now.given),
        wanted=names[now.target],
    )  # fmt: skip
