"""Rows of the texts as numbers that move, and the check that a frozen answer makes each row fail.

A row names a bench, a change of its controls, one number of its answer, and how that number moves:

    ROWS = {"0-03": Row("process", {"phi": 0.8}, {"phi": 0.4}, "r1", falls)}

    @each(ROWS)
    def test_row_moves(row):
        check(lesson, ROWS[row])

`check` then runs the changed bench once more with every result that it computes replaced by that of
the first run. A number that still moves is no answer: it repeats the control.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

from seqviz.lessons.framework.host import Computed, LocalHost, TrainingResult
from seqviz.lessons.framework.lesson import Lesson
from seqviz.lessons.framework.output import RenderedFigure
from seqviz.lessons.framework.show import Show

Values = Mapping[str, Any]
CLEAR = 0.01  # smallest relative change that counts as one


@dataclass(frozen=True)
class Row:
    """One number of a bench that moves with its controls.

    Attributes:
        bench: name of the bench.
        before: values of its controls.
        after: values that change the answer.
        number: a name among the facts of the output, or a function of them.
        moves: how the number moves: true of its values before and after.
    """

    bench: str
    before: Values
    after: Values
    number: str | Callable[[Values], Any]
    moves: Callable[[Any, Any], bool]


def rises(before: float, after: float) -> bool:
    return after - before > CLEAR * max(abs(before), abs(after))


def falls(before: float, after: float) -> bool:
    return rises(after, before)


def becomes(first: Any, second: Any) -> Callable[[Any, Any], bool]:
    """Return the relation "from `first` to `second`", to four digits where these are numbers."""

    def same(value: Any, expected: Any) -> bool:
        is_text = isinstance(expected, str)
        return bool(value == (expected if is_text else pytest.approx(expected, rel=1e-3, abs=1e-9)))

    assert not same(first, second), f"{first} and {second} are not told apart"
    return lambda before, after: same(before, first) and same(after, second)


@dataclass
class RecordingHost(LocalHost):
    """Host that keeps every result, or gives those of an earlier run again; it draws nothing.

    Attributes:
        results: results by function and the number of its call.
        is_frozen: True where the results are given again.
    """

    results: dict[tuple[str, int], Any] = field(default_factory=dict)
    is_frozen: bool = False
    calls: Counter[str] = field(default_factory=Counter)

    def answer(self, function: Any, compute: Callable[[], Any]) -> Any:
        """Return the result of a call, computed now unless it is frozen.

        A call that the recorded run did not make is computed, so that a row which compares two
        views is not frozen, and fails.
        """
        key = (function.__qualname__, self.calls[function.__qualname__])
        self.calls[function.__qualname__] += 1
        if not (self.is_frozen and key in self.results):
            self.results[key] = compute()
        return self.results[key]

    def call(self, function: Any, args: Any, keywords: Any) -> Computed[Any]:
        return Computed(self.answer(function, lambda: function(*args, **keywords)), 0.0)

    def training_result(self, function: Any, keywords: Any, so_far: Any) -> TrainingResult[Any]:
        train = super().training_result
        result = self.answer(function, lambda: train(function, keywords, so_far))
        assert result is not None, f"no result of {function.__name__} is shipped for these values"
        return result

    def render(self, draw: Any, args: Any, keywords: Any, shared: bool) -> RenderedFigure:
        return RenderedFigure(None, (), "")


def number_of(lesson: Lesson, row: Row, values: Values, host: RecordingHost) -> Any:
    """Return the number of a row at some values."""

    def derive(show: Show, function: Any, /, *args: Any, name: str = "", **keywords: Any) -> Any:
        return host.answer(function, lambda: function(*args, **keywords))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Show, "derive", derive)
        facts = lesson.benches[row.bench].run(values, host=host, code=False).facts
    value = row.number(facts) if callable(row.number) else facts[row.number]
    value = getattr(value, "mean", value) if not isinstance(value, np.ndarray) else value
    return value


def check(lesson: Lesson, row: Row) -> None:
    """Require that the number moves as the row says, and does not where the answer is frozen."""
    first = RecordingHost()
    before = number_of(lesson, row, row.before, first)
    after = number_of(lesson, row, row.after, RecordingHost())
    assert row.moves(before, after), (before, after)
    frozen = RecordingHost(results=first.results, is_frozen=True)
    still = number_of(lesson, row, row.after, frozen)
    assert not row.moves(before, still), f"{row.number} only repeats a control: {before}, {still}"


def each(rows: Iterable[str]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("row", list(rows))
