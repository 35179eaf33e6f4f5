"""A network beside the convolution that replaces it, and when the replacement fails."""

from __future__ import annotations

import numpy as np

from seqviz.compute.recurrent.wirings.collapse import STEPS, CollapseTrace
from seqviz.core.i18n import number
from seqviz.plotting import STYLE, Figure, Sheet, Style, axes

_OUTPUTS, _ERRORS = (0.0, 0.53), (0.66, 1.0)
_LEAST = 1e-17  # of the error that is drawn: it may be 0
_LINEAR = -4.5  # where a share of 0 stands on the log axis, one step left of the least


def network_beside_convolution(collapse_trace: CollapseTrace, style: Style = STYLE) -> Figure:
    """Left both outputs on one input; right the superposition error by the share of tanh."""
    text, palette = style.text, style.palette
    sheet = Sheet(style)
    t = np.arange(1, STEPS + 1)
    left = sheet.panel(
        axes.axis(text("figure.wiring_step"), range=[0.5, STEPS + 0.5]),
        axes.axis(text("figure.wiring_output"),
                  range=axes.around(collapse_trace.network, collapse_trace.convolution)),
        across=_OUTPUTS,
    )  # fmt: skip
    left.line(t, collapse_trace.network, text("figure.wiring_network"), palette.rnn, width=5,
              hover="%{y:.4g}")  # fmt: skip
    left.line(
        t,
        collapse_trace.convolution,
        text("figure.wiring_convolution"),
        palette.truth,
        dash="dash",
        width=2,
        hover="%{y:.4g}",
    )
    shares = np.log10(np.maximum(collapse_trace.shares, 10**_LINEAR))
    right = sheet.panel(
        axes.axis(text("figure.wiring_share"), range=[_LINEAR - 0.4, 0.3],
                  tickvals=[_LINEAR, -3, -2, -1, 0],
                  ticktext=["0", "0.1%", "1%", "10%", "100%"], showgrid=False),
        axes.axis(text("figure.wiring_error"), type="log", range=[-17.5, 1.5], dtick=4),
        across=_ERRORS,
    )  # fmt: skip
    right.line(
        shares, np.maximum(collapse_trace.errors, _LEAST), text("figure.wiring_superposition"),
        palette.prediction, symbol="circle", size=5, legend=False, hover="%{y:.2e}",
    )  # fmt: skip
    at, here = (
        np.log10(max(collapse_trace.share, 10**_LINEAR)),
        max(collapse_trace.superposition, _LEAST),
    )
    right.points([at], [here], text("figure.wiring_here"),
                 palette.highlight, size=14, legend=False, hover="%{y:.2e}",
                 edge={"color": palette.truth, "width": 1.5})  # fmt: skip
    lower = at < -2  # where the line goes up to the right, else it comes from the left
    right.words(
        number(collapse_trace.superposition, 2),
        at,
        np.log10(here),
        xshift=12 if lower else 0,
        yshift=-10 if lower else 18,
        xanchor="left" if lower else "right",
    )
    sheet.margin(t=40)
    return sheet.described(
        "alt.wiring_collapse",
        share=collapse_trace.share,
        error=collapse_trace.error,
        superposition=collapse_trace.superposition,
    )
