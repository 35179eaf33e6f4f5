"""Forecasts several steps ahead: recursive, or direct with one regression per step."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from seqviz.compute.ar_fitting.least_squares import Regression, lag_matrix, regress
from seqviz.compute.ar_fitting.process import (
    Coefficients,
    as_coefficients,
    psi_weights,
    read_only,
)
from seqviz.compute.ar_fitting.sample import checked
from seqviz.core.units import Decimals, WholeShare, array_item
from seqviz.stats.intervals import NORMAL_95


@dataclass(frozen=True)
class Forecast:
    """Forecasts 1 ... H steps after the end of a series; every array has shape (step,).

    Attributes:
        mean: point forecasts.
        lower: lower ends of the 95% intervals for Gaussian noise, mean - 1.96 standard errors; the
            uncertainty of the estimated coefficients is not included.
        upper: upper ends, mean + 1.96 standard errors.
        standard_error: standard deviations of the forecast errors.
    """

    mean: Float[np.ndarray, "step"]
    lower: Float[np.ndarray, "step"]
    upper: Float[np.ndarray, "step"]
    standard_error: Float[np.ndarray, "step"]

    last = array_item(
        "mean", -1, "The point forecast at the horizon, in the unit of the series.", Decimals
    )

    @property
    def decimals(self) -> int:
        """Decimals that mean something: those of the interval's width at three digits."""
        width = self.last_width
        return max(0, 2 - math.floor(math.log10(width))) if 0 < width < math.inf else 2

    @property
    def last_width(self) -> Decimals:
        """Width of the interval at the horizon, in the unit of the series."""
        return float(self.upper[-1] - self.lower[-1])

    def distance(self, other: Forecast) -> float:
        """Return the largest distance between two point forecasts, in the unit of the series.

        Distances at the level of rounding error count as 0.
        """
        gap = float(np.abs(self.mean - other.mean).max())
        return gap if gap > 1e-12 * float(np.abs(self.mean).max()) else 0.0

    def covers(self, future: Float[np.ndarray, "step"]) -> WholeShare:
        """Return the share of the observed values that lie inside the interval."""
        return float(((future >= self.lower) & (future <= self.upper)).mean())

    def error(self, future: Float[np.ndarray, "step"]) -> float:
        """Return the root mean squared error of the point forecasts, in the unit of the series."""
        return float(np.sqrt(((future - self.mean) ** 2).mean()))


@dataclass(frozen=True)
class HorizonErrors:
    """Mean squared forecast errors on unseen values, by horizon; every array has shape (step,).

    Attributes:
        recursive_mse: errors of the recursive forecast, in the squared unit of the series.
        direct_mse: errors of the direct forecast, likewise.
        theory: sigma^2 sum_{j<h} psi_j^2 of the true process.
        origins: number of forecasts in every mean.
    """

    horizon: Int[np.ndarray, "step"]
    recursive_mse: Float[np.ndarray, "step"]
    direct_mse: Float[np.ndarray, "step"]
    theory: Float[np.ndarray, "step"]
    origins: int

    mse_1 = array_item("recursive_mse", 0, "Of the recursive forecast, one step ahead.")
    mse_h = array_item("recursive_mse", -1, "Of the recursive forecast, at the horizon.")
    mse_direct = array_item("direct_mse", -1, "Of the direct forecast, at the horizon.")


def forecast_recursive(
    history: Float[np.ndarray, "time"],
    coefficients: Coefficients,
    sigma: float,
    horizon: int,
    intercept: float = 0.0,
) -> Forecast:
    """Forecast with one AR(P), feeding every forecast back as if it had been observed.

    The error h steps ahead has variance sigma^2 sum_{j<h} psi_j^2.

    Args:
        history: the series up to now, shape (time,), at least P values.
        coefficients: phi_1 ... phi_P.
        sigma: standard deviation of the innovations.
        horizon: H >= 1.
        intercept: c in x_t = c + sum_i phi_i x_{t-i} + eps_t; nan (no intercept, as in `ARFit`)
            counts as 0.

    Raises:
        ValueError: for a short history or a horizon below 1.

    References:
        Box, Jenkins & Reinsel, 2008, equation 5.1.16.
    """
    _at_least_one("horizon", horizon)
    phi = as_coefficients(coefficients)
    if history.size < phi.size:
        raise ValueError(f"The history has {history.size} values; the model needs {phi.size}.")
    constant = 0.0 if np.isnan(intercept) else intercept
    newest_first = history[::-1][: phi.size]
    mean = iterate(newest_first[None], phi, constant, horizon)[0]
    return _forecast(mean, np.sqrt(_error_variance(phi, sigma, horizon)))


def forecast_direct(
    history: Float[np.ndarray, "time"], order: int, horizon: int, intercept: bool = False
) -> Forecast:
    """Forecast every step h with its own regression of x_{t+h} on x_t, ..., x_{t-P+1}.

    The standard error is the residual standard deviation of the regression for that step (divided
    by its degrees of freedom). At h = 1, mean and standard error are those of OLS and the recursive
    method.

    Args:
        history: the series up to now, shape (time,).
        order: P >= 1.
        horizon: H >= 1.
        intercept: True to give every regression one.

    Raises:
        ValueError: if the history is too short, constant or free of noise one step ahead.

    References:
        Marcellino, Stock & Watson, 2006 ("direct" forecasts).
    """
    models = _direct_models(history, order, horizon, intercept)
    newest = lag_matrix(history, order, intercept)[-1]
    mean = np.array([newest @ model.parameters for model in models])
    deviation = [
        np.sqrt(model.residual_sum / (model.nobs - model.parameters.size)) for model in models
    ]
    return _forecast(mean, np.array(deviation))


def errors_by_horizon(
    values: Float[np.ndarray, "time"],
    order: int,
    horizon: int,
    coefficients: Coefficients,
    sigma: float,
) -> HorizonErrors:
    """Compare recursive and direct forecasts on the end of a series, without intercepts.

    All models are fitted once, to the first 70% of the values. The forecast origin rolls through
    the rest; every horizon is judged on the same origins.

    Args:
        values: the series, shape (time,).
        order: P >= 1.
        horizon: H >= 1.
        coefficients: phi of the true process, for the theoretical curve; for AR(1) the curve is
            sigma^2 (1 - phi^{2h}) / (1 - phi^2).
        sigma: standard deviation of the true innovations, for the same curve.

    Raises:
        ValueError: if either part is too short, or as `forecast_direct`.
    """
    values = np.asarray(values, dtype=float)
    train_end = int(0.7 * values.size)
    origins = values.size - horizon - train_end + 1
    if origins < 1:
        raise ValueError("The part after the training values is shorter than the horizon.")
    models = _direct_models(values[:train_end], order, horizon, intercept=False)

    # Row r of the lag matrix ends at time order + r - 1; the first origin ends the training values.
    first = train_end - order
    rows = lag_matrix(values, order)[first : first + origins]
    recursive = iterate(rows, models[0].parameters, 0.0, horizon)
    direct = np.column_stack([rows @ model.parameters for model in models])
    actual = np.lib.stride_tricks.sliding_window_view(values[train_end:], horizon)
    return HorizonErrors(
        horizon=read_only(np.arange(1, horizon + 1)),
        recursive_mse=read_only(np.mean((actual - recursive) ** 2, axis=0)),
        direct_mse=read_only(np.mean((actual - direct) ** 2, axis=0)),
        theory=read_only(_error_variance(as_coefficients(coefficients), sigma, horizon)),
        origins=origins,
    )


def error_of_repeating(
    history: Float[np.ndarray, "time"], future: Float[np.ndarray, "step"], season: int = 1
) -> float:
    """Return the root mean squared error of repeating the last `season` values in turn.

    Args:
        history: the series up to now.
        future: the observed values.
        season: number of values to repeat; 1 for the last value.
    """
    repeated = np.resize(history[-season:], future.size)
    return float(np.sqrt(((future - repeated) ** 2).mean()))


def _at_least_one(name: str, value: int) -> None:
    if value < 1:
        raise ValueError(f"The {name} must be at least 1, not {value}.")


def _direct_models(
    history: Float[np.ndarray, "time"], order: int, horizon: int, intercept: bool
) -> list[Regression]:
    """Fit one regression per step; the first is the ordinary AR(P).

    Only the first must have noise: a series with a period of 13 steps follows from its past without
    noise 13 steps ahead, whatever it does one step ahead.
    """
    _at_least_one("horizon", horizon)
    _at_least_one("order", order)
    history = checked(history, at_least=2 * order + int(intercept) + horizon + 1)
    rows = lag_matrix(history, order, intercept)
    return [
        regress(rows[:-step], history[order + step - 1 :], exact=step > 1)
        for step in range(1, horizon + 1)
    ]


def iterate(
    newest_first: Float[np.ndarray, "origin lag"],
    phi: Float[np.ndarray, "lag"],
    constant: float,
    horizon: int,
) -> Float[np.ndarray, "origin step"]:
    """Return recursive forecasts from many origins at once.

    Args:
        newest_first: the last P values before each origin, newest first.
        phi: phi_1 ... phi_P.
        constant: the intercept.
        horizon: number of forecasts from each origin.
    """
    existing = newest_first
    forecasts = np.empty((len(existing), horizon))
    for step in range(horizon):
        forecasts[:, step] = constant + existing @ phi
        existing = np.concatenate((forecasts[:, step : step + 1], existing), axis=1)[:, : phi.size]
    return forecasts


def _error_variance(
    phi: Float[np.ndarray, "lag"], sigma: float, horizon: int
) -> Float[np.ndarray, "step"]:
    return sigma**2 * np.cumsum(psi_weights(phi, horizon) ** 2)


def _forecast(
    mean: Float[np.ndarray, "step"], standard_error: Float[np.ndarray, "step"]
) -> Forecast:
    return Forecast(
        mean=read_only(mean),
        lower=read_only(mean - NORMAL_95 * standard_error),
        upper=read_only(mean + NORMAL_95 * standard_error),
        standard_error=read_only(standard_error),
    )
