"""One step of a cell as a sum, a sheet of all steps, and notations in texts."""

from __future__ import annotations

import numpy as np

from seqviz.compute.recurrent.wirings.notations import NotationExample
from seqviz.compute.recurrent.wirings.order import OrderDistance
from seqviz.compute.recurrent.wirings.step import CellSteps, Term
from seqviz.core.i18n import number
from seqviz.plotting import STYLE, Figure, Panel, Sheet, Style, axes, escape, scales, short

_SUM, _SHEET = (0.0, 0.36), (0.46, 1.0)
_BETWEEN = 12  # gap between the columns of the sheet in pixels, for the lines
_GAP = 0.4  # gap between inputs, states and outputs of the sheet, in rows
_NUMBERS = 11  # font size in cells
_TANH = 0.7  # room for "tanh" before the state, in columns
_PAIRS = 24  # maximum number of token pairs that label an axis


def sub(symbol: str, index: object) -> str:
    """Return a symbol with a subscript."""
    return f"{symbol}<sub>{index}</sub>"


def two(value: float) -> str:
    """Return a number with two decimals, as in the cells."""
    return f"{value:.2f}".replace("-", "−")


def _term(term: Term) -> str:
    value = "b" if term.of == "b" else f"{two(term.weight)} · {sub(term.of, term.number)}"
    return value if term.of == "b" else f"{value} = {two(term.weight)} · {two(term.value)}"


def one_step(steps: CellSteps, t: int, unit: int, style: Style = STYLE) -> Figure:
    """Plot the sum of a unit at step t and its tanh (left), and a sheet of all steps (right).

    Lines lead from the cells that enter the sum to the chosen one. A click on a state gives x = t
    and y = unit.

    Args:
        steps: numbers of all steps.
        t: step, from 1.
        unit: unit, from 1.
        style: language, theme and scale of the figure.
    """
    label, sheet, terms = style.labels("figure.wiring_"), Sheet(style), steps.terms(t, unit)
    products = np.array([term.product for term in terms])
    total, state = steps.sum_of(t, unit), steps.state_of(t, unit)
    ends = np.cumsum(products)
    rows = [*map(_term, terms), f"a = {two(total)}", f"tanh(a) = {two(state)}"]
    values, base = np.array([*products, total, state]), np.array([*(ends - products), 0, 0])
    span = axes.around(ends, np.array([0.0, total, state]), margin=0.25)
    left = sheet.panel(
        axes.axis(label("sum"), range=span),
        axes.axis(label("term"), range=[len(rows) + 0.5, 0.4], showgrid=False,
                  showticklabels=False, tickvals=[]),
        across=_SUM, title=label("sum_of", unit=unit, t=t),
    )  # fmt: skip
    left.bars(
        np.arange(1, len(rows) + 1) + 0.2, values, label("adds"),
        [scales.sign_color(v, 0.9 if k >= len(terms) else 0.6) for k, v in enumerate(values)],
        sideways=True, base=base, hover="%{x:.3f}", ends=[two(v) for v in values], legend=False,
        width=0.42,
    )  # fmt: skip
    for k, words in enumerate(rows, 1):  # above its bar, because a phone has no room beside it
        left.words(words, 0, k - 0.24, xref="domain", xanchor="left", size=12)
    _sheet(steps, t, unit, sheet)
    sheet.margin(t=30)
    return sheet.described("alt.wiring_step", unit=unit, t=t, sum=total, state=state,
                           steps=len(steps.x))  # fmt: skip


def _sheet(steps: CellSteps, t: int, unit: int, sheet: Sheet) -> None:
    """Draw outputs, states and inputs from top to bottom by step; column 0 is the initial state."""
    style, (count, units) = sheet.style, steps.a.shape
    text, outs, ins = style.text, steps.y.shape[1], steps.x.shape[1]
    at = {
        "y": np.arange(1, outs + 1) - outs - _GAP, "h": np.arange(1, units + 1),
        "x": np.arange(1, ins + 1) + units + _GAP,
    }  # fmt: skip
    named = [(float(y), sub(of, k)) for of, where in at.items() for k, y in enumerate(where, 1)]
    panel = sheet.panel(
        axes.axis(text("figure.wiring_t"), range=[-0.5, count + 0.5], dtick=1, showgrid=False),
        axes.axis(text("figure.wiring_rows"), range=[at["x"][-1] + 0.6, at["y"][0] - 0.6],
                  tickvals=[y for y, _ in named], ticktext=[name for _, name in named],
                  showgrid=False),
        across=_SHEET, title=text("figure.wiring_sheet"),
    )  # fmt: skip
    for of, values in (("y", steps.y), ("h", steps.h), ("x", steps.x)):
        first = 0 if of == "h" else 1
        panel.cells(
            values.T, text(f"figure.wiring_{of}"), scales.signed(1.0),
            x=np.arange(first, count + 1), y=at[of], bar=None, xgap=_BETWEEN, ygap=2,
            texttemplate="%{z:.2~f}", pick=of == "h",
            textfont={"size": _NUMBERS * style.scale, "color": style.palette.truth},
            hover="%{z:.4f}",
        )  # fmt: skip
    built = [*((t - 1, float(y)) for y in at["h"]), *((t, float(y)) for y in at["x"])]
    for x, y in built:
        panel.outline(style.palette.baseline, column=x, row=y, width=2, dash="dot")
        # The line runs between the columns, from the rim of that cell to the chosen one's.
        panel.trace(
            "scatter", x=[x + (0.36 if x < t else -0.36), t - 0.5, t - 0.5, t - 0.36],
            y=[y, y, unit, unit], mode="lines+markers", hover=False, legend=False,
            line={"color": style.palette.truth, "width": 2},
            marker={"symbol": "arrow", "angleref": "previous", "color": style.palette.truth,
                    "size": [0, 0, 0, 10], "opacity": 1, "line": {"width": 0}},
        )  # fmt: skip
    panel.outline(style.palette.highlight, column=t, row=unit, width=3)


def notation_blocks(written: NotationExample, style: Style = STYLE) -> Figure:
    """Plot the sum of one step in a text's notation, with each matrix or vector as numbers.

    Blocks that multiply the state are outlined in one color, those of the input in another,
    independent of the letters.
    """
    label, sheet, blocks = style.labels("figure.wiring_"), Sheet(style), _blocks(written)
    units = len(written.bias)
    deepest = max(len(block) for _, block, _ in blocks)
    wide = sum(block.shape[1] for _, block, _ in blocks) + 0.9 * (len(blocks) - 1) + _TANH
    hidden = {"showticklabels": False, "showgrid": False}
    panel = sheet.panel(axes.axis(label("column"), range=[0.3, wide + 0.7], **hidden),
                        axes.axis(label("row"), range=[deepest + 0.8, -0.2], **hidden))  # fmt: skip
    font = {"size": _NUMBERS * style.scale, "color": style.palette.truth}
    at = 1.0
    for k, (name, block, side) in enumerate(blocks):
        width = block.shape[1]
        if side == "=":
            panel.words("tanh<br><b>→</b>", at - 0.95 + _TANH / 2, (units + 1) / 2, size=13)
            at += _TANH
        elif k:
            sign = "·" if side.endswith("|") else "+"
            panel.words(f"<b>{sign}</b>", at - 0.95, (units + 1) / 2, size=16)
        panel.cells(block, f"{k + 1}: {name}", scales.signed(1.0), x=at + np.arange(width),
                    bar=None, xgap=2, ygap=2, texttemplate="%{z:.2~f}", hover="%{z:.4f}",
                    textfont=font)  # fmt: skip
        panel.words(name, at + (width - 1) / 2, 0.15, size=15)
        _roles(panel, side, block, at, units)
        at += width + 0.9
    return sheet.described("alt.wiring_notation", formula=written.notation.formula,
                           difference=written.difference, result=written.result)  # fmt: skip


def _blocks(written: NotationExample) -> list[tuple[str, np.ndarray, str]]:
    """Return name, numbers and sides of each block; "|" marks a vector."""
    notation = written.notation
    blocks: list[tuple[str, np.ndarray, str]] = []
    for side, letter, matrix, vector in zip(
        notation.sides, notation.letters, written.matrices, written.vectors, strict=True
    ):
        blocks.append((_letter(letter), matrix, side))
        blocks.append((_vector(side, notation.state), vector[:, None], side + "|"))
    if notation.bias:
        blocks.append(("b", written.bias[:, None], "b"))
    return [*blocks, (sub(notation.state, "t"), written.result[:, None], "=")]


def _letter(letter: str) -> str:
    head, _, tail = letter.partition("_")
    return sub(head, tail) if tail else head


def _vector(side: str, state: str) -> str:
    names = {"h": sub(state, "t−1"), "x": sub("x", "t")}
    return "[" + ", ".join(names[item] for item in side) + "]" if len(side) > 1 else names[side]


def _roles(panel: Panel, side: str, block: np.ndarray, at: float, units: int) -> None:
    """Outline the parts of a block that belong to the state and to the input."""
    palette = panel.style.palette
    colors = {"h": palette.rnn, "x": palette.lstm}
    upright = side.endswith("|")
    long = block.shape[0 if upright else 1]
    first = 0
    for item in side.rstrip("|"):
        if item not in colors:
            panel.rectangle((at - 0.5, at + 0.5), (0.5, len(block) + 0.5), palette.baseline,
                            width=1)  # fmt: skip
            return
        size = long if len(side.rstrip("|")) == 1 else units if item == "h" else long - units
        ends = (first + 0.5, first + size + 0.5)
        rows = ends if upright else (0.5, block.shape[0] + 0.5)
        columns = (at - 0.5, at + 0.5) if upright else (at + first - 0.5, at + first + size - 0.5)
        (left, right), (top, bottom) = columns, rows
        panel.line(
            [left, right, right, left, left], [top, top, bottom, bottom, top],
            panel.style.text(f"figure.wiring_times_{item}"), colors[item], width=3, hover=False,
            group=item, legend=not upright,
        )  # fmt: skip
        first += size


def orders_apart(order_distance: OrderDistance, style: Style = STYLE) -> Figure:
    """Plot the distance of two orders after each token: of the states, and of input sums."""
    label, palette, sheet = style.labels("figure.wiring_"), style.palette, Sheet(style)
    result, count = order_distance, len(order_distance.states)
    pairs = [
        "<br>".join(escape(short(item[k], 6)) if k < len(item) else "–"
                    for item in (result.first, result.second))
        for k in range(count)
    ]  # fmt: skip
    top = float(max(result.states.max(), result.sums.max())) or 1.0
    few = {"tickvals": list(range(1, count + 1)), "ticktext": pairs} if count <= _PAIRS else {}
    span = (-0.06 * top, 1.1 * top)
    panel = sheet.panel(
        axes.axis(label("tokens"), range=[0.5, count + 0.5 + 0.14 * count], showgrid=False, **few),
        axes.axis(label("apart"), range=list(span)),
    )
    for name, color, dash, symbol in (("states", palette.rnn, "solid", "circle"),
                                      ("sums", palette.baseline, "dash", "square")):  # fmt: skip
        panel.line(np.arange(1, count + 1), getattr(result, name), label(name), color, dash=dash,
                   symbol=symbol, hover="%{y:.3f}")  # fmt: skip
    ends = [result.apart, result.sum_apart]
    panel.ends([number(end) for end in ends], [palette.rnn, palette.baseline], ends, count, span)
    return sheet.described("alt.wiring_orders", result=result, tokens=count)
