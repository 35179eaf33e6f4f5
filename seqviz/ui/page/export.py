"""Exports of a figure: data, images, a standalone page, and its code."""

from __future__ import annotations

import io
from collections.abc import Callable
from functools import cache, partial
from typing import TYPE_CHECKING, Any

import streamlit as st

from seqviz.core import content_hash
from seqviz.core.i18n import Text, escape_markdown
from seqviz.core.paths import STATIC
from seqviz.plotting.figure import Figure
from seqviz.plotting.style import LIGHT, LIVE, opaque, recolored
from seqviz.plotting.table import table, tables
from seqviz.ui.page.spreadsheet import no_formulas
from seqviz.ui.runtime import result_cache

if TYPE_CHECKING:
    import pandas as pd

ROWS_ON_SCREEN = 1000
SIGNIFICANT = "%.6g"


def data_panel(text: Text, chart: Any) -> None:
    """Show the figure's alternative text and its data, panel by panel."""
    st.markdown(escape_markdown(_alt(chart)))  # it may contain a student's text
    for frame in tables(chart, ROWS_ON_SCREEN):
        # The browser saves this table as CSV, too, with all digits in any format.
        visible = no_formulas(frame)
        st.dataframe(visible, hide_index=True, height=260, column_config=_written(visible))
        if (rows := frame.attrs["rows"]) > ROWS_ON_SCREEN:
            st.caption(text("frame.rows", shown=ROWS_ON_SCREEN, all=f"{rows:,}"))


def _written(frame: pd.DataFrame) -> dict[str, Any]:
    """Return column formats with six significant digits: as a decimal, 4e-18 would be zeros."""
    floats = [name for name, kind in frame.dtypes.items() if kind.kind == "f"]
    return {str(name): st.column_config.NumberColumn(format=SIGNIFICANT) for name in floats}


def files_panel(text: Text, prefix: str, chart: Any) -> None:
    """Show buttons for CSV and HTML from the server, PNG and SVG from the browser."""
    stem = prefix.replace(".", "-")
    for kind, created, icon in (
        ("csv", csv, ":material/table_chart:"),
        ("html", html, ":material/public:"),
    ):
        st.download_button(
            text(f"frame.{kind}"),
            partial(_file, created, chart),
            f"{stem}.{kind}",
            f"text/{kind}",
            key=f"{prefix}.{kind}",
            on_click="ignore",
            icon=icon,
            width="stretch",
        )
    _picture()(
        key=f"{prefix}.picture",
        data={
            "figure": f"{prefix}.figure",
            "stem": stem,
            "png": text("frame.png"),
            "svg": text("frame.svg"),
        },
    )


def code_panel(text: Text, source: str) -> None:
    """Show the code that reproduces this figure with these settings."""
    st.code(source, language="python")
    st.caption(text("frame.code_note"))


def _file(make: Callable[[Any], bytes], chart: Any) -> bytes:
    """Return a file from the shared cache."""
    key = content_hash.hash_value((make.__name__, _told(chart)))
    return result_cache.files().get_or_compute(key, partial(make, chart)).result


def csv(chart: Any) -> bytes:
    """Return the figure's data as CSV in UTF-8 with a byte-order mark, for Chinese in Excel."""
    buffer = io.StringIO()
    no_formulas(table(chart)).to_csv(buffer, index=False)
    return buffer.getvalue().encode("utf-8-sig")


def html(chart: Any) -> bytes:
    """Return a standalone HTML file with the figure, which works without a network."""
    if isinstance(chart, Figure):
        figure = opaque(recolored(chart, LIVE, LIGHT), LIGHT)
        page: str = figure.plotly().to_html(include_plotlyjs=True, full_html=True)
        # A hidden paragraph describes the figure for screen readers.
        return page.replace("<body>", f"<body><p hidden>{_escaped(_alt(chart))}</p>", 1).encode()
    # On the page Streamlit gives Vega the theme's colors; a file needs its own.
    return str(chart.configure_range(category=list(LIGHT.colors())).to_html(inline=True)).encode()


def _told(chart: Any) -> str:
    return chart.to_json() if isinstance(chart, Figure) else result_cache.vega(chart)


def _escaped(sentence: str) -> str:
    return sentence.replace("&", "&amp;").replace("<", "&lt;")


def _alt(chart: Any) -> str:
    return chart.alt if isinstance(chart, Figure) else str(chart.description)


@cache
def _picture() -> Any:
    """Return the component with two buttons that save the rendered figure in the browser."""
    return st.components.v2.component(
        "seqviz_picture",
        html='<div class="pictures"><button data-kind="png"></button>'
        '<button data-kind="svg"></button></div>',
        css=(STATIC / "bench/save_image.css").read_text("utf-8"),
        js=(STATIC / "bench/save_image.js").read_text("utf-8"),
    )
