"""An LSTM and a GRU cell with the numbers of one unit at one step in them."""

from __future__ import annotations

from typing import Any

from seqviz.compute.gates.observation import GRUStep, LSTMStep
from seqviz.figures.gates.boxes import HEIGHT, WIDTH, Diagram, short, sign_color
from seqviz.figures.grammar.figure import Figure
from seqviz.figures.grammar.style import Style, axis_layout, finish, layout
from seqviz.text import number

_STYLE = Style()
_UP, _SIDE = HEIGHT / 2, WIDTH / 2  # from the middle of a box to its edges
_OLD_C, _OLD_H = "c<sub>t−1</sub>", "h<sub>t−1</sub>"


def lstm_cell(
    values: LSTMStep, forced: frozenset[str] = frozenset(), style: Style = _STYLE
) -> Figure:
    """The cell state's conveyor with its forget gate, what is written to it, and what is shown.

    Arrows are as wide as what flows; gates are filled to their value. forced: symbols of gates (or
    g) that are held at a value.
    """
    text, v = style.text, values
    kept, written = v.f * v.c_before, v.i * v.g
    scale = max(1.0, *(abs(x) for x in (v.c_before, v.c, kept, written)))
    draw = Diagram(style, scale)
    quiet = gate = style.palette.baseline

    # The line of what the gates read, below all of them.
    draw.label(0, -0.95, "x<sub>t</sub>, h<sub>t−1</sub>", size=13, quiet=True)
    draw.line([(0.42, -0.95), (4, -0.95)], 1.5, quiet)
    for x, symbol in ((1, "f"), (2, "i"), (3, "g"), (4, "o")):
        value, held = getattr(v, symbol), symbol in forced
        said = f"{text(f'figure.gate_{symbol}')}: {number(value)}"
        if symbol == "g" and not held:
            draw.state(x, 0, symbol, value, said)
        else:
            draw.gate(x, 0, symbol, value, said, held)
        _named(draw, x, symbol, held)
        draw.arrow((x, -0.95), (x, -0.76), 1.5, quiet)

    # The conveyor.
    draw.state(0, 3, _OLD_C, v.c_before, f"{text('figure.old_c')}: {number(v.c_before)}")
    draw.state(5, 3, "c<sub>t</sub>", v.c, f"{text('figure.gate_c')}: {number(v.c)}")
    draw.arrow((_SIDE, 3), (1, 3), draw.width(v.c_before), sign_color(v.c_before), to_circle=True)
    draw.arrow((1, 3), (2.5, 3), draw.width(kept), sign_color(kept), True, True)
    draw.arrow((2.5, 3), (5 - _SIDE, 3), draw.width(v.c), sign_color(v.c), from_circle=True)
    draw.arrow((1, _UP), (1, 3), draw.width(scale * v.f), gate, to_circle=True)
    _flow(draw, 1.76, 3, f"f {_OLD_C}", kept)

    # What is written: candidate times input gate.
    draw.elbow([(2, _UP), (2, 2), (2.5, 2)], draw.width(scale * v.i), gate)
    draw.elbow([(3, _UP), (3, 2), (2.5, 2)], draw.width(v.g), sign_color(v.g))
    draw.arrow((2.5, 2), (2.5, 3), draw.width(written), sign_color(written), True, True)
    _beside(draw, 2.5, 2.5, "i g", written)

    # What is shown: the squashed state times the output gate.
    draw.state(4, 2, "tanh c<sub>t</sub>", v.tanh_c, f"tanh c<sub>t</sub>: {number(v.tanh_c)}")
    draw.arrow((4, 3), (4, 2 + _UP), draw.width(v.c), sign_color(v.c))
    draw.arrow((4, 2 - _UP), (4, 1), draw.width(v.tanh_c), sign_color(v.tanh_c), to_circle=True)
    draw.arrow((4, _UP), (4, 1), draw.width(scale * v.o), gate, to_circle=True)
    draw.arrow((4, 1), (5 - _SIDE, 1), draw.width(v.h), sign_color(v.h), from_circle=True)
    draw.state(5, 1, "h<sub>t</sub>", v.h, f"{text('figure.gate_h')}: {number(v.h)}")

    draw.operation(1, 3, "×", f"f {_OLD_C} = {number(kept)}")
    draw.operation(2.5, 2, "×", f"i g = {number(written)}")
    draw.operation(2.5, 3, "+", f"c<sub>t</sub> = {number(kept)} + {number(written)}")
    draw.operation(4, 1, "×", f"h<sub>t</sub> = o tanh c<sub>t</sub> = {number(v.h)}")
    quantities = {
        "c(t−1)": v.c_before, "f": v.f, "i": v.i, "g": v.g, "f c(t−1)": kept, "i g": written,
        "c(t)": v.c, "tanh c(t)": v.tanh_c, "o": v.o, "h(t)": v.h,
    }  # fmt: skip
    return _figure(draw, text("option.lstm"), quantities, forced, style)


def gru_cell(
    values: GRUStep, forced: frozenset[str] = frozenset(), style: Style = _STYLE
) -> Figure:
    """The state on its way, the share of it that stays, and the candidate that takes the rest.

    Arrows are as wide as what flows; gates are filled to their value. forced: symbols of gates (or
    n) that are held at a value. The reset gate multiplies what the whole old state adds to the
    candidate, U h + b' (PyTorch's form), which is why that has a box of its own.
    """
    text, v = style.text, values
    share = v.z if v.update == "keep" else 1 - v.z
    names = ("z", "1 − z") if v.update == "keep" else ("1 − z", "z")
    kept, written = share * v.h_before, (1 - share) * v.n
    draw = Diagram(style)
    quiet = gate = style.palette.baseline

    def said(symbol: str, value: float) -> str:
        return f"{text(f'figure.gate_{symbol}')}: {number(value)}"

    # The state on its way.
    draw.state(0, 3, _OLD_H, v.h_before, f"{text('figure.old_h')}: {number(v.h_before)}")
    draw.state(5, 3, "h<sub>t</sub>", v.h, said("h", v.h))
    old = (draw.width(v.h_before), sign_color(v.h_before))
    draw.arrow((_SIDE, 3), (1.3, 3), *old, to_circle=True)
    draw.arrow((1.3, 3), (4, 3), draw.width(kept), sign_color(kept), True, True)
    draw.arrow((4, 3), (5 - _SIDE, 3), draw.width(v.h), sign_color(v.h), from_circle=True)
    _flow(draw, 2.65, 3, f"{_shared(names[0])} {_OLD_H}", kept)

    # One gate, two shares.
    draw.gate(2.5, 1.9, "z", v.z, said("z", v.z), "z" in forced)
    _named(draw, 2.5, "z", "z" in forced, 1.9)
    draw.elbow([(2.5 - _SIDE, 1.9), (1.3, 1.9), (1.3, 3)], draw.width(share), gate)
    draw.arrow((2.5 + _SIDE, 1.9), (4, 1.9), draw.width(1 - share), gate, to_circle=True)
    for x, name, value in ((1.68, names[0], share), (3.33, names[1], 1 - share)):
        draw.label(x, 1.9, name, size=12, quiet=True, yanchor="bottom", yshift=5)
        draw.label(x, 1.9, f"<b>{short(value)}</b>", size=12, yanchor="top", yshift=-5)
    draw.arrow((4, 1.9), (4, 3), draw.width(written), sign_color(written), True, True)
    _beside(draw, 4, 2.45, f"{_shared(names[1])} n", written)

    # The candidate, and how much of the past it sees.
    through = v.r * v.past
    all_units = "U h + b′"
    draw.arrow((0, 3 - _UP), (0, _UP), *old)
    draw.state(0, 0, all_units, v.past, f"{all_units}: {number(v.past)}")
    past = (draw.width(v.past), sign_color(v.past))
    draw.arrow((_SIDE, 0), (1.3, 0), *past, to_circle=True)
    _flow(draw, 2.42, 0, f"r ({all_units})", through)
    draw.gate(1.3, 1, "r", v.r, said("r", v.r), "r" in forced)
    _named(draw, 1.3, "r", "r" in forced, 1, beside=True)
    draw.arrow((1.3, 1 - _UP), (1.3, 0), draw.width(v.r), gate, to_circle=True)
    draw.arrow((1.3, 0), (4 - _SIDE, 0), draw.width(through), sign_color(through), from_circle=True)
    if "n" in forced:
        draw.gate(4, 0, "n", v.n, said("n", v.n), True)
    else:
        draw.state(4, 0, "n", v.n, said("n", v.n))
    _named(draw, 4, "n", "n" in forced, 0, beside=True)
    draw.arrow((4, _UP), (4, 1.9), draw.width(v.n), sign_color(v.n), to_circle=True)
    draw.label(4, -0.95, "x<sub>t</sub>", size=13, quiet=True)
    draw.arrow((4, -0.8), (4, -_UP), 1.5, quiet)
    draw.label(-_SIDE, -0.95, text("figure.gates_read"), quiet=True, xanchor="left")

    draw.operation(1.3, 3, "×", f"{names[0]} · {_OLD_H} = {number(kept)}")
    draw.operation(4, 1.9, "×", f"{names[1]} · n = {number(written)}")
    draw.operation(4, 3, "+", f"h<sub>t</sub> = {number(kept)} + {number(written)}")
    draw.operation(1.3, 0, "×", text("figure.reset_lets", percent=f"{100 * v.r:.1f}"))
    quantities = {
        "h(t−1)": v.h_before, "U h + b′": v.past, "r (U h + b′)": through,
        "r": v.r, "n": v.n, "z": v.z,
        f"{_shared(names[0])} h(t−1)": kept, f"{_shared(names[1])} n": written, "h(t)": v.h,
    }  # fmt: skip
    return _figure(draw, text("option.gru"), quantities, forced, style)


def _shared(name: str) -> str:
    return name if len(name) == 1 else f"({name})"


def _named(
    draw: Diagram, x: float, symbol: str, held: bool, y: float = 0.0, beside: bool = False
) -> None:
    """What the box is called, below it or to its right; and that it is forced."""
    words = draw.style.text(f"figure.short_{symbol}")
    if held:
        words += f"<br><b>{draw.style.text('figure.forced')}</b>"
    if beside:
        draw.label(x + _SIDE, y, words, quiet=not held, xanchor="left", align="left", xshift=5)
    else:
        draw.label(x, y - _UP, words, quiet=not held, yanchor="top", yshift=1)


def _flow(draw: Diagram, x: float, y: float, name: str, value: float) -> None:
    """What flows through a horizontal arrow: the number above, what it is below."""
    draw.label(x, y, f"<b>{short(value)}</b>", size=14, yanchor="bottom", yshift=6)
    draw.label(x, y, name, size=12, quiet=True, yanchor="top", yshift=-5)


def _beside(draw: Diagram, x: float, y: float, name: str, value: float) -> None:
    """The same for a vertical arrow, to its right."""
    for words, size, quiet, anchor in (
        (f"<b>{short(value)}</b>", 14, False, "bottom"),
        (name, 12, True, "top"),
    ):
        draw.label(
            x, y, words, size=size, quiet=quiet, xanchor="left", xshift=7, yanchor=anchor,
            yshift=-3 if anchor == "bottom" else 3,
        )  # fmt: skip


def _figure(
    draw: Diagram, cell: str, quantities: dict[str, float], forced: frozenset[str], style: Style
) -> Figure:
    text = style.text
    spec = layout(style)
    ends: dict[str, Any] = {"visible": False, "fixedrange": True, "automargin": False}
    spec |= {
        "xaxis": axis_layout(
            style,
            type="linear",
            range=[-0.47, 5.47],
            title={"text": text("figure.quantity")},
            **ends,
        ),
        "yaxis": axis_layout(
            style, range=[-1.1, 3.45], title={"text": text("figure.value_now")}, **ends
        ),
        "shapes": draw.shapes,
        "annotations": [*draw.arrows, *draw.labels],
        "margin": {"l": 4, "r": 4, "t": 4, "b": 4},
    }  # fmt: skip
    # Nothing to see: the numbers of the drawing, for the table behind the figure.
    numbers = {
        "type": "scatter",
        "x": list(quantities),
        "y": list(quantities.values()),
        "mode": "none",
        "name": cell,
        "hoverinfo": "skip",
        "showlegend": False,
    }
    held = ", ".join(sorted(forced))
    return finish(
        {"data": [numbers], "layout": spec},
        text(
            "alt.cell",
            cell=cell,
            values="; ".join(f"{name} = {number(value)}" for name, value in quantities.items()),
        )
        + (text("alt.cell_forced", gates=held) if held else ""),
    )
