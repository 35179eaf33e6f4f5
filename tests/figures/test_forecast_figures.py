"""The data in the figure equals the data put in: the fan of a forecast, the errors by horizon."""

from __future__ import annotations

import numpy as np
import pytest
from drawn import PATH, nile

from seqviz.compute import autoregression as ar
from seqviz.figures.autoregression.forecast import error_by_horizon, forecast_fan
from seqviz.text import Text

TEXT = Text("en")
HISTORY, FUTURE = PATH.values[:180], PATH.values[180:]


@pytest.fixture(scope="module")
def fan() -> ar.Forecast:
    line = ar.fit(HISTORY, 2, "ols")
    return ar.forecast_recursive(HISTORY, line.coefficients, line.sigma, 20)


@pytest.fixture(scope="module")
def direct() -> ar.Forecast:
    return ar.forecast_direct(HISTORY, 2, 20)


def trace(chart, key: str):
    (found,) = (t for t in chart.data if t.name == TEXT(key))
    return found


def test_history_forecast_and_future_follow_each_other(fan, direct):
    chart = forecast_fan(HISTORY, fan, direct.mean, FUTURE, mean=0.25, last=80)
    past = trace(chart, "figure.history")
    assert past.x.tolist() == list(range(100, 180))
    np.testing.assert_array_equal(past.y, HISTORY[-80:])
    ahead = trace(chart, "figure.recursive")
    assert ahead.x.tolist() == list(range(179, 200))
    assert ahead.y[0] == HISTORY[-1]
    np.testing.assert_array_equal(ahead.y[1:], fan.mean)
    came = trace(chart, "figure.future")
    assert came.x.tolist() == list(range(179, 200))
    np.testing.assert_array_equal(came.y[1:], FUTURE)
    other = trace(chart, "figure.direct")
    assert other.x.tolist() == list(range(180, 200))
    np.testing.assert_array_equal(other.y, direct.mean)


def test_the_interval_is_closed_around_the_forecast(fan):
    chart = forecast_fan(HISTORY, fan)
    band = trace(chart, "figure.interval")
    lower, upper = band.y[:21], band.y[21:][::-1]
    assert upper[0] == lower[0] == HISTORY[-1]
    np.testing.assert_array_equal(upper[1:], fan.upper)
    np.testing.assert_array_equal(lower[1:], fan.lower)
    np.testing.assert_array_equal(band.x[:21], band.x[21:][::-1])
    assert chart.data[0].name == band.name  # under the lines, not over them


def test_long_run_mean(fan):
    line = trace(forecast_fan(HISTORY, fan, mean=0.25), "figure.long_run_mean")
    assert list(line.y) == [0.25, 0.25]
    assert (line.x[0], line.x[1]) == (100, 199)
    names = [t.name for t in forecast_fan(HISTORY, fan, mean=np.nan).data]
    assert TEXT("figure.long_run_mean") not in names


def test_a_short_history_is_shown_whole(fan):
    chart = forecast_fan(HISTORY[:30], fan, last=80)
    past = trace(chart, "figure.history")
    assert past.x.tolist() == list(range(30))
    assert len(past.y) == 30


def test_a_future_shorter_than_the_forecast(fan):
    came = trace(forecast_fan(HISTORY, fan, future=FUTURE[:5]), "figure.future")
    assert came.x.tolist() == list(range(179, 185))
    assert len(came.y) == 6


def test_dates(fan):
    values, labels = nile().values, nile().labels
    chart = forecast_fan(values[:80], fan, None, values[80:], index=labels, unit="10⁸ m³")
    assert list(trace(chart, "figure.recursive").x) == list(labels[79:])
    assert chart.layout.xaxis.title.text == TEXT("figure.dates")
    assert chart.layout.yaxis.title.text.endswith("(10⁸ m³)")


def test_only_what_is_known_is_drawn(fan):
    names = {t.name for t in forecast_fan(HISTORY, fan).data}
    assert TEXT("figure.direct") not in names
    assert TEXT("figure.future") not in names


def test_errors_and_theory():
    errors = ar.errors_by_horizon(PATH.values, 2, 10, coefficients=(0.6, -0.3), sigma=1.5)
    chart = error_by_horizon(errors)
    for key, values in (
        ("figure.theory_error", errors.theory),
        ("figure.recursive", errors.recursive_mse),
        ("figure.direct", errors.direct_mse),
    ):
        line = trace(chart, key)
        assert line.x.tolist() == list(range(1, 11))
        np.testing.assert_array_equal(line.y, values)
    assert errors.theory[0] == pytest.approx(1.5**2)
    assert chart.layout.yaxis.rangemode == "tozero"


def test_no_theory_no_line():
    errors = ar.errors_by_horizon(PATH.values, 2, 10)
    assert TEXT("figure.theory_error") not in [t.name for t in error_by_horizon(errors).data]
