"""Settings and results of training stacks of blocks, with and without warm-up."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from jaxtyping import Float, Int

from seqviz.compute.training.loop import TrainingRecord
from seqviz.compute.training.settings import RATE, SEED, Limit, Range, Settings
from seqviz.compute.transformer.depth import ARRANGEMENTS
from seqviz.core.units import Fraction
from seqviz.stats.facts import Facts

SCHEDULES = ("constant", "warm_up")
LETTERS, LENGTH = 6, 8
CHANCE = math.log(LETTERS)  # loss of a uniform guess, in nats


@dataclass(frozen=True)
class StackSettings(Settings):
    """Depth of the stacks and settings of their training.

    Attributes:
        blocks: 1 to 12.
        rate: peak learning rate of Adam.
        warm_up: updates until the peak rate, in the schedule with warm-up.
        runs: 1 to 5, with different weights and sequences.

    Raises:
        ValueError: a setting is out of its range.
    """

    blocks: int = 6
    rate: float = 2e-3
    seed: int = 0
    updates: int = 300
    warm_up: int = 100
    runs: int = 5

    limits: ClassVar[Mapping[str, Limit]] = {
        "blocks": Range(1, 12),
        "rate": RATE,
        "seed": SEED,
        "updates": Range(1, 1000),
        "warm_up": Range(1, 1000),
        "runs": Range(1, 5),
    }


@dataclass(frozen=True)
class StackReport(TrainingRecord):
    """Progress of the trainings after `update` of `total` updates.

    Attributes:
        loss: mean cross-entropy in nats since the last report, each sequence read before the
            network is updated on it; nan where the training has diverged, and at update 0. In the
            order of `SCHEDULES` and `ARRANGEMENTS`.
    """

    loss: Float[np.ndarray, "schedule arrangement run"]


@dataclass(frozen=True)
class StackResult:
    """Losses of all reports."""

    settings: StackSettings
    updates: Int[np.ndarray, "report"]
    loss: Float[np.ndarray, "report schedule arrangement run"]

    def learned(self, schedule: str, arrangement: str) -> Fraction:
        """Return the number of runs that end below half the loss of guessing, and of all runs.

        Args:
            schedule: one of `SCHEDULES`.
            arrangement: one of `ARRANGEMENTS`.
        """
        last = self.last(schedule, arrangement)
        return int((last < CHANCE / 2).sum()), len(last)  # nan compares as False

    def last(self, schedule: str, arrangement: str) -> Float[np.ndarray, "run"]:
        """Return the loss of each run in the last report.

        Args:
            schedule: one of `SCHEDULES`.
            arrangement: one of `ARRANGEMENTS`.
        """
        index = SCHEDULES.index(schedule), ARRANGEMENTS.index(arrangement)
        return np.asarray(self.loss[-1][index])

    def median(self, schedule: str, arrangement: str) -> float:
        """Return the median loss of the runs in the last report; a diverged run counts as infinite.

        Args:
            schedule: one of `SCHEDULES`.
            arrangement: one of `ARRANGEMENTS`.
        """
        return float(np.median(np.nan_to_num(self.last(schedule, arrangement), nan=np.inf)))

    def summary(self) -> Facts:
        """State the median loss by arrangement and schedule, and the number of runs that learn."""
        ends = {f"{arrangement}_{schedule}": self.median(schedule, arrangement)
                for arrangement in ARRANGEMENTS for schedule in SCHEDULES}  # fmt: skip
        learned = {f"{name}_learned": self.learned("constant", name)[0]
                   for name in ARRANGEMENTS}  # fmt: skip
        settings = self.settings
        return Facts(blocks=settings.blocks, runs=settings.runs, half=CHANCE / 2, **ends, **learned)
