"""Words on a figure: the line over it that says what is chosen, and the title of a panel."""

from __future__ import annotations

from typing import Any

from seqviz.figures.grammar.style import Style


def headline(style: Style, words: str) -> dict[str, Any]:
    """One line over the figure that says what is chosen."""
    return {
        "xref": "paper",
        "yref": "paper",
        "x": 0,
        "y": 1,
        "xanchor": "left",
        "yanchor": "bottom",
        "yshift": 10 * style.scale,
        "align": "left",
        "text": words,
        "showarrow": False,
        "font": {"size": 14 * style.scale, "color": style.palette.truth},
    }


def panel_title(style: Style, end: str, words: str) -> dict[str, Any]:
    """The title of the panel with the axes x`end` and y`end`; it moves with the panel."""
    return {
        "xref": f"x{end} domain",
        "yref": f"y{end} domain",
        "x": 0,
        "y": 1,
        "xanchor": "left",
        "yanchor": "bottom",
        "yshift": 3,
        "text": words,
        "showarrow": False,
        "font": {"size": 13 * style.scale, "color": style.palette.truth},
    }
