"""What a neural forecaster is trained with."""

from __future__ import annotations

import math
from dataclasses import dataclass

CELLS = ("mlp", "rnn", "lstm", "gru")
OPTIMIZERS = ("adam", "sgd")


@dataclass(frozen=True)
class NetworkSettings:
    """Architecture, optimizer and split of one training run; the defaults are the textbook's run.

    `cell` is one of `CELLS`; `lags` is the window of the MLP in steps (recurrent cells read one
    value a step and ignore it); `hidden` units in each of `layers` hidden layers (tanh in the MLP
    and the RNN). Each of the `epochs` is one full-batch step of `optimizer` ("adam" or plain "sgd")
    with `learning_rate`. `train` and `validation` are fractions of the targets, in time order, the
    rest is the test segment; `train=1.0` fits in-sample. `seed` draws the initial weights.
    `standardize` trains on (x - mean) / sd with both taken from the training segment.

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
    standardize: bool = False

    def __post_init__(self) -> None:
        if self.cell not in CELLS:
            raise ValueError(f"The cell must be one of {', '.join(CELLS)}, not {self.cell!r}.")
        if self.optimizer not in OPTIMIZERS:
            raise ValueError(f"The optimizer must be adam or sgd, not {self.optimizer!r}.")
        for name in ("lags", "hidden", "layers", "epochs"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} must be at least 1, not {getattr(self, name)}.")
        if not (math.isfinite(self.learning_rate) and self.learning_rate > 0):
            raise ValueError(f"The learning rate must be positive, not {self.learning_rate}.")
        if not 0 < self.train <= 1:
            raise ValueError(f"The training fraction must be in (0, 1], not {self.train}.")
        # 1e-9: 0.7 + 0.2 + 0.1 is not exactly 1 in binary
        if not 0 <= self.validation <= 1 - self.train + 1e-9:
            raise ValueError(
                f"The validation fraction must be between 0 and what training leaves, "
                f"{1 - self.train:.2f}, not {self.validation}."
            )
        if not 0 <= self.seed < 2**32:
            raise ValueError(f"The seed must be between 0 and 2**32 - 1, not {self.seed}.")
