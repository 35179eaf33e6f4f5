"""Effect of the order of words on the output of a self-attention layer."""

from __future__ import annotations

import math
import re
import zlib
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from seqviz.compute.positions.order import attend
from seqviz.core.errors import UserError
from seqviz.core.units import FineShare

SCHEMES = ("none", "sinusoidal", "learned", "rotary")
WIDTH = 64
MOST_WORDS = 24
ROUNDING = 1e-12  # a smaller move, as a share of the size of the outputs, is rounding


@dataclass(frozen=True)
class OrderComparison:
    """Two orders of words through one layer, once with each position scheme.

    Attributes:
        words: words of the first sentence.
        others: words of the second sentence.
        partner: for each word of the first sentence the place, from 0, of the same word in the
            second, the n-th "the" with the n-th; -1 where there is none.
        moved: distance between a word's outputs in both sentences, as a share of the mean size of
            the outputs; nan without a partner.
        first: attention weights in the first sentence.
        second: attention weights in the second sentence.
        causal: True where both were read with a causal mask.
    """

    words: tuple[str, ...]
    others: tuple[str, ...]
    partner: tuple[int, ...]
    schemes: tuple[str, ...]
    moved: Float[np.ndarray, "scheme word"]
    first: Float[np.ndarray, "scheme query key"]
    second: Float[np.ndarray, "scheme key2 key2"]
    causal: bool

    @property
    def paired(self) -> Int[np.ndarray, "word"]:
        """Places of those words of the first sentence that are in the second, too."""
        return np.flatnonzero(np.array(self.partner) >= 0)

    @property
    def strangers(self) -> bool:
        """True where a word of either sentence has no partner in the other."""
        return len(self.paired) < max(len(self.words), len(self.others))

    def farthest(self, scheme: str) -> FineShare:
        """Return the largest of `moved`: 0 for rounding, nan where no word has a partner."""
        moved = self.moved[self.schemes.index(scheme), self.paired]
        largest = float(moved.max()) if moved.size else math.nan
        return 0.0 if largest < ROUNDING else largest

    def movers(self, scheme: str) -> tuple[str, ...]:
        """Return the words of the first sentence with another output in the second."""
        moved = self.moved[self.schemes.index(scheme)]
        return tuple(self.words[at] for at in self.paired if moved[at] >= ROUNDING)


def vectors(words: tuple[str, ...], seed: int = 0) -> Float[np.ndarray, "word d_model"]:
    """Return a fixed random vector for each word, the same at every position, [word, 64].

    Entries are standard normal; the case of letters is ignored.

    Args:
        words: the words.
        seed: seed of the vectors.
    """
    seeds = [(zlib.crc32(word.lower().encode("utf-8")) + seed) % 2**32 for word in words]
    return np.array([np.random.RandomState(own).standard_normal(WIDTH) for own in seeds])


def split(text: str) -> tuple[str, ...]:
    """Return the words of a text, or without spaces, as in Chinese, its characters."""
    words = tuple(text.split())
    if len(words) == 1:
        return tuple(re.findall(r"[\u4e00-\u9fff]|[^\u4e00-\u9fff]+", words[0]))
    return words


def shuffle(text: str, seed: int = 1) -> str:
    """Return the words of a text in random order.

    Args:
        text: the text.
        seed: seed of the order.
    """
    words = split(text)
    return " ".join(words[i] for i in np.random.RandomState(seed).permutation(len(words)))


def compare_orders(
    first: str, second: str, causal: bool = False, seed: int = 0, strength: float = 1.0
) -> OrderComparison:
    """Compare the outputs of one self-attention layer for two orders of the words.

    One head with fixed random projections (`order.attend`), word vectors of `vectors`. Without
    encoding and mask a word's output does not depend on the order of the words: the layer is
    permutation equivariant.

    Args:
        first: first sentence.
        second: second sentence.
        causal: True for a causal mask.
        seed: seed of word vectors and projections.
        strength: factor of the encoding; 0 is no encoding.

    Raises:
        UserError: "no_text" for a text without words, "many_words" for more than 24.
    """
    words, others = split(first), split(second)
    if not words or not others:
        raise UserError("no_text", "There is nothing to read. Type a text.")
    if max(len(words), len(others)) > MOST_WORDS:
        raise UserError("many_words", f"At most {MOST_WORDS} words; shorten.", limit=MOST_WORDS)
    partner = _partners(words, others)
    moved = np.full((len(SCHEMES), len(words)), np.nan)
    pairs: list[tuple[np.ndarray, np.ndarray]] = []
    read = [vectors(order, seed) for order in (words, others)]
    for row, scheme in enumerate(SCHEMES):
        a, b = (attend(item, scheme, causal, seed, strength) for item in read)
        size = float(np.linalg.norm(a.outputs, axis=1).mean())
        for index, other in enumerate(partner):
            if other >= 0:
                moved[row, index] = np.linalg.norm(a.outputs[index] - b.outputs[other]) / size
        pairs.append((a.weights, b.weights))
    here, there = (np.stack(side) for side in zip(*pairs, strict=True))
    return OrderComparison(words, others, partner, SCHEMES, moved, here, there, causal)


def _partners(words: tuple[str, ...], others: tuple[str, ...]) -> tuple[int, ...]:
    """Return the place of each word in the other sentence, the n-th occurrence with the n-th."""
    free: dict[str, list[int]] = {}
    for index, word in enumerate(others):
        free.setdefault(word.lower(), []).append(index)
    return tuple(
        positions.pop(0) if (positions := free.get(word.lower(), [])) else -1 for word in words
    )
