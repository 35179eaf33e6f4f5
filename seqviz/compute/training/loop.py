"""The loop of a training: update, measure about fifty times, say how it goes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from seqviz.compute.training.progress import Pulse, moments

T = TypeVar("T")


@dataclass(frozen=True)
class TrainingRecord:
    """Where a training stands after `update` of `total` updates."""

    update: int
    total: int

    @property
    def fraction(self) -> float:
        """Share of the run that is done, in [0, 1]."""
        return self.update / self.total


def run(
    update: Callable[[int], object],
    measure: Callable[[int, int], T],
    updates: int,
    pulse: Pulse[T],
    *,
    untrained: bool = True,
    stop: Callable[[T], bool] = lambda record: False,
) -> tuple[T, ...]:
    """So many updates, measured at `moments`; every record is told to the pulse.

    update: makes one; its number counts from 0. measure: the record after so many updates, of which
    so many are new since the last one. untrained: whether to measure before the first update; where
    not, what is measured on none says that the run has begun, and is not kept. stop: whether a
    record ends the run before its last update. What a report raises goes through: a run that nobody
    wants any more ends there.
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
