"""Does a fitted autoregression leave anything to find? Differences, residuals, Ljung-Box test."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float, Int

from seqviz.compute.ar_fitting.correlation import Correlogram, correlogram
from seqviz.compute.ar_fitting.estimation import fit
from seqviz.compute.ar_fitting.least_squares import lag_matrix
from seqviz.compute.ar_fitting.process import Coefficients, as_coefficients, read_only
from seqviz.core.units import Count, Probability

_LAGS = 20  # of the test whose verdict is told


@dataclass(frozen=True)
class LjungBox:
    """Ljung-Box tests of the correlations of residuals, one for each number of lags m.

    lags: m. statistic: Q(m) = n (n + 2) sum_k r_k^2 / (n - k), k = 1 ... m. limit: the 95%
    quantile of chi-square with m - P degrees of freedom, which Q(m) exceeds once in twenty where
    the residuals of an AR(P) are noise. p: the probability of a Q(m) at least as large.
    """

    lags: Int[np.ndarray, "test"]
    statistic: Float[np.ndarray, "test"]
    limit: Float[np.ndarray, "test"]
    p: Float[np.ndarray, "test"]


def _of_verdict(array: str, verdict: str, unit: Any = float) -> property:
    """A property of a diagnosis: what an array of its tests has for the verdict; see `entry`."""

    def number(self: Diagnosis) -> float:
        return float(getattr(self.tests, array)[self.verdict_index])

    number.__annotations__["return"] = unit
    return property(number, doc=verdict)


@dataclass(frozen=True)
class Diagnosis:
    """The residuals of an AR(P) with intercept, and the Ljung-Box test of their correlations.

    residuals: shape (time,), from the P-th value on; correlations: theirs. order: P. tests: with m
    = P + 1, P + 2, ... lags. verdict_index: of the m whose verdict is told: 20, or as many as a
    short series has.
    """

    residuals: Float[np.ndarray, "time"]
    correlations: Correlogram
    order: int
    tests: LjungBox
    verdict_index: int

    tested = _of_verdict("lags", "The number of lags m of the verdict.", Count)
    q = _of_verdict("statistic", "Q of these lags.")
    q_limit = _of_verdict("limit", "Its 5% limit.")
    q_p = _of_verdict("p", "Its p.", Probability)

    @property
    def strongest_lag(self) -> int:
        """The lag with the largest correlation of the residuals, in absolute value."""
        return int(np.argmax(np.abs(self.correlations.acf[1:]))) + 1

    @property
    def strongest(self) -> float:
        """That correlation."""
        return float(self.correlations.acf[self.strongest_lag])

    @property
    def refused(self) -> bool:
        """Whether Q is above the limit: something is left that the model has not found."""
        return self.q > self.q_limit


def diagnose(values: Float[np.ndarray, "time"], order: int) -> Diagnosis:
    """Fit an AR(P) with intercept by OLS to the whole series and test its residuals.

    values: the series as it is modeled (differenced, if it is), shape (time,). order: P >= 1.

    Source: Ljung & Box 1978 (statsmodels `acorr_ljungbox` with model_df = P). Raises ValueError as
    `fit`.
    """
    from scipy.special import chdtri  # with statsmodels a second of import, for this bench only
    from statsmodels.stats.diagnostic import acorr_ljungbox

    line = fit(values, order, "ols", intercept=True)
    rows = lag_matrix(np.asarray(values, float), order)[:-1]
    residuals = values[order:] - line.intercept - rows @ line.coefficients
    highest = max(order + 1, min(max(40, order + 20), residuals.size // 3))
    lags = np.arange(order + 1, highest + 1)
    result = acorr_ljungbox(residuals, lags=lags, model_df=order)
    return Diagnosis(
        residuals=read_only(residuals),
        correlations=correlogram(residuals, highest),
        order=order,
        tests=LjungBox(
            read_only(lags),
            read_only(result["lb_stat"].to_numpy()),
            read_only(chdtri(lags - order, 0.05)),
            read_only(result["lb_pvalue"].to_numpy()),
        ),
        verdict_index=int(np.clip(_LAGS - order - 1, 0, lags.size - 1)),
    )


def differenced(
    values: Float[np.ndarray, "time"], ordinary: bool, season: int
) -> Float[np.ndarray, "later"]:
    """Differences of a series: x_t - x_{t-1}, and x_t - x_{t-s} with a season of s > 0 steps.

    Both: one after the other, in either order the same. The first s (and one) values have none.
    """
    if season:
        values = values[season:] - values[:-season]
    return np.diff(values) if ordinary else values


def undifferenced(coefficients: Coefficients, ordinary: bool, season: int) -> tuple[float, ...]:
    """Coefficients by which the series itself follows where its differences are this AR(P).

    From phi(B) (1 - B)^d (1 - B^s) x_t = c + eps_t; the roots of the differences are on the unit
    circle, so the interval of a forecast keeps growing.
    """
    polynomial = np.concatenate(([1.0], -as_coefficients(coefficients)))
    if ordinary:
        polynomial = np.convolve(polynomial, [1.0, -1.0])
    if season:
        polynomial = np.convolve(polynomial, [1.0, *[0.0] * (season - 1), -1.0])
    return tuple((-polynomial[1:]).tolist())
