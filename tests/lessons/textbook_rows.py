"""What a bench prints at some settings, and the parameters of tests of rows.

The languages take turns along a table of rows (`tests.lessons.rows`); the night has all rows in
both.
"""

from __future__ import annotations

import html
from collections.abc import Iterable, Mapping
from typing import Any

import pytest

from seqviz.lessons.framework.lesson import Lesson
from seqviz.lessons.framework.output import Chart, ColoredText, Metric, Note, Table
from tests.tiers import alternate

Values = Mapping[str, Any]


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
