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
def test_longest_column_of_table_takes_what_the_others_leave(name, cell):
    widths = _widths({**SHORT, name: ["nothing", cell]})
    assert list(widths) == list(SHORT)
    pixels = [column["width"] for column in widths.values()]
    assert pixels == sorted(pixels, reverse=True)
    assert sum(pixels) < 250


def test_table_without_columns_has_no_widths():
    assert _widths({}) == {}
