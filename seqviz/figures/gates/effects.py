"""What forcing a gate, or another text's equations, changes: one run beside another."""

from __future__ import annotations

from itertools import cycle

import numpy as np

from seqviz.compute.gates.activations import activation
from seqviz.compute.gates.observation import Observation, VariantComparison
from seqviz.core.i18n import number
from seqviz.figures.gates.style import at_step, marked, visible_symbols
from seqviz.plotting import STYLE, Figure, Sheet, Style, axes, axis

FARTHEST = 3  # lengths of the state: beyond, a variant is another network, however far it is
# Lines that are no cell: role of the color, dash, marker.
_VARIANTS = (
    ("prediction", "solid", "circle"),
    ("rnn", "dash", "diamond"),
    ("mlp", "dot", "square"),
    ("gru", "dashdot", "triangle-up"),
    ("truth", "longdash", "x"),
    ("lstm", "longdashdot", "triangle-down"),
)


def free_and_forced(
    free: Observation, forced: Observation, unit: int | None, first: int, last: int,
    style: Style = STYLE,
) -> Figure:  # fmt: skip
    """Plot state (above) and answer (below) with gates held at some steps, beside the free run.

    unit: whose state, from 1, or None for the length of the vector of all: c of an LSTM, h of a
    GRU. first, last: the steps at which gates are held, from 1; tinted unless they are all.
    """
    text, highlight, steps = style.text, style.palette.highlight, len(free.pieces)
    symbol = "c" if free.cell == "lstm" else "h"
    name = text(f"figure.state_{symbol}_{'all' if unit is None else 'one'}", unit=unit)
    p_name = text(f"figure.p_{free.kind if free.kind in ('sentiment', 'characters') else 'task'}")
    states = [activation(observed.trace, symbol) for observed in (free, forced)]
    lines = [
        np.linalg.norm(state, axis=-1) if unit is None else state[:, unit - 1] for state in states
    ]
    value = axis(name, zeroline=True, zerolinecolor=style.palette.baseline, nticks=5)
    if np.ptp(lines) == 0:  # a line needs room around it even where nothing varies
        value["range"] = [lines[0][0] - 1, lines[0][0] + 1]
    sheet = Sheet(style)
    tokens = axes.tokens(style, visible_symbols(free.pieces), anchor="y2")
    upper = sheet.panel(tokens, value, up=(0.53, 1))
    quarters = axis(p_name, range=[-0.04, 1.04], tickvals=[0, 0.25, 0.5, 0.75, 1])
    panels = (upper, sheet.panel(upper, quarters, up=(0, 0.47)))
    # The free run comes last: where both are equal its dashes are seen on the other line.
    for run, values, color, dash, width, dot in (
        ("forced", (lines[1], forced.probability), highlight, "solid", 3.2, "circle"),
        ("free", (lines[0], free.probability), style.palette.truth, "dash", 2, "circle-open"),
    ):
        for panel, item in zip(panels, values, strict=True):
            panel.line(np.arange(1, steps + 1), item, text(f"figure.run_{run}"), color, dash=dash,
                       width=width, symbol=marked(dot, steps), hover=at_step(text),
                       group=run)  # fmt: skip
    first, last = max(first, 1), min(last, steps)
    if first <= last and (first, last) != (1, steps):
        for panel in panels:
            panel.rectangle((first - 0.5, last + 0.5), None, highlight, width=0,
                            fillcolor=highlight, opacity=0.16, layer="below")  # fmt: skip
    return sheet.described(
        "alt.free_and_forced", name=name, p_name=p_name, first=first, last=last,
        free=lines[0][-1], forced=lines[1][-1],
        free_p=free.probability[-1], forced_p=forced.probability[-1],
    )  # fmt: skip


def distance_by_variant(variant_comparison: VariantComparison, style: Style = STYLE) -> Figure:
    """Plot the distance of the hidden states from PyTorch's under each variant, by step.

    Beside them the length of PyTorch's own. The axis is linear and starts at zero, so that names
    for the same thing lie on it; it ends at `FARTHEST` lengths, as a state that runs away would
    press all others down.
    """
    text, steps = style.text, len(variant_comparison.pieces)
    size, distance = variant_comparison.size, variant_comparison.distance
    names = [text(f"figure.variant_{variant}") for variant in variant_comparison.variants]
    top = float(max(distance.max(initial=0), size.max(initial=0))) or 1.0
    if size.any():
        top = min(top, FARTHEST * float(size.max()))
    sheet = Sheet(style)
    panel = sheet.panel(
        axes.tokens(style, visible_symbols(variant_comparison.pieces)),
        # A little below zero, so that a line of zeros is seen whole.
        axis(text("figure.distance"), range=[-0.03 * top, 1.06 * top]),
    )
    lines = [(text("figure.own_length"), size), *zip(names, distance, strict=True)]
    styles = cycle([("baseline", "dot", "circle-open"), *_VARIANTS])
    for (role, dash, symbol), (name, values) in zip(styles, lines, strict=False):
        panel.line(
            np.arange(1, steps + 1), values, name, getattr(style.palette, role), width=2.4,
            dash=dash, symbol=marked(symbol, steps), hover=at_step(text),
        )  # fmt: skip
    endings = "; ".join(f"{name}: {number(values[-1])}" for name, values in lines[1:])
    return sheet.described("alt.conventions", steps=steps, endings=endings)
