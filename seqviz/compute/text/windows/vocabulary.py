"""Vocabulary by frequency, ids of a text, and one-hot vectors.

Cleaning, tokens and vocabulary are those of Dive into Deep Learning, section 8.2
(read_time_machine, tokenize, Vocab); equally frequent tokens are in the order of their first
occurrence.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from jaxtyping import Float, Int

from seqviz.core.units import Share
from seqviz.stats.facts import Facts

LEVELS = ("word", "character")
UNKNOWN = "<unk>"  # id 0
_OTHER = re.compile("[^A-Za-z]+")


def cleaned(line: str) -> str:
    """Return the letters a to z in lower case, with one space for everything between words."""
    return _OTHER.sub(" ", line).strip().lower()


def tokens(line: str, level: str) -> list[str]:
    """Split a line into words (at white space) or characters, spaces included.

    Args:
        line: the line.
        level: one of `LEVELS`.
    """
    return line.split() if level == "word" else list(line)


@dataclass(frozen=True)
class SpellingCounts:
    """Counts of a text without the spaces at its ends.

    Attributes:
        signs: all characters, spaces and punctuation included.
        words: words between spaces.
    """

    letters: int
    signs: int
    words: int


def counts(text: str) -> SpellingCounts:
    """Count letters, all characters, and words between spaces."""
    retained = text.strip()
    return SpellingCounts(
        sum(item.isalpha() for item in retained), len(retained), len(retained.split())
    )


@dataclass(frozen=True)
class Vocabulary:
    """Tokens with ids by frequency; 0 is `UNKNOWN`, then the reserved tokens.

    Attributes:
        names: token of each id.
        count: occurrences of each; 0 for unknown and reserved tokens.
    """

    names: tuple[str, ...]
    count: Int[np.ndarray, "id"]

    def __len__(self) -> int:
        return len(self.names)

    def __contains__(self, token: object) -> bool:
        return token in self._id_of

    @cached_property
    def _id_of(self) -> dict[str, int]:
        return {name: index for index, name in enumerate(self.names)}

    def ids(self, read: Sequence[str]) -> Int[np.ndarray, "time"]:
        """Return the ids of tokens; 0 for a token outside the vocabulary."""
        return np.array([self._id_of.get(item, 0) for item in read], np.int64)


def counted(lines: Iterable[str], level: str, clean: bool = True) -> Counter[str]:
    """Count the tokens of these lines.

    Args:
        lines: the lines.
        level: one of `LEVELS`.
        clean: True to clean them first, see `cleaned`.
    """
    counts: Counter[str] = Counter()
    for line in lines:
        counts.update(tokens(cleaned(line) if clean else line, level))
    return counts


def vocabulary(
    frequency: Counter[str], min_freq: int = 1, reserved: Sequence[str] = ()
) -> Vocabulary:
    """Return ids for frequent tokens, most frequent first.

    Args:
        frequency: count of each token.
        min_freq: smallest count of a token with an id.
        reserved: tokens with an id after `UNKNOWN`, whatever their count.
    """
    first = (UNKNOWN, *reserved)
    retained = [
        (name, n) for name, n in frequency.most_common() if n >= min_freq and name not in first
    ]
    count = np.array([0] * len(first) + [n for _, n in retained], np.int64)
    return Vocabulary((*first, *(name for name, _ in retained)), count)


@dataclass(frozen=True)
class TokenFrequencies:
    """Tokens of a text, most frequent first, and their counts in a held-out text.

    Attributes:
        count: count in the text.
        held: count in the held-out text.
        strange: tokens of the held-out text that are not in the first.
    """

    names: tuple[str, ...]
    count: Int[np.ndarray, "token"]
    held: Int[np.ndarray, "token"]
    strange: int

    def size(self, min_freq: int) -> int:
        """Return the size of a vocabulary, `UNKNOWN` included."""
        return 1 + int((self.count >= min_freq).sum())

    def unknown(self, min_freq: int) -> Share:
        """Return the share of the text's own tokens that are too rare for an id."""
        return float(self.count[self.count < min_freq].sum() / self.count.sum())

    def unknown_held(self, min_freq: int) -> Share:
        """Return the share of the held-out text's tokens without an id."""
        rare = self.held[self.count < min_freq].sum() + self.strange
        return float(rare / (self.held.sum() + self.strange))

    def summary(self, min_freq: int) -> Facts:
        """State the size of the vocabulary, and the share of unknown tokens in either text."""
        return Facts(
            size=self.size(min_freq), all=len(self.names), min_freq=min_freq,
            held=self.unknown_held(min_freq), here=self.unknown(min_freq),
            first=self.names[0].replace(" ", "␣"),
        )  # fmt: skip

    def vocabulary(self, min_freq: int) -> Vocabulary:
        """Return the vocabulary of the tokens with this count or more."""
        retained = self.size(min_freq) - 1
        return Vocabulary((UNKNOWN, *self.names[:retained]), np.array([0, *self.count[:retained]]))


def frequencies(text: Counter[str], held: Counter[str]) -> TokenFrequencies:
    """Return the token frequencies of two texts.

    Args:
        text: counts of the text.
        held: counts of the held-out text.

    Raises:
        ValueError: a text has no tokens.
    """
    if not text or not held:
        raise ValueError("A text without tokens has no frequencies.")
    order = text.most_common()
    beside = np.array([held[name] for name, _ in order])
    strange = sum(held.values()) - int(beside.sum())
    return TokenFrequencies(
        tuple(n for n, _ in order), np.array([c for _, c in order]), beside, strange
    )


def one_hot(ids: Int[np.ndarray, "time"], size: int) -> Float[np.ndarray, "time size"]:
    """Return a one-hot row for each id.

    Args:
        ids: the ids.
        size: size of the vocabulary.

    Raises:
        IndexError: an id is out of range.
    """
    result = np.zeros((len(ids), size), np.float32)
    result[np.arange(len(ids)), ids] = 1
    return result


@dataclass(frozen=True)
class LookupComparison:
    """Rows of a matrix read by one-hot product and by indexing.

    Attributes:
        product: hot @ table.
        indexed: table[ids].
    """

    ids: Int[np.ndarray, "time"]
    hot: Float[np.ndarray, "time size"]
    product: Float[np.ndarray, "time d"]
    indexed: Float[np.ndarray, "time d"]

    @property
    def difference(self) -> float:
        """Largest absolute difference; 0 where both are bitwise equal."""
        return float(np.abs(self.product - self.indexed).max(initial=0.0))

    def cosine(self, left: int, right: int) -> float:
        """Return the cosine of the one-hot vectors of two steps.

        Args:
            left: a step, from 1.
            right: the other step.
        """
        return float(self.hot[left - 1] @ self.hot[right - 1])

    @property
    def multiplications(self) -> int:
        """Number of multiplications of the product per row; indexing needs none."""
        return self.hot.shape[1] * self.product.shape[1]


def beside_indexing(ids: Int[np.ndarray, "time"], size: int, d: int, seed: int) -> LookupComparison:
    """Read a table of normal numbers by one-hot vectors and by indexing.

    Args:
        ids: the rows read.
        size: number of rows.
        d: number of columns.
        seed: random seed.
    """
    table = np.random.RandomState(seed).normal(size=(size, d)).astype(np.float32)
    hot = one_hot(ids, size)
    return LookupComparison(ids, hot, hot @ table, table[ids])
