"""The figures of the gates lesson with small seeded networks: name, function, arguments, key."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import numpy as np

from seqviz.compute import recurrent
from seqviz.compute.recurrent import GRU, LSTM, Weights
from seqviz.figures.gates import cell_diagram, effects, maps, networks, traces
from seqviz.figures.gates.cell_diagram import GRUStep, LSTMStep

TEXT = "a <b>bold</b> & long text"
LETTERS = tuple(TEXT)
WORDS = ("The", "flights", "<i>the</i>", "airline", "was", "cancelling")
UNITS = 6


def trace(cell: LSTM | GRU, steps: int = len(TEXT), units: int = UNITS, seed: int = 0) -> Any:
    """What a seeded cell does with seeded inputs."""
    draw = np.random.RandomState(seed).standard_normal
    rows = cell.blocks * units
    weights = Weights(draw((rows, 3)), draw((rows, units)), draw(rows), draw(rows))
    return recurrent.run(cell, weights, draw((steps, 3)))


def lstm_step(run: Any, step: int, unit: int) -> LSTMStep:
    """One unit (from 0) of an LSTM's trace at one step (from 1)."""
    c = float(run.cell_state[step, unit])
    gates = (run.input_gate, run.forget_gate, run.candidate, run.output_gate)
    return LSTMStep(
        float(run.cell_state[step - 1, unit]),
        *(float(gate[step - 1, unit]) for gate in gates),
        c,
        float(run.hidden[step, unit]),
        float(np.tanh(c)),
    )


def gru_step(run: Any, step: int, unit: int) -> GRUStep:
    """The same of a GRU's trace."""
    gates = (run.reset_gate, run.update_gate, run.candidate)
    return GRUStep(
        float(run.hidden[step - 1, unit]),
        *(float(gate[step - 1, unit]) for gate in gates),
        float(run.hidden[step, unit]),
        float(run.recurrent[step - 1, unit]),
    )


def refuse(token: str):
    raise AssertionError(f"{token} in a figure")


def sound(figure) -> None:
    """A browser can read it: JSON knows neither NaN nor Infinity."""
    json.loads(figure.to_json(), parse_constant=refuse)
    assert figure.alt
    assert "nan" not in figure.alt


def labels(figure) -> list[str]:
    return [note.text for note in figure.layout.annotations if note.text]


def gate_drawings() -> tuple[tuple[str, Callable[..., Any], tuple[Any, ...], float], ...]:
    """Every figure function of the lesson once or twice."""
    lstm, gru = trace(LSTM()), trace(GRU())
    order = np.argsort(-lstm.forget_gate.mean(axis=0))
    gates = {"i": lstm.input_gate, "f": lstm.forget_gate, "o": lstm.output_gate}
    unit = {symbol: gate[:, 2] for symbol, gate in gates.items()}
    states = {"c": lstm.cell_state[1:, 2], "h": lstm.hidden[1:, 2], "g": lstm.candidate[:, 2]}
    shut = {symbol: (gate < 0.1).mean(axis=0) for symbol, gate in gates.items()}
    open_ = {symbol: (gate > 0.9).mean(axis=0) for symbol, gate in gates.items()}
    keeps = np.array([0.0, 0.5, 3.0, 20.0, 2000.0, np.inf])
    c, h = states["c"], states["h"]
    chance = (1 + h) / 2
    distances = {"<b>renamed</b>": np.where(np.arange(len(c)) % 3, 1e-16, 0), "no bias": abs(c)}
    singular = {"LSTM": chance[:6] / 100, "GRU": chance[6:12] / 100}
    plural = {"LSTM": chance[12:18] / 100, "GRU": chance[18:24] / 100}
    ratio = float(np.log2(plural["GRU"][-1] / singular["GRU"][-1]))
    counts = {
        "rnn": {"input": 32, "recurrent": 1024, "biases": 64},
        "lstm": {"input": 128, "recurrent": 4096, "biases": 256},
    }
    step = lstm_step(lstm, 9, 2)
    return (
        ("gate map", maps.gate_map,
         (lstm.forget_gate, order, LETTERS, "f", False, 3, 9), step.f),
        ("state map", maps.gate_map,
         (lstm.cell_state[1:], order, LETTERS, "c", True, 3, 9), step.c),
        ("saturation", maps.saturation, (shut, open_, keeps), 11.5),
        ("unit traces", traces.unit_traces, (unit, states, LETTERS, 9, 3), step.h),
        ("LSTM cell", cell_diagram.lstm_cell, (step,), step.f * step.c_before),
        ("LSTM cell, forced", cell_diagram.lstm_cell, (step, frozenset("fg")), step.tanh_c),
        ("GRU cell", cell_diagram.gru_cell, (gru_step(gru, 9, 2),), float(gru.hidden[9, 2])),
        ("GRU cell, forced", cell_diagram.gru_cell, (gru_step(gru, 9, 2), frozenset("zn")),
         float(gru.update_gate[8, 2])),
        ("free and forced", effects.free_and_forced,
         (c, 2 * c, "c", chance, chance / 2, "P", LETTERS, (3, 9)), float(2 * c[-1])),
        ("conventions", effects.conventions,
         (distances, np.abs(c), LETTERS), float(abs(c[-1]))),
        ("agreement", networks.agreement, (WORDS, singular, plural, "was", "were"), ratio),
        ("parameters", networks.parameter_bars, (counts,), 4480.0),
        ("training", networks.training,
         (np.arange(0, 500, 50), np.linspace(0.25, 0.875, 10), "gru", 0.95, 1000), 87.5),
    )  # fmt: skip
