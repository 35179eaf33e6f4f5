"""The recurrent kernel's forward pass: PyTorch's modules with the same weights, gate by gate."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import nn

from seqviz.compute.recurrent import (
    GRU,
    LSTM,
    RNN,
    State,
    Weights,
    as_dtype,
    at,
    backward,
    outputs,
    run,
    run_layers,
)

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
CELLS = {
    "tanh": lambda *a, **k: nn.RNNCell(*a, nonlinearity="tanh", **k),
    "relu": lambda *a, **k: nn.RNNCell(*a, nonlinearity="relu", **k),
    "lstm": nn.LSTMCell,
    "gru": nn.GRUCell,
}
NAMES = ("weight_ih", "weight_hh", "bias_ih", "bias_hh")


def weights_of(module: nn.Module, suffix: str = "_l0") -> Weights:
    return Weights(*(getattr(module, name + suffix).detach().numpy() for name in NAMES))


def normal(*shape: int, seed: int = 0, dtype=torch.float64) -> torch.Tensor:
    return torch.tensor(np.random.RandomState(seed).standard_normal(shape), dtype=dtype)


def made(kind: str, *args, dtype=torch.float64, **more) -> nn.Module:
    torch.manual_seed(5)
    return KINDS[kind][1](*args, **more).to(dtype)


@pytest.mark.parametrize("dtype", CLOSE)
@pytest.mark.parametrize("batch", [(), (4,), (2, 3)])
@pytest.mark.parametrize("kind", KINDS)
def test_states_are_those_of_the_torch_module(kind, batch, dtype):
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
    found = trace.hidden[1:].reshape(STEPS, -1, HIDDEN)
    np.testing.assert_allclose(found, expected.numpy(), rtol=0, atol=CLOSE[dtype])
    if kind == "lstm":
        found = trace.cell_state[-1].reshape(1, -1, HIDDEN)
        np.testing.assert_allclose(found, last[1].numpy(), rtol=0, atol=CLOSE[dtype])


@pytest.mark.parametrize("kind", KINDS)
def test_without_an_initial_state_it_is_zero_as_in_torch(kind):
    module, inputs = made(kind, INPUT, HIDDEN), normal(STEPS, INPUT)
    trace = run(KINDS[kind][0], weights_of(module), inputs.numpy())
    assert (trace.hidden[0] == 0).all()
    np.testing.assert_allclose(
        trace.hidden[1:], module(inputs)[0].detach().numpy(), rtol=0, atol=1e-12
    )


@pytest.mark.parametrize("kind", CELLS)
def test_single_steps_are_those_of_the_torch_cells(kind):
    """Every state, c included (a module returns only its last), one call of the cell a step."""
    torch.manual_seed(5)
    step = CELLS[kind](INPUT, HIDDEN).to(torch.float64)
    inputs = normal(STEPS, 2, INPUT)
    h, c = normal(2, HIDDEN, seed=1), normal(2, HIDDEN, seed=2)
    trace = run(KINDS[kind][0], weights_of(step, ""), inputs.numpy(), State(h.numpy(), c.numpy()))
    with torch.no_grad():
        for t, x in enumerate(inputs, start=1):
            if kind == "lstm":
                h, c = step(x, (h, c))
                np.testing.assert_allclose(trace.cell_state[t], c.numpy(), rtol=0, atol=1e-12)
            else:
                h = step(x, h)
            np.testing.assert_allclose(trace.hidden[t], h.numpy(), rtol=0, atol=1e-12)


def test_gates_recovered_from_the_torch_lstm():
    """i, f, g, o from the module's own weights and states, and what they must do to c and h."""
    module, inputs = made("lstm", INPUT, HIDDEN), normal(STEPS, 2, INPUT)
    states = module(inputs)[0].detach()
    before = torch.cat([torch.zeros(1, 2, HIDDEN, dtype=torch.float64), states[:-1]])
    W, U, b, b_ = (getattr(module, f"{name}_l0").detach() for name in NAMES)
    blocks = (inputs @ W.T + b + before @ U.T + b_).chunk(4, dim=-1)
    trace = run(LSTM(), weights_of(module), inputs.numpy())
    for k, (found, phi) in enumerate(
        (
            (trace.input_gate, torch.sigmoid),
            (trace.forget_gate, torch.sigmoid),
            (trace.candidate, torch.tanh),
            (trace.output_gate, torch.sigmoid),
        )
    ):
        np.testing.assert_allclose(found, phi(blocks[k]).numpy(), rtol=0, atol=1e-12)
        np.testing.assert_allclose(
            trace.preactivation[..., k, :], blocks[k].numpy(), rtol=0, atol=1e-12
        )
    c = trace.forget_gate * trace.cell_state[:-1] + trace.input_gate * trace.candidate
    np.testing.assert_allclose(trace.cell_state[1:], c, rtol=0, atol=1e-15)
    np.testing.assert_allclose(states.numpy(), trace.output_gate * np.tanh(c), rtol=0, atol=1e-12)


def test_gates_recovered_from_the_torch_gru():
    module, inputs = made("gru", INPUT, HIDDEN), normal(STEPS, 2, INPUT)
    states = module(inputs)[0].detach()
    before = torch.cat([torch.zeros(1, 2, HIDDEN, dtype=torch.float64), states[:-1]])
    W, U, b, b_ = (getattr(module, f"{name}_l0").detach() for name in NAMES)
    x_r, x_z, x_n = (inputs @ W.T + b).chunk(3, dim=-1)
    h_r, h_z, h_n = (before @ U.T + b_).chunk(3, dim=-1)
    r, z = torch.sigmoid(x_r + h_r), torch.sigmoid(x_z + h_z)
    n = torch.tanh(x_n + r * h_n)
    trace = run(GRU(), weights_of(module), inputs.numpy())
    for found, expected in (
        (trace.reset_gate, r),
        (trace.update_gate, z),
        (trace.candidate, n),
        (trace.recurrent, h_n),
        (trace.preactivation[..., 2, :], x_n + r * h_n),
        (trace.hidden[1:], z * before + (1 - z) * n),
    ):
        np.testing.assert_allclose(found, expected.numpy(), rtol=0, atol=1e-12)


def test_linear_rnn_has_a_closed_form():
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
@pytest.mark.parametrize(("layers", "both"), [(3, False), (2, True)])
@pytest.mark.parametrize("batch", [(), (2,)])
def test_stacked_and_bidirectional_wiring(kind, layers, both, batch):
    """The last state of every layer and direction, and the states of the top layer side by side."""
    module = made(kind, INPUT, HIDDEN, layers, bidirectional=both)
    inputs = normal(STEPS, *batch, INPUT)
    expected, last = module(inputs)
    suffixes = ("", "_reverse") if both else ("",)
    stack = [
        tuple(weights_of(module, f"_l{layer}{suffix}") for suffix in suffixes)
        for layer in range(layers)
    ]
    traces = run_layers(KINDS[kind][0], stack, inputs.numpy())
    np.testing.assert_allclose(outputs(traces[-1]), expected.detach().numpy(), rtol=0, atol=1e-12)
    one_by_one = [trace for layer in traces for trace in layer]
    assert len(one_by_one) == layers * len(suffixes)
    hidden, memory = last if kind == "lstm" else (last, None)
    for k, trace in enumerate(one_by_one):
        np.testing.assert_allclose(trace.hidden[-1], hidden[k].detach().numpy(), rtol=0, atol=1e-12)
        if memory is not None:
            np.testing.assert_allclose(
                trace.cell_state[-1], memory[k].detach().numpy(), rtol=0, atol=1e-12
            )


@pytest.mark.parametrize("kind", KINDS)
def test_computes_in_the_precision_of_the_weights(kind):
    """Also when inputs and initial state come in float64; gradients follow."""
    module, cell = made(kind, INPUT, HIDDEN), KINDS[kind][0]
    inputs, h = normal(STEPS, INPUT).numpy(), normal(HIDDEN).numpy()
    w = as_dtype(weights_of(module), np.float32)
    trace = run(cell, w, inputs, State(h, h))
    assert {part.dtype for part in vars(trace).values()} == {np.dtype(np.float32)}
    found = backward(cell, w, trace, np.ones((STEPS, HIDDEN), np.float32))
    assert found.hidden.dtype == found.inputs.dtype == np.float32
    assert found.weights.hidden_hidden.dtype == np.float32


def test_as_dtype_converts_every_part_and_keeps_what_is_not_there():
    w = weights_of(made("lstm", INPUT, HIDDEN))
    assert as_dtype(w, np.float32).peephole is None
    full = Weights(*(getattr(w, n) for n in ("input_hidden", "hidden_hidden")), w.input_bias,
                   w.hidden_bias, np.ones((3, HIDDEN)))  # fmt: skip
    assert {part.dtype for part in vars(as_dtype(full, np.float32)).values()} == {
        np.dtype(np.float32)
    }


def test_the_slopes_of_chosen_steps():
    w = weights_of(made("gru", INPUT, HIDDEN))
    trace = run(GRU(), w, normal(STEPS, INPUT).numpy())
    slopes = GRU().slopes(w, trace)
    chosen = at(slopes, np.array([3, 1]))
    for part, whole in zip(chosen, slopes, strict=True):
        np.testing.assert_array_equal(part, np.stack([whole[3], whole[1]]))


def test_blocks_are_the_recurrent_matrices_of_the_gates():
    w = weights_of(made("lstm", INPUT, HIDDEN))
    np.testing.assert_array_equal(np.concatenate([w.block(k) for k in range(4)]), w.hidden_hidden)
    np.testing.assert_array_equal(w.block(2), w.hidden_hidden[2 * HIDDEN : 3 * HIDDEN])


def test_weights_of_another_cell_are_refused():
    w = weights_of(made("gru", INPUT, HIDDEN))
    with pytest.raises(ValueError, match="The LSTM with 7 units has 28 rows of weights, not 21"):
        run(LSTM(), w, np.zeros((2, INPUT)))
    with pytest.raises(ValueError, match="The RNN with 7 units has 7 rows"):
        run(RNN(), w, np.zeros((2, INPUT)))


def test_inputs_of_another_width_are_refused():
    w = weights_of(made("gru", INPUT, HIDDEN))
    with pytest.raises(ValueError, match=r"The inputs have 4 features, the weights expect 3\."):
        run(GRU(), w, np.zeros((2, 4)))


def test_half_an_initial_state_is_refused():
    w = weights_of(made("lstm", INPUT, HIDDEN))
    with pytest.raises(ValueError, match="a hidden state and a cell state"):
        run(LSTM(), w, np.zeros((2, INPUT)), State(np.zeros(HIDDEN)))


def test_peepholes_without_weights_are_refused():
    w = weights_of(made("lstm", INPUT, HIDDEN))
    with pytest.raises(ValueError, match="peepholes needs their weights"):
        run(LSTM(peephole=True), w, np.zeros((2, INPUT)))


def test_an_exploding_network_gives_infinite_states_without_warnings():
    """The docstring's promise for linear and ReLU networks; the filter turns warnings to errors."""
    w = Weights(np.ones((1, 1)), np.full((1, 1), 1e200), np.zeros(1), np.zeros(1))
    for phi in ("linear", "relu"):
        trace = run(RNN(phi), w, np.ones((4, 1)))
        np.testing.assert_array_equal(trace.hidden[:, 0], [0, 1, 1e200, np.inf, np.inf])
