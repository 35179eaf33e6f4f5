"""Followers, impossible texts and continuation counts against counting by hand."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from seqviz.compute.language_models import unseen
from seqviz.compute.language_models.ngrams import count, fit

NAMES = ("<unk>", "\n", "new", "york", "car", "old", "rare")
ROW = np.array([1, 2, 3, 1, 2, 3, 1, 2, 4, 1, 5, 4, 1, 2, 3, 1])
COUNTS = count(ROW, len(NAMES), 3)


@pytest.mark.parametrize("smoothing", ["add_k", "witten_bell", "kneser_ney"])
def test_followers_split_each_probability_into_its_own_count_and_the_rest(smoothing):
    model = fit(COUNTS, smoothing, 2)
    found = unseen.followers(model, NAMES, [5, 2])
    assert found.context == ("new",)
    assert (found.seen, found.kinds) == (4, 2)
    assert found.symbols[:2] == ("york", "car")
    assert found.counts.tolist() == [3, 1, 0, 0, 0, 0, 0]
    assert found.raw[:2].tolist() == [0.75, 0.25]
    assert (found.retained <= found.probability).all()
    assert (found.given_away[:2] > 0).all()
    assert not found.given_away[2:].any()
    assert found.unseen == pytest.approx(found.probability[2:].sum())
    assert found.probability.sum() == pytest.approx(1)


def test_followers_of_an_unknown_context_have_the_probabilities_of_a_shorter_one():
    found = unseen.followers(fit(COUNTS, "witten_bell", 3), NAMES, [6, 2])
    shorter = unseen.followers(fit(COUNTS, "witten_bell", 2), NAMES, [2])
    assert found.summary().variant == "unseen"
    assert found.seen == 0
    assert not found.raw.any()
    assert found.probability == pytest.approx(shorter.probability)
    assert shorter.summary()["seen"] == 4
    nothing = unseen.followers(fit(COUNTS, "none", 3), NAMES, [6, 2])
    assert not nothing.probability.any()
    assert nothing.summary().variant == "undefined"


def test_impossible_texts_are_those_with_an_unseen_ngram():
    held = [np.array([2, 3]), np.array([5, 3]), np.array([6]), np.array([5, 4])]
    found = unseen.held_out_texts(COUNTS, held, 1)
    assert found.shares.mean.tolist() == [0.25, 0.5, 0.5]
    facts = found.at_order(2)
    assert (facts["impossible"], facts["sentences"]) == (2, 4)
    assert facts["share"].low < 0.5 < facts["share"].high


def test_cost_of_held_out_texts_is_that_of_each_model_and_paired_with_the_unigram():
    held = [np.array([2, 3]), np.array([5, 3, 2]), np.array([6]), np.array([2, 4])]
    found = unseen.held_out_texts(COUNTS, held, 1)
    symbols = sum(len(row) + 1 for row in held)

    def bits(smoothing, n):
        model = fit(COUNTS, smoothing, n)
        return sum(model.bits(np.append(row, 1), np.array([1])).sum() for row in held) / symbols

    alone = bits("witten_bell", 1)
    for smoothing in ("add_k", "witten_bell", "kneser_ney", "modified_kneser_ney"):
        for n in (1, 2, 3):
            facts = found.cost(smoothing, n)
            assert facts["bits"].mean == pytest.approx(bits(smoothing, n))
            assert facts["excess"].mean == pytest.approx(abs(bits(smoothing, n) - alone))
            assert facts["sentences"] == 4
    assert found.cost("witten_bell", 1).variant == "alone"
    assert found.cost("witten_bell", 1)["excess"].mean == 0


def test_occurrences_are_those_of_the_counts_and_in_the_sentences_that_hold_them():
    """The sentences of ROW are 2 3, 2 3, 2 4, 5 4 and 2 3."""
    for n in range(COUNTS.order):
        assert sum(
            unseen.occurrences(ROW, ngram, 1).count for ngram in {
                tuple(ROW[k : k + n + 1].tolist()) for k in range(len(ROW) - n)
            }
        ) == len(ROW) - n == COUNTS.counts[n].sum()  # fmt: skip
    for ngram, expected in (
        ((2, 3), [0, 1, 4]), ((1, 2), [0, 1, 2, 4]), ((4, 1), [2, 3]), ((1, 5, 4), [3]),
        ((3, 2), []), ((4,), [2, 3]), ((1,), [0, 1, 2, 3, 4]), ((6,), []),
    ):  # fmt: skip
        assert unseen.occurrences(ROW, ngram, 1).sentences.tolist() == expected


def test_word_behind_one_word_only_is_rare_by_continuation():
    found = unseen.by_continuation(COUNTS, NAMES, min_count=2)
    york = found.words.index("york")
    assert (found.count[york], found.contexts[york], found.before[york]) == (3, 1, "new")
    assert found.frequency[york] == pytest.approx(3 / 16)
    ratio = found.continuation / found.frequency
    assert (ratio[:-1] <= ratio[1:]).all()
    pairs = set(pairwise(ROW.tolist()))
    assert found.continuation[york] == pytest.approx(1 / len(pairs))
    car = found.words.index("car")
    assert found.contexts[car] == len({a for a, b in pairs if b == 4}) == 2
