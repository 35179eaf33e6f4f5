"""One sentence several times in evaluation and in training mode: dropout, and what it is not."""

from __future__ import annotations

from typing import Any

import numpy as np

from seqviz.compute.accuracy.findings import Modes
from seqviz.figures.accuracy.parts import dotted, named_axis, percent_axis
from seqviz.figures.grammar.figure import Figure
from seqviz.figures.grammar.line_ends import label
from seqviz.figures.grammar.style import Style, finish, layout
from seqviz.text import number

_STYLE = Style()
_LOOKS = {"eval": ("prediction", "circle"), "train": ("rnn", "diamond")}
_LIFT = 0.3  # of a row: how far the repeats fan out, so that equal ones do not hide one another


def modes_view(found: Modes, style: Style = _STYLE) -> Figure:
    """Probability of "positive" of one sentence, each repeat a mark, in a row for each mode.

    Below each row: whether a gradient can be computed, as it is and under no_grad(). The repeats
    fan out upward in the order in which they were made.
    """
    text, palette = style.text, style.palette
    data: list[dict[str, Any]] = [
        dotted([50, 50], [0, len(found.modes) + 1], text("figure.acc_undecided"), style)
    ]
    notes, values = [], []
    for row, mode in enumerate(found.modes):
        place = len(found.modes) - row
        role, symbol = _LOOKS[mode]
        share = 100 * found.probability[row]
        count = len(share)
        fan = np.linspace(-_LIFT / 2, _LIFT / 2, count) if count > 1 else np.zeros(count)
        color = getattr(palette, role)
        data.append(
            {
                "type": "scatter",
                "x": share,
                "y": place + 0.16 + fan,
                "mode": "markers",
                "name": text(f"figure.acc_mode_{mode}"),
                "showlegend": False,
                "marker": {"color": color, "size": 9, "symbol": symbol, "opacity": 0.8},
                "hovertemplate": "%{x:.2f} %<extra>%{fullData.name}</extra>",
            }
        )
        yes, under = (
            text("figure.acc_yes" if found.gradient[row, column] else "figure.acc_no")
            for column in (0, 1)
        )
        low, high = (number(float(f(share))) for f in (np.nanmin, np.nanmax))
        spread = low if low == high else f"{low} – {high}"
        values.append(f"{text(f'figure.acc_mode_{mode}')}: {spread} %")
        notes.append(
            label(
                style,
                text("figure.acc_repeats", count=count, spread=f"<b>{spread}</b>")
                + "<br>"
                + text("figure.acc_gradient", able=f"<b>{yes}</b>")
                + "<br>"
                + text("figure.acc_gradient_under", able=f"<b>{under}</b>"),
                palette.truth,
                xref="x domain",
                x=0.01,
                y=place - 0.31,
                xanchor="left",
                align="left",
            )
        )
    names = [f"<b>{mode}()</b>" for mode in reversed(found.modes)]
    spec = layout(style)
    spec["margin"] = {**spec["margin"], "t": 30}
    spec |= {
        "xaxis": percent_axis(style, text("figure.acc_positive")),
        "yaxis": named_axis(style, names, text("figure.acc_mode")),
        "annotations": [
            *notes,
            label(
                style,
                text("figure.acc_undecided"),
                palette.baseline,
                x=50,
                y=1,
                yref="y domain",
                yanchor="bottom",
            ),
        ],
    }
    return finish(
        {"data": data, "layout": spec},
        text(
            "alt.acc_modes",
            repeats=found.probability.shape[1],
            values="; ".join(values),
            plain=_listed(found, 0, style),
            under=_listed(found, 1, style),
        ),
    )


def _listed(found: Modes, column: int, style: Style) -> str:
    """For which modes a gradient can be computed."""
    names = [
        f"{m}()" for m, able in zip(found.modes, found.gradient[:, column], strict=True) if able
    ]
    return ", ".join(names) or style.text("figure.acc_none")
