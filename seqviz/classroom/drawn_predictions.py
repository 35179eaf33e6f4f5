"""A prediction that a class draws: one sketch of each seat, hidden until all are revealed.

A sketch is whole numbers between 0 and an end that the question has: heights of a curve or of bars
in parts of the axis, or column and row of a cell. There is nothing in it to read.
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
MARKS, LARGEST = 64, 1000  # numbers of a sketch, and the end of each, at most


@dataclass
class DrawnPredictions:
    """key: of the question. number: how many were put before it in this room, votes too, and this.

    limits: the largest that each number of a sketch can be. sketches: by seat.
    """

    key: str
    kind: Kind
    limits: tuple[int, ...]
    number: int = 1
    state: State = "open"
    sketches: dict[int, array[int]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Raises ValueError for what nobody can draw."""
        fewest, maximum = (2, 2) if self.kind == "cell" else (1, MARKS)
        if self.kind not in SKETCH_KINDS or not fewest <= len(self.limits) <= maximum:
            raise ValueError("These are no numbers of a sketch.")
        if not all(_whole(end) and 1 <= end <= LARGEST for end in self.limits):
            raise ValueError("These are no ends.")

    def draw(self, seat: int, marks: Sequence[Any]) -> bool:
        """Keep a sketch; a seat may change its own until it is closed.

        Returns False where it is not open, or what was drawn is no sketch of this question.
        """
        if self.state != "open" or not self._fits(marks):
            return False
        self.sketches[seat] = array("H", marks)
        return True

    def recall(self, seat: int, marks: Sequence[Any]) -> bool:
        """Keep a sketch again that a server has forgotten; one that is kept stays as it is."""
        if seat in self.sketches or not self._fits(marks):
            return False
        self.sketches[seat] = array("H", marks)
        return True

    def _fits(self, marks: Sequence[Any]) -> bool:
        return len(marks) == len(self.limits) and all(
            _whole(mark) and 0 <= mark <= end for mark, end in zip(marks, self.limits, strict=True)
        )

    def close(self) -> None:
        """No more of them."""
        if self.state == "open":
            self.state = "closed"

    def reveal(self) -> None:
        """Show what was drawn."""
        self.state = "revealed"

    @property
    def cloud(self) -> list[list[int]]:
        """All of them without their seats: in an order that does not tell who drew which."""
        return sorted(list(marks) for marks in self.sketches.values())

    @cached_property
    def _revealed(self) -> dict[str, Any]:
        return {"key": self.key, "number": self.number, **summary(self.kind, self.cloud)}

    def snapshot(self, teacher: bool) -> dict[str, Any]:
        """What the class has drawn; the sketches themselves to the teacher."""
        return {**self._revealed, "sketches": self.cloud} if teacher else self._revealed


def summary(kind: Kind, cloud: Sequence[Sequence[int]]) -> dict[str, Any]:
    """How many there are; of curves and bars median and quartiles at each place, of cells counts.

    Quartiles by linear interpolation between the two nearest, as numpy has them. below, above:
    how far the 95% interval of the median reaches from it, at each place by itself; empty for
    fewer than six.
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
    return int(result) if result == int(result) else result  # shorter in a message


def _whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)
