"""What a page reads off backpropagation through time: closed forms and plain counting."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from seqviz.compute import vanishing_gradients
from seqviz.compute.vanishing_gradients import (
    Descent,
    GradientExperiment,
    GradientReach,
    PairSpectrum,
)
from seqviz.compute.vanishing_gradients.norms import LogNorms
from seqviz.core.i18n import format_value
from seqviz.core.units import unbroken, unit_of


def written(result, name: str) -> str:
    """A property as it stands on screen."""
    return format_value(getattr(result, name), unit_of(getattr(type(result), name).fget))


def test_gradient_reach_marks_horizon_of_short_sequence():
    norms = LogNorms(np.array([-50.0, -1.0, 39.0, 0.0]), None)
    gradient_reach = GradientReach(norms, 0.0, norms.hidden, 2, 1, None, None, None)
    assert gradient_reach.horizon_seen() == "2"
    assert gradient_reach.horizon_seen(on_h=True) == "1"
    assert gradient_reach.factor == pytest.approx(10 ** (-50 / 3))
    assert replace(gradient_reach, horizon=3).horizon_seen() == unbroken("≥ 3")
    assert gradient_reach.left_with is None
    assert replace(gradient_reach, left_float32=1).left_with == -50
    lstm = replace(norms, cell_state=np.array([-51.0, -2.0, 40.0, 0.0]))  # the long road is c
    assert replace(gradient_reach, norms=lstm, left_float32=3).left_with == 40
    assert written(replace(gradient_reach, left_float32=1), "left_with") == unbroken("1.00 × 10⁻⁵⁰")


def test_spectrum_bound_is_power_of_largest_singular_value():
    result = vanishing_gradients.spectrum("identity", 4, 0.5, 1)
    assert result.bound(0) == 0
    assert result.bound(10) == pytest.approx(np.log10(0.5**10))
    assert format_value(
        result.bound(2000), unit_of(vanishing_gradients.MatrixSpectrum.bound)
    ) == unbroken("8.71 × 10⁻⁶⁰³")


@pytest.mark.parametrize(
    ("log10", "largest", "smallest", "digits"),
    [
        ([2.0, 1.0, -0.5], 2.0, -0.5, 3),
        ([0.0, -13.5, np.nan], 0.0, -13.5, 1),  # float64 has 15 digits of the largest
        ([0.0, -12.5, -np.inf], 0.0, -12.5, 2),
        ([0.0, -14.9], 0.0, -14.9, 1),
        ([-np.inf, -np.inf], -np.inf, -np.inf, 1),
        ([np.nan], -np.inf, -np.inf, 1),
    ],
)
def test_pair_spectrum_reports_resolved_singular_values(log10, largest, smallest, digits):
    pair_spectrum = PairSpectrum(np.array(log10), int(np.isnan(log10).sum()))
    assert (pair_spectrum.largest, pair_spectrum.smallest, pair_spectrum.digits) == (
        largest,
        smallest,
        digits,
    )
    assert (written(pair_spectrum, "largest") == "0") == (largest == -np.inf)


def test_truncation_reports_values_by_window():
    truncation = vanishing_gradients.truncation(GradientExperiment("rnn", 60, 4, loss="mean"))
    for expected, window in ((1, 1), (7, 7), (200, 60), (-5, 1)):
        assert truncation.nearest(expected) == window
    missing = next(k for k in range(1, 61) if k not in truncation.windows)
    near = truncation.nearest(missing)
    assert near in truncation.windows
    assert abs(near - missing) == np.abs(truncation.windows - missing).min()
    index = truncation.windows.tolist().index(20)
    assert truncation.kept_by(20) == pytest.approx((sum(range(1, 20)) + 41 * 20) / (60 * 61 / 2))
    assert (truncation.angle_of(20), truncation.length_of(20)) == (
        truncation.angle[index],
        truncation.length[index],
    )
    assert format_value(12.345, unit_of(vanishing_gradients.Truncation.angle_of)) == "12.3°"
    with pytest.raises(ValueError, match="is not in list"):
        truncation.kept_by(missing)


def test_descent_without_updates_formats_as_dash():
    descent = Descent(np.array([3.0, 2.0]), np.array([5.0, 4.0]), 1, None)
    assert (descent.last_loss, descent.largest_norm) == (2, 5)
    nothing = Descent(np.array([]), np.array([]), 0, 1)
    assert (written(nothing, "last_loss"), written(nothing, "largest_norm")) == ("–", "–")


def test_simplified_gru_reports_radius_and_last_norm():
    simplified_gru = vanishing_gradients.simplified_gru(0.5, 0.5, "identity", 4, 0.8, 1, 10)
    assert simplified_gru.radius == pytest.approx(0.5 + 0.25 * 0.8)
    assert simplified_gru.radius_rnn == pytest.approx(0.8)
    assert simplified_gru.last_norm == pytest.approx(10 * np.log10(0.7))
    assert simplified_gru.last_norm_rnn == pytest.approx(10 * np.log10(0.8))
    assert written(simplified_gru, "last_norm_rnn") == "0.107"
    assert (
        written(
            vanishing_gradients.simplified_gru(1.0, 0.0, "identity", 4, 0.8, 1, 10), "last_norm"
        )
        == "0"
    )
