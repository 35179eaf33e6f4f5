"""The shipped network that reads a window of words, and agreement at a distance."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from seqviz.compute.gates.encoding import END
from seqviz.compute.language_models.window import HIDDEN, SIZE, WINDOW
from seqviz.compute.language_models.window_training import WindowSettings
from seqviz.core.errors import UserError
from seqviz.data import precomputed
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


_MEMORY = """
import threading, time
import torch
torch.set_num_threads(1)
from seqviz.experiments.language_models import window
from seqviz.compute.language_models.window_training import WindowSettings

def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096 / 1e6

def watch():
    while True:
        highest.append(max(highest.pop(), resident()))
        time.sleep(0.005)

torch.ones(64, 64, requires_grad=True).matmul(torch.ones(64, 64)).sum().backward()
window.corpus("en", "words")  # what the page has counted before
window.LIVE = WindowSettings(words=2_000, updates=40)
highest = [resident()]
before = highest[0]
threading.Thread(target=watch, daemon=True).start()
window.compare_blocks(1)
print(highest[0] - before)
"""


def test_training_and_its_measurement_stay_below_150_mb():
    """Held-out sentences are read one by one; all at once would take gigabytes."""
    result = subprocess.run([sys.executable, "-c", _MEMORY], capture_output=True, text=True,
                            check=True)  # fmt: skip
    assert 5 < float(result.stdout) < 150


def test_training_stops_at_the_report_that_raises(monkeypatch):
    class StopError(Exception):
        pass

    told = []

    def report(record, fraction):
        told.append(fraction)
        if len(told) == 3:
            raise StopError

    monkeypatch.setattr(window, "LIVE", WindowSettings(words=200, updates=500))
    with pytest.raises(StopError):
        window.compare_blocks(1, report)
    assert told == sorted(told)
    assert told[-1] < 0.05


def test_blocks_are_compared_on_the_same_sentences(monkeypatch):
    monkeypatch.setattr(window, "LIVE", WindowSettings(words=200, updates=60))
    told = []
    trained = window.compare_blocks(1, lambda record, fraction: told.append((record, fraction)))
    assert [fraction for _, fraction in told][-1] == 1
    assert {record.tied for record, _ in told} == {False, True}
    assert trained.bits.shape == (2, 1, 789)
    assert trained.parameters[0] - trained.parameters[1] == (WINDOW - 1) * SIZE * HIDDEN - WINDOW
    alone, trigram, *networks = trained.all.mean
    assert trigram < alone
    assert max(networks) < alone
    network = window.train_window(WindowSettings(words=200, updates=60)).network
    ids = np.append(corpus("en", "words", 200).held[7], 1)
    assert trained.bits[0, 0, 7] == pytest.approx(network.bits(ids).sum())


def test_shipped_price_of_one_block_is_small_and_five_seeds_agree():
    trained = precomputed.result("compare_blocks", seeds=window.SEEDS)
    facts = trained.compared()
    assert trained.bits.shape == (2, 5, 789)
    assert facts["difference"].mean < 0.1
    assert facts["separate"].high < facts["frequency"].low
    assert facts["high"] - facts["low"] < 0.05
    assert trained.unknown == corpus("en", "words", 2_000).unknown


TEXT = "The zyzzyva is one of the best films"


def test_next_words_read_three_words_and_name_the_unknown_ones():
    read = window.next_words(TEXT, 6)
    assert read.pieces == tuple(TEXT.split())
    assert read.unknown.tolist() == [False, True] + [False] * 6
    assert (read.following, read.position) == ("best", 6)
    network = checkpoints.load_window()
    log2 = network.log2_probabilities(np.array([[network.words.index(word) for word in
                                                 ("one", "of", "the")]]))[0]  # fmt: skip
    assert read.p_following == pytest.approx(2 ** log2[network.words.index("best")])
    assert read.rank == 1 + (log2 > log2[network.words.index("best")]).sum()
    assert read.likely[0] == network.words[log2.argmax()]
    far = window.next_words("A zyzzyva was one of the best films", 6)
    assert far.p.tolist() == read.p.tolist()  # words before the window change nothing


@pytest.mark.parametrize("place", [8, 99])
def test_last_word_is_followed_by_the_end(place):
    read = window.next_words(TEXT, place)
    assert (read.position, read.following) == (8, END)
    assert 0 < read.p_following < 1


def test_text_without_a_word_is_refused():
    with pytest.raises(UserError, match="Type a text") as refusal:
        window.next_words(" \n ", 1)
    assert refusal.value.code == "no_text"


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
