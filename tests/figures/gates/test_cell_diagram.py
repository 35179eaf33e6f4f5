"""The drawn cells: the numbers of one step, the convention, how wide arrows are."""

from __future__ import annotations

from dataclasses import astuple

import numpy as np
import pytest

from seqviz.compute.gates.observation import GRUStep, LSTMStep, one_step
from seqviz.figures.gates.boxes import short
from seqviz.figures.gates.cell_diagram import gru_cell, lstm_cell
from testing.figure_examples.gates import observed
from tests.figures.trace_helpers import said as labels
from tests.figures.trace_helpers import sound


def test_lstm_cell_shows_its_numbers():
    step = one_step(observed("lstm"), 3, 9)
    # The step is one of the kernel's: the drawing's products add up to its state.
    assert step.f * step.c_before + step.i * step.g == pytest.approx(step.c, rel=1e-12)
    figure = lstm_cell(step)
    numbers = dict(zip(figure.data[0].x, figure.data[0].y, strict=True))
    assert [
        numbers[k] for k in ("c(t−1)", "i", "f", "g", "o", "c(t)", "h(t)", "tanh c(t)")
    ] == list(astuple(step))
    assert numbers["f c(t−1)"] + numbers["i g"] == pytest.approx(numbers["c(t)"], rel=1e-12)
    assert {f"<b>{short(value)}</b>" for value in numbers.values()} <= set(labels(figure))


@pytest.mark.parametrize("update", ["keep", "write"])
def test_gru_cell_follows_update_convention(update):
    visited = observed("gru")
    step = one_step(visited, 3, 9)
    figure = gru_cell(one_step(visited, 3, 9, update))
    numbers = dict(zip(figure.data[0].x, figure.data[0].y, strict=True))
    old, new = ("z", "(1 − z)") if update == "keep" else ("(1 − z)", "z")
    assert numbers[f"{old} h(t−1)"] == pytest.approx(step.z * step.h_before, rel=1e-12)
    assert numbers[f"{old} h(t−1)"] + numbers[f"{new} n"] == pytest.approx(step.h, rel=1e-12)
    from_input = visited.trace.preactivation[8, 2, 2] - step.r * step.past
    assert np.tanh(from_input + numbers["r (W_h h + b′)"]) == pytest.approx(step.n, rel=1e-12)
    assert numbers["z"] == (step.z if update == "keep" else 1 - step.z)
    assert {f"<b>{short(value)}</b>" for value in numbers.values()} <= set(labels(figure))


def test_lstm_cell_arrow_width_grows_with_flow():
    def widths(f: float) -> list[float]:
        figure = lstm_cell(LSTMStep(1.0, 0.0, f, 0.5, 0.5, f, 0.5 * np.tanh(f), np.tanh(f)))
        return [note.arrowwidth for note in figure.layout.annotations if note.showarrow]

    nothing, half, everything = widths(0.0), widths(0.5), widths(1.0)
    wider = [a < b < c for a, b, c in zip(nothing, half, everything, strict=True)]
    # What is kept, c twice (on and down to tanh), tanh c, f itself, h.
    assert sum(wider) == 6
    assert min(nothing) > 1  # nothing flows, and the way is still seen
    assert max(everything) < 12


@pytest.mark.parametrize("size", [0.0, 1e-30, 1.0, 57.0, 1e6])
def test_cell_diagrams_render_extreme_values(size):
    sound(lstm_cell(LSTMStep(-size, 0.0, 1.0, -1.0, 1.0, -size, -1.0, -1.0)))
    sound(gru_cell(GRUStep(-size, 0.0, 1.0, 1.0, -size, size)))


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (0.0, "0"),
        (-0.0, "0"),
        (1.0, "1"),
        (-1.0, "−1"),
        (0.99999, "≈ 1"),
        (-0.99999, "≈ −1"),
        (1e-9, "≈ 0"),
        (-1e-9, "≈ 0"),
        (0.0123, "0.012"),
        (-0.62, "−0.620"),
        (1.0004, "1.00"),
        (9.999, "10.0"),
        (-57.123, "−57.1"),
        (1234.5, "1,234"),
    ],
)
def test_short_marks_values_rounded_to_zero_or_one(value, written):
    assert short(value) == written
