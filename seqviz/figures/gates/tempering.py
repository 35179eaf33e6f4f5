"""A gate's sigmoid at a temperature, and the network's accuracy with it."""

from __future__ import annotations

import numpy as np

from seqviz.compute.gates.activations import activation
from seqviz.compute.gates.tempering import ByTemperature, Tempered
from seqviz.compute.recurrent import sigmoid
from seqviz.figures.gates.style import CELLS, LOOKS, visible_symbols
from seqviz.plotting import NAMED, STYLE, Figure, Sheet, Style, axis
from seqviz.plotting.axes import percent

_REACH = 8.0  # minimum range of pre-activations


def gate_mask(
    tempered: Tempered, gate: str, unit: int, tried: ByTemperature, style: Style = STYLE
) -> Figure:
    """Plot one gate's values on sigma(a / T) (left), and the accuracy by temperature (right).

    Left: the unit's marks are large, the dotted curve has T = 1. Right: the temperature axis is
    logarithmic, the dotted line is the most frequent answer, the vertical line the temperature of
    the left panel.

    Args:
        tempered: activations at one temperature.
        gate: symbol of the gate.
        unit: unit, from 1.
        tried: accuracy by temperature.
        style: language, theme and scale of the figure.
    """
    text, palette, observed = style.text, style.palette, tempered.seen
    a, values = tempered.preactivation[gate], activation(observed.trace, gate)
    reach = max(_REACH, 1.05 * float(np.abs(a).max(initial=0)))
    sheet = Sheet(style)
    left, right = sheet.row(
        (axis(text("figure.preactivation"), range=[-reach, reach]),
         axis(text(f"figure.gate_{gate}"), range=[-0.04, 1.04], tickvals=[0, 0.5, 1])),
        (axis(text("figure.temperature"), type="log", tickvals=[0.1, 1, 10],
              ticktext=["0.1", "1", "10"]), percent(text("figure.right_answers"))),
        gaps=(0.46, 0.6),
    )  # fmt: skip
    role, _, symbol = LOOKS[gate]
    color, line = getattr(palette, role), np.linspace(-reach, reach, 161)
    left.reference(line, sigmoid(line), text("figure.sigmoid_of_one"))
    left.line(line, sigmoid(line / tempered.temperature), text("figure.sigmoid_tempered"), color,
              width=2.4, hover=False)  # fmt: skip
    others = np.arange(observed.hidden) != unit - 1
    left.points(np.ravel(a[:, others]), np.ravel(values[:, others]), text("figure.other_units"),
                palette.baseline, size=6, opacity=0.5,
                hover="%{x:.3g} → %{y:.3g}" + NAMED)  # fmt: skip
    pieces = [f"{piece}, {k}" for k, piece in enumerate(visible_symbols(observed.pieces), 1)]
    left.points(
        a[:, unit - 1], values[:, unit - 1], text("figure.this_unit", unit=unit), color, size=11,
        symbol=symbol, customdata=pieces, edge={"color": palette.band, "width": 1},
        hover="%{customdata}: %{x:.3g} → %{y:.3g}" + NAMED,
    )  # fmt: skip
    right.reference(tried.temperature[[0, -1]], [100 * tried.majority] * 2, text("figure.majority"))
    dash, mark = CELLS[observed.cell]
    right.line(
        tried.temperature, 100 * tried.accuracy, text(f"option.{observed.cell}"),
        getattr(palette, observed.cell), dash=dash, symbol=mark, legend=False,
        hover="T = %{x:.3g}: %{y:.1f}%" + NAMED,
    )  # fmt: skip
    right.vertical(tempered.temperature, palette.highlight)
    return sheet.described(
        "alt.gate_mask", gate=text(f"figure.gate_{gate}"), temperature=tempered.temperature,
        saturated=tempered.saturated(gate), right=tried.accuracy_at(tempered.temperature),
        majority=tried.majority,
    )  # fmt: skip
