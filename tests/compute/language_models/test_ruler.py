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
    on_first = found.ranked_on(0)
    assert on_first["sentences"] == 500
    assert on_first["leader"] == "a"
    better = int((found.bits[1] - found.bits[0]).argmin())
    assert found.bits[1, better] < found.bits[0, better]
    facts = found.ranked_on(better)
    assert (facts["best"], facts["leader"]) == ("b", "a")
    assert facts["here"] == pytest.approx(bits[0, better] / characters[better])
    assert facts["overall"] == pytest.approx(value.mean)
    assert found.all.mean == pytest.approx([found.of("a").mean, found.of("b").mean])


def test_n_grams_of_other_smoothings_are_left_out():
    models = ("uniform", "ngram1", "kneser_ney2", "modified_kneser_ney2", "witten_bell2", "smollm2")
    found = BitsPerCharacter(models, np.arange(12.0).reshape(6, 2), np.array([1, 2]))
    drawn = found.with_smoothing("modified_kneser_ney")
    assert drawn.models == ("uniform", "ngram1", "modified_kneser_ney2", "smollm2")
    assert drawn.bits[:, 0].tolist() == [0, 2, 6, 10]
