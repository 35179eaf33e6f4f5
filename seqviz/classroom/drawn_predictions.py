"""A prediction drawn by a class: one sketch per seat, hidden until all are revealed.

A sketch is a list of integers from 0 to a limit that the question sets: heights of a curve or of
bars in steps of the axis, or column and row of a cell. It contains no text.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

from seqviz.classroom.poll import State
from seqviz.stats.intervals import median_rank

Kind = Literal["curve", "bar", "cell"]
SKETCH_KINDS = ("curve", "bar", "cell")
QUARTILES = (0.25, 0.5, 0.75)
MARKS, LARGEST = 64, 1000  # maximum count of numbers in a sketch; maximum of each limit


@dataclass
class DrawnPredictions:
    """A question that students answer by drawing, and their sketches.

    Attributes:
        key: key of the question.
        kind: "curve", "bar" or "cell".
        limits: largest value of each number of a sketch.
        number: number of this question in the room, counted from 1 together with polls.
        state: "open", "closed" or "revealed".
        sketches: sketches by seat.
    """

    key: str
    kind: Kind
    limits: tuple[int, ...]
    number: int = 1
    state: State = "open"
    sketches: dict[int, array[int]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Raise ValueError for an unknown kind or invalid limits."""
        fewest, maximum = (2, 2) if self.kind == "cell" else (1, MARKS)
        if self.kind not in SKETCH_KINDS or not fewest <= len(self.limits) <= maximum:
            raise ValueError("Unknown kind of sketch, or a wrong number of limits.")
        if not all(_whole(end) and 1 <= end <= LARGEST for end in self.limits):
            raise ValueError(f"Limits are integers from 1 to {LARGEST}.")

    def draw(self, seat: int, marks: Sequence[Any]) -> bool:
        """Store a sketch; a seat may replace it until the question is closed.

        Returns False if the question is not open, or the sketch does not fit it.
        """
        if self.state != "open" or not self._fits(marks):
            return False
        self.sketches[seat] = array("H", marks)
        return True

    def recall(self, seat: int, marks: Sequence[Any]) -> bool:
        """Restore a sketch that a restarted server has lost; a stored sketch is not replaced.

        Returns True where the sketch was restored.
        """
        if seat in self.sketches or not self._fits(marks):
            return False
        self.sketches[seat] = array("H", marks)
        return True

    def _fits(self, marks: Sequence[Any]) -> bool:
        return len(marks) == len(self.limits) and all(
            _whole(mark) and 0 <= mark <= end for mark, end in zip(marks, self.limits, strict=True)
        )

    def close(self) -> None:
        """Accept no more sketches."""
        if self.state == "open":
            self.state = "closed"

    def reveal(self) -> None:
        """Reveal the sketches."""
        self.state = "revealed"

    @property
    def cloud(self) -> list[list[int]]:
        """All sketches without their seats, sorted to hide who drew which."""
        return sorted(list(marks) for marks in self.sketches.values())

    @cached_property
    def _revealed(self) -> dict[str, Any]:
        return {"key": self.key, "number": self.number, **summary(self.kind, self.cloud)}

    def snapshot(self, teacher: bool) -> dict[str, Any]:
        """Return the revealed summary; for the teacher, the sketches as well."""
        return {**self._revealed, "sketches": self.cloud} if teacher else self._revealed


def summary(kind: Kind, cloud: Sequence[Sequence[int]]) -> dict[str, Any]:
    """Return the number of sketches; medians and quartiles of curves and bars, counts of cells.

    Quartiles use linear interpolation between the two nearest values, as in numpy. `below` and
    `above` are the distances from the median to the ends of its 95% interval, pointwise; they are
    empty for fewer than six sketches.
    """
    if kind == "cell":
        counted = Counter((column, row) for column, row in cloud)
        return {"count": len(cloud), "cells": [[*cell, n] for cell, n in sorted(counted.items())]}
    positions = [sorted(position) for position in zip(*cloud, strict=True)]
    low, median, high = (
        [_quantile(position, part) for position in positions] for part in QUARTILES
    )
    below: list[float] = []
    above: list[float] = []
    if (rank := median_rank(len(cloud))) is not None:
        below = [
            middle - position[rank - 1] for middle, position in zip(median, positions, strict=True)
        ]
        above = [
            position[-rank] - middle for middle, position in zip(median, positions, strict=True)
        ]
    return {"count": len(cloud), "low": low, "median": median, "high": high,
            "below": below, "above": above}  # fmt: skip


def _quantile(ordered: Sequence[int], part: float) -> float:
    at = part * (len(ordered) - 1)
    low, rest = int(at), at - int(at)
    result = ordered[low] + (rest and rest * (ordered[low + 1] - ordered[low]))
    return int(result) if result == int(result) else result  # an integer is shorter in JSON


def _whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)
