"""Diagrams of an LSTM and a GRU cell with the numbers of one unit at one step."""

from __future__ import annotations

from typing import Any

import numpy as np

from seqviz.compute.gates.observation import GRUStep, LSTMStep, UnitFlow
from seqviz.core.i18n import number
from seqviz.figures.gates.boxes import HEIGHT, WIDTH, Diagram, diagram_axes, short
from seqviz.figures.gates.style import at_step, visible_symbols
from seqviz.plotting import STYLE, Figure, Sheet, Style, axes, axis
from seqviz.plotting.scales import sign_color

_UP, _SIDE = HEIGHT / 2, WIDTH / 2  # half the size of a box
_OLD_C, _OLD_H, _PAST = "c<sub>t−1</sub>", "h<sub>t−1</sub>", "W<sub>h</sub> h + b′"
_MAP, _STEPS = (0, 0.64), (0.74, 1)  # panels, as shares of the width
_WORDS = {"c(t−1)": "old_c", "h(t−1)": "old_h", "c(t)": "gate_c", "h(t)": "gate_h"}


def cell_map(flow: UnitFlow, step: int, part: int, style: Style = STYLE) -> Figure:
    """Plot a cell at one step as a map (left), and the chosen part at every step (right).

    Args:
        flow: numbers of one unit at every step.
        step: the step of the map, from 1.
        part: number of the chosen part, from 1.
        style: language, theme and scale of the figure.
    """
    values = flow.at(step)
    draw = Diagram(style, _scale(values), _MAP)
    # Room for the labels below: Plotly would add it after it has drawn the map.
    draw.sheet.margin(r=10, t=30 * style.scale, b=46 * style.scale)
    diagram = draw.to_map("part", part, values.quantities)
    _draw(draw, values)
    _table(draw, values)
    for index in range(1, len(values.quantities) + 1):
        other = Sheet(style)
        other.panel(*diagram_axes(style), across=_MAP)  # so that the axes have the same names
        _part_steps(other, flow, step, index)
        diagram.view(index, other)
    _part_steps(draw.sheet, flow, step, part)
    return draw.sheet.described(
        "alt.cell_map", cell=style.text(f"option.{flow.cell}"), unit=flow.unit, step=step,
        values=_listed(values), part=flow.name(part), steps=len(flow.steps),
        low=flow.values(part).min(), high=flow.values(part).max(), gap=0.14,
    )  # fmt: skip


def _part_steps(sheet: Sheet, flow: UnitFlow, step: int, part: int) -> None:
    """Draw the panel with one part at every step."""
    style, name, values = sheet.style, flow.name(part), flow.values(part)
    at = np.arange(1, len(values) + 1)
    pieces = visible_symbols(flow.pieces)
    symbol = _html(name)
    key = f"gate_{name}" if len(name) == 1 else _WORDS.get(name)
    if name in "firzo":
        height = axis(symbol, range=[0, 1.03], tickvals=[0, 0.5, 1])
        colors = [style.palette.baseline] * len(at)
    else:
        height = axis(symbol, range=axes.around(values, np.zeros(1)), zeroline=True, nticks=5)
        colors = [sign_color(value) for value in values]
    panel = sheet.panel(axes.tokens(style, pieces, style.text("figure.read_here")), height,
                        across=_STEPS)  # fmt: skip
    panel.bars(at, values, name, colors, hover=at_step(style.text), legend=False)
    panel.outline(style.palette.highlight, column=step)
    panel.title(f"<b>{style.text(f'figure.{key}') if key else symbol}</b>", align="left")


def _html(name: str) -> str:
    """Return the name of a quantity with subscripts."""
    for written, subscript in (("(t−1)", "t−1"), ("(t)", "t"), ("_h", "h")):
        name = name.replace(written, f"<sub>{subscript}</sub>")
    return name


def lstm_cell(values: LSTMStep, style: Style = STYLE) -> Figure:
    """Plot the flow of the cell state: forget gate, written part, output.

    The width of an arrow shows its value; a gate is filled to its value.
    """
    return _alone(values, style)


def gru_cell(values: GRUStep, style: Style = STYLE) -> Figure:
    """Plot the flow of the hidden state: its retained share, and the candidate for the rest.

    The width of an arrow shows its value; a gate is filled to its value. The reset gate multiplies
    the old state's whole contribution to the candidate, W_h h + b' (PyTorch's variant), which
    therefore has a box.
    """
    return _alone(values, style)


def _alone(values: LSTMStep | GRUStep, style: Style) -> Figure:
    draw = Diagram(style, _scale(values))
    _draw(draw, values)
    _table(draw, values)
    cell = style.text("option.lstm" if isinstance(values, LSTMStep) else "option.gru")
    return draw.sheet.finish(style.text("alt.cell", cell=cell, values=_listed(values)))


def _scale(values: LSTMStep | GRUStep) -> float:
    """Return the value of the widest arrow."""
    if isinstance(values, GRUStep):
        return 1.0
    flows = (values.c_before, values.c, values.f * values.c_before, values.i * values.g)
    return max(1.0, *(abs(value) for value in flows))


def _draw(draw: Diagram, values: LSTMStep | GRUStep) -> None:
    if isinstance(values, LSTMStep):
        _draw_lstm(draw, values)
    else:
        _draw_gru(draw, values)


def _draw_lstm(draw: Diagram, values: LSTMStep) -> None:
    v, text, quiet = values, draw.style.text, draw.style.palette.baseline
    retained, written = v.f * v.c_before, v.i * v.g
    f, i, o = ((draw.width(draw.scale * gate), quiet) for gate in (v.f, v.i, v.o))
    # The inputs of the gates, below all of them.
    draw.label(0, -0.95, "x<sub>t</sub>, h<sub>t−1</sub>", size=13, quiet=True)
    draw.line([(0.42, -0.95), (4, -0.95)], 1.5, quiet)
    for x, symbol in ((1, "f"), (2, "i"), (3, "g"), (4, "o")):
        _box(draw, x, 0, symbol, getattr(v, symbol))
        draw.arrow((x, -0.95), (x, -0.76), 1.5, quiet)
    # The cell state.
    draw.state(0, 3, _OLD_C, v.c_before, text("figure.old_c"), "c(t−1)")
    draw.state(5, 3, "c<sub>t</sub>", v.c, text("figure.gate_c"), "c(t)")
    draw.arrow((_SIDE, 3), (1, 3), *draw.flow(v.c_before), to_circle=True)
    draw.arrow((1, 3), (2.5, 3), *draw.flow(retained), True, True)
    draw.arrow((2.5, 3), (5 - _SIDE, 3), *draw.flow(v.c), from_circle=True)
    draw.arrow((1, _UP), (1, 3), *f, to_circle=True)
    _along(draw, 1.76, 3, f"f {_OLD_C}", retained)
    # The written part: candidate times input gate.
    draw.elbow([(2, _UP), (2, 2), (2.5, 2)], *i)
    draw.elbow([(3, _UP), (3, 2), (2.5, 2)], *draw.flow(v.g))
    draw.arrow((2.5, 2), (2.5, 3), *draw.flow(written), True, True)
    _beside(draw, 2.5, 2.5, "i g", written)
    # The output: tanh of the state times the output gate.
    draw.state(4, 2, "tanh c<sub>t</sub>", v.tanh_c, "tanh c<sub>t</sub>", "tanh c(t)")
    draw.arrow((4, 3), (4, 2 + _UP), *draw.flow(v.c))
    draw.arrow((4, 2 - _UP), (4, 1), *draw.flow(v.tanh_c), to_circle=True)
    draw.arrow((4, _UP), (4, 1), *o, to_circle=True)
    draw.arrow((4, 1), (5 - _SIDE, 1), *draw.flow(v.h), from_circle=True)
    draw.state(5, 1, "h<sub>t</sub>", v.h, text("figure.gate_h"), "h(t)")
    draw.operation(1, 3, "×", f"f {_OLD_C}", retained, part="f c(t−1)")
    draw.operation(2.5, 2, "×", "i g", written, part="i g")
    draw.operation(2.5, 3, "+", "c<sub>t</sub>", retained, written)
    draw.operation(4, 1, "×", "h<sub>t</sub> = o tanh c<sub>t</sub>", v.h)


def _draw_gru(draw: Diagram, values: GRUStep) -> None:
    v, text = values, draw.style.text
    share, through = v.retention, v.r * v.past
    retained, written = share * v.h_before, (1 - share) * v.n
    stays, comes = ("z", "1 − z") if v.update == "keep" else ("1 − z", "z")
    old, new = (name if len(name) == 1 else f"({name})" for name in (stays, comes))
    # The hidden state.
    draw.state(0, 3, _OLD_H, v.h_before, text("figure.old_h"), "h(t−1)")
    draw.state(5, 3, "h<sub>t</sub>", v.h, text("figure.gate_h"), "h(t)")
    draw.arrow((_SIDE, 3), (1.3, 3), *draw.flow(v.h_before), to_circle=True)
    draw.arrow((1.3, 3), (4, 3), *draw.flow(retained), True, True)
    draw.arrow((4, 3), (5 - _SIDE, 3), *draw.flow(v.h), from_circle=True)
    _along(draw, 2.65, 3, f"{old} {_OLD_H}", retained)
    # The update gate and its two shares.
    gate = draw.style.palette.baseline
    _box(draw, 2.5, 1.9, "z", v.z)
    draw.elbow([(2.5 - _SIDE, 1.9), (1.3, 1.9), (1.3, 3)], draw.width(share), gate)
    draw.arrow((2.5 + _SIDE, 1.9), (4, 1.9), draw.width(1 - share), gate, to_circle=True)
    for x, name, value in ((1.68, stays, share), (3.33, comes, 1 - share)):
        draw.label(x, 1.9, name, size=12, quiet=True, yanchor="bottom", yshift=5)
        draw.label(x, 1.9, f"<b>{short(value)}</b>", size=12, yanchor="top", yshift=-5)
    draw.arrow((4, 1.9), (4, 3), *draw.flow(written), True, True)
    _beside(draw, 4, 2.45, f"{new} n", written)
    _candidate(draw, v, through)
    draw.operation(1.3, 3, "×", f"{stays} · {_OLD_H}", retained, part=f"{old} h(t−1)")
    draw.operation(4, 1.9, "×", f"{comes} · n", written, part=f"{new} n")
    draw.operation(4, 3, "+", "h<sub>t</sub>", retained, written)
    draw.operation(1.3, 0, "×", text("figure.reset_lets", share=v.r), part="r (W_h h + b′)")


def _candidate(draw: Diagram, v: GRUStep, through: float) -> None:
    """Draw a GRU's candidate and the reset gate on its input."""
    quiet = draw.style.palette.baseline
    draw.arrow((0, 3 - _UP), (0, _UP), *draw.flow(v.h_before))
    draw.state(0, 0, _PAST, v.past, _PAST, "W_h h + b′")
    draw.arrow((_SIDE, 0), (1.3, 0), *draw.flow(v.past), to_circle=True)
    _along(draw, 2.42, 0, f"r ({_PAST})", through)
    _box(draw, 1.3, 1, "r", v.r, neighbor=True)
    draw.arrow((1.3, 1 - _UP), (1.3, 0), draw.width(v.r), quiet, to_circle=True)
    draw.arrow((1.3, 0), (4 - _SIDE, 0), *draw.flow(through), from_circle=True)
    _box(draw, 4, 0, "n", v.n, neighbor=True)
    draw.arrow((4, _UP), (4, 1.9), *draw.flow(v.n), to_circle=True)
    draw.label(4, -0.95, "x<sub>t</sub>", size=13, quiet=True)
    draw.arrow((4, -0.8), (4, -_UP), 1.5, quiet)
    draw.label(-_SIDE, -0.95, draw.style.text("figure.gates_read"), quiet=True, xanchor="left")


def _box(
    draw: Diagram, x: float, y: float, symbol: str, value: float, neighbor: bool = False
) -> None:
    """Draw a gate or a candidate with its name below it, or beside it for `neighbor`."""
    text = draw.style.text
    box = draw.state if symbol in "gn" else draw.gate
    box(x, y, symbol, value, text(f"figure.gate_{symbol}"), symbol)
    words = text(f"figure.short_{symbol}")
    if neighbor:
        draw.label(x + _SIDE, y, words, quiet=True, xanchor="left", align="left", xshift=5)
    else:
        draw.label(x, y - _UP, words, quiet=True, yanchor="top", yshift=1)


def _along(draw: Diagram, x: float, y: float, name: str, value: float) -> None:
    """Label a horizontal arrow: the value above, its name below."""
    draw.label(x, y, f"<b>{short(value)}</b>", size=14, yanchor="bottom", yshift=6)
    draw.label(x, y, name, size=12, quiet=True, yanchor="top", yshift=-5)


def _beside(draw: Diagram, x: float, y: float, name: str, value: float) -> None:
    """Label a vertical arrow on its right."""
    right: dict[str, Any] = {"xanchor": "left", "xshift": 7}
    draw.label(x, y, f"<b>{short(value)}</b>", size=14, yanchor="bottom", yshift=-3, **right)
    draw.label(x, y, name, size=12, quiet=True, yanchor="top", yshift=3, **right)


def _table(draw: Diagram, values: LSTMStep | GRUStep) -> None:
    """Add the numbers of the diagram for the data table of the figure; nothing is drawn."""
    cell = draw.style.text("option.lstm" if isinstance(values, LSTMStep) else "option.gru")
    draw.panel.unseen(list(values.quantities), list(values.quantities.values()), cell)


def _listed(values: LSTMStep | GRUStep) -> str:
    return "; ".join(f"{name} = {number(value)}" for name, value in values.quantities.items())
