"""The Jacobian of a GRU with constant gates: where its eigenvalues go, how its powers grow."""

from __future__ import annotations

from typing import Any

import numpy as np

from seqviz.compute.bptt import SimplifiedGRU
from seqviz.figures.grammar.decades import log_axis, powers
from seqviz.figures.grammar.figure import Figure
from seqviz.figures.grammar.style import Style, axis_layout, finish, layout
from seqviz.text import from_log10, number

_STYLE = Style()


def gated_jacobian(
    found: SimplifiedGRU, update: float, reset: float, style: Style = _STYLE
) -> Figure:
    """Left: eigenvalues of W (hollow) and of the gated Jacobian (filled) with the unit circle.

    Right: the largest singular value of their k-th powers, and the identity's, by k.
    """
    text, palette = style.text, style.palette
    turn = np.linspace(0, 2 * np.pi, 181)
    data: list[dict[str, Any]] = [
        {
            "type": "scatter",
            "x": np.cos(turn),
            "y": np.sin(turn),
            "mode": "lines",
            "name": text("figure.unit_circle"),
            "hoverinfo": "skip",
            "showlegend": False,
            "line": {"color": palette.baseline, "width": 1.6, "dash": "dot"},
        }
    ]
    sets = (
        ("rnn_linear", found.eigenvalues_rnn, palette.rnn, "circle-open"),
        ("gru_constant", found.eigenvalues, palette.gru, "circle"),
    )
    for name, values, color, symbol in sets:
        data.append(
            {
                "type": "scatter",
                "x": values.real,
                "y": values.imag,
                "mode": "markers",
                "name": text(f"figure.{name}"),
                "showlegend": False,
                "marker": {"color": color, "size": 8, "symbol": symbol},
            }
        )
    k = np.arange(len(found.log10_norm))
    lines = (
        ("rnn_linear", found.log10_norm_rnn, palette.rnn, "dash", 2.2),
        ("gru_constant", found.log10_norm, palette.gru, "solid", 3),
        ("identity", np.zeros(len(k)), palette.baseline, "dot", 1.8),
    )
    for name, log10, color, dash, width in lines:
        data.append(
            {
                "type": "scatter",
                "x": k,
                "y": powers(log10),
                "xaxis": "x2",
                "yaxis": "y2",
                "mode": "lines",
                "name": text(f"figure.{name}"),
                "line": {"color": color, "width": width, "dash": dash},
                "customdata": [from_log10(float(v)) for v in log10],
                "hovertemplate": "k = %{x}: %{customdata}<extra>%{fullData.name}</extra>",
            }
        )
    both = np.concatenate([found.eigenvalues, found.eigenvalues_rnn])
    edge = 1.08 * max(1.1, float(np.abs([both.real, both.imag]).max()))
    spec = layout(style)
    spec |= {
        "xaxis": axis_layout(
            style, domain=[0, 0.4], range=[-edge, edge], title={"text": text("figure.real")},
            constrain="domain",
        ),
        "yaxis": axis_layout(
            style, range=[-edge, edge], title={"text": text("figure.imaginary")}, scaleanchor="x",
            constrain="domain",
        ),
        "xaxis2": axis_layout(
            style, domain=[0.53, 1], anchor="y2", title={"text": text("figure.steps_back")}
        ),
        "yaxis2": log_axis(
            style,
            np.concatenate([found.log10_norm, found.log10_norm_rnn]),
            text("figure.power_norm"),
            anchor="x2",
        ),
    }  # fmt: skip
    return finish(
        {"data": data, "layout": spec},
        text(
            "alt.gated",
            update=number(update),
            reset=number(reset),
            last=int(k[-1]),
            gru=from_log10(float(found.log10_norm[-1])),
            rnn=from_log10(float(found.log10_norm_rnn[-1])),
        ),
    )
