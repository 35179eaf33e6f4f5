"""What the experiments of the accuracy lesson find: plain arrays, for any model.

All systems are tried on the same test sentences in the same order, and what is kept is each
system's answer to each sentence, so that accuracies, intervals, tests and confusions follow from it
and any two systems can be compared sentence by sentence.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
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
# Of a field: how it is packed where a result comes with the app (`seqviz.data.precomputed`).
PROBABILITY = {"holds": "probability"}


@dataclass(frozen=True)
class SystemPredictions:
    """What one system says of the test sentences: probability of "positive", one row a run."""

    system: str
    probability: Float[np.ndarray, "run sentence"] = field(metadata=PROBABILITY)

    def runs(self, positive: Bool[np.ndarray, "sentence"]) -> tuple[Proportion, ...]:
        """How often each run is right, the worst first."""
        results = [proportion((row > 0.5) == positive) for row in self.probability]
        return tuple(sorted(results, key=lambda item: item.share))

    def between_seeds(self, positive: Bool[np.ndarray, "sentence"]) -> Facts:
        """State what the worst and the best run reach, and the interval of their mean."""
        runs = self.runs(positive)
        mean = of_share(sum(run.share for run in runs) / len(runs), len(positive))
        return Facts(runs=len(runs), worst=runs[0], best=runs[-1], mean=mean)


@dataclass(frozen=True)
class LinearHead:
    """logits = weight @ vector + bias; class 1 is "positive"."""

    weight: Float[np.ndarray, "class d"]
    bias: Float[np.ndarray, "class"]


@dataclass(frozen=True)
class WordMaskingCurve:
    """Sentiment while more and more words are replaced by [MASK].

    orders: which words go first (of `ORDERS`), or `CONTROLS`. shares: of each sentence's words that
    are masked, in [0, 1]. probability: of "positive". positive: the truth.
    """

    orders: tuple[str, ...]
    shares: Float[np.ndarray, "share"]
    probability: Float[np.ndarray, "order share sentence"] = field(metadata=PROBABILITY)
    positive: Bool[np.ndarray, "sentence"]

    def nearest(self, share: float) -> float:
        """The share that was tried and is closest to this one."""
        return float(self.shares[self._at(share)])

    def right(self, order: str, share: float) -> Float[np.ndarray, "sentence"]:
        """1 for each sentence that is answered rightly at the share that is closest to this one."""
        return answers_right(self._said(order, share), self.positive)

    def accuracy(self, order: str, share: float) -> Proportion:
        """How often the answer is right at the share that is closest to this one."""
        return counted(self.right(order, share))

    def says_positive(self, order: str, share: float) -> Share:
        """How many of the sentences are called positive."""
        return float((self._said(order, share) > 0.5).mean())

    def compared(self, order: str, other: str, share: float) -> Paired:
        """Are two orders equally bad? Sentence by sentence."""
        return compared(self.right(order, share), self.right(other, share))

    def fall(self, controls: WordMaskingCurve, share: float) -> Fall:
        """What masking in random order costs on the sentences of `controls` (`CONTROLS`)."""
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
    """What masking some words in random order costs, taken apart; on the same sentences.

    unmasked, masked: the usual head. adapted: a head that was trained on masked sentences as well.
    deleted: the usual head, the words taken out in place of masked. back: the two heads, sentence
    by sentence. share: of the words that are masked.
    """

    unmasked: Proportion
    masked: Proportion
    adapted: Proportion
    deleted: Proportion
    back: Paired
    share: Share

    @property
    def total(self) -> Share:
        """All of it: whole minus masked."""
        return self.unmasked.share - self.masked.share

    @property
    def shift(self) -> Share:
        """What a head that has seen [MASK] has back: such sentences were new to the other."""
        return self.adapted.share - self.masked.share

    @property
    def information(self) -> Share:
        """What not even that head has back."""
        return self.unmasked.share - self.adapted.share

    def parts(self) -> Facts:
        """State the parts in percentage points, and whether the two heads can be told apart."""
        is_visible = self.back.verdict == "real" and min(self.shift, self.information) > 0
        return Facts(
            "none_masked" if self.share == 0 else "shown" if is_visible else "null", fall=self,
            **{name: 100 * getattr(self, name) for name in ("total", "shift", "information")},
        )  # fmt: skip


@dataclass(frozen=True)
class UserTextMasking:
    """A student's sentence under the same knife.

    words: as written. turns: [order, word], when each word goes, 0 is first. probability: of
    "positive" with the first 0, 1, ... words masked.
    """

    words: tuple[str, ...]
    orders: tuple[str, ...]
    turns: Int[np.ndarray, "order word"]
    probability: Float[np.ndarray, "order masked"] = field(metadata=PROBABILITY)

    def masked_words(self, order: str, masked: int) -> Float[np.ndarray, "word"]:
        """1 for each word that is masked when so many are."""
        return (self.turns[self.orders.index(order)] < masked).astype(float)

    def positive(self, order: str, masked: int) -> Share:
        """Probability of "positive" with so many words masked."""
        return float(self.probability[self.orders.index(order), masked])

    def words_masked(self, masked: int) -> Fraction:
        """So many of all words."""
        return masked, len(self.words)

    def undecided(self, order: str) -> int | None:
        """The first number of masked words with another answer than of the whole sentence."""
        answers = self.probability[self.orders.index(order)] > 0.5
        turned = np.flatnonzero(answers != answers[0])
        return int(turned[0]) if len(turned) else None


@dataclass(frozen=True)
class FillSettings:
    """BERT's corruption: of all tokens `share` is selected; of these `mask` become [MASK], `random`
    another token, and the rest is left alone. sentences: how many of the test sentences.
    """

    share: float = 0.15
    mask: float = 0.8
    random: float = 0.1
    sentences: int = 2000
    seed: int = 0


@dataclass(frozen=True)
class FillIn:
    """How well the tokens at the selected places are guessed.

    treatment: index into `TREATMENTS`, one a place. rank: of the true token among all tokens, 1 is
    the best guess. frequency: its rank by how often it comes in the training texts, 1 is the most
    frequent (the baseline guesses these).
    """

    settings: FillSettings
    treatment: Int[np.ndarray, "place"]
    rank: Int[np.ndarray, "place"]
    frequency: Int[np.ndarray, "place"]

    def top(self, best: int, treatment: int) -> Proportion:
        """How often the token is among the `best` guesses where it was treated so."""
        rank = self.rank[self.treatment == treatment]
        return of(int((rank <= best).sum()), len(rank))

    def by_frequency(self, best: int) -> Proportion:
        """How often it is among the `best` most frequent tokens of the training texts."""
        return of(int((self.frequency <= best).sum()), len(self.frequency))

    def first_guesses(self) -> dict[str, Proportion]:
        """Return how often the first guess is right, of each treatment that any token got."""
        right = {name: self.top(1, index) for index, name in enumerate(TREATMENTS)}
        return {name: result for name, result in right.items() if result.n}


@dataclass(frozen=True)
class Guesses:
    """The best guesses at one place of a sentence, under several conditions.

    conditions: of `TREATMENTS` or `DIRECTIONS`. pieces: the tokens as the model saw them, one row a
    condition. position: index into them. truth: the token that stood there. candidates: the best
    tokens, best first. rank, truth_probability: of the truth.
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
        """The rank of the true token under one condition."""
        return int(self.rank[self.conditions.index(condition)])

    def chance_of(self, condition: str) -> Share:
        """The probability of the true token under one condition."""
        return float(self.truth_probability[self.conditions.index(condition)])


@dataclass(frozen=True)
class Padding:
    """The same sentences padded to one length, the network told so or not.

    lengths: tokens; a longer sentence keeps its own. unpadded: probability of "positive" without
    any padding. Axes told (`TOLD`), side (`SIDES`), length. drift: 1 - cosine of the sentence
    vector with the one without padding. on_pads: share of a real token's attention that falls on
    [PAD], mean over real tokens, heads, layers.
    """

    lengths: Int[np.ndarray, "length"]
    unpadded: Float[np.ndarray, "sentence"] = field(metadata=PROBABILITY)
    plain = deprecated.alias("unpadded")
    probability: Float[np.ndarray, "told side length sentence"] = field(metadata=PROBABILITY)
    drift: Float[np.ndarray, "told side length sentence"]
    on_pads: Float[np.ndarray, "told side length sentence"]
    positive: Bool[np.ndarray, "sentence"]

    def right(self, masking: str, side: str, length: int) -> Float[np.ndarray, "sentence"]:
        """1 for each sentence that is answered rightly, nan where it was not tried."""
        return answers_right(self.probability[self._at(masking, side, length)], self.positive)

    def accuracy(self, masking: str, side: str, length: int) -> Proportion:
        """How often the answer is right."""
        return counted(self.right(masking, side, length))

    def flipped(self, side: str, length: int) -> Proportion:
        """How many answers padding changes when the network is not told."""
        untold = self.probability[self._at("untold", side, length)]
        return counted(1 - answers_right(untold, self.unpadded > 0.5))

    def on_pads_untold(self, side: str, length: int) -> Share:
        """Attention on padding when the network is not told, mean over sentences."""
        return float(np.nanmean(self.on_pads[self._at("untold", side, length)]))

    def middle(self, measure: str, masking: str, side: str, length: int) -> float:
        """The median over the sentences of "drift" or "on_pads"."""
        values: np.ndarray = getattr(self, measure)
        return float(np.nanmedian(values[self._at(masking, side, length)]))

    def compared(self, side: str, length: int) -> Paired:
        """Told against not told, sentence by sentence."""
        masking, untold = (self.right(each, side, length) for each in TOLD)
        return compared(masking, untold)

    def _at(self, masking: str, side: str, length: int) -> tuple[int, int, int]:
        return TOLD.index(masking), SIDES.index(side), self.lengths.tolist().index(length)


@dataclass(frozen=True)
class PadsInMean:
    """As `Padding`, on the right, where the mean is over all tokens, [PAD] among them.

    probability: of "positive"; nan where a sentence was not tried.
    """

    lengths: Int[np.ndarray, "length"]
    probability: Float[np.ndarray, "told length sentence"] = field(metadata=PROBABILITY)
    positive: Bool[np.ndarray, "sentence"]

    def accuracy(self, masking: str, length: int) -> Proportion:
        """How often the answer is right."""
        return counted(answers_right(self._said(masking, length), self.positive))

    def flipped(
        self, masking: str, length: int, unpadded: Float[np.ndarray, "sentence"]
    ) -> Proportion:
        """How many answers are another than without padding (`Padding.plain`)."""
        row = self._said(masking, length)
        return counted(1 - answers_right(row, unpadded[: len(row)] > 0.5))

    def says_positive(self, masking: str, length: int) -> Proportion:
        """How many of the answers are "positive"."""
        row = self._said(masking, length)
        return counted(answers_right(row, np.ones(len(row), bool)))

    def answers(self, length: int, unpadded: Float[np.ndarray, "sentence"]) -> Facts:
        """State what padding in the mean does, with the mask given and left out."""
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

    pieces, ids: with up to eight paddings on the right, to be shown.
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
        """Tokens that are no padding."""
        return int(self.real.sum())

    def positive(self, masking: str, side: str, length: int) -> Share:
        """Probability of "positive"."""
        return float(self.probability[self._at(masking, side, length)])

    def on_pads_untold(self, side: str, length: int) -> Share:
        """Attention on padding when the network is not told."""
        return float(self.on_pads[self._at("untold", side, length)])

    def answers(self, side: str, length: int) -> Facts:
        """State the answer without padding, with it, and with it where the network is not told."""
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
    """The same weights looking both ways, only to the left, only to the right.

    probability: of "positive" with the head that was fitted on vectors of both ways. refitted: with
    a head fitted on vectors of the same way. rank: of the true token behind [MASK], one place a
    sentence.
    """

    directions: tuple[str, ...]
    probability: Float[np.ndarray, "direction sentence"] = field(metadata=PROBABILITY)
    refitted: Float[np.ndarray, "direction sentence"] = field(metadata=PROBABILITY)
    rank: Int[np.ndarray, "direction place"]
    positive: Bool[np.ndarray, "sentence"]

    def accuracy(self, direction: str) -> Proportion:
        """How often the answer is right, with the head that was fitted on vectors of both ways."""
        return counted(self._right(self.probability, direction))

    def refitted_accuracy(self, direction: str) -> Proportion:
        """The same with a head of its own."""
        return counted(self._right(self.refitted, direction))

    def guessed(self, direction: str) -> Proportion:
        """How often the first guess is the token behind [MASK]."""
        return proportion(self.rank[self.directions.index(direction)] == 1)

    def ends(self, direction: str) -> ShareEnds:
        """The least and the largest probability of "positive" that any sentence gets."""
        row = self.probability[self.directions.index(direction)]
        return float(row.min()), float(row.max())

    def compared(self, direction: str, other: str) -> Paired:
        """Two ways with one head, sentence by sentence."""
        first, second = (self._right(self.probability, item) for item in (direction, other))
        return compared(first, second)

    def both_and_left(self) -> Facts:
        """State what looking left only costs: the answers, and the guesses behind [MASK]."""
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
    """How a classifier is trained on the encoder.

    regime: "random" (nothing is trained), "head", "top" (the last `layers` layers and the head),
    "lora" (adapters of `rank` and the head), "all". feature: what the head reads (`FEATURES`).
    sentences: to train on. rate: of the encoder's weights; head_rate: of the head's. runs: random
    seeds 0, 1, ... Raises ValueError when a setting is out of its range.
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
    """How far a training run is: means over the steps since the last record.

    step counts from 1 within the run, of `steps`. validation: accuracy after an epoch, else nan.
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
    """A trained classifier, seen from outside.

    Epoch 0 is before training. loss, accuracy: of the training sentences during each epoch (0:
    before it). validation: of the sentences set apart. probability: of "positive", test sentences.
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
        """How often the answers to the test sentences are right: the mean over the runs."""
        share = float(self._shares(positive).mean())
        return of(round(share * len(positive)), len(positive))

    def spread(self, positive: Bool[np.ndarray, "sentence"]) -> ShareEnds | None:
        """That of the worst run and of the best; None of a single one."""
        runs = self._shares(positive)
        return (float(runs.min()), float(runs.max())) if len(runs) > 1 else None

    def against(
        self, other: Bool[np.ndarray, "sentence"], positive: Bool[np.ndarray, "sentence"]
    ) -> Paired:
        """Its first run against where another system is right, sentence by sentence."""
        return mcnemar((self.probability[0] > 0.5) == positive, other)

    @property
    def epoch_seconds(self) -> Seconds:
        """Of one epoch of one run, what was read in between and the test among them."""
        return self.seconds / max(1, self.settings.epochs * self.settings.runs)

    def _shares(self, positive: Bool[np.ndarray, "sentence"]) -> Float[np.ndarray, "run"]:
        return shares(answers_right(self.probability, positive)).share


@dataclass(frozen=True)
class SearchSettings:
    """A search for the head's learning rate and batch size within a budget of trials."""

    model: str = "minilm"
    feature: str = "mean"
    method: str = "grid"
    budget: int = 12
    epochs: int = 5
    seed: int = 0


@dataclass(frozen=True)
class Searched:
    """The trials in order, what each reached on the validation sentences, and the chosen one's
    test answers (trained on the training sentences only).
    """

    settings: SearchSettings
    rate: Float[np.ndarray, "trial"]
    batch: Int[np.ndarray, "trial"]
    validation: Float[np.ndarray, "trial"]
    best: int
    probability: Float[np.ndarray, "sentence"] = field(metadata=PROBABILITY)

    @property
    def best_rate(self) -> TwoDigits:
        """The learning rate of the best trial."""
        return float(self.rate[self.best])

    def validated(self, cases: int) -> Proportion:
        """What the best trial reached on so many validation sentences."""
        return of(round(float(self.validation[self.best]) * cases), cases)

    def tested(self, positive: Bool[np.ndarray, "sentence"]) -> Proportion:
        """How often its answers to the test sentences are right."""
        return counted(answers_right(self.probability, positive))

    def chosen(self, cases: int, positive: Bool[np.ndarray, "sentence"]) -> Facts:
        """State the best trial where it was chosen, and on the test; the gap in points."""
        best, test = self.validated(cases), self.tested(positive)
        gap = 100 * (best.share - test.share)
        return Facts(
            "less" if gap > 0 else "not_less", trials=len(self.rate), best=best, test=test,
            points=abs(gap),
        )  # fmt: skip


@dataclass(frozen=True)
class ModeComparison:
    """One sentence several times, in evaluation and in training mode (dropout), without training.

    probability: of "positive". gradient: whether a gradient could be computed, [mode, no_grad].
    """

    modes: tuple[str, ...]
    probability: Float[np.ndarray, "mode repeat"] = field(metadata=PROBABILITY)
    gradient: Bool[np.ndarray, "mode no_grad"]

    def spread(self, mode: str) -> Share:
        """Largest minus smallest probability over the repetitions."""
        return float(np.ptp(self.probability[self.modes.index(mode)]))


@dataclass(frozen=True)
class SearchSurface:
    """Validation accuracy of every combination of learning rate and batch size, each tried once.

    rate, batch: in rising order.
    """

    rate: Float[np.ndarray, "rate"]
    batch: Int[np.ndarray, "batch"]
    validation: Float[np.ndarray, "batch rate"]
