"""The data in the figure equals the data put in: loss, learned map, one-step predictions."""

from __future__ import annotations

import numpy as np
import pytest
from drawn import PATH

from seqviz.figures.autoregression.examples import learned
from seqviz.figures.autoregression.training import loss_curve, one_step_map, one_step_predictions
from seqviz.figures.grammar.style import LIGHT
from seqviz.text import Text, number

TEXT = Text("en")
EPOCHS = np.arange(1.0, 41.0)
TRAIN = 2 * np.exp(-EPOCHS / 15) + 1
VALIDATION = TRAIN + 0.3
CELLS = ("mlp", "rnn", "lstm", "gru")


def trace(chart, name: str):
    (found,) = (t for t in chart.data if t.name == name)
    return found


def predicted(cell: str, values: np.ndarray, predictions: np.ndarray):
    none = np.zeros(101)
    return learned(cell, values, predictions, none, none, none, none)


@pytest.mark.parametrize("cell", CELLS)
def test_losses_in_the_color_of_the_cell(cell):
    chart = loss_curve(TRAIN, VALIDATION, cell, EPOCHS, 100)
    train = trace(chart, TEXT("figure.train_loss", cell=cell.upper()))
    validation = trace(chart, TEXT("figure.validation_loss", cell=cell.upper()))
    np.testing.assert_array_equal(train.x, EPOCHS)
    np.testing.assert_array_equal(train.y, TRAIN)
    np.testing.assert_array_equal(validation.y, VALIDATION)
    assert train.line.color == validation.line.color == getattr(LIGHT, cell)
    assert train.line.dash != validation.line.dash


def test_the_axis_does_not_move_while_the_curve_grows():
    early = loss_curve(TRAIN[:3], VALIDATION[:3], "rnn", EPOCHS[:3], 100)
    late = loss_curve(TRAIN, VALIDATION, "rnn", EPOCHS, 100)
    assert early.layout.xaxis.range == late.layout.xaxis.range
    assert early.layout.xaxis.range[1] >= 100


def test_epochs_count_from_one_when_nobody_says_otherwise():
    chart = loss_curve(TRAIN, VALIDATION, "rnn")
    for line in chart.data:
        assert list(line.x) == list(range(1, 41))
    assert chart.layout.xaxis.range[1] >= 40


def test_without_validation_there_is_no_line_for_it():
    chart = loss_curve(TRAIN, np.full(40, np.nan), "rnn", EPOCHS, 40)
    assert [t.name for t in chart.data] == [TEXT("figure.train_loss", cell="RNN")]


def test_the_two_lines_that_matter():
    chart = loss_curve(TRAIN, VALIDATION, "rnn", EPOCHS, 100, noise_floor=1.0, ols_mse=0.977)
    for key, value in (("figure.noise_floor", 1.0), ("figure.ols_mse", 0.977)):
        (line,) = (t for t in chart.data if t.name.startswith(TEXT(key)))
        assert list(line.y) == [value, value]
        assert number(value) in line.name
        assert line.x[1] == 100
    low, high = chart.layout.yaxis.range
    assert low < 0.977
    assert high > TRAIN.max()


def test_one_epoch_can_be_drawn():
    chart = loss_curve(TRAIN[:1], np.array([np.nan]), "rnn", EPOCHS[:1], 100, 1.0)
    low, high = chart.layout.yaxis.range
    assert np.isfinite([low, high]).all()
    assert low < TRAIN[0] < high


def test_a_run_that_grows_without_bound_is_drawn():
    """`fit_network` refuses a loss that is not finite, but the last ones before that are large."""
    train = np.array([1.0, 10.0, 1e6, 3e37])
    chart = loss_curve(train, np.full(4, np.nan), "rnn", total=10, noise_floor=1.0)
    low, high = chart.layout.yaxis.range
    assert low < 1.0
    assert 3e37 < high < np.inf
    assert "× 10³⁷" in chart.alt


def test_map_band_curve_and_pairs():
    inputs = np.linspace(-4, 4, 101)
    mean, low, high = np.tanh(inputs), np.tanh(inputs) - 0.1, np.tanh(inputs) + 0.2
    done = learned("lstm", PATH.values, 0.6 * PATH.values[:-1], inputs, mean, low, high)
    chart = one_step_map(done, PATH.values, 0.6)
    band = trace(chart, TEXT("figure.map_band"))
    np.testing.assert_array_equal(band.y[:101], low)
    np.testing.assert_array_equal(band.y[101:][::-1], high)
    np.testing.assert_array_equal(band.x[:101], band.x[101:][::-1])
    curve = trace(chart, TEXT("figure.learned_map", cell="LSTM"))
    np.testing.assert_array_equal(curve.y, mean)
    assert curve.line.color == LIGHT.lstm
    true = trace(chart, TEXT("figure.true_line", slope="0.600"))
    np.testing.assert_allclose(true.y, 0.6 * inputs)
    pairs = trace(chart, TEXT("figure.pairs"))
    np.testing.assert_array_equal(pairs.y, PATH.values[1:])
    assert len(one_step_map(done, PATH.values).data) == 3


def test_map_description_gives_the_slope_in_the_middle():
    inputs = np.linspace(-4, 4, 101)
    curve = 0.75 * inputs
    done = learned("rnn", PATH.values, 0.6 * PATH.values[:-1], inputs, curve, curve, curve)
    chart = one_step_map(done, PATH.values)
    assert "0.750" in chart.alt


@pytest.mark.parametrize("last", [1, 50, 199, 500])
def test_predictions_are_beside_what_they_predict(last):
    targets = PATH.values[1:]
    predictions = 0.6 * PATH.values[:-1]
    chart = one_step_predictions(predicted("gru", PATH.values, predictions), last)
    shown = min(last, 199)
    series = trace(chart, TEXT("figure.series"))
    forecast = trace(chart, TEXT("figure.one_step", cell="GRU"))
    # time t of x_t: the first target is x_1
    assert series.x.tolist() == list(range(200 - shown, 200))
    np.testing.assert_array_equal(series.y, targets[-shown:])
    np.testing.assert_array_equal(forecast.y, predictions[-shown:])
    error = np.mean((targets[-shown:] - predictions[-shown:]) ** 2)
    assert number(float(error)) in chart.alt


def test_predictions_that_do_not_exist_yet_are_gaps():
    """An MLP with a window of 5 has no prediction for the first four targets."""
    values = PATH.values[:30]
    targets = values[1:]
    predictions = 0.6 * values[:-1]
    predictions[:4] = np.nan
    chart = one_step_predictions(predicted("mlp", values, predictions))
    assert "nan" not in chart.alt
    error = np.mean((targets[4:] - predictions[4:]) ** 2)
    assert number(float(error)) in chart.alt
