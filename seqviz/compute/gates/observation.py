"""Observation of a network on a text: gates, states, steps, variants and expectations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
from jaxtyping import Bool, Float, Int

from seqviz.compute.gates import activations, conventions
from seqviz.compute.gates.encoding import Encoded, normalized
from seqviz.compute.gates.forcing import Clamp, forced
from seqviz.compute.gates.networks import (
    Gated,
    GatedNetwork,
    first_read,
    inputs,
    log_probabilities,
    trace,
    word_probabilities,
)
from seqviz.compute.gates.tasks import ANSWERS, right_answers
from seqviz.compute.letters import plain_marks
from seqviz.compute.recurrent import LSTM, LSTMTrace
from seqviz.core.errors import UserError
from seqviz.core.units import Share, WholeShare
from seqviz.stats.facts import Facts

MAX_SYMBOLS = 400  # symbols; a longer text is cut
_DIGITS = 5e-3  # a share that rounding moves by less has two digits
_ROUNDING = 1e-10  # shares of a state's length below it are attributed to rounding
_MOST_READ = 20_000  # characters that are encoded before the cut, so that long texts cost nothing


@dataclass(frozen=True)
class Observation:
    """A network on a text, step by step.

    Attributes:
        kind: training task, one of `NETWORK_KINDS`.
        pieces: the symbols as substrings of the text.
        unknown: True for symbols that the network does not know.
        left_out: characters of the normalized text that were not read.
        symbol: symbol of the gate or state in `values`.
        values: values of that gate or state.
        order: units from first to last, from 0.
        retention: share of the old state kept at each step.
        probability: probability of the answer in question after each step (see `observe`), or nan.
        answer: the network's answer after each step, as a row of its read-out.
    """

    network: str
    cell: str
    kind: str
    pieces: tuple[str, ...]
    unknown: Bool[np.ndarray, "time"]
    left_out: int
    trace: Gated
    symbol: str
    values: Float[np.ndarray, "time hidden"]
    order: Int[np.ndarray, "hidden"]
    retention: Float[np.ndarray, "time hidden"]
    probability: Float[np.ndarray, "time"]
    answer: Int[np.ndarray, "time"]

    @property
    def hidden(self) -> int:
        """Number of units."""
        return self.values.shape[1]

    @property
    def gates(self) -> tuple[str, ...]:
        """Symbols of the cell's gates, whose values are in [0, 1]."""
        return activations.LSTM_GATES if self.cell == "lstm" else activations.GRU_GATES

    @cached_property
    def time_constants(self) -> Float[np.ndarray, "hidden"]:
        """Time constant of each unit, in steps."""
        return activations.time_constants(self.retention)

    @cached_property
    def by_rank(self) -> Float[np.ndarray, "hidden time"]:
        """All values, units in `order`, in single precision; read-only."""
        result = np.ascontiguousarray(self.values.T[self.order], np.float32)
        result.setflags(write=False)
        return result

    @cached_property
    def mean(self) -> float:
        """Mean of all values."""
        return float(self.values.mean())

    @cached_property
    def most_of_reach(self) -> float:
        """98th percentile of the absolute values."""
        return float(np.percentile(np.abs(self.by_rank), 98))

    @cached_property
    def _within_and_behind(self) -> tuple[Bool[np.ndarray, "moves"], Bool[np.ndarray, "moves"]]:
        """Masks of the steps within words, and from a word to white space."""
        letter = np.array([piece.isalnum() for piece in plain_marks(self.pieces)], bool)
        space = np.array([piece.isspace() for piece in self.pieces], bool)
        return letter[:-1] & letter[1:], letter[:-1] & space[1:]

    @property
    def length_at_end(self) -> float:
        """Euclidean length of the vector of all units after the last step."""
        return float(np.linalg.norm(self.values[-1]))

    def unit_at(self, rank: int) -> int:
        """Return the unit, from 1, at a rank from 1; beyond the last rank the last unit."""
        return int(self.order[min(rank, self.hidden) - 1]) + 1

    def value_at(self, unit: int, step: int, update: Literal["keep", "write"] = "keep") -> float:
        """Return the value of one unit at one step.

        Args:
            unit: number of the unit, from 1.
            step: number of the step, from 1.
            update: convention of z; "write" returns 1 - z.
        """
        value = float(self.values[step - 1, unit - 1])
        return 1 - value if self.symbol == "z" and update == "write" else value

    def time_constant(self, unit: int) -> float:
        """Return the time constant of a unit, from 1, in steps."""
        return float(self.time_constants[unit - 1])

    def retained(self, unit: int) -> Share:
        """Return the share of a unit's state after step 1 that is left at the end.

        A product of f or z of the unit, from 1; what was written since is not counted.
        """
        return float(np.prod(self.retention[1:, unit - 1].astype(float)))

    def kept_between(self, unit: int) -> tuple[float, float]:
        """Return the least and the largest share of its state that a unit, from 1, keeps."""
        return float(self.retention[:, unit - 1].min()), float(self.retention[:, unit - 1].max())

    def length_at(self, step: int) -> float:
        """Return the Euclidean length of the vector of all units after a step, from 1."""
        return float(np.linalg.norm(self.values[step - 1]))

    def lengths(self, free: Observation, start: int, end: int) -> Facts:
        """State the vector's length at both ends of a text, beside that of a run without clamps.

        Args:
            free: the run without clamps.
            start: first step, from 1, at which gates are held.
            end: last step at which they are held.
        """
        steps = len(self.pieces)
        return Facts(
            "all" if (start, end) == (1, steps) else "part", symbol=self.symbol, steps=steps,
            start=start, end=end, first=self.length_at(1), last=self.length_at_end,
            free_first=free.length_at(1), free_last=free.length_at_end,
        )  # fmt: skip

    @property
    def growth(self) -> float:
        """Exponent of the growth of `length_at` with the number of steps: the log-log slope.

        By least squares over all steps; 1/2 for a random walk, 1 where each step adds as much. 0
        where there is only one step, or a state of exactly zero.
        """
        lengths = np.linalg.norm(self.values.astype(float), axis=1)
        if len(lengths) < 2 or not lengths.all():
            return 0.0
        return float(np.polyfit(np.log(np.arange(1, len(lengths) + 1)), np.log(lengths), 1)[0])

    def moves(self, unit: int, rises: bool = True) -> tuple[float, float] | None:
        """Return how often a unit rises at letters and falls at white space.

        Args:
            unit: number of the unit, from 1.
            rises: False for the opposite direction: falls at letters, rises at white space.

        Returns:
            The share of the steps from one character of a word to the next at which its value
            rises, and of the steps from a word to white space at which it falls; None where the
            text has no such step.
        """
        change = np.diff(self.values[:, unit - 1]) * (1 if rises else -1)
        within, after = self._within_and_behind
        if not within.any() or not after.any():
            return None
        return float((change[within] > 0).mean()), float((change[after] < 0).mean())

    def direction(self, unit: int) -> Facts:
        """State the direction of a unit, from 1, in words and behind them; "none" without words."""
        values = self.values[:, unit - 1]
        up, down = (self.moves(unit, rises) if self.kind == "characters" else None
                    for rises in (True, False))  # fmt: skip
        span = {"symbol": self.symbol, "unit": unit, "low": float(values.min()),
                "high": float(values.max())}  # fmt: skip
        if up is None or down is None:
            return Facts("none", **span)
        (letters, spaces), variant = (up, "up") if sum(up) >= sum(down) else (down, "down")
        return Facts(variant, letters=letters, spaces=spaces, **span)

    def lasting(self, steps: float) -> int:
        """Return the number of units with a time constant above a number of steps."""
        return int((self.time_constants > steps).sum())

    def correlation(self, unit: int, feature: str) -> float:
        """Return Pearson's r of one unit with a feature of the pieces.

        Args:
            unit: number of the unit, from 1.
            feature: one of `activations.FEATURES`.
        """
        given = activations.feature(feature, self.pieces)
        return float(activations.correlation(self.values[:, [unit - 1]], given)[0])

    def bits_per_character(self) -> float:
        """Return the mean of -log2 of the probability of each next character."""
        return float(-np.log2(np.maximum(self.probability, 1e-300)).mean())

    def answer_at_end(self) -> str:
        """Return the answer of a tiny network after the last symbol."""
        return ANSWERS[self.kind][int(self.answer[-1])]

    def largest_change(self, other: Observation) -> float:
        """Return the largest difference to another run on one text, over units and steps."""
        return float(np.abs(self.values - other.values).max())


def observe(
    network: GatedNetwork,
    text: str,
    symbol: str = "h",
    by: str = "unit",
    feature: str = "position",
    clamps: Sequence[Clamp] = (),
) -> Observation:
    """Run a network over a text of at most `MAX_SYMBOLS` symbols and keep all gates and states.

    The probability is that the sentence so far is positive (sentiment), that of each character
    before it is read (characters), or that of the task's right answer (tiny networks).

    Args:
        network: the network.
        text: the text.
        symbol: gate or state in `values`.
        by: criterion of the order of units, as in `activations.order`.
        feature: feature for the order by correlation.
        clamps: gates to hold.

    Raises:
        UserError: "no_text", the text is empty.
    """
    encoded, left_out = _cut(network, text)
    clamped = forced(network.equations, len(encoded), network.weights.hidden, clamps)
    result = trace(network, encoded.ids, clamped if clamps else None)
    values = activations.activation(result, symbol)
    retention = activations.retention(result)
    order = activations.order(by, values, retention, activations.feature(feature, encoded.pieces))
    log_p = log_probabilities(network, result.hidden)
    return Observation(
        network.name,
        network.cell,
        network.kind,
        encoded.pieces,
        _unknown(network, encoded),
        left_out,
        result,
        symbol,
        values,
        order,
        retention,
        _probability(network, encoded.ids, np.exp(log_p)),
        log_p[1:].argmax(axis=-1),
    )


def symbols_read(network: GatedNetwork, text: str) -> int:
    """Return the number of symbols of a text that `observe` reads.

    Args:
        network: the network.
        text: the text.
    """
    try:
        return len(_cut(network, text)[0])
    except UserError:
        return 0


def _cut(network: GatedNetwork, text: str) -> tuple[Encoded, int]:
    """Return the first symbols of a text, and the number of normalized characters left out."""
    full = normalized(text)
    encoded = network.encode(full[:_MOST_READ])
    if not len(encoded):
        raise UserError("no_text", "There is nothing to read. Type a text.")
    ids, pieces, spans = (
        encoded.ids[:MAX_SYMBOLS],
        encoded.pieces[:MAX_SYMBOLS],
        encoded.spans[:MAX_SYMBOLS],
    )
    end = int(spans[-1, 1])
    return Encoded(full[:end], ids, pieces, spans), len(full) - end


def _unknown(network: GatedNetwork, encoded: Encoded) -> Bool[np.ndarray, "time"]:
    """Return True for symbols with the number of <unk>, or -1 where there is no such symbol."""
    return (encoded.ids < 0) | (
        np.array([network.symbols[i].startswith("<unk") if i >= 0 else False for i in encoded.ids])
    )


def _probability(
    network: GatedNetwork, ids: Int[np.ndarray, "time"], p: Float[np.ndarray, "time_1 answers"]
) -> Float[np.ndarray, "time"]:
    step = np.arange(len(ids))
    if network.kind == "sentiment":
        return p[1:, 1]
    if network.kind == "characters":
        return p[step, ids]
    right = right_answers(network.kind, ids)
    return np.where(right.scored[:, 0], p[step + 1, right.answers[:, 0]], np.nan)


@dataclass(frozen=True)
class LSTMStep:
    """Numbers of one unit of an LSTM at one step: gates i, f, o, candidate g, states."""

    c_before: float
    i: float
    f: float
    g: float
    o: float
    c: float
    h: float
    tanh_c: float

    @property
    def quantities(self) -> dict[str, float]:
        """All numbers that flow through the cell, products included, in the order of the flow."""
        return {
            "c(t−1)": self.c_before, "f": self.f, "f c(t−1)": self.f * self.c_before, "i": self.i,
            "g": self.g, "i g": self.i * self.g, "c(t)": self.c, "tanh c(t)": self.tanh_c,
            "o": self.o, "h(t)": self.h,
        }  # fmt: skip


@dataclass(frozen=True)
class GRUStep:
    """Numbers of one unit of a GRU at one step.

    Attributes:
        z: update gate, in the convention of `update`.
        past: contribution of the whole old state to the candidate before r multiplies it,
            (U h_before + b').
        update: what z is the share of: "keep", h = z h_before + (1 - z) n (PyTorch; Cho et al.
            2014), or "write", h = (1 - z) h_before + z n (Chung et al. 2014).
    """

    h_before: float
    r: float
    z: float
    n: float
    h: float
    past: float
    update: Literal["keep", "write"] = "keep"

    @property
    def retention(self) -> float:
        """Share of the old state that is kept."""
        return self.z if self.update == "keep" else 1 - self.z

    @property
    def quantities(self) -> dict[str, float]:
        """All numbers that flow through the cell, products included, in the order of the flow."""
        old, new = ("z", "(1 − z)") if self.update == "keep" else ("(1 − z)", "z")
        return {
            "h(t−1)": self.h_before, "z": self.z, f"{old} h(t−1)": self.retention * self.h_before,
            "W_h h + b′": self.past, "r": self.r, "r (W_h h + b′)": self.r * self.past,
            "n": self.n, f"{new} n": (1 - self.retention) * self.n, "h(t)": self.h,
        }  # fmt: skip


N_QUANTITIES = {"lstm": 10, "gru": 9}


def one_step(
    observation: Observation, unit: int, step: int, update: Literal["keep", "write"] = "keep"
) -> LSTMStep | GRUStep:
    """Return the numbers of one unit at one step.

    Args:
        observation: the observation.
        unit: number of the unit, from 1.
        step: number of the step, from 1.
        update: convention of z, as in `GRUStep`.

    Raises:
        ValueError: there is no such unit or step.
    """
    result = observation.trace
    if not 1 <= unit <= observation.hidden or not 1 <= step <= len(observation.pieces):
        raise ValueError(f"There is no unit {unit} at step {step}.")
    at = (step - 1, unit - 1)
    if isinstance(result, LSTMTrace):
        i, f, g, o = (
            float(part[at])
            for part in (
                result.input_gate,
                result.forget_gate,
                result.candidate,
                result.output_gate,
            )
        )
        c = float(result.cell_state[step, unit - 1])
        before, h = float(result.cell_state[at]), float(result.hidden[step, unit - 1])
        return LSTMStep(before, i, f, g, o, c, h, float(np.tanh(c)))
    r, z, n = (float(p[at]) for p in (result.reset_gate, result.update_gate, result.candidate))
    z = z if update == "keep" else 1 - z
    h, past = float(result.hidden[step, unit - 1]), float(result.recurrent[at])
    return GRUStep(float(result.hidden[at]), r, z, n, h, past, update)


@dataclass(frozen=True)
class UnitFlow:
    """Numbers of one unit of a cell at every step of a text.

    Attributes:
        cell: "lstm" or "gru".
        pieces: the symbols of the text.
        unit: number of the unit, from 1.
        steps: the unit's numbers at each step.
    """

    cell: str
    pieces: tuple[str, ...]
    unit: int
    steps: tuple[LSTMStep | GRUStep, ...]

    def at(self, step: int) -> LSTMStep | GRUStep:
        """Return the numbers at a step, from 1."""
        return self.steps[step - 1]

    def name(self, part: int) -> str:
        """Return the name of a part, from 1, in `quantities`."""
        return list(self.steps[0].quantities)[part - 1]

    def values(self, part: int) -> Float[np.ndarray, "time"]:
        """Return a part, from 1 in the order of `quantities`, at each step."""
        name = self.name(part)
        return np.array([step.quantities[name] for step in self.steps])


def unit_flow(observation: Observation, unit: int) -> UnitFlow:
    """Return the numbers of one unit at every step; z is the retained share.

    Args:
        observation: the observation.
        unit: number of the unit, from 1.
    """
    pieces = observation.pieces
    steps = tuple(one_step(observation, unit, step) for step in range(1, len(pieces) + 1))
    return UnitFlow(observation.cell, pieces, unit, steps)


@dataclass(frozen=True)
class VariantComparison:
    """A text read under variants of the equations; see `conventions.EquationVariant`.

    Attributes:
        distance: |h'_t - h_t|_2 of each variant.
        size: |h_t|_2 in PyTorch's equations.
        moved: relative change of each variant's largest distance when the input is changed in its
            fifteenth digit: the effect of rounding alone.
    """

    pieces: tuple[str, ...]
    variants: tuple[str, ...]
    distance: Float[np.ndarray, "variant time"]
    size: Float[np.ndarray, "time"]
    moved: Float[np.ndarray, "variant"]

    @property
    def largest_size(self) -> float:
        """Largest length of h over the text, in PyTorch's equations."""
        return float(self.size.max())

    @property
    def shares(self) -> Float[np.ndarray, "variant"]:
        """Largest distance of each variant over the largest length of h."""
        return self.distance.max(axis=1) / self.size.max()

    def same(self) -> tuple[str, ...]:
        """Return the variants whose states equal PyTorch's up to rounding."""
        return tuple(v for v, s in zip(self.variants, self.shares, strict=True) if s < _ROUNDING)

    def furthest(self) -> str:
        """Return the variant with the largest distance."""
        return self.variants[int(self.shares.argmax())]

    @property
    def nearest_share(self) -> Share:
        """Smallest of `shares` that is not rounding; 0 where there is none."""
        return float(min((s for s in self.shares if s >= _ROUNDING), default=0.0))

    @property
    def furthest_share(self) -> WholeShare:
        """Largest of `shares`, in lengths of h."""
        return float(self.shares.max())

    @property
    def certain(self) -> bool:
        """True where rounding leaves at least two digits of `furthest_share`."""
        return bool(self.moved[int(self.shares.argmax())] < _DIGITS)


def compare(network: GatedNetwork, text: str) -> VariantComparison:
    """Read a text under all variants of the network's cell.

    Args:
        network: the network.
        text: the text.

    Raises:
        UserError: "no_text", the text is empty.
    """
    encoded, _ = _cut(network, text)
    kind = "lstm" if isinstance(network.equations, LSTM) else "gru"
    before, read = first_read(network), inputs(network, encoded.ids)
    results = [
        conventions.reading(variant, kind, network.weights, read, before)
        for variant in conventions.VARIANTS[kind]
    ]
    return VariantComparison(
        encoded.pieces,
        tuple(item.variant for item in results),
        np.array([item.distance for item in results]),
        results[0].size,
        np.array([item.moved for item in results]),
    )


@dataclass(frozen=True)
class Expectation:
    """Probabilities of two candidate words after each word of a sentence, by network.

    Attributes:
        candidates: first and second candidate.
        probability: probability of the candidate with a space before and behind it.
        left_out: characters at the end of the sentence that were not read.
    """

    words: tuple[str, ...]
    candidates: tuple[str, str]
    networks: tuple[str, ...]
    probability: Float[np.ndarray, "network word 2"]
    left_out: int

    @property
    def bits(self) -> Float[np.ndarray, "network word"]:
        """log2 of the second word's probability over the first one's; of zeros infinite or nan."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.diff(np.log2(self.probability), axis=-1)[..., 0]

    def bits_at_end(self, network: str) -> float:
        """Return the bits of one network after the last word."""
        return float(self.bits[self.networks.index(network), -1])

    def likelier_at_end(self, network: str) -> str:
        """Return the likelier candidate after the last word; the first of equals."""
        return self.candidates[int(self.bits_at_end(network) > 0)]


def expect(
    networks: Sequence[GatedNetwork], text: str, first: str = "was", second: str = "were"
) -> Expectation:
    """Return the probabilities of two candidate words after each word of a sentence.

    Args:
        networks: character models.
        text: the sentence.
        first: first candidate.
        second: second candidate.

    Raises:
        UserError: "no_text" without a text, "no_word" where a candidate is not exactly one word.
    """
    for word in (first, second):
        if len(word.split()) != 1:
            raise UserError("no_word", "Each of the two words is one word. Type one in each field.")
    full = normalized(text)
    if not full:
        raise UserError("no_text", "There is nothing to read. Type a text.")
    read = full if len(full) <= MAX_SYMBOLS else full[: MAX_SYMBOLS + 1].rpartition(" ")[0]
    read = read or full[:MAX_SYMBOLS]  # one endless word
    results = [
        word_probabilities(network, read, (first.strip(), second.strip())) for network in networks
    ]
    return Expectation(
        results[0][0],
        (first.strip(), second.strip()),
        tuple(network.name for network in networks),
        np.exp(np.array([p for _, p in results])),
        len(full) - len(read),
    )
