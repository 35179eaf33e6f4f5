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
    """Sample correlations at lags 0 ... max_lag with the 95% band of white noise.

    Attributes:
        acf: sample autocorrelations, shape (lag,), 1 at lag 0.
        pacf: sample partial autocorrelations, shape (lag,), 1 at lag 0.
        band: half-width 1.96 / sqrt(n) of the band, the same at any lag from 1.
        theory_acf: ACF of the process that made the sample, shape (lag,); None where the process is
            unknown or not stationary.
        theory_pacf: its PACF, likewise.
    """

    acf: Float[np.ndarray, "lag"]
    pacf: Float[np.ndarray, "lag"]
    band: float
    theory_acf: Float[np.ndarray, "lag"] | None
    theory_pacf: Float[np.ndarray, "lag"] | None

    r1 = array_item("acf", 1, "The sample correlation at lag 1.")

    @property
    def outside(self) -> Fraction:
        """Number of bars outside the band, of both functions from lag 1 on, and of all bars."""
        return self._leaving(np.concatenate((self.acf[1:], self.pacf[1:])))

    def outside_acf(self) -> Fraction:
        """Return the number of ACF bars outside the band, from lag 1 on, and of all of them."""
        return self._leaving(self.acf[1:])

    def beyond(self, order: int) -> Fraction:
        """Return the number of PACF bars outside the band beyond lag P, and of all bars beyond it.

        The PACF of an AR(P) is zero there.
        """
        return self._leaving(self.pacf[order + 1 :])

    @property
    def gap(self) -> float:
        """Largest distance between the sample ACF and the theoretical one; nan without one."""
        return nan if self.theory_acf is None else float(np.abs(self.acf - self.theory_acf).max())

    def _leaving(self, bars: Float[np.ndarray, "bar"]) -> Fraction:
        return int((np.abs(bars) > self.band).sum()), bars.size

    @property
    def theory_r1(self) -> float | None:
        """Correlation of the process at lag 1, or None."""
        return None if self.theory_acf is None else float(self.theory_acf[1])


def correlogram(
    values: Float[np.ndarray, "time"], max_lag: int, coefficients: Coefficients | None = None
) -> Correlogram:
    """Return the sample ACF and PACF of a series.

    The ACF is the standard estimator, demeaned and divided by n at every lag (statsmodels
    `acf(adjusted=False)`). The PACF comes from it by Durbin-Levinson (statsmodels
    `pacf(method="ldb")`).

    Args:
        values: the series, shape (time,).
        max_lag: largest lag, at least 1 and less than n.
        coefficients: phi of the process that made the series, if known, for the theoretical
            functions.

    Raises:
        ValueError: for a constant, non-finite or too short series.
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
    """Return the autocorrelations rho_0 ... rho_max_lag of a stationary AR(P); phi^k for AR(1).

    The first P come from the Yule-Walker equations (solved by the Durbin-Levinson recursion run
    backwards from the partial autocorrelations), the rest from rho_k = sum_i phi_i rho_{k-i}.

    Args:
        coefficients: phi_1 ... phi_P.
        max_lag: largest lag.

    Raises:
        ValueError: if the coefficients are not stationary.
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
    """Return the partial autocorrelations at lags 0 ... max_lag: 1 at lag 0, exactly 0 beyond P.

    Args:
        coefficients: phi_1 ... phi_P.
        max_lag: largest lag.

    Raises:
        ValueError: if the coefficients are not stationary.
    """
    pacf = np.zeros(max_lag + 1)
    existing = (1.0, *partial_from_coefficients(coefficients))[: max_lag + 1]
    pacf[: len(existing)] = existing
    return read_only(pacf)


def sample_variance(values: Float[np.ndarray, "time"]) -> float:
    """Return the variance of a series, divided by n, in the squared unit of the series."""
    return float(values.var())


def shuffled(values: Float[np.ndarray, "time"], seed: int) -> Float[np.ndarray, "time"]:
    """Return the values in random order: same histogram, no dependence.

    Args:
        values: the series.
        seed: seed of numpy's RandomState.
    """
    return np.random.RandomState(seed).permutation(values)


def sample_autocovariance(
    centered: Float[np.ndarray, "time"], max_lag: int
) -> Float[np.ndarray, "lag"]:
    """Return the biased autocovariances: sum of x_t x_{t+k} over t, divided by n at every lag k.

    Args:
        centered: the series minus its mean.
        max_lag: largest lag; k = 0 ... max_lag.
    """
    n = centered.size
    return np.array([centered[: n - lag] @ centered[lag:] for lag in range(max_lag + 1)]) / n


def durbin_levinson(
    covariance: Float[np.ndarray, "lag_from_0"],
) -> tuple[Float[np.ndarray, "lag"], Float[np.ndarray, "lag"], float]:
    """Solve the Yule-Walker equations of order P for autocovariances at lags 0 ... P.

    Returns:
        phi, shape (lag,); the partial autocorrelations at lags 1 ... P; the innovation variance, in
            the unit of the covariances.

    References:
        Brockwell & Davis, 1991, proposition 5.2.1.
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
