"""What two texts print about fine-tuning BERT: their numbers, none of them ours.

"row" is the row of the project's map of the texts, "text" the text in it: S0 fine-tunes bert-base
on the whole IMDb, S4 distilbert-base. A page must mark these numbers as reported in the text.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float, Int

IMDB = "IMDb"


@dataclass(frozen=True)
class Reported:
    """A test accuracy as printed.

    system: "random", "head" or "all", as the regimes of `findings`; "trainer" is all weights by
    transformers' Trainer, "rnn" the recurrent network of an earlier chapter. train: sentences
    trained on. n: test reviews. rate: Adam's. None where the text does not say, or nothing is
    trained.
    """

    row: str
    text: str
    system: str
    model: str
    accuracy: float
    data: str = IMDB
    train: int | None = None
    n: int | None = None
    epochs: int | None = None
    rate: float | None = None
    batch: int | None = None
    seed: int | None = None

    @property
    def correct(self) -> int | None:
        """How many of the n test reviews were right."""
        return None if self.n is None else round(self.accuracy * self.n)

    @property
    def steps(self) -> int | None:
        """Updates of the weights in the whole training; an epoch's last batch may be smaller."""
        if self.train is None or self.batch is None or self.epochs is None:
            return None
        return self.epochs * -(-self.train // self.batch)


@dataclass(frozen=True)
class Curve:
    """Training epoch by epoch: mean loss, accuracy on training and validation reviews.

    minutes: since the start. nan where the text prints nothing.
    """

    row: str
    loss: Float[np.ndarray, "epoch"]
    train: Float[np.ndarray, "epoch"]
    validation: Float[np.ndarray, "epoch"]
    minutes: Float[np.ndarray, "epoch"]


@dataclass(frozen=True)
class Losses:
    """Loss during training: of one batch after `step` updates (4-46), or the mean of the ten
    batches up to it (4-47).
    """

    row: str
    step: Int[np.ndarray, "print"]
    loss: Float[np.ndarray, "print"]


_UNTRAINED = Reported("0-72", "S0", "random", "bert-base-uncased", 0.4968, n=25000)
_TRAINED = replace(_UNTRAINED, train=25000, epochs=5, rate=1e-5, batch=32, seed=0)
_LOOP = Reported(
    "4-46", "S4", "all", "distilbert-base-uncased", 0.9250, n=10000,
    train=35000, epochs=3, rate=5e-5, batch=16, seed=123,
)  # fmt: skip

REPORTED = (
    _UNTRAINED,
    replace(_TRAINED, row="0-73", system="head", accuracy=0.66948),
    replace(_TRAINED, row="0-74", system="all", accuracy=0.93832),
    _LOOP,
    replace(_LOOP, row="4-49", system="trainer", accuracy=0.9327, rate=None, seed=None),
    Reported("4-50", "S4", "rnn", "RNN", 0.85),
)

CURVES = (
    Curve(
        "0-73",
        loss=np.array(
            [0.6914244227854492, 0.6801337108130345, 0.6709886162787142, 0.663662817929407,
             0.6565081448201329]
        ),
        train=np.array([0.52492, 0.56936, 0.6006, 0.61896, 0.6326]),
        validation=np.full(5, np.nan),
        minutes=np.arange(1, 6) * (7 + 13 / 60),
    ),
    Curve(
        "0-74",
        loss=np.array(
            [0.26227911953311744, 0.14827332975547713, 0.09031119023252021, 0.05729520047033477,
             0.04181397326982549]
        ),
        train=np.array([0.89172, 0.94592, 0.9704, 0.98276, 0.98796]),
        validation=np.full(5, np.nan),
        minutes=np.arange(1, 6) * (22 + 5 / 60),
    ),
    Curve(
        "4-46",
        loss=np.full(3, np.nan),
        train=np.array([0.9632, 0.9835, 0.9908]),
        validation=np.array([0.9234, 0.9246, 0.9184]),
        minutes=np.array([20.67, 41.41, 62.15]),
    ),
)  # fmt: skip

LOSSES = (
    Losses(
        "4-46",
        step=(2188 * np.arange(3)[:, None] + np.arange(0, 2001, 250)).ravel(),
        loss=np.array(
            [0.6771, 0.3006, 0.3678, 0.1487, 0.6674, 0.3264, 0.4358, 0.2579, 0.2474,
             0.0850, 0.3433, 0.0793, 0.0061, 0.1536, 0.0816, 0.0786, 0.1395, 0.0344,
             0.0403, 0.0036, 0.0156, 0.0114, 0.1227, 0.0125, 0.0074, 0.0202, 0.0746]
        ),
    ),
    Losses(
        "4-47",
        step=np.arange(10, 61, 10),
        loss=np.array([0.705800, 0.684100, 0.681500, 0.591600, 0.328600, 0.478300]),
    ),
)  # fmt: skip


def adam_reach(rate: float, steps: int) -> float:
    """About how far Adam can move one weight: the learning rate, once each step.

    It is reached when the gradient keeps its sign and size; when it changes, the weight goes less
    far (Kingma and Ba 2015, section 2.1, who also give the rare exception: a gradient that is
    almost always zero). The head of S0 has 5 * 782 steps at 1e-5, so 0.0391, while its weights
    start at about 0.02: the text compares it with all weights at the same rate.
    """
    return rate * steps
