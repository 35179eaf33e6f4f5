"""Forecasts: statsmodels with the same parameters, and the closed form for AR(1)."""

import numpy as np
import pytest
from statsmodels.tsa.ar_model import AutoReg
from statsmodels.tsa.arima.model import ARIMA

from seqviz.compute.autoregression import (
    coefficients_from_partial,
    errors_by_horizon,
    fit,
    forecast_direct,
    forecast_recursive,
    psi_weights,
    simulate,
)

PHI = coefficients_from_partial((0.7, -0.5, 0.3))


def sample(n: int = 300, level: float = 0.0) -> np.ndarray:
    return simulate(PHI, sigma=1.5, n=n, burn_in=50, seed=6).values + level


@pytest.mark.parametrize("intercept", [False, True])
def test_recursive_means_equal_autoreg(intercept):
    values = sample(level=5.0 * intercept)
    found = fit(values, 3, "ols", intercept)
    ours = forecast_recursive(values, found.coefficients, found.sigma, 12, found.intercept)
    theirs = AutoReg(values, 3, trend="c" if intercept else "n").fit().forecast(12)
    # Estimates agree to 1e-10; twelve steps of a stationary recursion do not enlarge that.
    np.testing.assert_allclose(ours.mean, theirs, atol=1e-8)
    np.testing.assert_array_equal(ours.horizon, np.arange(1, 13))


def test_recursive_errors_equal_arima_with_fixed_parameters():
    values = sample()
    ours = forecast_recursive(values, PHI, 1.5, 12)
    model = ARIMA(values, order=(3, 0, 0), trend="n")
    theirs = model.filter(np.array([*PHI, 1.5**2])).get_forecast(12)
    np.testing.assert_allclose(ours.mean, theirs.predicted_mean, atol=1e-8)
    np.testing.assert_allclose(ours.standard_error, theirs.se_mean, atol=1e-8)
    interval = theirs.conf_int(alpha=0.05)
    np.testing.assert_allclose(np.column_stack((ours.lower, ours.upper)), interval, atol=1e-8)


def test_ar1_forecast_in_closed_form():
    ours = forecast_recursive(np.array([0.0, 3.0]), (0.8,), 2.0, 10)
    steps = np.arange(1, 11)
    # Ten products of numbers of order one.
    np.testing.assert_allclose(ours.mean, 3.0 * 0.8**steps, rtol=1e-13)
    variance = 4.0 * (1 - 0.8 ** (2 * steps)) / (1 - 0.8**2)
    np.testing.assert_allclose(ours.standard_error**2, variance, rtol=1e-13)


def test_intercept_pulls_to_the_mean_and_nan_means_none():
    ours = forecast_recursive(np.array([0.0]), (0.5,), 1.0, 60, intercept=2.0)
    assert ours.mean[-1] == pytest.approx(4.0, abs=1e-12)  # c / (1 - phi), 0.5^60 = 1e-18 away
    none = forecast_recursive(np.array([1.0]), (0.5,), 1.0, 3, intercept=float("nan"))
    np.testing.assert_array_equal(none.mean, [0.5, 0.25, 0.125])


@pytest.mark.parametrize("intercept", [False, True])
def test_direct_equals_a_regression_per_step(intercept):
    values = sample(level=2.0)
    ours = forecast_direct(values, 2, 6, intercept)
    for step in range(1, 7):
        times = range(1, values.size - step)
        rows = np.array([[1.0] * intercept + [values[t], values[t - 1]] for t in times])
        target = np.array([values[t + step] for t in times])
        beta, squares, *_ = np.linalg.lstsq(rows, target, rcond=None)
        newest = np.array([1.0] * intercept + [values[-1], values[-2]])
        assert ours.mean[step - 1] == pytest.approx(newest @ beta, abs=1e-9)
        deviation = np.sqrt(squares[0] / (target.size - beta.size))
        assert ours.standard_error[step - 1] == pytest.approx(deviation, abs=1e-9)


def test_direct_and_recursive_agree_one_step_ahead():
    values = sample()
    found = fit(values, 3, "ols")
    recursive = forecast_recursive(values, found.coefficients, found.sigma, 1)
    direct = forecast_direct(values, 3, 1)
    assert direct.mean[0] == pytest.approx(recursive.mean[0], abs=1e-10)
    assert direct.standard_error[0] == pytest.approx(recursive.standard_error[0], abs=1e-10)


@pytest.mark.parametrize("intercept", [False, True])
def test_rolling_errors_equal_forecasts_made_one_by_one(intercept):
    values = sample(120, level=3.0 * intercept)
    ours = errors_by_horizon(values, 2, 4, train_fraction=0.75, intercept=intercept)
    assert (ours.train_end, ours.origins) == (90, 27)
    train = values[:90]
    found = fit(train, 2, "ols", intercept)
    first = int(intercept)
    recursive, direct = [], []
    for now in range(90, 117):
        actual = values[now : now + 4]
        made = forecast_recursive(values[:now], found.coefficients, 1.0, 4, found.intercept)
        recursive.append((actual - made.mean) ** 2)
        row = np.concatenate((np.ones(first), values[now - 2 : now][::-1]))
        made_directly = []
        for step in range(1, 5):
            rows = np.array([[1.0] * first + [train[t], train[t - 1]] for t in range(1, 90 - step)])
            beta = np.linalg.lstsq(rows, train[1 + step :], rcond=None)[0]
            made_directly.append(row @ beta)
        direct.append((actual - np.array(made_directly)) ** 2)
    np.testing.assert_allclose(ours.recursive_mse, np.mean(recursive, axis=0), rtol=1e-9)
    np.testing.assert_allclose(ours.direct_mse, np.mean(direct, axis=0), rtol=1e-9)
    assert np.isnan(ours.theory).all()


def test_theory_for_ar1_is_a_geometric_sum_and_the_errors_follow_it():
    values = simulate((0.8,), sigma=2.0, n=60_000, burn_in=100, seed=11).values
    ours = errors_by_horizon(values, 1, 10, coefficients=(0.8,), sigma=2.0)
    steps = np.arange(1, 11)
    expected = 4.0 * (1 - 0.8 ** (2 * steps)) / (1 - 0.8**2)
    np.testing.assert_allclose(ours.theory, expected, rtol=1e-13)
    np.testing.assert_allclose(ours.theory, 4.0 * np.cumsum(psi_weights((0.8,), 10) ** 2))
    # 18,000 overlapping errors, correlated over about (1 + 0.64) / (1 - 0.64) = 5 times: relative
    # standard error at most sqrt(2 * 5 / 18000) = 0.024. Three of them.
    np.testing.assert_allclose(ours.recursive_mse, ours.theory, rtol=0.07)
    np.testing.assert_allclose(ours.direct_mse, ours.theory, rtol=0.07)


def test_direct_wins_when_the_order_is_too_small():
    """An AR(1) fitted to an AR(2) with a hump is wrong at every step, its direct twin only bent."""
    values = simulate((0.0, 0.8), n=20_000, burn_in=100, seed=1).values
    ours = errors_by_horizon(values, 1, 2)
    # Two steps ahead phi_2 alone predicts: variance 1 against the process variance 1 / 0.36.
    assert ours.direct_mse[1] < 0.5 * ours.recursive_mse[1]


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: forecast_recursive(np.array([1.0]), (0.5, 0.2), 1.0, 3), "needs 2"),
        (lambda: forecast_recursive(np.array([1.0]), (0.5,), 1.0, 0), "at least 1"),
        (lambda: forecast_direct(np.arange(8.0), 2, 5), "at least 10"),
        (lambda: forecast_direct(np.ones(50), 2, 5), "constant"),
        (lambda: forecast_direct(sample(50), 0, 5), "order must be at least 1"),
        (lambda: errors_by_horizon(sample(50), 1, 20, 0.9), "shorter than the horizon"),
        (lambda: errors_by_horizon(sample(50), 1, 2, 1.0), "between 0 and 1"),
    ],
)
def test_bad_arguments_are_refused_with_a_sentence(call, sentence):
    with pytest.raises(ValueError, match=sentence):
        call()


def test_what_is_read_off_a_forecast():
    values = simulate((0.8,), n=200, seed=2).values
    fan = forecast_recursive(values[:-10], (0.8,), 1.0, 10)
    direct = forecast_direct(values[:-10], 1, 10)
    assert fan.last == fan.mean[9]
    assert fan.last_width == pytest.approx(2 * 1.959964 * fan.standard_error[9], rel=1e-6)
    assert fan.distance(direct) == max(map(abs, (fan.mean - direct.mean).tolist()))
    assert fan.covers(fan.upper) == 1.0
    assert fan.covers(np.where(np.arange(10) < 3, fan.mean, fan.upper + 1)) == 0.3
    errors = errors_by_horizon(values, 1, 5)
    assert (errors.mse_1, errors.mse_h) == (errors.recursive_mse[0], errors.recursive_mse[4])
    assert errors.mse_direct == errors.direct_mse[4]
