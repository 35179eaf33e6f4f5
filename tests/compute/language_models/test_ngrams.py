"""N-gram models against brute-force definitions, nltk and the cards of the character models."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from seqviz.compute.language_models import ngrams
from seqviz.compute.language_models.ngrams import SMOOTHINGS, add_k, count, fit, witten_bell
from seqviz.core.errors import UserError
from seqviz.data.reviews import characters_split
from seqviz.models.checkpoints import card
from tools import train_characters

SMOOTHED = SMOOTHINGS[1:]
V = 6  # symbols of the random texts; 5 never occurs
texts = st.lists(st.integers(0, 4), min_size=1, max_size=60)
contexts = st.lists(st.integers(0, 5), max_size=6)


def gram_counts(text, n):
    return Counter(tuple(text[i : i + n]) for i in range(len(text) - n + 1))


def brute_force(text, order, smoothing, context, w, k=1.0):
    """Return p(w | context) by the definitions, with one dictionary per order."""
    if smoothing in ("none", "add_k"):
        n = min(len(context), order - 1)
        context = context[len(context) - n :]
        times = gram_counts(text, n + 1)
        total = sum(c for gram, c in times.items() if gram[:-1] == context)
        if smoothing == "none":
            return times[(*context, w)] / total if total else 0.0
        return (times[(*context, w)] + k) / (total + k * V)
    p = 1 / V
    for n in range(min(len(context), order - 1) + 1):
        after = context[len(context) - n :]
        times = gram_counts(text, n + 1)
        if "kneser" in smoothing and n + 1 < order:
            times = Counter(gram[1:] for gram in gram_counts(text, n + 2))
        follow = {gram[-1]: c for gram, c in times.items() if gram[:-1] == after}
        if not follow:
            break
        total = sum(follow.values())
        if smoothing == "witten_bell":
            p = (follow.get(w, 0) + len(follow) * p) / (total + len(follow))
        else:
            d = (0, *ngrams.discounts(np.array(list(times.values())), smoothing))
            taken = sum(d[min(c, 3)] for c in follow.values())
            p = (follow.get(w, 0) - d[min(follow.get(w, 0), 3)] + taken * p) / total
    return p


@settings(max_examples=60)
@given(text=texts, read=st.lists(st.lists(st.integers(0, 5), max_size=9), min_size=1, max_size=5),
       order=st.integers(1, 6))  # fmt: skip
@pytest.mark.parametrize("smoothing", SMOOTHINGS)
def test_total_bits_are_those_of_each_text_alone(smoothing, text, read, order):
    """No context reaches over the beginning of a text."""
    model = fit(count(np.array(text), V, 6), smoothing, order)
    end, rows = np.array([4]), [np.array(ids, int) for ids in read]
    alone = [model.bits(ids, end).sum() for ids in rows]
    np.testing.assert_array_equal(model.total_bits(rows, end), alone)


@settings(max_examples=60)
@given(text=texts, context=contexts, order=st.integers(1, 6), k=st.sampled_from([0.01, 1.0, 7.0]))
@pytest.mark.parametrize("smoothing", SMOOTHED)
def test_distribution_sums_to_one_after_known_and_unknown_contexts(
    smoothing, text, context, order, k
):
    model = fit(count(np.array(text), V, order), smoothing, order, k)
    p = model.distribution(context)
    assert abs(p.sum() - 1) < 1e-12
    assert (p >= 0).all()


@settings(max_examples=40)
@given(
    text=texts, read=st.lists(st.integers(0, 5), min_size=2, max_size=8), order=st.integers(1, 5)
)
@pytest.mark.parametrize("smoothing", SMOOTHINGS)
def test_probabilities_equal_brute_force_and_distribution(smoothing, text, read, order):
    model = fit(count(np.array(text), V, order), smoothing, order, 0.3)
    ours = model.probabilities(np.array(read[1:]), np.array(read[:1]))
    for i, p in enumerate(ours, 1):
        wanted = brute_force(tuple(text), model.order, smoothing, tuple(read[:i]), read[i], 0.3)
        assert p == pytest.approx(wanted, abs=1e-12)
        assert p == pytest.approx(model.distribution(read[:i])[read[i]], abs=1e-15)


@settings(max_examples=40)
@given(text=texts, order=st.integers(1, 4))
def test_followers_are_counts_of_the_text(text, order):
    counts = count(np.array(text), V, order)
    for n in range(counts.order):
        times = gram_counts(text, n + 1)
        found = {}
        for context in {gram[:-1] for gram in times} | {(5,) * n}:
            symbols, number = counts.followers(context)
            found |= {(*context, int(s)): int(c) for s, c in zip(symbols, number, strict=True)}
        assert found == times


def test_unsmoothed_model_gives_zero_to_what_was_not_seen_and_infinite_bits():
    text = np.array([0, 1, 2, 0, 1, 3])
    model = fit(count(text, V, 3), "none")
    assert model.probabilities(np.array([2, 3]), np.array([0, 1])).tolist() == [0.5, 0.0]
    assert model.bits(np.array([3, 4]), np.array([0, 1])).tolist() == [1.0, np.inf]
    assert model.distribution([0, 1]).tolist() == [0, 0, 0.5, 0.5, 0, 0]
    assert not model.distribution([4, 4]).any()


def test_discounts_follow_chen_and_goodman_or_their_fallback():
    """n1, n2, n3, n4 = 8, 4, 2, 1: Y = 8 / 16."""
    counts = np.array([1] * 8 + [2] * 4 + [3] * 2 + [4])
    assert ngrams.discounts(counts, "kneser_ney") == (0.5, 0.5, 0.5)
    assert ngrams.discounts(counts, "modified_kneser_ney") == (0.5, 1.25, 2.0)
    assert ngrams.discounts(counts[:12], "modified_kneser_ney") == (0.5, 1.0, 1.5)
    assert ngrams.discounts(np.array([2, 2]), "kneser_ney") == (0.75, 0.75, 0.75)


def test_add_k_equals_nltk_lidstone():
    from nltk.lm import Lidstone
    from nltk.util import ngrams as grams_of

    random = np.random.RandomState(0)
    text = random.randint(0, 5, 200)
    words = [str(k) for k in text]
    theirs = Lidstone(0.3, 3)
    theirs.fit([list(grams_of(words, n)) for n in (1, 2, 3)], [str(k) for k in range(5)])
    model = fit(count(text, 6, 3), "add_k", 3, 0.3)  # nltk has <UNK> as the sixth
    for context in ([0, 1], [3, 3], [4, 2]):
        ours = model.distribution(context)
        for w in range(5):
            score = theirs.score(str(w), [str(c) for c in context])
            assert ours[w] == pytest.approx(score, abs=1e-12)


def test_kneser_ney_equals_nltk_for_bigrams(monkeypatch):
    """nltk has a fixed discount and no uniform distribution below unigrams.

    For n = 3 it is no reference: its probabilities sum to 1.002.
    """
    from nltk.lm import KneserNeyInterpolated
    from nltk.util import ngrams as grams_of

    text = np.random.RandomState(1).randint(0, 5, 120)
    words = [str(k) for k in text]
    theirs = KneserNeyInterpolated(2, discount=0.1)
    theirs.fit([list(grams_of(words, n)) for n in (1, 2)], [str(k) for k in range(5)])
    counts = count(text, 5, 2)
    fixed = {id(counts.counts[1]): (0.1, 0.1, 0.1)}
    monkeypatch.setattr(ngrams, "discounts", lambda used, _: fixed.get(id(used), (0.0, 0.0, 0.0)))
    model = fit(counts, "kneser_ney", 2)
    for context in ([], *([k] for k in range(5))):
        scores = [theirs.score(str(w), [str(c) for c in context]) for w in range(5)]
        assert np.allclose(model.distribution(context), scores, atol=1e-12)


def test_held_out_bits_are_those_of_the_cards():
    """The context runs on over sentence ends; beside it each sentence alone."""
    baseline = train_characters.baseline(*train_characters.corpus())
    assert (baseline["value"], baseline["five_gram"]) == (2.9431, 2.1124)
    assert card("characters_gru").baseline_value == baseline["value"]
    assert card("characters_gru").five_gram == baseline["five_gram"]


@pytest.mark.parametrize(
    ("smoothing", "wanted"),
    [
        ("witten_bell", {1: 4.475, 2: 3.563, 3: 2.943, 5: 2.108, 6: 2.026}),
        ("kneser_ney", {5: 2.090, 6: 1.971}),
        ("modified_kneser_ney", {5: 2.091, 6: 1.960}),
    ],
)
def test_bits_per_character_of_sentences_that_start_anew(smoothing, wanted, corpus):
    counts, held = corpus
    for order, bits in wanted.items():
        model = fit(counts, smoothing, order)
        ours = np.concatenate([model.bits(ids[1:], ids[:1]) for ids in held])
        assert len(ours) == 87_739
        assert ours.mean() == pytest.approx(bits, abs=6e-4)


@pytest.fixture(scope="module")
def corpus():
    train, held = characters_split()
    symbols = ["?", *sorted({*"".join(train), "\n"})]
    at = {symbol: k for k, symbol in enumerate(symbols)}
    ids = np.array([at[c] for c in "\n" + "\n".join(train) + "\n"])
    return count(ids, len(symbols)), [
        np.array([at.get(c, 0) for c in f"\n{text}\n"]) for text in held
    ]


def test_number_of_ngrams_and_bytes_of_six_orders(corpus):
    counts, _ = corpus
    assert [len(keys) for keys in counts.keys] == [105, 2_337, 16_671, 67_742, 181_508, 362_964]
    arrays = (*counts.keys, *counts.counts, *counts.continuations)
    assert sum(array.nbytes for array in arrays) < 4.5e6
    model = fit(counts, "modified_kneser_ney")
    model.distribution([0] * 5)
    assert "_tables" not in vars(model)  # one context needs no table of all
    tables = [array for n in range(6) for array in model.shares_and_weights(n)]
    assert sum(array.nbytes for array in tables) < 9e6


def test_keys_do_not_overflow_with_a_large_vocabulary():
    text = np.tile(np.arange(40_000), 2)
    model = fit(count(text, 40_000, 6), "witten_bell")
    assert model.distribution(list(range(39_990, 39_995))).argmax() == 39_995


def test_count_rejects_an_empty_text_and_shortens_the_order():
    with pytest.raises(UserError, match="nothing to count"):
        count(np.array([], int), V)
    counts = count(np.array([1, 2, 1]), V, 6)
    assert counts.order == 3
    assert fit(counts, "witten_bell", 6).order == 3
    with pytest.raises(ValueError, match="Unknown smoothing"):
        fit(counts, "good_turing")


def test_witten_bell_by_hand_is_the_fitted_model():
    ids = np.array([1, 2, 3, 1, 2, 2, 1, 3, 1, 2, 1])
    model = fit(count(ids, 4, 2), "witten_bell")
    below = fit(count(ids, 4, 1), "witten_bell").distribution([])
    for context in (1, 2, 3):
        followers, times = model.counts.followers([context])
        counted = dict(zip(followers.tolist(), times.tolist(), strict=True))
        by_hand = [
            witten_bell(counted.get(w, 0), int(times.sum()), len(times), below[w]) for w in range(4)
        ]
        assert model.distribution([context]) == pytest.approx(by_hand)


def test_add_k_by_hand_is_the_fitted_model():
    ids = np.array([0, 1, 2, 0, 1, 3, 0, 2, 0, 1])
    for k in (1.0, 0.25):
        model = fit(count(ids, 4, 2), "add_k", k=k)
        # 0 is followed by 1 three times and by 2 once.
        expected = [add_k(times, 4, 4, k) for times in (0, 3, 1, 0)]
        np.testing.assert_allclose(model.distribution([0]), expected, rtol=1e-12)
