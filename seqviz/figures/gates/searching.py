"""Search for units on one text, scored on another and compared with chance."""

from __future__ import annotations

from typing import Any

import numpy as np

from seqviz.compute.gates.searching import UnitSearch
from seqviz.core.i18n import number
from seqviz.plotting import STYLE, Figure, Sheet, Style, axis

_BINS = np.linspace(0, 1, 41)
_HEADROOM = 1.2  # top of the axis of shares, by the highest bar: the label of the line is above


def found_and_scored(unit_search: UnitSearch, style: Style = STYLE) -> Figure:
    """Plot each unit's r on both texts (left), and the largest |r| by chance (right).

    Left: on the dotted diagonal both are equal. Right: a histogram, in percent of the shifts, of
    the largest |r| of any unit with the property shifted along the first text; the line is the |r|
    of the unit found.
    """
    text, palette = style.text, style.palette
    counts, _ = np.histogram(unit_search.best, _BINS)
    shares = 100 * counts / max(len(unit_search.best), 1)
    sheet = Sheet(style)
    both = {"range": [-1.05, 1.05], "tickvals": [-1, -0.5, 0, 0.5, 1]}
    left, right = sheet.row(
        (axis(text("figure.r_found"), **both), axis(text("figure.r_scored"), **both)),
        (axis(text("figure.best_r"), range=[0, 1.02]),
         axis(text("figure.shift_share"), range=[0, _HEADROOM * max(shares.max(), 1)])),
        gaps=(0.46, 0.6),
    )  # fmt: skip
    left.reference([-1, 1], [-1, 1], text("figure.same_on_both"))
    units = np.arange(1, len(unit_search.correlation) + 1)
    marks: tuple[dict[str, Any], ...] = (
        {"size": 7, "opacity": 0.5},
        {"size": 15, "symbol": "diamond", "edge": {"color": palette.truth, "width": 1.5}},
    )
    names = text("figure.other_units"), text("figure.best_unit", unit=unit_search.unit)
    hover = text("figure.hover_unit", unit="%{customdata}", first="%{x:.2f}", second="%{y:.2f}")
    for is_best, name, color, mark in zip(
        (False, True), names, (palette.prediction, palette.highlight), marks, strict=True
    ):
        at = (units == unit_search.unit) == is_best
        left.points(unit_search.correlation[at], unit_search.scored[at], name, color,
                    customdata=units[at], hover=hover, **mark)  # fmt: skip
    right.bars(
        (_BINS[:-1] + _BINS[1:]) / 2, shares,
        text("figure.best_by_chance"), palette.baseline, width=np.diff(_BINS),
        edge={"color": palette.band, "width": 1}, hover="|r| ≈ %{x:.2f}: %{y:.1f}%",
    )  # fmt: skip
    size = abs(unit_search.r_found)
    side = 1 if size < 0.7 else -1  # of the line, where its label has room
    right.vertical(size, palette.highlight, width=4)
    right.words(f"<b>|r| = {number(size, 2)}</b>", size, 1, yref="domain", yanchor="top",
                xshift=6 * side, xanchor="left" if side > 0 else "right")  # fmt: skip
    return sheet.described("alt.found_and_scored", units=len(units), search=unit_search)
