"""Tables under a figure: no cell is cut while another column has space to spare."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest

from seqviz.ui.page.bench_view import _widths

SHORT = {"Cutter": ["characters", "WordPiece"], "Tokens": ["58", "25"]}


@pytest.mark.parametrize(
    ("name", "cell"),
    [("What is lost", "upper case, spaces, unknown characters"),
     ("丢失", "大写、空格、未知字")],
)  # fmt: skip
def test_column_of_table_is_as_wide_as_its_longest_cell(name, cell):
    widths = [column["width"] for column in _widths({**SHORT, name: ["no", cell]}).values()]
    assert len(widths) == len(SHORT) + 1
    assert widths[2] > 7 * len(cell)
    assert widths[2] > widths[0] > widths[1]
    assert sum(widths) < 500  # half of the room that a table has beside the controls


def test_table_without_columns_has_no_widths():
    assert _widths({}) == {}


def page_of_a_table(cells: list[str]) -> None:
    import streamlit

    from seqviz.lessons.framework.output import Table
    from seqviz.ui.page.bench_view import BenchView

    stage = streamlit.container()
    view = BenchView("x", None, stage, None, None, type(None))  # type: ignore[arg-type]
    view.emit(Table("texts", {"n": ["6"] * len(cells), "Text": cells}))


@pytest.mark.parametrize("cell", ["letters " * 15, "字符" * 30])
def test_short_table_wraps_texts_that_do_not_fit_and_a_long_one_scrolls(cell):
    short = AppTest.from_function(page_of_a_table, args=([f"*{cell}*"],)).run()
    assert not short.exception
    (table,) = short.table
    assert table.value["Text"].tolist() == [f"\\*{cell}\\*"]  # as it is, without emphasis
    assert not short.dataframe
    for cells in ([cell] * 9, ["few"]):
        others = AppTest.from_function(page_of_a_table, args=(cells,)).run()
        assert len(others.dataframe) == 1
        assert not others.table
