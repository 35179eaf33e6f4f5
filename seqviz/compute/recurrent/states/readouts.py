"""Pooling of states for classification: last, mean, maximum, both directions; and padding."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int

from seqviz.compute.gates.networks import GatedNetwork, trace
from seqviz.compute.recurrent import sigmoid
from seqviz.core.errors import UserError
from seqviz.core.units import Share
from seqviz.stats import proportions
from seqviz.stats.estimate import Estimate, paired_difference
from seqviz.stats.facts import Facts
from seqviz.stats.proportions import Paired, Proportion

COMBINED = ("both_concat", "both_sum", "both_product", "both_mean")  # last states, two directions
_PAD = -1  # not a symbol: `networks.inputs` encodes it as zeros


@dataclass(frozen=True)
class StatePath:
    """States h_0, h_1, ..., h_T of a text in a plane, and the class probability of each.

    Attributes:
        x: distance from the decision boundary, along its normal.
        y: coordinate along the orthogonal direction with the largest variance of the states.
        probability: probability of "positive".
    """

    pieces: tuple[str, ...]
    x: Float[np.ndarray, "time_1"]
    y: Float[np.ndarray, "time_1"]
    probability: Float[np.ndarray, "time_1"]
    unknown: int

    @property
    def verdict(self) -> Share:
        """Probability of "positive" after the last word."""
        return float(self.probability[-1])

    @property
    def turns(self) -> int:
        """Word, from 1, that changes the probability most."""
        return int(np.abs(np.diff(self.probability)).argmax()) + 1

    def largest_step(self) -> Facts:
        """State the word that changes the probability most, and its effect."""
        before, after = self.probability[self.turns - 1 : self.turns + 1].tolist()
        return Facts(word=self.pieces[self.turns - 1], place=self.turns, before=before,
                     after=after)  # fmt: skip

    def deletion(self, rest: StatePath, without: int) -> Facts:
        """State the effect of deleting a word on the class probability.

        Args:
            rest: path of the text without the word.
            without: the word, from 1.
        """
        return Facts(
            word=self.pieces[without - 1], place=without, words=len(self.pieces),
            behind=len(self.pieces) - without, whole=self.verdict, rest=rest.verdict,
            change=abs(rest.verdict - self.verdict),
        )  # fmt: skip


@dataclass(frozen=True)
class Plane:
    """Two orthonormal directions in the state space.

    Attributes:
        across: normal of the decision boundary.
        up: orthogonal direction.
        offset: offset of the boundary along `across`.
    """

    across: Float[np.ndarray, "hidden"]
    up: Float[np.ndarray, "hidden"]
    offset: float


@dataclass(frozen=True)
class Padded:
    """Probability of "positive" with 0, 1, ... padding tokens: zeros, or the symbol <unk>.

    The first entry is that of the last word's state, which a packed batch reads at any padding.
    """

    zeros: Float[np.ndarray, "pads_1"]
    unknown: Float[np.ndarray, "pads_1"]

    def after(self, kind: str, pads: int) -> Share:
        """Return the probability of "positive" from the state after some padding.

        Args:
            kind: "zeros" or "unknown".
            pads: number of padding tokens.
        """
        return float(getattr(self, kind)[pads])

    @property
    def packed(self) -> Share:
        """Probability of "positive" from the state of the last word."""
        return float(self.zeros[0])


@dataclass(frozen=True)
class ByReadout:
    """Correctness of each pooling method on held-out reviews, and with padding.

    Attributes:
        names: methods, the rows of `right`.
        right: True where the prediction is correct.
        words: words of each review.
        positive: True where the review is positive.
        often: the more frequent label in training.
        pads: numbers of padding tokens.
        padded: correct predictions from the last state, with padding as "zeros" and as "unknown".
    """

    names: tuple[str, ...]
    right: Bool[np.ndarray, "readout case"]
    words: Int[np.ndarray, "case"]
    positive: Bool[np.ndarray, "case"]
    often: bool
    pads: Int[np.ndarray, "amount"]
    padded: Int[np.ndarray, "2 amount"]

    def _of(self, minimum: int) -> np.ndarray:
        return self.words >= minimum

    def accuracy(self, name: str, minimum: int = 0) -> Proportion:
        """Return the proportion of correct predictions on reviews with at least `minimum` words.

        Args:
            name: the method.
            minimum: number of words.
        """
        return proportions.proportion(self.right[self.names.index(name)][self._of(minimum)])

    def majority(self, minimum: int = 0) -> Share:
        """Return the accuracy of the majority label, on reviews with `minimum` words or more."""
        return float((self.positive == self.often)[self._of(minimum)].mean())

    def paired_with(self, name: str, other: str, minimum: int = 0) -> Paired:
        """Return McNemar's test of two methods on the same reviews.

        Args:
            name: the method.
            other: the baseline.
            minimum: smallest number of words of a review.
        """
        item, two = (self.right[self.names.index(k)][self._of(minimum)] for k in (name, other))
        return proportions.mcnemar(item, two)

    def gain(self, name: str, other: str, minimum: int = 0) -> Estimate:
        """Return the paired difference in accuracy, `name` minus `other`.

        Args:
            name: the method.
            other: the baseline.
            minimum: smallest number of words of a review.
        """
        item, two = (self.right[self.names.index(k)][self._of(minimum)] for k in (name, other))
        return paired_difference(item, two, source="reviews")

    def reviews(self, minimum: int = 0) -> int:
        """Return the number of reviews with at least `minimum` words."""
        return int(self._of(minimum).sum())

    def with_pads(self, kind: str, pads: int) -> Proportion:
        """Return the proportion of correct predictions from the state after some padding.

        Args:
            kind: "zeros" or "unknown".
            pads: one of `pads`.
        """
        at = int(np.flatnonzero(self.pads == pads)[0])
        row = ("zeros", "unknown").index(kind)
        return proportions.of(int(self.padded[row, at]), len(self.positive))

    def padding(self, kind: str, pads: int) -> Facts:
        """State the number of correct predictions with this padding, and without.

        Args:
            kind: "zeros" or "unknown".
            pads: one of `pads`.
        """
        return Facts(
            "padded" if pads else "no_pads", pads=pads, right=self.with_pads(kind, pads),
            before=self.with_pads(kind, 0), reviews=len(self.positive), often=self.majority(),
        )  # fmt: skip

    def compared(self, combination: str, minimum: int) -> Facts:
        """State the accuracy of the pooling methods.

        Args:
            combination: combination of two directions, one of `COMBINED`.
            minimum: smallest number of words of a review.
        """
        names = {name: name for name in ("words", "last", "mean", "max")} | {"both": combination}
        return Facts(
            "many" if minimum > 1 else "all", least=minimum, reviews=self.reviews(minimum),
            often=self.majority(minimum),
            **{key: self.accuracy(name, minimum) for key, name in names.items()},
        )  # fmt: skip


def plane(network: GatedNetwork, states: Float[np.ndarray, "state hidden"]) -> Plane:
    """Return the boundary normal of a classifier and the orthogonal first principal component.

    Args:
        network: the classifier.
        states: states of many texts.
    """
    weights = (network.head[1] - network.head[0]).astype(float)
    length = float(np.linalg.norm(weights))
    across = weights / length
    rest = states - states.mean(0)
    rest = rest - np.outer(rest @ across, across)
    up = np.linalg.eigh(rest.T @ rest)[1][:, -1]
    return Plane(across, up, float(network.head_bias[1] - network.head_bias[0]) / length)


def path(network: GatedNetwork, directions: Plane, text: str, without: int = 0) -> StatePath:
    """Return the states of a text in the plane.

    Args:
        network: the classifier.
        directions: the plane.
        text: the text.
        without: deleted word, from 1; 0 for none.

    Raises:
        UserError: "no_text" without any words.
    """
    encoded = network.encode(text)
    retained = np.arange(1, len(encoded) + 1) != without
    if not retained.any():
        raise UserError("no_text", "There is nothing to read. Type a text.")
    ids = encoded.ids[retained]
    hidden = trace(network, ids).hidden.astype(float)
    weights = network.head[1].astype(float) - network.head[0]
    x = hidden @ directions.across + directions.offset
    pieces = tuple(item for item, there in zip(encoded.pieces, retained, strict=True) if there)
    return StatePath(pieces, x, hidden @ directions.up, sigmoid(x * np.linalg.norm(weights)),
                int((ids == 0).sum()))  # fmt: skip


def padded(network: GatedNetwork, text: str, maximum: int) -> Padded:
    """Return the class probability after each number of padding tokens.

    Args:
        network: the classifier.
        text: the text.
        maximum: largest number of padding tokens.

    Raises:
        UserError: "no_text" for an empty text.
    """
    ids = network.encode(text).ids
    if not len(ids):
        raise UserError("no_text", "There is nothing to read. Type a text.")
    results = []
    for pad in (_PAD, 0):
        hidden = trace(network, np.append(ids, np.full(maximum, pad))).hidden[len(ids) :]
        scores = hidden.astype(float) @ (network.head[1].astype(float) - network.head[0])
        results.append(sigmoid(scores + float(network.head_bias[1] - network.head_bias[0])))
    return Padded(*results)


def batch(ids: Sequence[np.ndarray], pad: int = _PAD) -> Int[np.ndarray, "time batch"]:
    """Stack sequences and pad the shorter ones at the end.

    Args:
        ids: the sequences.
        pad: padding id.
    """
    padded_ids = np.full((max(map(len, ids)), len(ids)), pad)
    for k, item in enumerate(ids):
        padded_ids[: len(item), k] = item
    return padded_ids


def pooled(
    hidden: Float[np.ndarray, "time batch hidden"], lengths: Int[np.ndarray, "batch"]
) -> dict[str, Float[np.ndarray, "batch hidden"]]:
    """Return the last state, mean and maximum of each sequence, without padding.

    Args:
        hidden: states.
        lengths: lengths of the sequences.
    """
    real = (np.arange(len(hidden))[:, None] < lengths)[..., None]
    return {
        "last": hidden[lengths - 1, np.arange(len(lengths))],
        "mean": (hidden * real).sum(0) / lengths[:, None],
        "max": np.where(real, hidden, -np.inf).max(0),
    }


def combined(
    forward: Float[np.ndarray, "batch hidden"], backward: Float[np.ndarray, "batch hidden"]
) -> dict[str, Float[np.ndarray, "batch features"]]:
    """Return the last states of two directions, combined in the ways of `COMBINED`.

    Args:
        forward: last states of the forward direction.
        backward: last states of the backward direction.
    """
    both = forward + backward
    joined = np.concatenate([forward, backward], axis=1)
    return dict(zip(COMBINED, (joined, both, forward * backward, both / 2), strict=True))
