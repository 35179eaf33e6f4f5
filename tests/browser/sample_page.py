"""A page with one bench whose chart can be clicked: for test_browser_picks.py."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import streamlit as st

from seqviz.core.i18n import Text
from seqviz.lessons.framework.controls import slider
from seqviz.lessons.framework.show import Show
from seqviz.lessons.framework.words import LessonWords
from seqviz.plotting.axes import axis
from seqviz.plotting.figure import Figure
from seqviz.plotting.scales import unit_scale
from seqviz.plotting.sheet import Sheet
from seqviz.plotting.style import LIVE, Style
from seqviz.ui.page import widgets
from seqviz.ui.page.page_host import PageHost
from seqviz.ui.render import css

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
    left.cells(np.arange(12.0).reshape(3, 4), "cells", unit_scale(), x=COLUMNS, y=ROWS, pick=True)
    left.points([column], [row], "place", style.palette.truth, hover=False)
    right = sheet.panel(axis("x"), axis("y"), across=(0.55, 1))
    right.line([20, 30, 40], [1, 1, 1], "line", style.palette.truth)
    return sheet.finish(f"Cell {column}, {row}.")


def word(name: str, option: str = "") -> str:
    return option or name


@st.fragment(key=PREFIX)
def bench() -> None:
    stage, side = st.columns([8, 3])
    position = widgets.draw(
        PREFIX, Place, Text("en"), lambda name: (name, None), word, above=stage, side=side
    )
    words, style = LessonWords("ar_fitting", Text("en")), Style(LIVE)
    with stage:
        host = PageHost(PREFIX, words, stage, side, st.container(), Place, style)
    show = Show(words, host, style)
    show.figure(grid, position.column, position.row, picks=("column", "row"))


st.session_state["runs"] = st.session_state.get("runs", 0) + 1
st.title("A place to click")
css.apply(presenting=False)
st.text(f"{st.session_state['runs']} runs of the page")
bench()
