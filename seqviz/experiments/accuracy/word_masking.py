"""Sentiment while more and more words of a sentence are replaced by [MASK]."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from seqviz.compute.accuracy import corruption
from seqviz.compute.accuracy.findings import ORDERS, Head, Knife, OwnKnife
from seqviz.data.reviews import sentiment_split
from seqviz.experiments.accuracy import heads
from seqviz.experiments.accuracy.encoding import tokenize, vectors
from seqviz.experiments.accuracy.features import features
from seqviz.experiments.accuracy.fill import special
from seqviz.experiments.accuracy.importance import attention_received, gradient_times_input
from seqviz.jobs import Report, silent
from seqviz.models.pretrained import Pretrained, load
from seqviz.models.texts import Read

OWN = 40  # tokens of a student's sentence: 38 words under five orders are two seconds on a core
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


def knife(
    model: str,
    sentences: int,
    shares: Sequence[float],
    report: Report = silent,
    device: str = "cpu",
    feature: str = "mean",
    seed: int = 0,
    orders: Sequence[str] = ORDERS,
) -> Knife:
    """A job: the first test sentences through the frozen encoder and its standard head.

    shares: of each sentence's words that are masked, in [0, 1]. orders: of `ORDERS`; "attention"
    and "gradient" are of the unmasked sentence (`importance`), the others draw with (seed, number
    of the sentence). Reports the share that is done. Raises the refusals of `load` and
    `standard_head`. (`device` names the queue.)
    """
    head = standard_head(model, feature, lambda: report(0.0, 0.0))
    pretrained = load(model)
    test = sentiment_split()[1]
    ids = tokenize(pretrained, test.texts[:sentences])
    table = np.zeros((len(orders), len(shares), len(ids)))
    for start in range(0, len(ids), _PORTION):
        portion = ids[start : start + _PORTION]

        def tell(fraction: float, start: int = start, size: int = len(portion)) -> None:
            share = (start + fraction * size) / len(ids)
            report(share, share)

        cut = prepared(pretrained, portion, head, feature, seed, orders, first=start)
        tell(0.0)
        wanted = [
            one.masked(order, corruption.count(share, len(one.words)), _mask(pretrained))
            for order in range(len(orders))
            for share in shares
            for one in cut
        ]
        found = _probability(pretrained, wanted, head, feature, tell)
        table[:, :, start : start + len(portion)] = found.reshape(*table.shape[:2], -1)
    return Knife(tuple(orders), np.array(shares, float), table, test.positive[:sentences])


def own_knife(
    model: str,
    text: Read,
    seed: int = 0,
    feature: str = "mean",
    orders: Sequence[str] = ORDERS,
) -> OwnKnife:
    """A student's sentence (its first 40 tokens) with its first 0, 1, ... words masked.

    What is the same for several orders goes through once; 25 words are 27 short sentences for one
    order and 122 for all five. Raises the refusals of `load` and `standard_head`.
    """
    pretrained = load(model)
    head = heads.standard_head(model, feature)
    (one,) = prepared(pretrained, tokenize(pretrained, [text], OWN), head, feature, seed, orders)
    counts = range(len(one.words) + 1)
    wanted = [one.masked(o, k, _mask(pretrained)) for o in range(len(orders)) for k in counts]
    found = _probability(pretrained, wanted, head, feature)
    return OwnKnife(one.words, tuple(orders), one.turns, found.reshape(len(orders), -1))


def prepared(
    pretrained: Pretrained,
    ids: Sequence[np.ndarray],
    head: Head,
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
    found = []
    for i, one in enumerate(ids):
        with pretrained.lock:
            pieces = pretrained.tokenizer.convert_ids_to_tokens(one.tolist())
        word_of = corruption.words_of(pieces, special(pretrained, one))
        words = corruption.written(pieces, word_of)

        turns = [
            corruption.turns(scores[order][i], word_of)
            if order in scores
            else _drawn(order, words, (seed, first + i))
            for order in orders
        ]
        found.append(Prepared(one, word_of, words, np.stack(turns)))
    return found


def _drawn(order: str, words: tuple[str, ...], seed: tuple[int, int]) -> np.ndarray:
    if order == "random":
        return corruption.random_turns(len(words), seed)
    if order == "content":
        return corruption.content_first(words, seed)
    if order == "function":
        return corruption.function_first(words, seed)
    raise ValueError(f"{order!r} is none of the orders {', '.join(ORDERS)}.")


def standard_head(model: str, feature: str, wait: Callable[[], object]) -> Head:
    """`heads.standard_head`; `wait` is called while its training vectors are computed."""
    for part in () if heads.known(model, feature) else ("train", "validation"):
        features(model, part, report=lambda fraction: wait())
    return heads.standard_head(model, feature)


def _probability(
    pretrained: Pretrained,
    ids: Sequence[np.ndarray],
    head: Head,
    feature: str,
    report: Callable[[float], object] | None = None,
) -> Float[np.ndarray, "sentence"]:
    """Probability of "positive"; equal sentences go through the network once."""
    number: dict[bytes, int] = {}
    places = [number.setdefault(one.tobytes(), len(number)) for one in ids]
    different = [np.frombuffer(raw, ids[0].dtype) for raw in number]
    found = heads.apply(head, getattr(vectors(pretrained, different, report=report), feature))
    return found[places]


def _mask(pretrained: Pretrained) -> int:
    token: int = pretrained.tokenizer.mask_token_id
    return token
