"""A series and its dependence: path, correlations, roots, lag plot."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float

from seqviz.compute.ar_fitting import ARFit, Correlogram
from seqviz.core.i18n import Text
from seqviz.plotting import STYLE, Figure, Panel, Sheet, Style, axis

BELOW = (0, 0.36)  # vertical domain of two panels below a path, as shares of the height


def value_name(text: Text, unit: str, key: str = "figure.value") -> str:
    """Return the title of an axis of values, with the unit if there is one."""
    return text(key) + (f" ({unit})" if unit else "")


def series_and_correlations(
    values: Float[np.ndarray, "time"], correlations: Correlogram,
    index: Sequence[str] | np.ndarray | None = None, unit: str = "", style: Style = STYLE,
) -> Figure:  # fmt: skip
    """Plot a series (top), its sample ACF (left) and PACF (right) with their theory.

    Dotted lines: the 95% band of a series without dependence.

    Args:
        values: values, shape (time,).
        correlations: sample and theoretical correlations.
        index: time labels (years, dates), the last n of which are those of the values; None for 0
            ... n - 1.
        unit: unit of the values, shown on the axis.
        style: language, theme and scale of the figure.
    """
    text, result = style.text, correlations
    sheet = Sheet(style)
    path_above(sheet, values, text("figure.series"), value_name(text, unit), index)
    lags, scale = axis(text("figure.lag"), showgrid=False), {"range": [-1.05, 1.05], "dtick": 0.5}
    left = sheet.panel(lags, axis(text("figure.acf"), **scale), across=(0, 0.44), up=BELOW)
    correlation_bars(left, result.acf, result.theory_acf, result.band)
    # Both panels share one scale: numbers on the left one only.
    shared = axis(text("figure.pacf"), showticklabels=False, **scale)
    right = sheet.panel(lags, shared, across=(0.58, 1), up=BELOW)
    correlation_bars(right, result.pacf, result.theory_pacf, result.band)
    outside, last = result.outside_acf()
    return sheet.described(
        "alt.series", n=len(values), low=float(values.min()), high=float(values.max()),
        first=result.r1, outside=outside, lags=last,
    )  # fmt: skip


def path_above(
    sheet: Sheet, values: Float[np.ndarray, "time"], name: str, title: str,
    index: Sequence[str] | np.ndarray | None, start: int = 0,
) -> None:  # fmt: skip
    """Draw a line over time with room for two panels below it (`BELOW`).

    Args:
        sheet: sheet to draw on.
        values: values, shape (time,).
        name: name of the trace.
        title: title of the value axis.
        index: time labels, the last of which are those of the values; None to count from `start`.
        start: first time step without labels.
    """
    text, n = sheet.style.text, len(values)
    sheet.margin(r=14, t=30)
    time = text("figure.steps" if index is None else "figure.dates")
    steps = {"title": {"text": time, "standoff": 14}, "showgrid": False}
    labels = np.arange(start, start + n) if index is None else np.asarray(index)[-n:]
    sheet.panel(steps, axis(title), up=(0.64, 1)).line(
        labels, np.asarray(values, float), name, sheet.style.palette.truth, width=1.2, legend=False
    )


def correlation_bars(
    panel: Panel, sample: Float[np.ndarray, "lag"], theory: Float[np.ndarray, "lag"] | None,
    band: float,
) -> None:  # fmt: skip
    """Draw sample correlations as bars from lag 1 on, theory as diamonds, and the band.

    Args:
        panel: panel to draw in.
        sample: sample correlations from lag 0 on.
        theory: theoretical correlations from lag 0 on, or None.
        band: half width of the 95% band of a series without dependence.
    """
    text, palette, lags = panel.style.text, panel.style.palette, np.arange(1, len(sample))
    panel.bars(lags, sample[1:], text("figure.sample"), palette.prediction, width=0.55,
               group="sample")  # fmt: skip
    if theory is not None:
        panel.points(lags, theory[1:], text("figure.theory"), palette.highlight, size=7,
                     symbol="diamond", group="theory")  # fmt: skip
    for end in (band, -band):
        panel.reference([0.4, lags[-1] + 0.6], [end] * 2, text("figure.band"), width=1.4,
                        group="band")  # fmt: skip


def roots_in_circle(roots: np.ndarray, style: Style = STYLE) -> Figure:
    """Plot the roots of z^P - phi_1 z^(P-1) - ... - phi_P with the unit circle.

    Inside the circle: stationary; on it: unit root; outside: explosive. Textbooks that write 1 -
    phi_1 z - ... have the reciprocals of these roots.

    Args:
        roots: complex, shape (lag,).
        style: language, theme and scale of the figure.
    """
    text, palette = style.text, style.palette
    outside, largest = np.abs(roots) >= 1 - 1e-9, float(np.max(np.abs(roots)))
    reach = max(1.3, 1.15 * largest)
    plane = {"range": [-reach, reach], "zeroline": True, "zerolinecolor": palette.grid,
             "constrain": "domain"}  # fmt: skip
    sheet = Sheet(style)
    panel = sheet.panel(
        axis(text("figure.real"), **plane), axis(text("figure.imaginary"), scaleanchor="x", **plane)
    )
    angle = np.linspace(0, 2 * np.pi, 181)
    panel.reference(np.cos(angle), np.sin(angle), text("figure.unit_circle"), width=1.5)
    for chosen, name, color, symbol in (
        (roots[~outside], "figure.root_inside", palette.prediction, "circle"),
        (roots[outside], "figure.root_outside", palette.rnn, "x"),
    ):
        if len(chosen):
            panel.points(chosen.real, chosen.imag, text(name), color, size=14, symbol=symbol)
    return sheet.described("alt.roots", count=len(roots), outside=int(outside.sum()),
                           largest=largest)  # fmt: skip


def lag_plot(
    values: Float[np.ndarray, "time"], line: ARFit, truth: float | None = None,
    style: Style = STYLE,
) -> Figure:  # fmt: skip
    """Plot each value against the one before it, with the fitted line and the true one (dashed).

    Args:
        values: values, shape (time,).
        line: fit of x_t = phi x_{t-1} (no intercept).
        truth: phi of the process, if known and of order 1.
        style: language, theme and scale of the figure.
    """
    text, palette, slope = style.text, style.palette, line.first
    before, now = np.asarray(values[:-1], float), np.asarray(values[1:], float)
    ends = np.array([before.min(), before.max()])
    sheet = Sheet(style)
    panel = sheet.panel(axis(text("figure.before")), axis(text("figure.now")))
    panel.points(before, now, text("figure.pairs"), palette.truth, size=5, opacity=0.35)
    fitted = text("figure.fitted_line", slope=slope)
    panel.line(ends, slope * ends, fitted, palette.prediction, width=3)
    if truth is None:
        return sheet.described("alt.lag_plot_alone", n=len(now), slope=slope)
    name = text("figure.true_line", slope=truth)
    panel.line(ends, truth * ends, name, palette.highlight, width=2.5, dash="dash")
    return sheet.described("alt.lag_plot", n=len(now), slope=slope, truth=truth)
