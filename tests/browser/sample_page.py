"""A page with one bench whose chart can be clicked: for test_browser_picks.py."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import streamlit as st

from seqviz.figures.grammar.axes import axis
from seqviz.figures.grammar.figure import Figure
from seqviz.figures.grammar.scales import plain
from seqviz.figures.grammar.sheet import Sheet
from seqviz.figures.grammar.style import LIVE, Style
from seqviz.lessons.bench.controls import slider
from seqviz.lessons.bench.show import Show
from seqviz.lessons.bench.words import Words
from seqviz.text import Text
from seqviz.ui.bench import widgets
from seqviz.ui.bench.host import PageHost
from seqviz.ui.shared import css

PREFIX = "sample.place"
COLUMNS, ROWS = (10, 20, 30, 40), (0.5, 1.0, 1.5)


@dataclass(frozen=True)
class Place:
    """A place on the map; the second slider ends before the map does."""

    column: int = slider(10, 40, 10)
    row: float = slider(0.25, 1.25, 0.5, 0.25)


def grid(column: int, row: float, style: Style) -> Figure:
    """Left a map of cells that can be clicked, right a line that cannot."""
    sheet = Sheet(style)
    left = sheet.panel(axis("x"), axis("y"), across=(0, 0.45))
    left.cells(np.arange(12.0).reshape(3, 4), "cells", plain(), x=COLUMNS, y=ROWS, pick=True)
    left.points([column], [row], "place", style.palette.truth, hover=False)
    right = sheet.panel(axis("x"), axis("y"), across=(0.55, 1))
    right.line([20, 30, 40], [1, 1, 1], "line", style.palette.truth)
    return sheet.finish(f"Cell {column}, {row}.")


def word(name: str, option: str = "") -> str:
    return option or name


@st.fragment(key=PREFIX)
def bench() -> None:
    stage, side = st.columns([8, 3])
    place = widgets.draw(
        PREFIX, Place, Text("en"), lambda name: (name, None), word, above=stage, side=side
    )
    words, style = Words("ar_fitting", Text("en")), Style(LIVE)
    with stage:
        host = PageHost(PREFIX, words, stage, side, st.container(), Place, style)
    show = Show(words, host, style)
    show.figure(grid, place.column, place.row, picks=("column", "row"))


st.session_state["runs"] = st.session_state.get("runs", 0) + 1
st.title("A place to click")
css.apply(presenting=False)
st.text(f"{st.session_state['runs']} runs of the page")
bench()
