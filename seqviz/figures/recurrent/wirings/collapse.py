"""A linear network and the convolution that replaces it, and the error with tanh."""

from __future__ import annotations

import numpy as np

from seqviz.compute.recurrent.wirings.collapse import STEPS, CollapseTrace
from seqviz.core.i18n import number
from seqviz.plotting import STYLE, Figure, Sheet, Style, axes

_LEAST = 1e-17  # minimum error drawn, as it may be 0
_LINEAR = -4.5  # position of a share of 0 on the log axis


def network_beside_convolution(collapse_trace: CollapseTrace, style: Style = STYLE) -> Figure:
    """Plot both outputs on one input (left), and the superposition error by tanh share (right)."""
    label, palette, sheet = style.labels("figure.wiring_"), style.palette, Sheet(style)
    result = collapse_trace
    shares = {"tickvals": [_LINEAR, -3, -2, -1, 0], "ticktext": ["0", "0.1%", "1%", "10%", "100%"]}
    left, right = sheet.row(
        (axes.axis(label("step"), range=[0.5, STEPS + 0.5]),
         axes.axis(label("output"), range=axes.around(result.network, result.convolution))),
        (axes.axis(label("share"), range=[_LINEAR - 0.4, 0.3], showgrid=False, **shares),
         axes.axis(label("error"), type="log", range=[-17.5, 1.5], dtick=4)),
        gaps=(0.53, 0.66),
    )  # fmt: skip
    t = np.arange(1, STEPS + 1)
    left.line(t, result.network, label("network"), palette.rnn, width=5, hover="%{y:.4g}")
    left.line(t, result.convolution, label("convolution"), palette.truth, dash="dash", width=2,
              hover="%{y:.4g}")  # fmt: skip
    right.line(np.log10(np.maximum(result.shares, 10**_LINEAR)), np.maximum(result.errors, _LEAST),
               label("superposition"), palette.prediction, symbol="circle", size=5, legend=False,
               hover="%{y:.2e}")  # fmt: skip
    at = np.log10(max(result.share, 10**_LINEAR))
    here = max(result.superposition, _LEAST)
    right.points([at], [here], label("here"), palette.highlight, size=14, legend=False,
                 hover="%{y:.2e}", edge={"color": palette.truth, "width": 1.5})  # fmt: skip
    if at < -2:  # the line rises to the right here; elsewhere it comes from the left
        beside = {"xshift": 12, "yshift": -10, "xanchor": "left"}
    else:
        beside = {"xshift": 0, "yshift": 18, "xanchor": "right"}
    right.words(number(result.superposition, 2), at, np.log10(here), **beside)
    sheet.margin(t=40)
    return sheet.described("alt.wiring_collapse", result=result)
