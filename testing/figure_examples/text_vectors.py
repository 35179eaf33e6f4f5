"""Word vectors made of seeded numbers, and every figure drawn of them."""

from __future__ import annotations

import numpy as np

from seqviz.compute.text.vectors.learned import LearnedVectors, Nearest, Substitutes, nearest
from seqviz.compute.text.vectors.plane import Placed, cosine_matrix
from seqviz.compute.text.vectors.senses import Layers, SensePairs
from seqviz.compute.text.vectors.table import ByClass, Ranked
from seqviz.compute.text.vectors.windows import training_pairs
from seqviz.figures.text.vectors.map import (
    analogies_by_class,
    analogy_words,
    nearest_words,
    word_map,
)
from seqviz.figures.text.vectors.neighbors import (
    drawn_pairs,
    losses_so_far,
    substitutes_by_window,
    two_windows,
)
from seqviz.figures.text.vectors.reading import senses_by_layer, word_by_layer
from testing.figure_examples import Example

WORDS = ("boy", "man", "<b>woman</b>", "prince", "queen", "king")
LEVELS = 8


def examples() -> tuple[Example, ...]:
    """Each figure function once or more, where its branches differ."""
    axes, pairs, skip = placed_of("axes"), pairs_of(), training_pairs(WORDS, 2, "skipgram")
    result, near = substitutes_of(), ranked_of(("king",), ("queen", "prince"))
    answer = ranked_of(("king", "man", "woman"), ("king", "queen", "throne"))
    item, other = (nearest_of(window) for window in (2, 10))
    return (
        Example("map, axes", word_map, (axes,), float(axes.places[0, 0])),
        Example("map, components", word_map, (placed_of("pca"),), float(axes.places[0, 0])),
        Example("map, scaled", word_map, (placed_of("mds"),), float(axes.places[0, 0])),
        Example("nearest words", nearest_words, (near,), near.top),
        Example("analogy", analogy_words, (answer, near), answer.top),
        Example("analogies", analogies_by_class, (classes_of(),), classes_of().questions),
        Example("word by layer", word_by_layer, (layers_of(), pairs), layers_of().last),
        Example("senses by layer", senses_by_layer, (pairs,), pairs.pairs),
        Example("two windows", two_windows, (item, other), 10),
        Example("substitutes", substitutes_by_window, (result,), result.items),
        Example("losses of pairs", losses_so_far, ([2.5, 2.25],), 2.25),
        Example("pairs, skip-gram", drawn_pairs, (skip, 4), len(skip.pairs)),
        Example("pairs, CBOW", drawn_pairs, (training_pairs(WORDS, 2, "cbow"), 1), len(WORDS)),
    )


def placed_of(projection: str) -> Placed:
    """Six words at random places."""
    draws = np.random.RandomState(1)
    cosines = cosine_matrix(draws.normal(size=(len(WORDS), 5)))
    ends = (("man", WORDS[2]), ("man", "king")) if projection == "axes" else ()
    return Placed(WORDS, draws.uniform(size=(len(WORDS), 2)), cosines, projection, ends,
                  np.array([0.5, 0.25]), 0.1, 50, (), ())  # fmt: skip


def ranked_of(requests: tuple[str, ...], words: tuple[str, ...]) -> Ranked:
    """Words with falling cosines, one of them negative."""
    return Ranked(requests, words, np.linspace(0.81, -0.05, len(words)), 463, 0.0123)


def classes_of() -> ByClass:
    """Two classes of six questions."""
    right = np.random.RandomState(2).uniform(size=(3, 12)) < np.array([[0.8], [0.3], [0.2]])
    return ByClass(("family", "currency"), np.repeat([0, 1], 6), right)


def layers_of() -> Layers:
    """From exactly 1 down."""
    return Layers("bank", ("bank",), np.linspace(1, 0.757, LEVELS))


def pairs_of() -> SensePairs:
    """Two words, two pairs of each kind."""
    draws = np.random.RandomState(3)
    other, same = (draws.randint(low, 101, (4, LEVELS)) for low in (60, 80))
    random = np.array([[-0.1], [0.1], [0.4]]) + np.zeros(LEVELS)
    return SensePairs(("bank", "bat"), other, same, random, 200, draws.randint(0, 101, (2, 4)))


def learned_of(seed: int) -> LearnedVectors:
    """Six words with random vectors."""
    vectors = np.random.RandomState(seed).normal(size=(len(WORDS), 4))
    return LearnedVectors(WORDS, vectors, np.arange(6, 0, -1), 30, np.zeros(0))


def nearest_of(window: int) -> Nearest:
    """The nearest three of those."""
    return nearest(learned_of(window), "queen", window, 3)


def substitutes_of() -> Substitutes:
    """Ten items, three windows, two seeds."""
    draws = np.random.RandomState(5)
    return Substitutes((2, 5, 10), draws.uniform(size=(2, 3, 2, 10)) < 0.6)
