"""The paths of equation 44 and the recursion 0-35: closed forms, autograd, the index as printed."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from seqviz.compute.vanishing_gradients import GradientExperiment, paths, recursion, unroll
from seqviz.compute.vanishing_gradients.autograd import state_gradients

pytestmark = pytest.mark.filterwarnings("error")

SIX = GradientExperiment("linear", 6, 4, gain=0.8, loss="mean")
KINDS = ("linear", "rnn", "relu")
# Sums of six vectors near one, each through five products.
CLOSE = 1e-13


def by_hand(experiment: GradientExperiment, t: int) -> tuple[np.ndarray, np.ndarray]:
    """The terms with the error of step tau, and with that of T + t - tau, written as the text does.

    (2/T) (D_{t+1} W ... D_tau W)^T W_yh^T (yhat - y), with D = diag(phi') and the residual of the
    one step or the other. Only the weights and the signal come from the package.
    """
    net = unroll(experiment)
    W, T = net.weights.hidden_hidden, experiment.steps
    h, slopes, residuals = np.zeros(experiment.width), [], []
    for x, y in zip(net.signal.inputs, net.signal.targets, strict=True):
        a = net.weights.input_hidden @ x + W @ h
        h = {"linear": a, "rnn": np.tanh(a), "relu": np.maximum(a, 0)}[experiment.cell]
        slopes.append(
            {"linear": np.ones_like(a), "rnn": 1 - h**2, "relu": (a > 0).astype(float)}[
                experiment.cell
            ]
        )
        residuals.append(net.readout @ h - y)
    right, printed = [], []
    for tau in range(t, T + 1):
        back = np.eye(experiment.width)
        for s in range(t + 1, tau + 1):
            back = back @ (slopes[s - 1][:, None] * W).T
        right.append(2 / T * back @ net.readout.T @ residuals[tau - 1])
        printed.append(2 / T * back @ net.readout.T @ residuals[T + t - tau - 1])
    return np.array(right), np.array(printed)


@pytest.mark.parametrize("cell", KINDS)
@pytest.mark.parametrize("t", range(1, 7))
@pytest.mark.parametrize("seed", [1, 2])
def test_paths_match_explicit_products_and_printed_index(cell, t, seed):
    """The paths sum to the gradient (t = 1, 3, 6 of T = 6: D-12 of the map of the texts).

    The printed index is right at t = T, where there is one path; elsewhere it is off by far more
    than rounding.
    """
    request = replace(SIX, cell=cell, seed=seed)
    result, (right, printed) = paths(request, t), by_hand(request, t)
    np.testing.assert_allclose(result.terms, right, rtol=0, atol=CLOSE)
    np.testing.assert_allclose(result.printed, printed, rtol=0, atol=CLOSE)
    truth = state_gradients(request)[t - 1]
    np.testing.assert_array_equal(result.autograd, truth)
    np.testing.assert_allclose(result.total, truth, rtol=0, atol=CLOSE)
    assert result.moment == t
    assert result.mismatch < CLOSE
    off = np.linalg.norm(printed.sum(0) - truth) / np.linalg.norm(truth)
    assert result.printed_mismatch == pytest.approx(off, abs=1e-12)
    assert (off > 0.01) == (t < 6)
    direction = truth / np.linalg.norm(truth)
    np.testing.assert_allclose(result.along(result.terms), right @ direction, rtol=0, atol=CLOSE)
    assert result.length == pytest.approx(result.autograd_length, rel=1e-13)


@pytest.mark.parametrize(
    ("init", "steps"), [("gaussian", 30), ("orthogonal", 2), ("non_normal", 30)]
)
def test_paths_of_linear_networks_match_explicit_products(init, steps):
    """(W^T)^(tau-t) W_yh^T e_tau, e_tau = (2/T) (yhat_tau - y_tau)."""
    request = replace(SIX, init=init, steps=steps)
    for t in {1, 1 + steps // 2, steps}:
        right, _ = by_hand(request, t)
        size = max(1, np.abs(right).max())
        np.testing.assert_allclose(paths(request, t).terms, right, rtol=0, atol=1e-12 * size)


def test_paths_along_is_zero_for_zero_gradient():
    result = replace(paths(SIX, 2), autograd=np.zeros(4))
    np.testing.assert_array_equal(result.along(result.terms), 0)
    assert result.mismatch == 0


def test_paths_with_last_loss_have_single_nonzero_term():
    result = paths(replace(SIX, loss="last"), 2)
    np.testing.assert_array_equal(result.terms[:-1], 0)
    np.testing.assert_allclose(result.terms[-1], result.autograd, rtol=0, atol=CLOSE)


# Step by step (0-35)


@pytest.mark.parametrize("loss", ["mean", "last"])
@pytest.mark.parametrize("cell", [*KINDS, "gru"])
def test_recursion_matches_autograd(cell, loss):
    request = replace(SIX, cell=cell, loss=loss)
    result = recursion(request)
    np.testing.assert_allclose(result.total, state_gradients(request), rtol=0, atol=CLOSE)


@pytest.mark.parametrize("cell", KINDS)
def test_recursion_terms_match_formula(cell):
    """t = T: only the output. t < T: (dh_{t+1}/dh_t)^T dJ/dh_{t+1} + W_yh^T dJ/dyhat_t."""
    request = replace(SIX, cell=cell, width=3)
    net, result = unroll(request), recursion(request)
    W = net.weights.hidden_hidden
    for t in range(6):
        h, after = net.trace.hidden[t + 1], net.trace.hidden[min(t + 2, 6)]
        slope = {
            "linear": np.ones(3), "rnn": 1 - after**2, "relu": (after > 0).astype(float)
        }[cell]  # fmt: skip
        expected = slope[:, None] * W if t < 5 else np.zeros((3, 3))
        np.testing.assert_allclose(result.jacobian[t], expected, rtol=0, atol=1e-14)
        residual = 2 / 6 * (net.readout @ h - net.signal.targets[t])
        np.testing.assert_allclose(result.residuals[t], residual, rtol=0, atol=1e-15)
        carried = result.jacobian[t].T @ result.total[t + 1] if t < 5 else np.zeros(3)
        requested = carried + net.readout.T @ residual
        np.testing.assert_allclose(result.total[t], requested, rtol=0, atol=1e-15)
    np.testing.assert_array_equal(result.readout, net.readout)


@pytest.mark.parametrize(
    ("words", "call"),
    [
        *((r"The step t must lie between 1 and 6\.", lambda t=t: paths(SIX, t))
          for t in (0, 7, -1)),
        *(("about the RNN", lambda cell=cell: paths(replace(SIX, cell=cell), 1))
          for cell in ("lstm", "gru")),
        ("the state of an LSTM is h and c", lambda: recursion(replace(SIX, cell="lstm"))),
    ],
)  # fmt: skip
def test_paths_and_recursion_reject_bad_arguments(words, call):
    with pytest.raises(ValueError, match=words):
        call()
