"""A network learning a series: its loss, the map it learned, its predictions."""

from __future__ import annotations

from typing import Any

import numpy as np
from jaxtyping import Float

from seqviz.figures.grammar.figure import Figure
from seqviz.figures.grammar.style import Style, axis_layout, finish, layout
from seqviz.text import number

_STYLE = Style()


def loss_curve(
    train: Float[np.ndarray, "report"],
    validation: Float[np.ndarray, "report"],
    cell: str,
    epochs: Float[np.ndarray, "report"] | None = None,
    total: int | None = None,
    noise_floor: float | None = None,
    ols_mse: float | None = None,
    style: Style = _STYLE,
) -> Figure:
    """Mean squared error by epoch as far as training has come, with the two lines that matter.

    train, validation: shape (report,); validation may be nan. epochs: when each was measured, else
    1, 2, 3 ... cell: which network, for its color and name. total: epochs of the whole
    run (the axis does not move while the curve grows). noise_floor: sigma^2, what the truth itself
    would score on average. ols_mse: what least squares scores on the training data.
    """
    text, palette = style.text, style.palette
    color = getattr(palette, cell)
    epochs = np.arange(1.0, len(train) + 1) if epochs is None else epochs
    total = total or len(train)
    data: list[dict[str, Any]] = [
        {
            "type": "scatter",
            "x": epochs,
            "y": train,
            "mode": "lines",
            "name": text("figure.train_loss", cell=cell.upper()),
            "line": {"color": color, "width": 2.5},
        }
    ]
    if np.isfinite(validation).any():
        data.append(
            {
                "type": "scatter",
                "x": epochs,
                "y": validation,
                "mode": "lines",
                "name": text("figure.validation_loss", cell=cell.upper()),
                "line": {"color": color, "width": 2, "dash": "dash"},
            }
        )
    lines = (
        (noise_floor, "figure.noise_floor", palette.baseline, "dot"),
        (ols_mse, "figure.ols_mse", palette.prediction, "dashdot"),
    )
    for value, name, line_color, dash in lines:
        if value is not None:
            data.append(
                {
                    "type": "scatter",
                    "x": [1, total],
                    "y": [value, value],
                    "mode": "lines",
                    "name": f"{text(name)} ({number(value)})",
                    "line": {"color": line_color, "width": 2, "dash": dash},
                }
            )
    seen = np.concatenate([train, validation[np.isfinite(validation)]])
    low = min([float(seen.min()), *(v for v, *_ in lines if v is not None)])
    spec = layout(style)
    spec |= {
        "xaxis": axis_layout(style, title={"text": text("figure.epoch")}, range=[0, total * 1.02]),
        "yaxis": axis_layout(
            style,
            title={"text": text("figure.mse")},
            range=[low - 0.08 * (seen.max() - low), seen.max() + 0.05 * (seen.max() - low)],
        ),
    }
    return finish(
        {"data": data, "layout": spec},
        text(
            "alt.loss",
            cell=cell.upper(),
            epoch=int(epochs[-1]),
            first=number(float(train[0])),
            last=number(float(train[-1])),
            floor=number(noise_floor) if noise_floor is not None else "–",
        ),
    )


def one_step_map(
    inputs: Float[np.ndarray, "grid"],
    mean: Float[np.ndarray, "grid"],
    low: Float[np.ndarray, "grid"],
    high: Float[np.ndarray, "grid"],
    cell: str,
    values: Float[np.ndarray, "time"],
    truth: float | None = None,
    style: Style = _STYLE,
) -> Figure:
    """What the network learned: its prediction as a function of the last value.

    inputs, mean, low, high: shape (grid,), the learned map with its 10 % to 90 % band over the
    moments of the series (the band shows how much it listens to anything but the last value).
    values: the series, for the pairs behind the curve. truth: the true slope of an AR(1).
    """
    text, palette = style.text, style.palette
    data: list[dict[str, Any]] = [
        {
            "type": "scatter",
            "x": np.concatenate([inputs, inputs[::-1]]),
            "y": np.concatenate([high, low[::-1]]),
            "fill": "toself",
            "fillcolor": palette.band,
            "line": {"width": 0},
            "mode": "lines",
            "name": text("figure.map_band"),
            "hoverinfo": "skip",
        },
        {
            "type": "scatter",
            "x": np.asarray(values[:-1], float),
            "y": np.asarray(values[1:], float),
            "mode": "markers",
            "name": text("figure.pairs"),
            "marker": {"color": palette.truth, "size": 4, "opacity": 0.22},
        },
    ]
    if truth is not None:
        data.append(
            {
                "type": "scatter",
                "x": inputs,
                "y": truth * inputs,
                "mode": "lines",
                "name": text("figure.true_line", slope=number(truth)),
                "line": {"color": palette.highlight, "width": 2.5, "dash": "dash"},
            }
        )
    data.append(
        {
            "type": "scatter",
            "x": inputs,
            "y": mean,
            "mode": "lines",
            "name": text("figure.learned_map", cell=cell.upper()),
            "line": {"color": getattr(palette, cell), "width": 3},
        }
    )
    spec = layout(style)
    spec |= {
        "xaxis": axis_layout(style, title={"text": text("figure.before")}),
        "yaxis": axis_layout(style, title={"text": text("figure.predicted")}),
    }
    middle = len(inputs) // 2
    slope = float((mean[middle + 5] - mean[middle - 5]) / (inputs[middle + 5] - inputs[middle - 5]))
    return finish(
        {"data": data, "layout": spec},
        text(
            "alt.map",
            cell=cell.upper(),
            slope=number(slope),
            truth=number(truth) if truth is not None else "–",
        ),
    )


def one_step_predictions(
    targets: Float[np.ndarray, "time"],
    predictions: Float[np.ndarray, "time"],
    cell: str,
    last: int = 120,
    style: Style = _STYLE,
) -> Figure:
    """The end of the series with the one-step predictions made for it.

    targets, predictions: shape (time,). last: how many steps are shown.
    """
    text, palette = style.text, style.palette
    time = np.arange(1, len(targets) + 1)[-last:]
    shown = (targets[-last:], predictions[-last:])
    data = [
        {
            "type": "scatter",
            "x": time,
            "y": shown[0],
            "mode": "lines",
            "name": text("figure.series"),
            "line": {"color": palette.truth, "width": 1.6},
        },
        {
            "type": "scatter",
            "x": time,
            "y": shown[1],
            "mode": "lines",
            "name": text("figure.one_step", cell=cell.upper()),
            "line": {"color": getattr(palette, cell), "width": 2.2, "dash": "dash"},
        },
    ]
    spec = layout(style)
    spec |= {
        "xaxis": axis_layout(style, title={"text": text("figure.steps")}),
        "yaxis": axis_layout(style, title={"text": text("figure.value")}),
    }
    error = float(np.nanmean((shown[0] - shown[1]) ** 2))
    return finish(
        {"data": data, "layout": spec},
        text("alt.predictions", cell=cell.upper(), last=len(time), mse=number(error)),
    )
