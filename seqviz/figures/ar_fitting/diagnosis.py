"""Diagnosis of a fitted autoregression: residuals, their ACF, the Ljung-Box test."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from seqviz.compute.ar_fitting import Diagnosis
from seqviz.figures.ar_fitting.series import BELOW, correlation_bars, path_above, value_name
from seqviz.plotting import STYLE, Figure, Sheet, Style, axis


def residual_check(
    diagnosis: Diagnosis, index: Sequence[str] | np.ndarray | None = None, unit: str = "",
    style: Style = STYLE,
) -> Figure:  # fmt: skip
    """Plot the residuals (top), their ACF (left) and the Ljung-Box Q(m) (right).

    The dashed line is the limit that Q of white noise does not exceed; the diamond is the tested
    lag.

    Args:
        diagnosis: residuals and tests.
        index: time labels of the whole series; the last ones are those of the residuals.
        unit: unit of the values.
        style: language, theme and scale of the figure.
    """
    text, palette, correlations = style.text, style.palette, diagnosis.correlations
    sheet = Sheet(style)
    title = value_name(text, unit, "figure.residual_value")
    path_above(sheet, diagnosis.residuals, text("figure.residuals"), title, index, diagnosis.order)
    reach = 1.15 * max(float(np.abs(correlations.acf[1:]).max()), correlations.band)
    left = sheet.panel(
        axis(text("figure.lag"), showgrid=False),
        axis(text("figure.residual_acf"), range=[-reach, reach]), across=(0, 0.43), up=BELOW,
    )  # fmt: skip
    correlation_bars(left, correlations.acf, None, correlations.band)
    right = sheet.panel(
        axis(text("figure.tested_lags"), showgrid=False),
        axis(text("figure.q"), rangemode="tozero"), across=(0.57, 1), up=BELOW,
    )  # fmt: skip
    tests = diagnosis.tests
    right.reference(tests.lags, tests.limit, text("figure.q_limit"), width=2.2, dash="dash")
    color = palette.rnn if diagnosis.refused else palette.prediction
    right.line(tests.lags, tests.statistic, text("figure.q"), color, width=2.4)
    right.points([diagnosis.tested], [diagnosis.q], text("figure.verdict"), palette.highlight,
                 size=11, symbol="diamond")  # fmt: skip
    outside, last = correlations.outside_acf()
    return sheet.described("alt.residuals", n=len(diagnosis.residuals), check=diagnosis,
                           outside=outside, last=last)  # fmt: skip
