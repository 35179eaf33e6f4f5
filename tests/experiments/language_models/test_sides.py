"""Gaps of bundled reviews, and the readers that fill them, against direct computation."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from seqviz.compute.language_models.sides import PASS_KINDS, READERS, Gap
from seqviz.core.errors import UserError
from seqviz.data.reviews import sentiment_split
from seqviz.data.word_lists import uses
from seqviz.experiments.gpt.surprise import surprise
from seqviz.experiments.language_models import sides
from seqviz.models.pretrained import decoder, load


def test_gaps_are_test_reviews_without_one_candidate():
    tests = set(sentiment_split()[1].texts)
    gaps = sides.gaps()
    assert len(gaps) == sides.N_GAPS
    assert len(set(gaps)) == sides.N_GAPS
    for gap in gaps:
        assert f"{gap.left} {gap.word}{gap.right}" in tests
        assert gap.word in sides.candidates()
        assert gap.left
        assert gap.right


def test_candidates_are_commonest_words_of_training_reviews():
    text = " ".join(sentiment_split()[0].texts)
    words = sides.candidates()
    assert len(set(words)) == sides.N_CANDIDATES
    assert words[0] == "the"
    assert text.count(f" {words[0]} ") > text.count(f" {words[-1]} ") > 0


def test_shuffled_gap_has_same_words_around_same_place():
    gap = Gap("a b c d", "e", " f g.")
    shuffled = sides.shuffle(gap, 0)
    assert sorted(f"{shuffled.left}{shuffled.right}".split()) == ["a", "b", "c", "d", "f", "g."]
    assert len(shuffled.left.split()) == 4
    assert shuffled != gap


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The weather is ___ today.", ("The weather is", " today.")),
        ("No gap", ("No gap", "")),
        ("Two __ gaps ____ here", ("Two", " gaps  here")),
    ],
)
def test_cut_splits_text_at_its_gap(text, expected):
    gap = sides.cut(text)
    assert (gap.left, gap.right) == expected


def test_gap_without_left_side_is_rejected(smollm2, minilm):
    with pytest.raises(UserError) as error:
        sides.fill("smollm2", "minilm", "___ is here")
    assert error.value.code == "no_left_side"


def test_candidates_are_single_tokens(smollm2, minilm):
    read, pieces = decoder("smollm2").tokenizer, load("minilm").tokenizer
    for word in sides.candidates():
        assert len(read(f" {word}")["input_ids"]) == 1
        assert pieces.tokenize(word) == [word]


def test_readers_match_direct_computation(smollm2, minilm, monkeypatch):
    """Scores of whole sentences are minus their surprisal; the left side ranks by the next word."""
    words = ("us", "you", "me")
    monkeypatch.setattr(sides, "candidates", lambda: words)
    gap = Gap("It is good enough to keep", "us", " involved.")
    (left, _), (whole, _) = sides._by_decoder(decoder("smollm2"), gap, words)
    bits = [surprise("smollm2", f"{gap.left} {word}{gap.right}").bits for word in words]
    after = len(decoder("smollm2").tokenizer(gap.left)["input_ids"]) - 1
    expected = [-np.log(2) * row[after:].sum() for row in bits]
    np.testing.assert_allclose(whole, expected, atol=1e-3)
    np.testing.assert_allclose(left, [-np.log(2) * row[after] for row in bits], atol=1e-3)
    monkeypatch.setattr(sides, "gaps", lambda: (gap, replace(gap, word="you")))
    result = sides.fill_bundled("smollm2", "minilm", 2)
    assert result.rank[READERS.index("whole")].tolist() == [
        1 + sum(value > whole[k] for value in whole) for k in (0, 1)
    ]
    assert result.sequences.tolist() == [1, 3, 1, 1]
    assert (result.rank[:2, 0] != result.rank[:2, 1]).all()  # of the same scores


def test_encoder_reads_right_side_and_order(smollm2, minilm):
    """Another right side, or another order, changes what MiniLM expects."""
    guesser, words = sides.head("minilm"), sides.candidates()
    gap = Gap("The film is a great piece", "of", " work for all of us.")
    others = replace(gap, right=" that I saw."), sides.shuffle(gap, 0)
    scores = [sides._by_encoder(guesser, item, words)[0] for item in (gap, *others)]
    assert words[int(scores[0].argmax())] == "of"
    assert np.abs(scores[0] - scores[1]).max() > 0.1
    assert np.abs(scores[0] - scores[2]).max() > 0.1


def test_own_gap_is_filled(smollm2, minilm, monkeypatch):
    monkeypatch.setattr(sides, "candidates", lambda: ("of", "the", "and"))
    result = sides.fill("smollm2", "minilm", "It is one ___ the best films.")
    assert result.words("left", 0)[0] == result.words("both", 0)[0] == "of"
    assert (result.rank == 4).all()  # no word is known to be right


def test_times_have_every_kind_and_grow_with_writing(smollm2, minilm):
    times = sides.time_sides("smollm2", "minilm", (1, 8), 1)
    assert times.seconds.shape == (len(PASS_KINDS), 1, 2)
    assert (times.seconds > 0).all()
    assert times.milliseconds("write", 8) > 2 * times.milliseconds("write", 1)


def test_continuation_bits_are_those_of_its_tokens(smollm2):
    item = uses()["question"][0]
    first, second = sides.continuation_bits("smollm2", item.text, item.right, item.wrong)
    start = len(decoder("smollm2").tokenizer(item.text)["input_ids"]) - 1
    bits = surprise("smollm2", f"{item.text} {item.right}").bits
    assert first == pytest.approx(bits[start:].sum(), abs=1e-3)
    assert first < second
    with pytest.raises(UserError):
        sides.continuation_bits("smollm2", item.text, " ", "b")


def test_uses_have_as_many_items_per_task():
    items = uses()
    assert {len(part) for part in items.values()} == {12}
    assert len({(item.text, item.right) for part in items.values() for item in part}) == 48
