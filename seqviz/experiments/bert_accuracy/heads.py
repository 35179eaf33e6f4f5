"""The linear head of a classifier, trained on sentence vectors that are already there.

With the encoder frozen its vectors never change, so an epoch is a few thousand tiny steps. Several
random seeds are trained side by side: one array has the heads of all runs.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from jaxtyping import Bool, Float

from seqviz.compute.bert_accuracy.results import FEATURES, LinearHead, Tuned, TuneSettings
from seqviz.core.errors import UserError
from seqviz.data import precomputed
from seqviz.experiments.bert_accuracy.features import features, make, parts
from seqviz.jobs import Report, no_progress
from seqviz.models.pretrained import Pretrained, load

STANDARD = TuneSettings(epochs=5, head_rate=3e-2)
_SPREAD = 0.02  # of a new head's weights, as in BERT; its bias is 0
_FORGET = (0.9, 0.999)  # Adam's beta 1 and beta 2
_TINY = 1e-8  # Adam's epsilon
DECAY = 0.01  # of the weights, not of the bias


@dataclass(frozen=True)
class Fitted:
    """One head a run, and how its training went; epoch 0 is before it."""

    heads: tuple[LinearHead, ...]
    loss: Float[np.ndarray, "run epoch"]
    accuracy: Float[np.ndarray, "run epoch"]
    validation: Float[np.ndarray, "run epoch"]


class Adam:
    """AdamW (Loshchilov and Hutter 2019, algorithm 2), as torch.optim.AdamW steps, in place."""

    def __init__(self, array: np.ndarray, rate: float, decay: float):
        self.array, self.rate, self.decay = array, rate, decay
        self.first, self.second, self.steps = np.zeros_like(array), np.zeros_like(array), 0

    def step(self, gradient: np.ndarray, share: float = 1.0) -> None:
        """Move the array one step against the gradient, by `share` of the learning rate."""
        (b1, b2), self.steps, rate = _FORGET, self.steps + 1, self.rate * share
        self.first += (1 - b1) * (gradient - self.first)
        self.second += (1 - b2) * (gradient**2 - self.second)
        size = np.sqrt(self.second / (1 - b2**self.steps)) + _TINY
        self.array *= 1 - rate * self.decay
        self.array -= rate / (1 - b1**self.steps) * self.first / size


def new_head(width: int, seed: int, classes: int = 2) -> LinearHead:
    """A head before training: weights from a normal of width 0.02, no bias."""
    weight = np.random.RandomState(seed).normal(0, _SPREAD, (classes, width))
    return LinearHead(weight.astype(np.float32), np.zeros(classes, np.float32))


def apply(
    head: LinearHead, vectors: Float[np.ndarray, "sentence d"]
) -> Float[np.ndarray, "sentence"]:
    """Probability of "positive" for each sentence: softmax of the two logits."""
    logits = vectors.astype(np.float64) @ head.weight.T.astype(np.float64) + head.bias
    return 1 / (1 + np.exp(logits[:, 0] - logits[:, 1]))


def fit(
    vectors: Float[np.ndarray, "sentence d"],
    positive: Bool[np.ndarray, "sentence"],
    validation: Float[np.ndarray, "other d"],
    validation_positive: Bool[np.ndarray, "other"],
    *,
    epochs: int,
    rate: float,
    batch: int,
    seeds: Sequence[int] = (0,),
    decay: float = DECAY,
    each: Callable[[Fitted, int], object] = lambda so_far, epoch: None,
) -> Fitted:
    """Train one head a seed by AdamW on cross-entropy; the learning rate falls evenly to zero.

    Every run draws its own head and its own order of the sentences from its seed. each: called
    before training and after each epoch with what is known so far and the number of the epoch.
    """
    data, label = np.ascontiguousarray(vectors, np.float32), positive.astype(np.int64)
    randoms = [np.random.RandomState(seed) for seed in seeds]
    runs, count = len(seeds), len(data)
    start = [new_head(data.shape[1], seed) for seed in seeds]
    weight = np.stack([head.weight for head in start])
    bias = np.stack([head.bias for head in start])
    movers = Adam(weight, rate, decay), Adam(bias, rate, 0.0)
    loss, accuracy, valid = (np.zeros((runs, epochs + 1)) for _ in range(3))
    heads = tuple(
        LinearHead(w, b) for w, b in zip(weight, bias, strict=True)
    )  # views: they learn along
    result = Fitted(heads, loss, accuracy, valid)
    full = np.broadcast_to(label, (runs, count))
    loss[:, 0], accuracy[:, 0], _ = _score(data @ weight.transpose(0, 2, 1) + bias[:, None], full)
    for epoch in range(epochs + 1):
        if epoch:
            order = np.stack([random.permutation(count) for random in randoms])
            for first in range(0, count, batch):
                indices = order[:, first : first + batch]
                observed, truth = data[indices], label[indices]
                logits = observed @ weight.transpose(0, 2, 1) + bias[:, None]
                costs, rights, slope = _score(logits, truth)
                share = indices.shape[1] / count
                loss[:, epoch] += costs * share
                accuracy[:, epoch] += rights * share
                left = 1 - (epoch - 1 + first / count) / epochs
                movers[0].step(slope.transpose(0, 2, 1) @ observed, left)
                movers[1].step(slope.sum(1), left)
        logits = validation @ weight.transpose(0, 2, 1) + bias[:, None]
        valid[:, epoch] = ((logits[..., 1] > logits[..., 0]) == validation_positive).mean(1)
        each(result, epoch)
    return result


def _score(
    logits: Float[np.ndarray, "run sentence class"], truth: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Mean cross-entropy and accuracy of each run, and the slope of the mean by the logits.

    Of two classes: softmax is the sigmoid of the difference, log(1 + e^x) the cross-entropy.
    """
    sign = 1 - 2 * truth
    wrong = sign * (logits[..., 1] - logits[..., 0])  # by how much the other class is ahead
    loss = np.logaddexp(0, wrong)
    slope = (sign / truth.shape[1] * np.exp(wrong - loss)).astype(np.float32)
    return loss.mean(1), (wrong < 0).mean(1), np.stack([-slope, slope], -1)


def train_head(
    settings: TuneSettings, each: Callable[[Fitted, int], object] = lambda so_far, epoch: None
) -> Tuned:
    """The regimes "random" and "head", with the encoder frozen; well under a second.

    Uses `features`, which computes for a minute where nothing is cached. Raises UserError
    ("no_pooler") where the encoder has none.
    """
    parts_of = {part: chosen(settings.model, part, settings.feature) for part in ("train", "test")}
    labels = parts()
    start = time.perf_counter()
    result = fit(
        parts_of["train"][: settings.sentences],
        labels["train"].positive[: settings.sentences],
        chosen(settings.model, "validation", settings.feature),
        labels["validation"].positive,
        epochs=0 if settings.regime == "random" else settings.epochs,
        rate=settings.head_rate,
        batch=settings.batch,
        seeds=range(settings.runs),
        each=each,
    )
    probability = np.stack([apply(head, parts_of["test"]) for head in result.heads])
    size = result.heads[0].weight.size + result.heads[0].bias.size
    encoder = sum(parameter.numel() for parameter in load(settings.model).network.parameters())
    return Tuned(
        settings,
        result.loss,
        result.accuracy,
        result.validation,
        probability,
        0 if settings.regime == "random" else size,
        encoder + size,
        time.perf_counter() - start,
    )


def accuracies(settings: TuneSettings, seeds: Sequence[int]) -> Float[np.ndarray, "seed"]:
    """The share of the test sentences that a head is right on, one head a seed.

    A seed draws its head and its order as in `fit`, and where fewer than all sentences are trained
    on it draws these as well, each once. Uses `features`; raises as `train_head`.
    """
    model, feature, labels = settings.model, settings.feature, parts()
    vectors = {part: chosen(model, part, feature) for part in ("train", "validation", "test")}
    total = len(vectors["train"])
    alike = settings.sentences >= total  # all have the same data: one array has all heads
    linear_heads: list[LinearHead] = []
    for some in [seeds] if alike else [[seed] for seed in seeds]:
        rows = (
            np.arange(total)
            if alike
            else np.random.default_rng(some[0]).choice(total, settings.sentences, replace=False)
        )
        linear_heads += fit(
            vectors["train"][rows],
            labels["train"].positive[rows],
            vectors["validation"],
            labels["validation"].positive,
            epochs=settings.epochs,
            rate=settings.head_rate,
            batch=settings.batch,
            seeds=some,
        ).heads
    positive = labels["test"].positive
    return np.array(
        [((apply(head, vectors["test"]) > 0.5) == positive).mean() for head in linear_heads]
    )


def chosen(model: str, part: str, feature: str) -> Float[np.ndarray, "sentence d"]:
    """One feature of a part's sentences. Raises UserError("no_pooler")."""
    check(load(model), feature)
    values: np.ndarray = getattr(features(model, part).vectors, feature)
    return values


def check(pretrained: Pretrained, feature: str) -> None:
    """Raise ValueError for an unknown feature, UserError("no_pooler") for one that is not there."""
    if feature not in FEATURES:
        raise ValueError(f"The feature must be one of {', '.join(FEATURES)}, not {feature!r}.")
    if feature == "pooler" and getattr(pretrained.network, "pooler", None) is None:
        title = pretrained.card.title
        raise UserError(
            "no_pooler", f"{title} has no pooler; choose the mean or [CLS].", model=title
        )


@lru_cache(maxsize=8)
def standard_head(model: str, feature: str = "mean") -> LinearHead:
    """THE head that every experiment without training of its own uses; for MiniLM it is shipped."""
    shipped = precomputed.find(fit_standard, {"model": model, "feature": feature})
    if shipped is None:
        return fit_standard(model, feature)
    linear_head: LinearHead = shipped.result
    return LinearHead(linear_head.weight.astype(np.float32), linear_head.bias.astype(np.float32))


def has_standard_head(model: str, feature: str = "mean") -> bool:
    """Whether the standard head is there without any training."""
    return precomputed.find(fit_standard, {"model": model, "feature": feature}) is not None


def fit_standard(model: str, feature: str, report: Report = no_progress) -> LinearHead:
    """A job: train the standard head, one setting for all features, seed 0."""
    make(model, report)
    training = ("train", "validation")
    vectors, labels = (chosen(model, part, feature) for part in training), parts()
    return fit_as_standard(*vectors, *(labels[part].positive for part in training))


def fit_as_standard(
    vectors: Float[np.ndarray, "sentence d"],
    validation: Float[np.ndarray, "other d"],
    positive: Bool[np.ndarray, "sentence"],
    validation_positive: Bool[np.ndarray, "other"],
) -> LinearHead:
    """A head fitted as the standard one is, on any vectors."""
    return fit(
        vectors,
        positive,
        validation,
        validation_positive,
        epochs=STANDARD.epochs,
        rate=STANDARD.head_rate,
        batch=STANDARD.batch,
    ).heads[0]
