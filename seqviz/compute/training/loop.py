"""Training loop: update, measure about fifty times, report progress."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TypeVar

from seqviz.compute.training.progress import Pulse, moments

T = TypeVar("T")
R = TypeVar("R", bound="TrainingRecord")


@dataclass(frozen=True)
class TrainingRecord:
    """Progress of a training: `update` of `total` updates are done."""

    update: int
    total: int

    @property
    def fraction(self) -> float:
        """Share of the updates that are done, in [0, 1]."""
        return self.update / self.total


def distinct(trail: Iterable[R]) -> list[R]:
    """Return the reported records without those that a `Pulse` has repeated."""
    return list({record.update: record for record in trail}.values())


def run(
    update: Callable[[int], object],
    measure: Callable[[int, int], T],
    updates: int,
    pulse: Pulse[T],
    *,
    untrained: bool = True,
    stop: Callable[[T], bool] = lambda record: False,
) -> tuple[T, ...]:
    """Run a training and return its records, measured at `moments` and reported to the pulse.

    An exception raised by a report propagates; this is how an unwanted run is canceled.

    Args:
        update: performs one update; called with its index, from 0.
        measure: returns a record; called with the number of updates so far and since the last
            record.
        updates: number of updates.
        pulse: receives the records.
        untrained: True to keep a record from before the first update; False to report that record
            only as a sign that the run has begun.
        stop: returns True for a record that ends the run before its last update.
    """
    records: list[T] = []
    done = 0
    if not untrained:
        pulse.report(measure(0, 0))
    for moment in moments(updates)[0 if untrained else 1 :]:
        for number in range(done, moment):
            update(number)
            pulse.beat()
        records.append(measure(moment, moment - done))
        done = moment
        pulse.report(records[-1])
        if stop(records[-1]):
            break
    return tuple(records)
