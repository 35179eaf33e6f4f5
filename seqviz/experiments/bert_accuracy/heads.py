"""Linear classification heads, trained on cached sentence vectors.

With a frozen encoder the vectors never change, so an epoch is a few thousand tiny steps. Several
random seeds are trained at once: one array has the heads of all runs.
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
    """Heads of all runs and their learning curves; epoch 0 is before training.

    Attributes:
        heads: one head per run.
        loss: cross-entropy in nats, in training.
        accuracy: accuracy in training, in [0, 1].
        validation: accuracy on the validation sentences, in [0, 1].
    """

    heads: tuple[LinearHead, ...]
    loss: Float[np.ndarray, "run epoch"]
    accuracy: Float[np.ndarray, "run epoch"]
    validation: Float[np.ndarray, "run epoch"]


class Adam:
    """AdamW that updates an array in place with the steps of torch.optim.AdamW.

    Args:
        array: the weights.
        rate: learning rate.
        decay: weight decay.

    References:
        Loshchilov and Hutter (2019), algorithm 2.
    """

    def __init__(self, array: np.ndarray, rate: float, decay: float):
        self.array, self.rate, self.decay = array, rate, decay
        self.first, self.second, self.steps = np.zeros_like(array), np.zeros_like(array), 0

    def step(self, gradient: np.ndarray, share: float = 1.0) -> None:
        """Update the array by one step.

        Args:
            gradient: gradient of the loss by the array.
            share: factor of the learning rate.
        """
        (b1, b2), self.steps, rate = _FORGET, self.steps + 1, self.rate * share
        self.first += (1 - b1) * (gradient - self.first)
        self.second += (1 - b2) * (gradient**2 - self.second)
        size = np.sqrt(self.second / (1 - b2**self.steps)) + _TINY
        self.array *= 1 - rate * self.decay
        self.array -= rate / (1 - b1**self.steps) * self.first / size


def new_head(width: int, seed: int, classes: int = 2) -> LinearHead:
    """Return a head before training: normal weights of standard deviation 0.02, no bias.

    Args:
        width: dimension of the vectors.
        seed: random seed.
        classes: number of classes.
    """
    weight = np.random.RandomState(seed).normal(0, _SPREAD, (classes, width))
    return LinearHead(weight.astype(np.float32), np.zeros(classes, np.float32))


def apply(
    head: LinearHead, vectors: Float[np.ndarray, "sentence d"]
) -> Float[np.ndarray, "sentence"]:
    """Return the probability of "positive" of each sentence, softmax of the two logits.

    Args:
        head: the head.
        vectors: sentence vectors.
    """
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
    """Train a head per seed by AdamW on cross-entropy; the learning rate falls linearly to 0.

    Args:
        vectors: sentence vectors for training.
        positive: their labels.
        validation: sentence vectors for validation.
        validation_positive: their labels.
        epochs: number of epochs.
        rate: initial learning rate.
        batch: sentences per batch.
        seeds: random seed of each run, for its initial head and its order of the sentences.
        decay: weight decay of the weights; the bias has none.
        each: called before training and after each epoch with the result so far and the epoch.
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
    )  # views, updated by training
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
    """Return cross-entropy and accuracy of each run, and the gradient of the mean by the logits.

    For two classes, softmax is the sigmoid of the difference x, and cross-entropy log(1 + e^x).
    """
    sign = 1 - 2 * truth
    wrong = sign * (logits[..., 1] - logits[..., 0])  # logit of the wrong class minus true one
    loss = np.logaddexp(0, wrong)
    slope = (sign / truth.shape[1] * np.exp(wrong - loss)).astype(np.float32)
    return loss.mean(1), (wrong < 0).mean(1), np.stack([-slope, slope], -1)


def train_head(
    settings: TuneSettings, each: Callable[[Fitted, int], object] = lambda so_far, epoch: None
) -> Tuned:
    """Train heads in the regimes "random" and "head", with a frozen encoder.

    It takes well under a second; uncached `features` take about a minute.

    Args:
        settings: regime, model, feature and training settings.
        each: see `fit`.

    Raises:
        UserError: "no_pooler" if the encoder has none; errors of `features`.
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
    """Return the test accuracy of one head per seed, in [0, 1].

    Args:
        settings: model, feature and training settings.
        seeds: seeds of head and order, see `fit`, and of the drawn training sentences (without
            repeats) where `settings.sentences` is fewer than all.

    Raises:
        UserError: errors of `train_head`.
    """
    model, feature, labels = settings.model, settings.feature, parts()
    vectors = {part: chosen(model, part, feature) for part in ("train", "validation", "test")}
    total = len(vectors["train"])
    alike = settings.sentences >= total  # with the same data, one array has all heads
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
    """Return one feature of the sentences of a part.

    Args:
        model: name of the encoder.
        part: one of `features.SPLITS`.
        feature: one of `FEATURES`.

    Raises:
        ValueError: unknown feature.
        UserError: "no_pooler" if the encoder has none; errors of `features`.
    """
    check(load(model), feature)
    values: np.ndarray = getattr(features(model, part).vectors, feature)
    return values


def check(pretrained: Pretrained, feature: str) -> None:
    """Raise an exception if an encoder does not have a feature.

    Args:
        pretrained: the encoder.
        feature: name of the feature.

    Raises:
        ValueError: unknown feature.
        UserError: "no_pooler" if the encoder has none.
    """
    if feature not in FEATURES:
        raise ValueError(f"The feature must be one of {', '.join(FEATURES)}, not {feature!r}.")
    if feature == "pooler" and getattr(pretrained.network, "pooler", None) is None:
        title = pretrained.card.title
        raise UserError(
            "no_pooler", f"{title} has no pooler; choose the mean or [CLS].", model=title
        )


@lru_cache(maxsize=8)
def standard_head(model: str, feature: str = "mean") -> LinearHead:
    """Return the standard head, used by every experiment that trains none; MiniLM's is shipped.

    Args:
        model: name of the encoder.
        feature: sentence vector that the head reads, of `FEATURES`.
    """
    shipped = precomputed.find(fit_standard, {"model": model, "feature": feature})
    if shipped is None:
        return fit_standard(model, feature)
    linear_head: LinearHead = shipped.result
    return LinearHead(linear_head.weight.astype(np.float32), linear_head.bias.astype(np.float32))


def has_standard_head(model: str, feature: str = "mean") -> bool:
    """Return True where the standard head is shipped, so that no training is needed.

    Args:
        model: name of the encoder.
        feature: sentence vector that the head reads, of `FEATURES`.
    """
    return precomputed.find(fit_standard, {"model": model, "feature": feature}) is not None


def fit_standard(model: str, feature: str, report: Report = no_progress) -> LinearHead:
    """Train the standard head (a job), with the same settings for all features and seed 0.

    Args:
        model: name of the encoder.
        feature: sentence vector that the head reads, of `FEATURES`.
        report: progress callback; receives the share done.
    """
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
    """Train a head on any vectors with the settings of the standard head.

    Args:
        vectors: sentence vectors for training.
        validation: sentence vectors for validation.
        positive: labels for training.
        validation_positive: labels for validation.
    """
    return fit(
        vectors,
        positive,
        validation,
        validation_positive,
        epochs=STANDARD.epochs,
        rate=STANDARD.head_rate,
        batch=STANDARD.batch,
    ).heads[0]
