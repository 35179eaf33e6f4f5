"""Four small tasks of memory, counting, parity and sums: sequences, answers and baselines."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Int

from seqviz.core.units import Share

TASKS = ("latch", "count", "parity", "adding")

_LETTERS = tuple("abcd")
_DIGITS = tuple(str(digit) for digit in range(10))
SYMBOLS = {
    "latch": _LETTERS,
    "count": ("a", "b", "."),
    "parity": ("0", "1"),
    "adding": (*_DIGITS, *(f"{digit}*" for digit in _DIGITS)),
}
ANSWERS = {
    "latch": _LETTERS,
    "count": ("a", "b", "."),
    "parity": ("even", "odd"),
    "adding": tuple(str(total) for total in range(19)),
}
# Initial inputs of the pages; each shows the point of its task.
EXAMPLES = {
    "latch": "cabadbdacbbadcab",
    "count": "aaaaaabbbbbb.",
    "parity": "0010110001101000",
    "adding": "27*9031*54826",
}


@dataclass(frozen=True)
class SymbolBatch:
    """Sequences of a task with their answers.

    Attributes:
        symbols: numbers of the symbols.
        answers: numbers of the right answers.
        scored: True at steps whose answer follows from what was read.
    """

    symbols: Int[np.ndarray, "time batch"]
    answers: Int[np.ndarray, "time batch"]
    scored: Bool[np.ndarray, "time batch"]


def draw(task: str, length: int, size: int, random: np.random.RandomState) -> SymbolBatch:
    """Draw random sequences of a task.

    Args:
        task: "latch": letters; the answer is the first one, at every step. "count": a^n b^n and
            full stops, n drawn up to half the length; the answer is the next symbol, which is
            certain from the first b on. "parity": bits; the answer is whether the number of ones so
            far is even or odd. "adding": digits, two of them marked by a star; the answer is the
            sum of these two, scored after the last digit.
        length: symbols in a sequence.
        size: number of sequences.
        random: source of random numbers.

    Raises:
        ValueError: unknown task, or a length below 3.

    References:
        "adding": Hochreiter and Schmidhuber (1997), with digits for real numbers.
    """
    if task not in TASKS:
        raise ValueError(f"Unknown task: {task}.")
    if length < 3:
        raise ValueError("A sequence needs 3 symbols or more.")
    return {"latch": _latch, "count": _count, "parity": _parity, "adding": _adding}[task](
        length, size, random
    )


def majority(batch: SymbolBatch) -> Share:
    """Return the share of scored answers that the most frequent one gets right."""
    targets = batch.answers[batch.scored]
    return float(np.bincount(targets).max() / targets.size) if targets.size else 0.0


def majority_whole(batch: SymbolBatch) -> Share:
    """Return the largest share of sequences that one constant answer gets right throughout."""
    targets = np.unique(batch.answers[batch.scored])
    full = [((batch.answers == item) | ~batch.scored).all(axis=0).mean() for item in targets]
    return float(max(full, default=0.0))


def right_answers(task: str, symbols: Int[np.ndarray, "time"]) -> SymbolBatch:
    """Return the right answers for a typed sequence, as a batch of one.

    `scored` is True where there is an answer; there is none from a symbol on that the task does not
    have (-1).

    Args:
        task: one of `TASKS`.
        symbols: numbers of the symbols.
    """
    if len(symbols) == 0:
        nothing = np.zeros((0, 1), np.int64)
        return SymbolBatch(nothing, nothing, np.zeros((0, 1), bool))
    column = symbols[:, None]
    answers = {"latch": _latched, "parity": _flipped, "count": _counted, "adding": _added}
    result = answers[task](np.maximum(column, 0))
    existing = np.logical_and.accumulate(column >= 0, axis=0)
    return SymbolBatch(column, result.answers, result.scored & existing)


def _latch(length: int, size: int, random: np.random.RandomState) -> SymbolBatch:
    return _latched(random.randint(len(_LETTERS), size=(length, size)))


def _latched(symbols: Int[np.ndarray, "time batch"]) -> SymbolBatch:
    answers = np.broadcast_to(symbols[:1], symbols.shape).copy()
    return SymbolBatch(symbols, answers, np.ones(symbols.shape, bool))


def _parity(length: int, size: int, random: np.random.RandomState) -> SymbolBatch:
    return _flipped(random.randint(2, size=(length, size)))


def _flipped(symbols: Int[np.ndarray, "time batch"]) -> SymbolBatch:
    return SymbolBatch(symbols, np.cumsum(symbols, axis=0) % 2, np.ones(symbols.shape, bool))


def _count(length: int, size: int, random: np.random.RandomState) -> SymbolBatch:
    n = random.randint(1, (length - 1) // 2 + 1, size=size)
    step = np.arange(length)[:, None]
    return _counted(np.where(step < n, 0, np.where(step < 2 * n, 1, 2)))


def _counted(symbols: Int[np.ndarray, "time batch"]) -> SymbolBatch:
    """Score the next symbol from the first b to the full stop, while the string is a^n b^n."""
    step = np.arange(len(symbols))[:, None]
    not_a = symbols != 0
    n = np.where(not_a.any(axis=0), not_a.argmax(axis=0), len(symbols))
    proper = np.where(step < n, symbols == 0, symbols == np.where(step < 2 * n, 1, 2))
    answers = np.where(step + 1 < n, 0, np.where(step + 1 < 2 * n, 1, 2))
    sound = np.logical_and.accumulate(proper, axis=0)
    return SymbolBatch(symbols, answers, sound & (step >= n) & (step < 2 * n) & (n > 0))


def _adding(length: int, size: int, random: np.random.RandomState) -> SymbolBatch:
    symbols = random.randint(10, size=(length, size))
    indices = np.argsort(random.rand(length, size), axis=0)[:2]
    np.put_along_axis(symbols, indices, np.take_along_axis(symbols, indices, 0) + 10, 0)
    batch = _added(symbols)
    last = np.zeros(symbols.shape, bool)
    last[-1] = True
    return SymbolBatch(symbols, batch.answers, last)


def _added(symbols: Int[np.ndarray, "time batch"]) -> SymbolBatch:
    """Answer with the sum so far; scored from the second marked digit until the third."""
    marked = symbols >= 10
    total = np.cumsum(np.where(marked, symbols - 10, 0), axis=0)
    return SymbolBatch(symbols, np.minimum(total, 18), np.cumsum(marked, axis=0) == 2)
