"""Gates and states of one unit over time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from jaxtyping import Float

from seqviz.compute.gates.activations import activation, symbols
from seqviz.compute.gates.observation import Observation
from seqviz.core.i18n import number
from seqviz.figures.gates.style import LOOKS, at_step, visible_symbols
from seqviz.plotting import STYLE, Figure, Panel, Sheet, Style, axes, axis

_HEIGHT = 0.43  # height of each panel, as a share of the sheet
_LETTER = 16  # minimum distance of two letters at the ends of lines, in pixels


def unit_traces(observation: Observation, unit: int, step: int, style: Style = STYLE) -> Figure:
    """Plot gates of one unit in [0, 1] (top) and its states and candidate (bottom), by step.

    The observed gate or state and its counterpart in the other panel, the gate that keeps or the
    cell's state, are bold. A vertical line and markers are at the step. Letters stand at the ends
    of the lines unless they collide.

    Args:
        observation: activations of all units.
        unit: unit, from 1.
        step: marked step, from 1.
        style: language, theme and scale of the figure.
    """
    text, pieces = style.text, visible_symbols(observation.pieces)
    lines = {s: activation(observation.trace, s)[:, unit - 1] for s in symbols(observation.trace)}
    gates = {s: lines[s] for s in observation.gates}
    states = {s: values for s, values in lines.items() if s not in gates}
    main = {
        next(s for s in (observation.symbol, *usual) if s in group)
        for usual, group in (("fz", gates), ("ch", states))
    }
    spans = [-0.05, 1.05], axes.around(*states.values(), np.zeros(1), margin=0.08)
    sheet = Sheet(style)
    above = axis(text("figure.gates_of", unit=unit), range=spans[0], tickvals=[0, 0.5, 1])
    upper = sheet.panel(axes.tokens(style, pieces, anchor="y2"), above, up=(1 - _HEIGHT, 1))
    below: dict[str, Any] = {"zeroline": True, "zerolinecolor": style.palette.baseline, "nticks": 5}
    lower = sheet.panel(
        upper, axis(text("figure.states_of", unit=unit), range=spans[1], **below), up=(0, _HEIGHT)
    )
    sheet.page["legend2"] = {**sheet.page["legend"], "y": _HEIGHT + 0.01}
    for panel, quantities, span in ((upper, gates, spans[0]), (lower, states, spans[1])):
        for symbol, values in quantities.items():
            role, dash, marker = LOOKS[symbol]
            panel.line(
                np.arange(1, len(values) + 1), np.asarray(values, np.float32),
                text(f"figure.gate_{symbol}"), getattr(style.palette, role),
                width=3 if symbol in main else 1.2,
                opacity=1 if symbol in main else 0.45, dash=dash,
                symbol=marker, size=10, selectedpoints=[step - 1],
                unselected={"marker": {"opacity": 0}}, hover=at_step(text),
                legend="legend2" if panel is lower else None,
            )  # fmt: skip
        panel.vertical(step, style.palette.highlight)
        _letters(panel, quantities, span)
    now = (f"{text(f'figure.gate_{s}')}: {number(float(v[step - 1]))}"
           for s, v in (gates | states).items())  # fmt: skip
    return sheet.described("alt.unit_traces", unit=unit, steps=len(pieces), step=step,
                           values="; ".join(now))  # fmt: skip


def _letters(
    panel: Panel, quantities: Mapping[str, Float[np.ndarray, "time"]], span: Sequence[float]
) -> None:
    """Write the symbols at the ends of the lines, or none if two would collide."""
    style = panel.style
    ends = {symbol: float(values[-1]) for symbol, values in quantities.items()}
    pixels = 0.8 * _HEIGHT * style.height / (span[1] - span[0])
    if (np.diff(np.sort(list(ends.values()))) * pixels < _LETTER * style.scale).any():
        return
    for symbol, end in ends.items():
        color = getattr(style.palette, LOOKS[symbol][0])
        panel.words(f"<b>{symbol}</b>", 1, end, xref="domain", xanchor="left", xshift=5,
                    size=15, color=color)  # fmt: skip
