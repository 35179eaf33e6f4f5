"""Diagrams of an LSTM and a GRU cell with the numbers of one unit at one step."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from seqviz.compute.gates.observation import GRUStep, LSTMStep
from seqviz.core.i18n import number
from seqviz.figures.gates.boxes import HEIGHT, WIDTH, Diagram, short
from seqviz.plotting import STYLE, Figure, Style

_UP, _SIDE = HEIGHT / 2, WIDTH / 2  # half the size of a box
_OLD_C, _OLD_H, _PAST = "c<sub>t−1</sub>", "h<sub>t−1</sub>", "W<sub>h</sub> h + b′"
_PAST_NAME = "W_h h + b′"  # in the data table


def lstm_cell(values: LSTMStep, style: Style = STYLE) -> Figure:
    """Plot the flow of the cell state: forget gate, written part, output.

    The width of an arrow shows its value; a gate is filled to its value.
    """
    v, text, quiet = values, style.text, style.palette.baseline
    retained, written = v.f * v.c_before, v.i * v.g
    draw = Diagram(style, max(1.0, *(abs(x) for x in (v.c_before, v.c, retained, written))))
    f, i, o = ((draw.width(draw.scale * gate), quiet) for gate in (v.f, v.i, v.o))
    # The inputs of the gates, below all of them.
    draw.label(0, -0.95, "x<sub>t</sub>, h<sub>t−1</sub>", size=13, quiet=True)
    draw.line([(0.42, -0.95), (4, -0.95)], 1.5, quiet)
    for x, symbol in ((1, "f"), (2, "i"), (3, "g"), (4, "o")):
        _box(draw, x, 0, symbol, getattr(v, symbol))
        draw.arrow((x, -0.95), (x, -0.76), 1.5, quiet)
    # The cell state.
    draw.state(0, 3, _OLD_C, v.c_before, text("figure.old_c"))
    draw.state(5, 3, "c<sub>t</sub>", v.c, text("figure.gate_c"))
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
    draw.state(4, 2, "tanh c<sub>t</sub>", v.tanh_c, "tanh c<sub>t</sub>")
    draw.arrow((4, 3), (4, 2 + _UP), *draw.flow(v.c))
    draw.arrow((4, 2 - _UP), (4, 1), *draw.flow(v.tanh_c), to_circle=True)
    draw.arrow((4, _UP), (4, 1), *o, to_circle=True)
    draw.arrow((4, 1), (5 - _SIDE, 1), *draw.flow(v.h), from_circle=True)
    draw.state(5, 1, "h<sub>t</sub>", v.h, text("figure.gate_h"))
    draw.operation(1, 3, "×", f"f {_OLD_C}", retained)
    draw.operation(2.5, 2, "×", "i g", written)
    draw.operation(2.5, 3, "+", "c<sub>t</sub>", retained, written)
    draw.operation(4, 1, "×", "h<sub>t</sub> = o tanh c<sub>t</sub>", v.h)
    quantities = {
        "c(t−1)": v.c_before, "f": v.f, "i": v.i, "g": v.g, "f c(t−1)": retained, "i g": written,
        "c(t)": v.c, "tanh c(t)": v.tanh_c, "o": v.o, "h(t)": v.h,
    }  # fmt: skip
    return _finished(draw, text("option.lstm"), quantities)


def gru_cell(values: GRUStep, style: Style = STYLE) -> Figure:
    """Plot the flow of the hidden state: its retained share, and the candidate for the rest.

    The width of an arrow shows its value; a gate is filled to its value. The reset gate multiplies
    the old state's whole contribution to the candidate, W_h h + b' (PyTorch's variant), which
    therefore has a box.
    """
    v, text = values, style.text
    share, through = v.retention, v.r * v.past
    retained, written = share * v.h_before, (1 - share) * v.n
    stays, comes = ("z", "1 − z") if v.update == "keep" else ("1 − z", "z")
    old, new = (name if len(name) == 1 else f"({name})" for name in (stays, comes))
    draw = Diagram(style)
    # The hidden state.
    draw.state(0, 3, _OLD_H, v.h_before, text("figure.old_h"))
    draw.state(5, 3, "h<sub>t</sub>", v.h, text("figure.gate_h"))
    draw.arrow((_SIDE, 3), (1.3, 3), *draw.flow(v.h_before), to_circle=True)
    draw.arrow((1.3, 3), (4, 3), *draw.flow(retained), True, True)
    draw.arrow((4, 3), (5 - _SIDE, 3), *draw.flow(v.h), from_circle=True)
    _along(draw, 2.65, 3, f"{old} {_OLD_H}", retained)
    # The update gate and its two shares.
    gate = style.palette.baseline
    _box(draw, 2.5, 1.9, "z", v.z)
    draw.elbow([(2.5 - _SIDE, 1.9), (1.3, 1.9), (1.3, 3)], draw.width(share), gate)
    draw.arrow((2.5 + _SIDE, 1.9), (4, 1.9), draw.width(1 - share), gate, to_circle=True)
    for x, name, value in ((1.68, stays, share), (3.33, comes, 1 - share)):
        draw.label(x, 1.9, name, size=12, quiet=True, yanchor="bottom", yshift=5)
        draw.label(x, 1.9, f"<b>{short(value)}</b>", size=12, yanchor="top", yshift=-5)
    draw.arrow((4, 1.9), (4, 3), *draw.flow(written), True, True)
    _beside(draw, 4, 2.45, f"{new} n", written)
    _candidate(draw, v, through)
    draw.operation(1.3, 3, "×", f"{stays} · {_OLD_H}", retained)
    draw.operation(4, 1.9, "×", f"{comes} · n", written)
    draw.operation(4, 3, "+", "h<sub>t</sub>", retained, written)
    draw.operation(1.3, 0, "×", text("figure.reset_lets", share=v.r))
    quantities = {
        "h(t−1)": v.h_before, _PAST_NAME: v.past, f"r ({_PAST_NAME})": through, "r": v.r,
        "n": v.n, "z": v.z, f"{old} h(t−1)": retained, f"{new} n": written, "h(t)": v.h,
    }  # fmt: skip
    return _finished(draw, text("option.gru"), quantities)


def _candidate(draw: Diagram, v: GRUStep, through: float) -> None:
    """Draw a GRU's candidate and the reset gate on its input."""
    quiet = draw.style.palette.baseline
    draw.arrow((0, 3 - _UP), (0, _UP), *draw.flow(v.h_before))
    draw.state(0, 0, _PAST, v.past, _PAST)
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
    box(x, y, symbol, value, text(f"figure.gate_{symbol}"))
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


def _finished(draw: Diagram, cell: str, quantities: Mapping[str, float]) -> Figure:
    # Invisible: the numbers of the diagram for the data table of the figure.
    draw.panel.unseen(list(quantities), list(quantities.values()), cell)
    values = "; ".join(f"{name} = {number(value)}" for name, value in quantities.items())
    return draw.sheet.finish(draw.style.text("alt.cell", cell=cell, values=values))
