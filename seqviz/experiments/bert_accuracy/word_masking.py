"""Sentiment as more and more words of a sentence are replaced by [MASK]."""

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

# Tokens of a user's sentence: 38 words under five orders take two seconds on a core.
MAX_USER_TOKENS = 40
_PORTION = 8  # sentences whose masked versions are in memory at once


@dataclass(frozen=True)
class Prepared:
    """Sentence split into words, with the masking orders.

    Attributes:
        ids: token ids.
        word_of: index of each token's word; see `corruption.words_of`.
        words: the words.
        turns: turn of each word under each order.
    """

    ids: Int[np.ndarray, "token"]
    word_of: Int[np.ndarray, "token"]
    words: tuple[str, ...]
    turns: Int[np.ndarray, "order word"]

    def masked(self, order: int, k: int, mask_id: int) -> Int[np.ndarray, "token"]:
        """Return the ids with the first `k` words of an order masked.

        Args:
            order: index of the order.
            k: number of words.
            mask_id: id of [MASK].
        """
        return corruption.masked(self.ids, self.word_of, self.turns[order], k, mask_id)

    def deleted(self, order: int, k: int) -> Int[np.ndarray, "token"]:
        """Return the ids without the first `k` words of an order.

        Args:
            order: index of the order.
            k: number of words.
        """
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
    """Mask words of the first test sentences and predict them with the standard head (a job).

    Args:
        model: name of the encoder, which stays frozen.
        sentences: number of sentences.
        shares: shares of each sentence's words to mask, in [0, 1].
        report: progress callback; receives the share done.
        feature: sentence vector that the head reads, of `FEATURES`.
        seed: seed of the random orders, with the number of the sentence.
        orders: of `ORDERS`; "attention" and "gradient" rank the words of the unmasked sentence
            (`importance`).

    Raises:
        ValueError: unknown order.
        UserError: errors of `load` and `standard_head`.
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
    """Run two controls of `mask_words`, which separate missing words from [MASK] (a job).

    "deleted": the words that `mask_words` masks in random order are deleted instead, with the
    standard head. "adapted": they are masked, with the head of `adapted_head`.

    Args:
        model: name of the encoder, which stays frozen.
        sentences: number of sentences, the first ones of `mask_words`.
        shares: shares of each sentence's words to mask or delete, in [0, 1].
        report: progress callback; receives the share done.
        feature: sentence vector that the head reads, of `FEATURES`.
        seed: seed of the random orders, with the number of the sentence.
        training: number of training sentences of `adapted_head`; None for all.

    Raises:
        UserError: errors of `load` and `standard_head`.
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
    """Train a head with the standard settings on whole and on partly masked sentences.

    Every training sentence occurs twice: whole, and with a random share of its words masked at
    random.

    Args:
        model: name of the encoder.
        shares: shares to draw from.
        encode: returns the vectors of sentences.
        feature: sentence vector that the head reads, of `FEATURES`.
        seed: random seed.
        training: number of training sentences; None for all.
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
    """Mask the first 0, 1, ... words of a user's sentence under each order.

    Equal sentences are encoded once: 25 words are 27 short sentences for one order and 122 for all
    five.

    Args:
        model: name of the encoder.
        text: the sentence, truncated to 40 tokens.
        seed: seed of the random orders.
        feature: sentence vector that the head reads, of `FEATURES`.
        orders: of `ORDERS`.

    Raises:
        ValueError: unknown order.
        UserError: errors of `load` and `standard_head`.
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
    """Split sentences into words and compute the turn of each word under each order.

    Args:
        pretrained: the encoder.
        ids: token ids of each sentence.
        head: head of the order "gradient".
        feature: sentence vector that the head reads, of `FEATURES`.
        seed: seed of the random orders, with the number of the sentence.
        orders: of `ORDERS`.
        first: number of the first sentence.
    """
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
    """Return the index of each token's word, and the words."""
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
    """Return `heads.standard_head`, with a callback during the computation of training vectors.

    Args:
        model: name of the encoder.
        feature: sentence vector that the head reads, of `FEATURES`.
        wait: called while they are computed; may raise to cancel.
    """
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
    """Return each sentence's probability of "positive"; equal sentences are encoded once."""
    return heads.apply(head, _encoded(pretrained, ids, feature, report))


def _encoded(
    pretrained: Pretrained,
    ids: Sequence[np.ndarray],
    feature: str,
    report: Callable[[float], object] | None = None,
) -> Float[np.ndarray, "sentence d"]:
    """Return the sentence vectors; equal sentences are encoded once."""
    number: dict[bytes, int] = {}
    positions = [number.setdefault(item.tobytes(), len(number)) for item in ids]
    different = [np.frombuffer(raw, ids[0].dtype) for raw in number]
    values: np.ndarray = getattr(vectors(pretrained, different, report=report), feature)
    return values[positions]


def _mask(pretrained: Pretrained) -> int:
    token: int = pretrained.tokenizer.mask_token_id
    return token
