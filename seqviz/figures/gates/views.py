"""What was observed in a network, as the figures of the gates lesson: from results to arrays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np

from seqviz.compute.gates.activations import (
    GRU_GATES,
    LSTM_GATES,
    SIGNED,
    activation,
    saturation,
    symbols,
)
from seqviz.compute.gates.counting import Table
from seqviz.compute.gates.observation import (
    Comparison,
    Expectation,
    LSTMStep,
    Observation,
    one_step,
)
from seqviz.figures.gates import cell_diagram, effects, maps, networks, traces
from seqviz.figures.grammar.figure import Figure
from seqviz.figures.grammar.style import Style

_STYLE = Style()
_SPACES = {" ": "␣", "\n": "⏎"}


def shown(pieces: Sequence[str]) -> tuple[str, ...]:
    """Symbols as labels: what cannot be seen has a sign."""
    return tuple(_SPACES.get(piece, piece) for piece in pieces)


def map_view(seen: Observation, unit: int, step: int, style: Style = _STYLE) -> Figure:
    """All units over all steps; unit and step are marked."""
    return maps.gate_map(
        seen.values, seen.order, shown(seen.pieces), seen.symbol, seen.symbol in SIGNED, unit, step,
        style=style,
    )  # fmt: skip


def unit_view(seen: Observation, unit: int, step: int, style: Style = _STYLE) -> Figure:
    """Gates and states of one unit over time."""
    gates = LSTM_GATES if seen.cell == "lstm" else GRU_GATES
    lines = {s: activation(seen.trace, s)[:, unit - 1] for s in symbols(seen.trace)}
    return traces.unit_traces(
        {s: lines[s] for s in gates}, {s: v for s, v in lines.items() if s not in gates},
        shown(seen.pieces), step, unit, style=style,
    )  # fmt: skip


def cell_view(
    seen: Observation,
    unit: int,
    step: int,
    update: Literal["keep", "write"] = "keep",
    style: Style = _STYLE,
) -> Figure:
    """The cell with the numbers of one unit at one step."""
    found = one_step(seen, unit, step, update)
    if isinstance(found, LSTMStep):
        return cell_diagram.lstm_cell(found, style=style)
    return cell_diagram.gru_cell(found, style=style)


def saturation_view(seen: Observation, style: Style = _STYLE) -> Figure:
    """How often each gate of each unit is nearly shut or open, and the units' time constants."""
    gates = LSTM_GATES if seen.cell == "lstm" else GRU_GATES
    found = {gate: saturation(activation(seen.trace, gate)) for gate in gates}
    return maps.saturation(
        {gate: one.left for gate, one in found.items()},
        {gate: one.right for gate, one in found.items()},
        seen.time_constants,
        style=style,
    )


def force_view(
    free: Observation,
    held: Observation,
    unit: int | None,
    first: int,
    last: int,
    style: Style = _STYLE,
) -> Figure:
    """State and answer with gates held from step `first` to `last`, beside the free run.

    The state is that of one unit, or without one the length of the vector of all: c of an LSTM, h
    of a GRU.
    """
    symbol = "c" if free.cell == "lstm" else "h"
    sides = [activation(one.trace, symbol) for one in (free, held)]
    lines = [np.linalg.norm(side, axis=-1) if unit is None else side[:, unit - 1] for side in sides]
    text = style.text
    name = text(
        f"figure.state_{symbol}_all" if unit is None else f"figure.state_{symbol}_one", unit=unit
    )
    return effects.free_and_forced(
        lines[0], lines[1], name, free.probability, held.probability,
        text(f"figure.p_{free.kind if free.kind in ('sentiment', 'characters') else 'task'}"),
        shown(free.pieces), (first, last), style=style,
    )  # fmt: skip


def conventions_view(found: Comparison, style: Style = _STYLE) -> Figure:
    """How far the hidden states are from PyTorch's under each variant of the equations."""
    lines = {
        style.text(f"figure.variant_{variant}"): distance
        for variant, distance in zip(found.variants, found.distance, strict=True)
    }
    return effects.conventions(lines, found.size, shown(found.pieces), style=style)


def agreement_view(found: Expectation, style: Style = _STYLE) -> Figure:
    """Which of two words the character models expect, after each word of a sentence."""
    names = [style.text(f"option.{name.rsplit('_', 1)[1]}") for name in found.networks]
    first, second = (
        dict(zip(names, found.probability[..., which], strict=True)) for which in (0, 1)
    )
    return networks.agreement(found.words, first, second, *found.candidates, style=style)


def counts_view(found: Table, style: Style = _STYLE) -> Figure:
    """Parameters of the three cells, part by part."""
    counts = {
        cell: {"input": one.input, "recurrent": one.recurrent, "biases": one.biases}
        for cell, one in zip(found.cells, found.counted, strict=True)
    }
    return networks.parameter_bars(counts, style=style)
