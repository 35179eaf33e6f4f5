"""Word segmentation as tagging of letters, with small recurrent networks (N to N).

Networks find the word boundaries of a text without spaces (Xue 2003). A letter begins a word (B),
is inside it (M), ends it (E) or is a word by itself (S). The labels come from the raw text: from
the spaces of an English text, from the words of a dictionary for a Chinese one.
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

TAGS = "BMES"  # in the order of the networks' outputs
WIRINGS = ("uni", "two", "bi")
JOINED = ("bi", "sum", "product")  # both directions: concatenated, added, multiplied
UNKNOWN = 0  # id of an unknown symbol
LEVELS = 127  # quantization levels of a weight on either side of zero
_CELL = GRU()  # PyTorch's equations


class TaggedExample(NamedTuple):
    """Labeled text.

    Attributes:
        symbols: one symbol for each character of the text.
        tags: tag of each; -1 for a character without a tag.
    """

    symbols: str
    tags: Int[np.ndarray, "time"]


def _by_word(symbols: str, words: Iterable[str], counts: Callable[[str], bool]) -> TaggedExample:
    """Tag the symbols, the concatenated words; `counts` is True for a character with a tag."""
    tags: list[int] = []
    for word in words:
        there = [counts(item) for item in word]
        inner = iter([3] if sum(there) == 1 else [0, *[1] * (sum(there) - 2), 2])
        tags += [next(inner) if item else -1 for item in there]
    return TaggedExample(symbols, np.array(tags, int))


def without_spaces(text: str) -> TaggedExample:
    """Return a lowercase text without white space, labeled with its words.

    Punctuation and digits stay and have no tag. A letter whose lower case has two characters
    becomes "?"; a letter with a combining accent is one letter (NFC).
    """
    text = unicodedata.normalize("NFC", text)
    words = "".join(item.lower() if len(item.lower()) == 1 else "?" for item in text).split()
    return _by_word("".join(words), words, str.isalpha)


def boundaries(text: str, words: Callable[[str], Iterable[str]]) -> TaggedExample:
    """Return a text, with B, M, E or S for its Chinese characters.

    Args:
        text: the text.
        words: segmenter; its words must concatenate to the text.
    """
    return _by_word(text, words(text), lambda item: "\u4e00" <= item <= "\u9fff")


def parameters(wiring: str, width: int, symbols: int, read: int) -> int:
    """Return the number of parameters: embedding table, GRU with two biases, output layer.

    Args:
        wiring: one of `WIRINGS` or `JOINED`.
        width: units per layer and direction.
        symbols: size of the vocabulary.
        read: length of a symbol's vector.
    """
    layer = [3 * width * (before + width + 2) for before in (read, width)]
    recurrent = {"uni": layer[0], "two": sum(layer)}.get(wiring, 2 * layer[0])
    return symbols * read + recurrent + len(TAGS) * (width * (1 + (wiring == "bi")) + 1)


def width_of(wiring: str, requested: int, symbols: int, read: int) -> int:
    """Return the width with the number of parameters nearest to `requested`.

    Args:
        wiring: one of `WIRINGS`.
        requested: number of parameters.
        symbols: size of the vocabulary.
        read: length of a symbol's vector.
    """

    def away(width: int) -> int:
        return abs(parameters(wiring, width, symbols, read) - requested)

    return min(range(1, 500), key=away)


@dataclass(frozen=True)
class TrainedTagger:
    """Trained tagger: symbols -> vectors -> GRU -> probabilities of the tags.

    Attributes:
        width: units per layer and direction.
        read: length of a symbol's vector.
        symbols: code points; symbol k has id k + 1, any other one id 0.
        levels: quantized weights in the order of PyTorch's `parameters()`, as multiples of `steps`;
            `LEVELS` is zero.
        steps: step size of each array.
        losses: mean cross-entropy per letter in nats, in each 25th part of the training.
        seconds: CPU time of the training.
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
        """Return table, four arrays per layer and direction, output matrix and bias (float32)."""
        result, position = [], 0
        shapes = shapes_of(self.wiring, self.width, len(self.symbols) + 1, self.read)
        for shape, step in zip(shapes, self.steps, strict=True):
            size = int(np.prod(shape))
            part = self.levels[position : position + size].reshape(shape)
            result.append(((part.astype(np.float32) - LEVELS) * step).astype(np.float32))
            position += size
        return result

    def ids(self, symbols: str) -> Int[np.ndarray, "time"]:
        """Return the ids of symbols; 0 where unknown."""
        anchor = {chr(code): k + 1 for k, code in enumerate(self.symbols.tolist())}
        return np.array([anchor.get(symbol, UNKNOWN) for symbol in symbols], int)

    def probabilities(
        self, ids: Int[np.ndarray, "time *batch"], ahead: int | None = None
    ) -> Float[np.ndarray, "time *batch tags"]:
        """Return the probability of each tag at each character.

        Args:
            ids: ids of the characters.
            ahead: see `states`.
        """
        table, *layers, head, bias = self.arrays()
        hidden = states(self.wiring, layers, table[ids], ahead)
        return softmax(hidden @ head.T + bias)


def shapes_of(wiring: str, width: int, symbols: int, read: int) -> list[tuple[int, ...]]:
    """Return the shapes of the arrays of a `TrainedTagger`.

    Args:
        wiring: one of `WIRINGS`.
        width: units per layer and direction.
        symbols: size of the vocabulary.
        read: length of a symbol's vector.
    """
    gates, both = 3 * width, width * (1 + (wiring == "bi"))
    before = {"uni": [read], "two": [read, width]}.get(wiring, [read, read])
    layers = [s for size in before for s in ((gates, size), (gates, width), (gates,), (gates,))]
    return [(symbols, read), *layers, (len(TAGS), both), (len(TAGS),)]


def rounded(arrays: list[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Return (levels, steps) of a `TrainedTagger`: 255 values for each array."""
    steps = np.array([max(float(np.abs(array).max()), 1e-12) / LEVELS for array in arrays])
    levels = [np.round(item / step + LEVELS).astype(np.uint8).ravel()
              for item, step in zip(arrays, steps, strict=True)]  # fmt: skip
    return np.concatenate(levels), steps


def states(
    wiring: str, layers: list[np.ndarray], read: Float[np.ndarray, "time *batch input"],
    ahead: int | None = None,
) -> Float[np.ndarray, "time *batch hidden"]:  # fmt: skip
    """Return the hidden states that the output layer reads: last layer's, or both directions'.

    Args:
        wiring: one of `WIRINGS` or `JOINED`.
        layers: arrays of the recurrent layers.
        read: vectors of the symbols.
        ahead: characters to the right at which the backward cell of "bi" starts, from the zero
            state, for each character; None for all.
    """
    first, second = (RecurrentWeights(*layers[k : k + 4]) if layers[k:] else None for k in (0, 4))
    forward = _hidden(first, read)
    if second is None:
        return forward
    if wiring == "two":
        return _hidden(second, forward)
    if ahead is None:
        backward = _hidden(second, read[::-1])[::-1]
        match wiring:
            case "sum":
                return np.asarray(forward + backward)
            case "product":
                return np.asarray(forward * backward)
        return np.concatenate([forward, backward], -1)
    # Step j of all windows at once: the character `ahead - j` to the right. Beyond the end of the
    # text the state stays zero.
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
    """User's text with the tags of several networks.

    Attributes:
        text: as the networks read it.
        tags: true tags; -1 for a character without a tag.
        probabilities: rows are "uni", "bi", and "bi" with a backward cell that reads a limited
            number of characters ahead.
        unknown: number of letters without an id.
    """

    task: str
    text: str
    tags: Int[np.ndarray, "time"]
    probabilities: Float[np.ndarray, "row time tag"]
    unknown: int

    @property
    def n_letters(self) -> int:
        """Number of characters with a tag."""
        return int((self.tags >= 0).sum())

    @property
    def answers(self) -> Int[np.ndarray, "row time"]:
        """Likeliest tag of each character."""
        values: np.ndarray = self.probabilities.argmax(-1)
        return values

    @property
    def wrong(self) -> Bool[np.ndarray, "row time"]:
        """True where the likeliest tag is not the true one."""
        values: np.ndarray = (self.answers != self.tags) & (self.tags >= 0)
        return values

    @property
    def needs_right(self) -> Bool[np.ndarray, "time"]:
        """True where "uni" is wrong and "bi" is correct."""
        return self.wrong[0] & ~self.wrong[1]

    @property
    def losses(self) -> Float[np.ndarray, "row time"]:
        """Loss L_t = -ln p(true tag) in nats, 0 without a tag; their sum is L."""
        likely = np.take_along_axis(self.probabilities, np.maximum(self.tags, 0)[None, :, None], -1)
        return np.where(self.tags >= 0, -np.log(np.maximum(likely[..., 0], 1e-12)), 0.0)

    def tags_of(self, row: int) -> list[str]:
        """Return the tag that a network gives each character; "" for those without a tag."""
        return ["" if tag < 0 else TAGS[answer]
                for tag, answer in zip(self.tags, self.answers[row], strict=True)]  # fmt: skip

    def errors(self) -> Facts:
        """State the wrong letters of each network, and the letters that need the right side."""
        uni, bi, cut = self.wrong.sum(1).tolist()
        return Facts("framed" if self.needs_right.any() else "framed_none", letters=self.n_letters,
                     uni=uni, bi=bi, cut=cut, framed=int(self.needs_right.sum()))  # fmt: skip

    def loss_at(self, index: int) -> Facts:
        """State the true tag's probability in two networks, and their losses."""
        at, tag = index - 1, int(self.tags[index - 1])
        facts = Facts("no_tag" if tag < 0 else "loss", place=index, sign=self.text[at])
        facts["true"] = TAGS[tag]
        for row, name in enumerate(("uni", "bi")):
            losses = self.losses[row]
            facts |= {name: float(self.probabilities[row, at, tag]), f"at_{name}": losses[at],
                      f"sum_{name}": losses.sum()}  # fmt: skip
        return facts
