"""Estimates of an autoregression: coefficients, order, sampling distribution."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from seqviz.compute.ar_fitting import ARFit, OrderSelection, Replications
from seqviz.plotting import STYLE, Figure, Sheet, Style, axes, axis, whisker

# Role of the color and marker of each method, in order.
_LOOKS = (("prediction", "circle"), ("gru", "square"), ("rnn", "diamond"), ("mlp", "triangle-up"))


def estimates_beside_truth(
    estimates: Sequence[ARFit], truth: Sequence[float], style: Style = STYLE
) -> Figure:
    """Plot each method's coefficients with 95% intervals; dashed lines mark the true values.

    Args:
        estimates: fits of one series.
        truth: phi_1 ... phi_P of the process.
        style: language, theme and scale of the figure.
    """
    text, palette, first = style.text, style.palette, estimates[0]
    # True coefficients beyond the model's order are shown, too.
    order = max(len(truth), *(len(e.coefficients) for e in estimates))
    sheet = Sheet(style)
    names = [f"φ<sub>{lag}</sub>" for lag in range(1, order + 1)]
    panel = sheet.panel(axis(text("figure.estimate")), axes.ranked(names, text("figure.which")))
    for lag in range(order):
        true = truth[lag] if lag < len(truth) else 0.0
        panel.line([true, true], [lag + 0.55, lag + 1.45], text("figure.truth"), palette.highlight,
                   width=3, dash="dash", group="truth")  # fmt: skip
    for index, estimate in enumerate(estimates):
        role, symbol = _LOOKS[index % len(_LOOKS)]
        color, result = getattr(palette, role), estimate.coefficients
        panel.points(
            result, np.arange(1, len(result) + 1) + (index - (len(estimates) - 1) / 2) * 0.18,
            text(f"option.{estimate.method}"), color, size=10, symbol=symbol,
            error_x=whisker(result, estimate.lower, estimate.upper, color, thickness=2),
        )  # fmt: skip
    return sheet.described(
        "alt.estimates", method=text(f"option.{first.method}"), value=first.coefficients[0],
        low=first.lower[0], high=first.upper[0], truth=truth[0],
    )  # fmt: skip


def order_criteria(
    selection: OrderSelection, truth: int | None = None, style: Style = STYLE
) -> Figure:
    """Plot AIC and BIC by order above their minimum, which is the order they choose.

    Args:
        selection: both criteria by order.
        truth: order of the process, if known.
        style: language, theme and scale of the figure.
    """
    text, palette = style.text, style.palette
    above = [values - values.min() for values in (selection.aic, selection.bic)]
    top = float(max(values.max() for values in above))
    # Keeps the axis readable, because the order-0 model is often a hundred times worse.
    near = 1.6 * max(float(np.sort(values)[-2]) for values in above)
    sheet = Sheet(style)
    panel = sheet.panel(
        axis(text("figure.order"), dtick=1, showgrid=False),
        axis(text("figure.above_best"), range=[-0.06 * min(top, near), min(1.06 * top, near + 2)]),
    )
    for name, values, chosen, color, dash, symbol in (
        ("AIC", above[0], selection.chosen_aic, palette.prediction, "solid", "circle"),
        ("BIC", above[1], selection.chosen_bic, palette.rnn, "dash", "square"),
    ):
        sizes = np.where(selection.orders == chosen, 15, 7)
        panel.line(
            selection.orders, values, name, color, width=2.5, dash=dash, mode="lines+markers",
            marker={"size": sizes, "color": color, "symbol": symbol},
        )  # fmt: skip
    if truth is not None:
        panel.vertical(truth, palette.highlight, dash="dash")
        panel.words(text("figure.true_order"), truth, 0.98, yref="domain", size=14,
                    xanchor="left", xshift=6)  # fmt: skip
    return sheet.described("alt.order", aic=selection.chosen_aic, bic=selection.chosen_bic)


def sampling_distribution(replications: Replications, style: Style = STYLE) -> Figure:
    """Plot a histogram of phi-hat over many series of one process, with truth and both biases.

    The dotted curve is the large-sample normal distribution. Vertical lines: truth (dashed), mean
    estimate (solid), and mean expected from the theoretical bias (dotted).
    """
    text, palette, many = style.text, style.palette, replications
    count, deviation = len(many.estimates), many.theory_sd
    low, high = float(many.estimates.min()), float(many.estimates.max())
    if high - low < 1e-6:  # one bar: an explosive series determines phi almost exactly
        low, high = low - 0.001, high + 0.001
    counts, edges = np.histogram(many.estimates, bins=40, range=(low, high))
    width = float(edges[1] - edges[0])
    grid = np.linspace(edges[0], edges[-1], 161)
    normal = np.zeros(0)
    if np.isfinite(deviation) and deviation > 0:
        density = np.exp(-(((grid - many.phi) / deviation) ** 2) / 2) / np.sqrt(2 * np.pi)
        normal = density / deviation * count * width
    height = 1.08 * max(counts.max(), normal.max(initial=0.0))
    sheet = Sheet(style, bargap=0)
    count_axis = axis(text("figure.count"), range=[0, height])
    panel = sheet.panel(axis(text("figure.phi_hat"), showgrid=False), count_axis)
    panel.bars(
        (edges[1:] + edges[:-1]) / 2, counts, text("figure.estimates", count=count), palette.band,
        width=width, edge={"color": palette.prediction, "width": 1},
    )  # fmt: skip
    if normal.size:
        panel.line(grid, normal, text("figure.large_sample"), palette.baseline, width=2, dash="dot")
    for value, name, color, dash in (
        (many.phi, "figure.truth", palette.highlight, "dash"),
        (many.phi + many.mean_bias, "figure.mean_estimate", palette.prediction, "solid"),
        (many.phi + many.theory_bias, "figure.expected_mean", palette.rnn, "dot"),
    ):
        if np.isfinite(value):  # theory is nan at a unit root or beyond
            panel.line([value, value], [0, height], text(name), color, width=3, dash=dash)
    method = text(f"option.{many.method}")
    return sheet.described("alt.sampling", count=count, many=many, method=method)
