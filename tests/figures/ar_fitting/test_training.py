"""The data in the figure equals the data put in: loss, learned map, one-step predictions."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from seqviz.compute.ar_fitting.network_settings import CELLS, NetworkSettings
from seqviz.core.i18n import Text, number
from seqviz.figures.ar_fitting.training import (
    loss_of_fit,
    loss_so_far,
    map_so_far,
    one_step_map,
    one_step_predictions,
)
from seqviz.plotting.style import LIGHT
from testing.figure_examples.ar_fitting import epoch_reports, learned
from tests.figures.sample_series import PATH
from tests.figures.trace_helpers import trace

TEXT = Text("en")
INPUTS = np.linspace(-4, 4, 101)


def done(cell: str, values: np.ndarray = PATH.values, curve: np.ndarray = INPUTS):
    low, high = curve - 0.1, curve + 0.2
    return learned(cell, values, INPUTS, curve, low, high)


def so_far(losses: list[tuple[float, float]]):
    """A run of 100 epochs, told of the first few."""
    return loss_so_far(
        epoch_reports(losses), NetworkSettings("rnn", epochs=100), (1.0, 0.977, None)
    )


@pytest.mark.parametrize("cell", CELLS)
def test_loss_figure_uses_cell_color(cell):
    fit = done(cell)
    chart = loss_of_fit(fit, (1.0, 0.977, None))
    rendered = [
        trace(chart, TEXT(f"figure.{part}_loss", cell=cell.upper()))
        for part in ("train", "validation")
    ]
    for line, values in zip(rendered, (fit.train_loss, fit.validation_loss), strict=True):
        assert list(line.x) == list(range(1, 41))
        np.testing.assert_array_equal(line.y, values)
        assert line.line.color == getattr(LIGHT, cell)
    assert rendered[0].line.dash != rendered[1].line.dash


def test_loss_figure_keeps_axis_fixed_during_training():
    early, late = so_far([(3.0, 3.5)] * 3), so_far([(3.0, 3.5)] * 40)
    assert list(early.data[0].x) == [1, 2, 3]
    assert early.layout.xaxis.range == late.layout.xaxis.range
    assert early.layout.xaxis.range[1] >= 100


@pytest.mark.parametrize("losses", [[3.0], [3.0, 2.0, 1.5], [1.0, 10.0, 1e6, 3e37]])
def test_loss_figure_draws_noise_floor_and_ols_lines(losses):
    """`fit_network` refuses a loss that is not finite, but the last ones before that are large."""
    chart = so_far([(loss, np.nan) for loss in losses])
    names = [f"{TEXT('figure.noise_floor')} (1.00)", f"{TEXT('figure.ols_mse')} (0.977)"]
    # without validation there is no line for it
    assert [t.name for t in chart.data] == [TEXT("figure.train_loss", cell="RNN"), *names]
    for name, value in zip(names, (1.0, 0.977), strict=True):
        line = trace(chart, name)
        assert (list(line.x), list(line.y)) == ([1, 100], [value, value])
    low, high = chart.layout.yaxis.range
    assert low < 0.977 < max(losses) < high < np.inf
    first, last = losses[0], losses[-1]
    payload = {"cell": "RNN", "epoch": len(losses), "first": first, "last": last, "floor": 1.0}
    assert chart.alt == TEXT("alt.loss", **payload)


def test_map_figure_draws_band_curve_and_pairs():
    result = done("lstm", curve=np.tanh(INPUTS))
    chart = one_step_map(result, PATH.values, 0.6)
    band = trace(chart, TEXT("figure.map_band"))
    np.testing.assert_array_equal(band.y, [*result.map.low, *result.map.high[::-1]])
    np.testing.assert_array_equal(band.x, [*INPUTS, *INPUTS[::-1]])
    curve = trace(chart, TEXT("figure.learned_map", cell="LSTM"))
    np.testing.assert_array_equal(curve.x, INPUTS)
    np.testing.assert_array_equal(curve.y, np.tanh(INPUTS))
    assert curve.line.color == LIGHT.lstm
    np.testing.assert_allclose(trace(chart, TEXT("figure.true_line", slope=0.6)).y, 0.6 * INPUTS)
    pairs = trace(chart, TEXT("figure.pairs"))
    np.testing.assert_array_equal(pairs.x, PATH.values[:-1])
    np.testing.assert_array_equal(pairs.y, PATH.values[1:])
    straight = one_step_map(done("rnn", curve=0.75 * INPUTS), PATH.values)
    assert len(straight.data) == 3
    assert "0.750" in straight.alt  # the slope in the middle


def test_map_so_far_is_the_latest_snapshot_and_replays_all():
    trail = epoch_reports([(2.0, 2.0)] * 14)
    chart = map_so_far(trail, "rnn", PATH.values, 0.6)
    curve = trace(chart, TEXT("figure.learned_map", cell="RNN"))
    np.testing.assert_allclose(curve.y, 0.6 * curve.x)
    assert "0.600" in chart.alt
    band, mean = chart.page["meta"]["replay"]["learned"]
    for item in (band, mean):
        assert list(item["updates"]) == [0, 10]
    np.testing.assert_allclose(mean["y"], np.outer([0.1, 0.6], curve.x), rtol=1e-6)


@pytest.mark.parametrize(("length", "gaps"), [(2, 0), (30, 4), (200, 0)])
def test_predictions_figure_aligns_predictions_with_targets(length, gaps):
    """The last 120; an MLP with a window of 5 has no prediction for the first four targets."""
    values = PATH.values[:length]
    fit = done("gru", values)
    predictions = np.where(np.arange(length - 1) < gaps, np.nan, fit.predictions)
    chart = one_step_predictions(dataclasses.replace(fit, predictions=predictions))
    visible = min(120, length - 1)
    series = trace(chart, TEXT("figure.series"))
    forecast = trace(chart, TEXT("figure.one_step", cell="GRU"))
    # time t of x_t: the first target is x_1
    assert list(series.x) == list(forecast.x) == list(range(length - visible, length))
    np.testing.assert_array_equal(series.y, values[-visible:])
    np.testing.assert_array_equal(forecast.y, predictions[-visible:])
    errors = (values[1:] - predictions)[gaps:][-visible:]
    assert number(float(np.mean(errors**2))) in chart.alt
    assert "nan" not in chart.alt
