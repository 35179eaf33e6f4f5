"""A character model reads a text, or its own guesses in place of the text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

import numpy as np
from jaxtyping import Bool, Float, Int

from seqviz.compute.gates.encoding import END
from seqviz.compute.gates.networks import Gated, GatedNetwork, inputs, log_probabilities, trace
from seqviz.compute.letters import plain_marks
from seqviz.compute.recurrent import State, run
from seqviz.compute.recurrent.states.ngrams import Grams
from seqviz.core.errors import UserError
from seqviz.stats.estimate import Estimate, mean_ci
from seqviz.stats.facts import Facts

MAX_LETTERS = 300  # letters that are read


@dataclass(frozen=True)
class LetterFrequencies:
    """What no state is needed for: log2 probabilities of a letter, and of a letter after another.

    A pair that training has not seen has what the letter alone has (Witten and Bell, 1991).
    """

    alone: Float[np.ndarray, "symbols"]
    after: Float[np.ndarray, "before symbols"]


@dataclass(frozen=True)
class LettersRead:
    """A text read letter by letter: row t of `log2` are the chances before letter t, t = 0, 1, ...

    pieces: the letters. alone, pairs, fives: bits of each by its frequency, by that after the
    letter before it, and by the rows of up to five that it ends (`Grams`). Bits: -log2 of the
    chance that the letter which comes had.
    """

    pieces: tuple[str, ...]
    symbols: tuple[str, ...]
    ids: Int[np.ndarray, "time"]
    log2: Float[np.ndarray, "time symbols"]
    alone: Float[np.ndarray, "time"]
    pairs: Float[np.ndarray, "time"]
    fives: Float[np.ndarray, "time"]
    left_out: int

    @property
    def n_letters(self) -> int:
        """How many are read."""
        return len(self.ids)

    @property
    def bits(self) -> Float[np.ndarray, "time"]:
        """The loss of each letter."""
        return -self.log2[np.arange(len(self.ids)), self.ids]

    @property
    def mean_bits(self) -> float:
        """The loss a letter."""
        return float(self.bits.mean())

    @property
    def mean_alone(self) -> float:
        """The same by frequencies of letters."""
        return float(self.alone.mean())

    @property
    def mean_pairs(self) -> float:
        """The same by frequencies of pairs of letters."""
        return float(self.pairs.mean())

    @property
    def mean_fives(self) -> float:
        """The same by counts of up to five letters in a row."""
        return float(self.fives.mean())

    @property
    def beats_counting(self) -> bool:
        """Whether the network pays less than each of these."""
        return self.mean_bits < min(self.mean_alone, self.mean_pairs, self.mean_fives)

    @property
    def total(self) -> float:
        """log2 of the probability of the whole text: the sum over its letters (chain rule)."""
        return -float(self.bits.sum())

    @property
    def perplexity(self) -> float:
        """2 to the mean loss: among so many equally likely letters it is one."""
        return float(2**self.mean_bits)

    @property
    def begins(self) -> Bool[np.ndarray, "time"]:
        """Which letters are the first of a word: at the beginning, or behind no letter."""
        return self._letters & ~np.append(False, self._letters[:-1])

    @property
    def follows_letter(self) -> Bool[np.ndarray, "time"]:
        """Which letters follow another one in a word."""
        return self._letters & ~self.begins

    @property
    def _letters(self) -> Bool[np.ndarray, "time"]:
        return np.array([plain_mark.isalpha() for plain_mark in plain_marks(self.pieces)], bool)

    @property
    def unknown(self) -> int:
        """Letters that the network has no symbol for."""
        return int((self.ids == 0).sum())

    def first(self, index: int, count: int) -> Int[np.ndarray, "rank"]:
        """The most likely symbols before letter `index` (from 1), the likeliest first."""
        return np.argsort(-self.log2[index - 1], kind="stable")[:count]

    def rank(self, index: int) -> int:
        """Which guess (from 1) the letter at `index` is."""
        row = self.log2[index - 1]
        return int((row > row[self.ids[index - 1]]).sum()) + 1

    def guess(self, index: int) -> Facts:
        """State what the letter at `index` costs, and what the likeliest one had."""
        row = self.log2[index - 1]
        return Facts(
            place=index, chance=float(2 ** row.max()), its=float(2 ** row[self.ids[index - 1]]),
            rank=self.rank(index), bits=float(self.bits[index - 1]),
        )  # fmt: skip


@dataclass(frozen=True)
class GeneratedText:
    """A text from a place on, and what a network wrote there that reads its own letters.

    generated: its letters, up to the end of a sentence or as many as there is room for. true,
    forced, free: the text's letters there; the bits of each after the text's own letters (teacher
    forcing) and after the network's.
    """

    before: tuple[str, ...]
    generated: tuple[str, ...]
    true: tuple[str, ...]
    forced: Float[np.ndarray, "step"]
    free: Float[np.ndarray, "step"]

    @property
    def parted(self) -> int:
        """How many letters agree before the first that does not."""
        pairs = zip(self.generated, self.true, strict=False)
        return next((k for k, (a, b) in enumerate(pairs) if a != b),
                    min(len(self.generated), len(self.true)))  # fmt: skip

    @property
    def mean_forced(self) -> float:
        """Bits a letter of the text under teacher forcing; nan where none is left."""
        return float(self.forced.mean()) if len(self.forced) else float("nan")

    @property
    def mean_free(self) -> float:
        """The same where the network reads its own letters."""
        return float(self.free.mean()) if len(self.free) else float("nan")


@dataclass(frozen=True)
class ByStep:
    """Many sentences, `before` letters of each read; then step by step, s = 1, 2, ...

    bits: of the sentence's letter at s, after the sentence's own letters ("forced"), after those of
    another sentence ("other"), and after the network's own at each temperature. judged: bits of
    what was written, by a second network that has read it: the sentence first, then the network's
    at each temperature. Both as mean and half of its 95% interval over sentences.
    right: share of own letters that are the sentence's, at each temperature.
    """

    before: int
    sentences: int
    temperatures: tuple[float, ...]
    bits: Float[np.ndarray, "2 reading step"]
    judged: Float[np.ndarray, "2 case step"]
    right: Float[np.ndarray, "temperature step"]
    trend: Float[np.ndarray, "2 case"]
    alone: float

    def case(self, temperature: float) -> int:
        """Row of `judged` (and, one further, of `bits`) with what was written so."""
        return 1 + self.temperatures.index(temperature)

    def means(self, temperature: float) -> Facts:
        """State mean bits over all steps."""
        case = self.case(temperature)
        bits, judged = (part[0].mean(-1).tolist() for part in (self.bits, self.judged))
        return Facts(forced=bits[0], free=bits[case + 1], other=bits[1],
                     judged=judged[case], truth=judged[0])  # fmt: skip

    def at_step(self, step: int, temperature: float) -> Facts:
        """State what the sentence's letter costs at a step (from 1), by what was read before it."""
        case = self.case(temperature)
        forced, other, free = (self._estimate(self.bits[:, row, step - 1])
                               for row in (0, 1, case + 1))  # fmt: skip
        gap = free.mean - other.mean
        apart = abs(gap) > other.margin + free.margin
        return Facts(
            ("more" if gap > 0 else "less") if apart else "null", step=step, forced=forced,
            free=free, other=other, gap=abs(gap), right=float(self.right[case - 1, step - 1]),
        )  # fmt: skip

    def growth(self, temperature: float) -> Facts:
        """State how the bits of what was written change, from the first ten steps to the last."""
        change = self._estimate(self.trend[:, self.case(temperature)])
        means = self.means(temperature)
        return Facts(change.verdict, own=means["judged"], truth=means["truth"], change=change,
                     size=abs(change.mean))  # fmt: skip

    def _estimate(self, values: Float[np.ndarray, "2"]) -> Estimate:
        """Return the mean with its interval, of which half was kept."""
        mean, half = values.tolist()
        return Estimate(mean, mean - half, mean + half, self.sentences, "sentences")


def frequencies(ids: Int[np.ndarray, "time"], symbols: int) -> LetterFrequencies:
    """Counts of a training text; every symbol has been seen once more than it was."""
    alone = np.bincount(ids, minlength=symbols) + 1.0
    alone /= alone.sum()
    pairs = np.bincount(ids[:-1] * symbols + ids[1:], minlength=symbols**2)
    pairs = pairs.reshape(symbols, symbols).astype(float)
    kinds = np.maximum((pairs > 0).sum(1, keepdims=True), 1)
    after = (pairs + kinds * alone) / (pairs.sum(1, keepdims=True) + kinds)
    return LetterFrequencies(np.log2(alone), np.log2(after))


def read(network: GatedNetwork, counts: LetterFrequencies, grams: Grams, text: str) -> LettersRead:
    """Teacher forcing: each letter is predicted from the text before it.

    Raises UserError("no_text") when there is nothing to read.
    """
    encoded = network.encode(text)
    if not len(encoded):
        raise UserError("no_text", "There is nothing to read. Type a text.")
    ids = encoded.ids[:MAX_LETTERS]
    states = trace(network, ids[:-1])
    log2 = log_probabilities(network, states.hidden) / np.log(2)
    end = np.array([network.symbols.index(END)])
    before = np.append(end, ids[:-1])
    return LettersRead(
        encoded.pieces[:MAX_LETTERS], network.symbols, ids, log2, -counts.alone[ids],
        -counts.after[before, ids], grams.bits(ids, end), len(encoded) - len(ids),
    )  # fmt: skip


def write(
    network: GatedNetwork, text: LettersRead, index: int, room: int, temperature: float,
    uniforms: tuple[float, ...],
) -> GeneratedText:  # fmt: skip
    """The network reads the text up to letter `index`, and from there on what it guesses.

    room: letters that it writes at most, and of the text that are compared. uniforms: as many
    numbers in [0, 1); see `run_free`.
    """
    ids = text.ids[:index, None]
    own, log2 = run_free(network, ids, room, temperature, np.array(uniforms)[:, None])
    letters = [network.symbols[k] for k in own[:, 0]]
    if END in letters:
        letters = letters[: letters.index(END) + 1]
    targets = text.ids[index : index + room]
    at = np.arange(len(targets))
    return GeneratedText(
        text.pieces[:index], tuple(letters), text.pieces[index : index + room],
        text.bits[index : index + room], -log2[at, 0, targets],
    )  # fmt: skip


def run_free(
    network: GatedNetwork,
    ids: Int[np.ndarray, "time batch"],
    steps: int,
    temperature: float,
    uniforms: Float[np.ndarray, "step batch"],
) -> tuple[Int[np.ndarray, "step batch"], Float[np.ndarray, "step batch symbols"]]:
    """After `ids` the network reads its own letters: these, and log2 of the chances at each step.

    temperature: 0 takes the likeliest letter; else the scores are divided by it, and a letter is
    drawn with the uniform number of its step and row (see `draw_rows`). <unk> is never written.
    """
    state = State(*(part[-1] for part in _parts(trace(network, ids))))
    own = np.empty((steps, ids.shape[1]), np.int64)
    log2 = np.empty((steps, ids.shape[1], len(network.symbols)), np.float32)
    for step in range(steps):
        log_p = log_probabilities(network, state.hidden)
        log2[step] = log_p / np.log(2)
        log_p[:, 0] = -np.inf
        if temperature:
            own[step] = draw_rows(log_p / temperature, uniforms[step])
        else:
            own[step] = log_p.argmax(-1)
        states = run(network.equations, network.weights, inputs(network, own[step, None]), state)
        state = State(*(part[-1] for part in _parts(cast(Gated, states))))
    return own, log2


def draw_rows(
    scores: Float[np.ndarray, "batch symbols"], uniforms: Float[np.ndarray, "batch"]
) -> Int[np.ndarray, "batch"]:
    """`seqviz.compute.gpt.draw.draw` of every row with its own number."""
    ranked = np.argsort(-scores, -1, kind="stable")
    probabilities = np.exp(np.take_along_axis(scores, ranked, -1) - scores.max(-1, keepdims=True))
    reached = np.cumsum(probabilities, -1) / probabilities.sum(-1, keepdims=True)
    last = np.isfinite(scores).sum(-1) - 1
    position = np.minimum((reached <= uniforms[:, None]).sum(-1), last)
    return np.asarray(np.take_along_axis(ranked, position[:, None], -1)[:, 0])


def bits_of(
    network: GatedNetwork,
    ids: Int[np.ndarray, "time batch"],
    before: int,
    read_ids: Int[np.ndarray, "time batch"] | None = None,
) -> Float[np.ndarray, "step batch"]:
    """Bits of the letters from `before` on, after they were read, or others in their place."""
    states = trace(network, (ids if read_ids is None else read_ids)[:-1])
    log_p = log_probabilities(network, states.hidden[before:])
    return -np.take_along_axis(log_p, ids[before:, :, None], -1)[..., 0] / np.log(2)


def summarized(bits: Float[np.ndarray, "case step batch"]) -> Float[np.ndarray, "2 case step"]:
    """Mean over the batch and half of its 95% interval, rounded to thousandths."""
    estimate = mean_ci(bits, axis=-1, source="sentences")
    return np.round([estimate.mean, estimate.high - estimate.mean], 3).astype(np.float32)


def trends(bits: Float[np.ndarray, "case step batch"]) -> Float[np.ndarray, "2 case"]:
    """The mean of the last ten steps minus that of the first ten, per sentence: as `summarized`."""
    change = bits[:, -10:].mean(1) - bits[:, :10].mean(1)
    return summarized(change[:, None])[..., 0]


def _parts(states: Gated) -> list[np.ndarray]:
    return [states.hidden, *([states.cell_state] if hasattr(states, "cell_state") else [])]
