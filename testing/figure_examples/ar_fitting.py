"""Examples of figures of autoregressive series, with short simulated series."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from seqviz.compute import ar_fitting as ar
from seqviz.compute.ar_fitting.ahead import errors_ahead
from seqviz.compute.ar_fitting.networks import (
    EpochReport,
    LearnedMap,
    NetworkFit,
    NetworkSettings,
)
from seqviz.compute.ar_fitting.windows import WindowErrors, WindowReport
from seqviz.figures.ar_fitting import by_hand, diagnosis, estimation, forecast, series, training
from testing.fake import fake
from testing.figure_examples import Example


def learned(
    cell: str, values: np.ndarray, inputs: np.ndarray, mean: np.ndarray, low: np.ndarray,
    high: np.ndarray,
) -> NetworkFit:  # fmt: skip
    """Return the fit of a network with this map, which predicts 0.6 times the last value.

    Nothing is trained, as figures do not depend on torch.
    """
    train, predictions = 2.0 * np.exp(-np.arange(1.0, 41.0) / 15) + 1.0, 0.6 * values[:-1]
    return fake(
        NetworkFit, settings=NetworkSettings(cell, epochs=40), train_loss=train,
        validation_loss=train + 0.2, predictions=predictions, targets=values[1:],
        map=LearnedMap(inputs, mean, low, high), origins=np.array([100, 120]), step=20,
    )  # fmt: skip


def epoch_reports(losses: Sequence[tuple[float, float]]) -> list[EpochReport]:
    """Return the first reports of a training of 100 epochs, whose map is steeper every 10."""
    inputs = np.linspace(-4, 4, 51)
    maps = [LearnedMap(inputs, s * inputs, s * inputs - 0.1, s * inputs + 0.1) for s in (0.1, 0.6)]
    return [
        EpochReport(epoch + 1, 100, *both, epoch - epoch % 10, maps[epoch // 10 % 2])
        for epoch, both in enumerate(losses)
    ]


def examples() -> tuple[Example, ...]:
    """Return examples of every figure function of the subject, several where it has branches."""
    values = ar.simulate((0.6, -0.3), 1.5, n=200, seed=4).values
    years = [str(year) for year in range(1800, 2000)]
    result, plain = ar.correlogram(values, 15, (0.6, -0.3)), ar.correlogram(values, 20)
    slope = ar.fit(values, 1, "ols")
    fits = [ar.fit(values, 2, method, True) for method in ar.METHODS]
    chosen = ar.select_order(values, 8)
    many = ar.replicate(0.9, n=60, replications=300, seed=5, intercept=True)
    walks = ar.replicate(1.0, n=60, replications=200, seed=5)
    history, future = values[:180], values[180:]
    line = ar.fit(history, 2, "ols")
    fan = ar.forecast_recursive(history, line.coefficients, line.sigma, 20)
    direct = ar.forecast_direct(history, 2, 20)
    errors = ar.errors_by_horizon(values, 2, 10, coefficients=(0.6, -0.3), sigma=1.5)
    z = ar.roots((1.2, -0.2, 0.5))
    grid = np.linspace(-4, 4, 101)
    curve = np.tanh(grid)
    done = learned("lstm", values, grid, curve, curve - 0.1, curve + 0.1)
    trail = epoch_reports([(2.0 / e, 2.1 / e) for e in range(1, 13)])
    begun = epoch_reports([(2.0, np.nan)])
    error = float(np.mean((done.targets - done.predictions)[-120:] ** 2))
    white, bent = ar.diagnose(values, 2), ar.diagnose(values, 1)
    back = errors_ahead(done, (0.6, -0.3), 0.0, (0.6, -0.3))
    tried = fake(WindowErrors, window=10, target=4)
    part = WindowReport(3, 110, tried.scores[:3])
    by_slope, windows = ar.slope_error(values, 0.3), ar.window_slopes(values)
    return (
        Example("series", series.series_and_correlations, (values, result), result.acf[1]),
        Example("series of years", series.series_and_correlations,
                (values, plain, years, "10⁸ m³"), plain.acf[1]),
        Example("roots", series.roots_in_circle, (z,), np.abs(z).max()),
        Example("roots, all inside", series.roots_in_circle, (0.5 * z,), 0.5 * np.abs(z).max()),
        Example("lag plot", series.lag_plot, (values, slope, 0.6), slope.coefficients[0]),
        Example("lag plot, no truth", series.lag_plot, (values, slope), slope.coefficients[0]),
        Example("estimates", estimation.estimates_beside_truth, (fits, (0.6, -0.3)),
                fits[0].coefficients[0]),
        Example("estimates, too few", estimation.estimates_beside_truth, ([slope], (0.6, -0.3)),
                slope.upper[0]),
        Example("order", estimation.order_criteria, (chosen, 2), chosen.chosen_bic),
        Example("order, no truth", estimation.order_criteria, (chosen,), chosen.chosen_aic),
        Example("sampling", estimation.sampling_distribution, (many,), many.mean_bias),
        Example("sampling, unit root", estimation.sampling_distribution, (walks,), walks.mean_bias),
        Example("fan", forecast.forecast_fan, (history, fan, direct.mean, future, 0.0),
                fan.upper[-1]),
        Example("fan of years", forecast.forecast_fan,
                (history, fan, direct.mean, future, np.nan, years, "10⁸ m³"), fan.mean[0]),
        Example("fan of differences", forecast.forecast_fan,
                (history, fan, None, future, np.nan), fan.mean[0]),
        Example("errors", forecast.error_by_horizon, (errors,), errors.recursive_mse[-1]),
        Example("loss of a fit", training.loss_of_fit, (done, (1.0, 0.95, None)),
                done.train_loss[-1]),
        Example("loss, held out", training.loss_of_fit, (done, (1.0, 0.95, 0.97)),
                done.train_loss[-1]),
        Example("loss so far", training.loss_so_far, (trail, done.settings, (1.0, 0.95, None)),
                trail[-1].train_loss),
        Example("loss, first epoch", training.loss_so_far,
                (begun, done.settings, (1.0, 0.95, None)), 2.0),
        Example("map", training.one_step_map, (done, values, 0.6), 0.6),
        Example("map so far", training.map_so_far, (trail, "gru", values, 0.6), 0.6),
        Example("map, no truth", training.one_step_map, (done, values), done.map.slope),
        Example("map of a bent rule", training.one_step_map, (done, values),
                done.map.slope, {"rule": np.abs(grid), "line": 0.5 * grid}),
        Example("fed back", training.errors_fed_back, (back, "lstm"), back.network[-1]),
        Example("windows", training.error_by_window, (tried, 4, 0.9), 0.9),
        Example("windows so far", training.windows_so_far, ([part], 4, 0.9), tried.error(3)),
        Example("residuals", diagnosis.residual_check, (white,), white.q),
        Example("residuals of years", diagnosis.residual_check, (bent, years, "10⁸ m³"), bent.q),
        Example("predictions", training.one_step_predictions, (done,), error),
        Example("by hand", by_hand.fit_by_hand, (values, 0.3), by_slope.mse),
        Example("by hand, a run of pairs", by_hand.slopes_by_window, (values, windows),
                windows.extremes[1]),
    )  # fmt: skip
