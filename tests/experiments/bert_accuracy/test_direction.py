"""Looking one way only: against the library with masks of our own making, and refitted heads."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from seqviz.compute.bert_accuracy.results import DIRECTIONS
from seqviz.data.reviews import sentiment_split
from seqviz.experiments.bert_accuracy import direction, features, fill_head, heads
from seqviz.experiments.bert_accuracy.encoding import tokenize
from seqviz.models import texts
from tests.experiments.bert_accuracy import fill_file
from tests.models.reference_model import eager, passed, reported

TEXTS = sentiment_split()[1].texts
COUNT, TRAINING = 32, 60


@pytest.fixture(scope="module")
def folder(minilm, tmp_path_factory):
    """A random fill-in file: what is asked here does not depend on how good it is."""
    path = tmp_path_factory.mktemp("direction")
    with fill_file.installed(path, minilm.network):
        yield path


@pytest.fixture(scope="module")
def run(folder):
    return reported(direction.direction, "minilm", COUNT, training=TRAINING)


def allowed(count, name):
    full = np.ones((count, count), bool)
    return {"both": full, "left": np.tril(full), "right": np.triu(full)}[name]


def mean_vector(network, minilm, text, name):
    tokens = texts.tokens(minilm, text)
    return passed(network, tokens, allowed(len(tokens.ids), name))[1].mean(0)


def test_direction_sentiment_matches_library_with_same_mask(minilm, run):
    result, _ = run
    head, network = heads.standard_head("minilm", "mean"), eager(minilm)
    for row, name in enumerate(DIRECTIONS):
        for number in (0, 3, 31):
            vector = mean_vector(network, minilm, TEXTS[number], name)
            expected = heads.apply(head, vector[None])[0]
            # float32, summed in another order
            assert result.probability[row, number] == pytest.approx(expected, abs=1e-4)
    assert np.abs(result.probability[1] - result.probability[0]).max() > 0.1
    assert np.abs(result.probability[1] - result.probability[2]).max() > 0.1


def test_direction_refits_heads_on_vectors_of_same_direction(minilm, run):
    result, _ = run
    np.testing.assert_array_equal(result.refitted[0], result.probability[0])
    network, train = eager(minilm), features.parts()["train"]
    vectors = np.stack([mean_vector(network, minilm, t, "left") for t in train.texts[:TRAINING]])
    outcome = heads.fit(
        vectors,
        train.positive[:TRAINING],
        vectors,
        train.positive[:TRAINING],
        epochs=heads.STANDARD.epochs,
        rate=heads.STANDARD.head_rate,
        batch=heads.STANDARD.batch,
    ).heads[0]
    own = np.stack([mean_vector(network, minilm, t, "left") for t in TEXTS[:20]])
    # Five hundred steps of float32 from vectors that differ by 1e-6.
    np.testing.assert_allclose(result.refitted[1, :20], heads.apply(outcome, own), atol=2e-3)
    assert np.abs(result.refitted[1] - result.probability[1]).max() > 0.05


def test_direction_ranks_match_single_passes(minilm, run):
    result, _ = run
    assert result.rank.shape == (3, COUNT)
    guesser = fill_head.head("minilm")
    same = 0
    for number in (0, 7, 31):
        ids = texts.tokens(minilm, TEXTS[number]).ids
        position = 1 + np.random.RandomState((0, number)).permutation(len(ids) - 2)[0]
        changed = ids.copy()
        changed[position] = 103
        other = eager(guesser)
        for row, name in enumerate(DIRECTIONS):
            mask = torch.where(torch.tensor(allowed(len(ids), name)), 0.0, -1e30)[None, None]
            with torch.inference_mode():
                last = other(torch.tensor(changed)[None], attention_mask=mask).last_hidden_state
                scores = other.fill_in(last[0, position])
            rank = 1 + int((scores > scores[ids[position]]).sum())
            assert abs(int(result.rank[row, number]) - rank) <= 1  # two nearly equal scores
            same += rank == result.rank[row, number]
    assert same >= 7
    assert (result.rank[0] != result.rank[1]).any()


def test_one_hidden_masks_one_token_per_sentence(minilm):
    ids = tokenize(minilm, ("", *TEXTS[:4]))
    masked, positions, truth = direction._one_hidden(minilm, ids, 1)
    assert [len(item) for item in positions] == [0, 1, 1, 1, 1]  # nothing to hide in an empty text
    for entry, changed, position, token in zip(ids, masked, positions, truth, strict=True):
        assert (np.flatnonzero(entry != changed) == position).all()
        assert (entry[position] == token).all()
        assert (changed[position] == 103).all()
