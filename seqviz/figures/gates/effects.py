"""What forcing a gate, or another text's equations, changes: one run beside another."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import cycle
from typing import Any

import numpy as np
from jaxtyping import Float

from seqviz.figures.grammar.figure import Figure
from seqviz.figures.grammar.style import Style, axis_layout, finish, layout
from seqviz.figures.grammar.tokens import plain, token_axis
from seqviz.text import number

_STYLE = Style()
_DOTS = 40  # steps up to which each has its own mark
# Lines that are no cell: role of the color, dash, marker.
FARTHEST = 3  # lengths of the state: beyond, a variant is another network, however far it is
SERIES = (
    ("prediction", "solid", "circle"),
    ("rnn", "dash", "diamond"),
    ("mlp", "dot", "square"),
    ("gru", "dashdot", "triangle-up"),
    ("truth", "longdash", "x"),
    ("lstm", "longdashdot", "triangle-down"),
)


def free_and_forced(
    free: Float[np.ndarray, "time"],
    forced: Float[np.ndarray, "time"],
    name: str,
    free_p: Float[np.ndarray, "time"],
    forced_p: Float[np.ndarray, "time"],
    p_name: str,
    tokens: Sequence[str],
    clamped: tuple[int, int],
    style: Style = _STYLE,
) -> Figure:
    """A quantity (above) and a probability (below) with a gate held, beside the free run.

    name, p_name: what the two are, for the axes. clamped: first and last step at which the gate is
    held, from 1; they are tinted unless they are all.
    """
    text, palette = style.text, style.palette
    steps = np.arange(1, len(tokens) + 1)
    # The free run comes last: where both are equal its dashes are seen on the other line.
    runs = (
        ("forced", forced, forced_p, palette.highlight, "solid", 3.2, "circle"),
        ("free", free, free_p, palette.truth, "dash", 2, "circle-open"),
    )
    data: list[dict[str, Any]] = []
    for run, quantity, probability, color, dash, width, symbol in runs:
        for values, axis in ((quantity, "y"), (probability, "y2")):
            data.append(
                {
                    "type": "scatter",
                    "x": steps,
                    "y": values,
                    "yaxis": axis,
                    "mode": mode_of(len(steps)),
                    "name": text(f"figure.run_{run}"),
                    "legendgroup": run,
                    "legendrank": 1 if run == "forced" else 2,
                    "showlegend": axis == "y",
                    "line": {"color": color, "width": width, "dash": dash},
                    "marker": {"color": color, "size": 7, "symbol": symbol},
                    "hovertemplate": _at_step(style),
                }
            )
    first, last = max(clamped[0], 1), min(clamped[1], len(tokens))
    spec = layout(style)
    spec |= {
        "xaxis": token_axis(style, tokens, anchor="y2"),
        "yaxis": axis_layout(
            style,
            domain=[0.53, 1],
            title={"text": name},
            zeroline=True,
            zerolinecolor=palette.baseline,
            nticks=5,
        ),
        "yaxis2": axis_layout(
            style,
            domain=[0, 0.47],
            title={"text": p_name},
            range=[-0.04, 1.04],
            tickvals=[0, 0.25, 0.5, 0.75, 1],
        ),
    }
    if first <= last and (first, last) != (1, len(tokens)):
        spec["shapes"] = [
            {
                "type": "rect",
                "yref": "paper",
                "x0": first - 0.5,
                "x1": last + 0.5,
                "y0": low,
                "y1": high,
                "fillcolor": palette.highlight,
                "opacity": 0.16,
                "line": {"width": 0},
                "layer": "below",
            }
            for low, high in ((0.53, 1), (0, 0.47))
        ]
    if (free == forced).all():
        # A line needs room around it even where nothing varies.
        middle = float(free.mean()) if len(free) else 0.0
        if np.ptp(free) == 0:
            spec["yaxis"]["range"] = [middle - 1, middle + 1]
    return finish(
        {"data": data, "layout": spec},
        text(
            "alt.free_and_forced",
            name=name,
            p_name=p_name,
            first=first,
            last=last,
            free=ending(free),
            forced=ending(forced),
            free_p=ending(free_p),
            forced_p=ending(forced_p),
        ),
    )


def conventions(
    distances: Mapping[str, Float[np.ndarray, "time"]],
    size: Float[np.ndarray, "time"],
    tokens: Sequence[str],
    style: Style = _STYLE,
) -> Figure:
    """Distance of the states from PyTorch's after each step, and the length of PyTorch's own.

    distances: by the name of the variant. size: the length to compare with. The axis is linear and
    starts at zero, so that names for the same thing lie on it; it ends at `FARTHEST` lengths, as a
    state that runs away would press all others down.
    """
    text, palette = style.text, style.palette
    steps = np.arange(1, len(tokens) + 1)
    looks = [("baseline", "dot", "circle-open"), *SERIES]
    lines = [(text("figure.own_length"), size), *distances.items()]
    data = [
        {
            "type": "scatter",
            "x": steps,
            "y": values,
            "mode": mode_of(len(steps)),
            "name": plain(label),
            "line": {"color": getattr(palette, role), "width": 2.4, "dash": dash},
            "marker": {"color": getattr(palette, role), "size": 7, "symbol": symbol},
            "hovertemplate": _at_step(style),
        }
        for (role, dash, symbol), (label, values) in zip(cycle(looks), lines, strict=False)
    ]
    top = max(float(np.max(values, initial=0)) for _, values in lines) or 1.0
    if size.any():
        top = min(top, FARTHEST * float(size.max()))
    spec = layout(style)
    spec |= {
        "xaxis": token_axis(style, tokens),
        # A little below zero, so that a line of zeros is seen whole.
        "yaxis": axis_layout(
            style, range=[-0.03 * top, 1.06 * top], title={"text": text("figure.distance")}
        ),
    }
    return finish(
        {"data": data, "layout": spec},
        text(
            "alt.conventions",
            steps=len(tokens),
            endings="; ".join(f"{label}: {ending(v)}" for label, v in distances.items()),
        ),
    )


def mode_of(steps: int) -> str:
    """Each point marked while there are few of them."""
    return "lines+markers" if steps <= _DOTS else "lines"


def ending(values: Float[np.ndarray, "time"]) -> str:
    """The last value in words, for a description."""
    return number(float(values[-1])) if len(values) else "–"


def _at_step(style: Style) -> str:
    return (
        style.text("figure.hover_step", token="%{x}", step="%{x:d}", value="%{y:.3g}")
        + "<extra>%{fullData.name}</extra>"
    )
