"""Many states, one verdict: the last state, the mean, the maximum, both ends; and pads behind."""

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
_PAD = -1  # a number of no symbol: `networks.inputs` makes zeros of it


@dataclass(frozen=True)
class StatePath:
    """States h_0, h_1, ..., h_T of a text in a plane, and the verdict that each would give.

    x: distance from the border of the two answers, along the direction of the decision; y: along
    the direction at right angles in which states differ most. probability: of "positive".
    """

    pieces: tuple[str, ...]
    x: Float[np.ndarray, "time_1"]
    y: Float[np.ndarray, "time_1"]
    probability: Float[np.ndarray, "time_1"]
    unknown: int

    @property
    def verdict(self) -> Share:
        """The probability of "positive" at the end."""
        return float(self.probability[-1])

    @property
    def turns(self) -> int:
        """The word (from 1) behind which the probability changes most."""
        return int(np.abs(np.diff(self.probability)).argmax()) + 1

    def largest_step(self) -> Facts:
        """State the word behind which the probability changes most, and from what to what."""
        before, after = self.probability[self.turns - 1 : self.turns + 1].tolist()
        return Facts(word=self.pieces[self.turns - 1], place=self.turns, before=before,
                     after=after)  # fmt: skip

    def deletion(self, rest: StatePath, without: int) -> Facts:
        """State what the verdict of the text is without a word (from 1), which is `rest`."""
        return Facts(
            word=self.pieces[without - 1], place=without, words=len(self.pieces),
            behind=len(self.pieces) - without, whole=self.verdict, rest=rest.verdict,
            change=abs(rest.verdict - self.verdict),
        )  # fmt: skip


@dataclass(frozen=True)
class Plane:
    """Two directions of length 1 in the space of states, at right angles; offset: of the border."""

    across: Float[np.ndarray, "hidden"]
    up: Float[np.ndarray, "hidden"]
    offset: float


@dataclass(frozen=True)
class Padded:
    """The verdict on one text with 0, 1, ... pads behind it: as zeros, and as the symbol <unk>.

    The first of each is that of the last word's state, which a packed batch reads at any padding.
    """

    zeros: Float[np.ndarray, "pads_1"]
    unknown: Float[np.ndarray, "pads_1"]

    def after(self, kind: str, pads: int) -> Share:
        """The probability of "positive" read from the state behind so many pads."""
        return float(getattr(self, kind)[pads])

    @property
    def packed(self) -> Share:
        """Read from the state of the last word."""
        return float(self.zeros[0])


@dataclass(frozen=True)
class ByReadout:
    """Who is right on which held-out review, and how many are with pads behind.

    names: of the rows of `right`. words: of each review. pads: how many; padded: right verdicts
    from the last state, by what a pad is ("zeros", "unknown"). positive: whether a review is.
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
        """Right verdicts on reviews of at least so many words."""
        return proportions.proportion(self.right[self.names.index(name)][self._of(minimum)])

    def majority(self, minimum: int = 0) -> Share:
        """How often the answer that is more frequent in training is right there."""
        return float((self.positive == self.often)[self._of(minimum)].mean())

    def paired_with(self, name: str, other: str, minimum: int = 0) -> Paired:
        """Two readouts on the same reviews."""
        item, two = (self.right[self.names.index(k)][self._of(minimum)] for k in (name, other))
        return proportions.mcnemar(item, two)

    def gain(self, name: str, other: str, minimum: int = 0) -> Estimate:
        """Accuracy minus that of the other, on the same reviews."""
        item, two = (self.right[self.names.index(k)][self._of(minimum)] for k in (name, other))
        return paired_difference(item, two, source="reviews")

    def reviews(self, minimum: int = 0) -> int:
        """How many there are."""
        return int(self._of(minimum).sum())

    def with_pads(self, kind: str, pads: int) -> Proportion:
        """Right verdicts from the state behind so many pads."""
        at = int(np.flatnonzero(self.pads == pads)[0])
        row = ("zeros", "unknown").index(kind)
        return proportions.of(int(self.padded[row, at]), len(self.positive))

    def padding(self, kind: str, pads: int) -> Facts:
        """State how many verdicts are right behind so many pads, and without."""
        return Facts(
            "padded" if pads else "no_pads", pads=pads, right=self.with_pads(kind, pads),
            before=self.with_pads(kind, 0), reviews=len(self.positive), often=self.majority(),
        )  # fmt: skip

    def compared(self, combination: str, minimum: int) -> Facts:
        """State the accuracy of the readouts, two directions joined by a `combination`."""
        names = {name: name for name in ("words", "last", "mean", "max")} | {"both": combination}
        return Facts(
            "many" if minimum > 1 else "all", least=minimum, reviews=self.reviews(minimum),
            often=self.majority(minimum),
            **{key: self.accuracy(name, minimum) for key, name in names.items()},
        )  # fmt: skip


def plane(network: GatedNetwork, states: Float[np.ndarray, "state hidden"]) -> Plane:
    """The direction of a classifier's decision, and the first principal one of what is left."""
    weights = (network.head[1] - network.head[0]).astype(float)
    length = float(np.linalg.norm(weights))
    across = weights / length
    rest = states - states.mean(0)
    rest = rest - np.outer(rest @ across, across)
    up = np.linalg.eigh(rest.T @ rest)[1][:, -1]
    return Plane(across, up, float(network.head_bias[1] - network.head_bias[0]) / length)


def path(network: GatedNetwork, directions: Plane, text: str, without: int = 0) -> StatePath:
    """The states of a text, its word `without` (from 1) deleted.

    Raises UserError("no_text") when nothing is left to read.
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
    """The verdict from the state behind each number of pads. Raises UserError("no_text")."""
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
    """Sequences side by side, pads behind the shorter ones."""
    padded_ids = np.full((max(map(len, ids)), len(ids)), pad)
    for k, item in enumerate(ids):
        padded_ids[: len(item), k] = item
    return padded_ids


def pooled(
    hidden: Float[np.ndarray, "time batch hidden"], lengths: Int[np.ndarray, "batch"]
) -> dict[str, Float[np.ndarray, "batch hidden"]]:
    """The last state, the mean and the maximum of each sequence, its pads left out."""
    real = (np.arange(len(hidden))[:, None] < lengths)[..., None]
    return {
        "last": hidden[lengths - 1, np.arange(len(lengths))],
        "mean": (hidden * real).sum(0) / lengths[:, None],
        "max": np.where(real, hidden, -np.inf).max(0),
    }


def combined(
    forward: Float[np.ndarray, "batch hidden"], backward: Float[np.ndarray, "batch hidden"]
) -> dict[str, Float[np.ndarray, "batch features"]]:
    """The last states of two directions, in the ways of `COMBINED`."""
    both = forward + backward
    joined = np.concatenate([forward, backward], axis=1)
    return dict(zip(COMBINED, (joined, both, forward * backward, both / 2), strict=True))
