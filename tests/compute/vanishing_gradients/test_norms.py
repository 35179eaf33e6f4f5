"""How far the error reaches: exact scaling laws, autograd, and 60 digits where float64 ends."""

from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest
import torch

from seqviz.compute.recurrent import RNN, RecurrentWeights, backward, run
from seqviz.compute.vanishing_gradients import (
    CELLS,
    FLOAT32,
    INITS,
    LOSSES,
    SIGNALS,
    GradientExperiment,
    log_norms,
    reach,
    unroll,
)
from seqviz.compute.vanishing_gradients.autograd import state_gradients, unrolled_states
from tests.tiers import pairwise

pytestmark = pytest.mark.filterwarnings("error")

SENTENCE = "The flights the airline was cancelling were full . Die Fl\u00fcge 都 满了"


def norms_of(experiment: GradientExperiment):
    net = unroll(experiment)
    return log_norms(net.cell, net.weights, net.trace, net.errors)


@pairwise(cell=CELLS, signal=SIGNALS, loss=LOSSES)
def test_log_norms_match_autograd(cell, signal, loss):
    experiment = GradientExperiment(cell, 12, 5, signal=signal, loss=loss, sentence=SENTENCE)
    net, expected = unroll(experiment), state_gradients(experiment)
    result = backward(net.cell, net.weights, net.trace, net.errors).hidden[1:]
    # A dozen products of 5 x 5 matrices with entries near one: rounding stays near 1e-14.
    np.testing.assert_allclose(result, expected, rtol=0, atol=1e-10 * np.abs(expected).max())
    norms = norms_of(experiment)
    with np.errstate(divide="ignore"):
        logs = np.log10(np.linalg.norm(expected, axis=1))
    np.testing.assert_allclose(norms.hidden, logs, rtol=0, atol=1e-10)
    _, memories, loss_there = unrolled_states(experiment)
    assert net.loss == pytest.approx(loss_there.item(), rel=1e-12)
    if cell == "lstm":
        through = torch.autograd.grad(loss_there, memories)
        logs = np.log10([float(g.norm()) for g in through])
        np.testing.assert_allclose(norms.cell_state, logs, rtol=0, atol=1e-10)
    else:
        assert norms.cell_state is None


# Where float64 ends


@pytest.mark.parametrize("init", ["orthogonal", "identity"])
@pytest.mark.parametrize("gain", [0.1, 2.0])
def test_log_norms_of_orthogonal_networks_follow_scaling_law(gain, init):
    """|dJ/dh_t| = g^(T-t) |dJ/dh_T|: down to 1e-499 and up to 1e300 (gain 2: 2^499 from 2^500).

    500 products and logarithms near 500 leave 500 * 2e-16 * few < 1e-11.
    """
    result = norms_of(GradientExperiment("linear", 500, 16, init, gain)).hidden
    back = np.arange(499, -1, -1)
    np.testing.assert_allclose(result - result[-1], back * math.log10(gain), rtol=0, atol=1e-10)
    assert abs(result[0] - result[-1]) > 150


def test_log_norms_of_non_normal_preset_grow_before_vanishing():
    """In closed form: (W^T)^k e for W^k = 0.5^k [[1, 20 k], [0, 1]] in every block of two."""
    experiment = GradientExperiment("linear", 120, 6, "non_normal")
    result, last = norms_of(experiment).hidden, unroll(experiment).errors[-1]
    k = np.arange(119, -1, -1.0)
    first, second = last[0::2], last[1::2]
    squares = (first**2).sum() + ((20 * k[:, None] * first + second) ** 2).sum(1)
    closed = 0.5 * np.log10(squares) + k * math.log10(0.5)
    np.testing.assert_allclose(result, closed, rtol=0, atol=1e-10)
    assert result.max() > result[-1] + 0.5 > result[0] + 20


def exact_log_norms(experiment: GradientExperiment) -> tuple[list[float], list[float]]:
    """log10 |dJ/dh_t| and log10 |dJ/dc_t| with 60 digits, from the pre-activations in float64.

    The equations of linear and tanh RNN and LSTM, differentiated by hand, written with mpmath.
    """
    net, m = unroll(experiment), mpmath
    trace, d = net.trace, experiment.width
    U = m.matrix(net.weights.hidden_hidden.tolist())
    hidden, memory = [], []

    def column(values):
        return m.matrix([m.mpf(float(v)) for v in values])

    def times(*parts):
        return m.matrix([m.fprod(entries) for entries in zip(*parts, strict=True)])

    def sig(a):
        return 1 / (1 + m.exp(-a))

    with m.workdps(60):
        dh, dc = m.zeros(d, 1), m.zeros(d, 1)
        for t in range(net.steps, 0, -1):
            dh = dh + column(net.errors[t - 1])
            hidden.append(float(m.log10(m.norm(dh))))
            a = trace.preactivation[t - 1]
            if experiment.cell == "linear":
                dh = U.T * dh
                continue
            if experiment.cell == "rnn":
                dh = U.T * times(dh, [m.sech(x) ** 2 for x in column(a)])
                continue
            i, f, g, o = (column(block) for block in a)
            before, c = column(trace.cell_state[t - 1]), column(trace.cell_state[t])
            o_ = [sig(x) for x in o]
            dc = dc + times(dh, o_, [m.sech(x) ** 2 for x in c])
            memory.append(float(m.log10(m.norm(dc))))
            slope = [[sig(x) * sig(-x) for x in gate] for gate in (i, f, o)]
            g_ = [m.tanh(x) for x in g]
            blocks = (
                times(dc, g_, slope[0]),
                times(dc, before, slope[1]),
                times(dc, [sig(x) for x in i], [m.sech(x) ** 2 for x in g]),
                times(dh, [m.tanh(x) for x in c], slope[2]),
            )
            dh = U.T * m.matrix([entry for block in blocks for entry in block])
            dc = times(dc, [sig(x) for x in f])
    return hidden[::-1], memory[::-1]


@pytest.mark.parametrize("init", ["orthogonal", "identity", "gaussian"])
@pytest.mark.parametrize("loss", LOSSES)
def test_log_norms_match_sixty_digits_above_float32(init, loss):
    """Errors of every step, from 1 to 1e120, join a gradient that is carried with a power of two.

    Two sums of rounded numbers: the mean's terms are all positive or cancel by a few digits.
    """
    experiment = GradientExperiment("linear", 400, 2, init, 2.0, loss=loss, seed=2)
    result = norms_of(experiment).hidden
    np.testing.assert_allclose(result, exact_log_norms(experiment)[0], rtol=0, atol=1e-9)
    assert result.max() > 200


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize(
    "asked",
    [
        GradientExperiment("rnn", 290, 3, gain=0.05),
        GradientExperiment("rnn", 130, 2, "identity", 6.0),  # saturated: slopes of 1e-5 and less
        GradientExperiment("lstm", 160, 2, forget_bias=-8.0, gain=0.01),
    ],
    ids=["small gain", "saturated", "forgetful"],
)
def test_log_norms_match_sixty_digits_below_float64(asked, loss):
    asked = GradientExperiment(**{**vars(asked), "loss": loss})
    hidden, memory = exact_log_norms(asked)
    result = norms_of(asked)
    # The same pre-activations; slopes are good to |2a| units in the last place, here under 50.
    np.testing.assert_allclose(result.hidden, hidden, rtol=0, atol=1e-9)
    if memory:
        np.testing.assert_allclose(result.cell_state, memory, rtol=0, atol=1e-9)
    if loss == "last":
        assert result.hidden[0] < -320  # float64 has zero there


def test_log_norms_of_dead_relu_are_minus_infinity():
    """A ReLU unit that is shut at step 3: nothing comes back to the steps before, -inf."""
    weights = RecurrentWeights(np.ones((1, 1)), np.ones((1, 1)), np.zeros(1), np.zeros(1))
    trace = run(RNN("relu"), weights, np.array([[1.0], [1.0], [-5.0], [1.0], [1.0]]))
    errors = np.zeros((5, 1))
    errors[-1] = 2
    result = log_norms(RNN("relu"), weights, trace, errors).hidden
    np.testing.assert_array_equal(np.isneginf(result), [True, True, False, False, False])
    np.testing.assert_allclose(result[2:], math.log10(2), rtol=1e-15)


@pairwise(cell=CELLS, signal=SIGNALS, loss=LOSSES)
def test_reach_does_not_overflow_at_slider_limits(cell, signal, loss):
    """500 steps, gains 0.1 and 2, biases -2; warnings are errors in this file.

    Two units: their readout is often longer than one, so that loss and error outgrow the state.
    """
    for init in INITS if cell in ("linear", "relu") else ("gaussian",):
        for gain in (0.1, 2.0):
            result = reach(
                GradientExperiment(cell, 500, 2, init, gain, -2.0, -2.0, signal, SENTENCE, loss)
            )
            assert np.isfinite(result.loss)
            assert (result.norms.hidden < np.inf).all()


@pytest.mark.parametrize("seed", range(1, 9))
def test_reach_has_finite_norms_after_float64_overflow(seed):
    """States near 1e154, whose loss or error would square to infinity, are already beyond."""
    result = reach(GradientExperiment("linear", 1200, 2, "orthogonal", 2.0, seed=seed))
    assert result.overflow is not None
    assert np.isfinite(result.loss)
    # The error is as large as the state, |h| near 1e150; then the scaling law as ever.
    back = np.arange(result.overflow - 2, -1, -1)
    np.testing.assert_allclose(
        result.norms.hidden - result.norms.hidden[-1], back * math.log10(2), rtol=0, atol=1e-10
    )


# The horizon, float32 and the spectrum


@pairwise(gain=[0.95, 0.9, 0.8, 0.7, 0.5, 0.3, 0.05], init=["orthogonal", "identity"], loss=LOSSES)
def test_reach_horizon_matches_closed_form(gain, init, loss):
    """The largest k with g^k >= 0.01, whatever the loss: it is about the last step's error."""
    result = reach(GradientExperiment("linear", 200, 8, init, gain, loss=loss))
    assert result.horizon == math.floor(math.log(0.01) / math.log(gain))
    for gain_that_forgets_nothing in (1.0, 1.2):
        result = reach(
            GradientExperiment("linear", 60, 8, init, gain_that_forgets_nothing, loss=loss)
        )
        assert result.horizon == 59


@pytest.mark.parametrize("init", ["orthogonal", "identity"])
@pytest.mark.parametrize("width", [2, 8, 32])
def test_reach_horizon_includes_threshold_itself(init, width):
    """0.1^2 is the threshold: the rounding of a random matrix does not decide."""
    result = {
        reach(GradientExperiment("linear", 9, width, init, 0.1, seed=s)).horizon for s in range(60)
    }
    assert result == {2}


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("cell", ["rnn", "lstm", "gru"])
def test_reach_horizon_matches_autograd_of_last_error(cell, loss):
    """On c for the LSTM, also where the mean loss is what the norms show."""
    experiment = GradientExperiment(cell, 60, 6, gain=0.9, loss=loss, seed=2)
    states, memories, last = unrolled_states(
        GradientExperiment(**{**vars(experiment), "loss": "last"})
    )
    search_index = [float(g.norm()) for g in torch.autograd.grad(last, memories or states)]
    first = next(t for t, norm in enumerate(search_index) if norm >= 0.01 * search_index[-1])
    result = reach(experiment)
    assert result.horizon == 59 - first
    assert 0 < result.horizon < 59


def test_reach_horizon_is_zero_without_last_error():
    """A softmax that is exactly right: huge linear states, and the correct token the largest."""
    text = SENTENCE * 8
    nets = (
        GradientExperiment(
            "linear", 80, 8, "orthogonal", 2.0, signal="sentence", sentence=text, seed=s
        )
        for s in range(40)
    )
    request = next(net for net in nets if not unroll(net).errors.any())
    result = reach(request)
    assert result.horizon == 0
    assert np.isneginf(result.norms.hidden).all()
    assert result.loss == 0


@pytest.mark.parametrize(
    "asked",
    [
        GradientExperiment("linear", 120, 8, "orthogonal", 0.1),
        GradientExperiment("linear", 200, 8, "orthogonal", 2.0),
        GradientExperiment("rnn", 150, 8, gain=0.2),
        GradientExperiment("lstm", 200, 8, gain=0.2, forget_bias=-2.0),
        GradientExperiment("gru", 200, 8, gain=0.2, update_bias=-2.0),
        GradientExperiment("rnn", 150, 8, gain=0.2, loss="mean"),
        GradientExperiment("rnn", 30, 8),
    ],
    ids=str,
)
def test_reach_left_float32_matches_conversion(asked):
    """Gradients in float64 hold all these; the first on the way back that float32 does not."""
    net = unroll(asked)
    full = backward(net.cell, net.weights, net.trace, net.errors)
    search_index = full.hidden if full.cell_state is None else full.cell_state
    largest = np.abs(search_index[1:]).max(1)  # the squares of 1e-200 and of 1e200 need room
    norms = largest * np.linalg.norm(search_index[1:] / largest[:, None], axis=1)
    with np.errstate(over="ignore"):
        there = norms.astype(np.float32)
    gone = [t for t in range(1, net.steps + 1) if there[t - 1] == 0 or np.isinf(there[t - 1])]
    assert reach(asked).left_float32 == (max(gone) if gone else None)
    assert bool(gone) == (asked.loss == "last" and asked.steps > 30)


def test_float32_limits_match_numpy():
    assert FLOAT32[0] == pytest.approx(38.53, abs=0.005)
    below, above = 10 ** (FLOAT32[1] - 1e-6), 10 ** (FLOAT32[1] + 1e-6)
    assert np.float32(below) == 0 < np.float32(above)
