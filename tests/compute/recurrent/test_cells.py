"""The recurrent kernel's forward pass: PyTorch's modules with the same weights, gate by gate."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch
from torch import nn

from seqviz.compute.recurrent import (
    GRU,
    LSTM,
    RNN,
    RecurrentWeights,
    State,
    as_dtype,
    backward,
    run,
)
from tests.compute.torch_reference import weights_of

pytestmark = pytest.mark.filterwarnings("error")

INPUT, HIDDEN, STEPS = 3, 7, 20
# Two evaluations that sum in another order differ by a few units in the last place a step (2e-16,
# 1.2e-7); PyTorch's weights are below 1/sqrt(7), so that errors do not grow over the 20 steps.
CLOSE = {torch.float64: 1e-12, torch.float32: 1e-6}
KINDS = {
    "tanh": (RNN(), lambda *a, **k: nn.RNN(*a, nonlinearity="tanh", **k)),
    "relu": (RNN("relu"), lambda *a, **k: nn.RNN(*a, nonlinearity="relu", **k)),
    "lstm": (LSTM(), nn.LSTM),
    "gru": (GRU(), nn.GRU),
}


def normal(*shape: int, seed: int = 0, dtype=torch.float64) -> torch.Tensor:
    return torch.tensor(np.random.RandomState(seed).standard_normal(shape), dtype=dtype)


def made(kind: str, *args, dtype=torch.float64, **more) -> nn.Module:
    torch.manual_seed(5)
    return KINDS[kind][1](*args, **more).to(dtype)


@pytest.mark.parametrize("dtype", CLOSE)
@pytest.mark.parametrize("batch", [(), (4,), (2, 3)])
@pytest.mark.parametrize("kind", KINDS)
def test_run_matches_torch_modules(kind, batch, dtype):
    cell, module = KINDS[kind][0], made(kind, INPUT, HIDDEN, dtype=dtype)
    inputs = normal(STEPS, *batch, INPUT, dtype=dtype)
    h, c = (normal(*batch, HIDDEN, seed=s, dtype=dtype) for s in (1, 2))
    flat = inputs.reshape(STEPS, -1, INPUT)
    first = tuple(part.reshape(1, -1, HIDDEN) for part in (h, c))
    with torch.no_grad():
        expected, last = module(flat, first if kind == "lstm" else first[0])
    trace = run(
        cell,
        weights_of(module),
        inputs.numpy(),
        State(h.numpy(), c.numpy() if kind == "lstm" else None),
    )
    np.testing.assert_array_equal(trace.hidden[0], h.numpy())
    result = trace.hidden[1:].reshape(STEPS, -1, HIDDEN)
    np.testing.assert_allclose(result, expected.numpy(), rtol=0, atol=CLOSE[dtype])
    if kind == "lstm":
        result = trace.cell_state[-1].reshape(1, -1, HIDDEN)
        np.testing.assert_allclose(result, last[1].numpy(), rtol=0, atol=CLOSE[dtype])


def test_run_linear_rnn_matches_closed_form():
    """h_T = sum over t of U^(T-t) (W x_t + b + b') + U^T h_0."""
    module, inputs = made("tanh", INPUT, HIDDEN), normal(STEPS, INPUT).numpy()
    w, h = weights_of(module), normal(HIDDEN, seed=1).numpy()
    trace = run(RNN("linear"), w, inputs, State(h))
    power = np.linalg.matrix_power
    expected = power(w.hidden_hidden, STEPS) @ h + sum(
        power(w.hidden_hidden, STEPS - t) @ (w.input_hidden @ x + w.input_bias + w.hidden_bias)
        for t, x in enumerate(inputs, start=1)
    )
    np.testing.assert_allclose(trace.hidden[-1], expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_run_and_backward_use_dtype_of_weights(kind):
    """Also when inputs and initial state come in float64; gradients follow."""
    module, cell = made(kind, INPUT, HIDDEN), KINDS[kind][0]
    inputs, h = normal(STEPS, INPUT).numpy(), normal(HIDDEN).numpy()
    w = as_dtype(weights_of(module), np.float32)
    trace = run(cell, w, inputs, State(h, h))
    assert {part.dtype for part in vars(trace).values()} == {np.dtype(np.float32)}
    gradients = backward(cell, w, trace, np.ones((STEPS, HIDDEN), np.float32))
    assert gradients.hidden.dtype == gradients.inputs.dtype == np.float32
    assert gradients.weights.hidden_hidden.dtype == np.float32
    assert w.peephole is None
    full = replace(weights_of(module), peephole=np.ones((3, HIDDEN)))
    assert as_dtype(full, np.float32).peephole.dtype == np.float32


@pytest.mark.parametrize(
    ("words", "cell", "of", "width", "initial"),
    [
        ("The LSTM with 7 units has 28 rows of weights, not 21", LSTM(), "gru", INPUT, None),
        ("The RNN with 7 units has 7 rows", RNN(), "gru", INPUT, None),
        (r"The inputs have 4 features, the weights expect 3\.", GRU(), "gru", 4, None),
        ("a hidden state and a cell state", LSTM(), "lstm", INPUT, State(np.zeros(HIDDEN))),
        ("peepholes needs their weights", LSTM(peephole=True), "lstm", INPUT, None),
    ],
)
def test_run_rejects_mismatched_shapes(words, cell, of, width, initial):
    with pytest.raises(ValueError, match=words):
        run(cell, weights_of(made(of, INPUT, HIDDEN)), np.zeros((2, width)), initial)


def test_run_returns_infinite_states_without_warnings():
    """The docstring's promise for linear and ReLU networks; the filter turns warnings to errors."""
    w = RecurrentWeights(np.ones((1, 1)), np.full((1, 1), 1e200), np.zeros(1), np.zeros(1))
    for phi in ("linear", "relu"):
        trace = run(RNN(phi), w, np.ones((4, 1)))
        np.testing.assert_array_equal(trace.hidden[:, 0], [0, 1, 1e200, np.inf, np.inf])
