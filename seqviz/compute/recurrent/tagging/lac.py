"""A stacked bidirectional GRU with a CRF, as Baidu's LAC has it: tags of characters, and words.

Jiao, Sun and Sun (2018), *Chinese lexical analysis with deep Bi-GRU-CRF network*, arXiv:1807.01882.
The cell is the one of S1 and S3 (Cho et al. 2014, later version; Chung et al. 2014): the reset gate
acts on the state *before* the product, and the update gate weights the *new* state. `torch.nn.GRU`
does neither.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int

from seqviz.compute.attention.scaled import softmax
from seqviz.compute.recurrent import sigmoid
from seqviz.core.units import Share
from seqviz.stats.estimate import Estimate, ShareEstimate, ratio_ci
from seqviz.stats.facts import Facts

SIDES = ("right", "left")  # of a character: what the backward and what the forward half has read
WAYS = ("deleted", "mean", "zero")  # to take it away
_SPACE = re.compile(r"\s")
DECODERS = ("viterbi", "marginal", "emission")
States = Float[np.ndarray, "batch time features"]


@dataclass(frozen=True)
class LayerDirection:
    """One direction of one layer. Blocks of columns: update gate, reset gate, candidate."""

    inputs: Float[np.ndarray, "features three_units"]
    bias: Float[np.ndarray, "three_units"]
    gates: Float[np.ndarray, "units two_units"]
    candidate: Float[np.ndarray, "units units"]

    def states(
        self, read: States, real: Bool[np.ndarray, "batch time"], backward: bool
    ) -> Float[np.ndarray, "batch time units"]:
        """h_t = (1 - u) h + u tanh(W x_t + U (r h) + b), where h is the state before.

        Where an input is not `real`, the state is zero, as before the first input.
        """
        units = len(self.candidate)
        from_inputs = read @ self.inputs + self.bias  # of all steps in one product
        hidden = np.zeros((len(read), units), read.dtype)
        created = np.empty((*read.shape[:2], units), read.dtype)
        steps = range(read.shape[1])
        for t in reversed(steps) if backward else steps:
            both = sigmoid(from_inputs[:, t, : 2 * units] + hidden @ self.gates)
            update, reset = both[:, :units], both[:, units:]
            new = np.tanh(from_inputs[:, t, 2 * units :] + (reset * hidden) @ self.candidate)
            hidden = real[:, t, None] * ((1 - update) * hidden + update * new)
            created[:, t] = hidden
        return created


@dataclass(frozen=True)
class CRF:
    """Scores of tags in a row: of the first, of the last, and of one (row) before another."""

    first: Float[np.ndarray, "tags"]
    last: Float[np.ndarray, "tags"]
    after: Float[np.ndarray, "tags tags"]

    def viterbi(self, emissions: Float[np.ndarray, "time tags"]) -> Int[np.ndarray, "time"]:
        """The row of tags with the largest sum of scores (Viterbi 1967)."""
        score, arrivals = self.first + emissions[0], []
        for emitted in emissions[1:]:
            directions = score[:, None] + self.after
            arrivals.append(directions.argmax(0))
            score = directions.max(0) + emitted
        path = [int((score + self.last).argmax())]
        for from_which in reversed(arrivals):
            path.append(int(from_which[path[-1]]))
        return np.array(path[::-1])

    def marginals(
        self, emissions: Float[np.ndarray, "time tags"]
    ) -> Float[np.ndarray, "time tags"]:
        """P(tag at t | sentence), summed over all rows of tags (forward and backward sums)."""
        exact = emissions.astype(float)
        before, after = [self.first + exact[0]], [self.last.astype(float)]
        for emitted in exact[1:]:
            before.append(np.logaddexp.reduce(before[-1][:, None] + self.after, 0) + emitted)
        for emitted in exact[:0:-1]:
            after.append(np.logaddexp.reduce(self.after + emitted + after[-1], 1))
        return softmax(np.array(before) + np.array(after[::-1]))


@dataclass(frozen=True)
class Lac:
    """The network. letters: code points in ascending order; ids: their rows of the table.

    layers: forward and backward half of each. unknown: the row of any other character. tags: such
    as "n-B" and "n-I", the first and any further character of a noun. sentences: that the package
    is tested with.
    """

    letters: Int[np.ndarray, "letters"]
    ids: Int[np.ndarray, "letters"]
    unknown: int
    table: Float[np.ndarray, "rows embedding"]
    layers: tuple[tuple[LayerDirection, LayerDirection], ...]
    emission: Float[np.ndarray, "features tags"]
    emission_bias: Float[np.ndarray, "tags"]
    crf: CRF
    tags: tuple[str, ...]
    sentences: tuple[str, ...]

    @property
    def bytes(self) -> int:
        """Of its weights in memory."""
        halves = [part for pair in self.layers for half in pair for part in vars(half).values()]
        rest = (self.table, self.emission, self.emission_bias, *vars(self.crf).values())
        return sum(int(item.nbytes) for item in (*halves, *rest))

    def rows(self, text: str) -> Int[np.ndarray, "time"]:
        """The row of the table for each character."""
        codes = np.array([ord(letter) for letter in text])
        at = np.minimum(np.searchsorted(self.letters, codes), len(self.letters) - 1)
        return np.where(self.letters[at] == codes, self.ids[at], self.unknown)

    def states(
        self,
        rows: Int[np.ndarray, "time"],
        real: Bool[np.ndarray, "batch time"],
        cut: str = "",
        value: Float[np.ndarray, "layers features"] | None = None,
    ) -> tuple[States, ...]:
        """The states of each layer, forward half first, of one text under several masks.

        cut: of `SIDES`, the half whose states are replaced in each layer, by `value` or by zero.
        """
        table = self.table[rows].astype(np.float32)
        read = np.broadcast_to(table, (len(real), *table.shape))
        results = []
        for layer, halves in enumerate(self.layers):
            both = [half.states(read, real, side == 0) for side, half in enumerate(halves[::-1])]
            for side, name in enumerate(SIDES):
                if cut == name:
                    width = both[side].shape[-1]
                    begin = 0 if side else width
                    both[side][:] = 0 if value is None else value[layer, begin : begin + width]
            read = np.concatenate(both[::-1], -1)
            results.append(read)
        return tuple(results)

    def emissions(
        self, states: Float[np.ndarray, "*rows features"]
    ) -> Float[np.ndarray, "*rows tags"]:
        """A score for each tag, from the states of the last layer."""
        return np.asarray(states @ self.emission + self.emission_bias)


@dataclass(frozen=True)
class TagSequence:
    """A text with the tags that a network gives, by one decoder.

    states: of each layer and character, forward half first. shares: the probability of each tag,
    softmax of the emissions alone, and by the CRF. path: the chosen tags. unknown: how many
    characters have no row of their own.
    """

    text: str
    tags: tuple[str, ...]
    states: Float[np.ndarray, "layers time features"]
    emissions: Float[np.ndarray, "time tags"]
    shares: Float[np.ndarray, "2 time tags"]
    path: Int[np.ndarray, "time"]
    unknown: int

    @property
    def words(self) -> tuple[tuple[str, str, int], ...]:
        """Words with their tags, and where each begins (from 0)."""
        return words(self.text, self.path, self.tags)

    @property
    def written(self) -> str:
        """As LAC's users write it: 我/r 去/v 商场/n."""
        return " ".join(f"{_SPACE.sub('␣', word)}/{tag}" for word, tag, _ in self.words)

    @property
    def breaks(self) -> int:
        """Characters that go on with a word which nobody began."""
        return int(broken(self.path, self.tags).sum())

    def changed(self, other: TagSequence) -> Bool[np.ndarray, "time"]:
        """Where another reading of the same text has another tag."""
        return np.asarray(self.path != other.path)

    def moved(self, other: TagSequence, layer: int) -> tuple[float, float]:
        """How far another reading's states are from these: |h' - h| / |h| of each half.

        layer: from 1. Over all characters together, forward half first; to six decimals, as sums
        of float32 in another order differ by 1e-7.
        """
        halves = zip(
            *(np.split(item.states[layer - 1], 2, 1) for item in (self, other)), strict=True
        )
        forward, backward = (
            round(float(np.linalg.norm(new - old) / np.linalg.norm(old)), 6) for old, new in halves
        )
        return forward, backward

    def compared(self, other: TagSequence) -> Facts:
        """State what another reading of the same text changes."""
        changed = int(self.changed(other).sum())
        return Facts(
            "changed" if changed else "same", whole=self.written, second=other.written,
            changed=changed, characters=len(self.text), broken=other.breaks,
        )  # fmt: skip

    def shift(self, other: TagSequence, layer: int) -> Facts:
        """State how far the states of both halves move in another reading."""
        forward, backward = self.moved(other, layer)
        return Facts(layer=layer, forward=forward, backward=backward)

    def least_sure(self, marginal: bool) -> Facts:
        """State where the chosen tag has the least probability, softmax alone or by the CRF."""
        shares = self.shares[int(marginal)]
        on_path = shares[np.arange(len(self.text)), self.path]
        at = int(on_path.argmin())
        tag, best = int(self.path[at]), int(shares[at].argmax())
        return Facts(
            "own" if best == tag else "other", character=self.text[at], at=at + 1,
            tag=self.tags[tag], share=float(on_path[at]), best=self.tags[best],
            most=float(shares[at, best]),
        )  # fmt: skip


@dataclass(frozen=True)
class TagChanges:
    """How many tags of each sentence change when something is taken away from the network.

    lengths: characters of each sentence. cut: changed tags by way, side and sentence. decoded,
    broken: by decoder, tags that are not Viterbi's, and characters that go on with a word which
    nobody began. constant: tags that are not the commonest one, which is `common`.
    """

    lengths: Int[np.ndarray, "sentences"]
    cut: Int[np.ndarray, "ways sides sentences"]
    decoded: Int[np.ndarray, "decoders sentences"]
    broken: Int[np.ndarray, "decoders sentences"]
    constant: Int[np.ndarray, "sentences"]
    common: str

    @property
    def sentences(self) -> int:
        """How many there are."""
        return len(self.lengths)

    @property
    def characters(self) -> int:
        """In all sentences together."""
        return int(self.lengths.sum())

    def share(self, direction: str, side: str) -> ShareEstimate:
        """Of all characters those whose tag changes."""
        return share_of(self.cut[WAYS.index(direction), SIDES.index(side)], self.lengths)

    def of(self, decoder: str) -> Estimate:
        """The same for another way to choose tags than Viterbi's."""
        return share_of(self.decoded[DECODERS.index(decoder)], self.lengths)

    @property
    def by_constant(self) -> Share:
        """Of all characters those whose tag changes where all get the commonest one."""
        return float(share_of(self.constant, self.lengths).mean)

    def unlawful(self, decoder: str) -> int:
        """Sentences in which a word goes on that nobody began."""
        return int((self.broken[DECODERS.index(decoder)] > 0).sum())

    def more(self, direction: str) -> Estimate:
        """By how much more is lost with the left side than with the right."""
        right, left = self.cut[WAYS.index(direction)]
        return share_of(left - right, self.lengths)

    def sides(self, direction: str) -> Facts:
        """State the share of tags that change without either side, and the broken sentences."""
        gap = self.more(direction)
        return Facts(
            gap.verdict, sentences=self.sentences, characters=self.characters,
            difference=abs(gap.mean), right=self.share(direction, "right"),
            left=self.share(direction, "left"),
            tag=self.common, constant=self.by_constant, alone=self.of("emission"),
            weighed=self.of("marginal"), **{name: self.unlawful(name) for name in DECODERS},
        )  # fmt: skip


def words(
    text: str, path: Int[np.ndarray, "time"], tags: tuple[str, ...]
) -> tuple[tuple[str, str, int], ...]:
    """Words, the tag of each one's first character, and its place, as LAC's code joins them."""
    results: list[tuple[str, str, int]] = []
    for at, letter in enumerate(text):
        tag = tags[path[at]]
        begins = tag.endswith("-B") or (tag == "O" and tags[path[at - 1]] != "O")
        if begins or not results:
            results.append((letter, tag.partition("-")[0], at))
        else:
            word, name, begin = results[-1]
            results[-1] = (word + letter, name, begin)
    return tuple(results)


def broken(path: Int[np.ndarray, "time"], tags: tuple[str, ...]) -> Bool[np.ndarray, "time"]:
    """Where X-I stands behind neither X-B nor X-I."""
    named = [tags[item].partition("-") for item in path]
    return np.array(
        [
            position == "I" and (at == 0 or named[at - 1][0] != name)
            for at, (name, _, position) in enumerate(named)
        ]
    )


def share_of(
    changed: Int[np.ndarray, "sentences"], lengths: Int[np.ndarray, "sentences"]
) -> Estimate:
    """Changed of all characters; the interval is within what a share, or a difference, can be."""
    share = ratio_ci(changed, lengths, source="sentences")
    return share.clip(0 if changed.min() >= 0 else -1, 1)
