"""The numbers in a figure as a table, read from the figure itself: they cannot differ from it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from seqviz.core.units import plainly_spaced
from seqviz.plotting.figure import Figure

if TYPE_CHECKING:
    import pandas as pd

_TAG = re.compile(r"<[^>]+>")


def table(chart: Any) -> pd.DataFrame:
    """Long table of a Plotly figure (series, then its axes by their titles) or an Altair chart.

    Of an Altair chart: the data of its first layer, which it keeps under a name. Columns: "series",
    one per axis title, and the ends of error bars where a trace has them. Panels with different
    axes contribute different columns; a cell that does not apply is empty.
    """
    import pandas as pd  # slow to import, and needed only when somebody asks for the numbers

    panels = tables(chart)
    return pd.concat(panels, ignore_index=True) if panels else pd.DataFrame()


def tables(chart: Any, limit: int | None = None) -> list[pd.DataFrame]:
    """Return the numbers panel by panel: one table for each set of axes, without empty columns.

    Reference lines and bands stand last, so that the first rows are data.

    Args:
        chart: a figure.
        limit: rows of a table; `attrs["rows"]` says how many there are in all.
    """
    import pandas as pd

    if not isinstance(chart, Figure):
        full = pd.DataFrame(chart.datasets[chart.layer[0].data.name])
        result = full.head(len(full) if limit is None else limit)
        result.attrs["rows"] = len(full)
        return [result]
    panels: dict[tuple[str, ...], list[pd.DataFrame]] = {}
    sizes: dict[tuple[str, ...], int] = {}
    for trace in sorted(chart.traces, key=is_reference):
        if not trace.keys() & {"x", "y", "z"}:
            continue
        if trace.get("hoverinfo") == "skip" and not trace.get("name"):
            continue  # scaffolding (guide lines, invisible edges), no data
        rows = _rows(chart, trace, limit)
        columns = tuple(rows.columns)
        panels.setdefault(columns, []).append(rows)
        sizes[columns] = sizes.get(columns, 0) + np.size(trace["z" if "z" in trace else "y"])
    frames = []
    for columns, parts in panels.items():
        frames.append(pd.concat(parts, ignore_index=True).head(limit or sizes[columns]))
        frames[-1].attrs["rows"] = sizes[columns]
    return frames


def is_reference(trace: Mapping[str, Any]) -> bool:
    """Return True for a line or area that does not answer to the pointer: a bound, a band."""
    return trace.get("hoverinfo") == "skip" and str(trace.get("mode")).startswith("lines")


def _rows(chart: Figure, trace: Mapping[str, Any], limit: int | None) -> pd.DataFrame:
    """limit: of them."""
    import pandas as pd

    across, up = trace.get("xaxis", "x"), trace.get("yaxis", "y")
    x_name, y_name = axis_name(chart, across), axis_name(chart, up)
    if trace["type"] == "heatmap":
        z = np.asarray(trace["z"])
        z = z[: None if limit is None else -(-limit // max(1, z.shape[1]))]
        row, column = np.indices(z.shape)
        x = np.asarray(trace.get("x", np.arange(z.shape[1])))[column.ravel()]
        y = np.asarray(trace.get("y", np.arange(z.shape[0])))[row.ravel()]
        return pd.DataFrame(
            {
                x_name: x,
                **_named(chart, x_name, across, x),
                y_name: y,
                **_named(chart, y_name, up, y),
                cells_name(chart, trace): z.ravel(),
            }
        )
    y = np.asarray(trace["y"])[:limit]
    x = np.asarray(trace["x"])[:limit] if "x" in trace else np.arange(len(y))
    columns: dict[str, Any] = {
        "series": _plain(trace.get("name")),
        x_name: x,
        **_named(chart, x_name, across, x),
        y_name: y,
        **_named(chart, y_name, up, y),
    }
    for key, values, name in (("error_x", x, x_name), ("error_y", y, y_name)):
        bars = trace.get(key)
        if bars is not None and "array" in bars:
            plus = np.asarray(bars["array"], float)[:limit]
            minus = np.asarray(bars.get("arrayminus", plus), float)[:limit]
            columns[f"{name}, low"] = values - minus
            columns[f"{name}, high"] = values + plus
    return pd.DataFrame(columns)


def _named(chart: Figure, title: str, axis: str, positions: np.ndarray) -> dict[str, list[str]]:
    """The words that the numbers 1, 2, ... of an axis stand for, as a column of their own."""
    words = ((chart.page.get("meta") or {}).get("names") or {}).get(axis)
    if not words or not np.isin(positions, np.arange(1, len(words) + 1)).all():
        return {}
    return {f"{title}: name": [words[int(position) - 1] for position in positions]}


def cells_name(chart: Figure, trace: Mapping[str, Any]) -> str:
    """What a heatmap's cells are: of a color scale in powers of ten, the logarithm."""
    name = _plain(trace.get("name")) or "value"
    ends = ("zmin", "zmax")
    for other in chart.traces:  # one color bar may stand for several maps
        words = (other.get("colorbar") or {}).get("ticktext") or ("",)
        same = "zmin" in other and all(other[end] == trace.get(end) for end in ends)
        if words[0].startswith("10<sup>") and (other is trace or same):
            return f"log₁₀ ({name})"
    return name


def axis_name(chart: Figure, axis: str) -> str:
    """The title of an axis; without one, that of an axis like it, which stands for both."""
    own = _plain((chart.axis(axis).get("title") or {}).get("text"))
    if own or axis == axis[0]:
        words = chart.axis(axis).get("ticktext")
        own, log = own or axis, chart.axis(axis).get("type") == "log" or "log₁₀" in own
        exponents = words is not None and len(words) and str(words[0]).startswith("10<sup>")
        return f"log₁₀ ({own})" if exponents and not log else own
    first = chart.axis(axis[0])
    alike = np.array_equal(first.get("range", ()), chart.axis(axis).get("range", (0,)))
    return f"{axis_name(chart, axis[0])} ({axis[1:]})" if alike else axis[0]


def _plain(text: str | None) -> str:
    return plainly_spaced(_TAG.sub("", text or "")).strip()
