"""Next-token distribution of a decoder and `Continuation`, a text generated token by token."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from jaxtyping import Float, Int

from seqviz.compute.attention.tokens import Tokens
from seqviz.compute.gpt.draw import entropy, probabilities
from seqviz.core import deprecated
from seqviz.core.units import FineShare, Share
from seqviz.stats.facts import Facts


@dataclass(frozen=True)
class NextToken:
    """Next-token distribution behind a text.

    Attributes:
        after: ids of tokens appended to the prompt.
        scores: score of each token of the vocabulary, as `draw.scores` gives them.
        ids: the likeliest tokens, most probable first.
    """

    prompt: Tokens
    after: tuple[int, ...]
    scores: Float[np.ndarray, "vocabulary"]
    ids: Int[np.ndarray, "rank"]
    pieces: tuple[str, ...]

    @property
    def text_ids(self) -> tuple[int, ...]:
        """Ids of the prompt and the appended tokens."""
        return (*self.prompt.ids.tolist(), *self.after)

    @cached_property
    def all_chances(self) -> Float[np.ndarray, "vocabulary"]:
        """Probability of each token of the vocabulary."""
        return probabilities(self.scores)

    @cached_property
    def entropy(self) -> float:
        """Entropy of the distribution in bits."""
        return float(entropy(self.scores))

    @property
    def chances(self) -> Float[np.ndarray, "rank"]:
        """Probabilities of the likeliest tokens."""
        return np.asarray(self.all_chances[self.ids])

    def spelled(self, word: str) -> Int[np.ndarray, "spellings"]:
        """Return the ranks, from 0, of the likeliest tokens that spell this word."""
        return np.array([k for k, piece in enumerate(self.pieces) if piece.strip("␣") == word], int)

    def chance_of(self, word: str) -> Share:
        """Return the probability that the next token is this word, with a space or without."""
        return float(self.chances[self.spelled(word)].sum())


@dataclass(frozen=True)
class Continuation:
    """Text that a decoder has generated behind a prompt.

    Attributes:
        text: decoded text; bytes that are not a whole character stand as ‹E4 BD›.
        bits: surprisal -log2 p of each token under the unmodified model.
        sampling_probability: probability of each token in the filtered distribution that it was
            drawn from; 1 for greedy decoding.
        entropy: entropy of the model at each step, in bits.
        rank: rank of each token; 1 is the likeliest.
        candidates: ids of the likeliest tokens at each step.
        chances: their probabilities under the unmodified model.
        names: their pieces.
        ended: True where the last token is the end of the text.
    """

    prompt: Tokens
    ids: tuple[int, ...]
    pieces: tuple[str, ...]
    text: str
    bits: Float[np.ndarray, "step"]
    sampling_probability: Float[np.ndarray, "step"]
    entropy: Float[np.ndarray, "step"]
    rank: Int[np.ndarray, "step"]
    candidates: Int[np.ndarray, "step candidate"]
    chances: Float[np.ndarray, "step candidate"]
    names: tuple[tuple[str, ...], ...]
    ended: bool

    @property
    def log2(self) -> float:
        """Base-2 logarithm of the probability of the whole continuation."""
        return -float(self.bits.sum())

    chance = deprecated.alias("probability")

    @property
    def probability(self) -> FineShare:
        """Probability of the whole continuation under the unmodified model."""
        return float(2**self.log2)

    @property
    def mean_bits(self) -> float:
        """Mean surprisal per token in bits."""
        return float(self.bits.mean())

    @property
    def spelled(self) -> tuple[str, ...]:
        """Pieces with their spaces and line breaks."""
        return tuple(piece.replace("␣", " ").replace("⏎", "\n") for piece in self.pieces)

    def mean_of(self, start: int, end: int) -> float:
        """Return the mean surprisal per token over a range of steps.

        Args:
            start: first step, from 0.
            end: step behind the last one.
        """
        return float(self.bits[start:end].mean())

    @property
    def seen_before(self) -> int:
        """Number of tokens that complete a repeated 4-gram."""
        fours = [self.ids[k : k + 4] for k in range(len(self.ids) - 3)]
        return sum(four in fours[:k] for k, four in enumerate(fours))

    def summary(self) -> Facts:
        """State the mean surprisal (all, first half, second half) and the mean entropy."""
        count, half = len(self.ids), len(self.ids) // 2
        return Facts(
            tokens=count, bits=self.mean_bits, entropy=float(self.entropy.mean()),
            first_half=self.mean_of(0, half), second_half=self.mean_of(half, count),
            seen=self.seen_before,
        )  # fmt: skip

    def at_step(self, step: int) -> Facts:
        """State the mean surprisal of the text and its token at a step, from 1."""
        return Facts(
            text=self.text, bits=self.mean_bits, chance=self.probability, step=step,
            token=self.pieces[step - 1], own=float(2 ** -self.bits[step - 1]),
            own_bits=float(self.bits[step - 1]),
        )  # fmt: skip

    def replaced(self, other: Continuation, step: int) -> Facts:
        """State the effect of the token at a step against a text with another token there.

        Args:
            other: continuation with the other token.
            step: the step, from 1.
        """
        return Facts(
            **self.at_step(step), instead=other.pieces[step - 1], before=other.probability,
            times=other.probability / self.probability, dearer=self.mean_bits - other.mean_bits,
        )  # fmt: skip

    def compared(self, reference: Continuation) -> Facts:
        """State the first difference from the text of temperature 1."""
        step = parted(self.ids, reference.ids)
        is_same = step >= min(len(self.ids), len(reference.ids))
        return Facts("same" if is_same else "parted", step=step + 1, plain=reference.text)


def parted(left: tuple[int, ...], right: tuple[int, ...]) -> int:
    """Return the first step, from 0, at which two texts differ; else the shorter length.

    Args:
        left: ids of a text.
        right: ids of the other text.
    """
    both = zip(left, right, strict=False)
    return next((k for k, (a, b) in enumerate(both) if a != b), min(len(left), len(right)))
