"""The numbers in a figure as a table, read from the figure itself: they cannot differ from it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import numpy as np
import plotly.graph_objects as go

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


def tables(chart: Any) -> list[pd.DataFrame]:
    """The same numbers panel by panel: one table for each set of axes, without empty columns."""
    import pandas as pd

    if not isinstance(chart, go.Figure):
        return [pd.DataFrame(chart.datasets[chart.layer[0].data.name])]
    panels: dict[tuple[str, ...], list[pd.DataFrame]] = {}
    for trace in chart.data:
        if trace.x is None and trace.y is None and getattr(trace, "z", None) is None:
            continue
        if getattr(trace, "hoverinfo", None) == "skip" and not trace.name:
            continue  # scaffolding (guide lines, invisible edges), no data
        rows = _rows(chart, trace)
        panels.setdefault(tuple(rows.columns), []).append(rows)
    return [pd.concat(rows, ignore_index=True) for rows in panels.values()]


def _rows(chart: go.Figure, trace: Any) -> pd.DataFrame:
    import pandas as pd

    x_name = _title(chart, "x", trace.xaxis)
    y_name = _title(chart, "y", trace.yaxis)
    if trace.type == "heatmap":
        z = np.asarray(trace.z)
        down, across = np.indices(z.shape)
        x = np.asarray(trace.x if trace.x is not None else np.arange(z.shape[1]))[across.ravel()]
        y = np.asarray(trace.y if trace.y is not None else np.arange(z.shape[0]))[down.ravel()]
        return pd.DataFrame(
            {
                x_name: x,
                **_named(chart, x_name, trace.xaxis or "x", x),
                y_name: y,
                **_named(chart, y_name, trace.yaxis or "y", y),
                _plain(trace.name) or "value": z.ravel(),
            }
        )
    y = np.asarray(trace.y)
    x = np.asarray(trace.x) if trace.x is not None else np.arange(len(y))
    columns: dict[str, Any] = {
        "series": _plain(trace.name),
        x_name: x,
        **_named(chart, x_name, trace.xaxis or "x", x),
        y_name: y,
        **_named(chart, y_name, trace.yaxis or "y", y),
    }
    for axis, values, name in (("error_x", x, x_name), ("error_y", y, y_name)):
        bars = getattr(trace, axis, None)
        if bars is not None and bars.array is not None:
            plus = np.asarray(bars.array, float)
            minus = np.asarray(bars.arrayminus, float) if bars.arrayminus is not None else plus
            columns[f"{name}, low"] = values - minus
            columns[f"{name}, high"] = values + plus
    return pd.DataFrame(columns)


def _named(chart: go.Figure, title: str, axis: str, places: np.ndarray) -> dict[str, list[str]]:
    """The words that the numbers 1, 2, ... of an axis stand for, as a column of their own."""
    words = ((chart.layout.meta or {}).get("names") or {}).get(axis)
    if not words or not np.isin(places, np.arange(1, len(words) + 1)).all():
        return {}
    return {f"{title}: name": [words[int(place) - 1] for place in places]}


def _title(chart: go.Figure, letter: str, axis: str | None) -> str:
    key = f"{letter}axis" + (axis or letter)[1:]
    title = chart.layout[key].title.text if key in chart.layout else None
    return _plain(title) or letter


def _plain(text: str | None) -> str:
    return _TAG.sub("", text or "").strip()
