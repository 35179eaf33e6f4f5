"""Wirings as graphs, with the influence of every input on every output below."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from seqviz.compute.recurrent.wirings.graph import WIRINGS, Influence, Node, WiringGraph
from seqviz.plotting import STYLE, Figure, Panel, Sheet, Style, axes, scales

_LOW = -4  # lower limit of the colors, in decades
_ROOM = 0.55  # margin around the boxes, in columns and rows
# Left ends of the upper panels; the lower ones differ, because a decoder is wide.
_BEGIN = (0.0, 0.24, 0.48, 0.72)
_BELOW = (0.0, 0.38, 0.62)
_WIDE, _WIDER = 0.2, 0.32
_UP = ((0.62, 0.79, 0.98), (0.0, 0.17, 0.43))  # ends of cells and graphs, above and below
_BARE: dict[str, Any] = {"showticklabels": False, "showgrid": False}  # axis without labels
_WIDTHS = 10  # of bands
_CODES = {"x": "square", "h": "circle", "d": "diamond", "y": "square"}


@dataclass(frozen=True)
class _Drawing:
    """Positions of the boxes of a wiring; a decoder's columns follow the encoder's."""

    wiring: WiringGraph

    @property
    def left_columns(self) -> int:
        """Number of columns left of column 1; with a decoder, outputs start at column 1."""
        return self.wiring.steps if self.wiring.read == "after" else 0

    @property
    def top(self) -> float:
        """Row of the outputs."""
        return float(self.wiring.layers * len(self.wiring.directions) + 1)

    @property
    def columns(self) -> tuple[float, float]:
        """First and last column."""
        last = self.wiring.written if self.left_columns else self.wiring.steps
        return 1.0 - self.left_columns, float(last)

    def position(self, node: Node) -> tuple[float, float]:
        """Return column and row of a node."""
        kind, *rest = node
        if kind == "y":
            return float(rest[0]) + self.wiring.first_output - 1, self.top
        if kind == "x":
            return float(rest[0]) - self.left_columns, 0.0
        layer = int(rest[0])
        if kind == "d":
            return float(rest[1]), float(layer * len(self.wiring.directions))
        directions = len(self.wiring.directions)
        row = (layer - 1) * directions + (1 if rest[1] == 1 else 2)
        return float(rest[2]) - self.left_columns, float(row)


def _arrows(
    panel: Panel, drawing: _Drawing, edges: Iterable[tuple[Node, Node]], color: str, width: float,
    head: float, away: float,
) -> None:  # fmt: skip
    """Draw arrows in one trace; `away` is the distance from a box's center to its rim in pixels."""
    x: list[float | None] = []
    y: list[float | None] = []
    for edge, other in edges:
        (x0, y0), (x1, y1) = drawing.position(edge), drawing.position(other)
        x += [x0, x1, None]
        y += [y0, y1, None]
    if x:
        panel.trace(
            "scatter", x=x, y=y, mode="lines+markers", line={"color": color, "width": width},
            # Plotly makes markers of several sizes pale with an edge by default.
            marker={"symbol": "arrow", "angleref": "previous", "color": color, "standoff": away,
                    "size": [0, head, 0] * (len(x) // 3), "opacity": 1, "line": {"width": 0}},
            hover=False, legend=False,
        )  # fmt: skip


def _bands(
    panel: Panel, drawing: _Drawing, edges: Sequence[tuple[Node, Node]], flow: np.ndarray,
    widest: float,
) -> None:  # fmt: skip
    """Draw a band behind each edge: its width is the share of the largest flow, in tenths."""
    shares = np.ceil(_WIDTHS * flow / (flow.max() or 1.0)).astype(int)
    for level in range(1, _WIDTHS + 1):
        x: list[float | None] = []
        y: list[float | None] = []
        for edge, share in zip(edges, shares, strict=True):
            if share == level:
                (x0, y0), (x1, y1) = map(drawing.position, edge)
                x += [x0, x1, None]
                y += [y0, y1, None]
        if x:
            panel.trace("scatter", x=x, y=y, mode="lines", hover=False, legend=False,
                        line={"color": panel.style.palette.highlight,
                              "width": widest * level / _WIDTHS})  # fmt: skip


def _graph(
    panel: Panel, wiring: WiringGraph, style: Style, size: float,
    lit: frozenset[Node] | None = None,
    names: bool = False, keyed: str = "", flow: np.ndarray | None = None,
) -> None:  # fmt: skip
    """Draw boxes and arrows, those of `lit` highlighted, under bands as wide as `flow`.

    `names` writes the names of inputs and outputs; `keyed` has the kinds of boxes in the legend.
    """
    palette, text, drawing = style.palette, style.text, _Drawing(wiring)
    edges = list(wiring.edges())
    inside = [edge for edge in edges if lit is not None and set(edge) <= lit]
    rest = [edge for edge in edges if edge not in set(inside)]
    head = 9.0 if names else 7.0
    quiet = palette.baseline if lit is None else palette.grid
    _arrows(panel, drawing, rest, quiet, 1.3, head, size / 2)
    if flow is not None:
        _bands(panel, drawing, edges, flow, size)
    _arrows(panel, drawing, inside, palette.truth, 2.2, head, size / 2)
    colors = {"x": palette.baseline, "h": palette.rnn, "d": palette.mlp, "y": palette.prediction}
    for kind, color in colors.items():
        here = [node for node in wiring.nodes() if node[0] == kind]
        if not here:
            continue
        named = text(f"figure.wiring_box_{kind}")
        bright = [node for node in here if lit is None or node in lit]
        # Two traces, because a legend entry has the mean opacity of its trace.
        for some, opacity in ((bright, None), ([n for n in here if n not in bright], 0.25)):
            if some:
                x, y = np.array([drawing.position(node) for node in some]).T
                panel.points(
                    x, y, named, color, size=size * style.scale, symbol=_CODES[kind],
                    opacity=opacity, text=[named] * len(some), hover="%{text}",
                    legend=kind in keyed and (some is bright or not bright), group=named,
                    pick=kind == "y" and wiring.outputs > 1,
                )  # fmt: skip
        if names:
            for node in here:
                if kind in "xy":
                    below = kind == "x"
                    index = int(node[1]) + (0 if below else wiring.first_output - 1)
                    panel.words(f"{kind}<sub>{index}</sub>", *drawing.position(node), size=13,
                                yshift=(-1 if below else 1) * (size / 2 + 10))  # fmt: skip


def _cells(
    panel: Panel, norm: np.ndarray, first: float, style: Style, *, of: str = "",
    bar: Mapping[str, float] | None = None, written: bool = False, low: int = _LOW,
) -> None:  # fmt: skip
    """Draw log10 of the influence of a wiring `of`; exact zeros are blank."""
    with np.errstate(divide="ignore"):
        z = np.where(norm > 0, np.log10(norm), np.nan)
    keys: dict[str, Any] = {}
    if written:
        keys = {"text": [[_short(v) for v in row] for row in norm], "texttemplate": "%{text}",
                "textfont": {"size": 12 * style.scale}}  # fmt: skip
    name = style.text("figure.wiring_influence")
    panel.cells(
        z, f"{name}, {of}" if of else name, scales.unit_scale(low, 0, scales.decades(low, 0)),
        x=first + np.arange(norm.shape[1]), bar=None if bar is None else name, xgap=1, ygap=1,
        hoverongaps=False, hover="10^%{z:.2f}", **keys,
    )  # fmt: skip
    if bar is not None:
        panel.sheet.traces[-1]["colorbar"] |= bar
    rows, columns = norm.shape
    panel.rectangle((first - 0.5, first + columns - 0.5), (0.5, rows + 0.5), style.palette.baseline,
                    width=1, layer="below")  # fmt: skip


def _short(value: float) -> str:
    if value == 0:
        return ""
    return f"{value:.1g}" if value >= 1e-3 else f"{value:.0e}".replace("e-0", "e−")


def wirings_beside(
    influences: Sequence[Influence], suited: Collection[str] = (), style: Style = STYLE
) -> Figure:
    """Plot the seven wirings used in texts, each with its influence matrix below.

    Rows are outputs from the top, columns are inputs below their boxes. Blank cells are exactly 0.

    Args:
        influences: influence in each of `WIRINGS`.
        suited: wirings whose matrix is framed.
        style: language, theme and scale of the figure.
    """
    label, sheet = style.labels("figure.wiring_"), Sheet(style)
    shared: dict[int, tuple[Panel, Panel]] = {}
    for k, (name, item) in enumerate(zip(WIRINGS, influences, strict=True)):
        row, position = divmod(k, 4)
        left = (_BELOW if row else _BEGIN)[position]
        across = (left, left + (_WIDER if name == "encoder" else _WIDE))
        low, middle, high = _UP[row]
        first, last = _Drawing(item.wiring).columns
        x = axes.axis(label("inputs"), range=[first - _ROOM, max(last, first + 3) + _ROOM], **_BARE)
        if row not in shared:
            y = axes.axis(label("outputs"), range=[4 + _ROOM, 1 - _ROOM], **_BARE)
            cells = sheet.panel(x, y, across=across, up=(low, middle))
            y = axes.axis("", range=[-_ROOM, 2 + row + _ROOM], **_BARE)
            graph = sheet.panel(cells, y, across=across, up=(middle + 0.01, high))
            shared[row] = cells, graph
        else:
            cells = sheet.panel(x, shared[row][0], across=across)
            graph = Panel(sheet, cells.x, shared[row][1].y, right=across[1])
        graph.title(label(name))
        _graph(graph, item.wiring, style, 9, keyed="xhdy" if name == "encoder" else "")
        bar = {"x": 0.85, "y": 0.22, "len": 0.44} if name == "both" else None
        _cells(cells, item.norm, first, style, of=label(name), bar=bar, low=-3)
        if name in suited:
            rows, columns = item.norm.shape
            cells.rectangle((first - 0.5, first + columns - 0.5), (0.5, rows + 0.5),
                            style.palette.highlight, width=3)  # fmt: skip
    sheet.margin(t=64, b=24)
    sheet.legend(y=1.08)
    counts = [entry.nonzero for entry in influences]
    listed = "; ".join(f"{label(name)}: {some} / {of}"
                       for name, (some, of) in zip(WIRINGS, counts, strict=True))  # fmt: skip
    return sheet.described(
        "alt.wirings_beside", listed=listed, some=sum(some for some, _ in counts)
    )


def wiring_lit(influence: Influence, output: int, style: Style = STYLE) -> Figure:
    """Plot one wiring with an output's ancestors highlighted (top), and the influence (bottom).

    The ancestors are the boxes that the output can depend on. The band behind an arrow is as wide
    as the gradient that flows back over it. A click on an output gives x, its number.

    Args:
        influence: wiring and influence.
        output: output, from 1.
        style: language, theme and scale of the figure.
    """
    label, sheet, wiring = style.labels("figure.wiring_"), Sheet(style), influence.wiring
    drawing = _Drawing(wiring)
    first, last = drawing.columns
    inputs, outputs = (range(1, count + 1) for count in (wiring.inputs, wiring.outputs))
    cells = sheet.panel(
        axes.axis(label("inputs"), range=[first - 0.6, last + 0.6], showgrid=False,
                  tickvals=[first + s - 1 for s in inputs],
                  ticktext=[f"x<sub>{s}</sub>" for s in inputs]),
        axes.axis(label("outputs"), range=[len(outputs) + 0.5, 0.5], showgrid=False,
                  tickvals=list(outputs),
                  ticktext=[f"y<sub>{t + wiring.first_output - 1}</sub>" for t in outputs]),
        up=(0.0, 0.36),
    )  # fmt: skip
    rows: dict[str, Any] = {}
    if wiring.both:  # else the row of the second direction looks like a second layer
        rows = {"showticklabels": True, "tickvals": list(range(1, 2 * wiring.layers + 1)),
                "ticktext": [label("forward"), label("backward")] * wiring.layers}  # fmt: skip
    title = label("direction") if wiring.both else ""
    top = axes.axis(title, range=[-0.75, drawing.top + 0.75], **_BARE | rows)
    graph = sheet.panel(cells, top, up=(0.42, 1.0))
    lit = wiring.ancestors(("y", output))
    few = last - first < 7  # with more columns, boxes and numbers do not fit on a phone
    _graph(graph, wiring, style, 15 if few else 11, lit, names=True,
           keyed="xhdy" if drawing.left_columns else "xhy",
           flow=None if influence.flow is None else influence.flow[output - 1])  # fmt: skip
    _cells(cells, influence.norm, first, style, bar={"y": 0.18, "len": 0.42}, written=few)
    cells.rectangle((first - 0.5, first + wiring.inputs - 0.5), (output - 0.5, output + 0.5),
                    style.palette.highlight, width=3)  # fmt: skip
    row = influence.norm[output - 1]
    return sheet.described(
        "alt.wiring_lit", output=output + wiring.first_output - 1, of=wiring.inputs, row=row,
        inputs=sum(node[0] == "x" for node in lit),
    )  # fmt: skip
