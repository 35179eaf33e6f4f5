"""The shipped network that reads a window of words, and agreement at a distance."""

from __future__ import annotations

import numpy as np
import pytest

from seqviz.compute.language_models.window import HIDDEN, SIZE, WINDOW
from seqviz.compute.language_models.window_training import WindowSettings
from seqviz.data.word_lists import agreement
from seqviz.experiments.language_models import window
from seqviz.experiments.language_models.corpora import corpus
from seqviz.models import checkpoints

SIZES = 5_000


def test_shipped_network_has_the_held_out_bits_of_its_card():
    network, card = checkpoints.load_window(), checkpoints.card("window_words")
    found = corpus("en", "words", SIZES)
    assert network.words == found.vocabulary.names
    bits = window.held_out(found, network.bits)
    assert bits.mean == pytest.approx(card.value, abs=5e-4)
    assert bits.high < card.baseline_value
    assert bits.n == 789
    weights = SIZES * SIZE + WINDOW * SIZE * HIDDEN + HIDDEN + SIZES * HIDDEN + SIZES
    assert network.parameters == card.parameters == weights


def test_what_is_outside_the_vocabulary():
    assert corpus("en", "words", 2_000).unknown == pytest.approx(0.21, abs=0.005)
    assert corpus("en", "words", SIZES).unknown < 0.15


def test_words_are_learnt_anew_at_each_position():
    """The cosine of a word with itself is small, but above that of other words."""
    network = checkpoints.load_window()
    for first, second in ((2, 1), (1, 0), (2, 0)):
        found = network.similarity(first, second)
        assert found.mean.low > 3 * abs(found.other.mean())
        assert found.mean.high < 0.5
        assert np.median(found.rank) > 1


def test_training_reports_its_records_and_beats_the_frequencies():
    told = []
    trained = window.train_window(WindowSettings(words=200, updates=60), told.append)
    assert [record.update for record in told][-1] == 60
    assert tuple(told[1:]) == trained.records
    assert trained.bits.mean < trained.alone.mean
    assert trained.unknown == corpus("en", "words", 200).unknown


def test_agreement_sentences_have_forty_subjects_and_phrases_of_three_words():
    sentences = agreement()
    assert len(sentences) == len({item.plural for item in sentences}) == 40
    for item in sentences:
        assert item.plural != item.singular
        assert [len(phrase.split()) for phrase in item.between] == [3, 3, 3, 3]
        assert len(item.ending.split()) == 4
    assert (
        sentences[0].beginning(False, 1) == "The flight from the north the airline was cancelling"
    )


def test_subject_outside_the_window_changes_no_bit_of_a_prediction():
    """The decoder, which reads all words, depends on the subject far more than the GRU."""
    found = window.agreement_by_distance(("smollm2",), limit=3)
    assert found.distance.tolist() == [0, 3, 6, 9, 12]
    for model in ("ngram", "window"):
        assert found.blind(model)
        rows = found.plural[found.models.index(model)]
        assert (rows == rows[0]).all()
    assert not found.blind("gru")
    assert not found.blind("smollm2")
    assert found.effect("smollm2").mean.max() > 100 * abs(found.effect("gru").mean).max()
