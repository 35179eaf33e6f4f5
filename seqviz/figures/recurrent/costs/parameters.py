"""Parameters by sequence length, and the shapes of the weight matrices."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from seqviz.compute.recurrent.costs.counting import ParameterBill
from seqviz.plotting import NAMED, STYLE, Figure, Sheet, Style, axes

MAX_HIDDEN_UNITS = 512
_LENGTHS = 2 ** np.arange(10)  # 1 to LONGEST
_SIDE = 0.16  # minimum side drawn, as a share of the largest
_GAP = 0.3


def parameters_by_length(parameter_bill: ParameterBill, style: Style = STYLE) -> Figure:
    """Plot parameters by number of steps: shared over steps (solid), separate at each (dashed).

    Both include the linear layer. The vertical line is the chosen length.
    """
    label, palette, sheet = style.labels("figure.bill_"), style.palette, Sheet(style)
    sheet.margin(r=70 * style.scale, t=44)
    bill, cells = parameter_bill, parameter_bill.cells
    ends = np.log10([[bill.unshared(cell, n) for cell in cells] for n in (1, MAX_HIDDEN_UNITS)])
    right = float(np.log10(MAX_HIDDEN_UNITS))
    up = axes.decades(ends, label("parameters"))
    lengths = axes.axis(label("length"), type="log", tickvals=_LENGTHS[::2].tolist(),
                        range=[-0.05, right + 0.02])  # fmt: skip
    panel = sheet.panel(lengths, up)
    names = [style.text(f"option.{cell}") for cell in cells]
    colors = [getattr(palette, cell) for cell in cells]
    for cell, name, color in zip(cells, names, colors, strict=True):
        unshared = [bill.unshared(cell, n) for n in _LENGTHS.tolist()]
        shared = [bill.total(cell)] * len(unshared)
        for key, y, dash in (("shared", shared, "solid"), ("unshared", unshared, "dash")):
            panel.line(_LENGTHS, y, f"{name}, {label(key)}", color, dash=dash,
                       legend=cell == "rnn", hover=f"%{{x}}: %{{y:,d}}{NAMED}")  # fmt: skip
    for heights in ends:
        panel.ends(names, colors, heights, right, up["range"])
    panel.vertical(bill.steps, palette.highlight)
    pairs = [label("pair", cell=name, shared=bill.total(cell), unshared=bill.unshared(cell))
             for name, cell in zip(names, cells, strict=True)]  # fmt: skip
    return sheet.described("alt.bill_length", steps=bill.steps, values="; ".join(pairs))


def matrices(shapes: Mapping[str, tuple[int, ...]], style: Style = STYLE) -> Figure:
    """Plot each matrix and bias as a rectangle with its rows as height and columns as width.

    Sides scale with the square root, which keeps a vector visible beside a thousand columns.
    """
    label, palette = style.labels("figure.bill_"), style.palette
    sheet = Sheet(style, showlegend=False)
    sizes = np.array([(shape[0], shape[1] if len(shape) > 1 else 1) for shape in shapes.values()])
    sides = np.maximum(_SIDE, np.sqrt(sizes / sizes.max()))
    room = np.maximum(0.62, sides[:, 1])  # width of its label
    middles = np.cumsum(room + _GAP) - _GAP - room / 2
    bare: dict[str, Any] = {"showticklabels": False, "showgrid": False}
    panel = sheet.panel(
        axes.axis(label("columns"), range=[-0.1, middles[-1] + room[-1] / 2 + 0.1], **bare),
        axes.axis(label("rows"), range=[-0.24, 1.16], **bare),
    )
    for name, (rows, columns), (high, wide), middle in zip(
        shapes, sizes.tolist(), sides.tolist(), middles.tolist(), strict=True
    ):
        color = palette.prediction if name.startswith("W") else palette.baseline
        panel.rectangle((middle - wide / 2, middle + wide / 2), (0, high), color,
                        fillcolor=color, opacity=0.55)  # fmt: skip
        letter, _, index = name.partition("_")
        panel.words(f"<i>{letter}</i><sub>{index}</sub>", middle, high, yanchor="bottom", size=15)
        panel.words(f"{rows:,}<br>× {columns:,}", middle, -0.02, yanchor="top")
    panel.unseen(middles, sizes.prod(1), label("entries"))
    pairs = zip(shapes, sizes.tolist(), strict=True)
    summary = "; ".join(f"{name}: {rows:,} × {columns:,}" for name, (rows, columns) in pairs)
    return sheet.described("alt.bill_shapes", shapes=summary)
