"""All units of a network: map of one gate or state, and saturation of the gates."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
from jaxtyping import Float, Int

from seqviz.compute.gates.activations import SIGNED, activation, saturation
from seqviz.compute.gates.observation import Observation
from seqviz.core.i18n import number
from seqviz.core.units import unbroken
from seqviz.figures.gates.style import LOOKS, visible_symbols
from seqviz.plotting import NAMED, STYLE, Figure, Panel, Sheet, Style, axes, axis, scales

_PER_DECADE = 4
_SHORTEST, _LONGEST = 0.1, 1000.0  # steps; values beyond go into the outer bins


def gate_map(observation: Observation, unit: int, step: int, style: Style = STYLE) -> Figure:
    """Plot all units by step; a click gives the step (x) and the unit's rank (y), from 1.

    Gates are in [0, 1]; states have a scale symmetric about zero, which ends at their 98% quantile
    where a few are far beyond.

    Args:
        observation: values of all units.
        unit: outlined unit, from 1.
        step: outlined step, from 1.
        style: language, theme and scale of the figure.
    """
    text, signed = style.text, observation.symbol in SIGNED
    steps, units = observation.values.shape
    label = text(f"figure.gate_{observation.symbol}")
    rank = int(np.flatnonzero(observation.order == unit - 1)[0]) + 1
    value = float(observation.values[step - 1, unit - 1])
    ranks = [str(position + 1) for position in observation.order]
    sheet = Sheet(style)
    panel = sheet.panel(
        axes.tokens(style, visible_symbols(observation.pieces)),
        axes.ranks(ranks, text("figure.units_in_order"), text("figure.ranks")),
    )
    hover = {"token": "%{x}", "step": "%{x:d}", "unit": "%{y}", "value": "%{z:.3g}"}
    scale = scales.signed(*_reach(observation)) if signed else scales.unit_scale(0, 1)
    panel.cells(observation.by_rank, label, scale, bar_at=1.03, pick=True,
                hover=text("figure.hover_cell", **hover))  # fmt: skip
    # White contrasts with every color of a gate's scale; a state's neutral color is the page's.
    edge = style.palette.truth if signed else "rgba(255,255,255,0.9)"
    panel.outline(edge, row=rank, width=1.5)
    panel.outline(edge, column=step, width=1.5)
    pointer = {"size": 12, "color": style.palette.highlight}
    panel.words("▼", step, 1, yref="domain", yanchor="bottom", yshift=-3, **pointer)
    panel.words("◀", 1, rank, xref="domain", xanchor="left", xshift=-2, **pointer)
    key = "figure.chosen_cell" if rank == unit else "figure.chosen_row"
    sheet.headline(text(key, row=rank, unit=unit, step=step, value=value),
                   yshift=16 * style.scale)  # fmt: skip
    return sheet.described(
        "alt.gate_map", name=label, units=units, steps=steps, unit=unit, step=step, value=value,
        mean=observation.mean,
    )  # fmt: skip


def _reach(observation: Observation) -> tuple[float, bool]:
    """Return the limit of the states' color scale, and True if a few states lie beyond it.

    The scale ends at the 98% quantile where the largest value is more than twice as large; one
    diverging state would leave all others without color.
    """
    largest, maximum = scales.largest(observation.by_rank), observation.most_of_reach
    return (maximum, True) if largest > 2 * maximum > 0 else (largest, False)


def gate_saturation(observation: Observation, style: Style = STYLE) -> Figure:
    """Plot the saturation of each unit's gates (left) and a histogram of time constants (right).

    Left: shares of the steps with a gate below 0.1 (x) and above 0.9 (y). Right: time constants in
    steps; those below 0.1 and from 1,000 on, including infinite ones, are in the outer bins.
    """
    text, units = style.text, np.arange(1, observation.hidden + 1)
    sheet = Sheet(style)
    shares = {"range": (-0.04, 1.04), "tickformat": ".0%", "tickvals": [0, 0.25, 0.5, 0.75, 1]}
    counts, edges = _histogram(observation.time_constants)
    few = {"dtick": 1} if counts.max(initial=0) <= 5 else {}
    left, right = sheet.row(
        (axis(text("figure.share_shut"), **shares), axis(text("figure.share_open"), **shares)),
        (_constants_axis(text("figure.time_constant_axis"), edges),
         axis(text("figure.unit_count"), rangemode="tozero", tickformat="d", **few)),
        gaps=(0.44, 0.6),
    )  # fmt: skip
    left.reference([0, 1], [1, 0], text("figure.always_saturated"), width=1.6)
    hover = {"unit": "%{customdata}", "shut": "%{x:.1%}", "open": "%{y:.1%}"}
    means = []
    for gate in observation.gates:
        role, _, symbol = LOOKS[gate]
        name, result = text(f"figure.gate_{gate}"), saturation(activation(observation.trace, gate))
        left.points(
            result.left, result.right, name, getattr(style.palette, role), symbol=symbol,
            opacity=0.75 if observation.hidden < 64 else 0.5, customdata=units,
            hover=text("figure.hover_saturation", **hover) + NAMED,
        )  # fmt: skip
        means.append(text("figure.mean_shares", gate=name, shut=float(result.left.mean()),
                          open=float(result.right.mean())))  # fmt: skip
    _bins(right, counts, edges)
    finite = observation.time_constants[~np.isnan(observation.time_constants)]
    return sheet.described(
        "alt.saturation", units=observation.hidden, gates="; ".join(means),
        median=float(np.median(finite)) if finite.size else math.nan, endless=int(counts[-1]),
    )  # fmt: skip


def _constants_axis(title: str, edges: Float[np.ndarray, "edge"]) -> dict[str, object]:
    tens = [10.0**k for k in range(-1, 3)]
    words = [*(f"{ten:g}" for ten in tens), f"≥ {number(_LONGEST, 1)}"]
    return axis(
        title, type="log", range=np.log10(edges[[0, -1]]).tolist(), tickvals=[*tens, _LONGEST],
        ticktext=words, showgrid=False,
    )  # fmt: skip


def _bins(panel: Panel, counts: Int[np.ndarray, "bin"], edges: Float[np.ndarray, "edge"]) -> None:
    """Draw the number of units by time constant; the longest are highlighted."""
    text, palette = panel.style.text, panel.style.palette
    names = [f"{number(low, 2)} – {number(high, 2)}" for low, high in pairwise(edges)]
    ends = (f"< {number(_SHORTEST, 1)}", f"≥ {number(_LONGEST, 1)}")
    names[0], names[-1] = map(unbroken, ends)
    panel.bars(
        (edges[:-1] + edges[1:]) / 2, counts, text("figure.time_constants"),
        [*[palette.prediction] * (len(counts) - 1), palette.highlight],
        edge={"color": palette.band, "width": 1}, width=np.diff(edges), text=names,
        textposition="none", legend=False,
        hover=text("figure.hover_bin", span="%{text}", count="%{y}"),
    )  # fmt: skip


def _histogram(
    steps: Float[np.ndarray, "unit"],
) -> tuple[Int[np.ndarray, "bin"], Float[np.ndarray, "edge"]]:
    """Return counts in bins of a quarter of a decade, with an outer bin on either side."""
    low, high = np.log10(_SHORTEST), np.log10(_LONGEST)
    inner = np.logspace(low, high, round((high - low) * _PER_DECADE) + 1)
    indices = np.searchsorted(inner, steps[~np.isnan(steps)], side="right")
    factor = 10 ** (1 / _PER_DECADE)
    return (
        np.bincount(indices, minlength=len(inner) + 1),
        np.concatenate([[inner[0] / factor], inner, [inner[-1] * factor]]),
    )
