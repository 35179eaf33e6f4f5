"""What a neural forecaster is trained with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from seqviz.compute.training.settings import RATE, SEED, Choices, Limit, Range, Settings

CELLS = ("mlp", "rnn", "lstm", "gru")
OPTIMIZERS = ("adam", "sgd")


@dataclass(frozen=True)
class NetworkSettings(Settings):
    """Architecture, optimizer and split of one training run; the defaults are the textbook's run.

    `cell` is one of `CELLS`; `lags` is the window of the MLP in steps (recurrent cells read one
    value a step and ignore it); `hidden` units in each of `layers` hidden layers (tanh in the MLP
    and the RNN). Each of the `epochs` is one full-batch step of `optimizer` ("adam" or plain "sgd")
    with `learning_rate`. `train` and `validation` are fractions of the targets, in time order, the
    rest is the test segment; `train=1.0` fits in-sample. `seed` draws the initial weights.

    Raises ValueError when a setting is out of its range.
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
