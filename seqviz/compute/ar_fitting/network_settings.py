"""Settings of the training of a neural forecaster."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from seqviz.compute.training.settings import RATE, SEED, Choices, Limit, Range, Settings

CELLS = ("mlp", "rnn", "lstm", "gru")
OPTIMIZERS = ("adam", "sgd")


@dataclass(frozen=True)
class NetworkSettings(Settings):
    """Architecture, optimizer and split of one training run; by default the textbook's run.

    Attributes:
        cell: one of `CELLS`.
        lags: window of the MLP in steps; recurrent cells read one value a step and ignore it.
        hidden: units in each hidden layer (tanh in the MLP and the RNN).
        layers: number of hidden layers.
        epochs: number of full-batch steps of the optimizer.
        optimizer: "adam" or plain "sgd".
        train: fraction of the targets for training, from the start; 1.0 fits in-sample.
        validation: fraction of the targets for validation, after these; the rest is the test
            segment.
        seed: seed of the initial weights.

    Raises:
        ValueError: if a setting is out of its range.
    """

    cell: str = "rnn"
    lags: int = 1
    hidden: int = 32
    layers: int = 1
    epochs: int = 100
    learning_rate: float = 1e-3
    optimizer: str = "adam"
    train: float = 1.0
    validation: float = 0.0
    seed: int = 0

    limits: ClassVar[Mapping[str, Limit]] = {
        "cell": Choices(CELLS, "The cell"),
        "optimizer": Choices(OPTIMIZERS, "The optimizer"),
        "lags": Range(1),
        "hidden": Range(1),
        "layers": Range(1),
        "epochs": Range(1),
        "learning_rate": RATE,
        "seed": SEED,
    }

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0 < self.train <= 1:
            raise ValueError(f"The training fraction must be in (0, 1], not {self.train}.")
        # 1e-9: 0.7 + 0.2 + 0.1 is not exactly 1 in binary
        if not 0 <= self.validation <= 1 - self.train + 1e-9:
            raise ValueError(
                f"The validation fraction must be between 0 and what training leaves, "
                f"{1 - self.train:.2f}, not {self.validation}."
            )
