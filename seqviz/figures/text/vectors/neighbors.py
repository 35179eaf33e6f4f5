"""Words that neighbors make alike: under two windows, on a list, and the pairs that are drawn."""

from __future__ import annotations

from typing import Any

import numpy as np

from seqviz.compute.text.vectors.learned import METHODS, Nearest, Substitutes
from seqviz.compute.text.vectors.windows import TrainingPairs
from seqviz.core.i18n import percent
from seqviz.plotting import STYLE, Figure, Sheet, Style, axes, escape, short, whisker

_LEFT, _RIGHT = (0.0, 0.4), (0.6, 1.0)
_LONGEST = 14


def two_windows(left: Nearest, right: Nearest, style: Style = STYLE) -> Figure:
    """The nearest words under two windows; a word that both have is pale."""
    text, palette = style.text, style.palette
    sheet = Sheet(style)
    sheet.margin(t=34)
    common = set(left.words) & set(right.words)
    named = {}
    for result, across, axis, color in (
        (left, _LEFT, "y", palette.prediction),
        (right, _RIGHT, "y2", palette.rnn),
    ):
        names = named[axis] = [escape(short(word, _LONGEST)) for word in result.words]
        panel = sheet.panel(
            axes.axis(text("figure.near_cosine"), range=[min(0.0, *result.cosines), 1.16],
                      tickvals=[0, 0.25, 0.5, 0.75, 1]),
            axes.names(names, text("figure.near_word"), range=[len(names) + 0.6, 0.4]),
            across=across,
        )  # fmt: skip
        panel.bars(
            np.arange(1, len(names) + 1), result.cosines, text("figure.near_cosine"),
            [palette.grid if word in common else color for word in result.words],
            edge={"color": color, "width": 1}, sideways=True, width=0.72, legend=False,
            hover="%{y}: %{x:.3f}", ends=[f"{value:.2f}" for value in result.cosines],
        )  # fmt: skip
        panel.title(text("figure.words_around", count=result.window), size=14)
    return sheet.described(
        "alt.two_windows", names=named, word=escape(left.word), one=left.window, other=right.window,
        first=", ".join(named["y"]), second=", ".join(named["y2"]), gap=0.2,
    )  # fmt: skip


def substitutes_by_window(substitutes: Substitutes, style: Style = STYLE) -> Figure:
    """How often the substitute is nearer than a word of the subject; whiskers: 95%, over words."""
    text, palette = style.text, style.palette
    sheet = Sheet(style)
    windows = [str(window) for window in substitutes.windows]
    panel = sheet.panel(
        axes.names(windows, text("figure.window_axis")),
        axes.percent(text("figure.substitutes_nearer")),
    )
    panel.horizontal(50, palette.baseline, width=1.5, dash="dot")
    for index, (method, color, symbol) in enumerate(
        zip(METHODS, (palette.prediction, palette.rnn), ("circle", "diamond"), strict=True)
    ):
        rows = [substitutes.share(method, window) for window in substitutes.windows]
        share, low, high = (
            100 * np.array([getattr(row, end) for row in rows]) for end in ("share", "low", "high")
        )
        panel.line(
            np.arange(1, len(rows) + 1) + 0.06 * (2 * index - 1), share,
            text(f"figure.method_{method}"), color, symbol=symbol, hover="%{y:.0f}%",
            error_y=whisker(share, low, high, color),
        )  # fmt: skip
    first, last = substitutes.windows[0], substitutes.windows[-1]
    shares: dict[str, Any] = {
        f"{method}_{end}": percent(substitutes.share(method, window).share)
        for method in METHODS
        for end, window in (("first", first), ("last", last))
    }
    return sheet.described(
        "alt.substitutes_by_window", names={"x": windows}, items=substitutes.items, first=first,
        last=last, **shares,
    )  # fmt: skip


def losses_so_far(records: list[float], style: Style = STYLE) -> Figure:
    """The loss of every epoch so far, nats a pair with its negative samples."""
    text = style.text
    sheet = Sheet(style)
    at = np.arange(1, len(records) + 1)
    panel = sheet.panel(
        axes.axis(text("figure.epoch"), dtick=1), axes.axis(text("figure.pair_loss"))
    )
    panel.line(at, records, text("figure.pair_loss"), style.palette.prediction, symbol="circle",
               legend=False, hover="%{y:.3f}")  # fmt: skip
    return sheet.described("alt.pair_losses", epochs=len(records), last=records[-1])


def drawn_pairs(training_pairs: TrainingPairs, step: int, style: Style = STYLE) -> Figure:
    """A row for each middle of the window, a column for each word: what goes in, what is predicted.

    Filled: pairs up to this step; the pair of the step is outlined.
    """
    text, palette = style.text, style.palette
    sheet = Sheet(style)
    names = [escape(short(word, 9)) for word in training_pairs.words]
    panel = sheet.panel(
        axes.names(names, text("figure.pairs_word"), tickangle=-90),
        axes.names(names, text("figure.pairs_middle"), range=[len(names) + 0.6, 0.4]),
    )
    now = training_pairs.pairs[step - 1]
    for kind, color, symbol in (
        ("input", palette.prediction, "circle"), ("predicted", palette.rnn, "square"),
    ):  # fmt: skip
        for part, opacity in ((training_pairs.pairs[: step - 1], 0.35), ((now,), 1.0)):
            cells = sorted(
                {(pair.middle, at) for pair in part
                 for at in (pair.given if kind == "input" else (pair.target,))}
            )  # fmt: skip
            if not cells:
                continue
            panel.points(
                [at + 1 for _, at in cells], [row + 1 for row, _ in cells],
                text(f"figure.pairs_{kind}"), color, symbol=symbol, size=15, opacity=opacity,
                legend=opacity == 1.0, hover="%{x}",
            )  # fmt: skip
    panel.outline(palette.truth, row=now.middle + 1, width=1.5)
    return sheet.described(
        "alt.drawn_pairs",
        names={"x": names, "y": names},
        step=step,
        pairs=len(training_pairs.pairs),
        given=", ".join(names[at] for at in now.given),
        wanted=names[now.target],
    )
