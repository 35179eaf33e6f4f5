"""Estimation of AR(P) coefficients by four methods, and choice of the order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import nan, sqrt
from typing import Any, Literal, get_args

import numpy as np
from jaxtyping import Float, Int

from seqviz.compute.ar_fitting.correlation import durbin_levinson, sample_autocovariance
from seqviz.compute.ar_fitting.exact_likelihood import fit_exact
from seqviz.compute.ar_fitting.least_squares import lag_matrix, regress, triangular_factor
from seqviz.compute.ar_fitting.process import Coefficients, read_only, simulate
from seqviz.compute.ar_fitting.sample import checked
from seqviz.core import deprecated
from seqviz.core.units import Fraction, Interval, array_item
from seqviz.stats.intervals import NORMAL_95, student_t_95
from seqviz.stats.proportions import Proportion, proportion

Method = Literal["ols", "yule_walker", "conditional_ml", "exact_ml"]
METHODS: tuple[Method, ...] = get_args(Method)


@dataclass(frozen=True)
class ARFit:
    """AR(P) fitted to a series.

    Attributes:
        intercept: c in x_t = c + sum_i phi_i x_{t-i} + eps_t; nan if none was fitted.
        sigma: standard deviation of the innovations, in the unit of the series.
        coefficients: estimates of phi, shape (lag,).
        standard_errors: their standard errors, shape (lag,).
        lower: lower ends of their 95% intervals, shape (lag,).
        upper: upper ends, shape (lag,).
    """

    method: Method
    intercept: float
    sigma: float
    coefficients: Float[np.ndarray, "lag"]
    standard_errors: Float[np.ndarray, "lag"]
    lower: Float[np.ndarray, "lag"]
    upper: Float[np.ndarray, "lag"]

    first = array_item("coefficients", 0, "The estimate of phi_1.")

    @property
    def first_interval(self) -> Interval:
        """95% interval of phi_1."""
        return float(self.lower[0]), float(self.upper[0])

    def holds(self, phi: float) -> bool:
        """Return True where the 95% interval of phi_1 contains `phi`."""
        low, high = self.first_interval
        return bool(low <= phi <= high)


@dataclass(frozen=True)
class OrderSelection:
    """Information criteria of AR(0) ... AR(max_order), all fitted to the same values.

    Attributes:
        orders: 0 ... max_order.
        aic: AIC of each order.
        bic: BIC of each order.
        chosen_aic: order with the smallest AIC.
        chosen_bic: order with the smallest BIC.
    """

    orders: Int[np.ndarray, "order"]
    aic: Float[np.ndarray, "order"]
    bic: Float[np.ndarray, "order"]
    chosen_aic: int
    chosen_bic: int


@dataclass(frozen=True)
class SlopeError:
    """The mean squared error of x_t = slope x_{t-1}, and of the best slope.

    Attributes:
        slope: the slope.
        mse: its error, in squared units of the series.
        best: slope of least squares without an intercept.
        least_mse: its error, the least of any slope.
        curvature: mean of x_{t-1}^2: mse = least_mse + curvature (slope - best)^2.
    """

    slope: float
    mse: float
    best: float
    least_mse: float
    curvature: float

    @property
    def excess(self) -> float:
        """Error above that of the best slope."""
        return self.curvature * (self.slope - self.best) ** 2


@dataclass(frozen=True)
class WindowSlopes:
    """The best slope of every run of neighboring pairs (x_{t-1}, x_t).

    Attributes:
        width: pairs per run.
        slopes: least-squares slope of the pairs `start` to `start + width - 1`, by start.
    """

    width: int
    slopes: Float[np.ndarray, "start"]

    @property
    def extremes(self) -> Interval:
        """Smallest and largest slope."""
        return float(self.slopes.min()), float(self.slopes.max())


@dataclass(frozen=True)
class OneStep:
    """Squared one-step errors of least squares and of the true rule, aligned with values[1:].

    They are the baselines of a forecaster of the series.

    Attributes:
        line: errors of least squares, fitted to the training values; nan where a target has fewer
            than P values before it.
        truth: errors of the true rule, which are the squared noise.
        training_mse: mean of `line` over the training targets.
    """

    line: Float[np.ndarray, "time"]
    truth: Float[np.ndarray, "time"]
    training_mse: float
    least = deprecated.alias("training_mse")

    def line_mse(self, start: int = 0, end: int | None = None) -> float:
        """Return the mean squared error of least squares on targets `start` to `end`, exclusive.

        Args:
            start: first target.
            end: target after the last; None for all targets from `start` on.
        """
        return float(np.nanmean(self.line[start:end]))

    def truth_mse(self, start: int = 0, end: int | None = None) -> float:
        """Return the mean squared error of the true rule on the targets of `line_mse`."""
        return float(np.nanmean(self.truth[start:end]))


def fit(
    values: Float[np.ndarray, "time"], order: int, method: Method, intercept: bool = False
) -> ARFit:
    """Fit an AR(P) to a series.

    * "ols" and "conditional_ml" regress x_t on its P predecessors and give the same coefficients.
      They differ in sigma and in the intervals: OLS divides the sum of squared residuals by n - P -
      k (k regressors) and uses Student-t quantiles; conditional maximum likelihood divides by n - P
      and uses normal quantiles. (statsmodels `AutoReg`, fitted with use_t=True and use_t=False; its
      sigma2 is the second one in both cases.)
    * "yule_walker" solves the Yule-Walker equations with the standard (biased) autocovariances, so
      the fitted process is always stationary (statsmodels `yule_walker(method="mle")`; `intercept`
      means subtracting the mean). Standard errors: sigma^2 Gamma^{-1} / n (Brockwell & Davis 1991,
      theorem 8.1.1).
    * "exact_ml" maximizes the likelihood of all n values of a stationary process, with standard
      errors from the observed information (statsmodels `ARIMA` with cov_type="approx"). For a
      series that is not stationary the estimate lies just inside the border of the stationary
      region.

    Args:
        values: the series, shape (time,).
        order: P, at least 1.
        method: one of the above.
        intercept: True to fit one.

    Raises:
        ValueError: if the series is too short, constant, not finite, or free of noise.
    """
    if order < 1:
        raise ValueError(f"The order must be at least 1, not {order}.")
    values = checked(values, at_least=2 * order + int(intercept) + 2)
    if method in ("ols", "conditional_ml"):
        return _conditional(values, order, method, intercept)
    if method == "yule_walker":
        return _yule_walker(values, order, intercept)
    if method == "exact_ml":
        return _exact(values, order, intercept)
    raise ValueError(f"Unknown method: {method}.")


def one_step(
    values: Float[np.ndarray, "steps"],
    order: int,
    train: float,
    noise: Float[np.ndarray, "steps"],
) -> OneStep:
    """Return the one-step errors of an AR(P) and of the true rule on a series.

    Args:
        values: the series.
        order: P.
        train: share of the targets, from the start, to which the AR(P) is fitted by least squares.
        noise: innovations of the series, aligned with `values`; for a shuffled series the values
            themselves, because its best forecast is 0.

    Raises:
        ValueError: as `fit`.
    """
    train_end = round(train * (len(values) - 1))
    coefficients = fit(values[: 1 + train_end], order, "ols").coefficients
    line = np.full(len(values) - 1, np.nan)
    line[order - 1 :] = (values[order:] - lag_matrix(values, order)[:-1] @ coefficients) ** 2
    minimum = float(np.nanmean(line[:train_end]))
    return OneStep(read_only(line), read_only(noise[1:] ** 2), minimum)


def slope_errors(values: Float[np.ndarray, "time"]) -> tuple[float, float]:
    """Return the mean squared error of x_t = slope x_{t-1} at slope 0, and its minimum."""
    result = slope_error(values, 0.0)
    return result.mse, result.least_mse


def slope_error(values: Float[np.ndarray, "time"], slope: float) -> SlopeError:
    """Return the mean squared error of x_t = slope x_{t-1}, and that of the best slope."""
    before, now = values[:-1], values[1:]
    best = float(before @ now) / float(before @ before)
    # From the residuals: for an explosive series, a difference of squares is rounding error.
    mse, least_mse = (float(np.mean((now - phi * before) ** 2)) for phi in (slope, best))
    return SlopeError(slope, mse, best, least_mse, float(np.mean(before**2)))


def window_slopes(values: Float[np.ndarray, "time"], width: int = 50) -> WindowSlopes:
    """Return the best slope of every run of pairs (x_{t-1}, x_t).

    Args:
        values: values, shape (time,).
        width: pairs per run, at most half of all.
    """
    width = min(width, (len(values) - 1) // 2)
    before, now = (
        np.lib.stride_tricks.sliding_window_view(part, width) for part in (values[:-1], values[1:])
    )
    slopes = np.einsum("sw,sw->s", before, now) / np.einsum("sw,sw->s", before, before)
    return WindowSlopes(width, read_only(slopes))


def covering(estimates: Sequence[ARFit], phi: float) -> Fraction:
    """Return the number of estimates of phi_1 whose interval contains `phi`, and of all.

    Args:
        estimates: the estimates.
        phi: value of phi_1.
    """
    return sum(estimate.holds(phi) for estimate in estimates), len(estimates)


def select_order(
    values: Float[np.ndarray, "time"], max_order: int, intercept: bool = False
) -> OrderSelection:
    """Return AIC and BIC of the orders 0 ... max_order.

    Every order predicts the same n - max_order values; otherwise the criteria would not be
    comparable. AIC = -2 log L + 2 k and BIC = -2 log L + k log(n - max_order), with the Gaussian
    likelihood at its best sigma^2; k counts the regressors and sigma (statsmodels `AutoReg` with
    hold_back = max_order; its `ar_select_order` leaves the intercept out of k, which shifts all
    orders alike).

    Args:
        values: the series, shape (time,).
        max_order: largest order, at least 1.
        intercept: True to fit one.

    Raises:
        ValueError: as `fit`.
    """
    if max_order < 1:
        raise ValueError(f"The largest order must be at least 1, not {max_order}.")
    values = checked(values, at_least=2 * max_order + int(intercept) + 2)
    target = values[max_order:]
    triangle = triangular_factor(lag_matrix(values, max_order, intercept)[:-1], target)
    residual_sums = np.cumsum(triangle[::-1, -1] ** 2)[::-1][int(intercept) :]
    minus_twice = target.size * (np.log(2.0 * np.pi * residual_sums / target.size) + 1.0)
    orders = np.arange(max_order + 1)
    count = orders + int(intercept) + 1
    aic = minus_twice + 2.0 * count
    bic = minus_twice + np.log(target.size) * count
    return OrderSelection(
        orders=read_only(orders),
        aic=read_only(aic),
        bic=read_only(bic),
        chosen_aic=int(np.argmin(aic)),
        chosen_bic=int(np.argmin(bic)),
    )


def orders_found(
    coefficients: Coefficients, n: int, max_order: int, intercept: bool, seed: int, **noise: Any
) -> tuple[Proportion, Proportion]:
    """Return the proportions of 100 AR(P) series in which AIC, and BIC, choose the true order P.

    Args:
        coefficients: phi_1 ... phi_P, with phi_P other than 0.
        n: length of each series.
        max_order: largest order, as in `select_order`.
        intercept: True to fit one.
        seed: the series have the 100 seeds after it.
        **noise: sigma, noise, df, burn_in of `simulate`.
    """
    order = len(coefficients)
    chosen = [
        select_order(simulate(coefficients, n=n, seed=s, **noise).values, max_order, intercept)
        for s in range(seed + 1, seed + 101)
    ]
    return (
        proportion(np.array([item.chosen_aic == order for item in chosen])),
        proportion(np.array([item.chosen_bic == order for item in chosen])),
    )


def _conditional(
    values: Float[np.ndarray, "time"], order: int, method: Method, intercept: bool
) -> ARFit:
    regression = regress(lag_matrix(values, order, intercept)[:-1], values[order:])
    nobs, k = regression.nobs, regression.parameters.size
    if method == "ols":
        divisor, quantile = nobs - k, student_t_95(nobs - k)
    else:
        divisor, quantile = nobs, NORMAL_95
    variance = regression.residual_sum / divisor
    first = int(intercept)
    coefficients = regression.parameters[first:]
    covariance = variance * regression.inverse[first:, first:]
    constant = float(regression.parameters[0])
    return _estimate(
        method, coefficients, covariance, constant if intercept else nan, sqrt(variance), quantile
    )


def _yule_walker(values: Float[np.ndarray, "time"], order: int, intercept: bool) -> ARFit:
    mean = float(values.mean()) if intercept else 0.0
    covariance = sample_autocovariance(values - mean, order)
    phi, _, variance = durbin_levinson(covariance)
    lags = np.arange(order)
    toeplitz = covariance[np.abs(lags[:, None] - lags)]
    of_phi = variance * np.linalg.inv(toeplitz) / values.size
    constant = mean * (1.0 - float(phi.sum())) if intercept else nan
    return _estimate("yule_walker", phi, of_phi, constant, sqrt(variance))


def _exact(values: Float[np.ndarray, "time"], order: int, intercept: bool) -> ARFit:
    exact_fit = fit_exact(values, order, with_mean=intercept)
    constant = exact_fit.mean * (1.0 - float(exact_fit.coefficients.sum())) if intercept else nan
    return _estimate(
        "exact_ml", exact_fit.coefficients, exact_fit.covariance, constant, exact_fit.sigma
    )


def _estimate(
    method: Method,
    coefficients: Float[np.ndarray, "lag"],
    covariance: Float[np.ndarray, "lag lag"],
    intercept: float,
    sigma: float,
    quantile: float = NORMAL_95,
) -> ARFit:
    errors = np.sqrt(np.diag(covariance))
    low, high = coefficients - quantile * errors, coefficients + quantile * errors
    arrays = (read_only(part) for part in (coefficients, errors, low, high))
    return ARFit(method, intercept, sigma, *arrays)
