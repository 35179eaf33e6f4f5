"""Gate activations of a trace: values by symbol, saturation, time constants, unit order."""

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
    """Return the symbols of the trace's gates, candidate and states."""
    return LSTM_SYMBOLS if isinstance(trace, LSTMTrace) else GRU_SYMBOLS


def activation(trace: Trace, symbol: str) -> Float[np.ndarray, "time hidden"]:
    """Return the values of a gate or state at each input, without the initial state.

    Args:
        trace: trace of an LSTM or a GRU.
        symbol: one of `symbols(trace)`.

    Raises:
        ValueError: the cell has no such gate or state.
    """
    if symbol not in symbols(trace):
        raise ValueError(f"This cell has no {symbol}; it has {', '.join(symbols(trace))}.")
    values = np.asarray(getattr(trace, _FIELDS[symbol]))
    return values[1:] if symbol in "ch" else values


def retention(trace: LSTMTrace | GRUTrace) -> Float[np.ndarray, "time hidden"]:
    """Return the share of the old state that is kept: f of an LSTM, z of a GRU."""
    return trace.forget_gate if isinstance(trace, LSTMTrace) else trace.update_gate


def time_constants(retention: Float[np.ndarray, "time hidden"]) -> Float[np.ndarray, "hidden"]:
    """Return the steps after which a unit's memory has fallen to 1/e, -1 / mean(ln retention).

    The logarithm is averaged because memory is multiplied by `retention` at every step: over the
    sequence it shrinks to the product. Infinite where nothing is ever dropped, zero where a gate
    was exactly shut once.
    """
    with np.errstate(divide="ignore"):
        rate = np.abs(np.log(retention.astype(float)).mean(axis=0))  # -0.0 would give -inf
        return 1 / rate


def time_constant(gate: float) -> float:
    """Return the time constant of a gate with a constant value, -1 / ln(gate), in steps."""
    return float(time_constants(np.array([[gate]]))[0])


@dataclass(frozen=True)
class GateSaturation:
    """Shares of steps at which each unit's gate is saturated.

    Attributes:
        left: share of steps at which it is nearly shut, below 0.1.
        right: share of steps at which it is nearly open, above 0.9.
    """

    left: Float[np.ndarray, "hidden"]
    right: Float[np.ndarray, "hidden"]


def saturation(gate: Float[np.ndarray, "time hidden"]) -> GateSaturation:
    """Return the shares of steps with a gate below 0.1 and above 0.9.

    References:
        Karpathy, Johnson and Fei-Fei (2015).
    """
    return GateSaturation((gate < SHUT).mean(axis=0), (gate > OPEN).mean(axis=0))


def feature(name: str, tokens: Sequence[str]) -> Float[np.ndarray, "time"]:
    """Return a property of each token that a unit might follow.

    Args:
        name: "position", number of the step from 1; "in_word", characters of the current word so
            far (words: length); "space" and "vowel", 1 for such a character (words: share of
            vowels); "quotes", 1 inside quotation marks; "negation", 1 where this word or one of the
            three before it is a word such as "not", "never" or "n't".
        tokens: characters or words.

    Raises:
        ValueError: unknown name.
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
    """Return Pearson's r of each unit with a feature; zero where one of the two does not vary.

    Args:
        values: values of the units.
        given: the feature.
    """
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
    """Return the units, from 0, sorted by a criterion.

    Args:
        by: "unit", by number; or in descending order "mean", "time" (time constant) or
            "correlation" (|r| with the feature).
        values: values of the units.
        retention: share of the old state kept at each step, for "time".
        given: the feature, for "correlation".

    Raises:
        ValueError: unknown criterion.
    """
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
    """Return 1 from an opening double quotation mark to its closing one, else 0."""
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
    """Return the feature "negation"; characters are joined into the words they spell."""
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
