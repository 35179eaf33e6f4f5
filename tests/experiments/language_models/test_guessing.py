"""The guessing game: its sentences, records of games, and an n-gram model as a player."""

from __future__ import annotations

import numpy as np
import pytest

from seqviz.experiments.language_models import guessing
from seqviz.experiments.language_models.corpora import bundled

NUMBERS = range(1, 1 + len(guessing.SENTENCES))
RECORD = " ".join(["1"] + ["3"] * len(guessing.characters(1)))


@pytest.mark.parametrize("number", NUMBERS)
def test_sentences_are_held_out_and_can_be_typed(number):
    train, held = bundled("en")
    sentence = guessing.SENTENCES[number - 1]
    assert held[guessing.sentence_index(number)] == sentence
    assert sentence not in train
    assert set(guessing.characters(number)) <= set(guessing.KEYS)
    assert len(set(guessing.KEYS)) == len(guessing.KEYS)


def test_finished_game_has_a_rank_for_each_character():
    played = guessing.reader_guesses(RECORD, 1)
    assert played.ranks.tolist() == [3] * len(guessing.characters(1))


@pytest.mark.parametrize(
    "record",
    ["", "1", "1 2 3", RECORD + " 1", RECORD[:-1] + "0", RECORD[:-1] + "99", RECORD[:-1] + "x",
     "2" + RECORD[1:], "<b>", "1 " + "-1 " * 36],
)  # fmt: skip
def test_other_records_are_no_game(record):
    assert guessing.reader_guesses(record, 1) is None


def test_longer_contexts_guess_better():
    ranks = [
        np.concatenate([guessing.model_guesses(number, n).ranks for number in NUMBERS])
        for n in (1, 3, 6)
    ]
    single, short, long = (row.mean() for row in ranks)
    assert long < short < single
    assert max(map(max, ranks)) <= len(guessing.KEYS)
    assert ranks[0][guessing.characters(1).index(" ")] == 1  # the commonest character
