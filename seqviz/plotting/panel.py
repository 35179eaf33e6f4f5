"""A pair of axes and what is drawn on it: lines, points, bars, cells, estimates, words.

Every method takes further keys of Plotly's, which go before its own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Bool, Float

from seqviz.core.units import unbroken
from seqviz.plotting.decades import powers
from seqviz.plotting.scales import ColorScale, color_bar
from seqviz.plotting.scales import weights as weight_scale
from seqviz.plotting.style import Style
from seqviz.stats.estimate import Estimate

if TYPE_CHECKING:
    from seqviz.plotting.sheet import Sheet

NAMED = "<extra>%{fullData.name}</extra>"  # at the end of a hover text: the name stands beside it
DODGE = 0.12  # of the distance between categories, from one series to the next
_WRITTEN = 12  # tokens of a map of weights whose numbers find room in the cells
_FAINT = 0.14  # opacity of a band: five of them over one another leave the lines readable
Values = Any  # anything numpy reads as one-dimensional: numbers, dates, None for a gap


class Panel:
    """A pair of axes, by their short names ("x2", "y2"), and what is drawn on them."""

    def __init__(self, sheet: Sheet, x: str, y: str, right: float):
        self.sheet, self.x, self.y, self.right = sheet, x, y, right
        self.style = sheet.style

    def trace(self, kind: str, **keys: Any) -> dict[str, Any]:
        """A trace of Plotly's on these axes; keys that are None are left out.

        hover: what stands over a point, in Plotly's template language; with `NAMED` at its end the
        trace's name beside it. False: nothing. legend: whether it is in the legend, or the name of
        another legend ("legend2"); by default the first trace of each name is. group: those that
        the legend switches together. pick: a click on it goes to the page.
        """
        hover = keys.pop("hover", None)
        legend, group, pick = (keys.pop(key, None) for key in ("legend", "group", "pick"))
        if kind != "heatmap":
            if legend is None and keys.get("name") in self.sheet.legend_names:
                legend = False
            if legend is not False:
                self.sheet.legend_names.add(keys.get("name"))
        created: dict[str, Any] = {"type": kind}
        if self.x != "x":
            created["xaxis"] = self.x
        if self.y != "y":
            created["yaxis"] = self.y
        if hover is False:
            created["hoverinfo"] = "skip"
        elif hover:
            full = hover if "<extra>" in hover else f"{hover}<extra></extra>"
            created["hovertemplate"] = unbroken(full)
        if isinstance(legend, str):
            created["legend"] = legend
        elif legend is not None:
            created["showlegend"] = legend
        if group:
            created["legendgroup"] = group
        if pick:
            created["meta"] = "pick"
        created |= {key: value for key, value in keys.items() if value is not None}
        for of in ("line", "marker"):
            if of in created:
                created[of] = self._scaled(created[of])
        self.sheet.traces.append(created)
        return created

    def _scaled(self, marker: Mapping[str, Any]) -> dict[str, Any]:
        """A line, or a marker with its edge, as much thicker as the type is larger."""
        wider = {key: self._scaled(value) for key, value in marker.items() if key == "line"}
        if "width" in marker:
            wider["width"] = self.style.scale * marker["width"]
        return {**marker, **wider}

    # --- marks with data -------------------------------------------------------------------------

    def line(
        self,
        x: Values,
        y: Values,
        name: str,
        color: str,
        *,
        width: float = 2.6,
        dash: str = "solid",
        symbol: str | None = None,
        size: float = 7,
        **more: Any,
    ) -> None:
        """A line; with a `symbol`, a marker of `size` pixels at each point as well."""
        keys: dict[str, Any] = {"mode": "lines", "line": {"color": color, "width": width}}
        if dash != "solid":
            keys["line"]["dash"] = dash
        if symbol is not None:
            keys["mode"] = "lines+markers"
            keys["marker"] = {"color": color, "size": size, "symbol": symbol}
        self.trace("scatter", **{**keys, "x": x, "y": y, "name": name, **more})

    def points(
        self,
        x: Values,
        y: Values,
        name: str,
        color: Any,
        *,
        size: Any = 9,
        symbol: Any = "circle",
        edge: Mapping[str, Any] | None = None,
        opacity: float | None = None,
        **more: Any,
    ) -> None:
        """Markers; `edge` is the line around each."""
        marker: dict[str, Any] = {"color": color, "size": size, "symbol": symbol}
        if edge is not None:
            marker["line"] = dict(edge)
        if opacity is not None:
            marker["opacity"] = opacity
        keys = {"mode": "markers", "marker": marker, "x": x, "y": y, "name": name}
        self.trace("scatter", **{**keys, **more})

    def marks_text(self, x: Values, y: Values, text: Values, **more: Any) -> None:
        """Text at points that are data of no trace, such as a sign in a cell."""
        keys = {"mode": "text", "x": x, "y": y, "text": text, "hover": False, "legend": False}
        self.trace("scatter", **{**keys, **more})

    def unseen(self, x: Values, y: Values, name: str, **more: Any) -> None:
        """Numbers that shapes and words draw: for the data behind the figure, and for the axes."""
        keys = {"mode": "none", "x": x, "y": y, "name": name, "hover": False, "legend": False}
        self.trace("scatter", **{**keys, **more})

    def bars(
        self,
        at: Values,
        length: Values,
        name: str,
        color: Any,
        *,
        sideways: bool = False,
        whiskers: tuple[Values, Values] | None = None,
        edge: Mapping[str, Any] | None = None,
        ends: Sequence[str] | None = None,
        ends_size: float = 12,
        **more: Any,
    ) -> None:
        """Bars at places of one axis, as long as values of the other.

        whiskers: the lower and upper ends of an interval for each. ends: words at the ends of the
        bars, `ends_size` pixels at a desk; they are not cut off at the edge of the panel.
        """
        marker: dict[str, Any] = {"color": color}
        if edge is not None:
            marker["line"] = dict(edge)
        along, position = ("x", "y") if sideways else ("y", "x")
        keys: dict[str, Any] = {along: length, position: at, "name": name, "marker": marker}
        if sideways:
            keys["orientation"] = "h"
        if whiskers is not None:
            keys[f"error_{along}"] = whisker(length, *whiskers, self.style.palette.truth)
        if ends is not None:
            keys |= {"text": ends, "textposition": "outside", "cliponaxis": False,
                     "constraintext": "none",  # or Plotly shrinks long words
                     "textfont": {"size": ends_size * self.style.scale}}  # fmt: skip
        self.trace("bar", **{**keys, **more})

    def ranked_bars(self, values: Values, name: str, color: Any, **more: Any) -> None:
        """Draw a bar in each row of an axis `axes.ranked`, from the top.

        Args:
            values: lengths of the bars; of an `Estimate` with whiskers.
            name: of the trace.
            color: one for all rows, or one for each.
            more: as in `bars`.
        """
        self._bars_in_order(values, name, color, {"sideways": True, **more})

    def token_bars(self, values: Values, name: str, color: Any, **more: Any) -> None:
        """Draw a bar over each token of an axis `axes.tokens`; arguments as in `ranked_bars`."""
        self._bars_in_order(values, name, color, more)

    def _bars_in_order(
        self, values: Values, name: str, color: Any, more: Mapping[str, Any]
    ) -> None:
        if isinstance(values, Estimate):
            values, more = values.mean, {"whiskers": values.ci, **more}
        self.bars(np.arange(1, len(values) + 1), values, name, color, **more)

    def estimates(
        self,
        values: Values,
        name: str,
        color: str,
        *,
        dodge: tuple[int, int] = (0, 1),
        start: int = 0,
        sideways: bool = False,
        samples: Float[np.ndarray, "category sample"] | None = None,
        **more: Any,
    ) -> None:
        """Draw a value for each category 1, 2, ..., connected by a line.

        Args:
            values: one for each category, in the unit of the axis; of an `Estimate` with whiskers.
            name: of the trace.
            color: of the line, its marks and its whiskers.
            dodge: (index, count) of series that stand side by side.
            start: how many of the first categories are left out.
            sideways: categories are rows, and marks are not connected.
            samples: single values behind each, drawn as small dots.
            more: as in `line`, or in `points` where `sideways`.
        """
        index, count = dodge
        aside = DODGE * (index - (count - 1) / 2)
        values, whiskers = values[start:], None
        if isinstance(values, Estimate):
            low, high = values.ci
            values, whiskers = values.mean, whisker(values.mean, low, high, color)
        at = np.arange(start + 1, start + len(values) + 1) + aside
        if sideways:
            self.points(values, at, name, color, **{"error_x": whiskers, **more})
        else:
            self.line(at, values, name, color, **{"symbol": "circle", "error_y": whiskers, **more})
        if samples is not None:
            single = samples[start:]
            x, y = np.repeat(at, single.shape[1]), single.ravel()
            if sideways:
                x, y = y, x
            self.points(x, y, name, color, size=5, opacity=0.5, legend=False, hover=False)

    def waterfall(
        self, at: Values, change: Values, start: Values, name: str, color: Any, **more: Any
    ) -> None:
        """Bars that each begin where the sum stood before (`start`) and reach `change` further."""
        keys = {"base": start, "width": 0.86, "hover": False, **more}
        self.bars(at, change, name, color, **keys)

    def cells(
        self,
        z: Any,
        name: str,
        scale: ColorScale,
        *,
        x: Values = None,
        y: Values = None,
        bar: str | None = "",
        bar_at: float | None = None,
        **more: Any,
    ) -> None:
        """A matrix, row 1 and column 1 at 1 of the axes unless `x` and `y` say otherwise.

        bar: the name of its color bar, by default that of the trace; None: it has none.
        bar_at: where the color bar begins, as a share of the sheet's width.
        """
        rows, columns = np.shape(z)
        keys: dict[str, Any] = {
            "x": np.arange(1, columns + 1) if x is None else x,
            "y": np.arange(1, rows + 1) if y is None else y,
            "z": z,
            "name": name,
            **scale.keys(),
        }
        if bar is None:
            keys["showscale"] = False
        else:
            at = self.right + 0.015 if bar_at is None else bar_at
            keys["colorbar"] = color_bar(self.style, bar or name, scale.ticks, x=at)
        self.trace("heatmap", **{**keys, **more})

    def weights(
        self, weights: Any, allowed: Any = None, name: str = "", maximum: float = 1.0, **more: Any
    ) -> None:
        """Attention weights of queries (y) on keys (x), each from 1; written in where they fit.

        allowed: where it is False the cell is blank, as nothing was asked there. name: by default
        that they are weights. maximum: where the colors end. `more` as in `cells`.
        """
        z = np.asarray(weights, np.float32)
        if allowed is not None:
            z = np.where(allowed, z, np.float32(np.nan))
        text = self.style.text
        keys: dict[str, Any] = {
            "hoverongaps": False,
            "xgap": 1 if z.shape[1] <= 64 else 0,
            "ygap": 1 if z.shape[0] <= 64 else 0,
            "hover": text("figure.hover_weight", query="%{y}", key="%{x}", weight="%{z:.4f}"),
        }
        if max(z.shape) <= _WRITTEN:
            font = {"size": 12 * self.style.scale}
            keys |= {"texttemplate": "%{z:.2f}", "textfont": font}
        self.cells(z, name or text("figure.weight"), weight_scale(maximum), **{**keys, **more})

    def band(self, x: Values, low: Values, high: Values, color: str, **more: Any) -> None:
        """The area between two lines, without a name: no data of its own. It skips gaps."""
        low, high = np.asarray(low, float), np.asarray(high, float)
        finite = np.isfinite(low) & np.isfinite(high)
        x, low, high = np.asarray(x)[finite], low[finite], high[finite]
        keys = {
            "x": np.concatenate([x, x[::-1]]),
            "y": np.concatenate([low, high[::-1]]),
            "mode": "lines",
            "line": {"width": 0},
            "fill": "toself",
            "fillcolor": color,
            "opacity": _FAINT,
            "hover": False,
            "legend": False,
        }
        self.trace("scatter", **{**keys, **more})

    def hatches(self, cells: Bool[np.ndarray, "row column"], color: str) -> None:
        """Stripes over cells of a matrix whose rows and columns are counted from 1."""
        rows, columns = np.nonzero(cells)
        corners = {
            "x": [v for c in columns.tolist() for v in (c + 0.5, c + 1.5, c + 1.5, c + 0.5, None)],
            "y": [v for r in rows.tolist() for v in (r + 0.5, r + 0.5, r + 1.5, r + 1.5, None)],
        }
        clear = "rgba(0,0,0,0)"
        stripes = {"shape": "/", "size": 7, "solidity": 0.15, "fgcolor": color, "bgcolor": clear}
        self.trace(
            "scatter", **corners, mode="lines", line={"width": 0}, fill="toself", fillcolor=clear,
            fillpattern=stripes, hover=False, legend=False,
        )  # fmt: skip

    def reference(
        self, x: Values, y: Values, name: str, *, dash: str = "dot", width: float = 1.8, **more: Any
    ) -> None:
        """A quiet line for theory, a bound or a baseline; it does not answer to the pointer."""
        color = self.style.palette.baseline
        self.line(x, y, name, color, dash=dash, width=width, **{"hover": False, **more})

    def key(self, scale: ColorScale, bar: str) -> None:
        """A color bar alone, where what it explains is a picture."""
        marker = {
            "color": [scale.low], "cmin": scale.low, "cmax": scale.high,
            "colorscale": scale.colors, "showscale": True,
            "colorbar": color_bar(self.style, bar, scale.ticks, x=self.right + 0.015),
        }  # fmt: skip
        self.trace("scatter", x=[None], y=[None], hover=False, legend=False, marker=marker)

    def powers(self, log10: Float[np.ndarray, "*shape"]) -> Float[np.ndarray, "*shape"]:
        """10 to each of these; on an axis of exponents (`axes.decades`) these themselves."""
        if self.sheet.page[f"yaxis{self.y[1:]}"].get("type") == "log":
            return powers(log10)
        return np.where(np.isfinite(log10), log10, np.nan)

    # --- marks without data ----------------------------------------------------------------------

    def vertical(self, at: float, color: str, **more: Any) -> None:
        """A line through the panel from bottom to top, behind the data."""
        ends = {"x0": at, "x1": at, "y0": 0, "y1": 1, "yref": f"{self.y} domain"}
        self._through(ends, color, more)

    def horizontal(self, at: float, color: str, **more: Any) -> None:
        """A line through the panel from left to right, behind the data."""
        ends = {"y0": at, "y1": at, "x0": 0, "x1": 1, "xref": f"{self.x} domain"}
        self._through(ends, color, more)

    def _through(self, ends: Mapping[str, Any], color: str, more: dict[str, Any]) -> None:
        line = {"color": color, "width": self.style.scale * more.pop("width", 2)}
        if dash := more.pop("dash", None):
            line["dash"] = dash
        self.shape("line", **{**ends, "line": line, "layer": "below", **more})

    def chance_line(self, percent: float = 50, *, sideways: bool = False) -> None:
        """Draw the dotted line of a guess, such as a coin's; sideways: percent run along x."""
        through = self.vertical if sideways else self.horizontal
        through(percent, self.style.palette.baseline, width=1.5, dash="dot")

    def rectangle(
        self, x: Sequence[float] | None, y: Sequence[float] | None, color: str,
        *, width: float = 2, dash: str | None = None, **more: Any,
    ) -> None:  # fmt: skip
        """An outline around what is chosen; where x or y is None, all of the panel along it."""
        line: dict[str, Any] = {"color": color, "width": self.style.scale * width}
        if dash:
            line["dash"] = dash
        keys: dict[str, Any] = {"line": line}
        for letter, span, axis in (("x", x, self.x), ("y", y, self.y)):
            keys[f"{letter}ref"] = axis if span is not None else f"{axis} domain"
            keys[f"{letter}0"], keys[f"{letter}1"] = span if span is not None else (0, 1)
        self.shape("rect", **{**keys, **more})

    def outline(
        self, color: str, *, column: float | None = None, row: float | None = None, **more: Any
    ) -> None:
        """Around one cell of a map, or around its whole row or column."""
        spans = [None if at is None else (at - 0.5, at + 0.5) for at in (column, row)]
        self.rectangle(spans[0], spans[1], color, **more)

    def shape(self, kind: str, **keys: Any) -> None:
        """A shape of Plotly's on these axes."""
        refs = {"xref": self.x, "yref": self.y}
        self.sheet.shapes.append({"type": kind, **refs, **keys})

    def words(self, text: str, x: Any, y: Any, **layout: Any) -> None:
        """Words at a place of the data; with xref or yref "domain" at a share of the panel."""
        refs = {"xref": self.x, "yref": self.y}
        for ref, axis in (("xref", self.x), ("yref", self.y)):
            if layout.get(ref) == "domain":
                layout[ref] = f"{axis} domain"
        self.sheet.annotations.append(
            annotation(self.style, text, **{**refs, "x": x, "y": y, **layout})
        )

    def title(self, text: str, **layout: Any) -> None:
        """A title above the panel; it moves with it where panels are stacked."""
        above = {"x": 0, "y": 1, "xref": "domain", "yref": "domain", "xanchor": "left",
                 "yanchor": "bottom", "yshift": 3}  # fmt: skip
        self.words(text, **{**above, **layout})

    def ends(
        self,
        names: Sequence[str],
        colors: Sequence[str],
        heights: Sequence[float],
        x: float,
        span: Sequence[float],
        **layout: Any,
    ) -> None:
        """Names of lines at their right ends, apart from one another; of a gap none.

        heights: of the ends. x: where they are (log10 of it on a log axis). span: of the y axis.
        """
        from seqviz.plotting.line_ends import spread

        step = 0.062 * (span[1] - span[0]) * self.style.scale * 420 / self.style.height
        finite = [at for at, height in enumerate(heights) if np.isfinite(height)]
        apart = spread([heights[at] for at in finite], step, span[1] - step / 2)
        floor = span[0] + step / 2  # Plotly leaves out what stands below the axis, too
        for at in sorted(range(len(apart)), key=lambda at: apart[at]):
            apart[at] = max(apart[at], floor)
            floor = apart[at] + step
        for at, height in zip(finite, apart, strict=True):
            self.words(names[at], x, height, color=colors[at],
                       **{"xanchor": "left", "xshift": 6, **layout})  # fmt: skip


def annotation(
    style: Style, text: str, *, size: float = 13, color: str | None = None, **layout: Any
) -> dict[str, Any]:
    """Words without an arrow: an annotation of Plotly's. size: of the type, at a desk."""
    font = {"size": size * style.scale, "color": color or style.palette.truth}
    return {"text": unbroken(text), "showarrow": False, "font": font, **layout}


def whisker(value: Values, low: Values, high: Values, color: str, **more: Any) -> dict[str, Any]:
    """error_x or error_y of values whose intervals run from low to high."""
    middle = np.asarray(value, float)
    return {
        "type": "data",
        "array": np.asarray(high, float) - middle,
        "arrayminus": middle - np.asarray(low, float),
        "color": color,
        "thickness": 1.8,
        "width": 5,
        **more,
    }
