"""What the lesson on text claims of order and amounts, beside what could refute it."""

from __future__ import annotations

import re
from functools import partial
from itertools import permutations

import numpy as np
import pytest

from seqviz.compute.text.vectors import windows
from seqviz.compute.text.vectors.learned import LearnedVectors, nearest, substitutes_nearer
from seqviz.compute.text.vectors.windows import MODES, training_pairs
from seqviz.core.i18n import LANGUAGES, Text, sections
from seqviz.data import word_lists
from seqviz.data.reviews import characters_split, movie_reviews
from seqviz.experiments.text.tokenization import learned
from seqviz.experiments.text.vectors.neighbors import corpus, counted
from seqviz.experiments.text.windows.counted import of_bundled
from seqviz.lessons.text.lesson import lesson
from seqviz.lessons.text.tokenization import AMOUNTS
from seqviz.lessons.text.vectors import SHOWN
from seqviz.stats.proportions import mcnemar
from tests.lessons import textbook_rows

PAIRS = {"view": "pairs"}
TEXT = ["the", "dog", "bites", "the", "man"]
ORDER = ("no order", "order of the words is not", "没有词序", "没有词的顺序", "没有次序")
message = partial(textbook_rows.said, lesson, "neighbors")
each_language = pytest.mark.parametrize("language", LANGUAGES)


@each_language
def test_pairs_note_states_distance_preserved_and_side_lost(language):
    visible = message(PAIRS, language)
    retained = training_pairs(TEXT, 2, "skipgram").shared(
        training_pairs(["the", "man", "bites", "the", "dog"], 2, "skipgram")
    )
    assert retained == 12
    assert ("gives 12 of the 14", "14 个样本中有 12 个")[LANGUAGES.index(language)] in visible
    assert ("which side a word was on", "在左还是在右")[LANGUAGES.index(language)] in visible
    assert ("how near two words are", "与词的远近有关")[LANGUAGES.index(language)] in visible


@each_language
def test_pairs_texts_never_claim_missing_order(language):
    prose = sections("text", language)
    every = [prose["neighbors"], prose["neighbors_notice"], message(PAIRS, language),
             message({**PAIRS, "line": "狗咬人", "reordered": "人咬狗"}, language)]  # fmt: skip
    every += [cell for row in Text(language).items("text.texts.rows") for cell in row]
    assert not [item for item in every for words in ORDER if words in item]


def test_training_pairs_survive_only_two_permutations():
    """Seven words, a window of two: the text, its reverse, and no other order."""
    words = "abcdefg"
    here = training_pairs(words, 2, "skipgram")
    retained = [
        here.shared(training_pairs(permutation, 2, "skipgram"))
        for permutation in permutations(words)
    ]
    assert retained.count(len(here.pairs)) == 2
    assert sum(retained) / len(retained) / len(here.pairs) == pytest.approx(0.52, abs=0.01)


@each_language
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(("reach", "all_near"), [(1, False), (2, True), (3, True)])
def test_pairs_note_reports_order_independence_of_short_text(mode, reach, all_near, language):
    values = {**PAIRS, "line": "狗咬人", "reordered": "咬狗人", "reach": reach, "mode": mode}
    visible = message(values, language)
    assert (
        ("every order of the words", "次序怎样换，样本都相同")[LANGUAGES.index(language)] in visible
    ) == all_near
    here = training_pairs("狗咬人", reach, mode)
    retained = [
        here.shared(training_pairs(permutation, reach, mode))
        for permutation in permutations("狗咬人")
    ]
    assert (min(retained) == len(here.pairs)) == all_near


@each_language
@pytest.mark.parametrize(
    ("reordered", "words"),
    [
        ("", ("fewer than two words", "不足两个词")),
        ("dog", ("fewer than two words", "不足两个词")),
        ("The dog bites the man", ("is the first one", "与第一段相同")),
        ("man the bites dog the", ("gives the same 14", "14 个样本全都相同")),
        ("a cat sees the man", ("has other words", "的词不同")),
        ("the dog bites man", ("has other words", "的词不同")),
        ("<b>man</b> the $dog$ bites the", ("has other words", "的词不同")),
    ],
)
def test_pairs_note_handles_any_second_text(reordered, words, language):
    visible = message({**PAIRS, "reordered": reordered}, language)
    assert words[LANGUAGES.index(language)] in visible
    assert ("Pair 3 of 14", "第 3 个样本（共 14 个）")[LANGUAGES.index(language)] in visible


@each_language
def test_windows_text_states_held_out_sentences_found_in_training_text(language):
    train, held = characters_split()
    known = set(train)
    again = sum(text in known for text in held)
    prose = sections("text", language)["windows_notice"]
    assert (
        f"Of these {len(held)}, {again} also",
        f"{len(held)} 个没有参与训练的句子（其中 {again} 句",
    )[LANGUAGES.index(language)] in prose


@each_language
def test_neighbors_text_quotes_shown_words(language):
    """“with” cannot replace “action”: the prose names it beside “thriller”."""
    near = nearest(counted(2), "action", 2, SHOWN).words
    prose = sections("text", language)["neighbors_notice"]
    assert {"thriller", "with"} <= set(near)
    assert "“with”" in prose


def test_substitutes_p_depends_on_weighting():
    """The prose names the range of p over the weightings that are not shown."""
    words, often, ids, texts = corpus()
    every = {w: windows.counts(windows.neighbors(ids, texts, w), len(words)) for w in (2, 10)}

    def p(smoothing, positive):
        nearer = []
        for count in every.values():
            share = count.sum(0) ** smoothing
            with np.errstate(divide="ignore"):
                pmi = np.log(count / np.outer(count.sum(1), share / share.sum()))
            pmi = np.where(count > 0, np.maximum(pmi, 0) if positive else pmi, 0)
            vectors = LearnedVectors(words, windows.reduced(pmi, 50), often, 0, np.zeros(0))
            nearer.append(substitutes_nearer(vectors, word_lists.substitutes()))
        return mcnemar(*nearer).p

    assert p(0.75, True) == pytest.approx(0.019, abs=0.001)
    others = [p(1, True), p(1, False), p(0.75, False)]
    for language in LANGUAGES:
        prose = sections("text", language)["neighbors_notice"]
        assert f"{min(others):.3f}" in prose
        assert f"{max(others):.3f}" in prose


@each_language
def test_learned_texts_match_stated_review_count(language):
    every, held = len(movie_reviews().texts), len(learned.texts("held"))
    assert len(learned.texts("reviews")) == every - held == learned.ALL == AMOUNTS["all"]
    assert len(learned.texts("reviews", 10**6)) == learned.ALL  # none is left over
    assert f"{every - held:,}" in Text(language)("text.option.amount.all")


def test_notes_in_english_never_count_one_thing_as_several():
    text = partial(textbook_rows.said, lesson)
    visible = [
        text("neighbors", {"narrow": 1}),
        text("cutters", {"text": "I learn 习.", "strip": "wordpiece"}),
        text("windows", {"view": "counts", "line": "word"}),
    ]
    assert "Unknown tokens: 1 (" in visible[1]
    assert not [item for item in visible if re.search(r"\b1 (words|tokens|pieces)\b", item)]


@each_language
def test_counts_note_shows_shares_that_are_small_but_not_zero(language):
    """22 characters are too rare for an id, 0.0033% of the text."""
    values = {"view": "counts", "counted_by": "character", "clean": False}
    visible = textbook_rows.said(lesson, "windows", values, language)
    rare = of_bundled("character", False).unknown(5)
    assert 0 < rare < 0.0005
    assert f"{100 * rare:.5f}%" in visible
