"""Which way the attention may look: both ways, only to the left, only to the right."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float

from seqviz.compute.accuracy.findings import Direction
from seqviz.compute.proportions import Proportion
from seqviz.figures.accuracy import parts
from seqviz.figures.accuracy.bars import Drawn, Guess, Row, add_panel
from seqviz.figures.accuracy.shares import answers_right, counted
from seqviz.figures.grammar.figure import Figure
from seqviz.figures.grammar.style import Style, finish, layout

_STYLE = Style()
_ROLES = {"both": "prediction", "left": "rnn", "right": "gru"}


def direction_view(found: Direction, baseline: Proportion, style: Style = _STYLE) -> Figure:
    """Accuracy by the way the attention looks: sentiment with the usual head, sentiment with a head
    fitted anew, first guess of a masked token.

    baseline: of sentiment, the more frequent answer always.
    """
    text = style.text
    drawn = Drawn()
    guess = Guess(text("figure.acc_majority_short"), baseline)
    said = {}
    for end, domain, panel in (
        ("", [0, 0.29], "same"),
        ("2", [0.37, 0.66], "refitted"),
        ("3", [0.76, 1], "fill"),
    ):
        rows = [
            Row(
                text(f"figure.acc_condition_{direction}"),
                counted(right),
                getattr(style.palette, _ROLES[direction]),
            )
            for direction, right in zip(found.directions, _right(found, panel), strict=True)
        ]
        add_panel(
            drawn,
            end,
            domain,
            text(f"figure.acc_direction_{panel}"),
            rows,
            None if panel == "fill" else guess,
            (text("figure.acc_looks"), text("figure.acc_right")),
            style,
        )
        said[panel] = "; ".join(f"{row.name}: {parts.said(row.found, style)}" for row in rows)
    spec = layout(style)
    spec |= {**drawn.axes, "annotations": drawn.annotations}
    return finish(
        {"data": drawn.data, "layout": spec},
        text("alt.acc_direction", **said, baseline=parts.percent(baseline.share)),
        names=drawn.names,
        gap=0.1,
    )


def _right(found: Direction, panel: str) -> Float[np.ndarray, "direction case"]:
    if panel == "fill":
        return (found.rank == 1).astype(float)
    probability = found.probability if panel == "same" else found.refitted
    return answers_right(probability, found.positive)
