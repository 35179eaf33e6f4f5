"""Byte-pair encodings learned from the film reviews, or from two examples of the literature."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache, lru_cache

import numpy as np

from seqviz.compute.text.tokenization.bpe import Bpe, pattern
from seqviz.compute.text.tokenization.cut import Strips, single_bytes, strips
from seqviz.compute.text.tokenization.merges import (
    Compression,
    LearnedMerges,
    WordSymbols,
    applied,
    learn,
    tokens_after,
    word_counts,
)
from seqviz.data.reviews import editorials, movie_reviews
from seqviz.jobs import Report, no_progress
from seqviz.models.texts import TokenizerText

# Sennrich, Haddow and Birch (2016), without their end-of-word symbol; Karpathy (2024).
TOY = {b"low": 5, b"lower": 2, b"newest": 6, b"widest": 3}
MINBPE = {b"aaabdaaabac": 1}
MAX_MERGES = 1000  # merges
HELD = 10  # every tenth review is held out
ALL = 9_545  # reviews that are not held out
_STEP = 100  # merges between two cached states of the words
_PLACES = 41  # points of a curve


def texts(name: str, amount: int = ALL) -> tuple[str, ...]:
    """Return the sentences of a corpus.

    Args:
        name: "reviews", the "held" out reviews, or "editorials".
        amount: number of "reviews" from the start.
    """
    if name == "editorials":
        return editorials().texts
    reviews = movie_reviews().texts
    if name == "held":
        return reviews[HELD - 1 :: HELD]
    return tuple(text for k, text in enumerate(reviews, 1) if k % HELD)[:amount]


def counted(name: str, amount: int = ALL) -> Mapping[bytes, int]:
    """Return the words of a corpus with their counts.

    Args:
        name: "toy", "minbpe", or a name of `texts`.
        amount: number of "reviews" from the start.
    """
    if name in ("toy", "minbpe"):
        return TOY if name == "toy" else MINBPE
    return word_counts([word for text in texts(name, amount) for word in pattern().findall(text)])


@lru_cache(8)
def _words(name: str, amount: int) -> WordSymbols:
    return WordSymbols(counted(name, amount))


def train_tokenizer(amount: int, report: Report = no_progress) -> LearnedMerges:
    """Learn a thousand merges from reviews (a job).

    Args:
        amount: number of reviews from the start, without those held out.
        report: progress callback; receives "merges" with the share done.
    """
    return learn(
        counted("reviews", amount), MAX_MERGES, lambda done: report("merges", done / MAX_MERGES)
    )


@cache
def learned(corpus: str, amount: int = ALL) -> LearnedMerges:
    """Learn all merges of a small corpus, at most a thousand, without a job.

    Args:
        corpus: name of the corpus, see `counted`.
        amount: number of "reviews" from the start.
    """
    return learn(counted(corpus, amount), MAX_MERGES)


def _after(learned_merges: LearnedMerges, corpus: str, amount: int, merges: int) -> WordSymbols:
    """Return the words after some merges, from the nearest cached state."""
    pairs = learned_merges.pairs[: merges - merges % _STEP].astype(np.int64)
    before = _kept(corpus, amount, merges // _STEP, pairs.tobytes())
    return applied(before, learned_merges.pairs[:merges])


@lru_cache(48)
def _kept(corpus: str, amount: int, steps: int, pairs: bytes) -> WordSymbols:
    """Return the words after `steps` hundreds of merges, given as bytes."""
    if not steps:
        return _words(corpus, amount)
    done = np.frombuffer(pairs, np.int64).reshape(-1, 2)
    before = _kept(corpus, amount, steps - 1, done[: (steps - 1) * _STEP].tobytes())
    return applied(before, done)


@lru_cache(8)
def encoder(pairs: bytes) -> Bpe:
    """Return a tokenizer with the given merges (int64)."""
    return Bpe(np.frombuffer(pairs, np.int64).reshape(-1, 2))


def encoder_of(learned_merges: LearnedMerges, merges: int) -> Bpe:
    """Return a tokenizer with the first merges.

    Args:
        learned_merges: the learned merges.
        merges: number of merges that it applies.
    """
    return encoder(learned_merges.pairs[:merges].astype(np.int64).tobytes())


def before_and_after(learned_merges: LearnedMerges, merges: int, text: TokenizerText) -> Strips:
    """Return a text in bytes, and after the first merges.

    Args:
        learned_merges: the learned merges.
        merges: number of merges to apply.
        text: the text.
    """
    return strips(text, (("bytes", single_bytes), ("own", encoder_of(learned_merges, merges).cut)))


def compression(learned_merges: LearnedMerges, corpus: str, amount: int) -> Compression:
    """Return bytes per token of the training texts, held-out reviews and editorials.

    A small example is measured only on itself.

    Args:
        learned_merges: the learned merges.
        corpus: name of their corpus, see `counted`.
        amount: number of "reviews" from the start.
    """
    visible = _texts(corpus, amount)
    every = [_words(*words) for words in visible.values()]
    positions = _places(learned_merges)
    tokens = np.array([tokens_after(item, learned_merges, positions.tolist()) for item in every])
    return Compression(tuple(visible), positions, np.array([item.tokens for item in every]), tokens)


def compression_at(
    learned_merges: LearnedMerges, corpus: str, amount: int, merges: int
) -> Compression:
    """Return `compression` after one number of merges.

    Args:
        learned_merges: the learned merges.
        corpus: name of their corpus, see `counted`.
        amount: number of "reviews" from the start.
        merges: number of merges.
    """
    visible = _texts(corpus, amount)
    sizes = np.array([_words(*words).tokens for words in visible.values()])
    tokens = [
        [_after(learned_merges, name, many, merges).tokens] for name, many in visible.values()
    ]
    return Compression(tuple(visible), np.array([merges]), sizes, np.array(tokens))


def compression_of(
    learned_merges: LearnedMerges, text: TokenizerText, merges: int | None = None
) -> Compression:
    """Return the compression of a text.

    Args:
        learned_merges: the learned merges.
        text: the text.
        merges: number of merges; None for a curve over all numbers.
    """
    words = WordSymbols(word_counts(pattern().findall(text)))
    positions = _places(learned_merges) if merges is None else np.array([merges])
    tokens = np.array([tokens_after(words, learned_merges, positions.tolist())])
    return Compression(("own",), positions, np.array([words.tokens]), tokens)


def _texts(corpus: str, amount: int) -> dict[str, tuple[str, int]]:
    """Return the curves of a figure, with the arguments of `_words`."""
    result = {"trained": (corpus, amount)}
    if corpus == "reviews":
        result |= {"held": ("held", ALL), "editorials": ("editorials", ALL)}
    return result


def _places(learned_merges: LearnedMerges) -> np.ndarray:
    return np.unique(np.linspace(0, len(learned_merges.pairs), _PLACES).astype(int))
