"""Truncated backpropagation: every term by autograd, graphs that are really cut, and chance."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
import torch

from seqviz.compute import vanishing_gradients
from seqviz.compute.recurrent import State, at
from seqviz.compute.vanishing_gradients import (
    CELLS,
    LOSSES,
    TRUNCATIONS,
    GradientExperiment,
    randomized,
    terms,
    truncation,
)
from tests.compute import torch_reference
from tests.tiers import pairwise

pytestmark = pytest.mark.filterwarnings("error")

STEPS, WIDTH = 9, 3


def asked(cell: str, loss: str = "mean", **settings) -> GradientExperiment:
    return GradientExperiment(
        cell, **{"steps": STEPS, "width": WIDTH, "gain": 1.2, **settings}, loss=loss
    )


class Torch:
    """The experiment for PyTorch: weights, signal, one step, and the loss of one step's state."""

    def __init__(self, experiment: GradientExperiment):
        net = vanishing_gradients.unroll(experiment)
        self.cell, self.steps = experiment.cell, net.steps
        self.W, self.U, *self.biases = torch_reference.tensors(net.weights)
        self.inputs, self.readout = torch.tensor(net.signal.inputs), torch.tensor(net.readout)
        self.targets = torch.tensor(net.signal.targets)
        self.start = (torch.zeros(1, experiment.width, dtype=torch.float64),) * 2
        mean = experiment.loss == "mean"
        self.share = [1 / net.steps if mean else float(t == net.steps) for t in self.times()]

    def times(self) -> range:
        return range(1, self.steps + 1)

    def step(self, t, U, h, c):
        weights = (self.W, U, *self.biases)
        return torch_reference.step(self.cell, weights, self.inputs[t - 1 : t], h, c)

    def loss(self, t, h):
        return self.share[t - 1] * ((h @ self.readout.T - self.targets[t - 1]) ** 2).sum()


def all_terms(experiment: GradientExperiment) -> np.ndarray:
    """dJ_tau/dU through step t alone, [tau, t]: every step has a copy of U of its own."""
    there = Torch(experiment)
    copies = [there.U.clone().requires_grad_() for _ in there.times()]
    result = np.zeros((there.steps, there.steps, *there.U.shape))
    h, c = there.start
    for tau in there.times():
        h, c = there.step(tau, copies[tau - 1], h, c)
        parts = torch.autograd.grad(there.loss(tau, h), copies[:tau], retain_graph=True)
        result[tau - 1, :tau] = torch.stack(parts).numpy()
    return result


def segments_by_detach(experiment: GradientExperiment, k: int) -> np.ndarray:
    """The training loop that everybody writes: detach every k steps."""
    there = Torch(experiment)
    U = there.U.clone().requires_grad_()
    h, c = there.start
    loss = torch.zeros(1, dtype=torch.float64)
    for t in there.times():
        if (t - 1) % k == 0:
            h, c = h.detach(), c.detach()
        h, c = there.step(t, U, h, c)
        loss = loss + there.loss(t, h)
    return torch.autograd.grad(loss, U)[0].numpy()


def compared(part: np.ndarray, full: np.ndarray) -> tuple[float, float]:
    length = np.linalg.norm(part) / np.linalg.norm(full)
    cosine = (part * full).sum() / np.linalg.norm(part) / np.linalg.norm(full)
    return float(np.degrees(np.arccos(np.clip(cosine, -1, 1)))), float(length)


# An angle from its cosine: an error of 1e-16 in a cosine near one is sqrt(2e-16) = 1e-6 degrees.
ANGLE = 3e-6


@pairwise(cell=CELLS, kind=TRUNCATIONS, loss=LOSSES)
def test_terms_and_truncation_match_autograd(cell, kind, loss):
    """Sizes of the terms, which are kept, and that the kept ones are the truncated gradient."""
    experiment = asked(cell, loss, init="orthogonal")
    each, course = all_terms(experiment), truncation(experiment, kind)
    full, lower = each.sum((0, 1)), np.tri(STEPS, dtype=bool)
    np.testing.assert_array_equal(course.windows, np.arange(1, STEPS + 1))
    sizes = np.linalg.norm(each, axis=(2, 3))
    for k in course.windows.tolist():
        result = terms(experiment, k, kind)
        np.testing.assert_array_equal(result.steps, np.arange(1, STEPS + 1))
        assert np.isnan(result.log10[~lower]).all()
        # Sizes near one; zeros (h_0 = 0, steps without an error, shut ReLUs) are exactly zero.
        np.testing.assert_allclose(10 ** result.log10[lower], sizes[lower], rtol=0, atol=1e-13)
        pairs = [
            [
                t <= tau and (tau - t < k if kind == "window" else (tau - 1) // k == (t - 1) // k)
                for t in range(1, STEPS + 1)
            ]
            for tau in range(1, STEPS + 1)
        ]
        np.testing.assert_array_equal(result.is_included, pairs)
        cut = each[result.is_included].sum(0)
        if kind == "segments":
            np.testing.assert_allclose(cut, segments_by_detach(experiment, k), rtol=0, atol=1e-12)
        angle, length = compared(cut, full)
        assert course.angle[k - 1] == pytest.approx(angle, abs=ANGLE)
        assert course.length[k - 1] == pytest.approx(length, rel=1e-12)
        # The share of pairs, counted: those of errors that are there.
        errors = np.full(STEPS, loss == "mean")
        errors[-1] = True
        share = result.is_included[errors].sum() / lower[errors].sum()
        assert course.pair_share[k - 1] == pytest.approx(share, rel=1e-15)
    assert course.angle[0] > 1  # something is lost


@pairwise(steps=[2, 3, 20, 39, 40, 41, 55, 200], kind=TRUNCATIONS, cell=CELLS)
def test_truncation_full_window_is_full_gradient(cell, kind, steps):
    """Every k that the slider has where the gradient turns; beyond, as many as a figure needs."""
    result = truncation(asked(cell, steps=steps, gain=0.9), kind)
    short = min(20, steps)
    assert result.windows[:short].tolist() == list(range(1, short + 1))
    assert result.windows[-1] == steps
    assert len(result.windows) <= 40
    assert (np.diff(result.windows) > 0).all()
    assert result.angle[-1] < ANGLE
    assert result.length[-1] == pytest.approx(1, rel=1e-12)
    assert result.pair_share[-1] == 1
    assert ((result.pair_share[:-1] > 0) & (result.pair_share[:-1] < 1)).all()


@pytest.mark.parametrize(("gain", "steps"), [(0.1, 250), (0.1, 90), (2.0, 500)])
def test_terms_of_orthogonal_networks_match_closed_form(gain, steps):
    """|term| = |e_tau| g^(tau-t) |h_{t-1}|: 1e-250 and 1e300, whose squares float64 has not."""
    experiment = GradientExperiment("linear", steps, 4, "orthogonal", gain, loss="mean")
    net, result = vanishing_gradients.unroll(experiment), terms(experiment, 5)
    stride = math.ceil(steps / 100)
    np.testing.assert_array_equal(result.steps, np.arange(steps, 0, -stride)[::-1])
    error = np.log10(np.linalg.norm(net.errors[result.steps - 1], axis=1))
    with np.errstate(divide="ignore"):
        before = np.log10(np.linalg.norm(net.trace.hidden[result.steps - 1], axis=1))
    lag = result.steps[:, None] - result.steps[None, :]
    expected = error[:, None] + lag * math.log10(gain) + before[None, :]
    np.testing.assert_allclose(
        result.log10, np.where(lag >= 0, expected, np.nan), rtol=0, atol=1e-10
    )


@pytest.mark.parametrize("cell", ["rnn", "lstm", "gru"])
def test_terms_of_long_sequence_use_strides(cell):
    """A hundred rows at most; each is what the pullback of that one error gives."""
    experiment = asked(cell, steps=230)
    net, result = vanishing_gradients.unroll(experiment), terms(experiment, 10)
    np.testing.assert_array_equal(result.steps, np.arange(2, 231, 3))
    row = 70
    tau = int(result.steps[row])
    zero = np.zeros(WIDTH)
    carried = State(net.errors[tau - 1], zero if cell == "lstm" else None)
    for t in range(tau, 0, -1):
        pulled = net.cell.pullback(net.weights, at(net.slopes, t - 1), carried)
        carried = pulled.state
        if t in result.steps:
            side = pulled.hidden_side
            pre = np.concatenate(side) if isinstance(side, tuple) else side
            size = np.linalg.norm(pre) * np.linalg.norm(net.trace.hidden[t - 1])
            column = int(np.searchsorted(result.steps, t))
            assert result.log10[row, column] == pytest.approx(np.log10(size), abs=1e-12)
            assert result.is_included[row, column] == (tau - t < 10)


@pairwise(loss=LOSSES, kind=TRUNCATIONS, cell=["linear", "relu"])
def test_truncation_of_exploding_gradients_stays_finite(cell, kind, loss):
    """Gain 2, until the state leaves float64: gradients whose square is beyond it, no warning."""
    for init in ("orthogonal", "radius"):
        experiment = GradientExperiment(cell, 700, 8, init, 2.0, loss=loss)
        result = truncation(experiment, kind)
        for part in (result.angle, result.length, result.pair_share):
            assert np.isfinite(part).all()
        assert result.angle[-1] < ANGLE
        assert not np.isposinf(terms(experiment, 5, kind).log10).any()
        assert np.isfinite(randomized(experiment, 0.2, 16).error).all()


@pytest.mark.parametrize("kind", TRUNCATIONS)
def test_truncation_of_growing_network_matches_closed_form(kind):
    """W = 2 I in one unit, 480 steps, last loss: every term has the size 2^(T-t) |h_{t-1}| |e|.

    A window of k keeps the sum of the last k; the ratio to the whole is exact in any scale.
    """
    experiment = GradientExperiment("linear", 480, 1, "identity", 2.0)
    h = vanishing_gradients.unroll(experiment).trace.hidden[:-1, 0] * 2.0 ** -np.arange(480.0)
    result = truncation(experiment, kind)
    for k, length in zip(result.windows, result.length, strict=True):
        retained = k if kind == "window" else (480 - 1) % k + 1
        assert length == pytest.approx(abs(h[480 - retained :].sum() / h.sum()), rel=1e-10)


# Cut by chance


def outcomes(experiment: GradientExperiment, stop: float) -> tuple[np.ndarray, np.ndarray]:
    """All 2^(T-1) ways to stop or go on: probability, and |gradient - full|^2 / |full|^2.

    A term (tau, t) gets through when the steps tau - 1, ..., t all go on, each weighted.
    """
    each = all_terms(experiment)
    full = each.sum((0, 1))
    probability, distance = [], []
    for open_ in itertools.product((0, 1), repeat=STEPS - 1):  # open_[t - 1]: from t + 1 to t
        weight = np.array(
            [
                [math.prod(g / (1 - stop) for g in open_[t:tau]) for t in range(STEPS)]
                for tau in range(STEPS)
            ]
        )
        result = np.einsum("ab,abij->ij", np.tril(weight), each)
        probability.append(math.prod(1 - stop if g else stop for g in open_))
        distance.append(float(((result - full) ** 2).sum() / (full**2).sum()))
    return np.array(probability), np.array(distance)


@pytest.mark.parametrize("cell", ["rnn", "lstm", "gru"])
@pytest.mark.parametrize("loss", LOSSES)
def test_randomized_single_draws_match_enumerated_outcomes(cell, loss):
    """One draw is one of the 256 possible gradients, and how often is their probability."""
    experiment, stop = asked(cell, loss), 0.3
    probability, distance = outcomes(experiment, stop)
    assert probability.sum() == pytest.approx(1, rel=1e-12)
    errors = np.array([randomized(experiment, stop, 1, seed).error[0] for seed in range(150)])
    apart = np.abs(errors[:, None] ** 2 - distance[None, :])
    assert apart.min(axis=1).max() < 1e-9
    # How often the whole way was open: within four standard errors of (1 - p)^8.
    expected = (1 - stop) ** (STEPS - 1)
    open_ = np.isclose(errors**2, distance[-1], rtol=1e-9, atol=1e-12).mean()
    assert abs(open_ - expected) < 4 * math.sqrt(expected * (1 - expected) / 150)


@pytest.mark.parametrize("cell", CELLS)
def test_randomized_mean_is_unbiased(cell):
    """Unbiased: E |mean of n - full|^2 = V / n with the exact V, for every n, seed by seed.

    A bias b would leave b^2 for every n. 4 standard errors: |mean - full| < 4 sqrt(V / n). The
    average of n |.|^2 / V over 12 seeds is one, with a standard error below sqrt(2 / 12) for
    n large (a sum of squares of Gaussians varies at most as one square does).
    """
    experiment, stop, seeds = asked(cell), 0.25, 12
    probability, distance = outcomes(experiment, stop)
    V = float(probability @ distance)
    results = [randomized(experiment, stop, 4096, seed) for seed in range(seeds)]
    ratio = np.array([item.draws * item.error**2 / V for item in results])
    np.testing.assert_array_equal(results[0].draws, 2 ** np.arange(13))
    assert (ratio[:, -6:] < 16).all()
    assert (np.abs(ratio[:, -6:].mean(0) - 1) < 4 * math.sqrt(2 / seeds)).all()


@pytest.mark.parametrize(("stop", "window"), [(0.1, 9), (0.2, 5), (0.3, 3), (0.6, 2), (0.9, 1)])
def test_randomized_fixed_matches_truncated_window(stop, window):
    """The terms beyond the window of the expected length, round(1 / stop), are what is missing."""
    result, each = randomized(asked("gru"), stop, 2), all_terms(asked("gru"))
    lost = each[np.tri(STEPS, k=-window, dtype=bool)].sum(0)
    assert result.window == window
    gap = np.linalg.norm(lost) / np.linalg.norm(each.sum((0, 1)))
    assert result.fixed == pytest.approx(gap, abs=1e-7)  # the root of rounding at the full one


def test_randomized_depends_only_on_seed():
    item, again, other = (randomized(asked("rnn"), 0.2, 64, seed) for seed in (1, 1, 2))
    np.testing.assert_array_equal(item.error, again.error)
    assert (item.error != other.error).any()
    assert item.fixed == other.fixed


@pytest.mark.parametrize(
    ("words", "call"),
    [
        *(("must lie between 0 and 1", lambda stop=stop: randomized(asked("rnn"), stop))
          for stop in (0.0, 1.0, -0.1, 1.5)),
        ("no truncation called 'blocks'", lambda: truncation(asked("rnn"), "blocks")),
        ("no truncation called 'blocks'", lambda: terms(asked("rnn"), 3, "blocks")),
        # One step: h_0 = 0, so the recurrent weights have no gradient; it has no direction.
        ("The full gradient is zero", lambda: truncation(asked("rnn", steps=1))),
        ("The full gradient is zero", lambda: randomized(asked("rnn", steps=1), 0.2, 4)),
    ],
)  # fmt: skip
def test_truncation_functions_reject_bad_arguments(words, call):
    with pytest.raises(ValueError, match=words):
        call()
