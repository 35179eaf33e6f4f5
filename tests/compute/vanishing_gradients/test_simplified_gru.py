"""Constant gates: the three exact limits, the general case, and the GRU of the kernel at rest."""

from __future__ import annotations

import math

import numpy as np
import pytest

from seqviz.compute.recurrent import GRU, RecurrentWeights, jacobians, run
from seqviz.compute.vanishing_gradients import INITS, recurrent_matrix, simplified_gru

pytestmark = pytest.mark.filterwarnings("error")

WIDTH = 6


@pytest.mark.parametrize("init", INITS)
def test_simplified_gru_limits_are_exact(init):
    """To the last bit: u = 0 forgets nothing whatever r; u = 1, r = 0 keeps nothing; u = r = 1."""
    for reset in (0.0, 0.3, 1.0):
        result = simplified_gru(0.0, reset, init, WIDTH, 1.5, 1, 40)
        np.testing.assert_array_equal(result.jacobian, np.eye(WIDTH))
        assert set(result.eigenvalues) == {1}
        assert set(result.log10_norm) == {0}
    result = simplified_gru(1.0, 0.0, init, WIDTH, 1.5, 1, 40)
    assert not result.jacobian.any()
    assert result.log10_norm.tolist() == [0] + 40 * [-np.inf]
    result = simplified_gru(1.0, 1.0, init, WIDTH, 1.5, 1, 40)
    np.testing.assert_array_equal(result.jacobian, recurrent_matrix(init, WIDTH, 1.5, 1))
    np.testing.assert_array_equal(result.log10_norm, result.log10_norm_rnn)
    np.testing.assert_array_equal(result.eigenvalues, result.eigenvalues_rnn)


@pytest.mark.parametrize("init", INITS)
@pytest.mark.parametrize(("u", "r"), [(0.1, 1.0), (0.5, 0.5), (0.9, 0.2), (1.0, 0.7), (0.02, 0.0)])
def test_simplified_gru_matches_textbook_formula(init, u, r):
    """I - D_u (I - D_r W), with diagonal matrices, and its powers by numpy."""
    result = simplified_gru(u, r, init, WIDTH, 1.2, 2, 30)
    unit, W = np.eye(WIDTH), recurrent_matrix(init, WIDTH, 1.2, 2)
    J = unit - (u * unit) @ (unit - (r * unit) @ W)
    # Two ways of rounding numbers up to 10.
    np.testing.assert_allclose(result.jacobian, J, rtol=0, atol=4e-15)
    for logs, matrix in ((result.log10_norm, J), (result.log10_norm_rnn, W)):
        norms = [np.linalg.norm(np.linalg.matrix_power(matrix, k), 2) for k in range(31)]
        # Powers of a matrix whose entries are off by 1e-15: relative 1e-13 after 30.
        np.testing.assert_allclose(logs, np.log10(norms), rtol=0, atol=1e-12)
    for values, matrix in ((result.eigenvalues, J), (result.eigenvalues_rnn, W)):
        for value in values:  # det(matrix - value) = 0, whatever their order
            smallest = np.linalg.svd(matrix - value * unit, compute_uv=False)[-1]
            assert smallest < 1e-13


@pytest.mark.parametrize(
    ("u", "r", "init", "gain", "base"),
    [
        (1.0, 1.0, "orthogonal", 0.1, 0.1),
        (1.0, 1.0, "orthogonal", 2.0, 2.0),
        (0.1, 0.5, "identity", 0.8, 0.94),  # W = g I: J = (1 - u + u r g) I
    ],
)
def test_simplified_gru_powers_match_closed_form_beyond_float64(u, r, init, gain, base):
    """The 2000-th is 1e-2000 and 1e602."""
    logs = simplified_gru(u, r, init, 4, gain, 1, 2000).log10_norm
    np.testing.assert_allclose(logs, np.arange(2001) * math.log10(base), rtol=0, atol=1e-10)


@pytest.mark.parametrize("reset", ["after", "before"])
@pytest.mark.parametrize(("u", "r"), [(0.1, 1 - 1e-9), (0.5, 0.5), (0.8, 0.3)])
def test_simplified_gru_matches_gru_jacobian_at_rest(u, r, reset):
    """The kernel's GRU has a tanh and gates that move; at h = 0, x = 0 neither shows.

    There tanh' = 1, the gates' own derivatives are multiplied by h - n = 0 and U h = 0 (whatever
    their recurrent weights), and the gates are the sigmoids of their biases. Away from rest the
    simplified Jacobian is an approximation, as the second half shows.
    """
    rng, W = np.random.RandomState(0), recurrent_matrix("gaussian", WIDTH, 1.2, 2)
    gates = rng.standard_normal((2 * WIDTH, WIDTH))
    bias = np.repeat([math.log(r / (1 - r)), math.log(u / (1 - u)), 0.0], WIDTH)
    weights = RecurrentWeights(
        np.ones((3 * WIDTH, 1)), np.concatenate([gates, W]), bias, np.zeros(3 * WIDTH)
    )
    cell = GRU("write", reset)
    expected = simplified_gru(u, r, "gaussian", WIDTH, 1.2, 2, 5).jacobian
    values = jacobians(cell, weights, run(cell, weights, np.zeros((5, 1))))
    np.testing.assert_allclose(values, np.broadcast_to(expected, values.shape), rtol=0, atol=1e-14)
    moved = jacobians(cell, weights, run(cell, weights, np.ones((5, 1))))
    assert np.abs(moved[-1] - expected).max() > 0.01


@pytest.mark.parametrize(("u", "r"), [(-0.01, 0.5), (1.01, 0.5), (0.5, -0.01), (0.5, 1.01)])
def test_simplified_gru_rejects_gates_out_of_range(u, r):
    with pytest.raises(ValueError, match="Gates lie between 0 and 1"):
        simplified_gru(u, r, "gaussian", 3, 1.0, 1, 5)
