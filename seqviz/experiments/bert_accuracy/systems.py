"""All systems of the lesson on the same test sentences, from the shipped results."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from jaxtyping import Bool, Float

from seqviz.compute.bert_accuracy.results import (
    AttentionDirections,
    Padding,
    SystemPredictions,
    Tuned,
    WordMaskingCurve,
)
from seqviz.core.errors import UserError
from seqviz.data import precomputed
from seqviz.data.reviews import sentiment_split
from seqviz.experiments.bert_accuracy import features, shipped
from seqviz.stats import proportions
from seqviz.stats.proportions import Proportion

NAMES = (
    "random_head", "head_pooler", "head_cls", "head_mean", "top_2", "lora", "all",
    "bag_of_words", "lstm", "gru",
    "masked_50", "pads_64", "pads_128", "causal",
)  # fmt: skip
WITHOUT_SEED = ("bag_of_words",)  # training without randomness


@dataclass(frozen=True)
class RunPredictions:
    """Answers of one run to the test sentences.

    Attributes:
        probability: probability of "positive".
        positive: the answer.
        right: True where the answer is correct.
    """

    probability: Float[np.ndarray, "sentence"]
    positive: Bool[np.ndarray, "sentence"]
    right: Bool[np.ndarray, "sentence"]


@cache
def answers() -> tuple[SystemPredictions, ...]:
    """Return the answers of all `NAMES` to the 2,000 test sentences, one row per seed.

    masked_50: half of the words masked at random. pads_64, pads_128: padded to that length on the
    right without a mask. causal: attention to the left only. These four have the head of
    head_mean's first run.

    Raises:
        UserError: "damaged" if a result is missing.
    """
    return tuple(map(predictions_of, NAMES))


def predictions_of(name: str) -> SystemPredictions:
    """Return the answers of one system; only its own result is read.

    Raises:
        UserError: "damaged" if the result is missing.
    """
    return SystemPredictions(name, _probability(name))


@cache
def _probability(name: str) -> np.ndarray:
    """Return the probability of "positive" by one system, [seed, sentence]."""
    if name in shipped.TUNED:
        return _tuned(name)
    if name == "masked_50":
        occlusion: WordMaskingCurve = _result("knife")
        half = int(np.argmin(abs(occlusion.shares - 0.5)))
        return occlusion.probability[occlusion.orders.index("random"), half][None]
    if name.startswith("pads_"):
        padding: Padding = _result("padding")
        column = int(np.flatnonzero(padding.lengths == int(name.removeprefix("pads_")))[0])
        return padding.probability[1, 0, column][None]
    if name == "causal":
        direction: AttentionDirections = _result("direction")
        return direction.probability[direction.directions.index("left")][None]
    return next(item.probability for item in _result("baselines") if item.system == name)


def first_run(name: str) -> RunPredictions:
    """Return the answers of the first run of one of `NAMES`.

    Raises:
        UserError: "damaged" if the result is missing.
    """
    probability = _probability(name)[0]
    positive = probability > 0.5
    return RunPredictions(probability, positive, positive == truth())


def differing(first: RunPredictions, second: RunPredictions, sentences: int) -> tuple[int, ...]:
    """Return the indices of sentences on which exactly one of two runs is right.

    Args:
        first: a run.
        second: another run.
        sentences: number of sentences from the start.
    """
    apart = first.right[:sentences] != second.right[:sentences]
    return tuple(np.flatnonzero(apart).tolist())


def majority(part: str = "test", sentences: int | None = None) -> Proportion:
    """Return the accuracy of always answering the more frequent class of the training sentences.

    Args:
        part: "validation" or "test".
        sentences: number of sentences of the part, from the start; None for all.
    """
    existing = features.parts()
    return proportions.majority(existing["train"].positive, existing[part].positive[:sentences])


def truth() -> np.ndarray:
    """Return True for the positive test sentences."""
    return sentiment_split()[1].positive


def origin() -> precomputed.ShippedResult:
    """Return the shipped result of the longest experiment, with its date and machine."""
    return _measured("all")


def _tuned(name: str) -> np.ndarray:
    """Return the answers of all runs, including the shipped ones of further seeds."""
    again = (precomputed.find(*call) for key, call in shipped.seeds().items() if key[0] == name)
    runs: list[Tuned] = [_result(name), *(item.result for item in again if item is not None)]
    return np.concatenate([run.probability for run in runs])


def _result(name: str) -> Any:
    return _measured(name).result


def _measured(name: str) -> precomputed.ShippedResult:
    function, keywords = shipped.calls()[name]
    result = precomputed.find(function, keywords)
    if result is None:
        raise UserError(
            "damaged", "The results of the experiments are missing; install again.", file=name
        )
    return result
