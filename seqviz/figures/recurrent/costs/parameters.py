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


def parameters_by_length(found: ParameterBill, style: Style = STYLE) -> Figure:
    """Parameters of the cells by the number of steps: shared (solid), and of their own at each.

    The linear layer is counted in both. The vertical line is the chosen length.
    """
    text, palette = style.text, style.palette
    sheet = Sheet(style)
    sheet.margin(r=70 * style.scale, t=44)
    values = [found.unshared(cell, n) for cell in found.cells for n in (1, MAX_HIDDEN_UNITS)]
    upright = axes.decades(np.log10(np.array(values, float)), text("figure.bill_parameters"))
    panel = sheet.panel(
        axes.axis(text("figure.bill_length"), type="log", tickvals=_LENGTHS[::2].tolist(),
                  range=[-0.05, np.log10(MAX_HIDDEN_UNITS) + 0.02]), upright,
    )  # fmt: skip
    names = [text(f"option.{cell}") for cell in found.cells]
    colors = [getattr(palette, cell) for cell in found.cells]
    for cell, name, color in zip(found.cells, names, colors, strict=True):
        for way, dash in (("shared", "solid"), ("unshared", "dash")):
            y = [found.total(cell) if way == "shared" else found.unshared(cell, n)
                 for n in _LENGTHS.tolist()]  # fmt: skip
            panel.line(_LENGTHS, y, f"{name}, {text(f'figure.bill_{way}')}", color, dash=dash,
                       legend=cell == "rnn",
                       hover=f"%{{x}}: %{{y:,d}}{NAMED}")  # fmt: skip
    for ends in (
        [np.log10(found.total(cell)) for cell in found.cells],
        [np.log10(found.unshared(cell, MAX_HIDDEN_UNITS)) for cell in found.cells],
    ):
        panel.ends(names, colors, ends, np.log10(MAX_HIDDEN_UNITS), upright["range"])
    panel.vertical(found.steps, palette.highlight)
    return sheet.described(
        "alt.bill_length",
        steps=found.steps,
        values="; ".join(
            text("figure.bill_pair", cell=name, shared=f"{found.total(cell):,}",
                 unshared=f"{found.unshared(cell):,}")
            for name, cell in zip(names, found.cells, strict=True)
        ),
    )  # fmt: skip


def matrices(shapes: Mapping[str, tuple[int, ...]], style: Style = STYLE) -> Figure:
    """Each matrix and bias as a rectangle: as high as its rows and as wide as its columns.

    Sides are to scale by their square root, so that a column beside a thousand can be seen.
    """
    text, palette = style.text, style.palette
    sheet = Sheet(style, showlegend=False)
    sizes = {name: (shape[0], shape[1] if len(shape) > 1 else 1) for name, shape in shapes.items()}
    most = max(max(pair) for pair in sizes.values()) ** 0.5
    sides = {n: tuple(max(_SIDE, v**0.5 / most) for v in pair) for n, pair in sizes.items()}
    room = {name: max(0.62, side[1]) for name, side in sides.items()}  # of its words
    whole = sum(room.values()) + _GAP * (len(room) - 1)
    bare: dict[str, Any] = {"showticklabels": False, "showgrid": False}
    panel = sheet.panel(
        axes.axis(text("figure.bill_columns"), range=[-0.1, whole + 0.1], **bare),
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
    said = "; ".join(f"{name}: {r:,} × {c:,}" for name, (r, c) in sizes.items())
    return sheet.described("alt.bill_shapes", shapes=said)
