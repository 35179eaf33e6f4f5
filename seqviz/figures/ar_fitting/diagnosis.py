"""What a fitted autoregression has left over: residuals, their correlations, the Ljung-Box test."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from seqviz.compute.ar_fitting import Diagnosis
from seqviz.figures.ar_fitting.series import correlation_bars, value_name
from seqviz.plotting import STYLE, Figure, Sheet, Style, axis


def residual_check(
    diagnosis: Diagnosis,
    index: Sequence[str] | np.ndarray | None = None,
    unit: str = "",
    style: Style = STYLE,
) -> Figure:
    """The residuals on top; below them their ACF, and Q(m) against what noise would not exceed.

    index: labels of the time axis of the whole series, of which the last are those of the
    residuals. unit: of the values.
    """
    text, palette, n = style.text, style.palette, len(diagnosis.residuals)
    sheet = Sheet(style)
    sheet.margin(r=14, t=30)
    time = text("figure.steps" if index is None else "figure.dates")
    top = sheet.panel(
        {"title": {"text": time, "standoff": 14}, "showgrid": False},
        axis(value_name(text, unit, "figure.residual_value")), up=(0.64, 1),
    )  # fmt: skip
    labels = (
        np.arange(diagnosis.order, diagnosis.order + n) if index is None else np.asarray(index)[-n:]
    )
    top.line(labels, diagnosis.residuals, text("figure.residuals"), palette.truth, width=1.2,
             legend=False)  # fmt: skip
    acf = diagnosis.correlations.acf
    reach = 1.15 * max(float(np.abs(acf[1:]).max()), diagnosis.correlations.band)
    left = sheet.panel(
        axis(text("figure.lag"), showgrid=False),
        axis(text("figure.residual_acf"), range=[-reach, reach]),
        across=(0, 0.43), up=(0, 0.36),
    )  # fmt: skip
    correlation_bars(left, acf, None, diagnosis.correlations.band, legend=True)
    right = sheet.panel(
        axis(text("figure.tested_lags"), showgrid=False),
        axis(text("figure.q"), rangemode="tozero"), across=(0.57, 1), up=(0, 0.36),
    )  # fmt: skip
    tests = diagnosis.tests
    right.reference(tests.lags, tests.limit, text("figure.q_limit"), width=2.2, dash="dash")
    color = palette.rnn if diagnosis.refused else palette.prediction
    right.line(tests.lags, tests.statistic, text("figure.q"), color, width=2.4)
    right.points(
        [diagnosis.tested],
        [diagnosis.q],
        text("figure.verdict"),
        palette.highlight,
        size=11,
        symbol="diamond",
    )
    return sheet.described(
        "alt.residuals",
        n=n,
        order=diagnosis.order,
        lags=int(diagnosis.tested),
        q=diagnosis.q,
        limit=diagnosis.q_limit,
        outside=int(np.sum(np.abs(acf[1:]) > diagnosis.correlations.band)),
        last=len(acf) - 1,
    )
