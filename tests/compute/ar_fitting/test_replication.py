"""Replication: statsmodels on the same paths, and the known bias of least squares."""

import numpy as np
import pytest
from statsmodels.tsa.ar_model import AutoReg

from seqviz.compute.ar_fitting import METHODS, fit, fit_paths, replicate, replicate_paths


@pytest.mark.parametrize("intercept", [False, True])
def test_replicate_matches_autoreg_per_path(intercept):
    replications = replicate(0.8, n=60, replications=20, seed=4, intercept=intercept)
    paths = replicate_paths(0.8, n=60, replications=20, seed=4)
    trend = "c" if intercept else "n"
    theirs = [AutoReg(path, 1, trend=trend).fit().params[-1] for path in paths]
    # Sums of 60 products against a pseudo-inverse.
    np.testing.assert_allclose(replications.estimates, theirs, atol=1e-10)
    np.testing.assert_array_equal(replications.estimates, fit_paths(paths, intercept)[0])
    assert replications.mean_bias == pytest.approx(np.mean(theirs) - 0.8, abs=1e-10)
    spread = np.std(theirs, ddof=1)
    assert replications.standard_deviation == pytest.approx(spread, rel=1e-9)
    assert replications.standard_error_of_bias == pytest.approx(spread / np.sqrt(20), rel=1e-9)


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("phi", [-0.5, 0.0, 0.6])
def test_replicate_bias_matches_marriott_pope_and_kendall(phi, intercept):
    replications = replicate(phi, n=100, replications=40_000, seed=3, intercept=intercept)
    expected = -(1 + 3 * phi) / 100 if intercept else -2 * phi / 100
    assert replications.theory_bias == pytest.approx(expected, rel=1e-12)
    # Four Monte Carlo errors, and 10 / n^2 of room for the next term of the expansion. The two
    # formulas differ by (1 + phi) / n, at least 0.005.
    assert abs(replications.mean_bias - expected) < 4 * replications.standard_error_of_bias + 1e-3


def test_replicate_sd_approaches_mann_wald():
    replications = replicate(0.6, n=1000, replications=20_000, seed=3)
    assert replications.theory_sd == pytest.approx(np.sqrt(0.64 / 1000), rel=1e-12)
    # Monte Carlo error of a standard deviation: 1 / sqrt(40000) = 0.5%, four of them, and 6 / n of
    # room for the next term (at n = 100 the excess is 5%).
    assert replications.standard_deviation == pytest.approx(replications.theory_sd, rel=0.026)


def test_replicate_paths_start_stationary_and_extend():
    """A longer path begins with the values of the shorter one."""
    paths = replicate_paths(0.8, n=5, replications=50_000, sigma=2.0)
    # sigma^2 / (1 - phi^2) = 100/9 at every time; relative error of a variance sqrt(2 / 50000)
    # = 0.0063: four of them.
    np.testing.assert_allclose(paths.var(axis=0), 4.0 / 0.36, rtol=0.026)
    short, long = replicate_paths(0.7, 50, 10), replicate_paths(0.7, 80, 10)
    np.testing.assert_array_equal(short, long[:, :50])


@pytest.mark.parametrize("phi", [1.0, -1.0, 1.05])
def test_replicate_paths_start_at_zero_if_not_stationary(phi):
    """Unit-root and explosive processes have no theoretical bias or deviation."""
    assert not replicate_paths(phi, 20, 5)[:, 0].any()
    replications = replicate(phi, 100, 300)
    assert np.isnan([replications.theory_bias, replications.theory_sd]).all()
    # Superconsistent: errors of order 1/n or smaller.
    assert np.median(np.abs(replications.estimates - phi)) < 0.03


@pytest.mark.parametrize(
    "arguments", [{"n": 3}, {"replications": 1}, {"sigma": 0.0}, {"phi": 1.5, "n": 5000}]
)
def test_replicate_rejects_bad_arguments(arguments):
    with pytest.raises(ValueError, match=r"need n >= 4|explodes"):
        replicate(**{"phi": 0.5, "n": 50, **arguments})


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("method", METHODS)
def test_fit_paths_matches_fit_per_path(method, intercept):
    """Coefficients and intervals of the one-series functions, which statsmodels checks."""
    paths = replicate_paths(0.8, n=40, replications=30, seed=4)
    phi, half = fit_paths(paths, intercept, method)
    fits = [fit(path, 1, method, intercept) for path in paths]
    np.testing.assert_allclose(phi, [fit.first for fit in fits], atol=2e-6)
    theirs = [(fit.upper[0] - fit.lower[0]) / 2 for fit in fits]
    np.testing.assert_allclose(half, theirs, rtol=1e-3 if method == "exact_ml" else 1e-9)
    replications = replicate(0.8, 40, 30, seed=4, intercept=intercept, method=method)
    assert replications.coverage.correct == sum(fit.holds(0.8) for fit in fits)


@pytest.mark.parametrize("intercept", [False, True])
def test_replicate_yule_walker_bias_matches_theory(intercept):
    """Yule-Walker has more bias than least squares."""
    replications = replicate(0.6, 100, 40_000, seed=3, intercept=intercept, method="yule_walker")
    expected = -(1 + 4 * 0.6) / 100 if intercept else -3 * 0.6 / 100
    assert replications.theory_bias == pytest.approx(expected, rel=1e-12)
    assert abs(replications.mean_bias - expected) < 4 * replications.standard_error_of_bias + 1e-3


@pytest.mark.parametrize("noise", ["student_t", "laplace"])
def test_replicate_paths_start_stationary_under_other_noise(noise):
    paths = replicate_paths(0.8, 5, 50_000, 2.0, noise=noise, df=8.0)
    # Kurtosis up to 6 makes the error of a variance twice that of the Gaussian.
    np.testing.assert_allclose(paths.var(axis=0), 4.0 / 0.36, rtol=0.05)


def test_replicate_paths_shuffle_keeps_values_only():
    plain, mixed = replicate_paths(0.9, 60, 200), replicate_paths(0.9, 60, 200, shuffle=True)
    np.testing.assert_allclose(np.sort(plain, axis=1), np.sort(mixed, axis=1))
    replications = replicate(0.9, 200, 4000, intercept=True, shuffle=True)
    assert replications.phi == 0
    # Given the values, r_1 of a random order has mean -1/(n - 1) exactly.
    assert abs(replications.mean_bias + 1 / 200) < 4 * replications.standard_error_of_bias + 1e-3
    assert np.isnan(replicate(0.9, 200, 50, shuffle=True).theory_bias)
