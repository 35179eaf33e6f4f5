"""Minimal pairs: effect of one differing word on the agreement of the next verb."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from seqviz.compute.gates.encoding import normalized
from seqviz.compute.gates.networks import GatedNetwork
from seqviz.compute.gates.observation import MAX_SYMBOLS, Expectation, expect
from seqviz.stats.estimate import Estimate, mean_ci
from seqviz.stats.facts import Facts

# (plural, singular) subjects that replace the differing word of a pair.
NOUNS = (
    ("flights", "flight"), ("films", "film"), ("movies", "movie"), ("actors", "actor"),
    ("scenes", "scene"), ("jokes", "joke"), ("songs", "song"), ("stories", "story"),
    ("characters", "character"), ("critics", "critic"), ("players", "player"),
    ("writers", "writer"),
)  # fmt: skip
_LONGEST = MAX_SYMBOLS - max(len(many) for many, _ in NOUNS)  # characters


@dataclass(frozen=True)
class AgreementPair:
    """Expectations after each word of two sentences, `first` and `second`, that differ in one.

    Attributes:
        position: place of the differing word, from 1.
        effects: bits of a sentence with the plural noun of each of the twelve `NOUNS` at
            `position` minus bits with the singular one, the other words being the same.
    """

    first: Expectation
    second: Expectation
    position: int
    effects: Float[np.ndarray, "network noun word"]

    @property
    def effect(self) -> Float[np.ndarray, "network word"]:
        """Bits after each word of the first sentence minus those of the second."""
        return self.first.bits - self.second.bits

    @property
    def mean(self) -> Estimate:
        """Mean effect over the twelve pairs of nouns, [network, word]."""
        return mean_ci(self.effects, axis=1, source="nouns")

    def effect_at(self, network: str, words: int) -> float:
        """Return the effect of this pair in bits, a number of words after the differing word.

        Args:
            network: name of the network.
            words: distance from the differing word, 0 for that word; limited to the last word.
        """
        return float(self.effect[self.first.networks.index(network), self._at(words)])

    def last_effect(self, network: str) -> int:
        """Return for how many words after the differing one the mean effect stays significant.

        -1 where it is not significant at the differing word itself.
        """
        clear = self.mean[self.first.networks.index(network)].is_significant
        result = -1
        for step in range(self.position - 1, len(clear)):
            if not clear[step]:
                break
            result = step - self.position + 1
        return result

    def compared(self, network: str) -> Facts:
        """State the effect at the differing word and after the last one, and how long it lasts."""
        lasts, words, at = self.last_effect(network), self.first.words, self.position - 1
        ends = "end" if self.position == len(words) else "there"
        mean = self.mean[self.first.networks.index(network), at]
        return Facts(
            "null" if lasts < 0 else "lasts" if lasts else ends,
            here=self.effect_at(network, 0), end=self.effect_at(network, len(words)),
            mean=mean.mean, margin=mean.high - mean.mean, count=mean.n,
            one=words[at], other=self.second.words[at], to=words[at + max(lasts, 0)],
        )  # fmt: skip

    def at_end(self) -> Facts:
        """State the effect of this pair after the last word, for each cell."""
        cells = (network.rsplit("_", 1)[-1] for network in self.first.networks)
        ends = self.effect[:, -1].tolist()
        return Facts(**{f"{cell}_end": end for cell, end in zip(cells, ends, strict=True)})

    def _at(self, words: int) -> int:
        return min(self.position - 1 + words, len(self.first.words) - 1)


def differing(text: str, other: str) -> int | None:
    """Return the place, from 1, of the only word in which two sentences differ.

    None where the sentences do not differ in exactly one word, or where one of them is too long to
    be read whole with every noun.

    Args:
        text: first sentence.
        other: second sentence.
    """
    item, two = normalized(text).split(), normalized(other).split()
    longest = max(len(" ".join(words)) for words in (item, two))
    if len(item) != len(two) or longest > _LONGEST:
        return None
    positions = [
        k for k, words in enumerate(zip(item, two, strict=True), 1) if words[0] != words[1]
    ]
    return positions[0] if len(positions) == 1 else None


def pair(
    networks: Sequence[GatedNetwork],
    text: str,
    other: str,
    first: str = "was",
    second: str = "were",
) -> AgreementPair:
    """Compare the expectations after two sentences, and after both with the nouns of `NOUNS`.

    Args:
        networks: character models.
        text: first sentence.
        other: second sentence, with one other word.
        first: first candidate for the next word.
        second: second candidate.

    Raises:
        ValueError: the sentences do not differ in exactly one word.
        UserError: as in `expect`.
    """
    position = differing(text, other)
    if position is None:
        raise ValueError("A minimal pair differs in one word.")
    words = normalized(text).split()
    sentences = [[" ".join([*words[: position - 1], noun, *words[position:]]) for noun in nouns]
                 for nouns in NOUNS]  # fmt: skip
    result = np.array([
        expect(networks, many, first, second).bits - expect(networks, single, first, second).bits
        for many, single in sentences
    ])  # fmt: skip
    return AgreementPair(
        expect(networks, text, first, second),
        expect(networks, other, first, second),
        position,
        np.moveaxis(result, 1, 0),
    )
