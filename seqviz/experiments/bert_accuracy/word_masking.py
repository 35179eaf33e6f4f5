"""Sentiment while more and more words of a sentence are replaced by [MASK]."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from seqviz.compute.bert_accuracy import corruption
from seqviz.compute.bert_accuracy.results import (
    CONTROLS,
    ORDERS,
    LinearHead,
    UserTextMasking,
    WordMaskingCurve,
)
from seqviz.data.reviews import sentiment_split
from seqviz.experiments.bert_accuracy import features, heads
from seqviz.experiments.bert_accuracy.encoding import tokenize, vectors
from seqviz.experiments.bert_accuracy.fill import special
from seqviz.experiments.bert_accuracy.importance import attention_received, gradient_times_input
from seqviz.jobs import Report, no_progress, scale_report
from seqviz.models.pretrained import Pretrained, load
from seqviz.models.texts import ModelText

MAX_USER_TOKENS = (
    40  # tokens of a student's sentence: 38 words under five orders are two seconds on a core
)
_PORTION = 8  # sentences whose masked versions are in memory at once


@dataclass(frozen=True)
class Prepared:
    """A sentence cut into words. turns: [order, word], when each word goes under each order."""

    ids: Int[np.ndarray, "token"]
    word_of: Int[np.ndarray, "token"]
    words: tuple[str, ...]
    turns: Int[np.ndarray, "order word"]

    def masked(self, order: int, k: int, mask_id: int) -> Int[np.ndarray, "token"]:
        """The ids with the first `k` words of an order masked."""
        return corruption.masked(self.ids, self.word_of, self.turns[order], k, mask_id)

    def deleted(self, order: int, k: int) -> Int[np.ndarray, "token"]:
        """The ids without the first `k` words of an order."""
        return corruption.deleted(self.ids, self.word_of, self.turns[order], k)


def mask_words(
    model: str,
    sentences: int,
    shares: Sequence[float],
    report: Report = no_progress,
    feature: str = "mean",
    seed: int = 0,
    orders: Sequence[str] = ORDERS,
) -> WordMaskingCurve:
    """A job: the first test sentences through the frozen encoder and its standard head.

    shares: of each sentence's words that are masked, in [0, 1]. orders: of `ORDERS`; "attention"
    and "gradient" are of the unmasked sentence (`importance`), the others draw with (seed, number
    of the sentence). Reports the share that is done. Raises the refusals of `load` and
    `standard_head`.
    """
    head = standard_head(model, feature, lambda: report(0.0, 0.0))
    pretrained = load(model)
    test = sentiment_split()[1]
    ids = tokenize(pretrained, test.texts[:sentences])
    table = np.zeros((len(orders), len(shares), len(ids)))
    for start in range(0, len(ids), _PORTION):
        portion = ids[start : start + _PORTION]
        report_progress = scale_report(report, start / len(ids), (start + len(portion)) / len(ids))
        cut = prepared(pretrained, portion, head, feature, seed, orders, first=start)
        report_progress(0.0)
        targets = [
            item.masked(order, corruption.count(share, len(item.words)), _mask(pretrained))
            for order in range(len(orders))
            for share in shares
            for item in cut
        ]
        result = _probability(pretrained, targets, head, feature, report_progress)
        table[:, :, start : start + len(portion)] = result.reshape(*table.shape[:2], -1)
    return WordMaskingCurve(
        tuple(orders), np.array(shares, float), table, test.positive[:sentences]
    )


def controls(
    model: str,
    sentences: int,
    shares: Sequence[float],
    report: Report = no_progress,
    feature: str = "mean",
    seed: int = 0,
    training: int | None = None,
) -> WordMaskingCurve:
    """A job: is it the missing word that costs, or [MASK]? Two answers to masking at random.

    "deleted": the words that `mask_words` masks in random order are taken out instead; the standard
    head. "adapted": they are masked, and the head is `adapted_head`. Arguments, reports and
    refusals as in `mask_words`, whose first sentences these are; training: of `adapted_head`.
    """
    standard = standard_head(model, feature, lambda: report(0.0, 0.0))
    pretrained, test = load(model), sentiment_split()[1]
    ids = tokenize(pretrained, test.texts[:sentences])
    parts = len(ids) * len(shares) + len(features.ids(model, "train")[:training])
    before = 0

    def encoded(ids: Sequence[np.ndarray], weight: int) -> Float[np.ndarray, "sentence d"]:
        nonlocal before
        start, before = before, before + weight
        return _encoded(
            pretrained, ids, feature, scale_report(report, start / parts, before / parts)
        )

    count = parts - len(ids) * len(shares)
    adapted = adapted_head(
        model, shares, lambda some: encoded(some, count), feature, seed, training
    )
    table = np.zeros((len(CONTROLS), len(shares), len(ids)))
    for start in range(0, len(ids), _PORTION):
        cut = prepared(
            pretrained, ids[start : start + _PORTION], standard, feature, seed, ("random",), start
        )
        retained, gone = [], []
        for share in shares:
            for item in cut:
                k = corruption.count(share, len(item.words))
                retained.append(item.deleted(0, k))
                gone.append(item.masked(0, k, _mask(pretrained)))
        result = encoded([*retained, *gone], len(gone))
        for row, head in enumerate((standard, adapted)):
            half = result[row * len(retained) : (row + 1) * len(retained)]
            table[row, :, start : start + len(cut)] = heads.apply(head, half).reshape(
                len(shares), -1
            )
    return WordMaskingCurve(CONTROLS, np.array(shares, float), table, test.positive[:sentences])


def adapted_head(
    model: str,
    shares: Sequence[float],
    encode: Callable[[Sequence[np.ndarray]], Float[np.ndarray, "sentence d"]],
    feature: str = "mean",
    seed: int = 0,
    training: int | None = None,
) -> LinearHead:
    """A head fitted as the standard one is, on sentences of which some words are masked as well.

    Every training sentence comes twice: whole, and with a share of its words, drawn from `shares`,
    masked at random. encode: makes sentence vectors. training: how many sentences; None is all.
    """
    pretrained, random = load(model), np.random.RandomState((seed, 1))
    ids, labels = features.ids(model, "train")[:training], features.parts()
    masked = []
    for item in ids:
        word_of, words = _cut(pretrained, item)
        k = corruption.count(random.choice(shares), len(words))
        turn = random.permutation(len(words))
        masked.append(corruption.masked(item, word_of, turn, k, _mask(pretrained)))
    full = {part: heads.chosen(model, part, feature) for part in ("train", "validation")}
    positive = labels["train"].positive[:training]
    return heads.fit_as_standard(
        np.concatenate([full["train"][:training], encode(masked)]),
        full["validation"],
        np.concatenate([positive, positive]),
        labels["validation"].positive,
    )


def mask_user_text(
    model: str,
    text: ModelText,
    seed: int = 0,
    feature: str = "mean",
    orders: Sequence[str] = ORDERS,
) -> UserTextMasking:
    """A student's sentence (its first 40 tokens) with its first 0, 1, ... words masked.

    What is the same for several orders goes through once; 25 words are 27 short sentences for one
    order and 122 for all five. Raises the refusals of `load` and `standard_head`.
    """
    pretrained = load(model)
    head = heads.standard_head(model, feature)
    (item,) = prepared(
        pretrained, tokenize(pretrained, [text], MAX_USER_TOKENS), head, feature, seed, orders
    )
    counts = range(len(item.words) + 1)
    targets = [item.masked(o, k, _mask(pretrained)) for o in range(len(orders)) for k in counts]
    result = _probability(pretrained, targets, head, feature)
    return UserTextMasking(item.words, tuple(orders), item.turns, result.reshape(len(orders), -1))


def prepared(
    pretrained: Pretrained,
    ids: Sequence[np.ndarray],
    head: LinearHead,
    feature: str,
    seed: int,
    orders: Sequence[str],
    first: int = 0,
) -> list[Prepared]:
    """Sentences cut into words, with the turn of each word. first: the first sentence's number."""
    scores: dict[str, Sequence[np.ndarray]] = {}
    if "attention" in orders:
        scores["attention"] = attention_received(pretrained, ids)
    if "gradient" in orders:
        scores["gradient"] = gradient_times_input(pretrained, ids, head, feature)
    results = []
    for i, item in enumerate(ids):
        word_of, words = _cut(pretrained, item)
        turns = [
            corruption.turns(scores[order][i], word_of)
            if order in scores
            else _drawn(order, words, (seed, first + i))
            for order in orders
        ]
        results.append(Prepared(item, word_of, words, np.stack(turns)))
    return results


def _cut(pretrained: Pretrained, ids: np.ndarray) -> tuple[np.ndarray, tuple[str, ...]]:
    """The word of each token, and the words in letters."""
    with pretrained.lock:
        pieces = pretrained.tokenizer.convert_ids_to_tokens(ids.tolist())
    word_of = corruption.words_of(pieces, special(pretrained, ids))
    return word_of, corruption.written(pieces, word_of)


def _drawn(order: str, words: tuple[str, ...], seed: tuple[int, int]) -> np.ndarray:
    if order == "random":
        return corruption.random_turns(len(words), seed)
    if order == "content":
        return corruption.content_first(words, seed)
    if order == "function":
        return corruption.function_first(words, seed)
    raise ValueError(f"{order!r} is none of the orders {', '.join(ORDERS)}.")


def standard_head(model: str, feature: str, wait: Callable[[], object]) -> LinearHead:
    """`heads.standard_head`; `wait` is called while its training vectors are computed."""
    for part in () if heads.has_standard_head(model, feature) else ("train", "validation"):
        features.features(model, part, report=lambda fraction: wait())
    return heads.standard_head(model, feature)


def _probability(
    pretrained: Pretrained,
    ids: Sequence[np.ndarray],
    head: LinearHead,
    feature: str,
    report: Callable[[float], object] | None = None,
) -> Float[np.ndarray, "sentence"]:
    """Probability of "positive"; equal sentences go through the network once."""
    return heads.apply(head, _encoded(pretrained, ids, feature, report))


def _encoded(
    pretrained: Pretrained,
    ids: Sequence[np.ndarray],
    feature: str,
    report: Callable[[float], object] | None = None,
) -> Float[np.ndarray, "sentence d"]:
    """Sentence vectors; equal sentences go through the network once."""
    number: dict[bytes, int] = {}
    positions = [number.setdefault(item.tobytes(), len(number)) for item in ids]
    different = [np.frombuffer(raw, ids[0].dtype) for raw in number]
    values: np.ndarray = getattr(vectors(pretrained, different, report=report), feature)
    return values[positions]


def _mask(pretrained: Pretrained) -> int:
    token: int = pretrained.tokenizer.mask_token_id
    return token
