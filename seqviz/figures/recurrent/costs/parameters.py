"""Parameters by the length of the sequence, and the matrices that they lie in."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from seqviz.compute.recurrent.costs.counting import ParameterBill
from seqviz.plotting import NAMED, STYLE, Figure, Sheet, Style, axes

MAX_HIDDEN_UNITS = 512
_LENGTHS = 2 ** np.arange(10)  # 1 to LONGEST
_SIDE = 0.16  # of the least side that is drawn, as a share of the largest
_GAP = 0.3


def parameters_by_length(parameter_bill: ParameterBill, style: Style = STYLE) -> Figure:
    """Parameters of the cells by the number of steps: shared (solid), and of their own at each.

    The linear layer is counted in both. The vertical line is the chosen length.
    """
    text, palette = style.text, style.palette
    sheet = Sheet(style)
    sheet.margin(r=70 * style.scale, t=44)
    values = [
        parameter_bill.unshared(cell, n)
        for cell in parameter_bill.cells
        for n in (1, MAX_HIDDEN_UNITS)
    ]
    upright = axes.decades(np.log10(np.array(values, float)), text("figure.bill_parameters"))
    panel = sheet.panel(
        axes.axis(text("figure.bill_length"), type="log", tickvals=_LENGTHS[::2].tolist(),
                  range=[-0.05, np.log10(MAX_HIDDEN_UNITS) + 0.02]), upright,
    )  # fmt: skip
    names = [text(f"option.{cell}") for cell in parameter_bill.cells]
    colors = [getattr(palette, cell) for cell in parameter_bill.cells]
    for cell, name, color in zip(parameter_bill.cells, names, colors, strict=True):
        for direction, dash in (("shared", "solid"), ("unshared", "dash")):
            y = [
                parameter_bill.total(cell)
                if direction == "shared"
                else parameter_bill.unshared(cell, n)
                for n in _LENGTHS.tolist()
            ]
            panel.line(_LENGTHS, y, f"{name}, {text(f'figure.bill_{direction}')}", color, dash=dash,
                       legend=cell == "rnn",
                       hover=f"%{{x}}: %{{y:,d}}{NAMED}")  # fmt: skip
    for ends in (
        [np.log10(parameter_bill.total(cell)) for cell in parameter_bill.cells],
        [
            np.log10(parameter_bill.unshared(cell, MAX_HIDDEN_UNITS))
            for cell in parameter_bill.cells
        ],
    ):
        panel.ends(names, colors, ends, np.log10(MAX_HIDDEN_UNITS), upright["range"])
    panel.vertical(parameter_bill.steps, palette.highlight)
    return sheet.described(
        "alt.bill_length",
        steps=parameter_bill.steps,
        values="; ".join(
            text("figure.bill_pair", cell=name, shared=parameter_bill.total(cell),
                 unshared=parameter_bill.unshared(cell))
            for name, cell in zip(names, parameter_bill.cells, strict=True)
        ),
    )  # fmt: skip


def matrices(shapes: Mapping[str, tuple[int, ...]], style: Style = STYLE) -> Figure:
    """Each matrix and bias as a rectangle: as high as its rows and as wide as its columns.

    Sides are to scale by their square root, so that a column beside a thousand can be seen.
    """
    text, palette = style.text, style.palette
    sheet = Sheet(style, showlegend=False)
    sizes = {name: (shape[0], shape[1] if len(shape) > 1 else 1) for name, shape in shapes.items()}
    maximum = max(max(pair) for pair in sizes.values()) ** 0.5
    sides = {n: tuple(max(_SIDE, v**0.5 / maximum) for v in pair) for n, pair in sizes.items()}
    room = {name: max(0.62, side[1]) for name, side in sides.items()}  # of its words
    full = sum(room.values()) + _GAP * (len(room) - 1)
    bare: dict[str, Any] = {"showticklabels": False, "showgrid": False}
    panel = sheet.panel(
        axes.axis(text("figure.bill_columns"), range=[-0.1, full + 0.1], **bare),
        axes.axis(text("figure.bill_rows"), range=[-0.24, 1.16], **bare),
    )
    left = 0.0
    middles, counts = [], []
    for name, (rows, columns) in sizes.items():
        high, wide = sides[name]
        middle = left + room[name] / 2
        color = palette.prediction if name.startswith("W") else palette.baseline
        panel.rectangle((middle - wide / 2, middle + wide / 2), (0, high), color,
                        fillcolor=color, opacity=0.55)  # fmt: skip
        letter, _, index = name.partition("_")
        panel.words(f"<i>{letter}</i><sub>{index}</sub>", middle, high, yanchor="bottom", size=15)
        panel.words(f"{rows:,}<br>× {columns:,}", middle, -0.02, yanchor="top")
        middles.append(middle)
        counts.append(rows * columns)
        left += room[name] + _GAP
    panel.unseen(middles, counts, text("figure.bill_entries"))
    summary = "; ".join(f"{name}: {r:,} × {c:,}" for name, (r, c) in sizes.items())
    return sheet.described("alt.bill_shapes", shapes=summary)
