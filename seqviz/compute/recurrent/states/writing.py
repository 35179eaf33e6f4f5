"""Character model under teacher forcing, and in free-running mode on its own predictions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

import numpy as np
from jaxtyping import Bool, Float, Int

from seqviz.compute.gates.encoding import END
from seqviz.compute.gates.networks import Gated, GatedNetwork, inputs, log_probabilities, trace
from seqviz.compute.language_models.ngrams import NgramCounts, NgramModel
from seqviz.compute.letters import plain_marks
from seqviz.compute.recurrent import State, run
from seqviz.core.errors import UserError
from seqviz.stats.estimate import Estimate, mean_ci
from seqviz.stats.facts import Facts

MAX_LETTERS = 300  # letters read; the rest of a text is ignored


@dataclass(frozen=True)
class LetterFrequencies:
    """Unigram and bigram model: log2 probabilities of a letter, alone and after another.

    A bigram without count has the probability of the letter alone (Witten and Bell, 1991).
    """

    alone: Float[np.ndarray, "symbols"]
    after: Float[np.ndarray, "before symbols"]


@dataclass(frozen=True)
class LettersRead:
    """Text read letter by letter under teacher forcing; bits are -log2 p of the actual letter.

    Attributes:
        log2: row t holds the log2 probabilities before letter t, t = 0, 1, ...
        alone: bits of each letter by unigrams.
        pairs: bits by bigrams.
        fives: bits by n-grams of up to five letters (`NgramModel`).
        left_out: letters beyond the limit.
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
        """Number of letters read."""
        return len(self.ids)

    @property
    def bits(self) -> Float[np.ndarray, "time"]:
        """Loss of each letter in bits."""
        return -self.log2[np.arange(len(self.ids)), self.ids]

    @property
    def mean_bits(self) -> float:
        """Mean loss per letter in bits."""
        return float(self.bits.mean())

    @property
    def mean_alone(self) -> float:
        """Mean bits per letter by unigrams."""
        return float(self.alone.mean())

    @property
    def mean_pairs(self) -> float:
        """Mean bits per letter by bigrams."""
        return float(self.pairs.mean())

    @property
    def mean_fives(self) -> float:
        """Mean bits per letter by n-grams of up to five letters."""
        return float(self.fives.mean())

    @property
    def beats_counting(self) -> bool:
        """True where the network has a lower loss than each n-gram model."""
        return self.mean_bits < min(self.mean_alone, self.mean_pairs, self.mean_fives)

    @property
    def total(self) -> float:
        """Log2 of the probability of the text: the sum over its letters (chain rule)."""
        return -float(self.bits.sum())

    @property
    def perplexity(self) -> float:
        """Perplexity, 2 to the mean loss: the number of letters of a uniform guess."""
        return float(2**self.mean_bits)

    @property
    def begins(self) -> Bool[np.ndarray, "time"]:
        """True where a letter is the first of a word: at the beginning, or behind a non-letter."""
        return self._letters & ~np.append(False, self._letters[:-1])

    @property
    def follows_letter(self) -> Bool[np.ndarray, "time"]:
        """True where a letter follows another one in a word."""
        return self._letters & ~self.begins

    @property
    def _letters(self) -> Bool[np.ndarray, "time"]:
        return np.array([plain_mark.isalpha() for plain_mark in plain_marks(self.pieces)], bool)

    @property
    def unknown(self) -> int:
        """Number of letters without a symbol in the vocabulary."""
        return int((self.ids == 0).sum())

    def first(self, index: int, count: int) -> Int[np.ndarray, "rank"]:
        """Return the most likely symbols before a letter, likeliest first.

        Args:
            index: the letter, from 1.
            count: number of symbols.
        """
        return np.argsort(-self.log2[index - 1], kind="stable")[:count]

    def rank(self, index: int) -> int:
        """Return the rank, from 1, of the letter at `index` (from 1) among the predictions."""
        row = self.log2[index - 1]
        return int((row > row[self.ids[index - 1]]).sum()) + 1

    def guess(self, index: int) -> Facts:
        """State the loss of the letter at `index` (from 1), and the largest probability."""
        row = self.log2[index - 1]
        return Facts(
            place=index, chance=float(2 ** row.max()), its=float(2 ** row[self.ids[index - 1]]),
            rank=self.rank(index), bits=float(self.bits[index - 1]),
        )  # fmt: skip


@dataclass(frozen=True)
class GeneratedText:
    """Text up to a position, and the network's free-running continuation.

    Attributes:
        before: letters of the text before the position.
        generated: generated letters, up to the end of a sentence or the maximum.
        true: letters of the text there.
        forced: bits of each of them under teacher forcing.
        free: bits of each after the generated letters.
    """

    before: tuple[str, ...]
    generated: tuple[str, ...]
    true: tuple[str, ...]
    forced: Float[np.ndarray, "step"]
    free: Float[np.ndarray, "step"]

    @property
    def parted(self) -> int:
        """Number of letters before the first difference."""
        pairs = zip(self.generated, self.true, strict=False)
        return next((k for k, (a, b) in enumerate(pairs) if a != b),
                    min(len(self.generated), len(self.true)))  # fmt: skip

    @property
    def mean_forced(self) -> float:
        """Mean bits per letter of the text under teacher forcing; nan without letters."""
        return float(self.forced.mean()) if len(self.forced) else float("nan")

    @property
    def mean_free(self) -> float:
        """Mean bits per letter of the text in free-running mode; nan without letters."""
        return float(self.free.mean()) if len(self.free) else float("nan")


@dataclass(frozen=True)
class ByStep:
    """Loss by step s = 1, 2, ... after the first `before` letters of many sentences.

    `bits`, `judged` and `trend` hold the mean and half of its 95% interval over sentences.

    Attributes:
        bits: bits of the sentence's letter at s under teacher forcing, after the letters of another
            sentence, and after the network's own at each temperature.
        judged: bits of the sentence, then of the generated text at each temperature, by a second
            network that reads them.
        right: share of generated letters equal to the sentence's, by temperature.
        trend: change of `judged` from the first ten steps to the last ten.
        alone: mean bits by unigrams.
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
        """Return the row of `judged` for a temperature; that of `bits` is one further on."""
        return 1 + self.temperatures.index(temperature)

    def means(self, temperature: float) -> Facts:
        """State the mean bits over all steps."""
        case = self.case(temperature)
        bits, judged = (part[0].mean(-1).tolist() for part in (self.bits, self.judged))
        return Facts(forced=bits[0], free=bits[case + 1], other=bits[1],
                     judged=judged[case], truth=judged[0])  # fmt: skip

    def at_step(self, step: int, temperature: float) -> Facts:
        """State the bits of the sentence's letter by the text read before it.

        Args:
            step: the step, from 1.
            temperature: one of `temperatures`.
        """
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
        """State the change in bits of the generated text, from the first ten steps to the last."""
        change = self._estimate(self.trend[:, self.case(temperature)])
        means = self.means(temperature)
        return Facts(change.verdict, own=means["judged"], truth=means["truth"], change=change,
                     size=abs(change.mean))  # fmt: skip

    def _estimate(self, values: Float[np.ndarray, "2"]) -> Estimate:
        """Return the mean with its interval, from the stored half."""
        mean, half = values.tolist()
        return Estimate(mean, mean - half, mean + half, self.sentences, "sentences")


def frequencies(counts: NgramCounts) -> LetterFrequencies:
    """Estimate unigrams and bigrams, with one added to each unigram count.

    Args:
        counts: counts of the training text, of order 2 or more.
    """
    symbols = counts.symbols
    alone = np.ones(symbols)
    alone[counts.keys[0]] += counts.counts[0]
    alone /= alone.sum()
    pairs = np.zeros((symbols, symbols))
    before, after = np.divmod(counts.keys[1], symbols)
    pairs[counts.keys[0][before], after] = counts.counts[1]
    kinds = np.maximum((pairs > 0).sum(1, keepdims=True), 1)
    mixed = (pairs + kinds * alone) / (pairs.sum(1, keepdims=True) + kinds)
    return LetterFrequencies(np.log2(alone), np.log2(mixed))


def read(
    network: GatedNetwork, counts: LetterFrequencies, grams: NgramModel, text: str
) -> LettersRead:
    """Predict each letter from the text before it (teacher forcing).

    Args:
        network: the network.
        counts: unigrams and bigrams.
        grams: n-grams.
        text: the text.

    Raises:
        UserError: "no_text" for an empty text.
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
    """Read a text up to a letter and generate from there in free-running mode.

    Args:
        network: the network.
        text: the text.
        index: number of letters read.
        room: largest number of letters generated, and of the text compared.
        temperature: see `run_free`.
        uniforms: `room` numbers in [0, 1), see `run_free`.
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
    """Generate letters after `ids` in free-running mode; <unk> is never generated.

    Args:
        network: the network.
        ids: letters read first.
        steps: number of letters generated.
        temperature: divisor of the scores; 0 for greedy decoding.
        uniforms: number in [0, 1) for each step and row, see `draw_rows`.

    Returns:
        The letters, and the log2 probabilities at each step.
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
    """Sample from every row with its own uniform number, as `seqviz.compute.gpt.draw.draw`.

    Args:
        scores: scores of each row.
        uniforms: numbers in [0, 1).
    """
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
    """Return the bits of the letters from `before` on.

    Args:
        network: the network.
        ids: letters predicted.
        before: number of letters left out.
        read_ids: letters that the network reads in place of `ids`.
    """
    states = trace(network, (ids if read_ids is None else read_ids)[:-1])
    log_p = log_probabilities(network, states.hidden[before:])
    return -np.take_along_axis(log_p, ids[before:, :, None], -1)[..., 0] / np.log(2)


def summarized(bits: Float[np.ndarray, "case step batch"]) -> Float[np.ndarray, "2 case step"]:
    """Return the mean over the batch and half of its 95% interval, rounded to thousandths."""
    estimate = mean_ci(bits, axis=-1, source="sentences")
    return np.round([estimate.mean, estimate.high - estimate.mean], 3).astype(np.float32)


def trends(bits: Float[np.ndarray, "case step batch"]) -> Float[np.ndarray, "2 case"]:
    """Return the mean of the last ten steps minus that of the first ten, as `summarized`."""
    change = bits[:, -10:].mean(1) - bits[:, :10].mean(1)
    return summarized(change[:, None])[..., 0]


def _parts(states: Gated) -> list[np.ndarray]:
    return [states.hidden, *([states.cell_state] if hasattr(states, "cell_state") else [])]
