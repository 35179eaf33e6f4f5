"""How often a decoder judges right behind so many solved examples, under three conditions."""

from __future__ import annotations

import numpy as np

from seqviz.compute.gpt.shots import CONDITIONS, FewShotAccuracy
from seqviz.core.i18n import percent
from seqviz.plotting import STYLE, Figure, Sheet, Style, axes, whisker

_LEFT, _RIGHT = (0.0, 0.44), (0.6, 1.0)
_ASIDE = 0.12  # by which conditions stand side by side


def shots_by_amount(found: FewShotAccuracy, style: Style = STYLE) -> Figure:
    """Left the share of right answers, right how often the answer has the form of one.

    Whiskers: 95% interval over the questions (Wilson). Small dots: single draws of examples. The
    dotted line is what a coin gets.
    """
    text, palette = style.text, style.palette
    sheet = Sheet(style)
    counts = found.amounts.tolist()
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
    for place, (condition, color) in enumerate(zip(CONDITIONS, colors, strict=True)):
        at = np.arange(1, len(amounts) + 1) + _ASIDE * (place - 1)
        kept = slice(None) if place == 0 else slice(1, None)  # without examples all are one
        name = text("figure.shots_right_labels" if place == 0 else f"figure.shots_{condition}")
        values = 100 * np.array([found.accuracy(condition, k) for k in counts])
        ends = 100 * np.array([found.ends(condition, k) for k in counts]).T
        whiskers = whisker(values[kept], ends[0][kept], ends[1][kept], color)
        panels[0].line(at[kept], values[kept], name, color, symbol="circle", error_y=whiskers,
                       hover="%{y:.0f}%")  # fmt: skip
        each = 100 * found.right[place].mean(-1)[kept]
        panels[0].points(
            np.repeat(at[kept], found.draws), each.ravel(), name, color, size=5, opacity=0.5,
            legend=False, hover=False,
        )  # fmt: skip
        formed = 100 * np.array([found.form(condition, k) for k in counts])
        panels[1].line(at[kept], formed[kept], name, color, symbol="circle", legend=False,
                       hover="%{y:.0f}%")  # fmt: skip
    most = int(found.amounts[-1])
    return sheet.described(
        "alt.shots",
        names={"x": amounts},
        questions=found.questions,
        most=most,
        none=percent(found.accuracy("right", int(found.amounts[0]))),
        right=percent(found.accuracy("right", most)),
        random=percent(found.accuracy("random", most)),
        other=percent(found.accuracy("other", most)),
    )
