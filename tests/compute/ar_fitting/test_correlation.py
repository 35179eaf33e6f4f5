"""Correlations: the closed forms of AR(1) and AR(2), and statsmodels as second implementation."""

import numpy as np
import pytest
from statsmodels.tsa.arima_process import arma_acf, arma_pacf
from statsmodels.tsa.stattools import acf, pacf

from seqviz.compute import ar_fitting as ar
from seqviz.compute.ar_fitting.correlation import theoretical_pacf

PROCESSES = [
    ar.coefficients_from_partial(tuple(np.random.RandomState(seed).uniform(-0.9, 0.9, size=order)))
    for seed, order in enumerate((1, 2, 3, 4, 6))
]


def test_theory_matches_closed_form():
    """Powers of phi; rho_1 = phi_1 / (1 - phi_2) and rho_2 = phi_1 rho_1 + phi_2; no dependence."""
    np.testing.assert_allclose(ar.theoretical_acf((0.8,), 20), 0.8 ** np.arange(21), rtol=1e-13)
    expected = [1.0, 0.5 / 1.3, 0.5 * 0.5 / 1.3 - 0.3]
    np.testing.assert_allclose(ar.theoretical_acf((0.5, -0.3), 2), expected, rtol=1e-14)
    np.testing.assert_array_equal(theoretical_pacf((0.8,), 4), [1.0, 0.8, 0.0, 0.0, 0.0])
    np.testing.assert_array_equal(ar.theoretical_acf((), 2), [1.0, 0.0, 0.0])


@pytest.mark.parametrize("phi", PROCESSES)
def test_theory_matches_statsmodels(phi):
    polynomial = np.concatenate(([1.0], -np.array(phi)))
    for ours, theirs in ((ar.theoretical_acf, arma_acf), (theoretical_pacf, arma_pacf)):
        # Both solve the same P x P equations, of condition number up to about 1e3.
        np.testing.assert_allclose(ours(phi, 15), theirs(polynomial, [1.0], 16), atol=1e-10)
        for lag in (0, 1, 2):  # it can stop before the order
            np.testing.assert_array_equal(ours(phi, lag), ours(phi, 15)[: lag + 1])


@pytest.mark.parametrize("phi", [*PROCESSES, (1.0,)])
def test_correlogram_matches_statsmodels(phi):
    values = ar.simulate(phi, n=400, seed=5).values + 7.0
    correlogram = ar.correlogram(values, 25)
    # Sums of 400 products: a few hundred roundings of size one at most.
    theirs = acf(values, nlags=25, fft=False, result_object=False)
    np.testing.assert_allclose(correlogram.acf, theirs, atol=1e-10)
    np.testing.assert_allclose(correlogram.pacf, pacf(values, nlags=25, method="ldb"), atol=1e-10)
    # 1.96 is the quantile to three digits.
    assert correlogram.band == pytest.approx(1.96 / 20.0, rel=1e-4)


def test_correlogram_adds_theory_only_if_stationary():
    values = ar.simulate((0.8,), n=100).values
    correlogram = ar.correlogram(values, 3, (0.8,))
    assert (correlogram.r1, correlogram.theory_r1) == (correlogram.acf[1], 0.8)
    np.testing.assert_array_equal(correlogram.theory_pacf, [1.0, 0.8, 0.0, 0.0])
    for unknown in (ar.correlogram(values, 5), ar.correlogram(values, 5, (1.0,))):
        assert unknown.theory_acf is unknown.theory_pacf is unknown.theory_r1 is None
    with pytest.raises(ValueError, match="stationary"):
        ar.theoretical_acf((1.0,), 5)


def test_shuffled_keeps_values_and_removes_autocorrelation():
    values = ar.simulate((0.9,), n=2000, seed=2).values
    mixed = ar.shuffled(values, 3)
    np.testing.assert_array_equal(np.sort(mixed), np.sort(values))
    np.testing.assert_array_equal(mixed, ar.shuffled(values, 3))
    # Four standard errors of a white-noise correlation, 1 / sqrt(2000).
    assert abs(ar.correlogram(mixed, 1).acf[1]) < 4 / np.sqrt(2000)
    assert ar.sample_variance(np.array([1.0, 2.0, 6.0])) == pytest.approx(14 / 3)


@pytest.mark.parametrize(
    ("values", "max_lag", "sentence"),
    [
        (np.full(50, 3.3), 5, "constant"),
        (np.full(50, 3.3) + np.tile([0.0, 4e-16], 25), 5, "constant"),
        (np.arange(5.0), 5, "at least 6"),
        (np.array([1.0, np.nan, 2.0]), 1, "not a finite number"),
        (np.array([1.0, np.inf, 2.0]), 1, "not a finite number"),
        (np.array([1.0, 1e200, 2.0]), 1, "too large"),
        (np.array([1.0, 3.0, 2.0]), 0, "at least 1"),
    ],
)
def test_correlogram_rejects_bad_series(values, max_lag, sentence):
    with pytest.raises(ValueError, match=sentence):
        ar.correlogram(values, max_lag)
