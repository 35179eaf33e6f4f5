"""What is read off the results of the accuracy lesson, on numbers small enough to count by hand."""

from __future__ import annotations

import numpy as np
import pytest

from seqviz.compute.bert_accuracy import counting, results
from seqviz.stats.proportions import of

TRUTH = np.array([True, True, False, False])
GOOD, FAIR, POOR = ([0.9, 0.8, 0.1, 0.2], [0.9, 0.2, 0.1, 0.2], [0.1, 0.2, 0.6, 0.2])


def test_word_masking_curve_reports_accuracy_and_pairs():
    curve = results.WordMaskingCurve(("random", "content"), np.array([0.0, 0.5, 1.0]),
                  np.array([[GOOD, FAIR, POOR], [GOOD, POOR, POOR]]), TRUTH)  # fmt: skip
    assert [curve.nearest(share) for share in (0.2, 0.3, 0.9)] == [0.0, 0.5, 1.0]
    assert curve.accuracy("random", 0.45) == of(3, 4)
    assert curve.accuracy("content", 0.45) == of(1, 4)
    assert curve.says_positive("random", 0.5) == 0.25
    pair = curve.compared("random", "content", 0.5)
    assert (pair.both, pair.only_first, pair.only_second, pair.neither) == (1, 2, 0, 1)


def test_word_masking_curve_fall_splits_shift_and_information():
    """Of four sentences all are right, masked one, with the other head three, deleted two."""
    x, wrong = np.array([0.0, 0.5]), [0.1, 0.2, 0.6, 0.7]
    table = np.array([[GOOD, POOR]])
    curve = results.WordMaskingCurve(("random",), x, table, TRUTH)
    controls = results.WordMaskingCurve(
        results.CONTROLS, x, np.array([[GOOD, [0.9, 0.2, 0.6, 0.2]], [FAIR, FAIR]]), TRUTH
    )
    fall = curve.fall(controls, 0.45)
    assert [item.correct for item in (fall.unmasked, fall.masked, fall.adapted, fall.deleted)] == [
        4, 1, 3, 2,
    ]  # fmt: skip
    assert (fall.total, fall.shift, fall.information) == (0.75, 0.5, 0.25)
    assert (fall.back.only_first, fall.back.only_second) == (2, 0)
    few = results.WordMaskingCurve(("random",), x, np.array([[POOR, wrong]])[..., :2], TRUTH[:2])
    assert few.fall(controls, 0.5).masked == of(0, 2)  # as many as both have


def test_pads_in_mean_ignores_missing_values():
    table = np.array([[GOOD, FAIR], [FAIR, [*POOR[:3], np.nan]]])
    mean = results.PadsInMean(np.array([32, 64]), table, TRUTH)
    assert mean.accuracy("told", 64) == of(3, 4)
    assert mean.accuracy("untold", 64) == of(0, 3)
    assert mean.flipped("untold", 64, np.array(GOOD)) == of(3, 3)
    assert mean.says_positive("untold", 64) == of(1, 3)


def test_system_predictions_sort_runs_by_correct_count():
    runs = results.SystemPredictions("some", np.array([GOOD, POOR, FAIR])).runs(TRUTH)
    assert [run.correct for run in runs] == [1, 3, 4]


def test_user_text_masking_reports_masked_words_and_flip():
    masking = results.UserTextMasking(("not", "a", "film"), ("random", "content"),
                     np.array([[2, 0, 1], [0, 2, 1]]),
                     np.array([[0.9, 0.8, 0.3, 0.6], [0.9, 0.8, 0.7, 0.6]]))  # fmt: skip
    assert masking.masked_words("random", 2).tolist() == [0, 1, 1]
    assert masking.masked_words("content", 0).tolist() == [0, 0, 0]
    assert masking.positive("random", 2) == 0.3
    assert masking.words_masked(2) == (2, 3)
    assert masking.undecided("random") == 2
    assert masking.undecided("content") is None


def test_guesses_report_rank_and_probability():
    words, first = (("a",), ("b",)), np.array([[0.5], [0.4]])
    guesses = results.Guesses(("mask", "random"), words, 0, "a", words, first, np.array([1, 1234]),
                    np.array([0.5, 0.01]))  # fmt: skip
    assert [guesses.rank_of(condition) for condition in guesses.conditions] == [1, 1234]
    assert [guesses.chance_of(condition) for condition in guesses.conditions] == [0.5, 0.01]


def test_padding_reports_accuracy_and_flips():
    table = np.full((2, 2, 2, 4), np.nan)  # told, side, length, sentence
    table[0, 1, 0], table[1, 1, 0] = GOOD, [*POOR[:3], np.nan]
    table[0, 1, 0, 3] = np.nan
    pads = np.zeros((2, 2, 2, 4))
    pads[1, 1, 0] = [0.2, 0.4, np.nan, np.nan]
    padding = results.Padding(np.array([32, 64]), np.array(GOOD), table, table, pads, TRUTH)
    assert padding.accuracy("told", "left", 32) == of(3, 3)
    assert padding.accuracy("untold", "left", 32) == of(0, 3)
    assert padding.flipped("left", 32) == of(3, 3)  # all that were tried
    assert padding.on_pads_untold("left", 32) == pytest.approx(0.3)
    assert padding.middle("on_pads", "untold", "left", 32) == pytest.approx(0.3)
    pair = padding.compared("left", 32)
    assert (pair.only_first, pair.n) == (3, 3)


def test_user_text_padding_reports_probabilities():
    table = np.arange(8.0).reshape(2, 2, 2) / 10
    padding = results.UserTextPadding(("a",), np.array([1]), np.array([True]), np.array([32, 64]),
        0.9,
                       table, table, table + 0.05)  # fmt: skip
    assert padding.positive("told", "left", 64) == pytest.approx(0.3)
    assert padding.positive("untold", "right", 32) == pytest.approx(0.4)
    assert padding.on_pads_untold("left", 32) == pytest.approx(0.65)


def test_attention_directions_report_accuracies():
    attention_directions = results.AttentionDirections(
        ("both", "left"),
        np.array([GOOD, POOR]),
        np.array([GOOD, FAIR]),
        np.array([[1, 1, 3], [1, 2, 9]]),
        TRUTH,
    )
    assert (attention_directions.accuracy("both"), attention_directions.accuracy("left")) == (
        of(4, 4),
        of(1, 4),
    )
    assert attention_directions.refitted_accuracy("left") == of(3, 4)
    assert (attention_directions.guessed("both"), attention_directions.guessed("left")) == (
        of(2, 3),
        of(1, 3),
    )
    assert attention_directions.compared("both", "left").only_first == 3


def test_tuned_reports_mean_run_and_spread():
    def tuned(*runs: list[float]) -> results.Tuned:
        curve = np.zeros((len(runs), 1))
        return results.Tuned(
            results.TuneSettings(), curve, curve, curve, np.array(runs), 2, 10, 1.0
        )

    assert tuned(GOOD, FAIR).tested(TRUTH) == of(4, 4)  # 3.5 of 4, rounded to even
    assert tuned(GOOD, POOR).tested(TRUTH) == of(2, 4)
    assert tuned(GOOD, FAIR, POOR).spread(TRUTH) == (0.25, 1.0)
    assert tuned(FAIR).spread(TRUTH) is None


def test_searched_reports_validation_and_test_accuracy():
    result = results.Searched(results.SearchSettings(), np.array([0.1, 0.01]), np.array([8, 16]),
                     np.array([0.7, 0.85]), 1, np.array(FAIR))  # fmt: skip
    assert result.best_rate == 0.01
    assert result.validated(800) == of(680, 800)
    assert result.tested(TRUTH) == of(3, 4)
    assert result.chosen(800, TRUTH)["rates"] == 2
    assert results.reached((result,), 800) == {"grid": of(680, 800)}


def test_mode_comparison_spread_is_range_over_runs():
    mode_comparison = results.ModeComparison(
        ("eval", "train"), np.array([[0.5, 0.5], [0.4, 0.75]]), np.ones((2, 2), bool)
    )
    assert mode_comparison.spread("eval") == 0
    assert mode_comparison.spread("train") == pytest.approx(0.35)


def test_count_reports_share_trained():
    assert counting.count(counting.BERT_BASE, "head").share_trained == 1538 / 109_483_778
    assert counting.count(counting.MINILM, "random").share_trained == 0
