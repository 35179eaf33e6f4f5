"""What estimation gives: estimates beside the truth, the order, the sampling distribution."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from seqviz.compute.autoregression import Estimate, OrderSelection, Replications
from seqviz.figures.grammar.figure import Figure
from seqviz.figures.grammar.style import Style, axis_layout, finish, layout
from seqviz.text import number

_STYLE = Style()
_MARKS = ("circle", "square", "diamond", "triangle-up")


def estimates_beside_truth(
    estimates: Sequence[Estimate], truth: Sequence[float] | None, style: Style = _STYLE
) -> Figure:
    """Each method's coefficients with 95 % intervals, and a line where the truth is.

    estimates: fits of the same series. truth: phi_1 ... phi_P of the process, when known.
    """
    text, palette = style.text, style.palette
    colors = (palette.prediction, palette.gru, palette.rnn, palette.mlp)
    # A true coefficient that the model leaves out is on the figure too.
    order = max(len(truth or ()), *(len(e.coefficients) for e in estimates))
    count = len(estimates)
    data: list[dict[str, Any]] = []
    if truth is not None:
        for lag in range(order):
            value = truth[lag] if lag < len(truth) else 0.0
            data.append(
                {
                    "type": "scatter",
                    "x": [value, value],
                    "y": [lag + 0.55, lag + 1.45],
                    "mode": "lines",
                    "name": text("figure.truth"),
                    "legendgroup": "truth",
                    "showlegend": lag == 0,
                    "line": {"color": palette.highlight, "width": 3, "dash": "dash"},
                }
            )
    for place, estimate in enumerate(estimates):
        lags = np.arange(1, len(estimate.coefficients) + 1)
        data.append(
            {
                "type": "scatter",
                "x": estimate.coefficients,
                "y": lags + (place - (count - 1) / 2) * 0.18,
                "mode": "markers",
                "name": text(f"option.{estimate.method}"),
                "marker": {"color": colors[place % 4], "size": 10, "symbol": _MARKS[place % 4]},
                "error_x": {
                    "type": "data",
                    "array": estimate.upper - estimate.coefficients,
                    "arrayminus": estimate.coefficients - estimate.lower,
                    "symmetric": False,
                    "color": colors[place % 4],
                    "thickness": 2,
                    "width": 5,
                },
            }
        )
    spec = layout(style)
    spec |= {
        "xaxis": axis_layout(style, title={"text": text("figure.estimate")}),
        "yaxis": axis_layout(
            style,
            title={"text": text("figure.which")},
            tickvals=list(range(1, order + 1)),
            ticktext=[f"φ<sub>{lag}</sub>" for lag in range(1, order + 1)],
            range=[order + 0.6, 0.4],
            showgrid=False,
        ),
    }
    first = estimates[0]
    return finish(
        {"data": data, "layout": spec},
        text(
            "alt.estimates",
            method=text(f"option.{first.method}"),
            value=number(float(first.coefficients[0])),
            low=number(float(first.lower[0])),
            high=number(float(first.upper[0])),
            truth=number(truth[0]) if truth is not None else "–",
        ),
    )


def order_criteria(
    selection: OrderSelection, truth: int | None = None, style: Style = _STYLE
) -> Figure:
    """AIC and BIC above their own minimum for each order; the minimum is the order they choose."""
    text, palette = style.text, style.palette
    data: list[dict[str, Any]] = []
    for name, values, chosen, color, dash in (
        ("AIC", selection.aic, selection.chosen_aic, palette.prediction, "solid"),
        ("BIC", selection.bic, selection.chosen_bic, palette.rnn, "dash"),
    ):
        above = values - values.min()
        data.append(
            {
                "type": "scatter",
                "x": selection.orders,
                "y": above,
                "mode": "lines+markers",
                "name": name,
                "line": {"color": color, "width": 2.5, "dash": dash},
                "marker": {
                    "size": np.where(selection.orders == chosen, 15, 7).tolist(),
                    "color": color,
                    "symbol": "circle" if dash == "solid" else "square",
                },
            }
        )
    top = float(max(np.ptp(selection.aic), np.ptp(selection.bic)))
    # The order-0 model is often a hundred times worse: keep the interesting part readable.
    near = [float(np.sort(v - v.min())[-2]) for v in (selection.aic, selection.bic)]
    spec = layout(style)
    spec |= {
        "xaxis": axis_layout(style, title={"text": text("figure.order")}, dtick=1, showgrid=False),
        "yaxis": axis_layout(
            style,
            title={"text": text("figure.above_best")},
            range=[-0.06 * min(top, 1.6 * max(near)), min(top * 1.06, 1.6 * max(near) + 2)],
        ),
    }
    if truth is not None:
        spec["shapes"] = [
            {
                "type": "line", "x0": truth, "x1": truth, "yref": "paper", "y0": 0, "y1": 1,
                "line": {"color": palette.highlight, "width": 2, "dash": "dash"},
            }
        ]  # fmt: skip
        spec["annotations"] = [
            {
                "x": truth, "yref": "paper", "y": 0.98, "text": text("figure.true_order"),
                "showarrow": False, "xanchor": "left", "xshift": 6,
            }
        ]  # fmt: skip
    return finish(
        {"data": data, "layout": spec},
        text("alt.order", aic=selection.chosen_aic, bic=selection.chosen_bic),
    )


def sampling_distribution(replications: Replications, style: Style = _STYLE) -> Figure:
    """Histogram of phi-hat over many series of the same process, with the truth and both biases."""
    text, palette = style.text, style.palette
    low, high = float(replications.estimates.min()), float(replications.estimates.max())
    if high - low < 1e-6:  # an explosive series pins phi down to the last digits: one bar
        low, high = low - 0.001, high + 0.001
    counts, edges = np.histogram(replications.estimates, bins=40, range=(low, high))
    centers = (edges[1:] + edges[:-1]) / 2
    mean = replications.phi + replications.mean_bias
    expected = replications.phi + replications.theory_bias
    data: list[dict[str, Any]] = [
        {
            "type": "bar",
            "x": centers,
            "y": counts,
            "width": float(edges[1] - edges[0]),
            "name": text("figure.estimates", count=len(replications.estimates)),
            "marker": {"color": palette.band, "line": {"color": palette.prediction, "width": 1}},
        }
    ]
    if np.isfinite(replications.theory_sd) and replications.theory_sd > 0:
        grid = np.linspace(edges[0], edges[-1], 161)
        z = (grid - replications.phi) / replications.theory_sd
        density = np.exp(-z * z / 2) / np.sqrt(2 * np.pi) / replications.theory_sd
        data.append(
            {
                "type": "scatter",
                "x": grid,
                "y": density * len(replications.estimates) * (edges[1] - edges[0]),
                "mode": "lines",
                "name": text("figure.large_sample"),
                "line": {"color": palette.baseline, "width": 2, "dash": "dot"},
            }
        )
    height = counts.max() * 1.08
    for value, name, color, dash in (
        (replications.phi, text("figure.truth"), palette.highlight, "dash"),
        (mean, text("figure.mean_estimate"), palette.prediction, "solid"),
        (expected, text("figure.expected_mean"), palette.rnn, "dot"),
    ):
        if not np.isfinite(value):
            continue  # theory has no word on a unit root or beyond
        data.append(
            {
                "type": "scatter",
                "x": [value, value],
                "y": [0, height],
                "mode": "lines",
                "name": name,
                "line": {"color": color, "width": 3, "dash": dash},
            }
        )
    spec = layout(style)
    spec |= {
        "bargap": 0,
        "xaxis": axis_layout(style, title={"text": text("figure.phi_hat")}, showgrid=False),
        "yaxis": axis_layout(style, title={"text": text("figure.count")}, range=[0, height]),
    }
    return finish(
        {"data": data, "layout": spec},
        text(
            "alt.sampling",
            count=len(replications.estimates),
            n=replications.n,
            phi=number(replications.phi),
            bias=number(replications.mean_bias),
            theory=number(replications.theory_bias),
        ),
    )
