"""Shannon's bounds, against the formulas of 1951 written out and against a known source."""

from __future__ import annotations

import math

import numpy as np
import pytest

from seqviz.compute.language_models.guessing import GuessRanks

RANDOM = np.random.RandomState(0)
RANKS = [RANDOM.randint(1, 2 + k, 5 + 3 * k) for k in range(12)]


def written_out(ranks: np.ndarray) -> tuple[float, float]:
    """Lower and upper bound by loops over all ranks of 27 characters, as Shannon writes them."""
    q = sorted((list(ranks).count(i) / len(ranks) for i in range(1, 40)), reverse=True)
    lower = sum(i * (q[i - 1] - q[i]) * math.log2(i) for i in range(1, 39))
    upper = -sum(value * math.log2(value) for value in q if value)
    return lower, upper


@pytest.mark.parametrize("ranks", RANKS)
def test_bounds_equal_the_formulas_written_out(ranks):
    guesses = GuessRanks(ranks)
    assert (guesses.lower, guesses.upper) == pytest.approx(written_out(ranks), abs=1e-12)
    assert guesses.lower <= guesses.upper + 1e-12
    assert guesses.first == (ranks == 1).mean()
    facts = guesses.summary()
    assert (facts["lower"], facts["upper"]) == (guesses.lower, guesses.upper)
    assert facts["count"] == len(ranks)


def test_certain_guesses_cost_nothing():
    guesses = GuessRanks(np.ones(20, int))
    assert (guesses.lower, guesses.upper, guesses.first) == (0, 0, 1)


def test_equally_likely_ranks_have_equal_bounds():
    guesses = GuessRanks(np.tile(np.arange(1, 9), 5))
    assert guesses.lower == pytest.approx(3)
    assert guesses.upper == pytest.approx(3)


def test_bounds_enclose_the_entropy_of_a_source():
    """An ideal reader of independent characters; 200,000 of them leave no room for chance."""
    p = np.array([0.45, 0.25, 0.15, 0.1, 0.05])
    entropy = -(p * np.log2(p)).sum()
    guesses = GuessRanks(RANDOM.choice(len(p), 200_000, p=p) + 1)
    assert guesses.lower < entropy - 0.1
    assert guesses.upper == pytest.approx(entropy, abs=0.01)
