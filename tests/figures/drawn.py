"""Series that tests of figures draw."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from seqviz.compute import autoregression as ar
from seqviz.data import series

PATH = ar.simulate((0.6, -0.3), 1.5, n=200, seed=4)
WALK = ar.simulate((1.0,), n=120, seed=3)


@cache
def nile() -> series.Series:
    return series.bundled("nile")
<<<<<<< HEAD


@cache
def cases() -> tuple[Case, ...]:
    values = PATH.values
    truth = tuple(PATH.coefficients.tolist())
    found = ar.correlogram(values, 15, truth)
    plain = ar.correlogram(nile().values, 20)
    slope = ar.fit(values, 1, "ols")
    fits = [ar.fit(values, 2, method, True) for method in ar.METHODS]
    selection = ar.select_order(values, 8)
    many = ar.replicate(0.9, n=60, replications=300, seed=5, intercept=True)
    walks = ar.replicate(1.0, n=60, replications=200, seed=5)
    history, future = values[:180], values[180:]
    line = ar.fit(history, 2, "ols")
    fan = ar.forecast_recursive(history, line.coefficients, line.sigma, 20)
    direct = ar.forecast_direct(history, 2, 20)
    errors = ar.errors_by_horizon(values, 2, 10, coefficients=truth, sigma=1.5)
    unknown = ar.errors_by_horizon(values, 2, 10)
    epochs = np.arange(1.0, 41.0)
    train = 2.0 * np.exp(-epochs / 15) + 1.0
    validation = train + 0.2
    grid = np.linspace(-4, 4, 101)
    curve = np.tanh(grid)
    predictions = 0.6 * values[:-1]
    z = ar.roots((1.2, -0.2, 0.5))
    return (
        Case("series", series_and_correlations, (values, found), float(found.acf[1])),
        Case("series of years", series_and_correlations,
             (nile().values, plain, nile().labels, "10⁸ m³"), float(plain.acf[1])),
        Case("roots", roots_in_circle, (z,), float(np.abs(z).max())),
        Case("lag plot", lag_plot, (values, slope, 0.6), float(slope.coefficients[0])),
        Case("lag plot, no truth", lag_plot, (values, slope), float(slope.coefficients[0])),
        Case("estimates", estimation.estimates_beside_truth, (fits, truth),
             float(fits[0].coefficients[0])),
        Case("estimates, no truth", estimation.estimates_beside_truth, (fits[1:3], None),
             float(fits[1].upper[0])),
        Case("order", estimation.order_criteria, (selection, 2), selection.chosen_bic),
        Case("sampling", estimation.sampling_distribution, (many,), many.mean_bias),
        Case("sampling, unit root", estimation.sampling_distribution, (walks,), walks.mean_bias),
        Case("fan", forecast.forecast_fan, (history, fan, direct.mean, future),
             float(fan.upper[-1])),
        Case("fan of years", forecast.forecast_fan,
             (nile().values[:80], fan, None, None, np.nan, 40, nile().labels, "10⁸ m³"),
             float(fan.mean[0])),
        Case("errors", forecast.error_by_horizon, (errors,), float(errors.recursive_mse[-1])),
        Case("errors, no theory", forecast.error_by_horizon, (unknown,),
             float(unknown.recursive_mse[0])),
        Case("loss", training.loss_curve,
             (train, validation, "gru", epochs, 100, 1.0, 0.95), float(train[-1])),
        Case("loss, first epoch", training.loss_curve,
             (train[:1], np.array([np.nan]), "rnn", epochs[:1], 100), float(train[0])),
        Case("map", training.one_step_map,
             (grid, curve, curve - 0.1, curve + 0.1, "lstm", values, 0.6), 0.6),
        Case("predictions", training.one_step_predictions,
             (values[1:], predictions, "mlp", 50),
             float(np.mean((values[-50:] - predictions[-50:]) ** 2))),
        Case("by hand", by_hand.fit_by_hand, (values,),
             float(values[1:] @ values[:-1] / (values[:-1] @ values[:-1]))),
    )  # fmt: skip


def plotly_cases() -> tuple[Case, ...]:
    return tuple(case for case in cases() if case.draw is not by_hand.fit_by_hand)
=======
>>>>>>> f-gates
