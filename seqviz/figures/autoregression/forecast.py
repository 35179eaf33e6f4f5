"""Forecasts with their intervals, and how the error grows with the horizon."""

from __future__ import annotations

from typing import Any

import numpy as np
from jaxtyping import Float

from seqviz.compute.autoregression import Forecast, HorizonErrors
from seqviz.figures.grammar.figure import Figure
from seqviz.figures.grammar.style import Style, axis_layout, finish, layout
from seqviz.text import number

_STYLE = Style()


def forecast_fan(
    history: Float[np.ndarray, "time"],
    recursive: Forecast,
    direct: Float[np.ndarray, "step"] | None = None,
    future: Float[np.ndarray, "step"] | None = None,
    mean: float = 0.0,
    last: int = 80,
    index: Any = None,
    unit: str = "",
    style: Style = _STYLE,
) -> Figure:
    """The end of the series, the recursive forecast with its 95 % interval, and the direct one.

    history: shape (time,). recursive: forecasts for steps 1 ... H after it. direct: means of the
    direct forecasts, shape (step,). future: what really came, when known. mean: the long-run mean
    to which forecasts of a stationary model decay. last: how much history is shown.
    index: labels of the time axis for history and future together, else 0, 1, 2 ...
    """
    text, palette = style.text, style.palette
    n = len(history)
    steps = len(recursive.mean)
    labels = np.arange(n + steps) if index is None else np.asarray(index)
    past = labels[max(0, n - last) : n]
    ahead = labels[n - 1 : n + steps]  # starts at the last value, so that the lines join

    def joined(values: np.ndarray) -> np.ndarray:
        return np.concatenate([history[-1:], values])

    data: list[dict[str, Any]] = [
        {
            "type": "scatter",
            "x": np.concatenate([ahead, ahead[::-1]]),
            "y": np.concatenate([joined(recursive.upper), joined(recursive.lower)[::-1]]),
            "fill": "toself",
            "fillcolor": palette.band,
            "line": {"width": 0},
            "mode": "lines",
            "name": text("figure.interval"),
            "hoverinfo": "skip",
        },
        {
            "type": "scatter",
            "x": past,
            "y": history[-last:],
            "mode": "lines",
            "name": text("figure.history"),
            "line": {"color": palette.truth, "width": 1.8},
        },
    ]
    if future is not None:
        data.append(
            {
                "type": "scatter",
                "x": ahead[: len(future) + 1],
                "y": joined(future),
                "mode": "lines",
                "name": text("figure.future"),
                "line": {"color": palette.truth, "width": 1.4, "dash": "dot"},
            }
        )
    data.append(
        {
            "type": "scatter",
            "x": ahead,
            "y": joined(recursive.mean),
            "mode": "lines",
            "name": text("figure.recursive"),
            "line": {"color": palette.prediction, "width": 3},
        }
    )
    if direct is not None:
        data.append(
            {
                "type": "scatter",
                "x": ahead[1:],
                "y": direct,
                "mode": "lines+markers",
                "name": text("figure.direct"),
                "line": {"color": palette.mlp, "width": 1.6, "dash": "dash"},
                "marker": {"size": 5, "symbol": "diamond"},
            }
        )
    if np.isfinite(mean):
        data.append(
            {
                "type": "scatter",
                "x": [past[0], ahead[-1]],
                "y": [mean, mean],
                "mode": "lines",
                "name": text("figure.long_run_mean"),
                "line": {"color": palette.baseline, "width": 1.5, "dash": "dot"},
            }
        )
    spec = layout(style)
    name = "figure.steps" if index is None else "figure.dates"
    spec |= {
        "xaxis": axis_layout(style, title={"text": text(name)}, showgrid=False),
        "yaxis": axis_layout(
            style, title={"text": text("figure.value") + (f" ({unit})" if unit else "")}
        ),
    }
    return finish(
        {"data": data, "layout": spec},
        text(
            "alt.forecast",
            steps=steps,
            first=number(float(recursive.mean[0])),
            last=number(float(recursive.mean[-1])),
            low=number(float(recursive.lower[-1])),
            high=number(float(recursive.upper[-1])),
        ),
    )


def error_by_horizon(errors: HorizonErrors, style: Style = _STYLE) -> Figure:
    """Mean squared forecast error by horizon, both methods, against theory."""
    text, palette = style.text, style.palette
    data: list[dict[str, Any]] = []
    if np.isfinite(errors.theory).any():
        data.append(
            {
                "type": "scatter",
                "x": errors.horizon,
                "y": errors.theory,
                "mode": "lines",
                "name": text("figure.theory_error"),
                "line": {"color": palette.baseline, "width": 2.5, "dash": "dot"},
            }
        )
    for values, name, color, dash, symbol in (
        (errors.recursive_mse, "figure.recursive", palette.prediction, "solid", "circle"),
        (errors.direct_mse, "figure.direct", palette.mlp, "dash", "diamond"),
    ):
        data.append(
            {
                "type": "scatter",
                "x": errors.horizon,
                "y": values,
                "mode": "lines+markers",
                "name": text(name),
                "line": {"color": color, "width": 2.2, "dash": dash},
                "marker": {"size": 6, "symbol": symbol},
            }
        )
    spec = layout(style)
    spec |= {
        "xaxis": axis_layout(style, title={"text": text("figure.horizon")}, showgrid=False),
        "yaxis": axis_layout(
            style, title={"text": text("figure.forecast_mse")}, rangemode="tozero"
        ),
    }
    return finish(
        {"data": data, "layout": spec},
        text(
            "alt.horizon",
            origins=errors.origins,
            first=number(float(errors.recursive_mse[0])),
            last=number(float(errors.recursive_mse[-1])),
            steps=len(errors.horizon),
            theory=number(float(errors.theory[-1])),
        ),
    )
