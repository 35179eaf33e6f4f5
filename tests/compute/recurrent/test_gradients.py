"""The recurrent kernel, its gates held and backwards: autograd, finite differences, identities.

Every variant of every cell is written once more here, as a plain loop in PyTorch, one line an
equation of its docstring.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import mpmath
import numpy as np
import pytest
import torch

from seqviz.compute.recurrent import (
    GRU,
    LSTM,
    RNN,
    LSTMTrace,
    RecurrentWeights,
    State,
    backward,
    jacobians,
    run,
    sigmoid,
    sigmoid_slope,
    tanh_slope,
)

pytestmark = pytest.mark.filterwarnings("error")

INPUT, HIDDEN, STEPS = 3, 4, 9
VARIANTS = [
    *(RNN(phi) for phi in ("tanh", "relu", "linear")),
    *(
        LSTM(forget, output, peephole)
        for forget, output, peephole in product(
            ("learned", "one"), ("tanh", "linear"), (False, True)
        )
    ),
    *(GRU(update, reset) for update, reset in product(("keep", "write"), ("after", "before"))),
]
# Sums of a few hundred products of numbers near one: rounding is 1e-14, a wrong term is not below
# 1e-3. PyTorch sums in another order.
CLOSE = 1e-10


def drawn(cell, seed: int = 3) -> RecurrentWeights:
    rng, rows = np.random.RandomState(seed), cell.blocks * HIDDEN
    peephole = 0.5 * rng.standard_normal((3, HIDDEN))
    return RecurrentWeights(
        rng.standard_normal((rows, INPUT)),
        rng.standard_normal((rows, HIDDEN)) / np.sqrt(HIDDEN),
        rng.standard_normal(rows),
        rng.standard_normal(rows),
        peephole if isinstance(cell, LSTM) and cell.peephole else None,
    )


def drawn_states(batch: tuple[int, ...], seed: int = 4) -> tuple[np.ndarray, State]:
    rng = np.random.RandomState(seed)
    inputs = rng.standard_normal((STEPS, *batch, INPUT))
    return inputs, State(*(rng.standard_normal((*batch, HIDDEN)) for _ in range(2)))


def plain_step(cell, W, U, b, b_, peep, x, h, c, hold=lambda block, gate: gate):
    """One step of any variant: h, c and the gates by their names in the trace.

    hold: what becomes of the gate of a block.
    """
    if isinstance(cell, RNN):
        phi = {"tanh": torch.tanh, "relu": torch.relu, "linear": lambda a: a}[cell.activation]
        return phi(x @ W.T + b + h @ U.T + b_), None, {}
    if isinstance(cell, LSTM):
        a_i, a_f, a_g, a_o = (x @ W.T + b + h @ U.T + b_).chunk(4, dim=-1)
        observed = (lambda k, c: peep[k] * c) if cell.peephole else (lambda k, c: 0)
        f = (
            torch.sigmoid(a_f + observed(1, c))
            if cell.forget == "learned"
            else torch.ones_like(a_f)
        )
        i, f, g = hold(0, torch.sigmoid(a_i + observed(0, c))), hold(1, f), hold(2, torch.tanh(a_g))
        c = f * c + i * g
        o = hold(3, torch.sigmoid(a_o + observed(2, c)))
        h = o * (torch.tanh(c) if cell.output == "tanh" else c)
        return h, c, {"input_gate": i, "forget_gate": f, "candidate": g, "output_gate": o}
    (W_r, W_z, W_n), (U_r, U_z, U_n) = W.chunk(3), U.chunk(3)
    (b_r, b_z, b_n), (d_r, d_z, d_n) = b.chunk(3), b_.chunk(3)
    r = hold(0, torch.sigmoid(x @ W_r.T + b_r + h @ U_r.T + d_r))
    z = hold(1, torch.sigmoid(x @ W_z.T + b_z + h @ U_z.T + d_z))
    past = r * (h @ U_n.T + d_n) if cell.reset == "after" else (r * h) @ U_n.T + d_n
    n = hold(2, torch.tanh(x @ W_n.T + b_n + past))
    new = z * h + (1 - z) * n if cell.update == "keep" else (1 - z) * h + z * n
    return new, None, {"reset_gate": r, "update_gate": z, "candidate": n}


class Plain:
    """A run of the plain loop with its graph."""

    def __init__(self, cell, weights: RecurrentWeights, inputs: np.ndarray, initial: State):
        def leaf(part):
            return None if part is None else torch.tensor(part, requires_grad=True)

        self.parameters = [leaf(part) for part in vars(weights).values()]
        self.inputs = leaf(inputs)
        h, c = leaf(initial.hidden), leaf(initial.cell_state)
        self.hidden, self.memory, self.gates = [h], [c], []
        for x in self.inputs:
            h, c, gates = plain_step(cell, *self.parameters, x, h, c)
            self.hidden.append(h)
            self.memory.append(c)
            self.gates.append(gates)

    def gradients(self, errors: np.ndarray, of: list[torch.Tensor]) -> list[np.ndarray]:
        loss = (torch.stack(self.hidden[1:]) * torch.tensor(errors)).sum()
        result = torch.autograd.grad(loss, of, retain_graph=True, allow_unused=True)
        return [
            np.zeros(tuple(p.shape)) if g is None else g.numpy()
            for p, g in zip(of, result, strict=True)
        ]


def together(parts: list[torch.Tensor]) -> np.ndarray:
    return torch.stack(parts).detach().numpy()


@pytest.mark.parametrize("batch", [(), (3,), (2, 3)])
@pytest.mark.parametrize("cell", VARIANTS, ids=str)
def test_backward_matches_autograd(cell, batch):
    """States, gates and the gradient of everything: inputs, states, memories, weights."""
    weights, (inputs, initial) = drawn(cell), drawn_states(batch)
    gated = isinstance(cell, LSTM)
    if not gated:
        initial = State(initial.hidden)
    plain = Plain(cell, weights, inputs, initial)
    trace = run(cell, weights, inputs, initial)
    np.testing.assert_allclose(trace.hidden, together(plain.hidden), rtol=0, atol=1e-12)
    if gated:
        np.testing.assert_allclose(trace.cell_state, together(plain.memory), rtol=0, atol=1e-12)
    for name in plain.gates[0]:
        expected = together([gates[name] for gates in plain.gates])
        np.testing.assert_allclose(getattr(trace, name), expected, rtol=0, atol=1e-12)

    errors = np.random.RandomState(7).standard_normal(trace.hidden[1:].shape)
    gradients = backward(cell, weights, trace, errors)
    for t, expected in enumerate(plain.gradients(errors, plain.hidden)):
        np.testing.assert_allclose(
            gradients.hidden[t], expected, rtol=0, atol=CLOSE, err_msg=f"h{t}"
        )
    if gated:
        for t, expected in enumerate(plain.gradients(errors, plain.memory)):
            np.testing.assert_allclose(
                gradients.cell_state[t], expected, rtol=0, atol=CLOSE, err_msg=f"c{t}"
            )
    else:
        assert gradients.cell_state is None
    there = [(k, v) for k, v in vars(gradients.weights).items() if v is not None]
    leaves = [leaf for leaf in plain.parameters if leaf is not None]
    expected = plain.gradients(errors, [plain.inputs, *leaves])
    np.testing.assert_allclose(gradients.inputs, expected[0], rtol=0, atol=CLOSE)
    for (name, part), g in zip(there, expected[1:], strict=True):
        np.testing.assert_allclose(part, g, rtol=0, atol=CLOSE, err_msg=name)


@pytest.mark.parametrize("batch", [(), (2,)])
@pytest.mark.parametrize("cell", [cell for cell in VARIANTS if cell.blocks > 1], ids=str)
def test_run_uses_forced_gate_values(cell, batch):
    """Some units at some steps, of each sequence others; from zeros, as no state is given."""
    weights, (inputs, _) = drawn(cell), drawn_states(batch)
    shape = (STEPS, *batch, cell.blocks, HIDDEN)
    forced = np.random.RandomState(5).choice([0, 0.3, 1, np.nan], shape, p=[0.1, 0.1, 0.1, 0.7])
    trace = run(cell, weights, inputs, forced=forced)
    parts = [None if part is None else torch.tensor(part) for part in vars(weights).values()]
    h = c = torch.zeros(*batch, HIDDEN, dtype=torch.float64)
    for t, (x, held) in enumerate(zip(torch.tensor(inputs), torch.tensor(forced), strict=True)):
        values = held.unbind(-2)
        h, c, _ = plain_step(
            cell, *parts, x, h, c,
            lambda block, gate, v=values: torch.where(v[block].isnan(), gate, v[block]),
        )  # fmt: skip
        np.testing.assert_allclose(trace.hidden[t + 1], h, rtol=0, atol=1e-13)
        if c is not None:
            np.testing.assert_allclose(trace.cell_state[t + 1], c, rtol=0, atol=1e-13)


@pytest.mark.parametrize(
    ("words", "cell", "at", "value"),
    [
        *(("forced to a value in", LSTM(), block, value)
          for block, value in ((0, 1.01), (1, -0.01), (2, -1.01), (3, 2.0))),
        ("shape", GRU(), 0, 0.5),
        ("no gates", RNN(), 0, 0.5),
    ],
)  # fmt: skip
def test_run_rejects_impossible_forced_values(words, cell, at, value):
    forced = np.full((STEPS, 4, HIDDEN), np.nan)
    forced[0, at, 0] = value
    with pytest.raises(ValueError, match=words):
        run(cell, drawn(cell), drawn_states(())[0], forced=forced)


def state_of(trace, t: int) -> np.ndarray:
    parts = [trace.hidden[t]]
    if isinstance(trace, LSTMTrace):
        parts.append(trace.cell_state[t])
    return np.concatenate(parts, axis=-1)


@pytest.mark.parametrize("cell", VARIANTS, ids=str)
def test_jacobians_match_central_differences(cell):
    """The LSTM's state is (h, c). Step 1e-6: truncation 1e-12 and rounding 1e-16 / 1e-6 = 1e-10."""
    weights, (inputs, initial) = drawn(cell), drawn_states(())
    trace = run(cell, weights, inputs, initial)
    size, step = state_of(trace, 0).size, 1e-6
    values = jacobians(cell, weights, trace)
    assert values.shape == (STEPS, size, size)
    if cell == RNN("relu"):  # differences across the kink are no derivative
        assert np.abs(trace.preactivation).min() > 100 * step
    for t in range(STEPS):
        ends = []
        for sign in (1, -1):
            moved = state_of(trace, t) + sign * step * np.eye(size)  # one coordinate a row
            start = State(moved[:, :HIDDEN], moved[:, HIDDEN:] if size > HIDDEN else None)
            item = np.repeat(inputs[t][None, None], size, axis=1)
            ends.append(state_of(run(cell, weights, item, start), 1))
        expected = ((ends[0] - ends[1]) / (2 * step)).T
        np.testing.assert_allclose(values[t], expected, rtol=0, atol=1e-8)


def test_jacobians_of_constant_error_carousel_are_identity():
    """f = 1, gates shut to the past: dc_T/dc_0 = I exactly (Hochreiter and Schmidhuber 1997)."""
    cell, (inputs, initial) = LSTM("one"), drawn_states(())
    weights = replace(drawn(cell), hidden_hidden=np.zeros((4 * HIDDEN, HIDDEN)))
    total = np.linalg.multi_dot(jacobians(cell, weights, run(cell, weights, inputs, initial))[::-1])
    np.testing.assert_array_equal(total[HIDDEN:, HIDDEN:], np.eye(HIDDEN))


# Slopes where the function itself has long rounded to its limit.
@pytest.mark.parametrize("size", [0.0, 1e-8, 0.5, 5.0, 19.0, 25.0, 40.0, 300.0])
@pytest.mark.parametrize("sign", [-1, 1])
def test_slopes_keep_relative_precision(size, sign):
    """Against 50 digits. exp(-x) carries the rounding of x itself: |x| units of 1.1e-16, x = 2a."""
    a, tolerance = sign * size, (4 * size + 10) * 1.2e-16
    with mpmath.workdps(50):
        x = mpmath.mpf(a)
        s = 1 / (1 + mpmath.exp(-x))
        for result, expected in (
            (sigmoid(np.float64(a)), s),
            (sigmoid_slope(np.float64(a)), mpmath.exp(-x) * s**2),
            (tanh_slope(np.float64(a)), mpmath.sech(x) ** 2),
        ):
            assert expected > 0
            assert abs(mpmath.mpf(float(result)) / expected - 1) < tolerance


def test_slopes_are_nonzero_where_textbook_formulas_underflow():
    """What the two functions are for: s (1 - s) and 1 - tanh^2 are exactly zero at these points."""
    assert 1 - np.tanh(25.0) ** 2 == 0 < tanh_slope(25.0)
    assert sigmoid(40.0) * (1 - sigmoid(40.0)) == 0 < sigmoid_slope(40.0)


def test_slopes_underflow_to_zero_without_warning():
    far = np.array([-1e4, -800.0, 800.0, 1e4, -np.inf, np.inf])
    np.testing.assert_array_equal(sigmoid_slope(far), 0)
    np.testing.assert_array_equal(tanh_slope(far), 0)
    np.testing.assert_array_equal(sigmoid(far), [0, 0, 1, 1, 0, 1])


def test_slopes_of_gru_candidate_survive_closed_gate():
    """update "keep" at a_z = 50: the share written, 1 - z, rounds to zero, its slope does not."""
    cell = GRU()
    weights, (inputs, _) = drawn(cell), drawn_states(())
    of_update = np.repeat([False, True, False], HIDDEN)
    for part in vars(weights).values():
        if part is not None:
            part[of_update] = 0
    weights.input_bias[of_update] = 50
    trace = run(cell, weights, inputs)
    assert (1 - trace.update_gate == 0).all()
    slope = cell.slopes(weights, trace).candidate
    expected = np.exp(-50.0) / np.cosh(trace.preactivation[:, 2]) ** 2
    np.testing.assert_allclose(slope, expected, rtol=1e-13)
