"""A text as tokens and as ids by frequency, and a token as a one-hot vector.

Cleaning, tokens and vocabulary are those of Dive into Deep Learning, section 8.2
(read_time_machine, tokenize, Vocab); equally frequent tokens stand in the order in which they were
first met.
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
    """Only the letters a to z, in lower case; whatever lies between words is one space."""
    return _OTHER.sub(" ", line).strip().lower()


def tokens(line: str, level: str) -> list[str]:
    """A line as its words (between white space) or as its characters, spaces among them.

    level: of `LEVELS`.
    """
    return line.split() if level == "word" else list(line)


@dataclass(frozen=True)
class SpellingCounts:
    """How a text is spelled, without the spaces at its ends."""

    letters: int
    signs: int
    words: int


def counts(text: str) -> SpellingCounts:
    """Letters, all signs (spaces and marks among them), and words between spaces."""
    retained = text.strip()
    return SpellingCounts(
        sum(item.isalpha() for item in retained), len(retained), len(retained.split())
    )


@dataclass(frozen=True)
class Vocabulary:
    """Tokens with ids by frequency; 0 is `UNKNOWN`, then the reserved ones.

    names: the tokens of the ids. count: how often each came; 0 of what is put in front.
    """

    names: tuple[str, ...]
    count: Int[np.ndarray, "id"]

    def __len__(self) -> int:
        return len(self.names)

    @cached_property
    def _id_of(self) -> dict[str, int]:
        return {name: index for index, name in enumerate(self.names)}

    def ids(self, read: Sequence[str]) -> Int[np.ndarray, "time"]:
        """The ids of tokens; 0 of one that has none."""
        return np.array([self._id_of.get(item, 0) for item in read], np.int64)


def counted(lines: Iterable[str], level: str, clean: bool = True) -> Counter[str]:
    """How often each token of these lines comes. clean: whether they are cleaned first."""
    counts: Counter[str] = Counter()
    for line in lines:
        counts.update(tokens(cleaned(line) if clean else line, level))
    return counts


def vocabulary(
    frequency: Counter[str], min_freq: int = 1, reserved: Sequence[str] = ()
) -> Vocabulary:
    """Ids for the tokens that come at least `min_freq` times, the most frequent first.

    reserved: tokens that have an id behind `UNKNOWN` however rare they are.
    """
    first = (UNKNOWN, *reserved)
    retained = [
        (name, n) for name, n in frequency.most_common() if n >= min_freq and name not in first
    ]
    count = np.array([0] * len(first) + [n for _, n in retained], np.int64)
    return Vocabulary((*first, *(name for name, _ in retained)), count)


@dataclass(frozen=True)
class TokenFrequencies:
    """The tokens of a text, the most frequent first, and how often they come in another one.

    names: the tokens. count: in the text. held: in the held-out text. strange: tokens of the
    held-out text that never come in the first.
    """

    names: tuple[str, ...]
    count: Int[np.ndarray, "token"]
    held: Int[np.ndarray, "token"]
    strange: int

    def size(self, min_freq: int) -> int:
        """Ids of a vocabulary, `UNKNOWN` among them."""
        return 1 + int((self.count >= min_freq).sum())

    def unknown(self, min_freq: int) -> Share:
        """Share of the tokens of the text itself that have no id: they are too rare."""
        return float(self.count[self.count < min_freq].sum() / self.count.sum())

    def unknown_held(self, min_freq: int) -> Share:
        """Share of the tokens of the held-out text that have no id."""
        rare = self.held[self.count < min_freq].sum() + self.strange
        return float(rare / (self.held.sum() + self.strange))

    def summary(self, min_freq: int) -> Facts:
        """State how many tokens have an id, and which share of either text has none."""
        return Facts(
            size=self.size(min_freq), all=len(self.names), min_freq=min_freq,
            held=self.unknown_held(min_freq), here=self.unknown(min_freq),
            first=self.names[0].replace(" ", "␣"),
        )  # fmt: skip

    def vocabulary(self, min_freq: int) -> Vocabulary:
        """Of the tokens that come so often."""
        retained = self.size(min_freq) - 1
        return Vocabulary((UNKNOWN, *self.names[:retained]), np.array([0, *self.count[:retained]]))


def frequencies(text: Counter[str], held: Counter[str]) -> TokenFrequencies:
    """The counts of two texts side by side. Raises ValueError where one has no token."""
    if not text or not held:
        raise ValueError("A text without tokens has no frequencies.")
    order = text.most_common()
    beside = np.array([held[name] for name, _ in order])
    strange = sum(held.values()) - int(beside.sum())
    return TokenFrequencies(
        tuple(n for n, _ in order), np.array([c for _, c in order]), beside, strange
    )


def one_hot(ids: Int[np.ndarray, "time"], size: int) -> Float[np.ndarray, "time size"]:
    """A row for each id: 1 at its place, 0 elsewhere. Raises IndexError for an id beyond."""
    result = np.zeros((len(ids), size), np.float32)
    result[np.arange(len(ids)), ids] = 1
    return result


@dataclass(frozen=True)
class LookupComparison:
    """Rows of a matrix read in two ways.

    hot: the one-hot vectors. product: hot @ table. indexed: table[ids].
    """

    ids: Int[np.ndarray, "time"]
    hot: Float[np.ndarray, "time size"]
    product: Float[np.ndarray, "time d"]
    indexed: Float[np.ndarray, "time d"]

    @property
    def difference(self) -> float:
        """The largest between the two ways; 0 where they are equal to the last bit."""
        return float(np.abs(self.product - self.indexed).max(initial=0.0))

    def cosine(self, left: int, right: int) -> float:
        """Of the one-hot vectors of two steps, from 1."""
        return float(self.hot[left - 1] @ self.hot[right - 1])

    @property
    def multiplications(self) -> int:
        """That the product needs for a row; reading it needs none."""
        return self.hot.shape[1] * self.product.shape[1]


def beside_indexing(ids: Int[np.ndarray, "time"], size: int, d: int, seed: int) -> LookupComparison:
    """A table of `size` rows of normal numbers, read by one-hot vectors and by indexing."""
    table = np.random.RandomState(seed).normal(size=(size, d)).astype(np.float32)
    hot = one_hot(ids, size)
    return LookupComparison(ids, hot, hot @ table, table[ids])
