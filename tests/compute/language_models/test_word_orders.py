"""All orders of a sentence's words against hand-made products."""

from __future__ import annotations

import math
from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seqviz.compute.language_models.word_orders import word_orders
from seqviz.core.errors import UserError

CORPUS = [["dog", "bites", "man"], ["man", "sees", "dog"], ["dog", "bites", "bone"]]


def test_bigram_without_smoothing_is_the_product_of_relative_frequencies():
    """dog begins 2 of 3 sentences, bites follows it in 2 of 3, man follows bites in 1 of 2."""
    found = word_orders(CORPUS, ["dog", "bites", "man"], 2, "none")
    assert found.text(0) == ("dog", "bites", "man")
    factors = [2 / 3, 2 / 3, 1 / 2, 1 / 2]  # the last one: man ends 1 of 2
    assert found.bits[0] == pytest.approx([-math.log2(p) for p in factors])
    assert found.totals[0] == pytest.approx(-math.log2(math.prod(factors)))
    facts = found.compared((0, 1, 2))
    assert facts.variant == "partly"
    assert (facts["rank"], facts["n_orders"], facts["impossible"]) == (1, 6, 5)
    assert found.compared((2, 1, 0)).variant == "infinite"
    assert found.spread == 0  # of the only possible order


@given(
    words=st.lists(st.sampled_from(["dog", "bites", "man", "sees", "cat"]), min_size=1, max_size=5)
)
@pytest.mark.parametrize("smoothing", ["add_k", "witten_bell", "kneser_ney"])
def test_single_words_give_every_order_exactly_the_same_sum(smoothing, words):
    found = word_orders(CORPUS, words, 2, smoothing)
    assert set(found.totals_alone.tolist()) == {found.totals_alone[0]}
    assert found.compared(range(len(words)))["spread_alone"] == 0
    alone = word_orders(CORPUS, words, 1, smoothing)
    assert set(alone.totals.tolist()) == {found.totals_alone[0]}


def test_orders_are_all_different_texts_ranked_by_their_sums():
    words = ["dog", "bites", "dog", "unheard", "unseen"]
    found = word_orders(CORPUS, words, 3, "witten_bell")
    texts = [found.text(rank) for rank in range(len(found.orders))]
    assert set(texts) == set(permutations(words))
    assert len(texts) == 60
    assert (found.totals[:-1] <= found.totals[1:]).all()
    assert found.unknown == ("unheard", "unseen")
    assert texts[found.rank((4, 3, 2, 1, 0))] == tuple(reversed(words))
    ratio = 2.0 ** (found.totals[59] - found.totals[0])
    assert found.spread == pytest.approx(math.log10(ratio))


def test_sums_that_differ_in_the_last_digit_only_are_alike():
    """Words outside the corpus are one word to the model, whatever n is."""
    for n in (2, 3):
        found = word_orders(CORPUS, ["cat", "chases", "mouse", "here"], n, "witten_bell")
        assert found.compared(range(4)).variant == "alike"
    assert word_orders(CORPUS, ["dog", "man"], 1, "witten_bell").compared((0, 1)).variant == "equal"


def test_word_outside_the_corpus_costs_more_after_a_counted_word_than_by_frequency():
    """Witten-Bell gives what never followed a word T / (N + T); a new word shares that part."""
    found = word_orders(CORPUS, ["cat", "sees", "cat"], 2, "witten_bell")
    facts = found.of_unknown((0, 1, 2))
    assert facts.variant == "dearer"
    begun, after = -math.log2(2 / 5), -math.log2(1 / 2)  # 3 beginnings of 2 kinds; sees dog
    assert facts["unknown"] - facts["unknown_alone"] == pytest.approx(begun + after)
    assert word_orders(CORPUS, ["cat"], 2, "none").of_unknown((0,)).variant == ""  # infinite
    assert word_orders(CORPUS, ["cat"], 1, "witten_bell").of_unknown((0,)).variant == ""
    assert word_orders(CORPUS, ["dog"], 2, "witten_bell").of_unknown((0,))["unknown"] == 0


def test_word_outside_the_corpus_makes_all_orders_impossible_without_smoothing():
    found = word_orders(CORPUS, ["dog", "cat"], 2, "none")
    facts = found.compared((1, 0))
    assert facts["impossible"] == facts["n_orders"] == 2
    assert facts["worst"] == facts["bits"] == math.inf
    assert facts["spread_alone"] == 0


def test_words_beyond_five_are_left_out_and_empty_texts_rejected():
    found = word_orders(CORPUS, ["dog"] * 7, 2, "witten_bell")
    assert (found.left_out, len(found.words), len(found.orders)) == (2, 5, 1)
    for sentences, words in (([], ["dog"]), ([[]], ["dog"]), (CORPUS, [])):
        with pytest.raises(UserError, match="nothing to count"):
            word_orders(sentences, words, 2, "none")
    assert word_orders([["dog"]], ["dog"], 6, "kneser_ney").n == 3  # two ends and a word
