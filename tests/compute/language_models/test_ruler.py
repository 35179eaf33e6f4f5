"""Bits per character: ratio of sums, interval against a bootstrap, paired differences."""

from __future__ import annotations

import numpy as np
import pytest

from seqviz.compute.language_models.ruler import BitsPerCharacter


def test_interval_equals_a_bootstrap_over_sentences_and_pairs_are_narrower():
    random = np.random.RandomState(0)
    characters = random.randint(20, 200, 500)
    hard = random.normal(2, 0.4, 500)
    bits = np.stack([hard * characters, (hard + 0.1 + random.normal(0, 0.05, 500)) * characters])
    found = BitsPerCharacter(("a", "b"), bits, characters)
    draws = random.randint(0, 500, (2_000, 500))
    means = bits[0][draws].sum(1) / characters[draws].sum(1)
    value = found.of("a")
    assert value.mean == pytest.approx(bits[0].sum() / characters.sum())
    assert value.ci == pytest.approx(np.percentile(means, [2.5, 97.5]), abs=0.006)
    gap = found.difference("b", "a")
    assert gap.mean == pytest.approx(0.1, abs=0.01)
    assert gap.margin < value.margin / 4
    facts = found.compared("a", "b")
    assert facts.variant == "less"
    assert facts["difference"].mean == pytest.approx(gap.mean)
    assert found.compared("a", "a").variant == "null"
    assert found.all.mean == pytest.approx([found.of("a").mean, found.of("b").mean])
