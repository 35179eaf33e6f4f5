"""Stacked bidirectional GRU with a CRF for word segmentation and tagging: Baidu's LAC.

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

SIDES = ("right", "left")  # context of a character, read by the backward and the forward half
WAYS = ("deleted", "mean", "zero")  # ablations of a side
_SPACE = re.compile(r"\s")
DECODERS = ("viterbi", "marginal", "emission")
States = Float[np.ndarray, "batch time features"]


@dataclass(frozen=True)
class LayerDirection:
    """One direction of one layer; column blocks are update gate, reset gate and candidate."""

    inputs: Float[np.ndarray, "features three_units"]
    bias: Float[np.ndarray, "three_units"]
    gates: Float[np.ndarray, "units two_units"]
    candidate: Float[np.ndarray, "units units"]

    def states(
        self, read: States, real: Bool[np.ndarray, "batch time"], backward: bool
    ) -> Float[np.ndarray, "batch time units"]:
        """Return the states h_t = (1 - u) h + u tanh(W x_t + U (r h) + b); h is the previous state.

        Args:
            read: inputs.
            real: True at real inputs; elsewhere the state is zero, as before the first input.
            backward: True to read from right to left.
        """
        units = len(self.candidate)
        from_inputs = read @ self.inputs + self.bias  # one product for all steps
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
    """Linear-chain CRF: scores of the first tag, the last tag, and a tag (row) before another."""

    first: Float[np.ndarray, "tags"]
    last: Float[np.ndarray, "tags"]
    after: Float[np.ndarray, "tags tags"]

    def viterbi(self, emissions: Float[np.ndarray, "time tags"]) -> Int[np.ndarray, "time"]:
        """Return the tag sequence with the largest score (Viterbi 1967)."""
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
        """Return P(tag at t | sentence) by the forward-backward algorithm."""
        exact = emissions.astype(float)
        before, after = [self.first + exact[0]], [self.last.astype(float)]
        for emitted in exact[1:]:
            before.append(np.logaddexp.reduce(before[-1][:, None] + self.after, 0) + emitted)
        for emitted in exact[:0:-1]:
            after.append(np.logaddexp.reduce(self.after + emitted + after[-1], 1))
        return softmax(np.array(before) + np.array(after[::-1]))


@dataclass(frozen=True)
class Lac:
    """Weights and vocabulary of LAC.

    Attributes:
        letters: known code points in ascending order.
        ids: their rows in the table.
        unknown: row of any other character.
        table: embeddings.
        layers: forward and backward half of each layer.
        tags: such as "n-B" and "n-I", the first and any further character of a noun.
        sentences: test sentences of the package.
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
        """Bytes of the weights in memory."""
        halves = [part for pair in self.layers for half in pair for part in vars(half).values()]
        rest = (self.table, self.emission, self.emission_bias, *vars(self.crf).values())
        return sum(int(item.nbytes) for item in (*halves, *rest))

    def rows(self, text: str) -> Int[np.ndarray, "time"]:
        """Return the table row of each character."""
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
        """Return the states of each layer, forward half first, for one text under several masks.

        Args:
            rows: table rows of the characters.
            real: masks of the characters that are read.
            cut: one of `SIDES`, the half whose states are replaced in each layer; "" for none.
            value: replacement; None is zero.
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
        """Return a score for each tag from the states of the last layer."""
        return np.asarray(states @ self.emission + self.emission_bias)


@dataclass(frozen=True)
class TagSequence:
    """Text with the tags of one decoder.

    Attributes:
        states: states of each layer and character, forward half first.
        shares: probability of each tag, by softmax of the emissions alone and by the CRF.
        path: the chosen tags.
        unknown: number of characters without a row of their own.
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
        """Words with their tags and start positions (from 0)."""
        return words(self.text, self.path, self.tags)

    @property
    def written(self) -> str:
        """Words and tags in LAC's notation: 我/r 去/v 商场/n."""
        return " ".join(f"{_SPACE.sub('␣', word)}/{tag}" for word, tag, _ in self.words)

    @property
    def breaks(self) -> int:
        """Number of characters that continue a word without a beginning."""
        return int(broken(self.path, self.tags).sum())

    def changed(self, other: TagSequence) -> Bool[np.ndarray, "time"]:
        """Return True where another result for the same text has another tag."""
        return np.asarray(self.path != other.path)

    def renamed(self, other: TagSequence) -> tuple[tuple[str, str, str], ...]:
        """Return (character, tag here, tag in another result) for each changed tag."""
        return tuple(
            (_SPACE.sub("␣", self.text[t]), self.tags[self.path[t]], self.tags[other.path[t]])
            for t in self.changed(other).nonzero()[0].tolist()
        )

    def moved(self, other: TagSequence, layer: int) -> tuple[float, float]:
        """Return the relative change of the states, |h' - h| / |h|, of forward and backward half.

        The norm is over all characters; rounded to six decimals, because sums of float32 in another
        order differ by 1e-7.

        Args:
            other: another result for the same text.
            layer: the layer, from 1.
        """
        halves = zip(
            *(np.split(item.states[layer - 1], 2, 1) for item in (self, other)), strict=True
        )
        forward, backward = (
            round(float(np.linalg.norm(new - old) / np.linalg.norm(old)), 6) for old, new in halves
        )
        return forward, backward

    def compared(self, other: TagSequence) -> Facts:
        """State the tags changed in another result for the same text."""
        changed = int(self.changed(other).sum())
        return Facts(
            "changed" if changed else "same", whole=self.written, second=other.written,
            changed=changed, characters=len(self.text), broken=other.breaks,
        )  # fmt: skip

    def shift(self, other: TagSequence, layer: int) -> Facts:
        """State the change of both halves' states in another result, see `moved`.

        Args:
            other: another result for the same text.
            layer: the layer, from 1.
        """
        forward, backward = self.moved(other, layer)
        return Facts(layer=layer, forward=forward, backward=backward)

    def least_sure(self, marginal: bool) -> Facts:
        """State the chosen tag of lowest probability, by softmax or (`marginal`) by the CRF."""
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
    """Changed tags of each sentence under ablations of the network.

    Attributes:
        lengths: characters of each sentence.
        cut: changed tags by way, side and sentence.
        decoded: by decoder, tags different from Viterbi's.
        broken: by decoder, characters that continue a word without a beginning.
        constant: tags different from the most frequent one, `common`.
    """

    lengths: Int[np.ndarray, "sentences"]
    cut: Int[np.ndarray, "ways sides sentences"]
    decoded: Int[np.ndarray, "decoders sentences"]
    broken: Int[np.ndarray, "decoders sentences"]
    constant: Int[np.ndarray, "sentences"]
    common: str

    @property
    def sentences(self) -> int:
        """Number of sentences."""
        return len(self.lengths)

    @property
    def characters(self) -> int:
        """Number of characters in all sentences."""
        return int(self.lengths.sum())

    def share(self, direction: str, side: str) -> ShareEstimate:
        """Return the share of characters with a changed tag.

        Args:
            direction: one of `WAYS`.
            side: one of `SIDES`.
        """
        return share_of(self.cut[WAYS.index(direction), SIDES.index(side)], self.lengths)

    def of(self, decoder: str) -> Estimate:
        """Return the share of characters with a tag different from Viterbi's."""
        return share_of(self.decoded[DECODERS.index(decoder)], self.lengths)

    @property
    def by_constant(self) -> Share:
        """Share of characters whose tag is not the most frequent one."""
        return float(share_of(self.constant, self.lengths).mean)

    def unlawful(self, decoder: str) -> int:
        """Return the number of sentences in which a word continues without a beginning."""
        return int((self.broken[DECODERS.index(decoder)] > 0).sum())

    def more(self, direction: str) -> Estimate:
        """Return the difference in changed tags, without the left side minus without the right."""
        right, left = self.cut[WAYS.index(direction)]
        return share_of(left - right, self.lengths)

    def sides(self, direction: str) -> Facts:
        """State the share of changed tags without either side, and the invalid sentences."""
        gap = self.more(direction)
        return Facts(
            gap.verdict, sentences=self.sentences, characters=self.characters,
            gap=gap, right=self.share(direction, "right"),
            left=self.share(direction, "left"),
            tag=self.common, constant=self.by_constant, alone=self.of("emission"),
            weighed=self.of("marginal"), **{name: self.unlawful(name) for name in DECODERS},
        )  # fmt: skip


def words(
    text: str, path: Int[np.ndarray, "time"], tags: tuple[str, ...]
) -> tuple[tuple[str, str, int], ...]:
    """Return words, the tag of their first character, and its position, joined as in LAC's code.

    Args:
        text: the text.
        path: tag of each character.
        tags: names of the tags.
    """
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
    """Return True where X-I follows neither X-B nor X-I.

    Args:
        path: tag of each character.
        tags: names of the tags.
    """
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
    """Return the share of changed characters; the interval is clipped to the possible values.

    Args:
        changed: changed characters of each sentence, or a difference of two counts.
        lengths: characters of each sentence.
    """
    share = ratio_ci(changed, lengths, source="sentences")
    return share.clip(0 if changed.min() >= 0 else -1, 1)
