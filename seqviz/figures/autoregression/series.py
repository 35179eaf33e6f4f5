"""A series and its dependence: path, correlations, roots, each value against the last."""

from __future__ import annotations

from typing import Any

import numpy as np
from jaxtyping import Float

from seqviz.compute.autoregression import Correlogram, Estimate
from seqviz.figures.grammar.figure import Figure
from seqviz.figures.grammar.style import Style, axis_layout, finish, layout
from seqviz.text import number

_STYLE = Style()


def series_and_correlations(
    values: Float[np.ndarray, "time"],
    correlations: Correlogram,
    index: list[str] | np.ndarray | None = None,
    unit: str = "",
    style: Style = _STYLE,
) -> Figure:
    """The series on top; below it the sample ACF and PACF with the theory over them.

    values: shape (time,). index: labels of the time axis (years, dates), else 0 ... n - 1.
    unit: unit of the values, shown on the axis. The dotted lines are the 95 % band that a series
    without any dependence stays in.
    """
    text, palette = style.text, style.palette
    n = len(values)
    time = np.arange(n) if index is None else np.asarray(index)
    value_name = text("figure.value") + (f" ({unit})" if unit else "")
    data: list[dict[str, Any]] = [
        {
            "type": "scatter",
            "x": time,
            "y": np.asarray(values, float),
            "name": text("figure.series"),
            "mode": "lines",
            "line": {"color": palette.truth, "width": 1.2},
            "showlegend": False,
        }
    ]
    panels = (
        (correlations.acf, correlations.theory_acf),
        (correlations.pacf, correlations.theory_pacf),
    )
    lags = np.arange(1, len(correlations.acf))
    for panel, (sample, theory) in enumerate(panels, start=2):
        axes = {"xaxis": f"x{panel}", "yaxis": f"y{panel}"}
        data.append(
            {
                "type": "bar",
                "x": lags,
                "y": sample[1:],
                "name": text("figure.sample"),
                "width": 0.55,
                "marker": {"color": palette.prediction},
                "legendgroup": "sample",
                "showlegend": panel == 2,
                **axes,
            }
        )
        if theory is not None:
            data.append(
                {
                    "type": "scatter",
                    "x": lags,
                    "y": theory[1:],
                    "name": text("figure.theory"),
                    "mode": "markers",
                    "marker": {"color": palette.highlight, "size": 7, "symbol": "diamond"},
                    "legendgroup": "theory",
                    "showlegend": panel == 2,
                    **axes,
                }
            )
        data.extend(
            {
                "type": "scatter",
                "x": [0.4, lags[-1] + 0.6],
                "y": [sign * correlations.band] * 2,
                "mode": "lines",
                "name": text("figure.band"),
                "legendgroup": "band",
                "showlegend": panel == 2 and sign == 1,
                "line": {"color": palette.baseline, "width": 1.4, "dash": "dot"},
                "hoverinfo": "skip",
                **axes,
            }
            for sign in (1, -1)
        )
    lower = {"domain": [0, 0.36], "range": [-1.05, 1.05], "dtick": 0.5}
    spec = layout(style)
    spec |= {
        "xaxis": axis_layout(
            style,
            domain=[0, 1],
            anchor="y",
            title={
                "text": text("figure.steps" if index is None else "figure.dates"),
                "standoff": 14,
            },
            showgrid=False,
        ),
        "yaxis": axis_layout(style, domain=[0.64, 1], title={"text": value_name}),
        "xaxis2": axis_layout(
            style, domain=[0, 0.44], anchor="y2", title={"text": text("figure.lag")}, showgrid=False
        ),
        "yaxis2": axis_layout(style, title={"text": text("figure.acf")}, **lower),
        "xaxis3": axis_layout(
            style,
            domain=[0.58, 1],
            anchor="y3",
            title={"text": text("figure.lag")},
            showgrid=False,
        ),
        # Both panels share one scale: numbers on the left one only.
        "yaxis3": axis_layout(
            style, anchor="x3", title={"text": text("figure.pacf")}, showticklabels=False, **lower
        ),
        "margin": {"l": 10, "r": 14, "t": 30, "b": 10},
    }
    return finish(
        {"data": data, "layout": spec},
        text(
            "alt.series",
            n=n,
            low=number(float(np.min(values))),
            high=number(float(np.max(values))),
            first=number(float(correlations.acf[1])),
            outside=int(np.sum(np.abs(correlations.acf[1:]) > correlations.band)),
            lags=len(lags),
        ),
    )


def roots_in_circle(roots: np.ndarray, style: Style = _STYLE) -> Figure:
    """The roots of z^P - phi_1 z^(P-1) - ... - phi_P against the unit circle.

    roots: complex, shape (lag,). Inside the circle: stationary; on it: unit root; outside:
    explosive. (Textbooks that write 1 - phi_1 z - ... have the reciprocals of these.)
    """
    text, palette = style.text, style.palette
    angle = np.linspace(0, 2 * np.pi, 181)
    outside = np.abs(roots) >= 1 - 1e-9
    data: list[dict[str, Any]] = [
        {
            "type": "scatter",
            "x": np.cos(angle),
            "y": np.sin(angle),
            "mode": "lines",
            "name": text("figure.unit_circle"),
            "line": {"color": palette.baseline, "width": 1.5, "dash": "dot"},
            "hoverinfo": "skip",
        }
    ]
    for inside, name, color, symbol in (
        (True, "figure.root_inside", palette.prediction, "circle"),
        (False, "figure.root_outside", palette.rnn, "x"),
    ):
        chosen = roots[~outside] if inside else roots[outside]
        if len(chosen):
            data.append(
                {
                    "type": "scatter",
                    "x": chosen.real,
                    "y": chosen.imag,
                    "mode": "markers",
                    "name": text(name),
                    "marker": {"size": 14, "color": color, "symbol": symbol},
                }
            )
    reach = max(1.3, float(np.max(np.abs(roots))) * 1.15)
    spec = layout(style)
    spec |= {
        "xaxis": axis_layout(
            style, range=[-reach, reach], title={"text": text("figure.real")}, zeroline=True,
            zerolinecolor=palette.grid, constrain="domain",
        ),
        "yaxis": axis_layout(
            style, range=[-reach, reach], title={"text": text("figure.imaginary")},
            scaleanchor="x", zeroline=True, zerolinecolor=palette.grid, constrain="domain",
        ),
    }  # fmt: skip
    return finish(
        {"data": data, "layout": spec},
        text(
            "alt.roots",
            count=len(roots),
            outside=int(outside.sum()),
            largest=number(float(np.max(np.abs(roots)))),
        ),
    )


def lag_plot(
    values: Float[np.ndarray, "time"],
    line: Estimate,
    truth: float | None = None,
    style: Style = _STYLE,
) -> Figure:
    """Each value against the one before it, with the fitted line and the true one.

    values: shape (time,). line: the fit of x_t = phi x_{t-1} (no intercept).
    truth: the phi that made the series, when known and of order 1.
    """
    text, palette = style.text, style.palette
    slope = float(line.coefficients[0])
    before, now = values[:-1], values[1:]
    ends = np.array([before.min(), before.max()])
    data: list[dict[str, Any]] = [
        {
            "type": "scatter",
            "x": np.asarray(before, float),
            "y": np.asarray(now, float),
            "mode": "markers",
            "name": text("figure.pairs"),
            "marker": {"color": palette.truth, "size": 5, "opacity": 0.35},
        },
        {
            "type": "scatter",
            "x": ends,
            "y": slope * ends,
            "mode": "lines",
            "name": text("figure.fitted_line", slope=number(slope)),
            "line": {"color": palette.prediction, "width": 3},
        },
    ]
    if truth is not None:
        data.append(
            {
                "type": "scatter",
                "x": ends,
                "y": truth * ends,
                "mode": "lines",
                "name": text("figure.true_line", slope=number(truth)),
                "line": {"color": palette.highlight, "width": 2.5, "dash": "dash"},
            }
        )
    spec = layout(style)
    spec |= {
        "xaxis": axis_layout(style, title={"text": text("figure.before")}),
        "yaxis": axis_layout(style, title={"text": text("figure.now")}),
    }
    return finish(
        {"data": data, "layout": spec},
        text(
            "alt.lag_plot",
            n=len(now),
            slope=number(slope),
            truth=number(truth) if truth is not None else "–",
        ),
    )
