"""Seeded random numbers are numpy's own, and the system is not asked for any."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.random import bit_generator

from seqviz.compute.seeded import seeded


def numbers(random: np.random.RandomState) -> list[np.ndarray]:
    return [
        random.standard_normal((5, 3)),
        random.uniform(-2, 2, 700),  # beyond one block of the generator's state
        random.randint(9, size=11),
        random.permutation(12),
        random.standard_normal(1),
    ]


@pytest.mark.parametrize("seed", [0, 1, 10_001, 2**32 - 1])
def test_number_for_number(seed):
    for ours, theirs in zip(
        numbers(seeded(seed)), numbers(np.random.RandomState(seed)), strict=True
    ):
        np.testing.assert_array_equal(ours, theirs)


@pytest.mark.parametrize("seed", [-1, 2**32])
def test_a_seed_that_numpy_refuses_is_refused(seed):
    with pytest.raises(ValueError, match="Seed must be between"):
        seeded(seed)


def test_two_of_the_same_seed_go_their_own_ways():
    one, other = seeded(3), seeded(3)
    one.standard_normal(10)
    assert other.standard_normal() == np.random.RandomState(3).standard_normal()


def test_the_system_is_asked_for_nothing(monkeypatch):
    asked = []
    randbits = bit_generator.randbits
    monkeypatch.setattr(bit_generator, "randbits", lambda k: asked.append(k) or randbits(k))
    seeded(1)
    assert not asked
    np.random.RandomState(1)
    assert asked  # else this test would not notice
