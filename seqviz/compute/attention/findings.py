"""What is found when a model's attention is looked into: plain arrays, for any model.

Layers, heads and places of tokens are counted from 0; attention is [layer, head, query, key].
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float

from seqviz.compute.attention.patterns import Habits, ranked
from seqviz.compute.attention.tokens import Tokens
from seqviz.units import Exact, Part, Share, WholeShare, entry


@dataclass(frozen=True)
class Text(Tokens):
    """What a model read, and where it was computed.

    model: its name in the registry. decoder: whether it reads from left to right only. note: why it
    ran on another device than it should, or empty.
    """

    model: str
    decoder: bool
    layers: int
    heads: int
    device: str
    note: str


@dataclass(frozen=True)
class Mosaic:
    """All heads of all layers; tiles [layer, head, row, column], the weights where all fit.

    cells: of a side that were put together into one, 1 where nothing was (the largest is kept).
    """

    text: Text
    tiles: Float[np.ndarray, "layer head row column"]
    cells: float
    habits: Habits


@dataclass(frozen=True)
class Map:
    """One matrix of weights [query, key]; layer and head are -1 for a mean over all of them.

    entropy: of each row, in bits. allowed: who may look at whom.
    """

    text: Text
    weights: Float[np.ndarray, "query key"]
    layer: int
    head: int
    entropy: Float[np.ndarray, "query"]
    allowed: Bool[np.ndarray, "query key"]

    @property
    def share_allowed(self) -> WholeShare:
        """The cells that the mask leaves open."""
        return float(self.allowed.mean())

    @property
    def on_padding(self) -> Share:
        """The weight that real tokens give to padding, a mean over these queries."""
        real = self.text.real
        return float(self.weights[real][:, ~real].sum(1).mean())

    @property
    def blind(self) -> bool:
        """Whether a query may look nowhere."""
        return bool((~self.allowed).all(1).any())


@dataclass(frozen=True)
class Parts:
    """One head from the inside. allowed: False where the mask forbids."""

    text: Text
    layer: int
    head: int
    queries: Float[np.ndarray, "token d_k"]
    keys: Float[np.ndarray, "token d_k"]
    scores: Float[np.ndarray, "query key"]
    scaled: Float[np.ndarray, "query key"]
    weights: Float[np.ndarray, "query key"]
    allowed: Bool[np.ndarray, "query key"]

    @property
    def divisor(self) -> Exact:
        """The square root of d_k."""
        return math.sqrt(self.keys.shape[1])

    def product_at(self, query: int, key: int) -> Exact:
        """q · k of two tokens, from 0."""
        return float(self.scores[query, key])

    def divided_at(self, query: int, key: int) -> Exact:
        """What the mask and the softmax get of it."""
        return float(self.scores[query, key]) / self.divisor

    def weight_at(self, query: int, key: int) -> Exact:
        """The weight of the key for the query."""
        return float(self.weights[query, key])


@dataclass(frozen=True)
class Change:
    """What the model says before and after something was done to it.

    moved: 1 - cosine of each real token's last vector with what it was. sentence: cosine of the
    sentence vector with what it was. pair: cosine of the text's and the other text's vectors,
    before and after (nan without another text). candidates: pieces likely next, before or after
    (decoder), with their probabilities [before and after, candidate]. bits: the divergence
    KL(before || after) of the next token's distribution (nan for an encoder).
    """

    text: Text
    moved: Float[np.ndarray, "token"]
    sentence: Exact
    pair: Float[np.ndarray, "2"]
    candidates: tuple[str, ...]
    probabilities: Float[np.ndarray, "2 candidate"]
    bits: float
    off: int

    @property
    def heads_off(self) -> Part:
        """How many heads are off, and of how many."""
        return self.off, self.text.layers * self.text.heads

    @property
    def furthest(self) -> float:
        """1 - cosine of the token that moved most."""
        return float(self.moved.max())

    @property
    def furthest_piece(self) -> str:
        """The token that moved most."""
        return self.text.pieces[int(self.moved.argmax())]

    @property
    def likeliest(self) -> tuple[str, str]:
        """The likeliest next piece before and after (decoder)."""
        before, after = (self.candidates[int(row.argmax())] for row in self.probabilities)
        return before, after

    pair_before = entry("pair", 0, "Cosine of the two texts' vectors in the model as it is.", Exact)
    pair_after = entry("pair", 1, "The same after the change.", Exact)


@dataclass(frozen=True)
class Effects:
    """The change by each head alone, [layer, head]; nan for those not yet done.

    In an encoder 1 - cosine of the sentence vector with what it was; in a decoder the divergence
    KL(before || after) of the next token's distribution in bits.
    """

    change: Float[np.ndarray, "layer head"]
    decoder: bool
    fraction: float

    @property
    def most_missed(self) -> tuple[int, int]:
        """Layer and head of the largest change."""
        return ranked(self.change, 1)[0]

    @property
    def largest(self) -> float:
        """The change without the head that is missed most."""
        return float(self.change[self.most_missed])

    @property
    def hardly_missed(self) -> WholeShare:
        """The heads whose absence changes less than a tenth of that."""
        return float((self.change < self.change.max() / 10).mean())
