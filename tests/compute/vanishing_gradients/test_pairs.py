"""Every pair of steps: PyTorch's Jacobian pair by pair, explicit products, exact scaling laws."""

from __future__ import annotations

import math
import time
from functools import partial

import mpmath
import numpy as np
import pytest
import torch

from seqviz.compute.recurrent import jacobians
from seqviz.compute.vanishing_gradients import (
    CELLS,
    NORMS,
    GradientExperiment,
    pair_norms,
    pair_spectrum,
    recurrent_matrix,
    unroll,
)
from seqviz.compute.vanishing_gradients.pairs import _affordable, _stretches
from tests.compute import torch_reference
from tests.tiers import first_only, pairwise

pytestmark = pytest.mark.filterwarnings("error")

STEPS, WIDTH = 13, 4
PLACES = [(cell, "hidden") for cell in CELLS] + [("lstm", "cell_state")]
# Float32 through 12 steps: each rounds a sum of at most 3 * 8 products, 24 * 6e-8 of the largest
# term; random signs leave about 1e-6 in all (measured: 7e-7 at most). A wrong factor is percents.
CLOSE = 3e-6 / math.log(10)  # in log10


def asked(cell: str, **settings) -> GradientExperiment:
    return GradientExperiment(cell, **{"steps": STEPS, "width": WIDTH, "seed": 2, **settings})


def torch_jacobians(experiment: GradientExperiment, part: str) -> np.ndarray:
    """dh_tau/dh_t (or dc_tau/dc_t), [tau, t], nan for t > tau: one autograd call a pair and row.

    Every earlier step gets a leaf of its own, h and c apart, and PyTorch's fused cell from there.
    """
    net = unroll(experiment)
    step = partial(torch_reference.step, experiment.cell, torch_reference.tensors(net.weights))
    inputs, d, steps = torch.tensor(net.signal.inputs), net.weights.hidden, net.steps
    is_found = np.full((steps, steps, d, d), np.nan)
    h = c = torch.zeros(1, d, dtype=torch.float64)
    for t in range(steps):
        h, c = step(inputs[t : t + 1], h.detach(), c.detach())
        leaves = h, c = h.detach().requires_grad_(), c.detach().requires_grad_()
        k = ("hidden", "cell_state").index(part)
        state = leaves
        for tau in range(t, steps):
            if tau > t:
                state = step(inputs[tau : tau + 1], *state)
            rows = [
                torch.autograd.grad(state[k][0, i], leaves[k], retain_graph=True)[0][0]
                for i in range(d)
            ]
            is_found[tau, t] = torch.stack(rows).numpy()
    return is_found


def size(matrices: np.ndarray, norm: str) -> np.ndarray:
    values = np.linalg.svd(np.nan_to_num(matrices), compute_uv=False)
    with np.errstate(divide="ignore"):
        return np.log10(values[..., 0] if norm == "largest" else np.sqrt((values**2).mean(-1)))


def plain_pairs(experiment: GradientExperiment, part: str, norm: str, stride: int) -> np.ndarray:
    """The products of `pair_norms` row by row: what it computed before it knew of a device."""
    net = unroll(experiment)
    steps = np.arange(net.steps, 0, -stride)[::-1]
    blocks, sizes = _stretches(net, steps)
    n, d, width = len(steps), net.weights.hidden, blocks.shape[-1]
    first = d if part == "cell_state" else 0
    products, logs, powers = np.zeros((n, d, width), np.float32), np.full((n, n), np.nan), [0.0] * n
    products[:, np.arange(d), first + np.arange(d)] = 1
    np.fill_diagonal(logs, 0.0)
    for k in range(n - 1, 0, -1):
        products[k:] = (products[k:].reshape(-1, width) @ blocks[k - 1]).reshape(n - k, d, width)
        for i in range(k, n):
            visible = products[i][:, first : first + d].reshape(1, -1)
            size = np.sqrt(float((visible * visible).sum(1)[0]) / d)
            if norm == "largest":
                size = np.linalg.svd(visible.reshape(d, d), compute_uv=False)[0]
            powers[i] += sizes[k - 1]
            with np.errstate(divide="ignore"):
                logs[i, k - 1] = np.log10(size) + powers[i]
            flat = products[i].reshape(1, -1)
            full = np.sqrt(float((flat * flat).sum(1)[0]))
            if full > 1e9 or 0 < full < 1e-9:
                products[i] /= float(full)
                powers[i] += np.log10(full)
    return logs


@pytest.mark.parametrize(("cell", "part"), PLACES)
@pytest.mark.parametrize("norm", NORMS)
def test_pair_norms_on_cpu_equal_plain_loop_to_the_bit(cell, part, norm):
    """Long enough for products beyond 1e9 and below 1e-9."""
    experiment = GradientExperiment(cell, steps=60, width=8, gain=0.1 if cell == "relu" else 3.0)
    for stride in (1, 2):
        result = pair_norms(experiment, part, norm, stride).log10
        assert result.tobytes() == plain_pairs(experiment, part, norm, stride).tobytes()
    assert cell != "relu" or np.nanmin(result[np.isfinite(result)]) < -18


@pytest.mark.parametrize(("cell", "part"), PLACES)
def test_pair_norms_match_autograd(cell, part):
    """Both norms, all steps and every third; exact zeros of a ReLU network included."""
    expected = torch_jacobians(asked(cell), part)
    lower = np.tri(STEPS, dtype=bool)
    for norm in NORMS:
        logs = np.where(lower, size(expected, norm), np.nan)
        for stride in (1, 3):
            result = pair_norms(asked(cell), part, norm, stride)
            assert result.stride == stride
            np.testing.assert_array_equal(result.steps, np.arange(1, STEPS + 1, stride))
            at = np.ix_(result.steps - 1, result.steps - 1)
            np.testing.assert_allclose(result.log10, logs[at], rtol=0, atol=CLOSE)


@pairwise(place=PLACES, stride=[1, 4, 12], norm=NORMS)
def test_pair_norms_torch_device_matches_numpy(place, stride, norm):
    """device "cpu:0" is torch's CPU: what a GPU would run, number for number near numpy's."""
    cell, part = place
    item = pair_norms(asked(cell), part, norm, stride)
    other = pair_norms(asked(cell), part, norm, stride, device="cpu:0")
    np.testing.assert_array_equal(item.steps, other.steps)
    np.testing.assert_allclose(item.log10, other.log10, rtol=0, atol=CLOSE)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU")
def test_pair_norms_on_gpu_match_cpu():
    item = pair_norms(asked("lstm"), stride=1)
    other = pair_norms(asked("lstm"), stride=1, device="cuda")
    np.testing.assert_allclose(item.log10, other.log10, rtol=0, atol=1e-3)  # TF32 at worst


@pairwise(gain=[0.1, 2.0], steps=[401], stride=[1, 7, 20], norm=NORMS)
def test_pair_norms_of_orthogonal_networks_follow_scaling_law(gain, steps, stride, norm):
    """All singular values are g^(tau-t): 1e-400 and 2^400, which float32 never sees.

    Float32 keeps 6e-8 a product; 400 of them in the same direction are 1e-5 in log10.
    """
    result = pair_norms(
        GradientExperiment("linear", steps, 8, "orthogonal", gain), "hidden", norm, stride
    )
    lag = result.steps[:, None] - result.steps[None, :]
    expected = np.where(lag >= 0, lag * math.log10(gain), np.nan)
    np.testing.assert_allclose(result.log10, expected, rtol=0, atol=2e-5)


def test_pair_norms_of_non_normal_preset_match_closed_form():
    """|W^k|^2 = 0.25^k d (1 + 200 k^2): each block of two is 0.5^k [[1, 20 k], [0, 1]]."""
    result = pair_norms(GradientExperiment("linear", 60, 6, "non_normal"), stride=1)
    k = np.maximum(result.steps[:, None] - result.steps[None, :], 0)
    expected = k * math.log10(0.5) + 0.5 * np.log10(1 + 200.0 * k**2)
    lower = np.tri(60, dtype=bool)
    np.testing.assert_allclose(result.log10[lower], expected[lower], rtol=0, atol=2e-5)


@pytest.mark.parametrize(
    ("experiment", "part"),
    [
        (GradientExperiment("rnn", 60, 4, "identity", 12.0), "hidden"),
        (GradientExperiment("lstm", 60, 4, forget_bias=-16.0), "cell_state"),
        (GradientExperiment("lstm", 60, 4, forget_bias=-16.0, gain=0.01), "hidden"),
    ],
    ids=["saturated", "forgetful c", "forgetful h"],
)
def test_pair_norms_survive_shrinkage_beyond_float32(experiment, part):
    """Eight saturated steps are 1e-60: small, but not zero."""
    every, eighth = (pair_norms(experiment, part, stride=stride) for stride in (1, 8))
    at = np.ix_(eighth.steps - 1, eighth.steps - 1)
    assert np.nanmin(eighth.log10) < -40  # in the first case 1e-53 within one stretch
    assert np.isfinite(eighth.log10[np.tril_indices(len(eighth.steps))]).all()
    np.testing.assert_allclose(eighth.log10, every.log10[at], rtol=0, atol=1e-4)


def test_pair_norms_of_dead_relu_are_minus_infinity():
    """Gain zero: nothing passes from step to step, which is -inf and no warning."""
    result = pair_norms(GradientExperiment("relu", 6, 3, "identity", 0.0), stride=1).log10
    assert np.isneginf(result[np.tril_indices(6, -1)]).all()
    np.testing.assert_array_equal(np.diag(result), 0)


# How many steps are shown


@pytest.mark.parametrize(("steps", "stride"), [(2, 1), (50, 1), (100, 1), (101, 2), (250, 3)])
def test_pair_norms_limit_small_network_to_hundred_rows(steps, stride):
    result = pair_norms(GradientExperiment("rnn", steps, 2))
    assert result.stride == stride
    assert len(result.steps) <= 100
    assert result.steps[-1] == steps
    assert 1 <= result.steps[0] <= stride
    np.testing.assert_array_equal(np.diff(result.steps), stride)


def test_pair_norms_use_larger_stride_for_costly_network():
    """What `pair_norms` chooses (above, of a small one), without the half second of each."""
    strides = [
        _affordable(unroll(GradientExperiment("rnn", 300, d)), NORMS[0]) for d in (8, 192, 256)
    ]
    assert strides[0] == 4 < strides[1] < strides[2]
    # Singular values cost more than sums of squares.
    rms, largest = (_affordable(unroll(GradientExperiment("rnn", 300, 96)), norm) for norm in NORMS)
    assert largest > rms
    item = pair_norms(GradientExperiment("rnn", 5, 3), stride=9)  # one step alone
    assert (item.steps.tolist(), item.log10.tolist()) == ([5], [[0.0]])


@pytest.mark.parametrize("width", first_only([48, 128]))
@pytest.mark.parametrize("cell", ["rnn", "lstm"])
def test_pair_norms_of_large_network_match_pair_spectrum(cell, width):
    """T = 300. Float32 through 299 products against float64 and a singular value search.

    Each product rounds by 128^0.5 * 6e-8 at most; 300 of them with random signs are 1e-5.
    """
    start = time.perf_counter()
    experiment = GradientExperiment(cell, 300, width)
    result = pair_norms(experiment)
    assert time.perf_counter() - start < 10  # half a second alone; the machine may be busy
    middle = len(result.steps) // 2
    for earlier, later in ((0, -1), (middle, -1), (0, middle)):
        values = pair_spectrum(experiment, int(result.steps[earlier]), int(result.steps[later]))
        top = values.log10[0]
        rms = top + 0.5 * math.log10(np.nansum(10 ** (2 * (values.log10 - top))) / width)
        assert result.log10[later, earlier] == pytest.approx(rms, abs=1e-4)


# All singular values of one pair


@pytest.mark.parametrize(("cell", "part"), PLACES)
@pytest.mark.parametrize(("earlier", "later"), [(1, 13), (4, 9), (6, 7), (5, 5)])
def test_pair_spectrum_matches_explicit_product(cell, part, earlier, later):
    net = unroll(asked(cell))
    steps = jacobians(net.cell, net.weights, net.trace)  # steps[k] crosses step k + 1
    total = np.eye(steps.shape[-1])
    for t in range(earlier, later):
        total = steps[t] @ total
    own = slice(WIDTH, None) if part == "cell_state" else slice(WIDTH)
    expected = np.linalg.svd(total[own, own], compute_uv=False)
    result = pair_spectrum(asked(cell), earlier, later, part)
    # Twelve products of well-conditioned 4 x 4 matrices; the smallest is 1e-8 of the largest.
    is_known = expected > 1e-15 * expected[0]
    np.testing.assert_allclose(10 ** result.log10[is_known], expected[is_known], rtol=1e-6)
    assert np.isnan(result.log10[~is_known]).all()
    assert result.lost == (~is_known).sum()
    assert cell == "relu" or is_known.all()  # only a ReLU makes singular values exactly zero


@pytest.mark.parametrize(("gain", "steps"), [(0.1, 401), (2.0, 500)])
def test_pair_spectrum_of_orthogonal_networks_exceeds_float64_range(gain, steps):
    result = pair_spectrum(GradientExperiment("linear", steps, 8, "orthogonal", gain), 1, steps)
    np.testing.assert_allclose(result.log10, (steps - 1) * math.log10(gain), rtol=0, atol=1e-11)
    assert result.lost == 0


@pytest.mark.parametrize(("seed", "steps", "width"), [(1, 60, 8), (12, 30, 8), (2, 16, 12)])
def test_pair_spectrum_matches_hundred_digits(seed, steps, width):
    """What is shown is right, what is not is below 1e-15 of the largest.

    A value a factor r below the largest is known to 2e-16 / r; at 1e-15 that leaves 0.1 in log10.
    """
    result = pair_spectrum(
        GradientExperiment("linear", steps, width, "gaussian", seed=seed), 1, steps
    )
    with mpmath.workdps(100):
        w = mpmath.matrix(recurrent_matrix("gaussian", width, 1.0, seed).tolist())
        values = mpmath.svd_r(w ** (steps - 1), compute_uv=False)
        exact = np.array([float(mpmath.log10(v)) for v in values])
    finite = np.isfinite(result.log10)
    below = exact - exact[0]
    assert (below[~finite] < -14.9).all()
    assert (below[finite] > -15.1).all()
    assert result.lost == (~finite).sum()
    tolerance = np.minimum(0.1, 1e-13 + 1e-15 * 10 ** -below[finite])
    assert (np.abs(result.log10 - exact)[finite] < tolerance).all()


@pytest.mark.parametrize(
    ("words", "call"),
    [
        ("no norm 'sum'", lambda: pair_norms(asked("rnn"), norm="sum")),
        ("state called 'memory'", lambda: pair_norms(asked("lstm"), part="memory")),
        ("Only the LSTM has a cell state", lambda: pair_norms(asked("gru"), "cell_state")),
        ("1 <= t <= tau <= 13", lambda: pair_spectrum(asked("rnn"), 0, 3)),
        ("1 <= t <= tau <= 13", lambda: pair_spectrum(asked("rnn"), 4, 3)),
        ("1 <= t <= tau <= 13", lambda: pair_spectrum(asked("rnn"), 4, 14)),
        ("Only the LSTM has a cell state", lambda: pair_spectrum(asked("gru"), 1, 3, "cell_state")),
    ],
)
def test_pair_norms_and_spectrum_reject_bad_arguments(words, call):
    with pytest.raises(ValueError, match=words):
        call()
