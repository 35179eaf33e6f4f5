"""Text drawn from a language model letter by letter, and how much of it is copied.

References:
    Shannon, 1948, A mathematical theory of communication, section 3.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int, Integer

from seqviz.compute.gpt.draw import draw
from seqviz.core.units import Share
from seqviz.stats.estimate import Estimate, mean_ci, stack
from seqviz.stats.facts import Facts

_KEY = 3  # characters of a key, 21 bits each


@dataclass(frozen=True)
class CopiedText:
    """A text, and the spans of it that stand in a training text.

    Attributes:
        text: the text.
        spans: length of the longest span from each character on that stands in the training text.
        words: number of words.
        real_words: number of them that occur in the training text.
    """

    text: str
    spans: Int[np.ndarray, "character"]
    words: int
    real_words: int

    @property
    def longest(self) -> int:
        """Characters of the longest copied span."""
        return int(self.spans.max(initial=0))

    @property
    def longest_span(self) -> str:
        """The longest copied span, the first of several."""
        start = int(self.spans.argmax()) if len(self.spans) else 0
        return self.text[start : start + self.longest]

    @property
    def share_of_words(self) -> Share:
        """Share of the words that occur in the training text; nan without words."""
        return self.real_words / self.words if self.words else float("nan")


@dataclass(frozen=True)
class CopyingByOrder:
    """Copying in texts of n-gram models and of people, all of the same number of characters.

    Attributes:
        n_characters: characters of each text.
        longest: longest copied span of each text, for n = 1, 2, ..., last for people.
        words: share of words that occur in the training text, likewise; nan without words.
    """

    n_characters: int
    longest: Int[np.ndarray, "case text"]
    words: Float[np.ndarray, "case text"]

    @property
    def spans(self) -> Estimate:
        """Mean longest span of each case, over texts."""
        return stack(mean_ci(row, source="texts") for row in self.longest)

    @property
    def word_shares(self) -> Estimate:
        """Mean share of words that occur in the training text, over texts."""
        return stack(mean_ci(row, source="texts") for row in self.words)

    def summary(self) -> Facts:
        """State what texts of the smallest and the largest n and those of people copy."""
        spans, words = self.spans, self.word_shares
        return Facts(
            texts=self.longest.shape[1], n=len(self.longest) - 1, characters=self.n_characters,
            first=spans[0], last=spans[-2], people=spans[-1], first_words=words[0].mean,
            last_words=words[-2].mean, people_words=words[-1].mean,
        )  # fmt: skip


def write(
    distribution: Callable[[Sequence[int]], Float[np.ndarray, "symbols"]],
    uniforms: Sequence[float], temperature: float, before: Sequence[int], stop: int,
) -> list[int]:  # fmt: skip
    """Draw symbols one after the other, each from what the model expects after all before it.

    Args:
        distribution: returns the probabilities of all symbols after a context.
        uniforms: a uniform number in [0, 1) for each symbol.
        temperature: exponent 1 / T of the probabilities; 0 takes the most probable symbol.
        before: symbols in front of the text.
        stop: symbol that ends the text and is not part of it; -1 for none.
    """
    result: list[int] = []
    for u in uniforms:
        p = distribution([*before, *result])
        if temperature:
            with np.errstate(divide="ignore"):
                symbol = draw(np.log(p) / temperature, u)
        else:
            symbol = int(p.argmax())
        if symbol == stop:
            break
        result.append(symbol)
    return result


def parted(a: Sequence[int], b: Sequence[int]) -> int:
    """Return the number of symbols before the first difference of two texts.

    Args:
        a: symbols of a text.
        b: symbols of the other text.
    """
    pairs = zip(a, b, strict=False)
    return next((k for k, (x, y) in enumerate(pairs) if x != y), min(len(a), len(b)))


@dataclass(frozen=True)
class TextIndex:
    """Positions of a text by the three characters from each on.

    Attributes:
        codes: codes of the characters; 0 behind the last.
        order: positions, by their keys.
        keys: the different keys, ascending.
        starts: where the positions of each key begin in `order`; last the number of positions.
    """

    codes: Integer[np.ndarray, "code"]
    order: Int[np.ndarray, "position"]
    keys: Int[np.ndarray, "key"]
    starts: Int[np.ndarray, "bound"]


def index_of(text: str) -> TextIndex:
    """Return the index of a text: six bytes for each character of the Basic Multilingual Plane."""
    codes = np.append(_codes(text), np.zeros(_KEY, np.int64))
    every = _key(np.stack([codes[k : k + len(text)] for k in range(_KEY)]))
    order = np.argsort(every, kind="stable")
    keys, starts = np.unique(every[order], return_index=True)
    codes = codes.astype(np.min_scalar_type(int(codes.max())))
    return TextIndex(codes, order.astype(np.int32), keys, np.append(starts, len(text)))


def measure_copying(
    text: str, training: TextIndex, words: Sequence[str], vocabulary: Container[str]
) -> CopiedText:
    """Find what of a text stands in a training text, and which of its words do.

    Args:
        text: the text.
        training: index of the training text.
        words: words of the text.
        vocabulary: words of the training text.
    """
    codes, spans = _codes(text), np.zeros(len(text), int)
    for start in range(len(text)):
        spans[start] = _longest_match(codes[start:], training)
    return CopiedText(text, spans, len(words), sum(word in vocabulary for word in words))


def _codes(text: str) -> Int[np.ndarray, "character"]:
    """Return the code points of a text, plus 1."""
    codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)
    return codes.astype(np.int64) + 1


def _key(codes: Int[np.ndarray, "3 *rows"]) -> Int[np.ndarray, "*rows"]:
    first, second, third = codes
    return np.asarray((first << 42) + (second << 21) + third)


def _longest_match(text: Int[np.ndarray, "character"], training: TextIndex) -> int:
    """Return the length of the longest beginning of a text that stands in the indexed one."""
    low = high = 0
    for length in range(1, _KEY + 1):
        if length > len(text):
            return len(text)
        start = int(_key(np.append(text[:length], np.zeros(_KEY - length, np.int64))))
        bounds = start, start + (1 << 21 * (_KEY - length))
        low, high = training.starts[np.searchsorted(training.keys, bounds)]
        if low == high:
            return length - 1
    positions, length = training.order[low:high] + _KEY, _KEY
    while length < len(text):
        positions = positions[training.codes[positions] == text[length]] + 1
        if not len(positions):
            break
        length += 1
    return length
