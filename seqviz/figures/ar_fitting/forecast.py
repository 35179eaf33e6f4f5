"""Forecasts with their intervals, and their error by horizon."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float

from seqviz.compute.ar_fitting import Forecast, HorizonErrors
from seqviz.figures.ar_fitting.series import value_name
from seqviz.plotting import STYLE, Figure, Sheet, Style, axis

_LAST = 80  # maximum number of past values shown


def forecast_fan(
    history: Float[np.ndarray, "time"], recursive: Forecast,
    direct: Float[np.ndarray, "step"] | None, future: Float[np.ndarray, "step"], mean: float,
    index: Sequence[str] | np.ndarray | None = None, unit: str = "", style: Style = STYLE,
) -> Figure:  # fmt: skip
    """Plot the end of a series with the recursive forecast (95% interval) and the direct one.

    Args:
        history: values, shape (time,).
        recursive: forecasts for steps 1 ... H after the history.
        direct: means of the direct forecasts, shape (step,), or None.
        future: actual values, shape (step,).
        mean: long-run mean to which the forecasts of a stationary model decay, else nan.
        index: time labels of history and future together; None for 0, 1, 2 ...
        unit: unit of the values.
        style: language, theme and scale of the figure.
    """
    text, palette = style.text, style.palette
    n, steps = len(history), len(recursive.mean)
    labels = np.arange(n + steps) if index is None else np.asarray(index)
    past = labels[max(0, n - _LAST) : n]
    ahead = labels[n - 1 : n + steps]  # starts at the last value, which joins the lines

    def joined(values: np.ndarray) -> np.ndarray:
        return np.concatenate([history[-1:], values])

    sheet = Sheet(style)
    time = text("figure.steps" if index is None else "figure.dates")
    panel = sheet.panel(axis(time, showgrid=False), axis(value_name(text, unit)))
    panel.band(ahead, joined(recursive.lower), joined(recursive.upper), palette.band,
               name=text("figure.interval"), opacity=1, legend=True)  # fmt: skip
    panel.line(past, history[-_LAST:], text("figure.history"), palette.truth, width=1.8)
    panel.line(ahead, joined(future), text("figure.future"), palette.truth, width=1.4, dash="dash")
    panel.line(ahead, joined(recursive.mean), text("figure.recursive"), palette.prediction, width=3)
    if direct is not None:
        panel.line(ahead[1:], direct, text("figure.direct"), palette.mlp, width=1.6, dash="dash",
                   symbol="diamond", size=5)  # fmt: skip
    if np.isfinite(mean):
        panel.reference([past[0], ahead[-1]], [mean, mean], text("figure.long_run_mean"), width=1.5,
                        hover=None)  # fmt: skip
    return sheet.described(
        "alt.forecast", steps=steps, first=recursive.mean[0], last=recursive.last,
        low=recursive.lower[-1], high=recursive.upper[-1],
    )  # fmt: skip


def error_by_horizon(errors: HorizonErrors, style: Style = STYLE) -> Figure:
    """Plot the mean squared forecast error of both methods by horizon, with theory (dotted)."""
    text, palette = style.text, style.palette
    sheet = Sheet(style)
    panel = sheet.panel(
        axis(text("figure.horizon"), showgrid=False),
        axis(text("figure.forecast_mse"), rangemode="tozero"),
    )
    alone = "square" if len(errors.horizon) == 1 else None  # one point has no line
    panel.reference(errors.horizon, errors.theory, text("figure.theory_error"), width=2.5,
                    hover=None, symbol=alone, size=10)  # fmt: skip
    for values, name, color, dash, symbol in (
        (errors.recursive_mse, "figure.recursive", palette.prediction, "solid", "circle"),
        (errors.direct_mse, "figure.direct", palette.mlp, "dash", "diamond"),
    ):
        panel.line(errors.horizon, values, text(name), color, width=2.2, dash=dash, symbol=symbol,
                   size=6)  # fmt: skip
    return sheet.described("alt.horizon", errors=errors, steps=len(errors.horizon),
                           theory=errors.theory[-1])  # fmt: skip
