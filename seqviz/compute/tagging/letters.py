"""Letters and their tags, and small recurrent networks that give a letter its tag (N to N).

Two tasks whose truth the raw text gives. *Truecasing* (Lita et al. 2003): the text is lower-cased,
was this letter a capital? *Word boundaries* (Xue 2003): is this Chinese character the beginning
(B), the middle (M) or the end (E) of a word of the dictionary, or a word by itself (S)?
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int

from seqviz.compute.recurrent import GRU, GRUTrace, State, Weights, run

TAGS = {"capitals": "aA", "words": "BMES"}  # of a task, in the order of the network's answers
WIRINGS = ("uni", "two", "bi")
UNKNOWN = 0  # the id of what is no known symbol
LEVELS = 127  # of a weight, on either side of zero
_CELL = GRU()  # PyTorch's equations


class Tagged(NamedTuple):
    """A text that a network can learn from.

    symbols: what is read, one for each sign of the text. tags: of each; -1 where a sign has none.
    kinds: of each, a place in `KINDS`; -1 where it has no tag.
    """

    symbols: str
    tags: Int[np.ndarray, "time"]
    kinds: Int[np.ndarray, "time"]


KINDS = {
    "capitals": ("first", "alone", "name", "within", "small", "rest"),
    "words": ("B", "M", "E", "S"),
}


def capitals(text: str) -> Tagged:
    """A text without its capitals, and where they were.

    Kinds: the first letter of the text; a word of one letter; another word's first letter, capital
    or small; a letter within a word, capital or small.
    """
    text = "".join(one if len(one.lower()) == len(one.upper()) == 1 else "?" for one in text)
    low = text.lower()
    is_letter = [one.lower() != one.upper() for one in text]
    tags = np.where(is_letter, [one != below for one, below in zip(text, low, strict=True)], -1)
    kinds = np.full(len(text), -1)
    for k, letter in enumerate(is_letter):
        if not letter:
            continue
        opens = k == 0 or not (is_letter[k - 1] or text[k - 1] in "'’")
        closes = k + 1 == len(text) or not is_letter[k + 1]
        if not any(is_letter[:k]):
            kinds[k] = 0
        elif opens and closes:
            kinds[k] = 1
        elif opens:
            kinds[k] = 2 if tags[k] else 4
        else:
            kinds[k] = 3 if tags[k] else 5
    return Tagged(low, tags, kinds)


def boundaries(text: str, words: Callable[[str], Iterable[str]]) -> Tagged:
    """The signs of a text, and B, M, E or S for those that are Chinese characters.

    words: gives the words of a text, which put together are the text.
    """
    tags = np.full(len(text), -1)
    place = 0
    for word in words(text):
        if "\u4e00" <= word[:1] <= "\u9fff":
            middle = [1] * (len(word) - 2)
            tags[place : place + len(word)] = [3] if len(word) == 1 else [0, *middle, 2]
        place += len(word)
    return Tagged(text, tags, tags)


def parameters(wiring: str, width: int, symbols: int, read: int, tags: int) -> int:
    """How many numbers a network has: table of symbols, GRU with two biases, head.

    width: units of a layer in a direction. read: length of a symbol's vector.
    """
    layer = [3 * width * (before + width + 2) for before in (read, width)]
    recurrent = {"uni": layer[0], "two": sum(layer), "bi": 2 * layer[0]}[wiring]
    return symbols * read + recurrent + tags * (width * (1 + (wiring == "bi")) + 1)


def width_of(wiring: str, wanted: int, symbols: int, read: int, tags: int) -> int:
    """The width with which a network comes nearest to so many parameters."""

    def away(width: int) -> int:
        return abs(parameters(wiring, width, symbols, read, tags) - wanted)

    return min(range(1, 500), key=away)


@dataclass(frozen=True)
class Tagger:
    """A trained network: symbols -> vectors -> GRU -> probabilities of the tags.

    known: the symbols (code points); symbol k has id k + 1, any other one id 0. levels: all weights
    in the order of PyTorch's `parameters()`, each a whole number of `steps` of its array. losses:
    mean cross-entropy of a letter (nats) at ten and more times of the training.
    """

    task: str
    wiring: str
    width: int
    read: int
    known: Int[np.ndarray, "symbol"]
    levels: Int[np.ndarray, "parameter"]
    steps: Float[np.ndarray, "array"]
    losses: Float[np.ndarray, "time"]
    seconds: float

    def arrays(self) -> list[np.ndarray]:
        """Table, then four arrays for a layer and direction, head and its bias (float32)."""
        found, place = [], 0
        shapes = shapes_of(self.wiring, self.width, len(self.known) + 1, self.read,
                           len(TAGS[self.task]))  # fmt: skip
        for shape, step in zip(shapes, self.steps, strict=True):
            size = int(np.prod(shape))
            part = self.levels[place : place + size].reshape(shape)
            found.append((part * step).astype(np.float32))
            place += size
        return found

    def ids(self, symbols: str) -> Int[np.ndarray, "time"]:
        """The ids that are read; 0 where a symbol is not known."""
        place = {chr(code): k + 1 for k, code in enumerate(self.known.tolist())}
        return np.array([place.get(one, UNKNOWN) for one in symbols], int)

    def probabilities(
        self, ids: Int[np.ndarray, "time *batch"], ahead: int | None = None
    ) -> Float[np.ndarray, "time *batch tags"]:
        """Of each tag at each sign. ahead: see `states`."""
        table, *layers, head, bias = self.arrays()
        hidden = states(self.wiring, layers, table[ids], ahead)
        logits = hidden @ head.T + bias
        likely = np.exp(logits - logits.max(-1, keepdims=True))
        found: np.ndarray = likely / likely.sum(-1, keepdims=True)
        return found


def shapes_of(wiring: str, width: int, symbols: int, read: int, tags: int) -> list[tuple[int, ...]]:
    """Of the arrays of a `Tagger`."""
    gates, both = 3 * width, width * (1 + (wiring == "bi"))
    before = {"uni": [read], "two": [read, width], "bi": [read, read]}[wiring]
    layers = [s for size in before for s in ((gates, size), (gates, width), (gates,), (gates,))]
    return [(symbols, read), *layers, (tags, both), (tags,)]


def rounded(arrays: list[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """(levels, steps) of a `Tagger`: 255 values for each array."""
    steps = np.array([max(float(np.abs(one).max()), 1e-12) / LEVELS for one in arrays])
    levels = [np.round(one / step).astype(int).ravel()
              for one, step in zip(arrays, steps, strict=True)]  # fmt: skip
    return np.concatenate(levels), steps


def states(
    wiring: str, layers: list[np.ndarray], read: Float[np.ndarray, "time *batch input"],
    ahead: int | None = None,
) -> Float[np.ndarray, "time *batch hidden"]:  # fmt: skip
    """The hidden states that the head reads: the last layer's, or both directions' side by side.

    ahead: how many signs to the right the backward cell of "bi" reads before it comes to each
    sign (it begins there with the zero state); all of them by default.
    """
    first, second = (Weights(*layers[k : k + 4]) if layers[k:] else None for k in (0, 4))
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


def _hidden(weights: Weights | None, read: np.ndarray) -> np.ndarray:
    assert weights is not None
    trace = run(_CELL, weights, read)
    assert isinstance(trace, GRUTrace)
    found: np.ndarray = trace.hidden[1:]
    return found


def _step(weights: Weights, read: np.ndarray, before: np.ndarray) -> np.ndarray:
    trace = run(_CELL, weights, read[None], State(before))
    assert isinstance(trace, GRUTrace)
    found: np.ndarray = trace.hidden[1]
    return found


@dataclass(frozen=True)
class TaggedText:
    """A student's text and what networks say of it.

    text: as it was typed. tags: the true ones; -1 where a sign has none. probabilities: rows are
    the `WIRINGS` and, last, "bi" with a backward cell that reads only some signs ahead. unknown:
    letters that have no id.
    """

    task: str
    text: str
    tags: Int[np.ndarray, "time"]
    probabilities: Float[np.ndarray, "row time tag"]
    unknown: int

    @property
    def letters(self) -> int:
        """Signs that have a tag."""
        return int((self.tags >= 0).sum())

    @property
    def answers(self) -> Int[np.ndarray, "row time"]:
        """The likeliest tag of each sign."""
        found: np.ndarray = self.probabilities.argmax(-1)
        return found

    @property
    def wrong(self) -> Bool[np.ndarray, "row time"]:
        """Where that is not the true one."""
        found: np.ndarray = (self.answers != self.tags) & (self.tags >= 0)
        return found

    @property
    def needs_right(self) -> Bool[np.ndarray, "time"]:
        """Where "uni" is wrong and "bi" is not."""
        return self.wrong[0] & ~self.wrong[2]

    @property
    def losses(self) -> Float[np.ndarray, "row time"]:
        """L_t = -ln p(true tag), in nats; 0 where a sign has no tag. Their sum is L."""
        likely = np.take_along_axis(self.probabilities, np.maximum(self.tags, 0)[None, :, None], -1)
        return np.where(self.tags >= 0, -np.log(np.maximum(likely[..., 0], 1e-12)), 0.0)

    def shown(self, row: int) -> list[str]:
        """The text as a network tags it: with its capitals, or B, M, E, S; other signs as typed."""
        return [
            sign if tag < 0 else TAGS[self.task][answer] if self.task == "words"
            else sign.upper() if answer else sign.lower()
            for sign, tag, answer in zip(self.text, self.tags, self.answers[row], strict=True)
        ]  # fmt: skip
