"""One unit over time: its gates above, its states below."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from jaxtyping import Float

from seqviz.figures.grammar.figure import Figure
from seqviz.figures.grammar.style import Style, axis_layout, finish, layout
from seqviz.figures.grammar.tokens import token_axis
from seqviz.text import number

_STYLE = Style()
# How a gate or state looks wherever it is drawn: role of its color, dash, marker.
LOOKS = {
    "i": ("rnn", "dash", "triangle-up"),
    "f": ("prediction", "solid", "circle"),
    "o": ("mlp", "dot", "square"),
    "r": ("mlp", "dot", "square"),
    "z": ("prediction", "solid", "circle"),
    "c": ("lstm", "solid", "diamond"),
    "h": ("truth", "dash", "circle"),
    "g": ("baseline", "dot", "cross"),
    "n": ("baseline", "dot", "cross"),
}
_UPPER, _LOWER = (0.57, 1.0), (0.0, 0.43)
_LETTER = 16  # pixels between two letters at the ends of lines


def unit_traces(
    gates: Mapping[str, Float[np.ndarray, "time"]],
    states: Mapping[str, Float[np.ndarray, "time"]],
    tokens: Sequence[str],
    step: int,
    unit: int,
    style: Style = _STYLE,
) -> Figure:
    """Gates of one unit (in [0, 1], above) and its states and candidate (below), step by step.

    gates, states: values by symbol, e.g. "f". step: the one selected, from 1; a line runs through
    it and each quantity has its marker there. unit: its number, for the names of the axes. Letters
    stand at the ends of the lines where they do not run into each other.
    """
    text, palette = style.text, style.palette
    seen = np.concatenate([*states.values(), np.zeros(1)])
    low, high = float(seen.min()), float(seen.max())
    margin = 0.08 * (high - low) or 1.0
    panels = (
        (gates, "y", "legend", (-0.05, 1.05), _UPPER),
        (states, "y2", "legend2", (low - margin, high + margin), _LOWER),
    )
    data: list[dict[str, Any]] = []
    letters: list[dict[str, Any]] = []
    for quantities, axis, legend, span, domain in panels:
        for symbol, values in quantities.items():
            role, dash, marker = LOOKS[symbol]
            color = getattr(palette, role)
            data.append(
                {
                    "type": "scatter",
                    "x": np.arange(1, len(values) + 1),
                    "y": np.asarray(values, np.float32),
                    "yaxis": axis,
                    "legend": legend,
                    "mode": "lines+markers",
                    "name": text(f"figure.gate_{symbol}"),
                    "line": {"color": color, "width": 2.4, "dash": dash},
                    "marker": {"color": color, "size": 10, "symbol": marker},
                    "selectedpoints": [step - 1],
                    "unselected": {"marker": {"opacity": 0}},
                    "hovertemplate": text(
                        "figure.hover_step", token="%{x}", step="%{x:d}", value="%{y:.3g}"
                    )
                    + "<extra>%{fullData.name}</extra>",
                }
            )
        height = (domain[1] - domain[0]) * 0.8 * style.height
        letters += _letters(quantities, axis, span, height, len(tokens), style)
    spec = layout(style)
    legend = spec["legend"]
    spec |= {
        "xaxis": token_axis(style, tokens, anchor="y2"),
        "yaxis": axis_layout(
            style,
            domain=list(_UPPER),
            range=list(panels[0][3]),
            tickvals=[0, 0.5, 1],
            title={"text": text("figure.gates_of", unit=unit)},
        ),
        "yaxis2": axis_layout(
            style,
            domain=list(_LOWER),
            range=list(panels[1][3]),
            title={"text": text("figure.states_of", unit=unit)},
            zeroline=True,
            zerolinecolor=palette.baseline,
            nticks=5,
        ),
        "legend2": {**legend, "y": _LOWER[1] + 0.01},
        "shapes": [
            {
                "type": "line",
                "yref": "paper",
                "x0": step,
                "x1": step,
                "y0": low_end,
                "y1": high_end,
                "line": {"color": palette.highlight, "width": 2},
                "layer": "below",
            }
            for low_end, high_end in (_UPPER, _LOWER)
        ],
        "annotations": letters,
        "margin": {**spec["margin"], "r": 24},
    }
    now = {**gates, **states}
    return finish(
        {"data": data, "layout": spec},
        text(
            "alt.unit_traces",
            unit=unit,
            steps=len(tokens),
            step=step,
            values="; ".join(
                f"{text(f'figure.gate_{symbol}')}: {number(float(values[step - 1]))}"
                for symbol, values in now.items()
            ),
        ),
    )


def _letters(
    quantities: Mapping[str, Float[np.ndarray, "time"]],
    axis: str,
    span: tuple[float, float],
    height: float,
    last: int,
    style: Style,
) -> list[dict[str, Any]]:
    """The symbols at the ends of the lines; none of them if two would collide."""
    if not last or not quantities:
        return []
    ends = {symbol: float(values[-1]) for symbol, values in quantities.items()}
    apart = np.diff(np.sort(list(ends.values()))) * height / (span[1] - span[0])
    if (apart < _LETTER * style.scale).any():
        return []
    return [
        {
            "xref": "paper",
            "yref": axis,
            "x": 1,
            "xanchor": "left",
            "xshift": 5,
            "y": end,
            "text": f"<b>{symbol}</b>",
            "showarrow": False,
            "font": {"size": 15 * style.scale, "color": getattr(style.palette, LOOKS[symbol][0])},
        }
        for symbol, end in ends.items()
    ]
