"""Ranks of a word left out, times for N tokens, and decisions by bits, against definitions."""

from __future__ import annotations

import numpy as np
import pytest

from seqviz.compute.language_models.sides import (
    PASS_KINDS,
    READERS,
    Judged,
    SideTimes,
    rank_gaps,
)

WORDS = ("a", "b", "c", "d")


@pytest.fixture
def ranks():
    random = np.random.RandomState(0)
    scores = random.normal(size=(6, len(READERS), len(WORDS)))
    seconds = random.uniform(0.1, 0.2, (6, len(READERS)))
    truth = ["a", "b", "c", "d", "a", "?"]
    return scores, truth, rank_gaps(scores, WORDS, truth, (1, 4, 1, 1), seconds, 3)


def test_ranks_match_sorted_order(ranks):
    scores, truth, result = ranks
    for reader in range(len(READERS)):
        for gap, word in enumerate(truth):
            order = [WORDS[k] for k in np.argsort(-scores[gap, reader])]
            assert result.words(READERS[reader], gap) == tuple(order[:3])
            expected = 1 + order.index(word) if word in WORDS else len(WORDS) + 1
            assert result.rank[reader, gap] == expected


def test_share_within_rank_rises_to_share_of_known_words(ranks):
    share = ranks[2].within("left")
    assert share.mean[0] == ranks[2].first("left").mean
    assert (np.diff(share.mean) >= 0).all()
    assert share.mean[-1] == 5 / 6  # one word is no candidate
    assert ((share.low <= share.mean) & (share.mean <= share.high)).all()


def test_comparison_is_paired(ranks):
    result = ranks[2]
    facts = result.compared("whole", "left")
    first, second = (result.rank[READERS.index(name)] == 1 for name in ("whole", "left"))
    signed = first.mean() - second.mean()
    assert facts["difference"].mean == pytest.approx(abs(signed))
    assert facts["sequences"] == 4
    assert facts["ms"] == pytest.approx(1e3 * result.seconds[1].mean())
    assert result.compared("left", "left").variant == "null"


def test_passes_and_milliseconds_of_lengths():
    seconds = np.zeros((len(PASS_KINDS), 3, 2))
    seconds[0] = [[0.1, 0.2], [0.3, 0.4], [0.2, 0.9]]
    seconds[1:] = 0.05
    times = SideTimes(np.array([1, 8]), seconds)
    assert [times.passes(kind, 8) for kind in PASS_KINDS] == [8, 1, 1]
    assert times.milliseconds("write", 1) == pytest.approx(200)
    assert times.at(8)["write"] == pytest.approx(400)
    assert times.at(8)["read"] == times.at(8)["fill"] == pytest.approx(50)


def test_fewer_bits_decide():
    bits = np.array([[[1.0, 2.0], [3.0, 2.0]], [[1.0, 2.0], [1.0, 4.0]]])
    judged = Judged(("first", "second"), bits)
    assert judged.right.mean.tolist() == [0.5, 1.0]
    assert (judged.of("first").correct, judged.of("first").n) == (1, 2)
    assert judged.summary("first", 0).variant == "right"
    assert judged.summary("first", 1).variant == "wrong"
