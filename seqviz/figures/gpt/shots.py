"""Few-shot accuracy by number of examples, under three conditions."""

from __future__ import annotations

from typing import Any

import numpy as np

from seqviz.compute.gpt.shots import CONDITIONS, FewShotAccuracy
from seqviz.plotting import STYLE, Figure, Sheet, Style, axes
from seqviz.stats.estimate import stack

_DASHES = ("solid", "dash", "dot")  # where two lines are equal, both are seen


def shots_by_amount(
    accuracy: FewShotAccuracy, chosen: str = "right", style: Style = STYLE
) -> Figure:
    """Plot the accuracy (left) and the share of answers in the requested form (right).

    The right labels and the chosen condition have colors, 95% intervals over the questions (Wilson)
    and small dots for single draws of examples; other conditions are gray lines. The dotted line is
    chance. Without examples the three conditions are equal and drawn as the first.

    Args:
        accuracy: the results.
        chosen: one of `CONDITIONS`.
        style: language, theme and scale of the figure.
    """
    label = style.labels("figure.shots_")
    sheet = Sheet(style)
    counts = accuracy.amounts.tolist()
    amounts = axes.names([str(count) for count in counts], label("amount"))
    left, right = sheet.row(
        (amounts, axes.percent(label("right"))), (amounts, axes.percent(label("form"))),
        gaps=(0.44, 0.6),
    )  # fmt: skip
    left.chance_line()
    for k, (condition, color) in enumerate(zip(CONDITIONS, style.palette.series, strict=False)):
        name = label(condition if k else "right_labels")
        is_context = bool(k) and condition != chosen
        series: dict[str, Any] = {
            "dodge": (k, len(CONDITIONS)),
            "start": min(k, 1),
            "hover": "%{y:.0f}%",
            "dash": _DASHES[k],
        }
        share = stack(accuracy.accuracy(condition, count) for count in counts)
        form = np.array([accuracy.form(condition, count) for count in counts])
        if is_context:
            color, series = style.palette.baseline, {**series, "width": 1.6, "size": 5}
            left.estimates(100 * share.mean, name, color, **series)
        else:
            samples = 100 * accuracy.right[k].mean(-1)
            left.estimates(100 * share, name, color, samples=samples, width=3.2, **series)
        right.estimates(100 * form, name, color, **series)
    zero, largest = counts[0], counts[-1]
    return sheet.described(
        "alt.shots", names={"x": amounts["ticktext"]}, questions=accuracy.questions, most=largest,
        none=accuracy.accuracy("right", zero).mean,
        **{condition: accuracy.accuracy(condition, largest).mean for condition in CONDITIONS},
    )  # fmt: skip
