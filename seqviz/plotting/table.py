"""Data tables of figures, read from the figure itself: `tables`."""

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
    """Return the data of a figure as one table in long format.

    The columns are "series", one per axis title, and the ends of error bars where a trace has them.
    Panels with different axes have different columns; cells that do not apply are empty. The data
    of an Altair chart are those of its first layer.

    Args:
        chart: a `Figure` or an Altair chart.
    """
    import pandas as pd  # imported on use, as it is slow and only data tables need it

    panels = tables(chart)
    return pd.concat(panels, ignore_index=True) if panels else pd.DataFrame()


def tables(chart: Any, limit: int | None = None) -> list[pd.DataFrame]:
    """Return the data panel by panel: one table per set of axes, without empty columns.

    Reference lines and bands come last.

    Args:
        chart: a `Figure` or an Altair chart.
        limit: maximum rows per table; `attrs["rows"]` has the full number.
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
            continue  # guide lines and invisible edges are no data
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
    """Return True for a line or area without hover text, such as a bound or a band."""
    return trace.get("hoverinfo") == "skip" and str(trace.get("mode")).startswith("lines")


def _rows(chart: Figure, trace: Mapping[str, Any], limit: int | None) -> pd.DataFrame:
    """Return the first `limit` rows of a trace."""
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
    """Return a column with the names of the positions 1, 2, ... of an axis; empty for none."""
    words = ((chart.page.get("meta") or {}).get("names") or {}).get(axis)
    if not words or not np.isin(positions, np.arange(1, len(words) + 1)).all():
        return {}
    return {f"{title}: name": [words[int(position) - 1] for position in positions]}


def cells_name(chart: Figure, trace: Mapping[str, Any]) -> str:
    """Return the name of a heatmap's values, as a logarithm where its scale shows powers of ten.

    Args:
        chart: figure of the trace.
        trace: the heatmap.
    """
    name = _plain(trace.get("name")) or "value"
    ends = ("zmin", "zmax")
    for other in chart.traces:  # several maps may share a color bar
        words = (other.get("colorbar") or {}).get("ticktext") or ("",)
        same = "zmin" in other and all(other[end] == trace.get(end) for end in ends)
        if words[0].startswith("10<sup>") and (other is trace or same):
            return f"log₁₀ ({name})"
    return name


def axis_name(chart: Figure, axis: str) -> str:
    """Return the column name of an axis: its title, or one derived from the first axis.

    An axis without a title takes that of the first axis, with its number, where both have the same
    range; otherwise its name is its letter. Axes of exponents are named as logarithms.

    Args:
        chart: the figure.
        axis: short name ("x", "y2").
    """
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
