"""Drawing a text from a model, and the meter of copying, against brute force."""

from __future__ import annotations

import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from seqviz.compute.gpt.draw import uniforms
from seqviz.compute.language_models import written
from seqviz.compute.language_models.ngrams import count, fit

letters = st.text("ab ", max_size=12)


@given(text=letters, training=letters)
def test_spans_are_the_longest_substrings_of_the_training_text(text, training):
    found = written.measure_copying(text, written.index_of(training), [], ())
    for start, length in enumerate(found.spans.tolist()):
        every = [n for n in range(len(text) - start + 1) if text[start : start + n] in training]
        assert length == max(every)
    assert len(found.longest_span) == found.longest
    assert found.longest_span in training


def test_share_of_words_that_exist():
    training = written.index_of("a dog")
    found = written.measure_copying("a dog bitz", training, ["a", "dog", "bitz"], {"a", "dog"})
    assert found.share_of_words == 2 / 3
    assert found.longest_span == "a dog"
    assert math.isnan(written.measure_copying("", training, [], {"a"}).share_of_words)


@given(text=st.text("a狗😀\x00\uffff", max_size=6), training=st.text("a狗😀\x00\uffff", max_size=9))
def test_every_character_is_found_and_none_behind_the_end(text, training):
    found = written.measure_copying(text, written.index_of(training), [], ())
    assert found.longest_span in training
    assert [length > 0 for length in found.spans] == [character in training for character in text]


def test_writing_stops_at_the_end_and_follows_the_counts():
    text = np.array([1, 2, 3, 1, 2, 3, 1, 2, 4, 1])
    model = fit(count(text, 5, 3), "none", 3)
    for seed in range(5):
        ids = written.write(model.distribution, uniforms(seed, 9), 1.0, [1], 1)
        assert ids in ([2, 3], [2, 4])
    assert written.write(model.distribution, uniforms(0, 9), 0.0, [1], 1) == [2, 3]
    assert written.write(model.distribution, uniforms(0, 1), 1.0, [1], 1) == [2]


def test_many_texts_have_the_frequencies_of_the_model():
    model = fit(count(np.array([1, 2, 1, 3, 1, 3, 1, 3, 1]), 4, 2), "none", 2)
    drawn = [written.write(model.distribution, (u,), 1.0, [1], 1)[0] for u in uniforms(3, 2_000)]
    assert abs(np.mean(np.array(drawn) == 3) - 0.75) < 0.03
    cold = [written.write(model.distribution, (u,), 0.5, [1], 1)[0] for u in uniforms(3, 2_000)]
    assert abs(np.mean(np.array(cold) == 3) - 0.9) < 0.03  # 0.75^2 / (0.75^2 + 0.25^2)


def test_parted_is_the_first_difference():
    assert written.parted([1, 2, 3], [1, 2, 4]) == 2
    assert written.parted([1, 2], [1, 2, 4]) == 2
    assert written.parted([], [1]) == 0
