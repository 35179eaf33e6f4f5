"""Results of attention analyses as plain arrays, for any model.

Layers, heads and places of tokens are counted from 0; attention is [layer, head, query, key].
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float

from seqviz.compute.attention.patterns import NAMED_FROM, Habits, ranked
from seqviz.compute.attention.tokens import Tokens
from seqviz.core.units import Exact, Fraction, Share, WholeShare, array_item
from seqviz.stats.facts import Facts

ROUNDING = 1e-9  # a smaller 1 - cosine is float32 rounding
BY = ("weight", "value")  # values of a map: weights, or weights times the norms of the values


@dataclass(frozen=True)
class ReadText(Tokens):
    """Tokens of a text, the model that read them and its device.

    Attributes:
        model: name in the registry.
        decoder: True where the model reads from left to right only.
        note: reason why it ran on another device than intended, or empty.
    """

    model: str
    decoder: bool
    layers: int
    heads: int
    device: str
    note: str


def _most(values: Float[np.ndarray, "*cells"], by: str) -> float:
    """Return the end of the color scale: 1 for weights, the largest product otherwise."""
    return 1.0 if by == "weight" else float(values.max(initial=0)) or 1.0


@dataclass(frozen=True)
class Mosaic:
    """Attention maps of all heads of all layers.

    Attributes:
        tiles: the weights, downsampled where they do not all fit.
        cells: side of the square of weights in one tile cell (its maximum is kept); 1 for none.
        norms: norms of the values.
        carried: share of the first token in what each head mixes (weight times norm of the value),
            a mean over the queries but the first; by the weights it is `habits.first`.
        by: one of `BY`.
    """

    text: ReadText
    tiles: Float[np.ndarray, "layer head row column"]
    cells: float
    habits: Habits
    norms: Float[np.ndarray, "layer head token"]
    carried: Float[np.ndarray, "layer head"]
    by: str = "weight"

    @property
    def max_weight(self) -> float:
        """End of the color scale."""
        return _most(self.tiles, self.by)

    def first_token(self, layer: int, head: int) -> Facts:
        """State the share of the first token for all heads, and for one of them.

        Args:
            layer: layer of the head.
            head: number of the head.
        """
        return Facts(
            "alone" if len(self.text.pieces) == 1 else "others",
            first=self.text.pieces[0], heads=self.carried.size,
            count=int((self.habits.first >= NAMED_FROM).sum()),
            heavy=int((self.carried >= NAMED_FROM).sum()),
            norm=self.norm_of_first(layer, head), others=self.norm_of_others(layer, head),
            weight=self.habits.of("first", layer, head), carried=self.carried_first(layer, head),
        )  # fmt: skip

    def carried_first(self, layer: int, head: int) -> Share:
        """Return the share of the first token in what one head mixes.

        Args:
            layer: layer of the head.
            head: number of the head.
        """
        return float(self.carried[layer, head])

    def norm_of_first(self, layer: int, head: int) -> float:
        """Return the norm of the value of the first token.

        Args:
            layer: layer of the head.
            head: number of the head.
        """
        return float(self.norms[layer, head, 0])

    def norm_of_others(self, layer: int, head: int) -> float:
        """Return the mean norm of the values of all tokens but the first.

        Args:
            layer: layer of the head.
            head: number of the head.
        """
        others = self.norms[layer, head, 1:]
        return float(others.mean()) if others.size else math.nan


@dataclass(frozen=True)
class AttentionMap:
    """One attention map [query, key].

    Attributes:
        layer: layer of the head; -1 for a mean over all of them.
        head: number of the head; -1 for a mean over all of them.
        entropy: entropy in bits of each row as shares of its sum.
        allowed: True where the query may attend to the key.
        by: "value" where each weight is multiplied by the norm of its value.
    """

    text: ReadText
    weights: Float[np.ndarray, "query key"]
    layer: int
    head: int
    entropy: Float[np.ndarray, "query"]
    allowed: Bool[np.ndarray, "query key"]
    by: str = "weight"

    @property
    def max_weight(self) -> float:
        """End of the color scale."""
        return _most(self.weights, self.by)

    def share_at(self, query: int, key: int) -> Share:
        """Return the share of a key in a query's row.

        Args:
            query: place of the query, from 0.
            key: place of the key, from 0.
        """
        return float(self.weights[query, key]) / (float(self.weights[query].sum()) or 1.0)

    def max_weight_of(self, query: int) -> int:
        """Return the key, from 0, with the largest weight in a query's row."""
        return int(np.nan_to_num(self.weights[query]).argmax())

    def row(self, query: int) -> Facts:
        """State the attention of a query (from 0), beside the first token and itself."""
        pieces, maximum = self.text.pieces, self.max_weight_of(query)
        return Facts(
            "own" if maximum == query else "other", query=pieces[query], to=pieces[maximum],
            share=self.share_at(query, maximum), own=self.share_at(query, query),
            first=pieces[0], on_first=self.on_first,
        )  # fmt: skip

    @property
    def on_first(self) -> Share:
        """Share of the first token in the rows, a mean over the queries but the first.

        Of each row's sum, so that weights and products can be compared.
        """
        rows = self.weights[min(1, len(self.weights) - 1) :].astype(float)
        return float((rows[:, 0] / np.maximum(rows.sum(1), 1e-300)).mean())

    @property
    def share_allowed(self) -> Share:
        """Share of cells that the mask leaves open."""
        return float(self.allowed.mean())

    @property
    def on_padding(self) -> Share:
        """Weight of real tokens on padding, a mean over these queries."""
        real = self.text.real
        return float(self.weights[real][:, ~real].sum(1).mean())

    @property
    def blind(self) -> bool:
        """True where some query may attend to nothing."""
        return bool((~self.allowed).all(1).any())


@dataclass(frozen=True)
class HeadParts:
    """Intermediate results of one head.

    Attributes:
        scaled: scores divided by sqrt(d_k).
        norms: norms of the values.
        allowed: False where the mask forbids.
    """

    text: ReadText
    layer: int
    head: int
    queries: Float[np.ndarray, "token d_k"]
    keys: Float[np.ndarray, "token d_k"]
    scores: Float[np.ndarray, "query key"]
    scaled: Float[np.ndarray, "query key"]
    weights: Float[np.ndarray, "query key"]
    norms: Float[np.ndarray, "token"]
    allowed: Bool[np.ndarray, "query key"]

    @property
    def masked(self) -> Float[np.ndarray, "query key"]:
        """Divided scores, nan where the mask forbids."""
        return np.where(self.allowed, self.scaled, np.nan)

    @property
    def carried(self) -> Float[np.ndarray, "query key"]:
        """Weights times the norms of the values: the most that each token can add."""
        return self.weights * self.norms

    def largest_product(self, query: int, key: int) -> tuple[int, float]:
        """Return the entry, from 1, with the largest product in a score by size, and the product.

        Args:
            query: place of the query, from 0.
            key: place of the key, from 0.
        """
        terms = self.queries[query].astype(float) * self.keys[key]
        entry = int(np.abs(terms).argmax())
        return entry + 1, float(terms[entry])

    def score(self, query: int, key: int) -> Facts:
        """State the largest product in a score, and its weight beside the largest of the query.

        Args:
            query: place of the query, from 0.
            key: place of the key, from 0.
        """
        entry, added = self.largest_product(query, key)
        best = int(self.weights[query].argmax())
        return Facts(
            "largest" if best == key else "other",
            query=self.text.pieces[query], to=self.text.pieces[key], best=self.text.pieces[best],
            entry=entry, added=added, score=self.product_at(query, key), d_k=self.keys.shape[1],
            weight=self.weight_at(query, key), most=self.weight_at(query, best),
        )  # fmt: skip

    def value(self, query: int, key: int) -> Facts:
        """State weight times norm of a key's value, beside that of the first token.

        Args:
            query: place of the query, from 0.
            key: place of the key, from 0.
        """
        norm, norm_first = self.norms[[key, 0]].tolist()
        carried, carried_first = self.carried[query, [key, 0]].tolist()
        return Facts(
            "other" if key else "first", to=self.text.pieces[key], first=self.text.pieces[0],
            norm=norm, weight=self.weight_at(query, key), carried=carried,
            norm_first=norm_first, weight_first=self.weight_at(query, 0),
            carried_first=carried_first,
        )  # fmt: skip

    @property
    def divisor(self) -> Exact:
        """Square root of d_k."""
        return math.sqrt(self.keys.shape[1])

    def product_at(self, query: int, key: int) -> Exact:
        """Return q · k of two tokens.

        Args:
            query: place of the query, from 0.
            key: place of the key, from 0.
        """
        return float(self.scores[query, key])

    def divided_at(self, query: int, key: int) -> Exact:
        """Return q · k of two tokens divided by sqrt(d_k), before the mask and the softmax.

        Args:
            query: place of the query, from 0.
            key: place of the key, from 0.
        """
        return float(self.scores[query, key]) / self.divisor

    def weight_at(self, query: int, key: int) -> Exact:
        """Return the weight of a key for a query.

        Args:
            query: place of the query, from 0.
            key: place of the key, from 0.
        """
        return float(self.weights[query, key])


@dataclass(frozen=True)
class Change:
    """Output of a model before and after an intervention.

    Attributes:
        moved: 1 - cosine of each real token's last vector before and after.
        sentence: cosine of the sentence vectors before and after.
        pair: cosine of the text's and the other text's vectors, before and after (nan without
            another text).
        candidates: likely next pieces, before or after (decoder).
        probabilities: their probabilities, [before and after, candidate].
        bits: divergence KL(before || after) of the next token's distribution (nan for an encoder).
        off: number of disabled heads.
    """

    text: ReadText
    moved: Float[np.ndarray, "token"]
    sentence: Exact
    pair: Float[np.ndarray, "2"]
    candidates: tuple[str, ...]
    probabilities: Float[np.ndarray, "2 candidate"]
    bits: float
    off: int

    @property
    def heads_off(self) -> Fraction:
        """Number of disabled heads, and of all heads."""
        return self.off, self.text.layers * self.text.heads

    @property
    def furthest(self) -> float:
        """1 - cosine of the token that moved most; 0 where that is the rounding of float32."""
        maximum = float(self.moved.max())
        return maximum if maximum > ROUNDING else 0.0

    @property
    def furthest_place(self) -> int:
        """Place of the token that moved most, from 0."""
        return int(self.moved.argmax())

    @property
    def furthest_piece(self) -> str:
        """Token that moved most."""
        return self.text.pieces[self.furthest_place]

    @property
    def likeliest(self) -> tuple[str, str]:
        """Likeliest next piece before and after (decoder)."""
        before, after = (self.candidates[int(row.argmax())] for row in self.probabilities)
        return before, after

    @property
    def summary(self) -> Facts:
        """Facts about the change of the next token, or of the sentence vector."""
        if self.furthest == 0:
            return Facts("none")
        if self.text.decoder:
            before, after = self.likeliest
            variant = "kept" if before == after else "next"
            return Facts(variant, before=before, after=after, bits=self.bits)
        return Facts("vector", cosine=self.sentence, moved=self.furthest, token=self.furthest_piece)

    pair_before = array_item(
        "pair", 0, "Cosine of the two texts' vectors in the model as it is.", Exact
    )
    pair_after = array_item("pair", 1, "The same after the change.", Exact)


@dataclass(frozen=True)
class MeanOutputs:
    """Mean output of each head over all tokens of some sentences.

    Attributes:
        fraction: share of the sentences that have been read.
    """

    output: Float[np.ndarray, "layer head d_k"]
    sentences: int
    tokens: int
    fraction: float


@dataclass(frozen=True)
class Effects:
    """Effect of disabling each head alone.

    Attributes:
        change: [layer, head]; in an encoder 1 - cosine of the sentence vectors before and after, in
            a decoder the divergence KL(before || after) of the next token's distribution in bits;
            nan for heads not yet done.
        fraction: share of the work done.
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
        """Largest change."""
        return float(self.change[self.most_missed])

    @property
    def median(self) -> float:
        """Median of the changes."""
        return float(np.median(self.change))

    @property
    def hardly_missed(self) -> WholeShare:
        """Share of the heads with a change below a tenth of the largest."""
        return float((self.change < self.change.max() / 10).mean())
