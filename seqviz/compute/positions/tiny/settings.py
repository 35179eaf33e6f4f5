"""What a training is run with, and where the numbers come from."""

from __future__ import annotations

from dataclasses import dataclass

from seqviz.compute.positions.tiny.tasks import TASKS
from seqviz.refusal import Refusal

ENCODINGS = ("none", "sinusoidal", "learned", "rotary", "alibi")
# (least, largest) value of each whole number
LIMITS = {"length": (6, 12), "updates": (1, 1000), "runs": (1, 5), "seed": (0, 2**32 - 1)}


@dataclass(frozen=True)
class OrderSettings:
    """Which task, and what is told about positions; everything else is the same for all networks.

    task: one of `TASKS`. length: letters in a sequence, 6 to 12; answers take up to as many
    positions again. causal: whether a position attends to itself and what is before it only. seed:
    draws all weights and sequences. encodings: some of `ENCODINGS`, none twice. updates: of each
    network. runs: how many networks for each encoding, with other weights and other sequences.

    Raises ValueError when a setting is out of its range; Refusal "no_encodings" without any.
    """

    task: str = "reverse"
    length: int = 8
    causal: bool = False
    seed: int = 0
    encodings: tuple[str, ...] = ENCODINGS
    updates: int = 500
    runs: int = 3

    def __post_init__(self) -> None:
        if self.task not in TASKS:
            raise ValueError(f"The task must be one of {', '.join(TASKS)}, not {self.task!r}.")
        if not self.encodings:
            raise Refusal("no_encodings", "Choose at least one encoding.")
        for encoding in self.encodings:
            if encoding not in ENCODINGS:
                raise ValueError(
                    f"An encoding must be one of {', '.join(ENCODINGS)}, not {encoding!r}."
                )
        if len(set(self.encodings)) < len(self.encodings):
            raise ValueError(f"An encoding is chosen once, not as in {', '.join(self.encodings)}.")
        for name, (least, largest) in LIMITS.items():
            if not least <= getattr(self, name) <= largest:
                raise ValueError(
                    f"{name} must be between {least} and {largest}, not {getattr(self, name)}."
                )
