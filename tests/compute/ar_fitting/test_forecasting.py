"""Forecasts: statsmodels with the same parameters, and the closed form for AR(1)."""

import numpy as np
import pytest
from statsmodels.tsa.ar_model import AutoReg
from statsmodels.tsa.arima.model import ARIMA

from seqviz.compute import ar_fitting as ar

PHI = ar.coefficients_from_partial((0.7, -0.5, 0.3))


def sample(n: int = 300, level: float = 0.0) -> np.ndarray:
    return ar.simulate(PHI, sigma=1.5, n=n, burn_in=50, seed=6).values + level


def regression(values: np.ndarray, step: int, intercept: bool) -> tuple[np.ndarray, float]:
    """Coefficients of x_{t+step} on (1, x_t, x_{t-1}), and the residual standard deviation."""
    times = range(1, values.size - step)
    rows = np.array([[1.0] * intercept + [values[t], values[t - 1]] for t in times])
    target = np.array([values[t + step] for t in times])
    beta, squares, *_ = np.linalg.lstsq(rows, target, rcond=None)
    return beta, float(np.sqrt(squares[0] / (target.size - beta.size)))


@pytest.mark.parametrize("intercept", [False, True])
def test_forecast_recursive_mean_matches_autoreg(intercept):
    values = sample(level=5.0 * intercept)
    result = ar.fit(values, 3, "ols", intercept)
    ours = ar.forecast_recursive(values, result.coefficients, result.sigma, 12, result.intercept)
    theirs = AutoReg(values, 3, trend="c" if intercept else "n").fit().forecast(12)
    # Estimates agree to 1e-10; twelve steps of a stationary recursion do not enlarge that.
    np.testing.assert_allclose(ours.mean, theirs, atol=1e-8)


def test_forecast_recursive_errors_match_arima():
    """ARIMA with its parameters fixed gives the same means, standard errors and intervals."""
    values = sample()
    ours = ar.forecast_recursive(values, PHI, 1.5, 12)
    model = ARIMA(values, order=(3, 0, 0), trend="n")
    theirs = model.filter(np.array([*PHI, 1.5**2])).get_forecast(12)
    np.testing.assert_allclose(ours.mean, theirs.predicted_mean, atol=1e-8)
    np.testing.assert_allclose(ours.standard_error, theirs.se_mean, atol=1e-8)
    interval = theirs.conf_int(alpha=0.05)
    np.testing.assert_allclose(np.column_stack((ours.lower, ours.upper)), interval, atol=1e-8)


def test_forecast_recursive_matches_ar1_closed_form():
    ours = ar.forecast_recursive(np.array([0.0, 3.0]), (0.8,), 2.0, 10)
    steps = np.arange(1, 11)
    # Ten products of numbers of order one.
    np.testing.assert_allclose(ours.mean, 3.0 * 0.8**steps, rtol=1e-13)
    variance = 4.0 * (1 - 0.8 ** (2 * steps)) / (1 - 0.8**2)
    np.testing.assert_allclose(ours.standard_error**2, variance, rtol=1e-13)
    errors = ar.errors_by_horizon(sample(), 1, 10, (0.8,), 2.0)
    np.testing.assert_allclose(errors.theory, variance, rtol=1e-13)


@pytest.mark.parametrize("intercept", [False, True])
def test_forecast_direct_matches_regression_per_step(intercept):
    values = sample(level=2.0)
    ours = ar.forecast_direct(values, 2, 6, intercept)
    newest = np.array([1.0] * intercept + [values[-1], values[-2]])
    for step in range(1, 7):
        beta, deviation = regression(values, step, intercept)
        assert ours.mean[step - 1] == pytest.approx(newest @ beta, abs=1e-9)
        assert ours.standard_error[step - 1] == pytest.approx(deviation, abs=1e-9)


def test_forecast_direct_handles_noise_free_step():
    """x_t = x_{t-13} + 1.3: thirteen steps ahead nothing is left, one step ahead there is."""
    times = np.arange(80)
    values = (7 * times % 13) + 0.1 * times
    ours = ar.forecast_direct(values, 2, 20, intercept=True)
    np.testing.assert_allclose(ours.mean[11], values[-2] + 1.3, rtol=1e-12)
    np.testing.assert_allclose(ours.mean[12], values[-1] + 1.3, rtol=1e-12)
    assert ours.standard_error[[0, 10]].min() > 1 > 1e-9 > ours.standard_error[[11, 12]].max()


def test_errors_by_horizon_match_individual_forecasts():
    values = sample(120)
    ours = ar.errors_by_horizon(values, 2, 4, PHI, 1.5)
    np.testing.assert_array_equal(ours.horizon, [1, 2, 3, 4])
    origins = range(84, 117)  # 70% are for training, four steps lie ahead of the last
    assert ours.origins == len(origins)
    actual = np.array([values[now : now + 4] for now in origins])
    phi = ar.fit(values[:84], 2, "ols").coefficients
    built = [ar.forecast_recursive(values[:now], phi, 1.0, 4).mean for now in origins]
    np.testing.assert_allclose(
        ours.recursive_mse, np.mean((actual - built) ** 2, axis=0), rtol=1e-9
    )
    betas = [regression(values[:84], step, False)[0] for step in (1, 2, 3, 4)]
    direct = [[values[now - 2 : now][::-1] @ beta for beta in betas] for now in origins]
    np.testing.assert_allclose(ours.direct_mse, np.mean((actual - direct) ** 2, axis=0), rtol=1e-9)


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: ar.forecast_recursive(np.array([1.0]), (0.5, 0.2), 1.0, 3), "needs 2"),
        (lambda: ar.forecast_recursive(np.array([1.0]), (0.5,), 1.0, 0), "at least 1"),
        (lambda: ar.forecast_direct(np.arange(8.0), 2, 5), "at least 10"),
        (lambda: ar.forecast_direct(np.ones(50), 2, 5), "constant"),
        (lambda: ar.forecast_direct(sample(50), 0, 5), "order must be at least 1"),
        (lambda: ar.forecast_direct(sample(50), 1, 0), "horizon must be at least 1"),
        (lambda: ar.errors_by_horizon(sample(50), 1, 16, PHI, 1.0), "shorter than the horizon"),
    ],
)
def test_forecasts_reject_bad_arguments(call, sentence):
    with pytest.raises(ValueError, match=sentence):
        call()


def test_forecast_reports_width_distance_and_coverage():
    values = ar.simulate((0.8,), n=200, seed=2).values
    fan = ar.forecast_recursive(values[:-10], (0.8,), 1.0, 10)
    direct = ar.forecast_direct(values[:-10], 1, 10)
    assert fan.last == fan.mean[9]
    assert fan.last_width == pytest.approx(2 * 1.959964 * fan.standard_error[9], rel=1e-6)
    assert fan.distance(direct) == max(map(abs, (fan.mean - direct.mean).tolist()))
    assert fan.covers(fan.upper) == fan.covers(fan.lower) == 1.0
    assert fan.covers(np.where(np.arange(10) < 3, fan.mean, fan.upper + 1)) == 0.3
    errors = ar.errors_by_horizon(values, 1, 5, (0.8,), 1.0)
    assert (errors.mse_1, errors.mse_h) == (errors.recursive_mse[0], errors.recursive_mse[4])
    assert errors.mse_direct == errors.direct_mse[4]
