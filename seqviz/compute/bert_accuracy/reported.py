"""Results of fine-tuning BERT as two texts print them; none are computed by this project.

S0 fine-tunes bert-base on the whole IMDb, S4 distilbert-base. A page must mark these numbers as
reported in the text.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float


@dataclass(frozen=True)
class Reported:
    """A test accuracy as printed; None where the text does not say, or nothing is trained.

    Attributes:
        row: row of the project's map of the texts.
        text: text in that row, "S0" or "S4".
        system: "random", "head" or "all", as the regimes of `results`; "trainer" is all weights by
            transformers' Trainer, "rnn" the recurrent network of an earlier chapter.
        train: number of training sentences.
        n: number of test reviews.
        rate: learning rate of Adam.
    """

    row: str
    text: str
    system: str
    model: str
    accuracy: float
    train: int | None = None
    n: int | None = None
    epochs: int | None = None
    rate: float | None = None
    batch: int | None = None
    seed: int | None = None

    @property
    def correct(self) -> int | None:
        """Number of the n test reviews that were classified correctly."""
        return None if self.n is None else round(self.accuracy * self.n)

    @property
    def steps(self) -> int | None:
        """Updates of the weights in the whole training; an epoch's last batch may be smaller."""
        if self.train is None or self.batch is None or self.epochs is None:
            return None
        return self.epochs * -(-self.train // self.batch)


@dataclass(frozen=True)
class Curve:
    """Training epoch by epoch; nan where the text prints nothing.

    Attributes:
        loss: mean loss.
        train: accuracy on training reviews.
        validation: accuracy on validation reviews.
    """

    row: str
    loss: Float[np.ndarray, "epoch"]
    train: Float[np.ndarray, "epoch"]
    validation: Float[np.ndarray, "epoch"]


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


def _curve(row: str, **printed: Sequence[float]) -> Curve:
    """Return a curve with the printed values; nan for the rest."""
    epochs = max(map(len, printed.values()))
    return Curve(row, *(np.array(printed.get(item, [np.nan] * epochs))
                        for item in ("loss", "train", "validation")))  # fmt: skip


CURVES = (
    _curve(
        "0-73",
        loss=(0.6914244227854492, 0.6801337108130345, 0.6709886162787142, 0.663662817929407,
              0.6565081448201329),
        train=(0.52492, 0.56936, 0.6006, 0.61896, 0.6326),
    ),
    _curve(
        "0-74",
        loss=(0.26227911953311744, 0.14827332975547713, 0.09031119023252021, 0.05729520047033477,
              0.04181397326982549),
        train=(0.89172, 0.94592, 0.9704, 0.98276, 0.98796),
    ),
    _curve("4-46", train=(0.9632, 0.9835, 0.9908), validation=(0.9234, 0.9246, 0.9184)),
)  # fmt: skip


def adam_reach(rate: float, steps: int, falling: bool = False) -> float:
    """Return about how far Adam can move one weight: the sum of the learning rates of all steps.

    It is reached when the gradient keeps its sign and size; when it changes, the weight moves less
    far (Kingma and Ba 2015, section 2.1, who also give the rare exception: a gradient that is
    almost always zero). The head of S0 has 5 * 782 steps at 1e-5, so 0.0391, while its weights
    start at about 0.02: the text compares it with all weights at the same rate.

    Args:
        rate: learning rate.
        steps: number of steps.
        falling: True where the rate falls linearly from `rate` towards zero (`heads.fit`), so that
            the sum is half of it.
    """
    return rate * (steps + 1) / 2 if falling else rate * steps
