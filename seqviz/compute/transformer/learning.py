"""What comes of training stacks of blocks: loss by update, with and without warm-up."""

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
CHANCE = math.log(LETTERS)  # loss of somebody who guesses: each letter is as likely


@dataclass(frozen=True)
class StackSettings(Settings):
    """How deep the stacks are, and how they are trained.

    blocks: 1 to 12. rate: of Adam, at its height. warm_up: updates until it is there, where there
    is a warm-up. updates: of each network. runs: 1 to 5, with other weights and other sequences.
    Raises ValueError when a setting is out of its range.
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
    """Where the trainings stand after `update` of `total` updates.

    loss: mean cross-entropy in nats on the sequences since the last report, each read before it was
    learned from; nan where it is no number any more, and at update 0. Schedules and arrangements
    in their order.
    """

    loss: Float[np.ndarray, "schedule arrangement run"]


@dataclass(frozen=True)
class StackResult:
    """The losses of all reports."""

    settings: StackSettings
    updates: Int[np.ndarray, "report"]
    loss: Float[np.ndarray, "report schedule arrangement run"]

    def learned(self, schedule: str, arrangement: str) -> Fraction:
        """How many runs end with less than half the loss of guessing, and of how many."""
        last = self.last(schedule, arrangement)
        return int((last < CHANCE / 2).sum()), len(last)  # nan is not less

    def last(self, schedule: str, arrangement: str) -> Float[np.ndarray, "run"]:
        """The loss in the last report."""
        index = SCHEDULES.index(schedule), ARRANGEMENTS.index(arrangement)
        return np.asarray(self.loss[-1][index])

    def median(self, schedule: str, arrangement: str) -> float:
        """Of the runs, the loss in the last report; infinite where half of them have none."""
        return float(np.median(np.nan_to_num(self.last(schedule, arrangement), nan=np.inf)))

    def summary(self) -> Facts:
        """State the median loss of each arrangement under each schedule, and how many learn."""
        ends = {f"{arrangement}_{schedule}": self.median(schedule, arrangement)
                for arrangement in ARRANGEMENTS for schedule in SCHEDULES}  # fmt: skip
        learned = {f"{name}_learned": self.learned("constant", name)[0]
                   for name in ARRANGEMENTS}  # fmt: skip
        settings = self.settings
        return Facts(blocks=settings.blocks, runs=settings.runs, half=CHANCE / 2, **ends, **learned)
