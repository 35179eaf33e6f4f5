"""Seeded random numbers are numpy's own, and the system is not asked for any."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.random import bit_generator

from seqviz.compute.seeded import seeded


@pytest.mark.parametrize("seed", [0, 1, 10_001, 2**32 - 1])
def test_seeded_matches_numpy_random_state(seed):
    ours, theirs, other = seeded(seed), np.random.RandomState(seed), seeded(seed)
    for draw in (
        lambda random: random.standard_normal((5, 3)),
        lambda random: random.uniform(-2, 2, 700),  # beyond one block of the generator's state
        lambda random: random.randint(9, size=11),
        lambda random: random.permutation(12),
        lambda random: random.standard_normal(1),
    ):
        np.testing.assert_array_equal(draw(ours), draw(theirs))
    # Another one of the same seed has gone its own way.
    assert other.standard_normal() == np.random.RandomState(seed).standard_normal()


@pytest.mark.parametrize("seed", [-1, 2**32])
def test_seeded_rejects_out_of_range_seed(seed):
    with pytest.raises(ValueError, match="Seed must be between"):
        seeded(seed)


def test_seeded_requests_no_system_entropy(monkeypatch):
    requests = []
    randbits = bit_generator.randbits
    monkeypatch.setattr(bit_generator, "randbits", lambda k: requests.append(k) or randbits(k))
    seeded(1)
    assert not requests
    np.random.RandomState(1)
    assert requests  # else this test would not notice
