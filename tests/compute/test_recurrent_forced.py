"""Forced gates: the run equals one with the value written into the equations."""

from __future__ import annotations

import numpy as np
import pytest

from seqviz.compute.recurrent import GRU, LSTM, RNN, Weights, run, sigmoid

TIME, WIDTH, HIDDEN = 7, 3, 4


def weights(blocks: int, seed: int = 0) -> Weights:
    draw = np.random.RandomState(seed).standard_normal
    rows = blocks * HIDDEN
    return Weights(draw((rows, WIDTH)), draw((rows, HIDDEN)), draw(rows), draw(rows))


def inputs(*batch: int) -> np.ndarray:
    return np.random.RandomState(1).standard_normal((TIME, *batch, WIDTH))


def free(blocks: int, *batch: int) -> np.ndarray:
    return np.full((TIME, *batch, blocks, HIDDEN), np.nan)


@pytest.mark.parametrize("block", range(4))
@pytest.mark.parametrize("value", [0.0, 0.3, 1.0])
def test_an_lstm_equals_one_with_the_value_in_its_equations(block, value):
    w, x = weights(4), inputs()
    forced = free(4)
    forced[2:5, block, 1] = value
    found = run(LSTM(), w, x, forced=forced)
    h, c = np.zeros(HIDDEN), np.zeros(HIDDEN)
    for t in range(TIME):
        a = w.input_hidden @ x[t] + w.input_bias + w.hidden_hidden @ h + w.hidden_bias
        i, f, g, o = a.reshape(4, HIDDEN)
        gates = [sigmoid(i), sigmoid(f), np.tanh(g), sigmoid(o)]
        if 2 <= t < 5:
            gates[block][1] = value
        i, f, g, o = gates
        c = f * c + i * g
        h = o * np.tanh(c)
        np.testing.assert_allclose(found.cell_state[t + 1], c, atol=1e-14)  # order of sums
        np.testing.assert_allclose(found.hidden[t + 1], h, atol=1e-14)


@pytest.mark.parametrize("reset", ["after", "before"])
@pytest.mark.parametrize("update", ["keep", "write"])
@pytest.mark.parametrize("block", range(3))
def test_a_gru_equals_one_with_the_value_in_its_equations(update, reset, block):
    w, x, cell = weights(3), inputs(), GRU(update, reset)
    forced = free(3)
    forced[1:6, block, ::2] = 0.25
    found = run(cell, w, x, forced=forced)
    U_r, U_z, U_n = w.hidden_hidden.reshape(3, HIDDEN, HIDDEN)
    b_r, b_z, b_n = w.hidden_bias.reshape(3, HIDDEN)
    h = np.zeros(HIDDEN)
    for t in range(TIME):
        x_r, x_z, x_n = (w.input_hidden @ x[t] + w.input_bias).reshape(3, HIDDEN)
        held = np.zeros((3, HIDDEN), bool)
        held[block, ::2] = 1 <= t < 6
        r = np.where(held[0], 0.25, sigmoid(x_r + U_r @ h + b_r))
        z = np.where(held[1], 0.25, sigmoid(x_z + U_z @ h + b_z))
        past = r * (U_n @ h + b_n) if reset == "after" else U_n @ (r * h) + b_n
        n = np.where(held[2], 0.25, np.tanh(x_n + past))
        h = z * h + (1 - z) * n if update == "keep" else (1 - z) * h + z * n
        np.testing.assert_allclose(found.hidden[t + 1], h, atol=1e-14)


def test_each_sequence_of_a_batch_has_gates_of_its_own():
    w, x, forced = weights(4), inputs(2), free(4, 2)
    forced[:, 1, 0] = 0.5
    both = run(LSTM(), w, x, forced=forced)
    np.testing.assert_allclose(both.hidden[:, 0], run(LSTM(), w, x[:, 0]).hidden, atol=1e-14)
    alone = run(LSTM(), w, x[:, 1], forced=forced[:, 1])
    np.testing.assert_allclose(both.hidden[:, 1], alone.hidden, atol=1e-14)


@pytest.mark.parametrize(
    ("words", "cell", "at", "value"),
    [
        *(("forced to a value in", LSTM(), block, value)
          for block, value in ((0, 1.01), (1, -0.01), (2, -1.01), (3, 2.0))),
        ("shape", GRU(), 0, 0.5),
        ("no gates", RNN(), 0, 0.5),
    ],
)  # fmt: skip
def test_what_no_gate_can_be_is_refused(words, cell, at, value):
    forced = free(4)
    forced[0, at, 0] = value
    with pytest.raises(ValueError, match=words):
        run(cell, weights(cell.blocks), inputs(), forced=forced)
