"""Settings of the training on order tasks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from seqviz.compute.positions.tiny.tasks import TASKS
from seqviz.compute.training.settings import SEED, Choices, Limit, Range, Settings, Several

ENCODINGS = ("none", "sinusoidal", "learned", "rotary", "alibi")


@dataclass(frozen=True)
class OrderSettings(Settings):
    """Settings of the training; those not listed are the same for all networks.

    Attributes:
        task: one of `TASKS`.
        length: letters in a sequence, 6 to 12; answers take up to as many positions again.
        causal: True where a position attends only to itself and to earlier ones.
        seed: seed of all weights and sequences.
        encodings: some of `ENCODINGS`, none twice.
        runs: networks for each encoding, with other weights and other sequences.

    Raises:
        ValueError: a setting is out of its range.
        UserError: "no_encodings" without any encoding.
    """

    task: str = "reverse"
    length: int = 8
    causal: bool = False
    seed: int = 0
    encodings: tuple[str, ...] = ENCODINGS
    updates: int = 500
    runs: int = 3

    limits: ClassVar[Mapping[str, Limit]] = {
        "task": Choices(TASKS, "The task"),
        "encodings": Several(
            ENCODINGS, "An encoding", ("no_encodings", "Choose at least one encoding.")
        ),
        "length": Range(6, 12),
        "updates": Range(1, 1000),
        "runs": Range(1, 5),
        "seed": SEED,
    }
