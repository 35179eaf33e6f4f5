"""Bench on forecasts: a fan of intervals, and errors by horizon."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from seqviz.compute import ar_fitting as ar
from seqviz.core.errors import MessageError
from seqviz.core.i18n import number
from seqviz.figures.ar_fitting import forecast
from seqviz.lessons.ar_fitting.series import ProcessParams, Series, studied, theory
from seqviz.lessons.framework.controls import on, slider, toggle, view
from seqviz.lessons.framework.lesson import read_params
from seqviz.lessons.framework.show import Show


@dataclass(frozen=True)
class AheadParams:
    """Controls of the bench on forecasts."""

    view: str = view(("fan", "errors"), "fan")
    horizon: int = slider(1, 50, 20, unit="steps")
    model: int = slider(1, 8, 1)
    intercept: bool = toggle(False, when=on(view="fan"), more=True)


def draw_fan(
    show: Show, values: Series, order: int, intercept: bool, horizon: int,
    ordinary: bool = False, season: int = 0, index: Sequence[str] | None = None, unit: str = "",
) -> None:  # fmt: skip
    """Forecast the last `horizon` values from those before them.

    The forecast is recursive and direct, or recursive by way of differences.

    Args:
        show: host of the bench.
        values: the whole series.
        order: order of the fitted model.
        intercept: True to fit an intercept.
        horizon: number of steps.
        ordinary: True to take first differences.
        season: period of seasonal differences; 0 for none.
        index: time labels.
        unit: unit of the values.

    Raises:
        MessageError: the series is too short.
    """
    needed = 2 * order + max(20, int(intercept) + horizon + 1)  # last term: direct forecast
    if len(values) - horizon - int(ordinary) - season < needed:
        raise MessageError("too_short_to_forecast", horizon=horizon, steps=len(values))
    past, future = values[:-horizon], values[-horizon:]
    steady = past
    if ordinary or season:
        steady = show.run(ar.differenced, past, ordinary, season, name="changes")
    line = show.run(ar.fit, steady, order, "ols", intercept, name="line")
    constant, direct = line.intercept if intercept else 0.0, None
    rule: Any = line.coefficients
    if ordinary or season:
        rule = show.run(ar.undifferenced, line.coefficients, ordinary, season, name="rule")
    fan = show.run(ar.forecast_recursive, past, rule, line.sigma, horizon, constant, name="fan")
    if steady is past:
        direct = show.run(ar.forecast_direct, past, order, horizon, intercept, name="direct")
    level = show.run(ar.long_run_mean, rule, constant, name="level")
    means = None if direct is None else direct.mean
    show.figure(forecast.forecast_fan, past, fan, means, future, level, index=index, unit=unit)
    show.readouts(fan, forecast_h="last", width_h="last_width",
                  caption={"forecast_h": f"h = {horizon}"}, digits=fan.decimals)  # fmt: skip
    if direct is not None:
        show.readout("difference", fan.distance, direct)
    inside = round(show.readout("inside", fan.covers, future) * horizon)
    error = show.derive(fan.error, future, name="error")
    naive = show.derive(ar.error_of_repeating, past, future, season or 1, name="repeating")
    say_fan(horizon, inside, error, naive, season, show)


def say_fan(horizon: int, inside: int, error: float, naive: float, season: int, show: Show) -> None:
    """State how many values lie inside the fan, and the error beside that of a naive forecast."""
    several = "some" if horizon > 1 else "one"
    kind = several if horizon > 1 or inside else "none"
    repeating = show.words(f"note.repeat_{'season' if season else 'last'}", season=season)
    verdict = "better" if error < naive else "worse"
    show.note(
        f"fan_{'even' if number(error) == number(naive) else verdict}",  # compared as displayed
        came=show.words(f"note.came_{kind}", inside=inside, h=horizon), error=error, naive=naive,
        measure=show.words(f"note.measure_{several}"), repeating=repeating,
    )  # fmt: skip


def ahead(p: AheadParams, show: Show) -> None:
    world = read_params("process", ProcessParams)
    path, values = studied(world, show)
    if p.view == "fan":
        return draw_fan(show, values, p.model, p.intercept, p.horizon)
    if not ar.is_stationary(path.coefficients):
        raise MessageError("errors_need_stationary")
    if 0.3 * len(values) < p.horizon + 5:
        raise MessageError("too_short_to_forecast", horizon=p.horizon, steps=len(values))
    rule = (0.0,) if world.shuffle else path.coefficients
    sigma = float(values.std()) if world.shuffle else path.sigma
    errors = show.run(ar.errors_by_horizon, values, p.model, p.horizon, coefficients=rule,
                      sigma=sigma, name="errors")  # fmt: skip
    show.figure(forecast.error_by_horizon, errors)
    ends = {"mse_1": theory(show, errors.theory[0]), "mse_h": theory(show, errors.theory[-1])}
    show.readouts(errors, "mse_1", "mse_h", "mse_direct", "origins", caption=ends)
    several = "errors_recursive" if errors.mse_h <= errors.mse_direct else "errors_direct"
    show.note(several if p.horizon > 1 else "errors_one", errors=errors, h=p.horizon,
              theory=errors.theory[-1])  # fmt: skip
