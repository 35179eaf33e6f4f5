"""Bits of networks with a block for each position and with one: means, pairs, seeds."""

from __future__ import annotations

import numpy as np
import pytest

from seqviz.compute.language_models.blocks import TrainedBlocks
from seqviz.stats.estimate import ratio_ci

RANDOM = np.random.RandomState(0)
WORDS = RANDOM.randint(5, 30, 200)
BITS = 6.0 * WORDS + RANDOM.normal(0, 4, (2, 5, 200))


def trained(more: float = 0.0) -> TrainedBlocks:
    bits = BITS.copy()
    bits[1] = bits[0] + more * WORDS + RANDOM.normal(0, 1, (5, 200))
    counted = np.stack([8.0 * WORDS, 7.0 * WORDS])
    return TrainedBlocks(np.array([900, 700]), bits, counted, WORDS, 0.2)


def test_bits_are_those_of_all_words_and_of_the_mean_over_seeds():
    result = trained()
    assert result.all.mean[:2] == pytest.approx([8, 7])
    assert result.all.mean[2] == pytest.approx(result.by_seed[0].mean())
    assert result.by_seed[1, 3] == pytest.approx(result.bits[1, 3].sum() / WORDS.sum())


@pytest.mark.parametrize(("more", "verdict"), [(0.1, "more"), (0.0, "null"), (-0.1, "less")])
def test_difference_is_paired_over_sentences(more, verdict):
    result = trained(more)
    facts = result.compared()
    assert facts.variant == verdict
    apart = result.bits[1].mean(0) - result.bits[0].mean(0)
    expected = ratio_ci(apart, WORDS, "sentences")
    assert facts["difference"].mean == pytest.approx(abs(expected.mean))
    unpaired = np.hypot(facts["single"].margin, facts["separate"].margin)
    assert facts["difference"].margin < unpaired / 2
    assert facts["low"] == result.by_seed[0].min() < result.by_seed[0].max() == facts["high"]
    assert (facts["many"], facts["few"], facts["trainings"]) == (900, 700, 5)
