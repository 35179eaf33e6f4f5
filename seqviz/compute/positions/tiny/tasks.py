"""Five tasks on letters: four depend on the order of the letters, one does not."""

from __future__ import annotations

from dataclasses import dataclass
from math import comb, factorial

import numpy as np
from jaxtyping import Int

TASKS = ("before", "copy", "reverse", "sort", "count")
LETTERS = tuple("abcdef")
SLOT = len(LETTERS)  # the symbol "?", where an answer is to be written

_A, _B = 0, 1


@dataclass(frozen=True)
class LetterExamples:
    """Sequences of letters with their answers.

    Attributes:
        letters: indices into `LETTERS`.
        answers: for copy, reverse and sort as many letters as there are; for before one number, 1
            if the first a stands before the first b and 0 if not; for count one number, that of a.
    """

    letters: Int[np.ndarray, "batch letter"]
    answers: Int[np.ndarray, "batch slot"]

    @property
    def symbols(self) -> Int[np.ndarray, "batch time"]:
        """Input of a network: the letters, then one "?" for each answer."""
        slots = np.full(self.answers.shape, SLOT)
        return np.concatenate([self.letters, slots], axis=1)


def slots(task: str, length: int) -> int:
    """Return the number of answers of a task: 1, or one for each letter.

    Args:
        task: one of `TASKS`.
        length: number of letters.
    """
    _check(task)
    return 1 if task in ("before", "count") else length


def kinds(task: str, length: int) -> int:
    """Return the number of different answers: 2 (before), length + 1 (count), or the letters.

    Args:
        task: one of `TASKS`.
        length: number of letters.
    """
    _check(task)
    return {"before": 2, "count": length + 1}.get(task, len(LETTERS))


def draw(
    task: str, length: int, size: int, random: np.random.RandomState, maximum: int | None = None
) -> LetterExamples:
    """Draw random sequences with the right answers.

    Letters are uniform, with two exceptions. before: an a and a b are put at two random places, so
    that there is an answer. count: the number of a is drawn first, uniform from 0 to `maximum`, and
    the other letters are none of them a. In all tasks every order of the same letters is as likely
    as every other.

    Args:
        task: one of `TASKS`.
        length: letters in a sequence.
        size: number of sequences.
        random: source of random numbers.
        maximum: largest number of a in count (default: length).

    Raises:
        ValueError: unknown task, length below 2, or a `maximum` beyond the length.
    """
    _check(task, length)
    if task == "count":
        maximum = length if maximum is None else maximum
        if not 0 <= maximum <= length:
            raise ValueError(f"Of {length} letters, at most {length} can be a, not {maximum}.")
        letters = random.randint(1, len(LETTERS), size=(size, length))
        number = random.randint(0, maximum + 1, size=(size, 1))
        letters[_shuffled(size, length, random) < number] = _A
    else:
        letters = random.randint(len(LETTERS), size=(size, length))
    if task == "before":
        rank = _shuffled(size, length, random)
        letters[rank == 0], letters[rank == 1] = _A, _B
    return LetterExamples(letters, right_answers(task, letters))


def right_answers(
    task: str, letters: Int[np.ndarray, "batch letter"]
) -> Int[np.ndarray, "batch slot"]:
    """Return the right answers; in `before`, a missing letter counts as last, b before a.

    Args:
        task: one of `TASKS`.
        letters: indices into `LETTERS`.
    """
    _check(task)
    if task == "copy":
        return letters.copy()
    if task == "reverse":
        return letters[:, ::-1].copy()
    if task == "sort":
        return np.sort(letters, axis=1)
    if task == "count":
        return (letters == _A).sum(axis=1, keepdims=True)
    return (_first(letters == _A) < _first(letters == _B))[:, None].astype(letters.dtype)


def chance_accuracy(task: str, length: int) -> float:
    """Return the best expected accuracy of a predictor that knows the task and reads no letter.

    1/2 for before, 1/(length + 1) for count, 1/6 for copy and reverse. For sort each slot has its
    most likely letter: slot j (from 0) holds at most letter l when at least j + 1 of the letters
    do, which is binomial, and the first slots are mostly a.

    Args:
        task: one of `TASKS`.
        length: letters in a sequence.
    """
    _check(task, length)
    if task in ("before", "count"):
        return 1 / kinds(task, length)
    if task != "sort":
        return 1 / len(LETTERS)
    total = 0.0
    for slot in range(length):
        up_to = [_at_least(slot + 1, length, k / len(LETTERS)) for k in range(len(LETTERS) + 1)]
        total += float(np.diff(up_to).max())
    return total / length


def order_blind(task: str, length: int) -> float:
    """Return the best expected accuracy without encoding and mask.

    Such a network knows the number of each letter, but not the places; and all its slots get the
    same answer, as they hold the same symbol. So count is possible (1). before: with m times a and
    n times b the first of them is an a with probability m/(m + n), as all orders are as likely.
    copy, reverse and sort: the same letter in all slots, best the most frequent one, which is right
    in E[its number]/length of them. For sort that is less than `chance_accuracy`: the order of the
    letters does not matter there, but the order of the slots does.

    Args:
        task: one of `TASKS`.
        length: letters in a sequence.
    """
    _check(task, length)
    if task == "count":
        return 1.0
    if task == "before":
        return _first_guess(length)
    # E[M] = sum over m of P(M > m), M being the largest of the multinomial counts.
    largest = sum(1 - _none_above(m, length) for m in range(length))
    return largest / length


def _check(task: str, length: int = 2) -> None:
    if task not in TASKS:
        raise ValueError(f"The task must be one of {', '.join(TASKS)}, not {task!r}.")
    if length < 2:
        raise ValueError(f"A sequence needs 2 letters or more, not {length}.")


def _shuffled(size: int, length: int, random: np.random.RandomState) -> np.ndarray:
    """Return the numbers 0 to length - 1 in random order in each row."""
    return np.argsort(random.rand(size, length), axis=1)


def _first(hit: np.ndarray) -> np.ndarray:
    return np.where(hit.any(axis=1), hit.argmax(axis=1), hit.shape[1])


def _at_least(minimum: int, trials: int, p: float) -> float:
    return sum(comb(trials, k) * p**k * (1 - p) ** (trials - k) for k in range(minimum, trials + 1))


def _none_above(maximum: int, length: int) -> float:
    """Return P(no letter occurs more than `maximum` times), by exponential generating function."""
    item = np.array([1 / factorial(k) for k in range(maximum + 1)])
    all_letters = np.ones(1)
    for _ in LETTERS:
        all_letters = np.convolve(all_letters, item)[: length + 1]
    if len(all_letters) <= length:
        return 0.0
    return float(all_letters[length]) * factorial(length) / len(LETTERS) ** length


def _first_guess(length: int) -> float:
    """Return E[max(m, n)/(m + n)]: one a and one b are certain, the other letters free."""
    free, p = length - 2, 1 / len(LETTERS)
    total = 0.0
    for a in range(free + 1):
        for b in range(free - a + 1):
            methods = comb(free, a) * comb(free - a, b)
            total += (
                methods
                * p ** (a + b)
                * (1 - 2 * p) ** (free - a - b)
                * (max(a, b) + 1)
                / (a + b + 2)
            )
    return total
