"""Rows of the texts, each with the numbers that move when a student changes a control.

A row names a bench, settings, other settings, the quantities of its answer with both values (or how
they move), and words that are printed at the first settings (a word, or a pair in English and
Chinese):

    ROWS = {"0-10": Row("ladder", {}, {"word": "playing"}, {"metric.lookups": (12, 1)},
                        ("una ##ffa ##ble",)),
            "0-36": Row("one", {}, {"added": -4.0}, {"kept": falls})}

    @each(ROWS)
    def test_row_moves(row, language):
        check(lesson, ROWS[row], language)

A quantity is a name among the facts of the output, a field of a note (`<note>.<field>`), a read-out
(`metric.<name>`), a column of a table (`rows.<table>.<column>`), or a function of all of these.

`check` then runs the other settings once more with every result replaced by that of the first run:
a number that still moves is no answer, it repeats a control.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any, NamedTuple

import numpy as np
import pytest

from seqviz.core.i18n import LANGUAGES
from seqviz.lessons.framework.host import Computed, LocalHost, TrainingResult
from seqviz.lessons.framework.lesson import Lesson
from seqviz.lessons.framework.output import RenderedFigure
from seqviz.lessons.framework.show import Show
from seqviz.stats.estimate import Estimate
from tests.lessons.textbook_rows import Values, said
from tests.lessons.textbook_rows import each as each

Quantities = dict[str, Any]
Quantity = str | Callable[[Quantities], Any]
Move = tuple[Any, Any] | Callable[[Any, Any], bool]
CLEAR = 0.01  # smallest relative change that counts as one
# What a run may raise that needs a part of a result which the frozen one does not have.
_MISSING = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)


class Row(NamedTuple):
    """Row of a text on a bench.

    Attributes:
        bench: name of the bench.
        values: settings.
        other: other settings.
        moves: values of each quantity at `values` and at `other` (equal ones for what stays), or a
            relation of the two. A row without any is one of words: the first is gone at `other`.
        says: what is printed at `values`.
    """

    bench: str
    values: Values
    other: Values
    moves: Mapping[Any, Move]
    says: Sequence[str | tuple[str, str]] = ()


def rises(before: float, after: float) -> bool:
    return after - before > CLEAR * max(abs(before), abs(after))


def falls(before: float, after: float) -> bool:
    return rises(after, before)


@dataclass
class RecordingHost(LocalHost):
    """Host that keeps every result, or gives those of an earlier run again; it draws nothing.

    Attributes:
        results: results by function and the number of its call.
        is_frozen: True where the results are given again.
    """

    results: dict[tuple[str, int], Any] = field(default_factory=dict)
    is_frozen: bool = False
    turns: Counter[str] = field(default_factory=Counter)

    def answer(self, function: Any, compute: Callable[[], Any]) -> Any:
        """Return the result of a call, computed now unless it is frozen.

        A call that the recorded run did not make is computed, so that a row which compares two
        views is not frozen, and fails.
        """
        name = getattr(function, "__qualname__", repr(function))
        key = (name, self.turns[name])
        self.turns[name] += 1
        if not (self.is_frozen and key in self.results):
            self.results[key] = compute()
        return self.results[key]

    def call(self, function: Any, args: Any, keywords: Any) -> Computed[Any]:
        call = super().call
        return Computed(self.answer(function, lambda: call(function, args, keywords).result), 0.0)

    def training_result(self, function: Any, keywords: Any, so_far: Any) -> TrainingResult[Any]:
        train = super().training_result
        result = self.answer(function, lambda: train(function, keywords, so_far))
        assert result is not None, f"no result of {function.__name__} is shipped for these values"
        return result

    def render(self, draw: Any, args: Any, keywords: Any, shared: bool) -> RenderedFigure:
        return RenderedFigure(None, (), "")


_RECORDED = ("derive", "shipped", "note", "notice", "metric", "rows")


def run(lesson: Lesson, bench: str, values: Values, host: RecordingHost) -> Quantities:
    """Return the quantities of a run; those until then where a frozen run cannot go on."""
    quantities: Quantities = {}
    real = {name: getattr(Show, name) for name in _RECORDED}

    def answered(kind: str) -> Any:
        def called(show: Show, function: Any, /, *args: Any, **keywords: Any) -> Any:
            compute = real[kind]
            return host.answer(function, lambda: compute(show, function, *args, **keywords))

        return called

    def said(kind: str) -> Any:
        def sentence(show: Show, key: str, **values: object) -> None:
            quantities.update({f"{key}.{name}": value for name, value in values.items()})
            real[kind](show, key, **values)

        return sentence

    def metric(show: Show, name: str, value: Any, *args: Any, **keywords: Any) -> None:
        quantities[f"metric.{name}"] = value
        real["metric"](show, name, value, *args, **keywords)

    def rows(show: Show, name: str, columns: Mapping[str, Sequence[Any]]) -> None:
        quantities.update({f"rows.{name}.{key}": list(some) for key, some in columns.items()})
        real["rows"](show, name, columns)

    with pytest.MonkeyPatch.context() as patch:
        for name in ("derive", "shipped"):
            patch.setattr(Show, name, answered(name))
        for name in ("note", "notice"):
            patch.setattr(Show, name, said(name))
        for replacement in (metric, rows):
            patch.setattr(Show, replacement.__name__, replacement)
        with suppress(*_MISSING if host.is_frozen else ()):
            quantities |= lesson.benches[bench].run(values, host=host, code=False).facts
    return quantities


def find(result: Quantities, name: Quantity) -> Any:
    """Return a quantity, None where there is none.

    Args:
        result: quantities of a run.
        name: its name; `*` stands for any part, `<name>:<attributes>` are those of an object. Or a
            function of the quantities.
    """
    if callable(name):
        with suppress(LookupError):
            return name(result)
        return None
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
    if isinstance(expected, float) or isinstance(value, float):
        return bool(np.isclose(value, expected, rtol=2e-3, atol=1e-9))
    if isinstance(value, list | tuple | np.ndarray) and isinstance(expected, list | tuple):
        pairs = zip(value, expected, strict=False)
        return len(value) == len(expected) and all(same(*pair) for pair in pairs)
    return bool(value == expected)


def has_moved(move: Move, before: Any, after: Any) -> bool:
    """Return True where a quantity has gone from one value to the other as a row says."""
    if callable(move):
        return before is not None and after is not None and move(before, after)
    return same(before, move[0]) and same(after, move[1])


def echoes(lesson: Lesson, row: Row, train: bool = False) -> list[Quantity]:
    """Return the quantities of a row that move although every result stays as at `values`.

    Args:
        lesson: the lesson.
        row: the row.
        train: True to train what is not shipped.
    """
    first = RecordingHost(train=train)
    here = run(lesson, row.bench, row.values, first)
    still = run(lesson, row.bench, row.other, RecordingHost(results=first.results, is_frozen=True))
    return [
        name for name, move in row.moves.items()
        if (callable(move) or (not same(*move) and move[1] is not None))
        and has_moved(move, find(here, name), find(still, name))
    ]  # fmt: skip


def check(lesson: Lesson, row: Row, language: str = "en", train: bool = False) -> None:
    """Require that the numbers move as a row says, that its words are printed, and no echo.

    Args:
        lesson: the lesson.
        row: the row.
        language: language of the words.
        train: True to train what is not shipped.
    """
    here, there = (
        run(lesson, row.bench, values, RecordingHost(train=train))
        for values in (row.values, row.other)
    )
    for name, move in row.moves.items():
        pair = find(here, name), find(there, name)
        assert has_moved(move, *pair), f"{name} goes from {pair[0]} to {pair[1]}"
    visible = said(lesson, row.bench, row.values, language) if row.says else ""
    words = [item if isinstance(item, str) else item[LANGUAGES.index(language)]
             for item in row.says]  # fmt: skip
    assert [word for word in words if word not in visible] == [], visible
    if row.moves:
        assert any(callable(move) or not same(*move) for move in row.moves.values())
        assert echoes(lesson, row, train) == [], "repeats a control"
    else:
        assert words[0] not in said(lesson, row.bench, row.other, language)
