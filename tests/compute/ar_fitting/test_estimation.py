"""Estimation: statsmodels as second implementation, and closed forms where there are any."""

import warnings

import numpy as np
import pytest
from statsmodels.regression.linear_model import yule_walker
from statsmodels.tsa.ar_model import AutoReg
from statsmodels.tsa.arima.model import ARIMA

from seqviz.compute import ar_fitting as ar
from seqviz.compute.ar_fitting.exact_likelihood import fit_exact

PROCESSES = {
    1: (0.8,),
    2: ar.coefficients_from_partial((0.7, -0.5)),
    4: ar.coefficients_from_partial((0.7, -0.5, 0.3, 0.2)),
}
every_case = pytest.mark.parametrize(
    ("order", "intercept"), [(order, constant) for order in PROCESSES for constant in (False, True)]
)


def sample(order: int, intercept: bool, n: int = 300) -> np.ndarray:
    path = ar.simulate(PROCESSES[order], sigma=1.5, n=n, burn_in=50, seed=order)
    return path.values + 4.0 * intercept


@pytest.mark.parametrize("method", ["ols", "conditional_ml"])
@every_case
def test_fit_regression_matches_autoreg(order, intercept, method):
    values = sample(order, intercept)
    ours = ar.fit(values, order, method, intercept)
    model = AutoReg(values, order, trend="c" if intercept else "n")
    theirs = model.fit(use_t=method == "ols")
    first = int(intercept)
    # QR against a pseudo-inverse: condition numbers below 1e3, hence 1e-8 with room to spare.
    np.testing.assert_allclose(ours.coefficients, theirs.params[first:], atol=1e-8)
    np.testing.assert_allclose(ours.standard_errors, theirs.bse[first:], atol=1e-8)
    interval = theirs.conf_int()[first:]
    np.testing.assert_allclose(np.column_stack((ours.lower, ours.upper)), interval, atol=1e-8)
    constant = theirs.params[0] if intercept else np.nan
    assert ours.intercept == pytest.approx(constant, abs=1e-8, nan_ok=True)
    divisor = theirs.nobs - order - first if method == "ols" else theirs.nobs
    assert ours.sigma**2 * divisor / theirs.nobs == pytest.approx(theirs.sigma2, abs=1e-8)


@every_case
def test_fit_yule_walker_matches_statsmodels(order, intercept):
    values = sample(order, intercept)
    ours = ar.fit(values, order, "yule_walker", intercept)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # about the type of its return value
        rho, sigma = yule_walker(values, order, method="mle", demean=intercept)[:2]
    # Levinson against a general solver on the same equations.
    np.testing.assert_allclose(ours.coefficients, rho, atol=1e-10)
    assert ours.sigma == pytest.approx(sigma, abs=1e-10)
    if intercept:
        assert ours.intercept / (1 - rho.sum()) == pytest.approx(values.mean(), rel=1e-10)
    if (
        order < 3
    ):  # sigma^2 Gamma^{-1} / n has 1 - phi_P^2 on its diagonal: (1 - phi^2) / n of AR(1)
        expected = np.full(order, np.sqrt((1.0 - rho[-1] ** 2) / values.size))
        np.testing.assert_allclose(ours.standard_errors, expected, rtol=1e-9)
        np.testing.assert_allclose(ours.upper - ours.coefficients, 1.959964 * expected, rtol=1e-6)


@every_case
def test_fit_exact_ml_matches_kalman_filter(order, intercept):
    values = sample(order, intercept)
    ours = ar.fit(values, order, "exact_ml", intercept)
    likelihood = fit_exact(values, order, intercept).log_likelihood
    model = ARIMA(values, order=(order, 0, 0), trend="c" if intercept else "n")
    mean = [ours.intercept / (1.0 - ours.coefficients.sum())] if intercept else []
    at_ours = np.array([*mean, *ours.coefficients, ours.sigma**2])
    # The same function by two algorithms, about 500 in size.
    assert likelihood == pytest.approx(model.loglike(at_ours), abs=1e-8)
    # No neighbor is higher: our point is a maximum of their function.
    for step in 1e-3 * np.vstack((np.eye(at_ours.size), -np.eye(at_ours.size))):
        assert model.loglike(at_ours + step) < likelihood
    # Their optimizer stops when the log likelihood per observation is flat to about 1e-9, which
    # leaves its parameters some 1e-5 away; ours must be at least as high.
    theirs = model.fit(cov_type="approx")
    assert likelihood >= theirs.llf - 1e-9
    np.testing.assert_allclose(ours.coefficients, theirs.arparams, atol=1e-4)
    np.testing.assert_allclose(ours.standard_errors, theirs.bse[int(intercept) : -1], rtol=1e-3)


def test_fit_handles_explosive_and_unit_root_series():
    explosive = ar.simulate((1.1,), n=1000, seed=1).values
    # x_t^2 grows like 1.1^(2 t) up to 1e24: OLS is off by about 1e-12.
    assert ar.fit(explosive, 1, "ols").coefficients[0] == pytest.approx(1.1, abs=1e-10)
    for values in (explosive, ar.simulate((1.0,), n=300, seed=1).values):
        for method in ("yule_walker", "exact_ml"):
            result = ar.fit(values, 1, method)
            assert ar.is_stationary(result.coefficients)
            assert np.isfinite(result.standard_errors).all()


@pytest.mark.parametrize("method", ar.METHODS)
def test_fit_is_scale_invariant(method):
    values = sample(2, True)
    small, large = (ar.fit(values * unit, 2, method, True) for unit in (1.0, 1e9))
    # The exact search stops at a gradient of 1e-6 at the latest.
    np.testing.assert_allclose(large.coefficients, small.coefficients, rtol=1e-6)
    assert large.sigma == pytest.approx(1e9 * small.sigma, rel=1e-6)


@pytest.mark.parametrize("intercept", [False, True])
def test_select_order_matches_autoreg_on_common_sample(intercept):
    values = sample(2, intercept)
    ours = ar.select_order(values, 8, intercept)
    trend = "c" if intercept else "n"
    # AutoReg refuses to fit no regressor at all.
    first = 0 if intercept else 1
    theirs = [AutoReg(values, p, trend=trend, hold_back=8).fit() for p in range(first, 9)]
    # Log likelihoods of about 500 from one nested QR and from separate pseudo-inverses.
    np.testing.assert_allclose(ours.aic[first:], [their.aic for their in theirs], atol=1e-8)
    np.testing.assert_allclose(ours.bic[first:], [their.bic for their in theirs], atol=1e-8)
    if not intercept:  # of order 0 there is nothing but the variance
        square = np.mean(values[8:] ** 2)
        assert ours.aic[0] == pytest.approx(292 * (np.log(2 * np.pi * square) + 1) + 2, abs=1e-8)
    np.testing.assert_array_equal(ours.orders, np.arange(9))
    assert ours.chosen_aic == np.argmin(ours.aic)
    assert ours.chosen_bic == 2  # the order of the process; BIC is consistent, n = 300


STEADY, PARABOLA = np.tile([1.0, -1.0], 30), np.arange(60.0) ** 2


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: ar.fit(np.full(50, 2.0), 2, "ols"), "constant"),
        (lambda: ar.fit(np.arange(5.0), 2, "exact_ml"), "at least 6"),
        (lambda: ar.fit(np.append(np.arange(50.0), np.nan), 2, "ols"), "not a finite number"),
        (lambda: ar.fit(STEADY, 3, "ols", True), "without any noise"),
        (lambda: ar.fit(PARABOLA, 3, "ols", True), "without any noise"),
        (lambda: ar.fit(PARABOLA, 0, "ols"), "at least 1"),
        (lambda: ar.select_order(STEADY, 4), "without any noise"),
        (lambda: ar.select_order(PARABOLA, 4), "without any noise"),
        (lambda: ar.select_order(PARABOLA, 0), "at least 1"),
        (lambda: ar.select_order(np.arange(9.0), 4), "at least 10"),
    ],
)
def test_fit_and_select_order_reject_bad_arguments(call, sentence):
    with pytest.raises(ValueError, match=sentence):
        call()


def test_estimate_reports_first_coefficient_and_coverage():
    values = ar.simulate((0.6, -0.3), n=300, seed=3).values
    results = [ar.fit(values, 2, method) for method in ("ols", "yule_walker")]
    for item in results:
        assert item.first == item.coefficients[0]
        assert item.first_interval == (item.lower[0], item.upper[0])
        assert not item.holds(item.upper[0] + 1e-9)
    low = min(entry.lower[0] for entry in results)
    assert ar.covering(results, 0.6) == (2, 2)
    assert ar.covering(results, low) == (1, 2)


def test_one_step_matches_errors_of_line_and_true_rule():
    path = ar.simulate((0.6, -0.3), n=101, seed=3)
    result = ar.one_step(path.values, 2, 0.6, path.innovations)
    line = ar.fit(path.values[:61], 2, "ols").coefficients
    x = path.values
    expected = [(x[t] - line[0] * x[t - 1] - line[1] * x[t - 2]) ** 2 for t in range(2, 101)]
    assert np.isnan(result.line[0])  # an AR(2) has nothing to say of the second value
    np.testing.assert_allclose(result.line[1:], expected, rtol=1e-9)
    assert result.training_mse == pytest.approx(np.mean(expected[:59]), rel=1e-9)
    assert result.line_mse(80) == pytest.approx(np.mean(expected[79:]), rel=1e-9)
    # The true rule leaves the noise and nothing else.
    noise = [x[t] - 0.6 * x[t - 1] + 0.3 * x[t - 2] for t in range(11, 101)]
    assert result.truth_mse(10) == pytest.approx(np.mean(np.square(noise)), rel=1e-9)
