"""An encoder and a decoder that read a number and say it: settings, and what comes out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from jaxtyping import Float, Int

from seqviz.compute.training.loop import TrainingRecord
from seqviz.compute.training.settings import SEED, Choices, Limit, Range, Settings
from seqviz.compute.transformer.spelling import LANGUAGES
from seqviz.stats.facts import Facts
from seqviz.stats.proportions import Proportion, of

INPUTS = ("shifted", "unshifted")  # what the decoder reads at a place: the word before, or its own
FED = ("own", "right")  # words: what it has written itself, or what is right
WIDTH, HEADS, HIDDEN = 32, 4, 64
TEST = 200  # of the 1,000 numbers; they are not trained on


@dataclass(frozen=True)
class PairSettings(Settings):
    """In which language the numbers are said, the seed, and how many updates there are.

    Raises ValueError when a setting is out of its range.
    """

    language: str = "english"
    seed: int = 0
    updates: int = 600

    limits: ClassVar[Mapping[str, Limit]] = {
        "language": Choices(LANGUAGES, "The language"),
        "seed": SEED,
        "updates": Range(1, 2000),
    }


@dataclass(frozen=True)
class PairReport(TrainingRecord):
    """Where the training stands after `update` of `total` updates.

    loss: mean cross-entropy in nats a word since the last report, in the order of `INPUTS`; the
    decoder was fed the right words. nan at update 0.
    """

    loss: Float[np.ndarray, "input"]


@dataclass(frozen=True)
class PairResult:
    """Two pairs that differ in what their decoder was fed, and what they do on 200 other numbers.

    forced: numbers of which every word was right while the right words were fed. written: the same
    while the decoder was fed what it had written. weights: the matrices in the order of
    `pair_training`, each with an axis for the two pairs. test: the 200 numbers.
    """

    settings: PairSettings
    updates: Int[np.ndarray, "report"]
    loss: Float[np.ndarray, "report input"]
    test: Int[np.ndarray, "number"]
    forced: Int[np.ndarray, "input"]
    written: Int[np.ndarray, "input"]
    weights: tuple[np.ndarray, ...]

    def right(self, fed: str, how: str = "written") -> Proportion:
        """How many of the 200 numbers are said right. how: "written" or "forced"."""
        counts = self.forced if how == "forced" else self.written
        return of(int(counts[INPUTS.index(fed)]), len(self.test))


@dataclass(frozen=True)
class TranslatedNumber:
    """One number on its way through a pair: what the decoder read at each place, and wrote there.

    source: three digits, padding behind them. reads, writes: words. probability: of each written
    word. self_attention: weights of the decoder's masked self-attention. cross: of its attention on
    the source; 0 at padding. right: whether it is the number. trained: whether the pair had learned
    this number.
    """

    number: int
    source: tuple[str, ...]
    reads: tuple[str, ...]
    writes: tuple[str, ...]
    probability: Float[np.ndarray, "place"]
    self_attention: Float[np.ndarray, "head place place"]
    cross: Float[np.ndarray, "head place digit"]
    right: bool
    trained: bool

    def of_head(self, name: str, head: int) -> Float[np.ndarray, "place key"]:
        """ "own" or "cross" of a head, counted from 1; of 0 the mean of all."""
        weights = getattr(self, name)
        result = weights.mean(axis=0) if head == 0 else weights[head - 1]
        return np.asarray(result)

    def sharpest(self, head: int) -> tuple[int, int, float]:
        """The place whose cross-attention is most on one digit, the digit's place, the weight."""
        weights = self.of_head("cross", head)
        index, digit = np.unravel_index(int(weights.argmax()), weights.shape)
        return int(index), int(digit), float(weights[index, digit])

    def summary(self, head: int) -> Facts:
        """State whether the number is right, and where a head (0: their mean) looks most."""
        index, digit, weight = self.sharpest(head)
        return Facts(
            "right" if self.right else "wrong", number=self.number, word=self.writes[index],
            digit=self.source[digit], weight=weight,
        )  # fmt: skip
