"""Rows of the texts, each with the number that moves when a student changes a control.

A row names a bench, settings, other settings, the quantities that differ between the two with both
values, and words that are printed at the first settings (a word, or a pair in English and Chinese):

    ROWS = {"0-10": Row("ladder", {}, {"word": "playing"}, {"ladder.all.tries": (12, 1)},
                        ("una ##ffa ##ble",))}

    @each(ROWS)
    def test_row_is_live(row, language):
        rows.moves(lesson, ROWS[row], language)

    @pytest.mark.parametrize("row", ROWS)
    def test_row_fails_with_a_frozen_answer(row):
        assert rows.echoes(lesson, ROWS[row]) == []

A quantity is a field of a note (`<note>.<field>`), a read-out (`metric.<name>`) or a column of a
table (`rows.<table>.<column>`), as the bench passed it to the page. `echoes` names those that move
although nothing is computed anew: they repeat a control, and a row must not rest on them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from fnmatch import fnmatchcase
from typing import Any, NamedTuple
from unittest import mock

import numpy as np

from seqviz.core.i18n import LANGUAGES
from seqviz.lessons.framework.lesson import Lesson
from seqviz.lessons.framework.show import Show
from seqviz.stats.estimate import Estimate
from tests.lessons.textbook_rows import Values, said

Quantities = dict[str, Any]
# What a run may raise that needs a part of a result which the frozen one does not have.
_MISSING = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)
_COMPUTE = ("run", "derive", "job", "shipped")  # the ways of a bench to its results


class Row(NamedTuple):
    """Row of a text on a bench.

    Attributes:
        bench: name of the bench.
        values: settings.
        other: other settings.
        moves: value of each quantity at `values` and at `other`.
        says: what is printed at `values`.
    """

    bench: str
    values: Values
    other: Values
    moves: Mapping[str, tuple[Any, Any]]
    says: Sequence[str | tuple[str, str]] = ()


@contextmanager
def _recorded(results: dict[tuple[str, str], list[Any]], frozen: bool) -> Iterator[Quantities]:
    """Record the quantities of a run, and its results; or answer with the results recorded before.

    Args:
        results: results by kind and name of the function, in the order of the calls.
        frozen: True to answer each call with the recorded result.
    """
    quantities: Quantities = {}
    turn: dict[tuple[str, str], int] = defaultdict(int)
    real = {name: getattr(Show, name) for name in (*_COMPUTE, "note", "metric", "rows")}

    def compute(kind: str) -> Any:
        def called(show: Show, function: Any, /, *args: Any, **keywords: Any) -> Any:
            key = kind, getattr(function, "__name__", repr(function))
            at, turn[key] = turn[key], turn[key] + 1
            if frozen and at < len(results[key]):
                return results[key][at]
            value = real[kind](show, function, *args, **keywords)
            if not frozen:
                results[key].append(value)
            return value

        return called

    def note(show: Show, key: str, **values: object) -> None:
        quantities.update({f"{key}.{name}": value for name, value in values.items()})
        real["note"](show, key, **values)

    def metric(show: Show, name: str, value: Any, *args: Any, **keywords: Any) -> None:
        quantities[f"metric.{name}"] = value
        real["metric"](show, name, value, *args, **keywords)

    def rows(show: Show, name: str, columns: Mapping[str, Sequence[Any]]) -> None:
        quantities.update({f"rows.{name}.{key}": list(some) for key, some in columns.items()})
        real["rows"](show, name, columns)

    patched = {kind: compute(kind) for kind in _COMPUTE}
    with mock.patch.multiple(Show, **patched, note=note, metric=metric, rows=rows):
        yield quantities


def quantities(lesson: Lesson, bench: str, values: Values) -> Quantities:
    """Return all quantities of a run."""
    with _recorded(defaultdict(list), frozen=False) as result:
        lesson.benches[bench].run(values, code=False)
    return result


def echoes(lesson: Lesson, row: Row) -> list[str]:
    """Return the quantities of a row that move although every result stays as at `values`.

    The bench runs at `other` with the results of `values`. An honest quantity then stays; a run
    that cannot go on with them has moved nothing.
    """
    results: dict[tuple[str, str], list[Any]] = defaultdict(list)
    with _recorded(results, frozen=False):
        lesson.benches[row.bench].run(row.values, code=False)
    with _recorded(results, frozen=True) as still, suppress(*_MISSING):
        lesson.benches[row.bench].run(row.other, code=False)
    return [name for name, (_, there) in row.moves.items()
            if there is not None and same(find(still, name), there)]  # fmt: skip


def find(result: Quantities, name: str) -> Any:
    """Return a quantity, None where there is none.

    Args:
        result: quantities of a run.
        name: its name; `*` stands for any part, `<name>:<attributes>` are those of an object that a
            note was given.
    """
    name, _, path = name.partition(":")
    value = next((result[key] for key in result if fnmatchcase(key, name)), None)
    if value is None:
        return None
    for part in filter(None, path.split(".")):
        value = value[int(part)] if part.isdigit() else getattr(value, part)
    return value.mean if isinstance(value, Estimate) else value


def same(value: Any, expected: Any) -> bool:
    """Return True for equal values; numbers to three digits, as the page prints them."""
    if value is None or expected is None:
        return value is expected
    if isinstance(expected, float):
        return bool(np.isclose(value, expected, rtol=2e-3, atol=1e-12))
    if isinstance(value, list | tuple | np.ndarray) and isinstance(expected, list | tuple):
        pairs = zip(value, expected, strict=False)
        return len(value) == len(expected) and all(same(*pair) for pair in pairs)
    return bool(value == expected)


def moves(lesson: Lesson, row: Row, language: str) -> None:
    """Assert that the quantities of a row have their values, and that its words are printed."""
    assert row.moves
    here, there = (quantities(lesson, row.bench, some) for some in (row.values, row.other))
    for name, pair in row.moves.items():
        assert not same(*pair), name
        for result, expected in zip((here, there), pair, strict=True):
            value = find(result, name)
            assert same(value, expected), f"{name} is {value}, not {expected}"
    visible = said(lesson, row.bench, row.values, language)
    words = [item if isinstance(item, str) else item[LANGUAGES.index(language)]
             for item in row.says]  # fmt: skip
    assert [word for word in words if word not in visible] == [], visible
