"""Seed experiment of a room: a quantity of a bench, once per seat, with its number as seed."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

MIN_SEEDS = 30  # minimum number of seeds; smaller classes are filled up
KEPT = 20  # maximum number of stored runs before the current one


@dataclass(eq=False)
class SeedExperimentRun:
    """One seed experiment of a room.

    Attributes:
        number: number of the run in the room.
        location: the bench and its settings (see `room.shows`).
        results: the quantity, or a row of quantities, by seed, as far as computed.
        training: number of seeds being trained now, and the percentage done.
        seed_s: seconds that a seed has taken, as measured last; 0 before the first.
        of_class: seeds that were seats at the last update.
        version: increases with every change that affects the figure.
        stopped: True after the teacher has stopped it.
        failed: True where no more results will come.
    """

    number: int
    location: Mapping[str, Any]
    results: dict[int, Any] = field(default_factory=dict)
    training: tuple[int, int] = (0, 0)
    seed_s: float = 0.0
    of_class: frozenset[int] = frozenset()
    version: int = 0
    stopped: bool = False
    failed: bool = False

    def missing(self, seats: Iterable[int]) -> list[int]:
        """Return the target seeds without a result, those of seats first."""
        own = set(seats)
        left = [seed for seed in target_seeds(own) if seed not in self.results]
        return sorted(left, key=lambda seed: (seed not in own, seed))

    def plotted_seeds(self) -> list[int]:
        """Return the target seeds that have a result."""
        return [seed for seed in target_seeds(self.of_class) if seed in self.results]

    def snapshot(self, seats: Iterable[int]) -> dict[str, Any]:
        """Return the progress, as JSON values."""
        seeds = target_seeds(seats)
        done = sum(seed in self.results for seed in seeds)
        n_left = len(seeds) - done - self.training[0] * self.training[1] / 100
        return {
            "number": self.number,
            "lesson": self.location["lesson"],
            "bench": self.location["bench"],
            "version": self.version,
            "done": done,
            "of": len(seeds),
            "left_s": math.ceil(n_left * self.seed_s),
            "training": self.training[0],
            "percent": self.training[1],
            "stopped": self.stopped,
            "failed": self.failed,
        }

    def summary(self) -> dict[str, Any]:
        """Return settings, seeds and results for export; the seats are not included."""
        seeds = sorted(self.results)
        return {**self.location, "seeds": seeds, "found": [self.results[seed] for seed in seeds]}


def target_seeds(seats: Iterable[int]) -> list[int]:
    """Return the seeds to compute: all seats, filled up to `MIN_SEEDS` with the next free ones."""
    own = set(seats)
    others = [seed for seed in range(1, MIN_SEEDS + 1) if seed not in own]
    return sorted([*own, *others[: max(0, MIN_SEEDS - len(own))]])
