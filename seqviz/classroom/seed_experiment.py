"""A number of a bench, once for each seat of a room: its seat number is its random seed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

MIN_SEEDS = 30  # seeds: a smaller class is filled up with further ones
KEPT = 20  # runs that a room remembers besides the last


@dataclass(eq=False)
class SeedExperimentRun:
    """One run of a class. location: the bench and its settings, see `room.shows`.

    results: the number at each seed, or its numbers, as far as they are known. training: how many
    seeds are trained at this moment, and what percentage of that is done. of_class: the seeds that
    were seats when this was last told. version: rises with whatever there is to draw. stopped: by
    the teacher. failed: there will be no more.
    """

    number: int
    location: Mapping[str, Any]
    results: dict[int, Any] = field(default_factory=dict)
    training: tuple[int, int] = (0, 0)
    of_class: frozenset[int] = frozenset()
    version: int = 0
    stopped: bool = False
    failed: bool = False

    def missing(self, seats: Iterable[int]) -> list[int]:
        """The seeds that are wanted and not known yet, those of seats first."""
        own = set(seats)
        left = [seed for seed in target_seeds(own) if seed not in self.results]
        return sorted(left, key=lambda seed: (seed not in own, seed))

    def plotted_seeds(self) -> list[int]:
        """The seeds that are drawn: those that are wanted of this class, and known."""
        return [seed for seed in target_seeds(self.of_class) if seed in self.results]

    def snapshot(self, seats: Iterable[int]) -> dict[str, Any]:
        """How far it is, for the class."""
        seeds = target_seeds(seats)
        return {
            "number": self.number,
            "lesson": self.location["lesson"],
            "bench": self.location["bench"],
            "version": self.version,
            "done": sum(seed in self.results for seed in seeds),
            "of": len(seeds),
            "training": self.training[0],
            "percent": self.training[1],
            "stopped": self.stopped,
            "failed": self.failed,
        }

    def summary(self) -> dict[str, Any]:
        """What is left of it after the lecture: settings, seeds and numbers, and nobody's seat."""
        seeds = sorted(self.results)
        return {**self.location, "seeds": seeds, "found": [self.results[seed] for seed in seeds]}


def target_seeds(seats: Iterable[int]) -> list[int]:
    """The seeds of a class: its seats, and the first others up to `LEAST`."""
    own = set(seats)
    others = [seed for seed in range(1, MIN_SEEDS + 1) if seed not in own]
    return sorted([*own, *others[: max(0, MIN_SEEDS - len(own))]])
