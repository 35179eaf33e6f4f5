"""What leaves a figure: its data, its picture, a page that runs alone, its code and its link."""

from __future__ import annotations

import io
import re
from functools import cache
from typing import TYPE_CHECKING, Any

import streamlit as st

from seqviz.figures.grammar.figure import Figure
from seqviz.figures.grammar.style import LIGHT, LIVE, opaque, recolored
from seqviz.figures.grammar.table import table, tables
from seqviz.text import ASSETS, literal
from seqviz.ui import header

if TYPE_CHECKING:
    import pandas as pd

    from seqviz.ui.bench import Show

ROWS_ON_SCREEN = 1000
_FORMULA = ("=", "+", "-", "@", "＝", "＋", "－", "＠")  # the wide ones in Asian Excel
_NUMBER = re.compile(r"[+-]?[0-9.]+([eE][+-]?[0-9]+)?%?")


def data_panel(show: Show, chart: Any) -> None:
    """The figure in words, and the numbers behind it, panel by panel."""
    st.markdown(literal(_alt(chart)))  # a student's words are among them
    for frame in tables(chart):
        # The browser saves what is shown here as CSV, too.
        st.dataframe(no_formulas(frame.head(ROWS_ON_SCREEN)), hide_index=True, height=260)
        if len(frame) > ROWS_ON_SCREEN:
            st.caption(show.text("frame.rows", shown=ROWS_ON_SCREEN, all=f"{len(frame):,}"))


def files_panel(show: Show, chart: Any) -> None:
    """CSV and standalone HTML from the server; PNG and SVG of the screen from the browser."""
    stem = show.prefix.replace(".", "-")
    text = show.text
    st.download_button(
        text("frame.csv"),
        lambda: csv(chart),
        f"{stem}.csv",
        "text/csv",
        key=f"{show.prefix}.csv",
        on_click="ignore",
        icon=":material/table_chart:",
        width="stretch",
    )
    st.download_button(
        text("frame.html"),
        lambda: html(chart),
        f"{stem}.html",
        "text/html",
        key=f"{show.prefix}.html",
        on_click="ignore",
        icon=":material/public:",
        width="stretch",
    )
    _picture()(
        key=f"{show.prefix}.picture",
        data={
            "figure": f"{show.prefix}.figure",
            "stem": stem,
            "png": text("frame.png"),
            "svg": text("frame.svg"),
        },
    )


def code_panel(show: Show) -> None:
    """The code that drew this figure with these settings."""
    st.code(show.recipe.source(), language="python")
    st.caption(show.text("frame.code_note"))


def link_panel(show: Show) -> None:
    """A link to this bench with these settings."""
    header.link_and_code(show.text, show.link())


def csv(chart: Any) -> bytes:
    """The figure's numbers as CSV, UTF-8 with a byte-order mark so that Excel reads Chinese."""
    buffer = io.StringIO()
    no_formulas(table(chart)).to_csv(buffer, index=False)
    return buffer.getvalue().encode("utf-8-sig")


def no_formulas(frame: pd.DataFrame) -> pd.DataFrame:
    """The table with an apostrophe before each text that a spreadsheet would run as a formula.

    Texts come from students: tokens, words, names of columns. What is a number stays one.
    """
    from pandas.api.types import is_numeric_dtype  # slow to import, needed only here

    safe = frame.rename(columns=no_formula)
    for place, kind in enumerate(frame.dtypes):
        if not is_numeric_dtype(kind):
            safe.isetitem(place, frame.iloc[:, place].map(no_formula).to_list())
    return safe


def no_formula(cell: Any) -> Any:
    """One cell of such a table."""
    risky = isinstance(cell, str) and len(cell) > 1 and cell.lstrip().startswith(_FORMULA)
    return f"'{cell}" if risky and not _NUMBER.fullmatch(cell) else cell


def html(chart: Any) -> bytes:
    """One file with the figure and everything it needs: opens without a network."""
    if isinstance(chart, Figure):
        figure = opaque(recolored(chart, LIVE, LIGHT), LIGHT)
        page: str = figure.plotly().to_html(include_plotlyjs=True, full_html=True)
        # The picture is described for those who do not see it.
        return page.replace("<body>", f"<body><p hidden>{_escaped(_alt(chart))}</p>", 1).encode()
    # On the page Streamlit gives Vega the theme's colors; a file brings its own.
    return str(chart.configure_range(category=list(LIGHT.colors())).to_html(inline=True)).encode()


def _escaped(sentence: str) -> str:
    return sentence.replace("&", "&amp;").replace("<", "&lt;")


def _alt(chart: Any) -> str:
    return chart.alt if isinstance(chart, Figure) else str(chart.description)


@cache
def _picture() -> Any:
    """Two buttons that save what is on screen; the browser does the work."""
    return st.components.v2.component(
        "seqviz_picture",
        html='<div class="pictures"><button data-kind="png"></button>'
        '<button data-kind="svg"></button></div>',
        css=(ASSETS / "static" / "picture.css").read_text("utf-8"),
        js=(ASSETS / "static" / "picture.js").read_text("utf-8"),
    )
