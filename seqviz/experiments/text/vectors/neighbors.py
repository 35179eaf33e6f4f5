"""Word vectors from neighboring words in the bundled film reviews, by counts or word2vec."""

from __future__ import annotations

import re
from collections import Counter
from functools import cache

import numpy as np
from jaxtyping import Int

from seqviz.compute.text.vectors import learned, skip_gram, windows
from seqviz.compute.text.vectors.learned import LearnedVectors, Nearest, Substitutes
from seqviz.compute.text.vectors.skip_gram import VectorsReport
from seqviz.core.errors import UserError
from seqviz.data import word_lists
from seqviz.data.reviews import movie_reviews
from seqviz.experiments.text.vectors.tables import words_of
from seqviz.jobs import Report, no_progress

LEAST = 20  # minimum count of a word in the reviews
DIMENSIONS, EPOCHS, NEGATIVES, SEEDS = 50, 5, 5, 3
EPOCHS_CBOW = 8  # an epoch has one example for each word, not one for each pair
WINDOWS = (2, 5, 10)
_WORD = re.compile(r"[a-z]+(?:'[a-z]+)*")  # no quotation marks, which reviews write as '


@cache
def corpus() -> tuple[
    tuple[str, ...], Int[np.ndarray, "word"], Int[np.ndarray, "token"], Int[np.ndarray, "token"]
]:
    """Return all tokens of the reviews; id -1 is a rare word.

    Returns:
        Words from the most frequent, ties in alphabetical order; their counts; ids of the tokens;
        index of each token's review.
    """
    texts = [_WORD.findall(text.lower()) for text in movie_reviews().texts]
    counted = Counter(word for text in texts for word in text)
    retained = sorted((w for w, n in counted.items() if n >= LEAST), key=lambda w: (-counted[w], w))
    at = {word: index for index, word in enumerate(retained)}
    ids = np.array([at.get(word, -1) for text in texts for word in text])
    of = np.repeat(np.arange(len(texts)), [len(text) for text in texts])
    return tuple(retained), np.array([counted[word] for word in retained]), ids, of


def counted(window: int) -> LearnedVectors:
    """Return word vectors by positive PMI, reduced to `DIMENSIONS` by SVD; exact.

    Args:
        window: neighbors on each side.
    """
    words, often, ids, texts = corpus()
    pairs = windows.neighbors(ids, texts, window)
    matrix = windows.positive_pmi(windows.counts(pairs, len(words)))
    vectors = windows.reduced(matrix, DIMENSIONS)
    return LearnedVectors(words, vectors, often, len(pairs), np.zeros(0))


def skip_grams(window: int, seed: int, report: Report = no_progress) -> LearnedVectors:
    """Train skip-gram vectors with negative sampling on the pairs of `counted` (a job).

    Args:
        window: neighbors on each side.
        seed: random seed.
        report: progress callback; receives each `VectorsReport`.
    """
    words, often, ids, texts = corpus()
    pairs = windows.neighbors(ids, texts, window)
    result = skip_gram.train(pairs, len(words), DIMENSIONS, EPOCHS, NEGATIVES, seed, report)
    return LearnedVectors(
        words, result.vectors.astype(np.float16), often, len(pairs), result.losses
    )


def cbow(window: int, seed: int, report: Report = no_progress) -> LearnedVectors:
    """Train CBOW vectors with negative sampling on the windows of `counted` (a job).

    Two neighbors on each side took 28 CPU seconds, ten took 46 (two of `skip_grams`: 61).

    Args:
        window: neighbors on each side.
        seed: random seed.
        report: progress callback; receives each `VectorsReport`.
    """
    words, often, ids, texts = corpus()
    examples = windows.contexts(ids, texts, window)
    result = skip_gram.train(examples, len(words), DIMENSIONS, EPOCHS_CBOW, NEGATIVES, seed, report)
    pairs = int((examples[:, :-1] >= 0).sum())
    return LearnedVectors(words, result.vectors.astype(np.float16), often, pairs, result.losses)


def nearest_so_far(progress: VectorsReport, word: str, window: int, count: int) -> Nearest:
    """Return the nearest words to a word among vectors that are still trained.

    Args:
        progress: report of `skip_grams` or `cbow`.
        word: one of the words of `corpus`.
        window: window of the training.
        count: number of nearest words.
    """
    words, often, *_ = corpus()
    now = LearnedVectors(words, progress.vectors, often, 0, progress.losses)
    return learned.nearest(now, word, window, count)


def substitutes(seeds: int = SEEDS, report: Report = no_progress) -> Substitutes:
    """Compare both methods with each window on the bundled word list (a job).

    Args:
        seeds: number of skip-gram seeds.
        report: progress callback; receives the share done.
    """
    items = word_lists.substitutes()
    nearer = np.zeros((2, len(WINDOWS), seeds, len(items)), bool)
    for index, window in enumerate(WINDOWS):
        nearer[0, index] = learned.substitutes_nearer(counted(window), items)
        for seed in range(seeds):
            done = (index * seeds + seed) / (len(WINDOWS) * seeds)
            report(done, done)
            nearer[1, index, seed] = learned.substitutes_nearer(skip_grams(window, seed), items)
    return Substitutes(WINDOWS, nearer)


def check_word(word: str) -> str:
    """Return a word of the reviews in lower case.

    Raises:
        UserError: "rare_word" or "no_word".
    """
    result = words_of(word, 1)[0]
    if result not in corpus()[0]:
        raise UserError(
            "rare_word",
            f"“{result}” stands in the reviews less than {LEAST} times; take another word.",
            word=result, least=LEAST,
        )  # fmt: skip
    return result
