"""What is read off the results of the accuracy lesson, on numbers small enough to count by hand."""

from __future__ import annotations

import numpy as np
import pytest

from seqviz.compute.bert_accuracy import counting, results
from seqviz.stats.proportions import of

TRUTH = np.array([True, True, False, False])
GOOD, FAIR, POOR = ([0.9, 0.8, 0.1, 0.2], [0.9, 0.2, 0.1, 0.2], [0.1, 0.2, 0.6, 0.2])


def test_knife():
    found = results.WordMaskingCurve(("random", "content"), np.array([0.0, 0.5, 1.0]),
                  np.array([[GOOD, FAIR, POOR], [GOOD, POOR, POOR]]), TRUTH)  # fmt: skip
    assert [found.nearest(share) for share in (0.2, 0.3, 0.9)] == [0.0, 0.5, 1.0]
    assert found.accuracy("random", 0.45) == of(3, 4)
    assert found.accuracy("content", 0.45) == of(1, 4)
    assert found.says_positive("random", 0.5) == 0.25
    pair = found.compared("random", "content", 0.5)
    assert (pair.both, pair.only_first, pair.only_second, pair.neither) == (1, 2, 0, 1)


def test_a_fall_taken_apart():
    """Of four sentences all are right, masked one, with the other head three, deleted two."""
    x, wrong = np.array([0.0, 0.5]), [0.1, 0.2, 0.6, 0.7]
    table = np.array([[GOOD, POOR]])
    found = results.WordMaskingCurve(("random",), x, table, TRUTH)
    controls = results.WordMaskingCurve(
        results.CONTROLS, x, np.array([[GOOD, [0.9, 0.2, 0.6, 0.2]], [FAIR, FAIR]]), TRUTH
    )
    fall = found.fall(controls, 0.45)
    assert [one.correct for one in (fall.whole, fall.masked, fall.adapted, fall.deleted)] == [
        4, 1, 3, 2,
    ]  # fmt: skip
    assert (fall.total, fall.shift, fall.information) == (0.75, 0.5, 0.25)
    assert (fall.back.only_first, fall.back.only_second) == (2, 0)
    few = results.WordMaskingCurve(("random",), x, np.array([[POOR, wrong]])[..., :2], TRUTH[:2])
    assert few.fall(controls, 0.5).masked == of(0, 2)  # as many as both have


def test_padding_in_the_mean():
    table = np.array([[GOOD, FAIR], [FAIR, [*POOR[:3], np.nan]]])
    found = results.PadsInMean(np.array([32, 64]), table, TRUTH)
    assert found.accuracy("told", 64) == of(3, 4)
    assert found.accuracy("untold", 64) == of(0, 3)
    assert found.flipped("untold", 64, np.array(GOOD)) == of(3, 3)
    assert found.says_positive("untold", 64) == of(1, 3)


def test_runs_of_a_system():
    runs = results.SystemPredictions("some", np.array([GOOD, POOR, FAIR])).runs(TRUTH)
    assert [run.correct for run in runs] == [1, 3, 4]


def test_own_sentence_under_the_knife():
    found = results.UserTextMasking(("not", "a", "film"), ("random", "content"),
                     np.array([[2, 0, 1], [0, 2, 1]]),
                     np.array([[0.9, 0.8, 0.3, 0.6], [0.9, 0.8, 0.7, 0.6]]))  # fmt: skip
    assert found.masked_words("random", 2).tolist() == [0, 1, 1]
    assert found.masked_words("content", 0).tolist() == [0, 0, 0]
    assert found.positive("random", 2) == 0.3
    assert found.words_masked(2) == (2, 3)
    assert found.undecided("random") == 2
    assert found.undecided("content") is None


def test_guesses():
    words, first = (("a",), ("b",)), np.array([[0.5], [0.4]])
    found = results.Guesses(("mask", "random"), words, 0, "a", words, first, np.array([1, 1234]),
                    np.array([0.5, 0.01]))  # fmt: skip
    assert [found.rank_of(one) for one in found.conditions] == [1, 1234]
    assert [found.chance_of(one) for one in found.conditions] == [0.5, 0.01]


def test_padding():
    table = np.full((2, 2, 2, 4), np.nan)  # told, side, length, sentence
    table[0, 1, 0], table[1, 1, 0] = GOOD, [*POOR[:3], np.nan]
    table[0, 1, 0, 3] = np.nan
    pads = np.zeros((2, 2, 2, 4))
    pads[1, 1, 0] = [0.2, 0.4, np.nan, np.nan]
    found = results.Padding(np.array([32, 64]), np.array(GOOD), table, table, pads, TRUTH)
    assert found.accuracy("told", "left", 32) == of(3, 3)
    assert found.accuracy("untold", "left", 32) == of(0, 3)
    assert found.flipped("left", 32) == of(3, 3)  # all that were tried
    assert found.on_pads_untold("left", 32) == pytest.approx(0.3)
    assert found.middle("on_pads", "untold", "left", 32) == pytest.approx(0.3)
    pair = found.compared("left", 32)
    assert (pair.only_first, pair.n) == (3, 3)


def test_own_sentence_padded():
    table = np.arange(8.0).reshape(2, 2, 2) / 10
    found = results.UserTextPadding(("a",), np.array([1]), np.array([True]), np.array([32, 64]),
        0.9,
                       table, table, table + 0.05)  # fmt: skip
    assert found.positive("told", "left", 64) == pytest.approx(0.3)
    assert found.positive("untold", "right", 32) == pytest.approx(0.4)
    assert found.on_pads_untold("left", 32) == pytest.approx(0.65)


def test_direction():
    found = results.AttentionDirections(("both", "left"), np.array([GOOD, POOR]), np.array([GOOD,
        FAIR]),
                      np.array([[1, 1, 3], [1, 2, 9]]), TRUTH)  # fmt: skip
    assert (found.accuracy("both"), found.accuracy("left")) == (of(4, 4), of(1, 4))
    assert found.refitted_accuracy("left") == of(3, 4)
    assert (found.guessed("both"), found.guessed("left")) == (of(2, 3), of(1, 3))
    assert found.compared("both", "left").only_first == 3


def test_a_trained_classifier_is_as_good_as_its_mean_run():
    def tuned(*runs: list[float]) -> results.Tuned:
        curve = np.zeros((len(runs), 1))
        return results.Tuned(
            results.TuneSettings(), curve, curve, curve, np.array(runs), 2, 10, 1.0
        )

    assert tuned(GOOD, FAIR).tested(TRUTH) == of(4, 4)  # 3.5 of 4, rounded to even
    assert tuned(GOOD, POOR).tested(TRUTH) == of(2, 4)
    assert tuned(GOOD, FAIR, POOR).spread(TRUTH) == (0.25, 1.0)
    assert tuned(FAIR).spread(TRUTH) is None


def test_a_search_is_judged_twice():
    found = results.Searched(results.SearchSettings(), np.array([0.1, 0.01]), np.array([8, 16]),
                     np.array([0.7, 0.85]), 1, np.array(FAIR))  # fmt: skip
    assert found.best_rate == 0.01
    assert found.validated(800) == of(680, 800)
    assert found.tested(TRUTH) == of(3, 4)


def test_the_spread_of_repetitions():
    found = results.ModeComparison(
        ("eval", "train"), np.array([[0.5, 0.5], [0.4, 0.75]]), np.ones((2, 2), bool)
    )
    assert found.spread("eval") == 0
    assert found.spread("train") == pytest.approx(0.35)


def test_the_share_of_weights_that_are_trained():
    assert counting.count(counting.BERT_BASE, "head").share_trained == 1538 / 109_483_778
    assert counting.count(counting.MINILM, "random").share_trained == 0
