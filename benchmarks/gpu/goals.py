"""Goals of a run on one H100, from its tables; entry point: `goals`."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from benchmarks.gpu import agreement, seeds, speed

NOTHING = "not met: nothing was measured"


def seconds(result: dict[str, Any], name: str, size: int) -> float:
    """Return the device's seconds of a row at a size; nan if not measured."""
    item = result["speed"].get(name)
    return item.device.get(size, math.nan) if isinstance(item, speed.Times) else math.nan


def rate(result: dict[str, Any], name: str) -> float:
    """Return the device's value of a row without sizes; nan if not measured."""
    item = result["speed"].get(name)
    return item.get("device", math.nan) if isinstance(item, dict) else math.nan


class Goal(NamedTuple):
    """A goal on one H100 (`docs/operations.md`).

    Attributes:
        name: name for display.
        value: returns the value from the tables; nan if not measured.
        limit: the goal.
        rows: beginnings of the names of its rows, with their table.
        at_least: True where larger is better.
    """

    name: str
    value: Callable[[dict[str, Any]], float]
    limit: float
    rows: tuple[str, ...]
    at_least: bool = False


SENTENCES = 7272  # in an epoch
_EPOCHS = "epoch: float32, by length", "epoch: bfloat16, by length"
_LORA, _PADDED = "epoch: LoRA, bfloat16, by length", "epoch: float32, padded to 512"
_FITS = (
    ("fit: gates, LSTM", (8, 64, 256), 0.05),
    ("fit: recall", (16, 32, 64), 0.25),
    ("fit: order, rotary", (1, 3, 5), 0.12),
)


def _best(result: dict[str, Any]) -> float:
    rates = [rate(result, name) for name in _EPOCHS]
    return max((value for value in rates if not math.isnan(value)), default=math.nan)


def _speed_goal(name: str, row: str, size: int, limit: float) -> Goal:
    return Goal(name, lambda result: seconds(result, row, size), limit, (f"speed: {row}",))


def _rate_goal(name: str, row: str, limit: float, at_least: bool = False) -> Goal:
    return Goal(name, lambda result: rate(result, row), limit, (f"speed: {row}",), at_least)


def _worst(key: str) -> Callable[[dict[str, Any]], float]:
    """Return a function: the largest value of the pages of which a bench was compared."""
    return lambda result: max(
        (getattr(page, key) for page in compared(result)[1].values() if page.benches),
        default=math.nan,
    )


GOALS = (
    Goal("epoch, s", lambda result: SENTENCES / _best(result), 1.2,
         tuple(f"speed: {name}" for name in _EPOCHS)),
    Goal("epoch, times the padded recipe",
         lambda result: _best(result) / rate(result, _PADDED), 10.0,
         tuple(f"speed: {name}" for name in (*_EPOCHS, _PADDED)), True),
    Goal("LoRA epoch, s", lambda result: SENTENCES / rate(result, _LORA), 1.2,
         (f"speed: {_LORA}",)),
    _rate_goal(f"seconds to {speed.GOAL}", f"seconds to {speed.GOAL}", 3.0),
    _rate_goal("tokens/s of one text", "writing: one text", 1 / 0.003, True),
    _rate_goal("tokens/s of 32 texts", "writing: 32 texts at once", 7000.0, True),
    *(_speed_goal(f"{row}, {size}, s", row, size, limit)
      for row, sizes, limit in _FITS for size in sizes),
    _speed_goal("all pairs, T = 500, s", "all pairs of Jacobians", 500, 0.16),
    _speed_goal("512 tokens with weights, s", "one text, weights noted", 512, 0.012),
    _speed_goal("100 texts of 32 tokens, s", "texts in one batch", 100, 0.004),
    Goal("float32, largest difference",
         lambda result: max(apart_in_float32(result), default=math.nan), agreement.TOLERANCE,
         ("agreement: ",)),
    Goal("figures, pixels", _worst("pixels"), agreement.PIXEL, ("agreement: page: ",)),
    Goal("figures, share of other words", _worst("words"), 0.0, ("agreement: page: ",)),
    Goal("exercises refused", _worst("refused"), 0.0, ("agreement: page: ",)),
    Goal("trainings over seeds, smallest p", lambda result: seeds.smallest_p(result["seeds"]),
         seeds.P_VALUE, ("seeds: ",), True),
)  # fmt: skip


def goals(result: dict[str, dict[str, Any]]) -> Iterator[tuple[str, float, float, str]]:
    """Yield name, value, goal and success for each goal measured on a GPU in this run.

    A row that should be compared and failed does not meet its goal.
    """
    rows, lessons = compared(result)
    wrong = [name for name, row in rows.items() if str(row).startswith("failed")]
    unseen = [
        name
        for page in lessons.values()
        for name, why in page.skipped.items()
        if why.startswith("failed")
    ]
    of_pages = [*unseen, *(name for name in wrong if name.startswith("page: "))]
    for goal in GOALS:
        value, failed = goal.value(result), []
        if goal.rows[0] == "agreement: page: ":
            failed = of_pages
        elif goal.rows[0] == "seeds: ":
            failed = [
                name for name, row in result["seeds"].items() if str(row).startswith("failed")
            ]
        elif goal.rows[0] == "agreement: ":
            failed = [name for name in wrong if not name.startswith("page: ")]
        is_met = value >= goal.limit if goal.at_least else value <= goal.limit
        if math.isnan(value):
            state = NOTHING
        elif failed:
            state = f"missed: failed were {', '.join(failed)}"
        else:
            state = "met" if is_met else "missed"
        yield goal.name, value, goal.limit, state


def compared(
    result: dict[str, Any],
) -> tuple[dict[str, Any], dict[str, agreement.VisibleDifference]]:
    """Return the float32 result of each row of the agreement, or the error, and the pages."""
    every = result["agreement"].items()
    pages = {name: item for name, item in every if isinstance(item, agreement.VisibleDifference)}
    rows = {name: item["float32"] if isinstance(item, dict) else item for name, item in every}
    return {name: row for name, row in rows.items() if name not in pages}, pages


def apart_in_float32(result: dict[str, Any]) -> list[float]:
    """Return the largest relative difference of each measured row of the agreement."""
    rows = [item for item in compared(result)[0].values() if not isinstance(item, str)]
    return [row.largest for row in rows if not math.isnan(row.largest)]
