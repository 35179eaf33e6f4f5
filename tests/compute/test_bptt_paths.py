"""The paths of equation 44 and the recursion 0-35: closed forms, autograd, the index as printed."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch

from seqviz.compute.bptt import Experiment, paths, recursion, unroll
from seqviz.compute.bptt.autograd import state_gradients

pytestmark = pytest.mark.filterwarnings("error")

SIX = Experiment("linear", 6, 4, gain=0.8, loss="mean")
KINDS = ("linear", "rnn", "relu")
# Sums of six vectors near one, each through five products.
CLOSE = 1e-13


@pytest.fixture(autouse=True, scope="module")
def _one_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def by_hand(asked: Experiment, t: int) -> tuple[np.ndarray, np.ndarray]:
    """The terms with the error of step tau, and with that of T + t - tau, written as the text does.

    (2/T) (D_{t+1} W ... D_tau W)^T W_yh^T (yhat - y), with D = diag(phi') and the residual of the
    one step or the other. Only the weights and the signal come from the package.
    """
    net = unroll(asked)
    W, T = net.weights.hidden_hidden, asked.steps
    h, slopes, residuals = np.zeros(asked.width), [], []
    for x, y in zip(net.signal.inputs, net.signal.targets, strict=True):
        a = net.weights.input_hidden @ x + W @ h
        h = {"linear": a, "rnn": np.tanh(a), "relu": np.maximum(a, 0)}[asked.cell]
        slopes.append(
            {"linear": np.ones_like(a), "rnn": 1 - h**2, "relu": (a > 0).astype(float)}[asked.cell]
        )
        residuals.append(net.readout @ h - y)
    right, printed = [], []
    for tau in range(t, T + 1):
        back = np.eye(asked.width)
        for s in range(t + 1, tau + 1):
            back = back @ (slopes[s - 1][:, None] * W).T
        right.append(2 / T * back @ net.readout.T @ residuals[tau - 1])
        printed.append(2 / T * back @ net.readout.T @ residuals[T + t - tau - 1])
    return np.array(right), np.array(printed)


@pytest.mark.parametrize("cell", KINDS)
@pytest.mark.parametrize("t", range(1, 7))
def test_the_sum_of_the_paths_is_the_gradient(cell, t):
    """t = 1, 3, 6 of T = 6 are those that were checked for the map of the texts (D-12)."""
    found = paths(replace(SIX, cell=cell), t)
    assert found.moment == t
    assert found.terms.shape == found.printed.shape == (7 - t, 4)
    np.testing.assert_allclose(found.total, found.terms.sum(0), rtol=0, atol=0)
    np.testing.assert_allclose(found.total, found.autograd, rtol=0, atol=CLOSE)
    np.testing.assert_array_equal(found.autograd, state_gradients(replace(SIX, cell=cell))[t - 1])
    assert found.mismatch < CLOSE


@pytest.mark.parametrize("cell", KINDS)
@pytest.mark.parametrize("t", range(1, 7))
def test_every_path_and_the_printed_index_by_hand(cell, t):
    found = paths(replace(SIX, cell=cell), t)
    right, printed = by_hand(replace(SIX, cell=cell), t)
    np.testing.assert_allclose(found.terms, right, rtol=0, atol=CLOSE)
    np.testing.assert_allclose(found.printed, printed, rtol=0, atol=CLOSE)
    total = right.sum(0)
    off = np.linalg.norm(printed.sum(0) - total) / np.linalg.norm(total)
    assert found.printed_mismatch == pytest.approx(off, abs=1e-12)


@pytest.mark.parametrize("cell", KINDS)
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_the_printed_index_is_wrong_except_at_the_end(cell, seed):
    """D-12: equal at t = T, where there is one path; elsewhere off by far more than rounding."""
    asked = replace(SIX, cell=cell, seed=seed)
    assert paths(asked, 6).printed_mismatch < CLOSE
    for t in range(1, 6):
        assert paths(asked, t).printed_mismatch > 0.01


@pytest.mark.parametrize("steps", [2, 6, 30])
@pytest.mark.parametrize("init", ["gaussian", "orthogonal", "non_normal"])
def test_linear_paths_in_closed_form(init, steps):
    """(W^T)^(tau-t) W_yh^T e_tau, e_tau = (2/T) (yhat_tau - y_tau), by matrix powers."""
    asked = replace(SIX, init=init, steps=steps)
    net = unroll(asked)
    for t in {1, 1 + steps // 2, steps}:
        found = paths(asked, t)
        for tau in range(t, steps + 1):
            answer = net.readout @ net.trace.hidden[tau]
            error = 2 / steps * (answer - net.signal.targets[tau - 1])
            power = np.linalg.matrix_power(net.weights.hidden_hidden.T, tau - t)
            expected = power @ net.readout.T @ error
            np.testing.assert_allclose(
                found.terms[tau - t], expected, rtol=0, atol=1e-12 * max(1, np.abs(expected).max())
            )


def test_lengths_along_the_gradient_sum_to_its_length():
    found = paths(replace(SIX, cell="rnn"), 2)
    along = found.along(found.terms)
    size = np.linalg.norm(found.autograd)
    assert along.sum() == pytest.approx(size, rel=1e-13)
    np.testing.assert_allclose(along, found.terms @ (found.autograd / size), rtol=1e-13)


def test_a_zero_gradient_has_no_direction():
    found = replace(paths(SIX, 2), autograd=np.zeros(4))
    np.testing.assert_array_equal(found.along(found.terms), 0)
    assert found.mismatch == 0


def test_with_the_last_loss_one_path_is_left():
    found = paths(replace(SIX, loss="last"), 2)
    np.testing.assert_array_equal(found.terms[:-1], 0)
    np.testing.assert_allclose(found.terms[-1], found.autograd, rtol=0, atol=CLOSE)


@pytest.mark.parametrize("moment", [0, 7, -1])
def test_a_step_outside_the_sequence_is_refused(moment):
    with pytest.raises(ValueError, match=r"The step t must lie between 1 and 6\."):
        paths(SIX, moment)


@pytest.mark.parametrize("cell", ["lstm", "gru"])
def test_gated_cells_are_refused(cell):
    with pytest.raises(ValueError, match="about the RNN"):
        paths(replace(SIX, cell=cell), 1)


# Step by step (0-35)


@pytest.mark.parametrize("loss", ["mean", "last"])
@pytest.mark.parametrize("cell", [*KINDS, "gru"])
def test_the_recursion_arrives_at_autograd(cell, loss):
    asked = replace(SIX, cell=cell, loss=loss)
    found = recursion(asked)
    np.testing.assert_allclose(found.total, state_gradients(asked), rtol=0, atol=CLOSE)


@pytest.mark.parametrize("cell", KINDS)
def test_every_number_of_the_recursion(cell):
    """t = T: only the output. t < T: (dh_{t+1}/dh_t)^T dJ/dh_{t+1} + W_yh^T dJ/dyhat_t."""
    asked = replace(SIX, cell=cell, width=3)
    net, found = unroll(asked), recursion(asked)
    W = net.weights.hidden_hidden
    for t in range(6):
        h, after = net.trace.hidden[t + 1], net.trace.hidden[min(t + 2, 6)]
        np.testing.assert_array_equal(found.states[t], h)
        np.testing.assert_allclose(found.answers[t], net.readout @ h, rtol=0, atol=1e-15)
        slope = {
            "linear": np.ones(3), "rnn": 1 - after**2, "relu": (after > 0).astype(float)
        }[cell]  # fmt: skip
        expected = slope[:, None] * W if t < 5 else np.zeros((3, 3))
        np.testing.assert_allclose(found.jacobian[t], expected, rtol=0, atol=1e-14)
        residual = 2 / 6 * (found.answers[t] - net.signal.targets[t])
        np.testing.assert_allclose(found.residuals[t], residual, rtol=0, atol=1e-15)
        np.testing.assert_allclose(
            found.from_output[t], net.readout.T @ residual, rtol=0, atol=1e-15
        )
        carried = found.jacobian[t].T @ found.total[t + 1] if t < 5 else np.zeros(3)
        np.testing.assert_allclose(found.from_next[t], carried, rtol=0, atol=1e-15)
        np.testing.assert_allclose(
            found.total[t], found.from_next[t] + found.from_output[t], rtol=0, atol=1e-15
        )
    np.testing.assert_array_equal(found.targets, net.signal.targets)
    np.testing.assert_array_equal(found.readout, net.readout)
    misses = found.targets - found.answers
    assert found.loss == pytest.approx(float((misses**2).sum() / 6), rel=1e-14)


def test_the_recursion_is_refused_for_the_lstm():
    with pytest.raises(ValueError, match="the state of an LSTM is h and c"):
        recursion(replace(SIX, cell="lstm"))
