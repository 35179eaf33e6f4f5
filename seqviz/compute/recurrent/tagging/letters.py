"""Letters and their tags, and small recurrent networks that give a letter its tag (N to N).

Where do words begin in a text without spaces (Xue 2003)? A letter begins a word (B), stands within
it (M), ends it (E) or is a word by itself (S). The raw text gives the truth: an English text its
spaces, a Chinese one the words of a dictionary.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int, UInt8

from seqviz.compute.attention.scaled import softmax
from seqviz.compute.recurrent import GRU, GRUTrace, RecurrentWeights, State, run
from seqviz.stats.facts import Facts

TAGS = "BMES"  # in the order of the networks' answers
WIRINGS = ("uni", "two", "bi")
UNKNOWN = 0  # the id of what is no known symbol
LEVELS = 127  # of a weight, on either side of zero
_CELL = GRU()  # PyTorch's equations


class TaggedExample(NamedTuple):
    """A text that a network can learn from.

    symbols: what is read, one for each sign of the text. tags: of each; -1 where a sign has none.
    """

    symbols: str
    tags: Int[np.ndarray, "time"]


def _by_word(symbols: str, words: Iterable[str], counts: Callable[[str], bool]) -> TaggedExample:
    """words: one after the other they are the symbols. counts: whether a sign has a tag."""
    tags: list[int] = []
    for word in words:
        there = [counts(item) for item in word]
        inner = iter([3] if sum(there) == 1 else [0, *[1] * (sum(there) - 2), 2])
        tags += [next(inner) if item else -1 for item in there]
    return TaggedExample(symbols, np.array(tags, int))


def without_spaces(text: str) -> TaggedExample:
    """A text in small letters without its white space, and the words between it.

    Marks and digits stay, and have no tag. A letter that has two small ones becomes "?"; one with
    an accent beside it is one letter (NFC).
    """
    text = unicodedata.normalize("NFC", text)
    words = "".join(item.lower() if len(item.lower()) == 1 else "?" for item in text).split()
    return _by_word("".join(words), words, str.isalpha)


def boundaries(text: str, words: Callable[[str], Iterable[str]]) -> TaggedExample:
    """A text as it is, and B, M, E or S for those of its signs that are Chinese characters.

    words: gives the words of a text, which put together are the text.
    """
    return _by_word(text, words(text), lambda item: "\u4e00" <= item <= "\u9fff")


def parameters(wiring: str, width: int, symbols: int, read: int) -> int:
    """How many numbers a network has: table of symbols, GRU with two biases, head.

    width: units of a layer in a direction. read: length of a symbol's vector.
    """
    layer = [3 * width * (before + width + 2) for before in (read, width)]
    recurrent = {"uni": layer[0], "two": sum(layer), "bi": 2 * layer[0]}[wiring]
    return symbols * read + recurrent + len(TAGS) * (width * (1 + (wiring == "bi")) + 1)


def width_of(wiring: str, requested: int, symbols: int, read: int) -> int:
    """The width with which a network comes nearest to so many parameters."""

    def away(width: int) -> int:
        return abs(parameters(wiring, width, symbols, read) - requested)

    return min(range(1, 500), key=away)


@dataclass(frozen=True)
class TrainedTagger:
    """A trained network: symbols -> vectors -> GRU -> probabilities of the tags.

    symbols: code points; symbol k has id k + 1, any other one id 0. levels: all weights
    in the order of PyTorch's `parameters()`, each a whole number of `steps` of its array, which is
    `LEVELS` for a zero. losses: mean cross-entropy of a letter (nats) in each 25th part of the
    training. seconds: of a processor core.
    """

    task: str
    wiring: str
    width: int
    read: int
    symbols: Int[np.ndarray, "symbol"]
    levels: UInt8[np.ndarray, "parameter"]
    steps: Float[np.ndarray, "array"]
    losses: Float[np.ndarray, "time"]
    seconds: float

    def arrays(self) -> list[np.ndarray]:
        """Table, then four arrays for a layer and direction, head and its bias (float32)."""
        result, position = [], 0
        shapes = shapes_of(self.wiring, self.width, len(self.symbols) + 1, self.read)
        for shape, step in zip(shapes, self.steps, strict=True):
            size = int(np.prod(shape))
            part = self.levels[position : position + size].reshape(shape)
            result.append(((part.astype(np.float32) - LEVELS) * step).astype(np.float32))
            position += size
        return result

    def ids(self, symbols: str) -> Int[np.ndarray, "time"]:
        """The ids that are read; 0 where a symbol is not known."""
        anchor = {chr(code): k + 1 for k, code in enumerate(self.symbols.tolist())}
        return np.array([anchor.get(symbol, UNKNOWN) for symbol in symbols], int)

    def probabilities(
        self, ids: Int[np.ndarray, "time *batch"], ahead: int | None = None
    ) -> Float[np.ndarray, "time *batch tags"]:
        """Of each tag at each sign. ahead: see `states`."""
        table, *layers, head, bias = self.arrays()
        hidden = states(self.wiring, layers, table[ids], ahead)
        return softmax(hidden @ head.T + bias)


def shapes_of(wiring: str, width: int, symbols: int, read: int) -> list[tuple[int, ...]]:
    """Of the arrays of a `Tagger`."""
    gates, both = 3 * width, width * (1 + (wiring == "bi"))
    before = {"uni": [read], "two": [read, width], "bi": [read, read]}[wiring]
    layers = [s for size in before for s in ((gates, size), (gates, width), (gates,), (gates,))]
    return [(symbols, read), *layers, (len(TAGS), both), (len(TAGS),)]


def rounded(arrays: list[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """(levels, steps) of a `Tagger`: 255 values for each array."""
    steps = np.array([max(float(np.abs(array).max()), 1e-12) / LEVELS for array in arrays])
    levels = [np.round(item / step + LEVELS).astype(np.uint8).ravel()
              for item, step in zip(arrays, steps, strict=True)]  # fmt: skip
    return np.concatenate(levels), steps


def states(
    wiring: str, layers: list[np.ndarray], read: Float[np.ndarray, "time *batch input"],
    ahead: int | None = None,
) -> Float[np.ndarray, "time *batch hidden"]:  # fmt: skip
    """The hidden states that the head reads: the last layer's, or both directions' side by side.

    ahead: how many signs to the right the backward cell of "bi" reads before it comes to each
    sign (it begins there with the zero state); all of them by default.
    """
    first, second = (RecurrentWeights(*layers[k : k + 4]) if layers[k:] else None for k in (0, 4))
    forward = _hidden(first, read)
    if second is None:
        return forward
    if wiring == "two":
        return _hidden(second, forward)
    if ahead is None:
        return np.concatenate([forward, _hidden(second, read[::-1])[::-1]], -1)
    # Step j of every window at once: the sign that stands `ahead - j` to the right. Beyond the end
    # of the text there is none, and the state stays zero.
    time = len(read)
    state = np.zeros((*read.shape[:-1], second.hidden), np.float32)
    for right in range(min(ahead, time - 1), -1, -1):
        rows = np.arange(time - right)
        state[rows] = _step(second, read[rows + right], state[rows])
    return np.concatenate([forward, state], -1)


def _hidden(weights: RecurrentWeights | None, read: np.ndarray) -> np.ndarray:
    assert weights is not None
    trace = run(_CELL, weights, read)
    assert isinstance(trace, GRUTrace)
    values: np.ndarray = trace.hidden[1:]
    return values


def _step(weights: RecurrentWeights, read: np.ndarray, before: np.ndarray) -> np.ndarray:
    trace = run(_CELL, weights, read[None], State(before))
    assert isinstance(trace, GRUTrace)
    values: np.ndarray = trace.hidden[1]
    return values


@dataclass(frozen=True)
class TaggedText:
    """A student's text and what networks say of it.

    text: as the networks read it. tags: the true ones; -1 where a sign has none. probabilities:
    rows are "uni", "bi", and "bi" with a backward cell that reads only some signs ahead. unknown:
    letters that have no id.
    """

    task: str
    text: str
    tags: Int[np.ndarray, "time"]
    probabilities: Float[np.ndarray, "row time tag"]
    unknown: int

    @property
    def n_letters(self) -> int:
        """Signs that have a tag."""
        return int((self.tags >= 0).sum())

    @property
    def answers(self) -> Int[np.ndarray, "row time"]:
        """The likeliest tag of each sign."""
        values: np.ndarray = self.probabilities.argmax(-1)
        return values

    @property
    def wrong(self) -> Bool[np.ndarray, "row time"]:
        """Where that is not the true one."""
        values: np.ndarray = (self.answers != self.tags) & (self.tags >= 0)
        return values

    @property
    def needs_right(self) -> Bool[np.ndarray, "time"]:
        """Where "uni" is wrong and "bi" is not."""
        return self.wrong[0] & ~self.wrong[1]

    @property
    def losses(self) -> Float[np.ndarray, "row time"]:
        """L_t = -ln p(true tag), in nats; 0 where a sign has no tag. Their sum is L."""
        likely = np.take_along_axis(self.probabilities, np.maximum(self.tags, 0)[None, :, None], -1)
        return np.where(self.tags >= 0, -np.log(np.maximum(likely[..., 0], 1e-12)), 0.0)

    def tags_of(self, row: int) -> list[str]:
        """The tag that a network gives each sign; "" of signs that have none."""
        return ["" if tag < 0 else TAGS[answer]
                for tag, answer in zip(self.tags, self.answers[row], strict=True)]  # fmt: skip

    def errors(self) -> Facts:
        """State how many letters each network has wrong, and how many need the right side."""
        uni, bi, cut = self.wrong.sum(1).tolist()
        return Facts("framed" if self.needs_right.any() else "framed_none", letters=self.n_letters,
                     uni=uni, bi=bi, cut=cut, framed=int(self.needs_right.sum()))  # fmt: skip

    def loss_at(self, index: int) -> Facts:
        """State what two networks give the true tag of a sign (from 1), and their losses."""
        at, tag = index - 1, int(self.tags[index - 1])
        facts = Facts("no_tag" if tag < 0 else "loss", place=index, sign=self.text[at])
        facts["true"] = TAGS[tag]
        for row, name in enumerate(("uni", "bi")):
            losses = self.losses[row]
            facts |= {name: float(self.probabilities[row, at, tag]), f"at_{name}": losses[at],
                      f"sum_{name}": losses.sum()}  # fmt: skip
        return facts
