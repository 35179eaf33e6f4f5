"""Simple codes of a position, terms of all schemes, late rows, and who extrapolates."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from seqviz.compute.positions import learned, order, relative, rotary, simple
from seqviz.core.errors import UserError
from testing.figure_examples.positions import order_result


@pytest.mark.parametrize("length", [8, 9, 32, 512])
def test_demands_fail_once_per_simple_code_and_never_for_waves(length):
    demands = simple.demands(length)
    at_most_word = {
        name: bool((demands.of(name, "norm") <= demands.word).all()) for name in simple.CODES
    }
    stays = {name: demands.of(name, "drift").max() == 0 for name in simple.CODES}
    even = {name: np.ptp(demands.of(name, "step")) < 1e-12 for name in simple.CODES}
    assert at_most_word == dict.fromkeys(simple.CODES, True) | {"number": False}
    assert stays == dict.fromkeys(simple.CODES, True) | {"share": False}
    assert even == dict.fromkeys(simple.CODES, True) | {"binary": False}
    assert demands.jump_at + 1 == 2 ** ((length - 1).bit_length() - 1)
    assert np.ptp(demands.of("waves", "step")) < 1e-13
    binary = simple.code("binary", length)
    after = binary[demands.jump_at + 1]
    assert np.linalg.norm(after - binary[0]) < np.linalg.norm(after - binary[demands.jump_at])


def test_code_rejects_bad_length_and_unknown_name():
    for length in (1, 1025):
        with pytest.raises(UserError):
            simple.code("waves", length)
    with pytest.raises(ValueError, match="Unknown code: roman"):
        simple.code("roman", 8)


@pytest.mark.parametrize("seed", range(3))
def test_position_terms_of_relative_schemes_depend_only_on_offset(seed):
    scheme_terms = relative.position_terms(20, 32, seed)
    for scheme in ("rotary", "alibi", "t5"):
        assert scheme_terms.spread_of(scheme) < 1e-13
    for scheme in ("sinusoidal", "learned"):
        assert scheme_terms.spread_of(scheme) > 0.1
    # ALiBi's by its formula
    positions = np.arange(20)
    expected = -0.5 * np.abs(np.subtract.outer(positions, positions))
    np.testing.assert_allclose(
        scheme_terms.terms[scheme_terms.schemes.index("alibi")], expected, atol=1e-13
    )


@pytest.mark.parametrize("scheme", relative.SCHEMES)
def test_attend_strength_scales_encoding_and_zero_removes_it(scheme):
    words = np.random.RandomState(2).standard_normal((7, 16))
    none = order.attend(words, "none", seed=4)
    np.testing.assert_allclose(
        order.attend(words, scheme, seed=4, strength=0.0).weights, none.weights
    )
    full, half = (order.attend(words, scheme, seed=4, strength=s) for s in (1.0, 0.5))
    np.testing.assert_array_equal(full.weights, order.attend(words, scheme, seed=4).weights)
    if scheme != "none":
        moved = [np.abs(item.weights - none.weights).max() for item in (half, full)]
        assert min(moved) > 0
        assert np.abs(half.weights - full.weights).max() > 0


def test_turned_score_is_sum_over_lengths_and_angles():
    q, k = np.random.RandomState(1).standard_normal((2, 16))
    at, result = rotary.turned(16, 30, 12), rotary.random_scores(16, 40, rotary.BASE)
    assert at.score == pytest.approx(result.at(18))
    lengths = [np.hypot(v[:8], v[8:]) for v in (q, k)]
    angles = np.cos(np.radians(at.between))
    assert at.score == pytest.approx(float((lengths[0] * lengths[1] * angles).sum()))


def test_random_scores_of_identical_key_peak_at_zero_offset():
    offset = rotary.random_scores(64, 48)
    assert offset.by_offset.offset[offset.alike.argmax()] == 0
    near, far = offset.sizes(alike=True)
    assert near > far
    assert near == pytest.approx(
        np.abs(offset.alike[np.abs(offset.by_offset.offset) <= 47 / 4]).mean()
    )


def test_ages_detect_untrained_rows():
    steps = np.random.RandomState(0).standard_normal((256, 24))
    table = 10 + np.cumsum(steps, axis=0)
    assert learned.ages(table).trained
    late = table.copy()
    late[200:] = 0.02 * np.random.RandomState(1).standard_normal((56, 24))
    assert not learned.ages(late).trained
    broken = table.copy()
    broken[101:] *= -1
    assert learned.ages(broken).broken[0] == 100
    assert learned.ages(broken).broken[1] < 0
    with pytest.raises(UserError):
        learned.ages(table[:7])


def test_outcome_keepers_keep_accuracy_at_double_length():
    result = order_result()
    rows = dict(zip(result.settings.encodings, range(5), strict=True))

    def scored(scores, **means):
        share = scores.accuracy.share.copy()
        for name, mean in means.items():
            share[rows[name]] = mean
        return replace(scores, accuracy=replace(scores.accuracy, mean=share))

    none = dict.fromkeys(rows, 0.36)
    test = scored(result.test, **none | {"rotary": 0.9, "alibi": 0.8})
    longer = scored(result.longer, **none | {"rotary": 0.5, "alibi": 0.78, "learned": np.nan})
    outcome = replace(result, test=test, longer=longer)
    assert outcome.keepers == ("alibi",)  # what knows no order has learned nothing to keep
    assert outcome.best_longer == "alibi"
    assert replace(outcome, longer=scored(longer, alibi=0.7)).keepers == ()
    count = replace(outcome, test=replace(test, order_blind=1.0, baseline=0.11))
    assert count.keepers == ("none", "sinusoidal", "alibi")


@pytest.mark.parametrize("frequencies", [4, 40])
def test_position_spectrum_slow_is_share_of_low_frequencies(frequencies):
    position_spectrum = learned.PositionSpectrum(
        np.arange(1.0, frequencies + 1), np.ones(frequencies)
    )
    assert position_spectrum.slow == pytest.approx(min(1, 8 / frequencies))
