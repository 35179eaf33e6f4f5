"""The exact likelihood beside a unit root, against its definition in 80-digit arithmetic.

statsmodels is no reference there: its Kalman filter starts from a covariance matrix that float64
cannot hold, and its log likelihood is off by thousands in two of these cases.
"""

import mpmath
import numpy as np
import pytest

from seqviz.compute.ar_fitting import fit, is_stationary, simulate
from seqviz.compute.ar_fitting.exact_likelihood import fit_exact


def log_likelihood(values: np.ndarray, coefficients: np.ndarray, sigma: float) -> float:
    """Density of the first P values, with covariances that solve Yule-Walker, times the rest."""
    with mpmath.workdps(80):
        x = [mpmath.mpf(value) for value in values.tolist()]
        phi = [mpmath.mpf(value) for value in coefficients.tolist()]
        variance = mpmath.mpf(sigma) ** 2
        order = len(phi)
        system = mpmath.zeros(order + 1, order + 1)
        for lag in range(order + 1):
            system[lag, lag] += 1
            for i, value in enumerate(phi, start=1):
                system[lag, abs(lag - i)] -= value
        gamma = mpmath.lu_solve(system, mpmath.matrix([variance, *[0] * order]))
        covariance = mpmath.matrix(order, order)
        for i in range(order):
            for j in range(order):
                covariance[i, j] = gamma[abs(i - j)]
        head = mpmath.matrix(x[:order])
        squares = (head.T * mpmath.inverse(covariance) * head)[0]
        determinant = mpmath.log(mpmath.det(covariance))
        for time in range(order, len(x)):
            error = x[time] - sum(value * x[time - i] for i, value in enumerate(phi, start=1))
            squares += error**2 / variance
        determinant += (len(x) - order) * mpmath.log(variance)
        return float(-(squares + determinant + len(x) * mpmath.log(2 * mpmath.pi)) / 2)


@pytest.mark.parametrize("phi", [(0.8,), (1.5, -0.3), (0.5, 0.6), (2.0, -1.0), (-1.1,)])
@pytest.mark.parametrize("order", [1, 2, 4])
def test_exact_likelihood_keeps_precision_near_unit_root(phi, order):
    """Explosive samples push up to four partial autocorrelations to 0.9999 at once."""
    values = simulate(phi, n=400, seed=2).values
    result = fit(values, order, "exact_ml")
    assert is_stationary(result.coefficients)
    reference = log_likelihood(values, result.coefficients, result.sigma)
    # The coefficients are rounded to 1e-16 on their way out, beside a border 1e-6 away.
    likelihood = fit_exact(values, order, with_mean=False).log_likelihood
    assert likelihood == pytest.approx(reference, abs=1e-6)
    # It is a maximum: one tenth of a standard error aside, along any coefficient, it is lower.
    for step in 0.1 * np.diag(result.standard_errors):
        for aside in (result.coefficients + step, result.coefficients - step):
            if is_stationary(aside):
                assert log_likelihood(values, aside, result.sigma) < reference
