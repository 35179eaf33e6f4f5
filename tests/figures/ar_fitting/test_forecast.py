"""The data in the figure equals the data put in: the fan of a forecast, the errors by horizon."""

from __future__ import annotations

import numpy as np
import pytest

from seqviz.compute import ar_fitting as ar
from seqviz.core.i18n import Text, number
from seqviz.figures.ar_fitting.forecast import error_by_horizon, forecast_fan
from tests.figures.sample_series import PATH, nile
from tests.figures.trace_helpers import trace

TEXT = Text("en")
HISTORY, FUTURE = PATH.values[:180], PATH.values[180:]
FAN = ar.forecast_recursive(HISTORY, (0.6, -0.3), 1.5, 20)
DIRECT = ar.forecast_direct(HISTORY, 2, 20).mean


@pytest.mark.parametrize("begins", [0, 100, 150])
def test_forecast_fan_joins_history_forecast_and_future(begins):
    """The last 80 values of the history, or all where there are fewer."""
    history = HISTORY[begins:]
    n, visible = len(history), min(80, len(history))
    chart = forecast_fan(history, FAN, DIRECT, FUTURE, 0.25)
    past, ahead = range(n - visible, n), range(n - 1, n + 20)  # from the last value: the lines join
    last = history[-1]
    for key, x, y in (
        ("history", past, history[-visible:]),
        ("recursive", ahead, [last, *FAN.mean]),
        ("future", ahead, [last, *FUTURE]),
        ("direct", ahead[1:], DIRECT),
        ("long_run_mean", (past[0], ahead[-1]), [0.25, 0.25]),
    ):
        line = trace(chart, TEXT(f"figure.{key}"))
        assert list(line.x) == list(x), key
        np.testing.assert_array_equal(line.y, y, key)
    first, last, low, high = FAN.mean[0], FAN.mean[-1], FAN.lower[-1], FAN.upper[-1]
    assert chart.alt == TEXT("alt.forecast", steps=20, first=first, last=last, low=low, high=high)


def test_forecast_fan_draws_closed_interval_band():
    chart = forecast_fan(HISTORY, FAN, DIRECT, FUTURE, np.nan)
    band = trace(chart, TEXT("figure.interval"))
    np.testing.assert_array_equal(band.y[:21], [HISTORY[-1], *FAN.lower])
    np.testing.assert_array_equal(band.y[21:][::-1], [HISTORY[-1], *FAN.upper])
    np.testing.assert_array_equal(band.x[:21], band.x[21:][::-1])
    assert chart.data[0].name == band.name  # under the lines, not over them
    assert TEXT("figure.long_run_mean") not in [t.name for t in chart.data]  # there is none


def test_forecast_fan_labels_axis_with_dates_and_unit():
    values, labels = nile().values, nile().labels
    chart = forecast_fan(values[:80], FAN, DIRECT, values[80:], 0.0, labels, "10⁸ m³")
    assert list(trace(chart, TEXT("figure.recursive")).x) == list(labels[79:])
    assert chart.layout.xaxis.title.text == TEXT("figure.dates")
    assert chart.layout.yaxis.title.text.endswith("(10⁸ m³)")


def test_error_by_horizon_draws_errors_and_theory():
    errors = ar.errors_by_horizon(PATH.values, 2, 10, (0.6, -0.3), 1.5)
    chart = error_by_horizon(errors)
    for key, values in (
        ("figure.theory_error", errors.theory),
        ("figure.recursive", errors.recursive_mse),
        ("figure.direct", errors.direct_mse),
    ):
        line = trace(chart, TEXT(key))
        assert line.x.tolist() == list(range(1, 11))
        np.testing.assert_array_equal(line.y, values)
    assert chart.layout.yaxis.rangemode == "tozero"
    assert chart.alt == TEXT("alt.horizon", errors=errors, steps=10, theory=errors.theory[-1])
    assert number(errors.recursive_mse[-1]) in chart.alt
