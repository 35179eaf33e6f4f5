"""How often a decoder judges right behind so many solved examples, under three conditions."""

from __future__ import annotations

import numpy as np

from seqviz.compute.gpt.shots import CONDITIONS, FewShotAccuracy
from seqviz.plotting import STYLE, Figure, Sheet, Style, axes, whisker
from seqviz.stats.estimate import stack

_LEFT, _RIGHT = (0.0, 0.44), (0.6, 1.0)
_ASIDE = 0.12  # by which conditions stand side by side


def shots_by_amount(accuracy: FewShotAccuracy, style: Style = STYLE) -> Figure:
    """Left the share of right answers, right how often the answer has the form of one.

    Whiskers: 95% interval over the questions (Wilson). Small dots: single draws of examples. The
    dotted line is what a coin gets.
    """
    text, palette = style.text, style.palette
    sheet = Sheet(style)
    counts = accuracy.amounts.tolist()
    amounts = [str(amount) for amount in counts]
    panels = [
        sheet.panel(
            axes.names(amounts, text("figure.shots_amount")),
            axes.percent(text(f"figure.shots_{what}")),
            across=across,
        )
        for what, across in (("right", _LEFT), ("form", _RIGHT))
    ]
    panels[0].horizontal(50, palette.baseline, width=1.5, dash="dot")
    colors = (palette.prediction, palette.rnn, palette.gru)
    for index, (condition, color) in enumerate(zip(CONDITIONS, colors, strict=True)):
        at = np.arange(1, len(amounts) + 1) + _ASIDE * (index - 1)
        retained = slice(None) if index == 0 else slice(1, None)  # without examples all are one
        name = text("figure.shots_right_labels" if index == 0 else f"figure.shots_{condition}")
        shares = 100 * stack(accuracy.accuracy(condition, k) for k in counts)[retained]
        panels[0].line(at[retained], shares.mean, name, color, symbol="circle", hover="%{y:.0f}%",
                       error_y=whisker(shares.mean, *shares.ci, color))  # fmt: skip
        each = 100 * accuracy.right[index].mean(-1)[retained]
        panels[0].points(
            np.repeat(at[retained], accuracy.draws), each.ravel(), name, color, size=5, opacity=0.5,
            legend=False, hover=False,
        )  # fmt: skip
        formed = 100 * np.array([accuracy.form(condition, k) for k in counts])
        panels[1].line(at[retained], formed[retained], name, color, symbol="circle", legend=False,
                       hover="%{y:.0f}%")  # fmt: skip
    maximum = int(accuracy.amounts[-1])
    return sheet.described(
        "alt.shots",
        names={"x": amounts},
        questions=accuracy.questions,
        most=maximum,
        none=accuracy.accuracy("right", int(accuracy.amounts[0])).mean,
        right=accuracy.accuracy("right", maximum).mean,
        random=accuracy.accuracy("random", maximum).mean,
        other=accuracy.accuracy("other", maximum).mean,
    )
