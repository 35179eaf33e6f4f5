"""What a decoder says of the next token, and a text that it has written token by token."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from jaxtyping import Float, Int

from seqviz.compute.attention.tokens import Tokens
from seqviz.compute.gpt.draw import entropy, probabilities
from seqviz.core import deprecated
from seqviz.core.units import Share, SmallShare
from seqviz.stats.facts import Facts


@dataclass(frozen=True)
class NextToken:
    """The distribution of the token behind a text.

    prompt: the text. after: ids of tokens that were put behind it. scores: of each token of the
    vocabulary, as `draw.scores` gives them. ids, pieces: the likeliest tokens, from the first down.
    """

    prompt: Tokens
    after: tuple[int, ...]
    scores: Float[np.ndarray, "vocabulary"]
    ids: Int[np.ndarray, "rank"]
    pieces: tuple[str, ...]

    @property
    def text_ids(self) -> tuple[int, ...]:
        """Of all tokens that stand before."""
        return (*self.prompt.ids.tolist(), *self.after)

    @cached_property
    def all_chances(self) -> Float[np.ndarray, "vocabulary"]:
        """The probability of each token."""
        return probabilities(self.scores)

    @cached_property
    def entropy(self) -> float:
        """Of the distribution, in bits."""
        return float(entropy(self.scores))

    @property
    def chances(self) -> Float[np.ndarray, "rank"]:
        """Probabilities of the likeliest tokens."""
        return np.asarray(self.all_chances[self.ids])

    def spelled(self, word: str) -> Int[np.ndarray, "spellings"]:
        """The ranks, from 0, of those of the likeliest tokens that are this word."""
        return np.array([k for k, piece in enumerate(self.pieces) if piece.strip("␣") == word], int)

    def chance_of(self, word: str) -> Share:
        """The probability that this word is the next token, with a space before it or without."""
        return float(self.chances[self.spelled(word)].sum())


@dataclass(frozen=True)
class Continuation:
    """A text that a decoder has written behind a prompt.

    ids, pieces: of the tokens written. text: what they spell; bytes that are not a whole character
    stand as ‹E4 BD›. bits: the surprise -log2 p of each under the model as it is.
    sampling_probability: its probability in the distribution it was drawn from (filtered); 1 of a
    greedy text. entropy: of the model at each step, in bits. rank: of each token, 1 the likeliest.
    candidates, chances: ids and probabilities (model as it is) of the likeliest tokens at each
    step, names: their pieces. ended: whether the model has said that it has nothing more to say
    (the last token says so).
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
        """The logarithm to base 2 of the probability of the whole."""
        return -float(self.bits.sum())

    chance = deprecated.alias("probability")

    @property
    def probability(self) -> SmallShare:
        """The probability of the whole, under the model as it is."""
        return float(2**self.log2)

    @property
    def mean_bits(self) -> float:
        """Surprise per token, in bits."""
        return float(self.bits.mean())

    @property
    def spelled(self) -> tuple[str, ...]:
        """The pieces with their spaces and line breaks."""
        return tuple(piece.replace("␣", " ").replace("⏎", "\n") for piece in self.pieces)

    def mean_of(self, start: int, end: int) -> float:
        """Surprise per token of the steps from `start`, counted from 0, to before `end`."""
        return float(self.bits[start:end].mean())

    @property
    def seen_before(self) -> int:
        """How many tokens end four in a row that stood in the text before."""
        fours = [self.ids[k : k + 4] for k in range(len(self.ids) - 3)]
        return sum(four in fours[:k] for k, four in enumerate(fours))

    def summary(self) -> Facts:
        """State what a token costs: of all, at first and at last, and what the model expects."""
        count, half = len(self.ids), len(self.ids) // 2
        return Facts(
            tokens=count, bits=self.mean_bits, entropy=float(self.entropy.mean()),
            first_half=self.mean_of(0, half), second_half=self.mean_of(half, count),
            seen=self.seen_before,
        )  # fmt: skip

    def at_step(self, step: int) -> Facts:
        """State what the text costs, and its token at a step counted from 1."""
        return Facts(
            text=self.text, bits=self.mean_bits, chance=self.probability, step=step,
            token=self.pieces[step - 1], own=float(2 ** -self.bits[step - 1]),
        )  # fmt: skip

    def replaced(self, other: Continuation, step: int) -> Facts:
        """State what the token at a step changes, against the text with another one there."""
        return Facts(
            **self.at_step(step), instead=other.pieces[step - 1], before=other.probability,
            dearer=self.mean_bits - other.mean_bits,
        )  # fmt: skip

    def compared(self, reference: Continuation) -> Facts:
        """State where the text parts from that of temperature 1."""
        step = parted(self.ids, reference.ids)
        is_same = step >= min(len(self.ids), len(reference.ids))
        return Facts("same" if is_same else "parted", step=step + 1, plain=reference.text)


def parted(left: tuple[int, ...], right: tuple[int, ...]) -> int:
    """The first step, from 0, at which two texts are not the same; the shorter one's length."""
    both = zip(left, right, strict=False)
    return next((k for k, (a, b) in enumerate(both) if a != b), min(len(left), len(right)))
