"""Diagnosis of a fitted autoregression: differences, residuals and the Ljung-Box test."""

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

_LAGS = 20  # of the test whose verdict is reported


@dataclass(frozen=True)
class LjungBox:
    """Ljung-Box tests of the correlations of residuals, one for each number of lags m.

    Attributes:
        lags: m.
        statistic: Q(m) = n (n + 2) sum_k r_k^2 / (n - k), k = 1 ... m.
        limit: 95% quantile of chi-square with m - P degrees of freedom; Q(m) exceeds it once in
            twenty where the residuals of an AR(P) are noise.
        p: probability of a Q(m) at least as large.
    """

    lags: Int[np.ndarray, "test"]
    statistic: Float[np.ndarray, "test"]
    limit: Float[np.ndarray, "test"]
    p: Float[np.ndarray, "test"]


def _of_verdict(array: str, verdict: str, unit: Any = float) -> property:
    """Return a property: the entry of an array of tests for the verdict's m; see `array_item`."""

    def number(self: Diagnosis) -> float:
        return float(getattr(self.tests, array)[self.verdict_index])

    number.__annotations__["return"] = unit
    return property(number, doc=verdict)


@dataclass(frozen=True)
class Diagnosis:
    """Residuals of an AR(P) with intercept, and the Ljung-Box tests of their correlations.

    Attributes:
        residuals: shape (time,), from the P-th value on.
        correlations: correlogram of the residuals.
        order: P.
        tests: tests with m = P + 1, P + 2, ... lags.
        verdict_index: index of the m whose verdict is reported: 20, or the nearest m that was
            tested.
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
        """Lag of the residual correlation with the largest absolute value."""
        return int(np.argmax(np.abs(self.correlations.acf[1:]))) + 1

    @property
    def strongest(self) -> float:
        """Residual correlation with the largest absolute value."""
        return float(self.correlations.acf[self.strongest_lag])

    @property
    def refused(self) -> bool:
        """True where Q is above the limit: something is left that the model has not explained."""
        return self.q > self.q_limit


def diagnose(values: Float[np.ndarray, "time"], order: int) -> Diagnosis:
    """Fit an AR(P) with intercept by OLS to a series and test its residuals.

    Args:
        values: the series as it is modeled (differenced, if it is), shape (time,).
        order: P >= 1.

    Raises:
        ValueError: as `fit`.

    References:
        Ljung & Box, 1978 (statsmodels `acorr_ljungbox` with model_df = P).
    """
    from scipy.special import chdtri  # it and statsmodels take a second to import, for one bench
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
    """Return the differences x_t - x_{t-1}, the seasonal ones x_t - x_{t-s}, or both in turn.

    The order of the two does not matter. The first s (and one) values have no difference.

    Args:
        values: the series.
        ordinary: True to take x_t - x_{t-1}.
        season: s in steps; 0 for no seasonal difference.
    """
    if season:
        values = values[season:] - values[:-season]
    return np.diff(values) if ordinary else values


def undifferenced(coefficients: Coefficients, ordinary: bool, season: int) -> tuple[float, ...]:
    """Return the coefficients of a series whose differences follow an AR(P).

    They are those of phi(B) (1 - B)^d (1 - B^s) x_t = c + eps_t. The factors of the differences
    have their roots on the unit circle, so the interval of a forecast keeps growing.

    Args:
        coefficients: phi_1 ... phi_P of the differences.
        ordinary: True for d = 1, False for d = 0.
        season: s in steps; 0 for no seasonal difference.
    """
    polynomial = np.concatenate(([1.0], -as_coefficients(coefficients)))
    if ordinary:
        polynomial = np.convolve(polynomial, [1.0, -1.0])
    if season:
        polynomial = np.convolve(polynomial, [1.0, *[0.0] * (season - 1), -1.0])
    return tuple((-polynomial[1:]).tolist())
