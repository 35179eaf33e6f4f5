"""Tables under a figure: no cell is cut while another column has space to spare."""

from __future__ import annotations

import pytest

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
