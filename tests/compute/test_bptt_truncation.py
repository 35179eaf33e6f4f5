"""Truncated backpropagation: every term by autograd, graphs that are really cut, and chance."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest
import torch
from rings import pairwise

from seqviz.compute.bptt import (
    CELLS,
    KINDS,
    LOSSES,
    Experiment,
    randomized,
    terms,
    truncation,
    unroll,
)
from seqviz.compute.recurrent import State, at

pytestmark = pytest.mark.filterwarnings("error")

STEPS, WIDTH = 9, 3


@pytest.fixture(autouse=True, scope="module")
def _one_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def asked(cell: str, loss: str = "mean", **settings) -> Experiment:
    return Experiment(cell, **{"steps": STEPS, "width": WIDTH, "gain": 1.2, **settings}, loss=loss)


class Torch:
    """The experiment for PyTorch: weights, signal, one step, and the loss of one step's state."""

    def __init__(self, experiment: Experiment):
        net = unroll(experiment)
        self.cell, self.steps, self.d = experiment.cell, net.steps, experiment.width
        self.W, self.U, self.b, self.b_ = (
            torch.tensor(part) for part in list(vars(net.weights).values())[:4]
        )
        self.inputs, self.readout = torch.tensor(net.signal.inputs), torch.tensor(net.readout)
        self.targets = torch.tensor(net.signal.targets)
        mean = experiment.loss == "mean"
        self.share = [1 / net.steps if mean else float(t == net.steps) for t in self.times()]

    def times(self) -> range:
        return range(1, self.steps + 1)

    def start(self):
        zero = torch.zeros(1, self.d, dtype=torch.float64)
        return zero, zero

    def step(self, t, U, h, c):
        x = self.inputs[t - 1 : t]
        if self.cell == "lstm":
            return torch.lstm_cell(x, (h, c), self.W, U, self.b, self.b_)
        if self.cell == "linear":
            return x @ self.W.T + self.b + h @ U.T + self.b_, c
        kind = {"rnn": "rnn_tanh", "relu": "rnn_relu", "gru": "gru"}[self.cell]
        return getattr(torch, f"{kind}_cell")(x, h, self.W, U, self.b, self.b_), c

    def loss(self, t, h):
        return self.share[t - 1] * ((h @ self.readout.T - self.targets[t - 1]) ** 2).sum()


def all_terms(experiment: Experiment) -> np.ndarray:
    """dJ_tau/dU through step t alone, [tau, t]: every step has a copy of U of its own."""
    there = Torch(experiment)
    copies = [there.U.clone().requires_grad_() for _ in there.times()]
    found = np.zeros((there.steps, there.steps, *there.U.shape))
    h, c = there.start()
    for tau in there.times():
        h, c = there.step(tau, copies[tau - 1], h, c)
        parts = torch.autograd.grad(there.loss(tau, h), copies[:tau], retain_graph=True)
        found[tau - 1, :tau] = torch.stack(parts).numpy()
    return found


def window_by_detach(experiment: Experiment, k: int) -> np.ndarray:
    """Each error has a graph of its own that starts, from detached states, k steps before."""
    there = Torch(experiment)
    U = there.U.clone().requires_grad_()
    states = [there.start()]
    for t in there.times():
        states.append(tuple(part.detach() for part in there.step(t, U, *states[-1])))
    total = torch.zeros_like(U)
    for tau in there.times():
        first = max(1, tau - k + 1)
        h, c = states[first - 1]
        for t in range(first, tau + 1):
            h, c = there.step(t, U, h, c)
        total = total + torch.autograd.grad(there.loss(tau, h), U)[0]
    return total.numpy()


def segments_by_detach(experiment: Experiment, k: int) -> np.ndarray:
    """The training loop that everybody writes: detach every k steps."""
    there = Torch(experiment)
    U = there.U.clone().requires_grad_()
    h, c = there.start()
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


@pairwise(cell=CELLS, kind=KINDS, loss=LOSSES)
def test_truncated_gradients_of_graphs_that_are_cut(cell, kind, loss):
    """Every window 1 ... T, angle and length, against PyTorch with detached states."""
    cut = {"window": window_by_detach, "segments": segments_by_detach}[kind]
    experiment = asked(cell, loss, init="orthogonal")
    found, full = truncation(experiment, kind), cut(experiment, STEPS)
    np.testing.assert_array_equal(found.windows, np.arange(1, STEPS + 1))
    for k, angle, length in zip(found.windows, found.angle, found.length, strict=True):
        expected = compared(cut(experiment, int(k)), full)
        assert angle == pytest.approx(expected[0], abs=ANGLE)
        assert length == pytest.approx(expected[1], rel=1e-12)
    assert found.angle[0] > 1  # something is lost


@pairwise(cell=CELLS, kind=KINDS, loss=LOSSES)
def test_every_term_and_their_sums(cell, kind, loss):
    """Sizes of the terms, which are kept, and that the kept ones are the truncated gradient."""
    experiment = asked(cell, loss, init="orthogonal")
    each, course = all_terms(experiment), truncation(experiment, kind)
    full = each.sum((0, 1))
    sizes = np.linalg.norm(each, axis=(2, 3))
    for k in (1, 2, 4, STEPS):
        found = terms(experiment, k, kind)
        np.testing.assert_array_equal(found.steps, np.arange(1, STEPS + 1))
        lower = np.tri(STEPS, dtype=bool)
        assert np.isnan(found.log10[~lower]).all()
        # Sizes near one; zeros (h_0 = 0, steps without an error, shut ReLUs) are exactly zero.
        np.testing.assert_allclose(10 ** found.log10[lower], sizes[lower], rtol=0, atol=1e-13)
        pairs = [
            [
                t <= tau and (tau - t < k if kind == "window" else (tau - 1) // k == (t - 1) // k)
                for t in range(1, STEPS + 1)
            ]
            for tau in range(1, STEPS + 1)
        ]
        np.testing.assert_array_equal(found.kept, pairs)
        angle, length = compared(each[found.kept].sum(0), full)
        assert course.angle[k - 1] == pytest.approx(angle, abs=ANGLE)
        assert course.length[k - 1] == pytest.approx(length, rel=1e-12)
        bound = np.nansum(np.where(found.kept, 10**found.log10, 0)) / np.linalg.norm(full)
        assert course.length[k - 1] <= bound * (1 + 1e-12)
        # The share of pairs, counted: those of errors that are there.
        errors = np.full(STEPS, loss == "mean")
        errors[-1] = True
        share = found.kept[errors].sum() / lower[errors].sum()
        assert course.kept[k - 1] == pytest.approx(share, rel=1e-15)


@pairwise(steps=[2, 3, 40, 41, 200], kind=KINDS, cell=CELLS)
def test_the_whole_window_is_the_full_gradient(cell, kind, steps):
    found = truncation(asked(cell, steps=steps, gain=0.9), kind)
    assert found.windows[0] == 1
    assert found.windows[-1] == steps
    assert len(found.windows) <= 40
    assert (np.diff(found.windows) > 0).all()
    assert found.angle[-1] < ANGLE
    assert found.length[-1] == pytest.approx(1, rel=1e-12)
    assert found.kept[-1] == 1
    assert ((found.kept[:-1] > 0) & (found.kept[:-1] < 1)).all()
    assert ((found.angle >= 0) & (found.angle <= 180)).all()


@pytest.mark.parametrize("steps", [2, 20, 39, 40, 41, 55, 100, 200])
def test_no_short_window_is_left_out(steps):
    """Every k that the slider has where the gradient turns; beyond, as many as a figure needs."""
    windows = truncation(asked("gru", steps=steps), "window").windows.tolist()
    short = min(20, steps)
    assert windows[:short] == list(range(1, short + 1))


@pytest.mark.parametrize("kind", KINDS)
def test_a_linear_network_of_one_unit_by_hand(kind):
    """d = 1, x and targets drawn: the gradient is a number, so the angle is 0 or 180 degrees."""
    experiment = asked("linear", width=1, init="identity", gain=0.7)
    net, g = unroll(experiment), 0.7
    h, e = net.trace.hidden[:, 0], net.errors[:, 0]
    found = truncation(experiment, kind)

    def gradient(k: int) -> float:
        reach = (lambda tau: k) if kind == "window" else (lambda tau: (tau - 1) % k + 1)
        return sum(
            e[tau - 1] * g ** (tau - t) * h[t - 1]
            for tau in range(1, STEPS + 1)
            for t in range(max(1, tau - reach(tau) + 1), tau + 1)
        )

    for k in range(1, STEPS + 1):
        ratio = gradient(k) / gradient(STEPS)
        assert found.length[k - 1] == pytest.approx(abs(ratio), rel=1e-12)
        assert found.angle[k - 1] == pytest.approx(0 if ratio > 0 else 180, abs=ANGLE)


@pytest.mark.parametrize(("gain", "steps"), [(0.1, 250), (0.1, 90), (2.0, 500)])
def test_terms_of_orthogonal_networks_far_beyond_squares(gain, steps):
    """|term| = |e_tau| g^(tau-t) |h_{t-1}|: 1e-250 and 1e300, whose squares float64 has not."""
    experiment = Experiment("linear", steps, 4, "orthogonal", gain, loss="mean")
    net, found = unroll(experiment), terms(experiment, 5)
    stride = math.ceil(steps / 100)
    np.testing.assert_array_equal(found.steps, np.arange(steps, 0, -stride)[::-1])
    error = np.log10(np.linalg.norm(net.errors[found.steps - 1], axis=1))
    with np.errstate(divide="ignore"):
        before = np.log10(np.linalg.norm(net.trace.hidden[found.steps - 1], axis=1))
    lag = found.steps[:, None] - found.steps[None, :]
    expected = error[:, None] + lag * math.log10(gain) + before[None, :]
    np.testing.assert_allclose(
        found.log10, np.where(lag >= 0, expected, np.nan), rtol=0, atol=1e-10
    )


@pytest.mark.parametrize("cell", ["rnn", "lstm", "gru"])
def test_a_long_sequence_is_shown_in_strides(cell):
    """A hundred rows at most; each is what the pullback of that one error gives."""
    experiment = asked(cell, steps=230)
    net, found = unroll(experiment), terms(experiment, 10)
    np.testing.assert_array_equal(found.steps, np.arange(2, 231, 3))
    row = 70
    tau = int(found.steps[row])
    zero = np.zeros(WIDTH)
    carried = State(net.errors[tau - 1], zero if cell == "lstm" else None)
    for t in range(tau, 0, -1):
        pulled = net.cell.pullback(net.weights, at(net.slopes, t - 1), carried)
        carried = pulled.state
        if t in found.steps:
            side = pulled.hidden_side
            pre = np.concatenate(side) if isinstance(side, tuple) else side
            size = np.linalg.norm(pre) * np.linalg.norm(net.trace.hidden[t - 1])
            column = int(np.searchsorted(found.steps, t))
            assert found.log10[row, column] == pytest.approx(np.log10(size), abs=1e-12)
            assert found.kept[row, column] == (tau - t < 10)


@pairwise(loss=LOSSES, kind=KINDS, cell=["linear", "relu"])
def test_exploding_gradients_keep_their_angles(cell, kind, loss):
    """Gain 2, until the state leaves float64: gradients whose square is beyond it, no warning."""
    for init in ("orthogonal", "radius"):
        experiment = Experiment(cell, 700, 8, init, 2.0, loss=loss)
        found = truncation(experiment, kind)
        for part in (found.angle, found.length, found.kept):
            assert np.isfinite(part).all()
        assert found.angle[-1] < ANGLE
        assert not np.isposinf(terms(experiment, 5, kind).log10).any()
        assert np.isfinite(randomized(experiment, 0.2, 16).error).all()


@pytest.mark.parametrize("kind", KINDS)
def test_a_growing_orthogonal_network_in_closed_form(kind):
    """W = 2 I in one unit, 480 steps, last loss: every term has the size 2^(T-t) |h_{t-1}| |e|.

    A window of k keeps the sum of the last k; the ratio to the whole is exact in any scale.
    """
    experiment = Experiment("linear", 480, 1, "identity", 2.0)
    h = unroll(experiment).trace.hidden[:-1, 0] * 2.0 ** -np.arange(480.0)
    found = truncation(experiment, kind)
    for k, length in zip(found.windows, found.length, strict=True):
        kept = k if kind == "window" else (480 - 1) % k + 1
        assert length == pytest.approx(abs(h[480 - kept :].sum() / h.sum()), rel=1e-10)


# Cut by chance


def outcomes(experiment: Experiment, stop: float) -> tuple[np.ndarray, np.ndarray]:
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
        found = np.einsum("ab,abij->ij", np.tril(weight), each)
        probability.append(math.prod(1 - stop if g else stop for g in open_))
        distance.append(float(((found - full) ** 2).sum() / (full**2).sum()))
    return np.array(probability), np.array(distance)


@pytest.mark.parametrize("cell", ["rnn", "lstm", "gru"])
@pytest.mark.parametrize("loss", LOSSES)
def test_single_draws_are_outcomes(cell, loss):
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
def test_the_mean_of_many_draws_is_the_full_gradient(cell):
    """Unbiased: E |mean of n - full|^2 = V / n with the exact V, for every n, seed by seed.

    A bias b would leave b^2 for every n. 4 standard errors: |mean - full| < 4 sqrt(V / n). The
    average of n |.|^2 / V over 12 seeds is one, with a standard error below sqrt(2 / 12) for
    n large (a sum of squares of Gaussians varies at most as one square does).
    """
    experiment, stop, seeds = asked(cell), 0.25, 12
    probability, distance = outcomes(experiment, stop)
    V = float(probability @ distance)
    found = [randomized(experiment, stop, 4096, seed) for seed in range(seeds)]
    ratio = np.array([one.draws * one.error**2 / V for one in found])
    np.testing.assert_array_equal(found[0].draws, 2 ** np.arange(13))
    assert (ratio[:, -6:] < 16).all()
    assert (np.abs(ratio[:, -6:].mean(0) - 1) < 4 * math.sqrt(2 / seeds)).all()


def test_the_error_falls_like_one_over_the_root_of_n():
    """Slope of log |error| against log n, over 11 doublings and 16 seeds: -1/2.

    At one n the logarithm varies by about 0.5; 16 seeds over log n = 0 ... 7.6 leave 0.03.
    """
    found = [randomized(asked("rnn"), 0.2, 2048, seed) for seed in range(16)]
    logs = np.log(np.array([one.error for one in found])).mean(0)
    slope = np.polyfit(np.log(found[0].draws), logs, 1)[0]
    assert slope == pytest.approx(-0.5, abs=0.08)


@pytest.mark.parametrize(("stop", "window"), [(0.1, 9), (0.2, 5), (0.3, 3), (0.6, 2), (0.9, 1)])
def test_fixed_truncation_for_comparison(stop, window):
    """|truncated - full|^2 = 1 + l^2 - 2 l cos(angle) of `truncation` at round(1 / stop) steps."""
    course, found = truncation(asked("gru")), randomized(asked("gru"), stop, 2)
    assert found.window == window
    length, angle = course.length[window - 1], math.radians(course.angle[window - 1])
    expected = math.sqrt(max(0, 1 + length**2 - 2 * length * math.cos(angle)))
    assert found.fixed == pytest.approx(expected, abs=1e-7)  # the root of rounding at the full one
    gap = window_by_detach(asked("gru"), window) - window_by_detach(asked("gru"), STEPS)
    full = np.linalg.norm(window_by_detach(asked("gru"), STEPS))
    assert found.fixed == pytest.approx(float(np.linalg.norm(gap) / full), abs=1e-7)


def test_draws_depend_on_their_seed_alone():
    one, again, other = (randomized(asked("rnn"), 0.2, 64, seed) for seed in (1, 1, 2))
    np.testing.assert_array_equal(one.error, again.error)
    assert (one.error != other.error).any()
    assert one.fixed == other.fixed


# Refusals


@pytest.mark.parametrize("stop", [0.0, 1.0, -0.1, 1.5])
def test_a_probability_that_is_none_is_refused(stop):
    with pytest.raises(ValueError, match="must lie between 0 and 1"):
        randomized(asked("rnn"), stop)


def test_an_unknown_truncation_is_refused():
    with pytest.raises(ValueError, match="no truncation called 'blocks'"):
        truncation(asked("rnn"), "blocks")
    with pytest.raises(ValueError, match="no truncation called 'blocks'"):
        terms(asked("rnn"), 3, "blocks")


def test_a_gradient_that_is_zero_is_refused():
    """One step: h_0 = 0, so the recurrent weights have no gradient; it has no direction."""
    for call in (truncation, lambda e: randomized(e, 0.2, 4)):
        with pytest.raises(ValueError, match="The full gradient is zero"):
            call(replace(asked("rnn"), steps=1))
