"""Thumbnail of a figure without text, for cards: `wordless`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from seqviz.plotting.figure import Figure

WIDTH, HEIGHT = 304, 152  # pixels
_MARGIN = {"l": 6, "r": 6, "t": 6, "b": 6}
_THIN = 0.7  # factor of line widths and marker sizes
_WORDS = ("text", "texttemplate", "textfont", "hovertemplate", "customdata", "name", "colorbar")


def wordless(figure: Figure) -> Figure:
    """Return a figure with the same data, arrows and colors but no text, 304 x 152 pixels in size.

    Example:
        >>> wordless(Figure([{"type": "bar", "y": [1, 2], "text": ["a", "b"]}], {})).traces
        [{'type': 'bar', 'y': [1, 2], 'hoverinfo': 'skip'}]
    """
    dropped = ("annotations", "title", "legend", "meta", "uniformtext")
    page = {key: value for key, value in figure.page.items() if key not in dropped}
    if arrows := [_arrow(note) for note in figure.page.get("annotations", ()) if _is_arrow(note)]:
        page["annotations"] = arrows
    page |= {"showlegend": False, "width": WIDTH, "height": HEIGHT, "margin": _MARGIN}
    for key, axis in page.items():
        if "axis" in key:
            page[key] = {**axis, "title": {"text": ""}, "showticklabels": False,
                         "automargin": False}  # fmt: skip
    return Figure([_trace(trace) for trace in figure.traces], page)


def _is_arrow(note: Mapping[str, Any]) -> bool:
    """Return True for an arrow between two points of the figure, without a label."""
    return bool(note.get("showarrow") and not note.get("text"))


def _arrow(note: Mapping[str, Any]) -> dict[str, Any]:
    return {**note, "arrowwidth": max(1, _THIN * note.get("arrowwidth", 1)), "hovertext": ""}


def _trace(trace: Mapping[str, Any]) -> dict[str, Any]:
    retained = {key: value for key, value in trace.items() if key not in _WORDS}
    retained["hoverinfo"] = "skip"
    if trace["type"] == "heatmap":
        retained["showscale"] = False
    for part, size in (("line", "width"), ("marker", "size")):
        value = (retained.get(part) or {}).get(size)
        if isinstance(value, int | float):
            retained[part] = {**retained[part], size: _THIN * value}
    return retained
