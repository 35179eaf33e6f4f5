"""The five tasks: answers by plain loops, closed forms against enumeration of every sequence."""

from __future__ import annotations

from collections import Counter
from itertools import product

import numpy as np
import pytest

from seqviz.compute.positions.tiny.tasks import (
    LETTERS,
    SLOT,
    TASKS,
    _none_above,
    chance_accuracy,
    draw,
    kinds,
    order_blind,
    right_answers,
    slots,
)

EACH_TASK = pytest.mark.parametrize("task", TASKS)


def answer(task: str, word: str) -> list[int]:
    """The definition, on strings."""
    if task == "before":
        return [int(word.index("a") < word.index("b"))]
    if task == "count":
        return [word.count("a")]
    changed = {"copy": word, "reverse": word[::-1], "sort": "".join(sorted(word))}[task]
    return ["abcdef".index(letter) for letter in changed]


def spoken(letters: np.ndarray) -> str:
    return "".join(LETTERS[number] for number in letters)


def every(task: str, length: int) -> list[tuple[str, float]]:
    """All sequences with their probability, from how the docstring of `draw` says they are made."""
    words = ["".join(letters) for letters in product(LETTERS, repeat=length)]
    if task == "count":
        arrangements = Counter(word.count("a") for word in words)
        return [(w, 1 / (length + 1) / arrangements[w.count("a")]) for w in words]
    if task == "before":
        counts: Counter[str] = Counter()
        for a, b in product(range(length), repeat=2):
            if a != b:
                for word in words:
                    placed = list(word)
                    placed[a], placed[b] = "a", "b"
                    counts["".join(placed)] += 1
        total = sum(counts.values())
        return [(word, n / total) for word, n in counts.items()]
    return [(word, len(words) ** -1.0) for word in words]


@EACH_TASK
@pytest.mark.parametrize("length", [2, 5, 8, 24])
def test_draw_answers_match_definition(task, length):
    examples = draw(task, length, 200, np.random.RandomState(0))
    assert examples.letters.shape == (200, length)
    assert [answer(task, spoken(row)) for row in examples.letters] == examples.answers.tolist()
    assert 0 <= examples.answers.min() <= examples.answers.max() < kinds(task, length)
    # A network reads the letters and then its slots.
    read, request = np.split(examples.symbols, [length], axis=1)
    np.testing.assert_array_equal(read, examples.letters)
    assert request.shape == (200, slots(task, length))
    assert (request == SLOT).all()


def test_right_answers_place_missing_letter_last():
    typed = np.array([[0, 2, 2], [2, 1, 2], [2, 2, 2]])  # acc, cbc, ccc
    assert right_answers("before", typed).ravel().tolist() == [1, 0, 0]


@EACH_TASK
def test_draw_matches_sequence_probabilities(task):
    size = 60_000
    samples = Counter(map(spoken, draw(task, 3, size, np.random.RandomState(2)).letters))
    expected = dict(every(task, 3))
    assert set(samples) <= {word for word, p in expected.items() if p > 0}
    # chi-square with k - 1 degrees of freedom: mean k - 1, deviation sqrt(2 (k - 1)); five of these
    present = [(samples[word], p * size) for word, p in expected.items() if p > 0]
    distance = sum((result - expected) ** 2 / expected for result, expected in present)
    freedom = len(present) - 1
    assert abs(distance - freedom) < 5 * (2 * freedom) ** 0.5


def test_draw_caps_count_at_maximum():
    numbers = draw("count", 16, 3000, np.random.RandomState(3), maximum=8).answers
    assert set(numbers.ravel().tolist()) == set(range(9))


def test_draw_is_stable_for_permalinks():
    # RandomState's stream is frozen (NEP 19)
    assert spoken(draw("sort", 8, 50, np.random.RandomState(7)).letters[0]) == "ebddebab"


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda r: draw("shift", 8, 4, r), "task must be one of before, copy"),
        (lambda r: draw("copy", 1, 4, r), "needs 2 letters or more, not 1"),
        (lambda r: draw("count", 8, 4, r, maximum=9), "at most 8 can be a, not 9"),
        (lambda r: slots("shift", 8), "task must be one of"),
        (lambda r: order_blind("shift", 8), "task must be one of"),
    ],
)
def test_tasks_reject_bad_arguments(call, message):
    with pytest.raises(ValueError, match=message):
        call(np.random.RandomState(0))


@EACH_TASK
@pytest.mark.parametrize("length", [2, 3, 4])
def test_baselines_match_enumeration_of_every_sequence(task, length):
    """Without reading the same answer each time; blind to order one for each multiset of letters,
    the same in all slots."""
    unread: dict[int, Counter[int]] = {}
    blind: dict[str, Counter[int]] = {}
    for word, p in every(task, length):
        for slot, right in enumerate(answer(task, word)):
            for shares, key in ((unread, slot), (blind, "".join(sorted(word)))):
                shares.setdefault(key, Counter())[right] += p / slots(task, length)
    for result, shares in ((chance_accuracy, unread), (order_blind, blind)):
        best = sum(max(share.values()) for share in shares.values())
        # sums of up to 1296 probabilities in float64
        assert result(task, length) == pytest.approx(best, abs=1e-12)


def test_baselines_match_printed_shares():
    assert chance_accuracy("count", 8) == pytest.approx(1 / 9)
    assert order_blind("count", 12) == 1
    # without knowing the slot, sorting goes worse than without reading anything
    assert order_blind("sort", 8) < chance_accuracy("sort", 8)
    # both letters the same (1/6), or one of two right (5/6)
    assert order_blind("copy", 2) == pytest.approx(1 / 6 + 5 / 12)
    # no letter twice among 6 of 6: 6!/6^6
    assert _none_above(1, 6) == pytest.approx(720 / 6**6, rel=1e-12)
    assert _none_above(1, 7) == 0
