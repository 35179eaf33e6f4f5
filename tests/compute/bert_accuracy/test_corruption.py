"""Words that go one after the other, and BERT's corruption: exact cases, invariants, shares."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from math import floor

import numpy as np
import pytest
from scipy.stats import binom

from seqviz.compute.bert_accuracy.corruption import (
    FUNCTION_WORDS,
    content_first,
    count,
    function_first,
    is_function,
    masked,
    random_turns,
    select,
    turns,
    words_of,
    written,
)
from seqviz.compute.bert_accuracy.results import FillSettings

PIECES = ("[CLS]", "una", "##ffa", "##ble", ",", "don", "'", "t", "play", "##ing", "[SEP]", "[PAD]")
SPECIAL = np.array([piece.startswith("[") for piece in PIECES])
WORD_OF = np.array([-1, 0, 0, 0, 1, 2, 3, 4, 5, 5, -1, -1])
VOCABULARY = 30522


# --- words --------------------------------------------------------------------------------------


def test_words_of_groups_pieces():
    np.testing.assert_array_equal(words_of(PIECES, SPECIAL), WORD_OF)
    assert written(PIECES, WORD_OF) == ("unaffable", ",", "don", "'", "t", "playing")


def test_words_of_counts_orphan_continuation_as_word():
    pieces = ("[CLS]", "##ing", "##s", "[SEP]", "##s")
    result = words_of(pieces, np.array([True, False, False, True, False]))
    assert result.tolist() == [-1, 0, 0, -1, 1]
    assert written(pieces, result) == ("##ings", "##s")


def test_words_of_handles_texts_without_words():
    assert words_of((), np.zeros(0, bool)).tolist() == []
    nothing = words_of(("[CLS]", "[SEP]"), np.ones(2, bool))
    assert nothing.tolist() == [-1, -1]
    assert written(("[CLS]", "[SEP]"), nothing) == ()
    assert turns(np.ones(2), nothing).tolist() == []
    ids = np.array([101, 102])
    np.testing.assert_array_equal(masked(ids, nothing, np.zeros(0, int), 3, 103), ids)


# --- who goes first -----------------------------------------------------------------------------


def test_turns_sort_by_score_sum_and_break_ties_left_to_right():
    # Sums: 3, 2, 9, 3, 0, 2. The scores of special tokens are the highest and must not count.
    scores = np.array([99, 1, 1, 1, 2, 9, 3, 0, 1, 1, 99, 99.0])
    assert turns(scores, WORD_OF).tolist() == [1, 3, 0, 2, 5, 4]


def test_random_turns_are_uniform():
    draws = 6000
    observed = np.zeros(6)
    for seed in range(draws):
        turn = random_turns(3, (7, seed))
        assert sorted(turn) == [0, 1, 2]
        observed[turn[0] * 2 + (turn[1] > turn[2])] += 1
    # Each of the six counts within the central 1 - 1e-6 of its binomial distribution.
    low, high = binom.interval(1 - 1e-6, draws, 1 / 6)
    assert low < observed.min()
    assert observed.max() < high
    np.testing.assert_array_equal(random_turns(9, 5), random_turns(9, 5))
    assert random_turns(9, (0, 1)).tolist() != random_turns(9, (1, 0)).tolist()


def test_content_first_and_function_first_order_word_classes():
    words = ("The", "film", "is", "n", "'", "t", "funny", ",", "just", "long", ".", "10")
    content = {"film", "funny", "just", "long", "10"}
    assert {word for word in words if not is_function(word)} == content
    orders = set()
    for seed in range(20):
        first = [words[i] for i in np.argsort(content_first(words, seed))]
        last = [words[i] for i in np.argsort(function_first(words, seed))]
        assert set(first[: len(content)]) == content
        assert set(last[-len(content) :]) == content
        orders.add(tuple(first[: len(content)]))
    assert len(orders) > 10  # of 120, so within the class it is at random
    assert content_first((), 0).tolist() == []


def test_function_words_match_documented_list():
    assert {"no", "not", "n", "t", "like"} <= FUNCTION_WORDS
    assert not {"never", "good", "bad", "won"} & FUNCTION_WORDS
    assert all(word == word.lower() for word in FUNCTION_WORDS)


# --- how many, and which ids --------------------------------------------------------------------


def test_count_rounds_half_up():
    for percent in range(101):
        for words in range(0, 70):
            exact = floor(Fraction(percent, 100) * words + Fraction(1, 2))
            assert count(percent / 100, words) == exact, (percent, words)


def test_masked_replaces_whole_words():
    ids = np.arange(1000, 1012)
    turn = np.array([2, 5, 0, 4, 1, 3])  # "don", "t", "unaffable", "playing", "'", ","
    gone = [[], [5], [5, 7], [5, 7, 1, 2, 3], [5, 7, 1, 2, 3, 8, 9]]
    for k, positions in enumerate(gone):
        result = masked(ids, WORD_OF, turn, k, 103)
        assert sorted(np.flatnonzero(result == 103)) == sorted(positions)
        np.testing.assert_array_equal(np.delete(result, positions), np.delete(ids, positions))
    np.testing.assert_array_equal(masked(ids, WORD_OF, turn, 6, 103) == 103, WORD_OF >= 0)
    assert ids[5] == 1005  # the caller's array is untouched


# --- BERT's corruption --------------------------------------------------------------------------


def _sentence(length: int) -> tuple[np.ndarray, np.ndarray]:
    ids = np.concatenate([[101], np.arange(2000, 2000 + length), [102, 0, 0]])
    return ids, (ids == 101) | (ids == 102) | (ids == 0)


@pytest.mark.parametrize(
    ("share", "length", "wanted"),
    [
        (0.15, 20, 3),
        (0.15, 1, 1),
        (0.15, 3, 1),
        (1.0, 20, 20),
        (0.0, 20, 0),
        (0.15, 0, 0),
        (0.4, 4, 2),
    ],
)
def test_select_picks_requested_share(share, length, wanted):
    ids, special = _sentence(length)
    corrupted = select(ids, special, FillSettings(share=share), VOCABULARY, 0)
    assert len(corrupted.positions) == len(corrupted.treatment) == wanted
    assert not special[corrupted.positions].any()
    assert (np.diff(corrupted.positions) > 0).all()


def test_select_changes_only_selected_positions_by_treatment():
    ids, special = _sentence(40)
    settings = FillSettings(share=0.5, mask=0.4, random=0.3)
    for seed in range(50):
        changed, positions, treatment = select(ids, special, settings, VOCABULARY, seed, mask_id=7)
        np.testing.assert_array_equal(np.delete(changed, positions), np.delete(ids, positions))
        assert (changed[positions[treatment == 0]] == 7).all()
        rendered = changed[positions[treatment == 1]]
        assert ((rendered >= 999) & (rendered < VOCABULARY)).all()
        np.testing.assert_array_equal(
            changed[positions[treatment == 2]], ids[positions[treatment == 2]]
        )


def test_select_matches_treatment_shares():
    ids, special = _sentence(10000)
    corrupted = select(ids, special, FillSettings(share=0.3), VOCABULARY, 3)
    assert len(corrupted.positions) == 3000
    for treatment, share in enumerate((0.8, 0.1, 0.1)):
        low, high = binom.interval(1 - 1e-6, 3000, share)
        assert low < (corrupted.treatment == treatment).sum() < high
    # Every place is as likely: of a sentence's first half as many as of the second.
    low, high = binom.interval(1 - 1e-6, 3000, 0.5)
    assert low < (corrupted.positions <= 5000).sum() < high


def test_select_draws_random_tokens_from_full_range():
    ids, special = _sentence(2000)
    settings = FillSettings(share=1.0, mask=0.0, random=1.0)
    changed = select(ids, special, settings, 1009, 0).ids[~special]
    # 2,000 draws from ten tokens: that one of them is missing has probability 10 * 0.9^2000.
    assert set(changed) == set(range(999, 1009))


def test_select_is_nested_in_share_and_mask():
    ids, special = _sentence(30)
    few, more = (
        select(ids, special, FillSettings(share=share), VOCABULARY, 4) for share in (0.2, 0.4)
    )
    assert set(few.positions) < set(more.positions)
    np.testing.assert_array_equal(few.ids[few.positions], more.ids[few.positions])
    base = FillSettings(share=1.0, mask=0.5, random=0.2)
    plain = select(ids, special, base, VOCABULARY, 4)
    raised = select(ids, special, replace(base, mask=0.7, random=0.0), VOCABULARY, 4)
    assert (raised.treatment == 0).sum() > (plain.treatment == 0).sum()
    assert (raised.treatment[plain.treatment == 0] == 0).all()
    np.testing.assert_array_equal(raised.treatment == 2, plain.treatment == 2)


@pytest.mark.parametrize(
    "wrong", [{"share": 1.1}, {"share": -0.1}, {"mask": 0.8, "random": 0.3}, {"random": -0.1}]
)
def test_select_rejects_impossible_shares(wrong):
    ids, special = _sentence(5)
    with pytest.raises(ValueError, match="share"):
        select(ids, special, FillSettings(**wrong), VOCABULARY, 0)
