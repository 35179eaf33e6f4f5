"""What gates did: values by their symbol, saturation, time constants, units in order."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from seqviz.compute.letters import plain_marks
from seqviz.compute.recurrent import GRUTrace, LSTMTrace, Trace

LSTM_GATES, GRU_GATES = ("i", "f", "o"), ("r", "z")
LSTM_SYMBOLS, GRU_SYMBOLS = (*LSTM_GATES, "g", "c", "h"), (*GRU_GATES, "n", "h")
SIGNED = frozenset("gnch")  # candidates and states lie on both sides of zero, gates in [0, 1]
SHUT, OPEN = 0.1, 0.9  # Karpathy, Johnson and Fei-Fei (2015): left- and right-saturated

ORDERS = ("unit", "mean", "time", "correlation")
FEATURES = ("position", "in_word", "space", "vowel", "quotes", "negation")

_FIELDS = {
    "i": "input_gate",
    "f": "forget_gate",
    "o": "output_gate",
    "g": "candidate",
    "c": "cell_state",
    "r": "reset_gate",
    "z": "update_gate",
    "n": "candidate",
    "h": "hidden",
}


def symbols(trace: Trace) -> tuple[str, ...]:
    """The symbols of what this trace holds: gates, candidate, states."""
    return LSTM_SYMBOLS if isinstance(trace, LSTMTrace) else GRU_SYMBOLS


def activation(trace: Trace, symbol: str) -> Float[np.ndarray, "time hidden"]:
    """The values of a gate or state at each input, the initial state left out.

    Raises ValueError for a symbol that the cell does not have.
    """
    if symbol not in symbols(trace):
        raise ValueError(f"This cell has no {symbol}; it has {', '.join(symbols(trace))}.")
    values = np.asarray(getattr(trace, _FIELDS[symbol]))
    return values[1:] if symbol in "ch" else values


def retention(trace: LSTMTrace | GRUTrace) -> Float[np.ndarray, "time hidden"]:
    """The share of the old state that stays: f of an LSTM, z of a GRU."""
    return trace.forget_gate if isinstance(trace, LSTMTrace) else trace.update_gate


def time_constants(retention: Float[np.ndarray, "time hidden"]) -> Float[np.ndarray, "hidden"]:
    """Steps after which a unit's memory has fallen to 1/e, -1 / mean(ln keep).

    The mean is that of the logarithm because memory is multiplied by `retention` at every step:
    over the
    sequence it shrinks to the product. Infinite where nothing is ever dropped, zero where a gate
    was exactly shut once.
    """
    with np.errstate(divide="ignore"):
        rate = np.abs(np.log(retention.astype(float)).mean(axis=0))  # -0.0 would give -inf
        return 1 / rate


def time_constant(gate: float) -> float:
    """The same for a gate that stays where it is, -1 / ln(gate)."""
    return float(time_constants(np.array([[gate]]))[0])


@dataclass(frozen=True)
class GateSaturation:
    """Per unit: the share of steps at which the gate is nearly shut, and nearly open."""

    left: Float[np.ndarray, "hidden"]
    right: Float[np.ndarray, "hidden"]


def saturation(gate: Float[np.ndarray, "time hidden"]) -> GateSaturation:
    """Shares of steps with a gate below 0.1 and above 0.9 (Karpathy, Johnson, Fei-Fei 2015)."""
    return GateSaturation((gate < SHUT).mean(axis=0), (gate > OPEN).mean(axis=0))


def feature(name: str, tokens: Sequence[str]) -> Float[np.ndarray, "time"]:
    """A property of each token that a unit might follow; tokens are characters or words.

    position: number of the step. in_word: characters of the current word so far (words: length).
    space, vowel: is it one (words: share of vowels). quotes: inside quotation marks. negation: a
    word such as "not", "never" or "n't" among this one and the three before it.
    """
    if name == "position":
        return np.arange(1.0, len(tokens) + 1)
    if name == "space":
        return np.array([float(token.isspace()) for token in tokens])
    if name == "vowel":
        return np.array([_vowels(token) for token in tokens])
    if name == "quotes":
        return _inside(tokens)
    if name == "in_word":
        return _in_word(tokens)
    if name == "negation":
        return _negated(tokens)
    raise ValueError(f"Unknown feature: {name}.")


def correlation(
    values: Float[np.ndarray, "time hidden"], given: Float[np.ndarray, "time"]
) -> Float[np.ndarray, "hidden"]:
    """Pearson's r of each unit with a feature; zero where one of the two does not vary."""
    a = values - values.mean(axis=0)
    b = given - given.mean()
    scale = np.sqrt((a**2).sum(axis=0) * (b**2).sum())
    # Rounding of a mean leaves a constant unit a spread of about 1e-16 of its size.
    still = np.abs(a).max(axis=0, initial=0) <= 1e-12 * (1 + np.abs(values).max(initial=0))
    return np.where(
        still | (scale == 0), 0.0, (a * b[:, None]).sum(axis=0) / np.where(scale, scale, 1)
    )


def order(
    by: str,
    values: Float[np.ndarray, "time hidden"],
    retention: Float[np.ndarray, "time hidden"],
    given: Float[np.ndarray, "time"],
) -> Int[np.ndarray, "hidden"]:
    """Units from first to last: by number, mean, time constant, or |correlation| with a feature."""
    if by == "unit":
        return np.arange(values.shape[1])
    keys = {
        "mean": lambda: values.mean(axis=0),
        "time": lambda: time_constants(retention),
        "correlation": lambda: np.abs(correlation(values, given)),
    }
    if by not in keys:
        raise ValueError(f"Unknown order: {by}.")
    return np.argsort(-keys[by](), kind="stable")


_NEGATIONS = frozenset({"not", "no", "never", "nothing", "nor", "neither", "none", "cannot", "n't"})


def _vowels(token: str) -> float:
    return sum(letter in "aeiouAEIOU" for letter in token) / max(len(token), 1)


def _inside(tokens: Sequence[str]) -> Float[np.ndarray, "time"]:
    """1 from an opening to its closing double quotation mark."""
    inside, result = False, []
    for token in tokens:
        marks = len(re.findall('["“”]', token))
        result.append(float(inside or marks > 0))
        inside ^= marks % 2 == 1
    return np.array(result)


def _in_word(tokens: Sequence[str]) -> Float[np.ndarray, "time"]:
    if any(len(token) > 1 for token in tokens):
        return np.array([float(len(token)) for token in tokens])
    length, result = 0, []
    for token in plain_marks(tokens):
        length = length + 1 if token.isalnum() else 0
        result.append(float(length))
    return np.array(result)


def _negated(tokens: Sequence[str]) -> Float[np.ndarray, "time"]:
    """Characters are read as the words they spell, so that both kinds of network can be asked."""
    if not any(len(token) > 1 for token in tokens):
        text = "".join(token or " " for token in plain_marks(tokens))
        words = [(m.group(), m.end()) for m in re.finditer(r"[\w']+", text)]
        ends = np.array([end for _, end in words])
        far = np.searchsorted(ends, np.arange(1, len(tokens) + 1), side="right")
        bad = [i for i, (word, _) in enumerate(words) if _negative(word)]
        return np.array([float(any(0 <= i - 1 - b < 4 for b in bad)) for i in far])
    bad = [index for index, token in enumerate(tokens) if _negative(token)]
    return np.array([float(any(0 <= i - b < 4 for b in bad)) for i in range(len(tokens))])


def _negative(word: str) -> bool:
    return word.lower() in _NEGATIONS or word.lower().endswith("n't")
