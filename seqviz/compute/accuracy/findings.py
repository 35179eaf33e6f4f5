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

from seqviz.compute.proportions import Proportion, of
from seqviz.compute.training.settings import Choices, Limit, Range, Settings

ORDERS = ("random", "attention", "gradient", "content", "function")
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
class Answers:
    """What one system says of the test sentences: probability of "positive", one row a run."""

    system: str
    probability: Float[np.ndarray, "run sentence"] = field(metadata=PROBABILITY)


@dataclass(frozen=True)
class Head:
    """logits = weight @ vector + bias; class 1 is "positive"."""

    weight: Float[np.ndarray, "class d"]
    bias: Float[np.ndarray, "class"]


@dataclass(frozen=True)
class Knife:
    """Sentiment while more and more words are replaced by [MASK].

    orders: which words go first (of `ORDERS`). shares: of each sentence's words that are masked, in
    [0, 1]. probability: of "positive". positive: the truth.
    """

    orders: tuple[str, ...]
    shares: Float[np.ndarray, "share"]
    probability: Float[np.ndarray, "order share sentence"] = field(metadata=PROBABILITY)
    positive: Bool[np.ndarray, "sentence"]


@dataclass(frozen=True)
class OwnKnife:
    """A student's sentence under the same knife.

    words: as written. turns: [order, word], when each word goes, 0 is first. probability: of
    "positive" with the first 0, 1, ... words masked.
    """

    words: tuple[str, ...]
    orders: tuple[str, ...]
    turns: Int[np.ndarray, "order word"]
    probability: Float[np.ndarray, "order masked"] = field(metadata=PROBABILITY)


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


@dataclass(frozen=True)
class Guesses:
    """The best guesses at one place of a sentence, under several conditions.

    conditions: of `TREATMENTS` or `DIRECTIONS`. pieces: the tokens as the model saw them, one row a
    condition. place: index into them. truth: the token that stood there. candidates: the best
    tokens, best first. rank: of the truth. chance: probability of the truth.
    """

    conditions: tuple[str, ...]
    pieces: tuple[tuple[str, ...], ...]
    place: int
    truth: str
    candidates: tuple[tuple[str, ...], ...]
    probability: Float[np.ndarray, "condition candidate"] = field(metadata=PROBABILITY)
    rank: Int[np.ndarray, "condition"]
    chance: Float[np.ndarray, "condition"]


@dataclass(frozen=True)
class Padding:
    """The same sentences padded to one length, the network told so or not.

    lengths: tokens; a longer sentence keeps its own. plain: probability of "positive" without any
    padding. Axes told (`TOLD`), side (`SIDES`), length. drift: 1 - cosine of the sentence vector
    with the one without padding. on_pads: share of a real token's attention that falls on [PAD],
    mean over real tokens, heads, layers.
    """

    lengths: Int[np.ndarray, "length"]
    plain: Float[np.ndarray, "sentence"] = field(metadata=PROBABILITY)
    probability: Float[np.ndarray, "told side length sentence"] = field(metadata=PROBABILITY)
    drift: Float[np.ndarray, "told side length sentence"]
    on_pads: Float[np.ndarray, "told side length sentence"]
    positive: Bool[np.ndarray, "sentence"]


@dataclass(frozen=True)
class OwnPadding:
    """A student's sentence padded to many lengths; as in `Padding`, of one sentence.

    pieces, ids: with up to eight paddings on the right, to be shown.
    """

    pieces: tuple[str, ...]
    ids: Int[np.ndarray, "token"]
    real: Bool[np.ndarray, "token"]
    lengths: Int[np.ndarray, "length"]
    plain: float
    probability: Float[np.ndarray, "told side length"] = field(metadata=PROBABILITY)
    drift: Float[np.ndarray, "told side length"]
    on_pads: Float[np.ndarray, "told side length"]


@dataclass(frozen=True)
class Direction:
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
    seconds: float


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


@dataclass(frozen=True)
class Modes:
    """One sentence several times, in evaluation and in training mode (dropout), without training.

    probability: of "positive". gradient: whether a gradient could be computed, [mode, no_grad].
    """

    modes: tuple[str, ...]
    probability: Float[np.ndarray, "mode repeat"] = field(metadata=PROBABILITY)
    gradient: Bool[np.ndarray, "mode no_grad"]


@dataclass(frozen=True)
class Surface:
    """Validation accuracy of every combination of learning rate and batch size, each tried once.

    rate, batch: in rising order.
    """

    rate: Float[np.ndarray, "rate"]
    batch: Int[np.ndarray, "batch"]
    validation: Float[np.ndarray, "batch rate"]
