"""Rows and discrepancies of the texts as a table: each is live on a bench, not only written there.

A row names a bench at some values, what it then says (numbers and words, or a pair of them in
English and Chinese), and other values at which it no longer says the first of them:

    ROWS = {"0-46": ("steps", {"step": 4}, ("8 × 6 × 64",), {"step": 8})}

    @each(ROWS)
    def test_row_is_live(row, language):
        live(lesson, ROWS[row], language)

The languages take turns along the table; the night has all rows in both.
"""

from __future__ import annotations

import html
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pytest

from seqviz.core.i18n import LANGUAGES
from seqviz.lessons.framework.lesson import Lesson
from seqviz.lessons.framework.output import Chart, ColoredText, Metric, Note, Table
from tests.tiers import alternate

Values = Mapping[str, Any]
Row = tuple[str, Values, Sequence[str | tuple[str, str]], Values]


def each(rows: Iterable[str]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize(("row", "language"), alternate(list(rows)))


def said(lesson: Lesson, bench: str, values: Values, language: str = "en") -> str:
    """All that is written at these settings, in the figure's description and in tables too."""
    visible = lesson.benches[bench].run(values, language, code=False)
    parts = [item.sentence for item in visible.of(Note)]
    parts += [f"{item.label}: {item.value} {item.caption}" for item in visible.of(Metric)]
    parts += [html.unescape(item.html) for item in visible.of(ColoredText)]
    parts += [item.figure.alt for item in visible.of(Chart)]
    parts += [str(cell) for table in visible.of(Table) for column in table.columns.values()
              for cell in column]  # fmt: skip
    return "\n".join(parts).replace("\\", "")


def live(lesson: Lesson, row: Row, language: str) -> None:
    bench, values, expected, other = row
    here, there = (said(lesson, bench, these, language) for these in (values, other))
    words = [
        item if isinstance(item, str) else item[LANGUAGES.index(language)] for item in expected
    ]
    assert [word for word in words if word not in here] == [], here
    assert words[0] not in there, there
