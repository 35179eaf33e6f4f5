"""Results of the accuracy lesson's experiments: plain arrays, for any model.

All systems are tested on the same sentences in the same order, and each system's answer to each
sentence is kept: accuracies, intervals, tests and confusions follow from it, and any two systems
can be compared sentence by sentence.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np
from jaxtyping import Bool, Float, Int

from seqviz.compute.training.settings import Choices, Limit, Range, Settings
from seqviz.core import deprecated
from seqviz.core.units import Fraction, Seconds, Share, ShareEnds, TwoDigits
from seqviz.stats.facts import Facts
from seqviz.stats.proportions import (
    Paired,
    Proportion,
    answers_right,
    compared,
    counted,
    mcnemar,
    of,
    of_share,
    proportion,
    shares,
)

ORDERS = ("random", "attention", "gradient", "content", "function")
CONTROLS = ("deleted", "adapted")  # of masking in random order, see `word_masking.controls`
TREATMENTS = ("mask", "random", "kept")
TOLD = ("told", "untold")
SIDES = ("right", "left")
DIRECTIONS = ("both", "left", "right")
FEATURES = ("mean", "cls", "pooler")
REGIMES = ("random", "head", "top", "lora", "all")
METHODS = ("grid", "random", "bayes")
# Metadata of a field: its packing in results shipped with the app (`seqviz.data.precomputed`).
PROBABILITY = {"holds": "probability"}


@dataclass(frozen=True)
class SystemPredictions:
    """Predictions of one system for the test sentences.

    Attributes:
        probability: probability of "positive".
    """

    system: str
    probability: Float[np.ndarray, "run sentence"] = field(metadata=PROBABILITY)

    def runs(self, positive: Bool[np.ndarray, "sentence"]) -> tuple[Proportion, ...]:
        """Return the accuracy of each run, the worst first."""
        results = [proportion((row > 0.5) == positive) for row in self.probability]
        return tuple(sorted(results, key=lambda item: item.share))

    def between_seeds(self, positive: Bool[np.ndarray, "sentence"]) -> Facts:
        """State the accuracy of the worst and the best run, and the interval of their mean."""
        runs = self.runs(positive)
        mean = of_share(sum(run.share for run in runs) / len(runs), len(positive))
        return Facts(runs=len(runs), worst=runs[0], best=runs[-1], mean=mean)


@dataclass(frozen=True)
class LinearHead:
    """Linear classifier: logits = weight @ vector + bias; class 1 is "positive"."""

    weight: Float[np.ndarray, "class d"]
    bias: Float[np.ndarray, "class"]


@dataclass(frozen=True)
class WordMaskingCurve:
    """Sentiment by the share of words that are replaced by [MASK].

    Attributes:
        orders: order in which words are masked (of `ORDERS`), or `CONTROLS`.
        shares: masked shares of each sentence's words, in [0, 1].
        probability: probability of "positive".
        positive: True where the true class is "positive".
    """

    orders: tuple[str, ...]
    shares: Float[np.ndarray, "share"]
    probability: Float[np.ndarray, "order share sentence"] = field(metadata=PROBABILITY)
    positive: Bool[np.ndarray, "sentence"]

    def only(self, orders: Collection[str]) -> WordMaskingCurve:
        """Return the curve of these orders; others are left out."""
        rows = [row for row, order in enumerate(self.orders) if order in orders]
        names = tuple(self.orders[row] for row in rows)
        return replace(self, orders=names, probability=self.probability[rows])

    def nearest(self, share: float) -> float:
        """Return the nearest share that was tried."""
        return float(self.shares[self._at(share)])

    def right(self, order: str, share: float) -> Float[np.ndarray, "sentence"]:
        """Return 1 for each sentence that is classified correctly at the nearest share tried.

        Args:
            order: one of `orders`.
            share: masked share of the words.
        """
        return answers_right(self._said(order, share), self.positive)

    def accuracy(self, order: str, share: float) -> Proportion:
        """Return the accuracy at the nearest share tried.

        Args:
            order: one of `orders`.
            share: masked share of the words.
        """
        return counted(self.right(order, share))

    def says_positive(self, order: str, share: float) -> Share:
        """Return the share of sentences classified as positive, at the nearest share tried.

        Args:
            order: one of `orders`.
            share: masked share of the words.
        """
        return float((self._said(order, share) > 0.5).mean())

    def compared(self, order: str, other: str, share: float) -> Paired:
        """Compare the accuracy of two orders, sentence by sentence.

        Args:
            order: one of `orders`.
            other: another one.
            share: masked share of the words.
        """
        return compared(self.right(order, share), self.right(other, share))

    def fall(self, controls: WordMaskingCurve, share: float) -> Fall:
        """Return the loss of accuracy by masking in random order, on the sentences of `controls`.

        Args:
            controls: curve with the orders `CONTROLS`.
            share: masked share of the words.
        """
        n = min(len(self.positive), len(controls.positive))
        full, masked = (self.right("random", at)[:n] for at in (0.0, share))
        deleted, adapted = (controls.right(name, share)[:n] for name in CONTROLS)
        return Fall(
            counted(full), counted(masked), counted(adapted), counted(deleted),
            compared(adapted, masked), self.nearest(share),
        )  # fmt: skip

    def _at(self, share: float) -> int:
        return int(np.argmin(abs(self.shares - share)))

    def _said(self, order: str, share: float) -> Float[np.ndarray, "sentence"]:
        return self.probability[self.orders.index(order), self._at(share)]


@dataclass(frozen=True)
class Fall:
    """Components of the loss of accuracy by masking words in random order.

    All on the same sentences.

    Attributes:
        unmasked: accuracy of the usual head on whole sentences.
        masked: accuracy of the usual head on masked sentences.
        adapted: accuracy of a head that was trained on masked sentences as well.
        deleted: accuracy of the usual head where the words are deleted instead.
        back: comparison of the two heads, sentence by sentence.
        share: masked share of the words.
    """

    unmasked: Proportion
    masked: Proportion
    adapted: Proportion
    deleted: Proportion
    back: Paired
    share: Share

    @property
    def total(self) -> Share:
        """Total loss: unmasked minus masked."""
        return self.unmasked.share - self.masked.share

    @property
    def shift(self) -> Share:
        """Part that an adapted head recovers: masked sentences were new to the usual one."""
        return self.adapted.share - self.masked.share

    @property
    def information(self) -> Share:
        """Part that an adapted head does not recover."""
        return self.unmasked.share - self.adapted.share

    def parts(self) -> Facts:
        """State the parts in percentage points, and whether the two heads differ significantly."""
        is_visible = self.back.verdict == "real" and min(self.shift, self.information) > 0
        return Facts(
            "none_masked" if self.share == 0 else "shown" if is_visible else "null", fall=self,
            **{name: 100 * getattr(self, name) for name in ("total", "shift", "information")},
        )  # fmt: skip


@dataclass(frozen=True)
class UserTextMasking:
    """A student's sentence under word masking.

    Attributes:
        words: words as written.
        turns: rank of each word in the order, from 0.
        probability: probability of "positive" with the first 0, 1, ... words masked.
    """

    words: tuple[str, ...]
    orders: tuple[str, ...]
    turns: Int[np.ndarray, "order word"]
    probability: Float[np.ndarray, "order masked"] = field(metadata=PROBABILITY)

    def masked_words(self, order: str, masked: int) -> Float[np.ndarray, "word"]:
        """Return 1 for each word that is masked.

        Args:
            order: one of `orders`.
            masked: number of masked words.
        """
        return (self.turns[self.orders.index(order)] < masked).astype(float)

    def positive(self, order: str, masked: int) -> Share:
        """Return the probability of "positive".

        Args:
            order: one of `orders`.
            masked: number of masked words.
        """
        return float(self.probability[self.orders.index(order), masked])

    def words_masked(self, masked: int) -> Fraction:
        """Return the number of masked words with that of all words."""
        return masked, len(self.words)

    def undecided(self, order: str) -> int | None:
        """Return the first number of masked words that changes the answer, or None."""
        answers = self.probability[self.orders.index(order)] > 0.5
        turned = np.flatnonzero(answers != answers[0])
        return int(turned[0]) if len(turned) else None


@dataclass(frozen=True)
class FillSettings:
    """Settings of BERT's corruption.

    Attributes:
        share: selected share of all tokens.
        mask: share of these that become [MASK].
        random: share of these that become another token; the rest is unchanged.
    """

    share: float = 0.15
    mask: float = 0.8
    random: float = 0.1
    sentences: int = 2000
    seed: int = 0


@dataclass(frozen=True)
class FillIn:
    """Ranks of the true tokens at the selected places.

    Attributes:
        treatment: index into `TREATMENTS`.
        rank: rank of the true token among all tokens, 1 for the best guess.
        frequency: its rank by frequency in the training texts, 1 for the most frequent (the
            baseline's guesses).
    """

    settings: FillSettings
    treatment: Int[np.ndarray, "place"]
    rank: Int[np.ndarray, "place"]
    frequency: Int[np.ndarray, "place"]

    def top(self, best: int, treatment: int) -> Proportion:
        """Return how often the true token is among the best guesses, for one treatment.

        Args:
            best: number of guesses.
            treatment: index into `TREATMENTS`.
        """
        rank = self.rank[self.treatment == treatment]
        return of(int((rank <= best).sum()), len(rank))

    def by_frequency(self, best: int) -> Proportion:
        """Return how often the token is among the `best` most frequent training tokens."""
        return of(int((self.frequency <= best).sum()), len(self.frequency))

    def first_guesses(self) -> dict[str, Proportion]:
        """Return the accuracy of the first guess for each treatment that any token got."""
        right = {name: self.top(1, index) for index, name in enumerate(TREATMENTS)}
        return {name: result for name, result in right.items() if result.n}


@dataclass(frozen=True)
class Guesses:
    """Best guesses at one place of a sentence, under several conditions.

    Attributes:
        conditions: of `TREATMENTS` or `DIRECTIONS`.
        pieces: tokens as the model saw them, by condition.
        position: index into them.
        truth: the true token.
        candidates: best tokens by condition, best first.
        probability: their probabilities.
        rank: rank of the true token.
        truth_probability: probability of the true token.
    """

    conditions: tuple[str, ...]
    pieces: tuple[tuple[str, ...], ...]
    position: int
    truth: str
    candidates: tuple[tuple[str, ...], ...]
    probability: Float[np.ndarray, "condition candidate"] = field(metadata=PROBABILITY)
    rank: Int[np.ndarray, "condition"]
    truth_probability: Float[np.ndarray, "condition"]

    def rank_of(self, condition: str) -> int:
        """Return the rank of the true token under one condition."""
        return int(self.rank[self.conditions.index(condition)])

    def chance_of(self, condition: str) -> Share:
        """Return the probability of the true token under one condition."""
        return float(self.truth_probability[self.conditions.index(condition)])

    def visible(self, condition: str) -> str:
        """Return the token that the model saw at the position under one condition."""
        return self.pieces[self.conditions.index(condition)][self.position]


@dataclass(frozen=True)
class Padding:
    """The same sentences padded to one length, with and without the attention mask.

    Attributes:
        lengths: lengths in tokens; a longer sentence keeps its own.
        unpadded: probability of "positive" without any padding.
        probability: probability of "positive"; axes `TOLD`, `SIDES`, length, sentence.
        drift: 1 - cosine of the sentence vectors with and without padding.
        on_pads: share of a real token's attention on [PAD], mean over real tokens, heads, layers.
        positive: True where the true class is "positive".
    """

    lengths: Int[np.ndarray, "length"]
    unpadded: Float[np.ndarray, "sentence"] = field(metadata=PROBABILITY)
    plain = deprecated.alias("unpadded")
    probability: Float[np.ndarray, "told side length sentence"] = field(metadata=PROBABILITY)
    drift: Float[np.ndarray, "told side length sentence"]
    on_pads: Float[np.ndarray, "told side length sentence"]
    positive: Bool[np.ndarray, "sentence"]

    def right(self, masking: str, side: str, length: int) -> Float[np.ndarray, "sentence"]:
        """Return 1 for each sentence that is classified correctly, nan where it was not tried.

        Args:
            masking: "told" with the attention mask, "untold" without.
            side: one of `SIDES`.
            length: one of `lengths`.
        """
        return answers_right(self.probability[self._at(masking, side, length)], self.positive)

    def accuracy(self, masking: str, side: str, length: int) -> Proportion:
        """Return the accuracy.

        Args:
            masking: as in `right`.
            side: one of `SIDES`.
            length: one of `lengths`.
        """
        return counted(self.right(masking, side, length))

    def flipped(self, side: str, length: int) -> Proportion:
        """Return how many answers padding without the attention mask changes.

        Args:
            side: one of `SIDES`.
            length: one of `lengths`.
        """
        untold = self.probability[self._at("untold", side, length)]
        return counted(1 - answers_right(untold, self.unpadded > 0.5))

    def on_pads_untold(self, side: str, length: int) -> Share:
        """Return the attention on padding without the attention mask, mean over sentences.

        Args:
            side: one of `SIDES`.
            length: one of `lengths`.
        """
        return float(np.nanmean(self.on_pads[self._at("untold", side, length)]))

    def middle(self, measure: str, masking: str, side: str, length: int) -> float:
        """Return the median of a measure over the sentences.

        Args:
            measure: "drift" or "on_pads".
            masking: as in `right`.
            side: one of `SIDES`.
            length: one of `lengths`.
        """
        values: np.ndarray = getattr(self, measure)
        return float(np.nanmedian(values[self._at(masking, side, length)]))

    def compared(self, side: str, length: int) -> Paired:
        """Compare the accuracy with and without the attention mask, sentence by sentence.

        Args:
            side: one of `SIDES`.
            length: one of `lengths`.
        """
        masking, untold = (self.right(each, side, length) for each in TOLD)
        return compared(masking, untold)

    def _at(self, masking: str, side: str, length: int) -> tuple[int, int, int]:
        return TOLD.index(masking), SIDES.index(side), self.lengths.tolist().index(length)


@dataclass(frozen=True)
class PadsInMean:
    """As `Padding`, on the right, with the mean over all tokens, [PAD] among them.

    Attributes:
        probability: probability of "positive"; nan where a sentence was not tried.
    """

    lengths: Int[np.ndarray, "length"]
    probability: Float[np.ndarray, "told length sentence"] = field(metadata=PROBABILITY)
    positive: Bool[np.ndarray, "sentence"]

    def accuracy(self, masking: str, length: int) -> Proportion:
        """Return the accuracy.

        Args:
            masking: "told" with the attention mask, "untold" without.
            length: one of `lengths`.
        """
        return counted(answers_right(self._said(masking, length), self.positive))

    def flipped(
        self, masking: str, length: int, unpadded: Float[np.ndarray, "sentence"]
    ) -> Proportion:
        """Return how many answers differ from those without padding.

        Args:
            masking: "told" with the attention mask, "untold" without.
            length: one of `lengths`.
            unpadded: `Padding.unpadded`.
        """
        row = self._said(masking, length)
        return counted(1 - answers_right(row, unpadded[: len(row)] > 0.5))

    def says_positive(self, masking: str, length: int) -> Proportion:
        """Return how many of the answers are "positive".

        Args:
            masking: "told" with the attention mask, "untold" without.
            length: one of `lengths`.
        """
        row = self._said(masking, length)
        return counted(answers_right(row, np.ones(len(row), bool)))

    def answers(self, length: int, unpadded: Float[np.ndarray, "sentence"]) -> Facts:
        """State the effect of padding in the mean, with and without the attention mask.

        Args:
            length: one of `lengths`.
            unpadded: `Padding.unpadded`.
        """
        return Facts(
            length=length, given=self.accuracy("told", length), out=self.accuracy("untold", length),
            flips=self.flipped("untold", length, unpadded),
            positive=self.says_positive("untold", length),
        )  # fmt: skip

    def _said(self, masking: str, length: int) -> Float[np.ndarray, "sentence"]:
        return self.probability[TOLD.index(masking), self.lengths.tolist().index(length)]


@dataclass(frozen=True)
class UserTextPadding:
    """A student's sentence padded to many lengths; as in `Padding`, of one sentence.

    Attributes:
        pieces: tokens to be shown, with up to eight paddings on the right.
        ids: ids of these tokens.
        real: False for padding among them.
    """

    pieces: tuple[str, ...]
    ids: Int[np.ndarray, "token"]
    real: Bool[np.ndarray, "token"]
    lengths: Int[np.ndarray, "length"]
    unpadded: Share
    plain = deprecated.alias("unpadded")
    probability: Float[np.ndarray, "told side length"] = field(metadata=PROBABILITY)
    drift: Float[np.ndarray, "told side length"]
    on_pads: Float[np.ndarray, "told side length"]

    @property
    def n_real(self) -> int:
        """Number of tokens without padding."""
        return int(self.real.sum())

    def positive(self, masking: str, side: str, length: int) -> Share:
        """Return the probability of "positive".

        Args:
            masking: "told" with the attention mask, "untold" without.
            side: one of `SIDES`.
            length: one of `lengths`.
        """
        return float(self.probability[self._at(masking, side, length)])

    def on_pads_untold(self, side: str, length: int) -> Share:
        """Return the attention on padding without the attention mask.

        Args:
            side: one of `SIDES`.
            length: one of `lengths`.
        """
        return float(self.on_pads[self._at("untold", side, length)])

    def answers(self, side: str, length: int) -> Facts:
        """State the answer without padding, and with it, with and without the attention mask.

        Args:
            side: one of `SIDES`.
            length: one of `lengths`.
        """
        given, out = (self.positive(masking, side, length) for masking in TOLD)
        variant = "turned" if (given > 0.5) != (out > 0.5) else "kept"
        return Facts(
            "none" if self.n_real >= length else variant, real=self.n_real, length=length,
            positive_plain=self.unpadded, positive_told=given, positive_untold=out,
            on_pads=self.on_pads_untold(side, length),
        )  # fmt: skip

    def _at(self, masking: str, side: str, length: int) -> tuple[int, int, int]:
        return TOLD.index(masking), SIDES.index(side), self.lengths.tolist().index(length)


@dataclass(frozen=True)
class AttentionDirections:
    """The same weights with attention in both directions, only to the left, only to the right.

    Attributes:
        probability: probability of "positive" with the head fitted on vectors of both directions.
        refitted: the same with a head fitted on vectors of the same direction.
        rank: rank of the true token behind [MASK], one place per sentence.
        positive: True where the true class is "positive".
    """

    directions: tuple[str, ...]
    probability: Float[np.ndarray, "direction sentence"] = field(metadata=PROBABILITY)
    refitted: Float[np.ndarray, "direction sentence"] = field(metadata=PROBABILITY)
    rank: Int[np.ndarray, "direction place"]
    positive: Bool[np.ndarray, "sentence"]

    def accuracy(self, direction: str) -> Proportion:
        """Return the accuracy with the head fitted on vectors of both directions."""
        return counted(self._right(self.probability, direction))

    def refitted_accuracy(self, direction: str) -> Proportion:
        """Return the accuracy with the head fitted on vectors of the same direction."""
        return counted(self._right(self.refitted, direction))

    def guessed(self, direction: str) -> Proportion:
        """Return how often the first guess is the token behind [MASK]."""
        return proportion(self.rank[self.directions.index(direction)] == 1)

    def ends(self, direction: str) -> ShareEnds:
        """Return the least and the largest probability of "positive" of any sentence."""
        row = self.probability[self.directions.index(direction)]
        return float(row.min()), float(row.max())

    def compared(self, direction: str, other: str) -> Paired:
        """Compare the accuracy of two directions with one head, sentence by sentence.

        Args:
            direction: one of `directions`.
            other: another one.
        """
        first, second = (self._right(self.probability, item) for item in (direction, other))
        return compared(first, second)

    def both_and_left(self) -> Facts:
        """State accuracy and guesses behind [MASK] for both directions and for left only."""
        return Facts(
            both=self.accuracy("both"), left=self.accuracy("left"),
            refitted=self.refitted_accuracy("left"),
            guessed_both=self.guessed("both"), guessed_left=self.guessed("left"),
        )  # fmt: skip

    def _right(
        self, probability: Float[np.ndarray, "direction sentence"], direction: str
    ) -> Float[np.ndarray, "sentence"]:
        return answers_right(probability[self.directions.index(direction)], self.positive)


@dataclass(frozen=True)
class TuneSettings(Settings):
    """Settings of training a classifier on the encoder.

    Attributes:
        regime: "random" (nothing is trained), "head", "top" (the last `layers` layers and the
            head), "lora" (adapters of `rank` and the head), "all".
        feature: input of the head, one of `FEATURES`.
        sentences: number of training sentences.
        rate: learning rate of the encoder's weights.
        head_rate: learning rate of the head.
        runs: number of runs, with the seeds 0, 1, ...

    Raises:
        ValueError: a setting is out of its range.
    """

    model: str = "minilm"
    regime: str = "head"
    feature: str = "mean"
    sentences: int = 7272
    epochs: int = 5
    rate: float = 5e-5
    head_rate: float = 1e-3
    layers: int = 2
    rank: int = 8
    batch: int = 32
    runs: int = 1

    limits: ClassVar[Mapping[str, Limit]] = {
        "regime": Choices(REGIMES, "The regime"),
        "sentences": Range(1),
        "epochs": Range(0),
        "batch": Range(1),
        "runs": Range(1),
    }


@dataclass(frozen=True)
class TuneRecord:
    """Progress of a training run: means over the steps since the last record.

    Attributes:
        step: number of the step in the run, from 1.
        validation: accuracy after an epoch, else nan.
    """

    run: int
    step: int
    steps: int
    loss: float
    accuracy: float
    validation: float
    fraction: float


@dataclass(frozen=True)
class Tuned:
    """Results of a trained classifier; epoch 0 is before training.

    Attributes:
        loss: loss of the training sentences during each epoch (0: before it).
        accuracy: accuracy on the training sentences during each epoch (0: before it).
        validation: accuracy on the validation sentences.
        probability: probability of "positive" for the test sentences.
    """

    settings: TuneSettings
    loss: Float[np.ndarray, "run epoch"]
    accuracy: Float[np.ndarray, "run epoch"]
    validation: Float[np.ndarray, "run epoch"]
    probability: Float[np.ndarray, "run sentence"] = field(metadata=PROBABILITY)
    trainable: int
    total: int
    seconds: Seconds

    def tested(self, positive: Bool[np.ndarray, "sentence"]) -> Proportion:
        """Return the accuracy on the test sentences, mean over the runs."""
        share = float(self._shares(positive).mean())
        return of(round(share * len(positive)), len(positive))

    def spread(self, positive: Bool[np.ndarray, "sentence"]) -> ShareEnds | None:
        """Return the test accuracy of the worst and of the best run; None for a single one."""
        runs = self._shares(positive)
        return (float(runs.min()), float(runs.max())) if len(runs) > 1 else None

    def against(
        self, other: Bool[np.ndarray, "sentence"], positive: Bool[np.ndarray, "sentence"]
    ) -> Paired:
        """Compare the first run with another system, sentence by sentence.

        Args:
            other: True where the other system is right.
            positive: True where the true class is "positive".
        """
        return mcnemar((self.probability[0] > 0.5) == positive, other)

    @property
    def epoch_seconds(self) -> Seconds:
        """Duration of one epoch of one run, evaluation included."""
        return self.seconds / max(1, self.settings.epochs * self.settings.runs)

    def _shares(self, positive: Bool[np.ndarray, "sentence"]) -> Float[np.ndarray, "run"]:
        return shares(answers_right(self.probability, positive)).share


@dataclass(frozen=True)
class SearchSettings:
    """Settings of a search for the head's learning rate and batch size."""

    model: str = "minilm"
    feature: str = "mean"
    method: str = "grid"
    budget: int = 12
    epochs: int = 5
    seed: int = 0


@dataclass(frozen=True)
class Searched:
    """Trials of a search in order, with the test answers of the best one.

    Attributes:
        validation: accuracy on the validation sentences.
        best: index of the chosen trial.
        probability: the chosen one's probability of "positive" for the test sentences (trained on
            the training sentences only).
    """

    settings: SearchSettings
    rate: Float[np.ndarray, "trial"]
    batch: Int[np.ndarray, "trial"]
    validation: Float[np.ndarray, "trial"]
    best: int
    probability: Float[np.ndarray, "sentence"] = field(metadata=PROBABILITY)

    @property
    def best_rate(self) -> TwoDigits:
        """Learning rate of the best trial."""
        return float(self.rate[self.best])

    @property
    def n_rates(self) -> int:
        """Number of different learning rates."""
        return len(np.unique(self.rate))

    def validated(self, cases: int) -> Proportion:
        """Return the validation accuracy of the best trial, on `cases` sentences."""
        return of(round(float(self.validation[self.best]) * cases), cases)

    def tested(self, positive: Bool[np.ndarray, "sentence"]) -> Proportion:
        """Return the test accuracy of the best trial."""
        return counted(answers_right(self.probability, positive))

    def chosen(self, cases: int, positive: Bool[np.ndarray, "sentence"]) -> Facts:
        """State the best trial's validation and test accuracy, and the gap in points.

        Args:
            cases: number of validation sentences.
            positive: True where the true class is "positive".
        """
        best, test = self.validated(cases), self.tested(positive)
        gap = 100 * (best.share - test.share)
        return Facts(
            "less" if gap > 0 else "not_less", trials=len(self.rate), rates=self.n_rates,
            best=best, test=test, points=abs(gap),
        )  # fmt: skip


def reached(searches: Sequence[Searched], cases: int) -> Facts:
    """State the best validation accuracy of each search, by its method.

    Args:
        searches: one search for each method.
        cases: number of validation sentences.
    """
    return Facts(**{item.settings.method: item.validated(cases) for item in searches})


@dataclass(frozen=True)
class ModeComparison:
    """One sentence repeated in evaluation and in training mode (dropout), without training.

    Attributes:
        probability: probability of "positive".
        gradient: True where a gradient could be computed, [mode, no_grad].
    """

    modes: tuple[str, ...]
    probability: Float[np.ndarray, "mode repeat"] = field(metadata=PROBABILITY)
    gradient: Bool[np.ndarray, "mode no_grad"]

    def spread(self, mode: str) -> Share:
        """Return the largest minus the smallest probability over the repetitions."""
        return float(np.ptp(self.probability[self.modes.index(mode)]))


@dataclass(frozen=True)
class SearchSurface:
    """Validation accuracy of every combination of learning rate and batch size, each tried once.

    `rate` and `batch` are in ascending order.
    """

    rate: Float[np.ndarray, "rate"]
    batch: Int[np.ndarray, "batch"]
    validation: Float[np.ndarray, "batch rate"]
