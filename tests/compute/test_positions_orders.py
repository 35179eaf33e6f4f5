"""Two orders of the same words: what one layer notices, against `order` and by hand."""

from __future__ import annotations

import numpy as np
import pytest

from seqviz.compute.positions import order, relative
from seqviz.compute.positions.orders import (
    MOST_WORDS,
    SCHEMES,
    WIDTH,
    compare_orders,
    shuffle,
    vectors,
)
from seqviz.refusal import Refusal

# Sums of some hundreds of products of size 1 in another order, over a size of about 1.
ROUNDING = 1e-12
MARY, JOHN = "Mary gave John a flower", "John gave Mary a flower"
LONG = " ".join(f"w{k}" for k in range(MOST_WORDS))
ADDED = [scheme for scheme in SCHEMES if scheme != "none"]


def row(found, scheme: str) -> np.ndarray:
    return found.moved[SCHEMES.index(scheme)]


# ---------------------------------------------------------------------------------------- partners
@pytest.mark.parametrize(
    ("first", "second", "partner"),
    [
        (MARY, JOHN, (2, 1, 0, 3, 4)),
        ("the cat the dog", "dog the cat the", (1, 2, 3, 0)),  # the n-th "the" with the n-th
        ("a a a", "a a", (0, 1, -1)),
        ("a b", "b c a d", (2, 0)),
        ("The THE the", "the tHe THE", (0, 1, 2)),  # upper and lower case are one word
        ("one two", "three", (-1, -1)),
        ("我们 b 我们", "我们 我们 b", (0, 2, 1)),
    ],
)
def test_partners(first, second, partner):
    found = compare_orders(first, second)
    assert found.partner == partner
    assert found.words == tuple(first.split())
    assert found.others == tuple(second.split())
    lacking = np.array(partner) < 0
    assert found.paired.tolist() == [k for k, other in enumerate(partner) if other >= 0]
    for gaps in found.moved:
        np.testing.assert_array_equal(np.isnan(gaps), lacking)


def test_a_partner_is_the_same_word_and_nobodys_twice():
    random = np.random.RandomState(0)
    for _ in range(50):
        first, second = (
            " ".join(random.choice(["a", "b", "c", "d"], random.randint(1, 12))) for _ in range(2)
        )
        found = compare_orders(first, second)
        taken = [place for place in found.partner if place >= 0]
        assert len(set(taken)) == len(taken)
        for word, place in zip(found.words, found.partner, strict=True):
            assert place < 0 or found.others[place] == word
        common = sum(min(found.words.count(w), found.others.count(w)) for w in "abcd")
        assert len(taken) == common


# ------------------------------------------------------------------------------------ equivariance
@pytest.mark.parametrize("draw", [1, 2, 3])
@pytest.mark.parametrize("text", [MARY, "the cat saw the dog and the bird", LONG])
def test_without_encoding_and_mask_nothing_but_places_changes(text, draw):
    found = compare_orders(text, shuffle(text, draw))
    assert row(found, "none").max() < ROUNDING
    assert found.pooled[SCHEMES.index("none")] < ROUNDING
    for scheme in ADDED:  # the least is 0.3 of the outputs, 0.08 of their mean
        assert row(found, scheme).max() > 1e-3, scheme
        assert found.pooled[SCHEMES.index(scheme)] > 1e-3, scheme


def test_a_causal_mask_alone_tells_the_order():
    found = compare_orders(MARY, JOHN, causal=True)
    none = row(found, "none")
    assert none[:3].min() > 1e-3  # Mary, gave, John see other words before them
    assert none[3:].max() < ROUNDING  # a, flower see the same words as before
    assert found.pooled[SCHEMES.index("none")] > 1e-3


def test_rotary_positions_turn_no_values():
    """Words that all look alike have the same output anywhere, whatever the scores are."""
    found = compare_orders("a a a a", "a a a a a a")
    assert row(found, "rotary").max() < ROUNDING
    assert row(found, "none").max() < ROUNDING
    assert row(found, "sinusoidal").min() > 1e-3


@pytest.mark.parametrize("causal", [False, True])
def test_the_same_order_is_the_same(causal):
    found = compare_orders(MARY, MARY.upper(), causal)
    assert not found.moved.any()
    assert not found.pooled.any()
    np.testing.assert_array_equal(found.first, found.second)


# ---------------------------------------------------------------------------- a second way to them
@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("seed", [0, 7])
def test_against_shuffling_rows_of_a_matrix(causal, seed):
    """`order.shuffled` permutes rows and knows nothing of words."""
    permutation = np.array([2, 1, 0, 3, 4])
    found = compare_orders(MARY, JOHN, causal, seed)
    x = vectors(found.words, seed)
    for place, scheme in enumerate(SCHEMES):
        wanted = order.shuffled(
            x, permutation, scheme, causal, seed=seed, table=relative.learned_table(WIDTH, seed)
        )
        size = np.linalg.norm(wanted.before.outputs, axis=1).mean()
        np.testing.assert_allclose(found.moved[place], wanted.moved / size, atol=ROUNDING)
        np.testing.assert_allclose(found.first[place], wanted.before.weights, atol=ROUNDING)
        np.testing.assert_allclose(found.second[place], wanted.after.weights, atol=ROUNDING)
        means = [side.outputs.mean(axis=0) for side in (wanted.before, wanted.after)]
        pooled = np.linalg.norm(means[0] - means[1]) / size
        assert found.pooled[place] == pytest.approx(pooled, abs=ROUNDING)
        rows = found.first[place].sum(axis=1)
        np.testing.assert_allclose(rows, 1, atol=ROUNDING)
        if causal:
            assert not np.triu(found.first[place], 1).any()


def test_a_longer_second_text():
    found = compare_orders("a b", "b c a d", seed=3)
    assert found.first.shape == (len(SCHEMES), 2, 2)
    assert found.second.shape == (len(SCHEMES), 4, 4)
    a = order.attend(vectors(("a", "b"), 3), seed=3).outputs
    b = order.attend(vectors(("b", "c", "a", "d"), 3), seed=3).outputs
    size = np.linalg.norm(a, axis=1).mean()
    wanted = [np.linalg.norm(a[0] - b[2]) / size, np.linalg.norm(a[1] - b[0]) / size]
    np.testing.assert_allclose(row(found, "none"), wanted, atol=ROUNDING)
    assert min(wanted) > 0.01  # two words more to look at


# ----------------------------------------------------------------------------------------- vectors
def test_a_word_has_its_vector_wherever_it_stands():
    one, other = vectors(("a", "Flower", "x")), vectors(("flower", "x", "b", "A"))
    np.testing.assert_array_equal(one, other[[3, 0, 1]])
    assert not np.array_equal(vectors(("a",), 1), vectors(("a",), 2))
    assert vectors(()).shape == (0, WIDTH)


def test_different_words_have_different_vectors_of_the_same_kind():
    rows = vectors(tuple(f"word{k}" for k in range(400)))
    assert len(np.unique(rows[:, 0])) == 400
    # 25,600 standard normal numbers: 5 standard errors
    assert abs(rows.mean()) < 5 / np.sqrt(rows.size)
    assert abs(rows.var() - 1) < 5 * np.sqrt(2 / rows.size)


def test_vectors_stay_as_they_are():
    """Printed once: links are to show the same picture in years."""
    np.testing.assert_allclose(
        vectors(("flower",))[0, :3], [-0.07173561, 0.17814078, -0.68371139], atol=5e-9
    )


def test_seeds_that_would_leave_32_bits():
    assert np.isfinite(vectors(("a", "b", "c"), 2**32 - 1)).all()


# ----------------------------------------------------------------------------------------- shuffle
def test_shuffle():
    orders = {shuffle(MARY, draw) for draw in range(1, 51)}
    assert len(orders) > 30  # of 120
    for other in orders:
        assert sorted(other.split()) == sorted(MARY.split())
    assert shuffle(MARY, 4) == shuffle("  Mary\tgave John\na  flower ", 4)
    assert (shuffle(""), shuffle("one")) == ("", "one")


# ---------------------------------------------------------------------------------------- refusals
@pytest.mark.parametrize("pair", [("", MARY), (MARY, " \n\t"), ("", "")])
def test_no_words(pair):
    with pytest.raises(Refusal) as refused:
        compare_orders(*pair)
    assert refused.value.code == "no_text"


@pytest.mark.parametrize("pair", [(f"{LONG} more", MARY), (MARY, f"{LONG} more")])
def test_too_many_words(pair):
    with pytest.raises(Refusal) as refused:
        compare_orders(*pair)
    assert refused.value.code == "many_words"
    assert refused.value.details == {"limit": MOST_WORDS}


def test_as_many_words_as_there_may_be():
    assert MOST_WORDS == 24
    found = compare_orders(LONG, shuffle(LONG, 3))
    assert found.moved.shape == (len(SCHEMES), 24)
    assert np.isfinite(found.moved).all()


def test_chinese_is_read_character_by_character():
    found = compare_orders("玛丽给了约翰一朵花", "约翰给了玛丽一朵花")
    assert found.words == tuple("玛丽给了约翰一朵花")
    assert found.partner == (4, 5, 2, 3, 0, 1, 6, 7, 8)
    assert np.abs(found.moved[0]).max() < 1e-12 < np.abs(found.moved[1]).max()
    assert compare_orders("AI很有趣", "很有趣AI").words == ("AI", "很", "有", "趣")
