"""Bundled English sentences with sentiment ratings: movie reviews and newspaper editorials."""

from __future__ import annotations

import bz2
import hashlib
from dataclasses import dataclass
from functools import cache

import numpy as np
from jaxtyping import Bool, Float

from seqviz.core.errors import UserError
from seqviz.core.paths import ASSETS
from seqviz.stats.facts import Facts

FOLDER = ASSETS / "data"
SOURCE = (
    "C. J. Hutto and E. E. Gilbert (2014). VADER: A Parsimonious Rule-based Model for Sentiment "
    "Analysis of Social Media Text. ICWSM 2014. MIT license."
)
_SHA256 = {
    "movie_reviews": "c8293b0d942e90e223ea2c0955d969040d1a1be514a978b9af0698940bd13350",
    "editorials": "7d8fbcce7dde5d716da53e78f4ef4be6b706e9ef1e1d51887e6d0ad4b69cc27e",
}
_TEST = 2000  # sentences
_CLEAR = 0.5  # ratings closer to zero are neutral


@dataclass(frozen=True)
class Snippets:
    """Rated sentences or short texts.

    Attributes:
        texts: the sentences.
        ratings: mean of twenty people's ratings, in [-4, 4]; read-only.
    """

    texts: tuple[str, ...]
    ratings: Float[np.ndarray, "text"]


@dataclass(frozen=True)
class Labeled:
    """Sentences with binary sentiment labels.

    Attributes:
        texts: the sentences.
        positive: True for positive; read-only.
    """

    texts: tuple[str, ...]
    positive: Bool[np.ndarray, "text"]

    def described(self, number: int) -> Facts:
        """State the label of a sentence (from 1), the number of sentences and of positive ones."""
        positive = bool(self.positive[number - 1])
        return Facts("positive" if positive else "negative", number=number, count=len(self.texts),
                     label=int(positive), share=float(self.positive.mean()))  # fmt: skip


def movie_reviews() -> Snippets:
    """Return 10,605 sentences of movie reviews (rotten.tomatoes), rated for the VADER paper."""
    return _load("movie_reviews")


def editorials() -> Snippets:
    """Return 5,190 sentences of 500 editorials of the New York Times, rated for the VADER paper."""
    return _load("editorials")


@cache
def sentiment_split() -> tuple[Labeled, Labeled]:
    """Return (train, test) of the movie reviews with |rating| >= 0.5, labeled by the sign.

    10,072 sentences, 49.6% positive, in the order of RandomState(0)'s permutation; the last 2,000
    are the test set.
    """
    reviews = movie_reviews()
    clear = np.flatnonzero(np.abs(reviews.ratings) >= _CLEAR)
    indices = np.random.RandomState(0).permutation(clear)
    train, test = (_labeled(reviews, part) for part in (indices[:-_TEST], indices[-_TEST:]))
    return train, test


@cache
def characters_split() -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return (train, held out) of the character models: reviews and editorials, shuffled.

    5% of the sentences are held out: 789. The order is fixed.
    """
    texts = [*movie_reviews().texts, *editorials().texts]
    indices = np.random.RandomState(0).permutation(len(texts))
    cut = len(texts) // 20
    held_out, train = (tuple(texts[i] for i in part) for part in (indices[:cut], indices[cut:]))
    return train, held_out


def _labeled(reviews: Snippets, positions: np.ndarray) -> Labeled:
    positive = reviews.ratings[positions] > 0
    positive.setflags(write=False)  # shared by all callers
    return Labeled(tuple(reviews.texts[i] for i in positions), positive)


@cache
def _load(name: str) -> Snippets:
    """Return a bundled file; UserError("damaged") where its checksum is wrong."""
    path = FOLDER / f"{name}.tsv.bz2"
    try:
        content = bz2.decompress(path.read_bytes())
    except (OSError, ValueError):  # missing or truncated file
        content = b""
    if hashlib.sha256(content).hexdigest() != _SHA256[name]:
        raise UserError(
            "damaged",
            f"{path.name} is missing or damaged; run tools/bundle_snippets.py or install again.",
            file=path.name,
        )
    rows = [line.split("\t", 2) for line in content.decode("utf-8").splitlines()]
    ratings = np.array([float(rating) for _, rating, _ in rows])
    ratings.flags.writeable = False
    return Snippets(tuple(" ".join(text.split()) for _, _, text in rows), ratings)
