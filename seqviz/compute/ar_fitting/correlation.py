"""Autocorrelation and partial autocorrelation, of a process and of a sample."""

from __future__ import annotations

from dataclasses import dataclass
from math import nan

import numpy as np
from jaxtyping import Float

from seqviz.compute.ar_fitting.process import (
    Coefficients,
    as_coefficients,
    is_stationary,
    partial_from_coefficients,
    read_only,
)
from seqviz.compute.ar_fitting.sample import checked
from seqviz.core.units import Fraction, array_item
from seqviz.stats.intervals import NORMAL_95


@dataclass(frozen=True)
class Correlogram:
    """Sample correlations at lags 0 ... max_lag, with the bands that noise alone would fill.

    acf, pacf: shape (lag,), 1 at lag 0.
    band: half-width 1.96 / sqrt(n) of the 95% band of white noise, at any lag from 1.
    theory_acf, theory_pacf: of the process that made the sample, shape (lag,); None when unknown or
        not stationary.
    """

    acf: Float[np.ndarray, "lag"]
    pacf: Float[np.ndarray, "lag"]
    band: float
    theory_acf: Float[np.ndarray, "lag"] | None
    theory_pacf: Float[np.ndarray, "lag"] | None

    r1 = array_item("acf", 1, "The sample correlation at lag 1.")

    @property
    def outside(self) -> Fraction:
        """Bars, of both functions from lag 1 on, that leave the band of noise; of how many."""
        return self._leaving(np.concatenate((self.acf[1:], self.pacf[1:])))

    def outside_acf(self) -> Fraction:
        """The same of the ACF alone."""
        return self._leaving(self.acf[1:])

    def beyond(self, order: int) -> Fraction:
        """The same of the PACF beyond lag P, where that of an AR(P) is zero."""
        return self._leaving(self.pacf[order + 1 :])

    @property
    def gap(self) -> float:
        """Largest distance between the sample ACF and the theoretical one; nan without one."""
        return nan if self.theory_acf is None else float(np.abs(self.acf - self.theory_acf).max())

    def _leaving(self, bars: Float[np.ndarray, "bar"]) -> Fraction:
        return int((np.abs(bars) > self.band).sum()), bars.size

    @property
    def theory_r1(self) -> float | None:
        """That of the process, if there is one."""
        return None if self.theory_acf is None else float(self.theory_acf[1])


def correlogram(
    values: Float[np.ndarray, "time"], max_lag: int, coefficients: Coefficients | None = None
) -> Correlogram:
    """Sample ACF and PACF of a series.

    values: the series, shape (time,). max_lag: largest lag, at least 1 and less than n.
    coefficients: phi of the process that made the series, if known, for the theoretical functions.

    ACF: the standard estimator, demeaned and divided by n at every lag (statsmodels
    `acf(adjusted=False)`). PACF: Durbin-Levinson on that ACF (statsmodels `pacf(method="ldb")`).
    Raises ValueError for a constant, non-finite or too short series.
    """
    values = checked(values, at_least=max_lag + 1)
    if max_lag < 1:
        raise ValueError(f"The largest lag must be at least 1, not {max_lag}.")
    covariance = sample_autocovariance(values - values.mean(), max_lag)
    acf = covariance / covariance[0]
    _, partial, _ = durbin_levinson(acf)
    theory: tuple[np.ndarray, np.ndarray] | tuple[None, None] = (None, None)
    if coefficients is not None and is_stationary(coefficients):
        theory = theoretical_acf(coefficients, max_lag), theoretical_pacf(coefficients, max_lag)
    return Correlogram(
        acf=read_only(acf),
        pacf=read_only(np.concatenate(([1.0], partial))),
        band=NORMAL_95 / float(np.sqrt(values.size)),
        theory_acf=theory[0],
        theory_pacf=theory[1],
    )


def theoretical_acf(coefficients: Coefficients, max_lag: int) -> Float[np.ndarray, "lag"]:
    """Autocorrelations rho_0 ... rho_max_lag of a stationary AR(P) process; phi^k for AR(1).

    The first P come from the Yule-Walker equations (solved by the Durbin-Levinson recursion run
    backwards from the partial autocorrelations), the rest from rho_k = sum_i phi_i rho_{k-i}.
    Raises ValueError when the coefficients are not stationary.
    """
    phi = as_coefficients(coefficients)
    rho = [1.0]
    order_k = np.empty(0)
    error = 1.0
    for partial in partial_from_coefficients(coefficients):
        newest_first = np.array(rho[:0:-1])
        rho.append(float(order_k @ newest_first) + partial * error)
        order_k = np.append(order_k - partial * order_k[::-1], partial)
        error *= 1.0 - partial * partial
    for lag in range(phi.size + 1, max_lag + 1):
        rho.append(float(phi @ np.array(rho[lag - phi.size : lag][::-1])))
    return read_only(np.array(rho[: max_lag + 1]))


def theoretical_pacf(coefficients: Coefficients, max_lag: int) -> Float[np.ndarray, "lag"]:
    """Partial autocorrelations at lags 0 ... max_lag: 1 at lag 0, exactly 0 beyond lag P.

    Raises ValueError when the coefficients are not stationary.
    """
    pacf = np.zeros(max_lag + 1)
    existing = (1.0, *partial_from_coefficients(coefficients))[: max_lag + 1]
    pacf[: len(existing)] = existing
    return read_only(pacf)


def sample_variance(values: Float[np.ndarray, "time"]) -> float:
    """Mean squared distance from the mean, in the squared unit of the series (divided by n)."""
    return float(values.var())


def shuffled(values: Float[np.ndarray, "time"], seed: int) -> Float[np.ndarray, "time"]:
    """Return the same values in random order: same histogram, dependence gone."""
    return np.random.RandomState(seed).permutation(values)


def sample_autocovariance(
    centered: Float[np.ndarray, "time"], max_lag: int
) -> Float[np.ndarray, "lag"]:
    """Sum of x_t x_{t+k} over t, divided by n at every lag k = 0 ... max_lag (biased estimator)."""
    n = centered.size
    return np.array([centered[: n - lag] @ centered[lag:] for lag in range(max_lag + 1)]) / n


def durbin_levinson(
    covariance: Float[np.ndarray, "lag_from_0"],
) -> tuple[Float[np.ndarray, "lag"], Float[np.ndarray, "lag"], float]:
    """Solve the Yule-Walker equations of order P for autocovariances at lags 0 ... P.

    Returns phi (lag,), the partial autocorrelations at lags 1 ... P, and the innovation variance in
    the unit of the covariances. Source: Brockwell & Davis 1991, proposition 5.2.1.
    """
    order = covariance.size - 1
    phi, partial = np.empty(order), np.empty(order)
    error = float(covariance[0])
    for lag in range(1, order + 1):
        before = phi[: lag - 1]
        value = float(covariance[lag] - before @ covariance[lag - 1 : 0 : -1]) / error
        before -= value * before[::-1]
        phi[lag - 1] = partial[lag - 1] = value
        error *= 1.0 - value * value
    return phi, partial, error
