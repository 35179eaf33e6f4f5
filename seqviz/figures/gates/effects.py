"""Effects of forced gates and of variants of the equations, compared with the free run."""

from __future__ import annotations

from itertools import cycle

import numpy as np

from seqviz.compute.gates.activations import activation
from seqviz.compute.gates.observation import Observation, VariantComparison
from seqviz.core.i18n import number
from seqviz.figures.gates.style import at_step, marked, visible_symbols
from seqviz.plotting import STYLE, Figure, Sheet, Style, axes, axis

FARTHEST = 3  # limit of the axis in norms of the state; a farther variant is a different network
# Role of the color, dash and marker of lines that are no cell.
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
    """Plot state (top) and output (bottom) with forced gates and in the free run (dashed).

    Args:
        free: run without forced gates.
        forced: run with gates held at some steps.
        unit: unit of the state, from 1; None for the norm of the whole vector. The state is c of an
            LSTM, h of a GRU.
        first: first step with forced gates, from 1; these steps are tinted unless they are all.
        last: last of these steps.
        style: language, theme and scale of the figure.
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
    if np.ptp(lines) == 0:  # a constant line needs room around it
        value["range"] = [lines[0][0] - 1, lines[0][0] + 1]
    sheet = Sheet(style)
    tokens = axes.tokens(style, visible_symbols(free.pieces), anchor="y2")
    upper = sheet.panel(tokens, value, up=(0.53, 1))
    quarters = axis(p_name, range=[-0.04, 1.04], tickvals=[0, 0.25, 0.5, 0.75, 1])
    panels = (upper, sheet.panel(upper, quarters, up=(0, 0.47)))
    # The free run comes last: its dashes are visible on an equal line below.
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
    """Plot each variant's distance of the hidden states from PyTorch's, by step.

    The dotted line is the norm of PyTorch's state. The axis is linear and starts at zero, where
    equivalent variants lie; it ends at `FARTHEST` norms, so a diverging state does not flatten the
    others.
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
        # A little below zero, which shows a line of zeros at full width.
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
