"""Examples of figures of gated cells, with small seeded networks."""

from __future__ import annotations

import string

import numpy as np

from seqviz.compute.gates.agreement import pair
from seqviz.compute.gates.counting import table
from seqviz.compute.gates.encoding import END
from seqviz.compute.gates.forcing import Clamp
from seqviz.compute.gates.lengths import by_length
from seqviz.compute.gates.networks import GatedNetwork
from seqviz.compute.gates.observation import (
    GRUStep,
    LSTMStep,
    Observation,
    compare,
    expect,
    observe,
    one_step,
    unit_flow,
)
from seqviz.compute.gates.searching import search
from seqviz.compute.gates.tasks import SYMBOLS
from seqviz.compute.gates.tempering import by_temperature, read_tempered
from seqviz.compute.gates.tiny_results import TinyReport, TinySettings
from seqviz.compute.recurrent import RecurrentWeights
from seqviz.figures.gates import (
    cell_diagram,
    effects,
    lengths,
    maps,
    networks,
    searching,
    tempering,
    traces,
)
from testing.figure_examples import Example, fake_example

TEXT = "a <b>bold</b> & long text"
SENTENCE = "The flights <i>the</i> airline"
_ROWS = {"lstm": 4, "gru": 3}


def network(cell: str, units: int = 6, kind: str = "characters") -> GatedNetwork:
    """Return a network with random weights: kind "characters" or a task, cell "lstm" or "gru"."""
    draw, rows = np.random.RandomState(0).standard_normal, _ROWS[cell] * units
    symbols = (*string.printable[:95], END) if kind == "characters" else SYMBOLS[kind]
    weights = RecurrentWeights(draw((rows, 3)), draw((rows, units)), draw(rows), draw(rows))
    return GatedNetwork(
        f"{kind}_{cell}", cell, kind, symbols, draw((len(symbols), 3)), weights,
        draw((len(symbols), units)), draw(len(symbols)),
    )  # fmt: skip


def observed(cell: str, symbol: str = "h", text: str = TEXT, **more: object) -> Observation:
    """Return the trace of such a network reading a text."""
    return observe(network(cell), text, symbol, **more)  # type: ignore[arg-type]


def examples() -> tuple[Example, ...]:
    """Return examples of every figure function of the subject, several where it has branches."""
    lstm, gru = observed("lstm", "c"), observed("gru", "z", by="time")
    step, other = one_step(lstm, 3, 9), one_step(gru, 3, 9)
    written = one_step(gru, 3, 9, "write")
    assert isinstance(step, LSTMStep)
    assert isinstance(other, GRUStep) and isinstance(written, GRUStep)  # noqa: PT018
    held = observed("lstm", "c", clamps=[Clamp("f", 0.9, None, 3, 9)])
    closed = observed("gru", clamps=[Clamp("z", 0.5)])
    result, renamed = compare(network("lstm"), TEXT), compare(network("gru"), TEXT)
    expected = expect((network("lstm"), network("gru")), SENTENCE)
    settings, begun = TinySettings("count"), [TinyReport(0, 1000, 0.25, np.full(13, 0.75))]
    minimal = pair((network("lstm"), network("gru")), SENTENCE, "The flight <i>the</i> airline")
    tiny = [network(cell, 4, "count") for cell in ("lstm", "gru")]
    soft = [read_tempered(item, "aabb.", "h", 2.0, 0.5) for item in tiny]
    tried = [by_temperature(item, (0.5, 1.0, 2.0)) for item in tiny]
    looked = search(lstm, observed("lstm", "c", SENTENCE), "in_word")
    long = by_length(tiny, 8)
    return (
        Example("gate map", maps.gate_map, (gru, 3, 9), other.z),
        Example("state map", maps.gate_map, (lstm, 3, 9), step.c),
        Example("saturation", maps.gate_saturation, (lstm,), np.median(lstm.time_constants)),
        Example("saturation of a GRU", maps.gate_saturation, (gru,), np.median(gru.time_constants)),
        Example("one unit of an LSTM", traces.unit_traces, (lstm, 3, 9), step.h),
        Example("one unit of a GRU", traces.unit_traces, (gru, 3, 9), other.n),
        Example("LSTM cell", cell_diagram.lstm_cell, (step,), step.f * step.c_before),
        Example("GRU cell", cell_diagram.gru_cell, (other,), other.h),
        Example("GRU cell, z writes", cell_diagram.gru_cell, (written,), written.z),
        Example("LSTM map", cell_diagram.cell_map, (unit_flow(lstm, 3), 9, 2), step.f),
        Example("GRU map", cell_diagram.cell_map, (unit_flow(gru, 3), 9, 6),
                other.r * other.past),
        Example("free and forced", effects.free_and_forced, (lstm, held, None, 3, 9),
                float(np.linalg.norm(held.values[-1]))),
        Example("free and forced, one unit", effects.free_and_forced, (gru, closed, 3, 1, 25),
                closed.values[-1, 2]),
        Example("free beside itself", effects.free_and_forced, (gru, gru, 3, 2, 4),
                gru.probability[-1]),
        Example("variants of an LSTM", effects.distance_by_variant, (result,),
                result.distance[-1, -1]),
        Example("variants of a GRU", effects.distance_by_variant, (renamed,),
                renamed.distance[1, -1]),
        Example("agreement", networks.agreement, (expected,), expected.bits[0, -1]),
        Example("minimal pair", networks.agreement, (expected, minimal), minimal.effect[0, 1]),
        Example("mask of an LSTM", tempering.gate_mask, (soft[0], "f", 2, tried[0]),
                100 * tried[0].accuracy[2]),
        Example("mask of a GRU", tempering.gate_mask, (soft[1], "r", 1, tried[1]),
                100 * tried[1].accuracy[0]),
        Example("found and scored", searching.found_and_scored, (looked,), looked.r_scored),
        Example("by length", lengths.accuracy_by_length, (long,), 100 * long.majority[-1]),
        Example("parameters", networks.parameter_bars, (table(1, 32),), 4480.0),
        fake_example("training of a tiny network, done", networks.training_curve,
                     lambda tiny: 100 * tiny.accuracy[-1], settings=settings, step=13),
        Example("training of a tiny network, so far", networks.training_progress,
                (begun, settings), 25.0),
    )  # fmt: skip
