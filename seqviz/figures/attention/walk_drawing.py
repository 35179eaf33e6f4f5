"""Matrices side by side: rows at the same height, one color bar, numbers in cells."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from seqviz.figures.attention import walk_panels as marks
from seqviz.figures.attention.walk_panels import Panel, written
from seqviz.figures.grammar.decades import diverging
from seqviz.figures.grammar.style import WEIGHTS, Style, axis_layout, layout
from seqviz.figures.grammar.tokens import plain

ABOVE = 68  # pixels over the panels: a line of text, and a title for each
_ROOM = 1.25  # colors end here times the largest number: text is read on the strongest one, too
_BAR = 0.085  # share of the width that the color bar takes
_LABELS = {"words": 0.135, "numbers": 0.085, "hidden": 0.05}  # the same for names of rows


def draw(panels: Sequence[Panel], words: Sequence[str], said: str, style: Style) -> dict[str, Any]:
    """Data and layout of these panels, the last one with its color bar; `said` stands above."""
    spec = layout(style)
    spec["margin"] = {**spec["margin"], "t": ABOVE * style.scale, "r": 10}
    spec |= {"shapes": [], "annotations": [], "title": _headline(said, style), "showlegend": False}
    data: list[dict[str, Any]] = []
    for place, (panel, domain) in enumerate(zip(panels, _domains(panels), strict=True), 1):
        x, y = (f"{letter}{place if place > 1 else ''}" for letter in "xy")
        data.append(_heat(panel, x, y, place == len(panels), domain[1], style))
        data += marks.closed_cells(panel, x, y, style)
        height, width = panel.z.shape
        below, beside = max(height, panel.room) + panel.sums, width + panel.sums
        spec[f"xaxis{x[1:]}"] = _axis(
            panel.columns, width, words if "c" in panel.words else (), style
        ) | {
            "domain": domain,
            "range": [0.5, beside + 0.5],
            "anchor": y,
            "tickangle": -45 if panel.picked else 0,
            "showticklabels": panel.kind != "plain" and not panel.unnamed,
        }
        spec[f"yaxis{y[1:]}"] = _axis(
            panel.rows, height, words if "r" in panel.words else (), style
        ) | {"range": [below + 0.5, 0.5], "anchor": x, "showticklabels": not panel.hidden}
        spec["shapes"] += marks.outlines(panel, x, y, style)
        spec["annotations"].append(marks.title(panel.title, x, y, style))
        if panel.sums:
            spec["annotations"] += marks.sums(panel, x, y, style)
    return {"data": data, "layout": spec}


def _headline(text: str, style: Style) -> dict[str, Any]:
    """What the lit cells say, over all panels, from the left edge: a phone is narrow."""
    return {
        "text": text,
        "font": {"size": 14 * style.scale, "color": style.palette.prediction},
        "xref": "container",
        "x": 0,
        "xanchor": "left",
        "yref": "container",
        "y": 1,
        "yanchor": "top",
        "pad": {"l": 12, "t": 12},
    }


def _domains(panels: Sequence[Panel]) -> list[list[float]]:
    """Where each panel stands from left to right, with room for the names of its rows."""
    gaps = [0.0]
    for panel in panels[1:]:
        kind = "hidden" if panel.hidden else "words" if "r" in panel.words else "numbers"
        gaps.append(_LABELS[kind])
    bar = _BAR if panels[-1].kind != "plain" else 0.0
    room = (1 - bar - sum(gaps)) / sum(panel.share for panel in panels)
    found, left = [], 0.0
    for gap, panel in zip(gaps, panels, strict=True):
        left += gap
        found.append([round(left, 6), round(left + room * panel.share, 6)])
        left += room * panel.share
    return found


def _heat(panel: Panel, x: str, y: str, barred: bool, right: float, style: Style) -> dict[str, Any]:
    height, width = panel.z.shape
    finite = np.abs(panel.z[np.isfinite(panel.z)])
    limit = (panel.limit or float(finite.max(initial=0)) or 1.0) * _ROOM
    flat = [[0, style.palette.band], [1, style.palette.band]]
    scales = {"signed": diverging(style), "weights": WEIGHTS, "plain": flat}
    value = {"signed": "%{z:.4f}", "weights": "%{z:.5~g}", "plain": "%{z}"}[panel.kind]
    hover = f"{panel.rows}: %{{y}}<br>{panel.columns}: %{{x}}<br><b>{value}</b><extra></extra>"
    heat: dict[str, Any] = {
        "type": "heatmap",
        "x": np.arange(1, width + 1),
        "y": np.arange(1, height + 1),
        "z": panel.z,
        "xaxis": x,
        "yaxis": y,
        "name": panel.name,
        "zmin": 0 if panel.kind == "weights" else -limit,
        "zmax": 1 if panel.kind == "weights" else limit,
        "colorscale": scales[panel.kind],
        "showscale": barred and panel.kind != "plain",
        "hovertemplate": hover,
        "hoverongaps": panel.picked,
    }
    if panel.picked:
        heat["meta"] = "pick"
    if np.isneginf(panel.z).any():
        heat["hovertext"] = written(panel.z, 4)
        heat["hovertemplate"] = hover.replace(value, "%{hovertext}")
    if panel.digits is not None:
        text = np.where(np.isneginf(panel.z), "", written(panel.z, panel.digits))  # marked apart
        heat |= {"text": text, "texttemplate": "%{text}"}
        # On cividis Plotly finds black or white itself; a signed color lets the page through.
        heat["textfont"] = {} if panel.kind == "weights" else {"color": style.palette.truth}
        if width <= 4:
            heat["textfont"]["size"] = 13 * style.scale
    if heat["showscale"]:
        heat["colorbar"] = {
            "title": {
                "text": style.text(f"figure.walk_bar_{panel.kind}"),
                "side": "right",
                "font": {"size": 13 * style.scale},
            },
            "tickfont": {"size": 12 * style.scale},
            "thickness": 12,
            "outlinewidth": 0,
            "x": right + 0.012,
            "xpad": 0,
        }
    return heat


def _axis(title: str, length: int, words: Sequence[str], style: Style) -> Any:
    if words:
        places, labels = list(range(1, length + 1)), [plain(word) for word in words]
    else:
        step = next(s for s in (1, 4, 8, 16, 32, 64, 128) if length / s <= 4)
        places = [1, *range(step if step > 1 else 2, length + 1, step)]
        labels = [str(place) for place in places]
    return axis_layout(
        style,
        title={"text": title},
        tickvals=places,
        ticktext=labels,
        showgrid=False,
    )
