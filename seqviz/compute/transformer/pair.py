"""Encoder-decoder that translates digits into number words: settings and results."""

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

INPUTS = ("shifted", "unshifted")  # decoder input at a position: the previous or the same word
FED = ("own", "right")  # decoder input: its own words (free-running) or teacher forcing
WIDTH, HEADS, HIDDEN = 32, 4, 64
TEST = 200  # held-out numbers, of 1,000


@dataclass(frozen=True)
class PairSettings(Settings):
    """Language of the number words, random seed, and number of updates.

    Raises:
        ValueError: a setting is out of its range.
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
    """Progress of the training after `update` of `total` updates.

    Attributes:
        loss: mean cross-entropy per word in nats since the last report, with teacher forcing, in
            the order of `INPUTS`; nan at update 0.
    """

    loss: Float[np.ndarray, "input"]


@dataclass(frozen=True)
class PairResult:
    """Two encoder-decoder pairs with different decoder inputs, and their test results.

    Attributes:
        loss: see `PairReport`.
        test: the 200 held-out numbers.
        forced: numbers with every word correct under teacher forcing.
        written: the same when the decoder reads its own words.
        weights: matrices in the order of `pair_training`, each with an axis for the two pairs.
    """

    settings: PairSettings
    updates: Int[np.ndarray, "report"]
    loss: Float[np.ndarray, "report input"]
    test: Int[np.ndarray, "number"]
    forced: Int[np.ndarray, "input"]
    written: Int[np.ndarray, "input"]
    weights: tuple[np.ndarray, ...]

    def right(self, fed: str, how: str = "written") -> Proportion:
        """Return the proportion of the 200 held-out numbers that are correct.

        Args:
            fed: one of `INPUTS`.
            how: "written" or "forced".
        """
        counts = self.forced if how == "forced" else self.written
        return of(int(counts[INPUTS.index(fed)]), len(self.test))


@dataclass(frozen=True)
class TranslatedNumber:
    """Translation of one number, with the decoder's input and output at each position.

    Attributes:
        source: three digits, then padding.
        reads: words that the decoder reads.
        writes: words that it writes.
        probability: probability of each written word.
        self_attention: weights of the decoder's masked self-attention.
        cross: weights of its cross-attention to the source; 0 at padding.
        right: True where the translation is correct.
        trained: True where the number is in the training set.
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
        """Return the attention weights of a head.

        Args:
            name: "self_attention" or "cross".
            head: the head, from 1; 0 for the mean of all.
        """
        weights = getattr(self, name)
        result = weights.mean(axis=0) if head == 0 else weights[head - 1]
        return np.asarray(result)

    def sharpest(self, head: int) -> tuple[int, int, float]:
        """Return the position and digit with the largest cross-attention weight, and the weight."""
        weights = self.of_head("cross", head)
        index, digit = np.unravel_index(int(weights.argmax()), weights.shape)
        return int(index), int(digit), float(weights[index, digit])

    def summary(self, head: int) -> Facts:
        """State the correctness, and the largest cross-attention weight of a head (0: mean)."""
        index, digit, weight = self.sharpest(head)
        lowest = int(self.probability.argmin())
        return Facts(
            "right" if self.right else "wrong", number=self.number, word=self.writes[index],
            digit=self.source[digit], weight=weight, unsure=self.writes[lowest],
            least=float(self.probability[lowest]),
        )  # fmt: skip
