"""Ids, windows and vocabularies, made of seeded numbers, and every figure drawn of them."""

from __future__ import annotations

import numpy as np

from seqviz.compute.text.windows.carried import Carried
from seqviz.compute.text.windows.cutting import random_windows, sequential_windows
from seqviz.compute.text.windows.permuted import CASES, ByShare, Listed, Permuted
from seqviz.compute.text.windows.vocabulary import beside_indexing, counted, frequencies, vocabulary
from seqviz.figures.text.windows.carried import bits_by_window, carried_so_far
from seqviz.figures.text.windows.counted import frequencies_by_rank, one_hot_rows
from seqviz.figures.text.windows.cutting import windows_of_text
from seqviz.figures.text.windows.ids import (
    permuted_sentence,
    permuted_so_far,
    vocabulary_window,
)
from testing.figure_examples import Example

TEXT = "a <b>bold</b> line of text: windows"


def examples() -> tuple[Example, ...]:
    """Each figure function once or more, where its branches differ."""
    listed, own, many, bits = listed_of(), permuted_of(), by_share_of(), carried_of()
    sequential, random = (cut(len(TEXT), 2, 5, 1) for cut in (sequential_windows, random_windows))
    words = frequencies(counted([TEXT, "a line"], "word"), counted(["a text"], "word"))
    existing = vocabulary(counted([TEXT], "character", False))
    pieces = list(TEXT[:12])
    hot = beside_indexing(existing.ids(pieces), len(existing), 4, 0)
    return (
        Example("vocabulary", vocabulary_window, (listed,), listed.neighbors),
        Example("permuted", permuted_sentence, (own, many, 0.5), float(own.cosine[1])),
        Example("permuted so far", permuted_so_far, ((0.2, 0.4),), 40),
        Example("windows in order", windows_of_text, (sequential, TEXT), sequential.starts.size),
        Example("windows at random", windows_of_text, (random, TEXT), random.offset),
        Example("carried", bits_by_window, (bits, 5), bits.mean(5, "random")),
        Example("carried, long windows", bits_by_window, (bits, 50), bits.mean(50, "random")),
        Example("carried so far", carried_so_far, ((0.2, 0.4),), 40),
        Example("frequencies", frequencies_by_rank, (words, 2), words.size(2)),
        Example("one-hot", one_hot_rows, (hot, pieces, existing.names, 3), len(existing)),
    )


def listed_of() -> Listed:
    """A window of a vocabulary that does not exist."""
    random = np.random.RandomState(0)
    names = ("from", "<b>", "##s", "she", "%{x}")
    return Listed(
        ((100, "[UNK]"), (101, "[CLS]")), np.arange(5) + 2013, names, random.uniform(0, 0.3, 5),
        np.arange(5) + 3000, names[::-1], random.uniform(0.4, 0.9, 5), 5, 30522, 0.0811, 0.0178,
    )  # fmt: skip


def permuted_of() -> Permuted:
    """A sentence under a permutation."""
    pieces = ("[CLS]", "a", "<b>", "film", "[SEP]")
    given = np.array([[7, 8, 9, 3, 5], [7, 8, 9, 3, 5], [1, 2, 3, 4, 5]])
    same = np.array([[1, 1, 1, 1, 1], [0, 0, 0, 1, 1], [0, 0, 0, 1, 1]], bool)
    other = ("leaf", "##kar", "1876", "film", "[SEP]")
    return Permuted(
        pieces, np.arange(1, 6), given, (pieces, other, other), same, np.array([1, 0.353, 0.295]),
        np.array([0, 3.1, 2.9]), np.array([0.907, 0.238, 0.0400]), 0.907,
    )  # fmt: skip


def by_share_of() -> ByShare:
    """Reviews under permutations."""
    random = np.random.RandomState(1)
    shares = np.array([0.1, 0.5, 1])
    cosine = np.clip(1 - shares[:, None, None] + random.normal(0, 0.02, (3, 3, 10)), -1, 1)
    cosine[:, CASES.index("both")] = 1
    right = np.array([[158, 150, 151], [158, 124, 120], [158, 100, 97]])
    return ByShare(shares, cosine, right, np.full(3, 200), 158, random.normal(0.2, 0.03, 10), 200)


def carried_of() -> Carried:
    """Bits of windows of two lengths."""
    random = np.random.RandomState(2)
    lengths = np.array([5, 50])
    first = 1 + 3 * np.exp(-np.arange(50) / 3)
    position = np.array([[first * 0 + 2.1, first + 1.2, first + 1.4]] * 2)
    position[0, :, 5:] = np.nan
    bits = np.nanmean(position, -1)[..., None] + random.normal(0, 0.05, (2, 3, 8))
    return Carried(lengths, 8000, bits, position)
