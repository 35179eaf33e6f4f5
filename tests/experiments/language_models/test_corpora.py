"""Sentences and language of a text that a user types on one line."""

from __future__ import annotations

from seqviz.experiments.language_models import counting
from seqviz.experiments.language_models.corpora import MAX_CORPUS_CHARS, language_of, sentences


def test_marks_and_line_ends_end_a_sentence():
    assert sentences("Dog bites. Man\nsees! 狗咬人。人？") == (
        "Dog bites.", "Man", "sees!", "狗咬人。", "人？",
    )  # fmt: skip
    assert sentences(" \n ") == ()
    assert sum(map(len, sentences("a." * MAX_CORPUS_CHARS))) == MAX_CORPUS_CHARS


def test_language_is_that_of_the_characters():
    assert (language_of("dog"), language_of("dog 狗"), language_of("")) == ("en", "zh", "en")


def test_marks_are_no_words_of_an_order():
    result = counting.orders("Dog bites man. Man sees dog!", "dog bites man.", "en", 2, "none")
    assert result.words == ("dog", "bites", "man")
    assert result.unknown == ()
    assert result.totals[0] == 3  # dog begins 1 of 2, bites follows it in 1 of 2, man ends 1 of 2
