"""Settings, progress reports and result of a tiny network's training."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from jaxtyping import Float, Int

from seqviz.compute.gates.encoding import marks
from seqviz.compute.gates.networks import GatedNetwork
from seqviz.compute.gates.tasks import EXAMPLES, SYMBOLS, TASKS
from seqviz.compute.training.loop import TrainingRecord
from seqviz.compute.training.settings import RATE, SEED, Choices, Limit, Range, Settings
from seqviz.core.units import Share, array_item


@dataclass(frozen=True)
class TinySettings(Settings):
    """Settings of a tiny network's training.

    Attributes:
        length: symbols in a training sequence.
        keep_bias: initial bias of the gate that keeps (f of the LSTM, z of the GRU).

    Raises:
        ValueError: a setting is out of its range.
    """

    task: str = "latch"
    cell: str = "lstm"
    hidden: int = 8
    updates: int = 1000
    rate: float = 0.01
    length: int = 16
    batch: int = 64
    keep_bias: float = 1.0
    seed: int = 0

    limits: ClassVar[Mapping[str, Limit]] = {
        "task": Choices(TASKS, "The task"),
        "cell": Choices(("lstm", "gru"), "The cell"),
        "hidden": Range(1),
        "updates": Range(1),
        "rate": RATE,
        "length": Range(3),
        "batch": Range(1),
        "keep_bias": Range(-10, 10),
        "seed": SEED,
    }

    @property
    def example(self) -> tuple[str, ...]:
        """Symbols of the task's example, on which the gate is observed during the training."""
        return marks(EXAMPLES[self.task], SYMBOLS[self.task]).pieces


_LONGER = {"adding": {"updates": 3000, "hidden": 16, "length": 12, "keep_bias": 2.0}}


def recommended(task: str, cell: str, seed: int = 0) -> TinySettings:
    """Return settings with which a task is learned within 30 seconds on two cores.

    Args:
        task: one of `TASKS`.
        cell: "lstm" or "gru".
        seed: seed of the training.
    """
    chosen = TinySettings(task, cell, seed=seed)
    return replace(chosen, **_LONGER.get(task, {}))  # type: ignore[arg-type]


@dataclass(frozen=True)
class TinyReport(TrainingRecord):
    """Progress of a training.

    Attributes:
        accuracy: share of right answers on 400 new sequences.
        gate: the gate that keeps (f of the LSTM, z of the GRU) after each symbol of the example,
            mean over units.
    """

    accuracy: float
    gate: Float[np.ndarray, "step"]


@dataclass(frozen=True)
class Tiny:
    """A trained network, its learning curve, and its gate while it learned.

    Attributes:
        updates: update number of each report.
        accuracy: accuracy at each report.
        gate: gate at each report, as in `TinyReport`.
    """

    settings: TinySettings
    network: GatedNetwork
    updates: Int[np.ndarray, "report"]
    accuracy: Float[np.ndarray, "report"]
    gate: Float[np.ndarray, "report step"]

    accuracy_at_end = array_item("accuracy", -1, "After the last update.", Share)
