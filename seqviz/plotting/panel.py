"""`Panel`: a pair of axes with methods for lines, points, bars, cells and annotations.

Every method accepts further Plotly keys, which override its own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Bool, Float, Int

from seqviz.core.units import unbroken
from seqviz.plotting.decades import powers
from seqviz.plotting.scales import ColorScale, color_bar
from seqviz.plotting.scales import weights as weight_scale
from seqviz.plotting.style import Style
from seqviz.stats.estimate import Estimate

if TYPE_CHECKING:
    from seqviz.plotting.sheet import Sheet

NAMED = "<extra>%{fullData.name}</extra>"  # ending of a hover template that adds the trace's name
DODGE, ROW_DODGE = 0.12, 0.2  # offsets between series, as shares of the distance of categories
_WRITTEN = 12  # maximum number of tokens of a map with numbers in its cells
_SNAPSHOT_BYTES = 20_000  # of what one trace has for a replay
_FAINT = 0.14  # opacity of a band; lines stay visible below five overlapping bands
Values = Any  # one-dimensional array-like: numbers, dates, None for a gap


class Panel:
    """Pair of axes of a sheet and its drawing methods; created by `Sheet.panel`.

    Args:
        sheet: sheet of the panel.
        x: short name of the x axis, such as "x2".
        y: short name of the y axis.
        right: right end of the panel, as a share of the sheet's width.

    Attributes:
        style: style of the sheet.
    """

    def __init__(self, sheet: Sheet, x: str, y: str, right: float):
        self.sheet, self.x, self.y, self.right = sheet, x, y, right
        self.style = sheet.style

    def trace(self, kind: str, **keys: Any) -> dict[str, Any]:
        """Add a Plotly trace to these axes and return it.

        Args:
            kind: Plotly trace type.
            **keys: Plotly keys of the trace, without None values, and these: `hover`, a Plotly
                hover template (with `NAMED` at its end, the trace's name is shown, too), or False
                for none; `legend`, True or False for a legend entry, or the name of another legend
                ("legend2"), by default the first trace of each name has an entry; `group`, traces
                that the legend toggles together; `pick`, report clicks to the page.
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
        """Return a line, or a marker with its outline, with widths scaled like the type."""
        wider = {key: self._scaled(value) for key, value in marker.items() if key == "line"}
        if "width" in marker:
            wider["width"] = self.style.scale * marker["width"]
        return {**marker, **wider}

    def replays(self) -> None:
        """Let the reader play the lines of this panel again, whose x counts updates or epochs.

        A line of another panel takes part if its trace has the meta "by_update", one point after
        each update, or what was learned by then (`learns`); `bench/replay.js` draws them.
        """
        self.sheet.meta.setdefault("replay", {"axes": []})["axes"].append(self.x)

    def learns(
        self,
        updates: Int[np.ndarray, "report"],
        y: Float[np.ndarray, "report point"],
        x: Float[np.ndarray, "point"] | None = None,
        title: str = "",
        total: int = 0,
    ) -> None:
        """Let the last trace show what was learned so far when the training is played again.

        Its custom data, if it has any, are 10 to the power of these y values, as displayed. Reports
        are left out evenly where a trace would have more than 20 kB of them at the end.

        Args:
            updates: number of updates or epochs at each report, in increasing order.
            y: y values of the trace at each report; on a log axis their decimal logarithms.
            x: their x values; None for those of the trace.
            title: what `updates` count, where no panel of the sheet has them on its x axis.
            total: number of reports of the whole training; with it a running one leaves out the
                same reports from its beginning on, so what a reader looks at is not replaced.
        """
        y = np.asarray(y, np.float32)
        row_bytes = y.nbytes // max(1, len(y))
        every = max(1, -(-max(total, len(y)) * row_bytes // _SNAPSHOT_BYTES))
        snapshots = {"trace": len(self.sheet.traces) - 1, "updates": updates[::every],
                     "y": y[::every]}  # fmt: skip
        if x is not None:
            snapshots["x"] = np.asarray(x, np.float32)
        run = self.sheet.meta.setdefault("replay", {"axes": []})
        run.setdefault("learned", []).append(snapshots)
        if title:
            run["title"] = title

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
        """Draw a line.

        Args:
            x: x values.
            y: y values; nan is a gap.
            name: name of the trace.
            color: CSS color.
            width: line width in pixels.
            dash: Plotly dash style.
            symbol: marker at each point; None for no markers.
            size: marker size in pixels.
            **more: further keys of `trace`.
        """
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
        """Draw markers.

        Args:
            x: x values.
            y: y values.
            name: name of the trace.
            color: one CSS color, or one value for each marker.
            size: size in pixels, one or one for each marker.
            symbol: Plotly symbol, one or one for each marker.
            edge: Plotly line around each marker.
            opacity: opacity of the markers in [0, 1].
            **more: further keys of `trace`.
        """
        marker: dict[str, Any] = {"color": color, "size": size, "symbol": symbol}
        if edge is not None:
            marker["line"] = dict(edge)
        if opacity is not None:
            marker["opacity"] = opacity
        keys = {"mode": "markers", "marker": marker, "x": x, "y": y, "name": name}
        self.trace("scatter", **{**keys, **more})

    def marks_text(self, x: Values, y: Values, text: Values, **more: Any) -> None:
        """Draw text at points that belong to no data trace, such as a sign in a cell.

        Args:
            x: x values.
            y: y values.
            text: text of each point.
            **more: further keys of `trace`.
        """
        keys = {"mode": "text", "x": x, "y": y, "text": text, "hover": False, "legend": False}
        self.trace("scatter", **{**keys, **more})

    def unseen(self, x: Values, y: Values, name: str, **more: Any) -> None:
        """Add an invisible trace: data drawn by shapes, for the data table and the axis ranges.

        Args:
            x: x values.
            y: y values.
            name: name of the trace.
            **more: further keys of `trace`.
        """
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
        """Draw bars.

        Args:
            at: positions on the category axis.
            length: values, in the unit of the other axis.
            name: name of the trace.
            color: one CSS color, or one for each bar.
            sideways: horizontal bars.
            whiskers: lower and upper ends of the intervals.
            edge: Plotly line around each bar.
            ends: text at the end of each bar, not clipped at the edge of the panel.
            ends_size: font size of `ends` in pixels, at scale 1.
            **more: further keys of `trace`.
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
                     "constraintext": "none",  # otherwise Plotly shrinks long text
                     "textfont": {"size": ends_size * self.style.scale}}  # fmt: skip
        self.trace("bar", **{**keys, **more})

    def ranked_bars(self, values: Values, name: str, color: Any, **more: Any) -> None:
        """Draw a horizontal bar in each row of an axis from `axes.ranked`.

        Args:
            values: lengths of the bars; an `Estimate` adds whiskers.
            name: name of the trace.
            color: one CSS color, or one for each row.
            **more: further arguments of `bars`.
        """
        self._bars_in_order(values, name, color, {"sideways": True, **more})

    def token_bars(self, values: Values, name: str, color: Any, **more: Any) -> None:
        """Draw a bar at each token of an axis from `axes.tokens`.

        Args:
            values: lengths of the bars; an `Estimate` adds whiskers.
            name: name of the trace.
            color: one CSS color, or one for each token.
            **more: further arguments of `bars`.
        """
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
        """Draw a value for each of the categories 1, 2, ..., connected by a line.

        Args:
            values: one for each category, in the unit of the axis; an `Estimate` adds whiskers.
            name: name of the trace.
            color: CSS color of line, markers and whiskers.
            dodge: (index, count) of series drawn side by side.
            start: number of leading categories to omit.
            sideways: categories are rows, and markers are not connected.
            samples: individual values of each category, drawn as small dots.
            **more: further arguments of `line`, or of `points` where `sideways`.
        """
        index, count = dodge
        aside = (ROW_DODGE if sideways else DODGE) * (index - (count - 1) / 2)
        values, whiskers = values[start:], None
        if isinstance(values, Estimate):
            low, high = values.ci
            values, whiskers = values.mean, whisker(values.mean, low, high, color)
        at: Values = np.arange(start + 1, start + len(values) + 1)
        if count > 1:  # else the numbers of the categories stay whole in the table
            at = at + aside
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
        """Draw a waterfall of bars, each from a running sum to the sum after its change.

        Args:
            at: positions of the bars.
            change: signed lengths.
            start: running sum before each change.
            name: name of the trace.
            color: one CSS color, or one for each bar.
            **more: further arguments of `bars`.
        """
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
        """Draw a matrix as a heatmap; rows and columns are numbered from 1.

        Args:
            z: values [row, column].
            name: name of the values.
            scale: color scale.
            x: positions of the columns, in place of 1, 2, ....
            y: positions of the rows, in place of 1, 2, ....
            bar: title of the color bar, `name` if empty; None for no color bar.
            bar_at: left end of the color bar, as a share of the sheet's width.
            **more: further keys of `trace`.
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
        """Draw attention weights of queries (y) over keys (x); small maps show the numbers.

        Args:
            weights: weights [query, key] in [0, maximum]; positions are numbered from 1.
            allowed: mask [query, key]; cells where it is False are blank.
            name: name of the values, by default "weight".
            maximum: upper end of the color scale.
            **more: further arguments of `cells`.
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
        """Draw an unnamed band between two lines, with gaps skipped.

        It adds no row to the data table.

        Args:
            x: x values.
            low: lower line.
            high: upper line.
            color: CSS color, drawn faintly.
            **more: further keys of `trace`.
        """
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
        """Draw stripes over cells of a matrix.

        Args:
            cells: True for the cells; rows and columns are numbered from 1.
            color: CSS color of the stripes.
        """
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
        """Draw a reference line for theory, a bound or a baseline, without hover text.

        Args:
            x: x values.
            y: y values.
            name: name of the line.
            dash: Plotly dash style.
            width: line width in pixels.
            **more: further arguments of `line`.
        """
        color = self.style.palette.baseline
        self.line(x, y, name, color, dash=dash, width=width, **{"hover": False, **more})

    def key(self, scale: ColorScale, bar: str) -> None:
        """Draw only a color bar, as the key of an image.

        Args:
            scale: color scale with limits.
            bar: title of the color bar.
        """
        marker = {
            "color": [scale.low], "cmin": scale.low, "cmax": scale.high,
            "colorscale": scale.colors, "showscale": True,
            "colorbar": color_bar(self.style, bar, scale.ticks, x=self.right + 0.015),
        }  # fmt: skip
        self.trace("scatter", x=[None], y=[None], hover=False, legend=False, marker=marker)

    def powers(self, log10: Float[np.ndarray, "*shape"]) -> Float[np.ndarray, "*shape"]:
        """Return 10 to each power, or the exponents themselves on an axis of exponents.

        See `axes.decades`.
        """
        if self.sheet.page[f"yaxis{self.y[1:]}"].get("type") == "log":
            return powers(log10)
        return np.where(np.isfinite(log10), log10, np.nan)

    # --- marks without data ----------------------------------------------------------------------

    def vertical(self, at: float, color: str, **more: Any) -> None:
        """Draw a vertical line through the panel, behind the data.

        Args:
            at: x value.
            color: CSS color.
            **more: `width` in pixels, `dash`, and further Plotly keys of the shape.
        """
        ends = {"x0": at, "x1": at, "y0": 0, "y1": 1, "yref": f"{self.y} domain"}
        self._through(ends, color, more)

    def horizontal(self, at: float, color: str, **more: Any) -> None:
        """Draw a horizontal line through the panel, behind the data.

        Args:
            at: y value.
            color: CSS color.
            **more: `width` in pixels, `dash`, and further Plotly keys of the shape.
        """
        ends = {"y0": at, "y1": at, "x0": 0, "x1": 1, "xref": f"{self.x} domain"}
        self._through(ends, color, more)

    def _through(self, ends: Mapping[str, Any], color: str, more: dict[str, Any]) -> None:
        line = {"color": color, "width": self.style.scale * more.pop("width", 2)}
        if dash := more.pop("dash", None):
            line["dash"] = dash
        self.shape("line", **{**ends, "line": line, "layer": "below", **more})

    def chance_line(self, percent: float = 50, *, sideways: bool = False) -> None:
        """Draw a dotted line at chance level, such as that of a coin flip.

        Args:
            percent: chance level.
            sideways: percent is on the x axis.
        """
        through = self.vertical if sideways else self.horizontal
        through(percent, self.style.palette.baseline, width=1.5, dash="dot")

    def rectangle(
        self, x: Sequence[float] | None, y: Sequence[float] | None, color: str,
        *, width: float = 2, dash: str | None = None, **more: Any,
    ) -> None:  # fmt: skip
        """Draw a rectangular outline, such as that of a selection.

        Args:
            x: left and right end; None for the width of the panel.
            y: lower and upper end; None for the height of the panel.
            color: CSS color.
            width: line width in pixels.
            dash: Plotly dash style.
            **more: further Plotly keys of the shape.
        """
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
        """Outline one cell of a map, or a complete row or column.

        Args:
            color: CSS color.
            column: number of the column; None for all columns.
            row: number of the row; None for all rows.
            **more: further arguments of `rectangle`.
        """
        spans = [None if at is None else (at - 0.5, at + 0.5) for at in (column, row)]
        self.rectangle(spans[0], spans[1], color, **more)

    def shape(self, kind: str, **keys: Any) -> None:
        """Add a Plotly shape on these axes.

        Args:
            kind: Plotly shape type.
            **keys: Plotly keys of the shape.
        """
        refs = {"xref": self.x, "yref": self.y}
        self.sheet.shapes.append({"type": kind, **refs, **keys})

    def words(self, text: str, x: Any, y: Any, **layout: Any) -> None:
        """Add an annotation at data coordinates.

        Args:
            text: the text, as HTML of Plotly.
            x: x value; with xref="domain", a share of the panel's width.
            y: y value; with yref="domain", a share of the panel's height.
            **layout: further arguments of `annotation`.
        """
        refs = {"xref": self.x, "yref": self.y}
        for ref, axis in (("xref", self.x), ("yref", self.y)):
            if layout.get(ref) == "domain":
                layout[ref] = f"{axis} domain"
        self.sheet.annotations.append(
            annotation(self.style, text, **{**refs, "x": x, "y": y, **layout})
        )

    def title(self, text: str, **layout: Any) -> None:
        """Add a title above the panel, which moves with it where panels are stacked.

        Args:
            text: the title.
            **layout: further arguments of `words`.
        """
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
        """Label lines at their right ends without overlaps; a gap gets no label.

        Args:
            names: label of each line.
            colors: CSS color of each label.
            heights: y value of each line's end; nan for a gap.
            x: x value of the ends (its log10 on a log axis).
            span: range of the y axis.
            **layout: further arguments of `words`.
        """
        from seqviz.plotting.line_ends import spread

        step = 0.062 * (span[1] - span[0]) * self.style.scale * 420 / self.style.height
        finite = [at for at, height in enumerate(heights) if np.isfinite(height)]
        apart = spread([heights[at] for at in finite], step, span[1] - step / 2)
        floor = span[0] + step / 2  # Plotly omits labels below the axis, too
        for at in sorted(range(len(apart)), key=lambda at: apart[at]):
            apart[at] = max(apart[at], floor)
            floor = apart[at] + step
        for at, height in zip(finite, apart, strict=True):
            self.words(names[at], x, height, color=colors[at],
                       **{"xanchor": "left", "xshift": 6, **layout})  # fmt: skip


def annotation(
    style: Style, text: str, *, size: float = 13, color: str | None = None, **layout: Any
) -> dict[str, Any]:
    """Return a Plotly annotation without an arrow.

    Args:
        style: style of the figure.
        text: the text, as HTML of Plotly.
        size: font size in pixels, at scale 1.
        color: CSS color; by default that of text.
        **layout: further Plotly keys.
    """
    font = {"size": size * style.scale, "color": color or style.palette.truth}
    return {"text": unbroken(text), "showarrow": False, "font": font, **layout}


def whisker(value: Values, low: Values, high: Values, color: str, **more: Any) -> dict[str, Any]:
    """Return Plotly's error_x or error_y for intervals.

    Args:
        value: the values.
        low: lower ends of their intervals.
        high: upper ends.
        color: CSS color.
        **more: further Plotly keys.
    """
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
