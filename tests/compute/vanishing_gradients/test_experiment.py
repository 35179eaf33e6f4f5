"""The network under study: its matrices by their definitions, its signals, its loss, its limits."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
import torch

from seqviz.compute.vanishing_gradients import (
    CELLS,
    INITS,
    LOSSES,
    SIGNALS,
    GradientExperiment,
    recurrent_matrix,
    signal,
    spectrum,
    unroll,
)
from seqviz.compute.vanishing_gradients.experiment import network, split
from seqviz.core.errors import UserError
from tests.tiers import pairwise

pytestmark = pytest.mark.filterwarnings("error")

SENTENCE = "The flights the airline was cancelling were full ."


def asked(**settings) -> GradientExperiment:
    return GradientExperiment(**{"steps": 12, "width": 5, "sentence": SENTENCE, **settings})


# The recurrent matrix


@pytest.mark.parametrize("gain", [0.3, 1.0, 2.0])
@pytest.mark.parametrize("width", [1, 2, 33])
def test_recurrent_matrix_orthogonal_is_scaled_orthogonal(width, gain):
    w = recurrent_matrix("orthogonal", width, gain, 4)
    # QR by Householder reflections is orthogonal to a few units in the last place.
    np.testing.assert_allclose(w.T @ w, gain**2 * np.eye(width), rtol=0, atol=1e-14 * gain**2)


def test_recurrent_matrix_orthogonal_follows_haar_measure():
    """Haar measure: E tr Q = 0 and E tr(Q)^2 = 1; without the signs of R the trace is biased."""
    traces = np.array([np.trace(recurrent_matrix("orthogonal", 8, 1.0, s)) for s in range(400)])
    assert abs(traces.mean()) < 4 / math.sqrt(400)
    assert abs((traces**2).mean() - 1) < 4 * math.sqrt(2 / 400)


@pytest.mark.parametrize("width", [1, 2, 5, 32])
@pytest.mark.parametrize("gain", [0.1, 0.9, 2.0])
def test_spectrum_radius_is_exact(width, gain):
    result = spectrum("radius", width, gain, 3)
    # Eigenvalues of a Gaussian matrix: condition near 10, so 1e-13 of them.
    assert result.radius == pytest.approx(gain, rel=1e-12)
    assert np.abs(result.eigenvalues).max() == result.radius <= result.sigma_max * (1 + 1e-12)


def test_recurrent_matrix_gaussian_has_expected_moments():
    """d^2 independent N(0, g^2/d): mean and variance within four standard errors."""
    d, gain = 400, 1.5
    w = recurrent_matrix("gaussian", d, gain, 1) * math.sqrt(d) / gain
    assert abs(w.mean()) < 4 / d
    assert abs(w.var() - 1) < 4 * math.sqrt(2) / d
    assert abs((w**4).mean() - 3) < 4 * math.sqrt(96) / d  # Var z^4 = 105 - 9
    # Circular law: the radius is near the gain; fluctuations at d = 400 are a few percent.
    assert spectrum("gaussian", d, gain, 1).radius == pytest.approx(gain, rel=0.1)


def test_recurrent_matrix_presets_match_definitions():
    """D-14 of the map of the texts: 2-norm 10.02, spectral radius 0.5, whatever the gain.

    An odd width leaves the last unit of the preset alone.
    """
    np.testing.assert_array_equal(recurrent_matrix("identity", 4, 0.7, 9), 0.7 * np.eye(4))
    expected = 0.5 * np.eye(5)
    expected[0, 1] = expected[2, 3] = 10
    np.testing.assert_array_equal(recurrent_matrix("non_normal", 5, 1.0, 1), expected)
    result = spectrum("non_normal", 6, 1.7, 1)
    assert round(result.sigma_max, 2) == 10.02
    assert result.sigma_max == pytest.approx((10 + math.sqrt(101)) / 2, rel=1e-14)
    np.testing.assert_array_equal([*result.eigenvalues, result.radius], 0.5)


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"cell": "mlp"}, "no cell called 'mlp'"),
        ({"signal": "noise"}, "no signal called 'noise'"),
        ({"loss": "sum"}, "no loss called 'sum'"),
        ({"init": "uniform"}, "no initialization called 'uniform'"),
    ],
)
def test_unroll_rejects_unknown_names(wrong, words):
    with pytest.raises(ValueError, match=words):
        unroll(asked(**wrong))


# One network


@pytest.mark.parametrize("init", INITS)
def test_unroll_shares_content_readout_and_inputs_across_cells(init):
    shared = recurrent_matrix(init, 5, 0.8, 6)
    nets = {cell: unroll(asked(cell=cell, init=init, gain=0.8, seed=6)) for cell in CELLS}
    for cell, net in nets.items():
        k = 2 if cell in ("lstm", "gru") else 0
        np.testing.assert_array_equal(net.weights.block(k), shared)
        for part, of_rnn in (
            (net.weights.input_hidden[5 * k : 5 * (k + 1)], nets["rnn"].weights.input_hidden),
            (net.readout, nets["rnn"].readout),
            (net.signal.inputs, nets["rnn"].signal.inputs),
        ):
            np.testing.assert_array_equal(part, of_rnn)


@pytest.mark.parametrize(
    ("cell", "given", "blocks"),
    [
        ("lstm", {"forget_bias": 2.5, "update_bias": -1.5}, [0, 2.5, 0, 0]),
        ("gru", {"forget_bias": 2.5, "update_bias": -1.5}, [0, -1.5, 0]),
        ("lstm", {}, [0, 1, 0, 0]),
        ("gru", {}, [0, 0, 0]),
        ("rnn", {"forget_bias": 2.5, "update_bias": -1.5}, [0]),
    ],
)
def test_network_biases_are_zero_except_gate_settings(cell, given, blocks):
    _, weights, _ = network(asked(cell=cell, **given), 1, 1)
    np.testing.assert_array_equal(weights.input_bias, np.repeat(blocks, 5))
    np.testing.assert_array_equal(weights.hidden_bias, 0)


@pytest.mark.parametrize("cell", ["lstm", "gru"])
def test_network_gates_keep_torch_uniform_weights(cell):
    """U(-1/sqrt(d), 1/sqrt(d)): bounds, and a variance of 1/(3 d) within four standard errors."""
    d = 48
    _, weights, _ = network(GradientExperiment(cell, width=d), 1, 1)
    gates = np.concatenate([weights.block(k) for k in (0, 1, 3)[: 3 if cell == "lstm" else 2]])
    assert 0.999 / math.sqrt(d) < np.abs(gates).max() <= 1 / math.sqrt(d)
    assert abs(3 * d * gates.var() - 1) < 4 * math.sqrt(0.8 / gates.size)  # kurtosis 1.8


def test_network_input_and_readout_weights_have_expected_variance():
    d = 1000
    _, weights, readout = network(GradientExperiment("rnn", width=d, init="identity"), 16, 3)
    assert abs(16 * weights.input_hidden.var() - 1) < 4 * math.sqrt(2 / (16 * d))
    assert abs(d * readout.var() - 1) < 4 * math.sqrt(2 / (3 * d))


@pytest.mark.parametrize("cell", CELLS)
def test_unroll_weights_depend_only_on_seed(cell):
    """Weights, whatever numpy's global generator, signal, loss and length are."""
    np.random.seed(1)
    unrolled = unroll(asked(cell=cell, seed=3))
    np.random.seed(2)
    state = np.random.get_state()[1].copy()
    again = unroll(asked(cell=cell, seed=3, signal="ar", loss="mean", steps=7))
    other = unroll(asked(cell=cell, seed=4))
    np.testing.assert_array_equal(np.random.get_state()[1], state)
    for name in ("input_hidden", "hidden_hidden", "input_bias"):
        np.testing.assert_array_equal(getattr(unrolled.weights, name), getattr(again.weights, name))
    np.testing.assert_array_equal(unrolled.readout, again.readout)
    assert unroll(asked(cell=cell, seed=3)).loss == unrolled.loss
    for name in ("input_hidden", "hidden_hidden"):
        assert np.abs(getattr(unrolled.weights, name) - getattr(other.weights, name)).max() > 0.1
    assert np.abs(unrolled.readout - other.readout).max() > 0.1
    assert (unrolled.signal.inputs != other.signal.inputs).all()


# Signals


def test_signal_random_is_gaussian():
    result = signal(asked(signal="random", steps=4000))
    for part in (result.inputs, result.targets):
        assert part.shape == (4000, 1)
        assert abs(part.mean()) < 4 / math.sqrt(4000)
        assert abs(part.var() - 1) < 4 * math.sqrt(2 / 4000)
    assert abs(np.corrcoef(result.inputs[:, 0], result.targets[:, 0])[0, 1]) < 4 / math.sqrt(4000)


@pytest.mark.parametrize("steps", [2, 3, 10, 501])
def test_signal_adding_targets_sum_of_marked_values(steps):
    """Two marks, one in each half; the answer at every step is the sum of those seen so far."""
    for seed in range(20):
        result = signal(asked(signal="adding", steps=steps, seed=seed))
        values, marks = result.inputs.T
        first, second = np.flatnonzero(marks)
        assert first < steps // 2 <= second
        np.testing.assert_array_equal(marks[[first, second]], 1)
        assert ((values >= 0) & (values < 1)).all()
        np.testing.assert_array_equal(result.targets[:, 0], np.cumsum(marks * values))


def test_signal_ar_targets_next_value():
    result = signal(asked(signal="ar", steps=2000))
    np.testing.assert_array_equal(result.inputs[1:], result.targets[:-1])
    noise = (result.targets - 0.8 * result.inputs)[:, 0]
    assert abs(noise.var() - 1) < 4 * math.sqrt(2 / 2000)
    assert abs(np.corrcoef(noise[1:], noise[:-1])[0, 1]) < 4 / math.sqrt(2000)


@pytest.mark.parametrize(
    ("text", "steps", "symbols"), [(SENTENCE, 50, 9), (SENTENCE, 3, 4), ("a b a c a b .", 50, 4)]
)
def test_signal_sentence_targets_next_token(text, steps, symbols):
    """Cut at the steps; "The" and "the" are two; the same token is the same vector."""
    result, words = signal(asked(signal="sentence", sentence=text, steps=steps)), text.split()
    existing = list(dict.fromkeys(words))
    assert result.labels == tuple(words[: min(steps, len(words) - 1)])
    assert [existing[i] for i in result.targets] == words[1 : steps + 1]
    assert result.inputs.shape == (len(result.labels), 16)
    assert result.outputs == symbols
    rows = {label: result.inputs[k] for k, label in enumerate(result.labels)}
    np.testing.assert_array_equal(result.inputs, [rows[label] for label in result.labels])
    assert len(np.unique(result.inputs, axis=0)) == len(rows)


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("  two\twords \n", ["two", "words"]),
        ("循环神经网络", list("循环神经网络")),
        ("用GRU和LSTM", ["用", "GRU", "和", "LSTM"]),
        ("今天，很好。", ["今", "天", "，", "很", "好", "。"]),
        ("ひらがなカナ", list("ひらがなカナ")),
        ("ab\uf900cd", ["ab", "\uf900", "cd"]),  # a compatibility ideograph
        ("don't stop", ["don't", "stop"]),
        ("", []),
    ],
)
def test_split_matches_expected_tokens(text, tokens):
    assert split(text) == tokens


@pytest.mark.parametrize("text", ["", "   ", "one", "two words", "两字"])
def test_unroll_rejects_short_sentence(text):
    with pytest.raises(UserError, match="at least three words") as refusal:
        unroll(asked(signal="sentence", sentence=text))
    assert refusal.value.code == "short_sentence"
    assert unroll(asked(signal="sentence", sentence="三个字")).steps == 2  # the shortest


# The loss


@pairwise(cell=CELLS, kind=SIGNALS, loss=LOSSES)
def test_unroll_loss_and_errors_match_torch(cell, kind, loss):
    """J from the states alone, and dJ/dh_t directly from each output: the states are leaves."""
    net = unroll(asked(cell=cell, signal=kind, loss=loss))
    states = torch.tensor(net.trace.hidden[1:], requires_grad=True)
    answers = states @ torch.tensor(net.readout).T
    answers.retain_grad()
    targets = torch.tensor(net.signal.targets)
    if kind == "sentence":
        each = torch.nn.functional.cross_entropy(answers, targets, reduction="none")
    else:
        each = torch.nn.functional.mse_loss(answers, targets, reduction="none").sum(1)
    result = each[-1] if loss == "last" else each.mean()
    result.backward()
    # A sum of at most 12 terms near one.
    assert net.loss == pytest.approx(result.item(), rel=1e-13)
    np.testing.assert_allclose(net.errors, states.grad.numpy(), rtol=0, atol=1e-14)
    np.testing.assert_allclose(net.residuals, answers.grad.numpy(), rtol=0, atol=1e-14)


# Beyond float64


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize(("init", "width"), [("orthogonal", 2), ("identity", 8), ("radius", 3)])
def test_unroll_reports_overflow_and_truncates_sequence(init, width, loss):
    """Gain 2 for 1200 steps is 2^1200; what is left is finite, squares included."""
    asked_ = GradientExperiment("linear", 1200, width, init, 2.0, loss=loss)
    net = unroll(asked_)
    assert net.overflow == net.steps + 1
    assert 450 < net.overflow < 560  # sqrt(2^1024), and the size of readout and input
    assert len(net.signal.inputs) == len(net.signal.targets) == len(net.trace.hidden) - 1
    for part in (net.trace.hidden, net.errors, net.residuals):
        assert np.isfinite((part**2).sum())
    assert np.isfinite(net.loss)
    # By hand, in logarithms: the next state, or its error, squares beyond 2^1024.
    h = net.trace.hidden[-1] / np.abs(net.trace.hidden[-1]).max()
    size = np.log2(np.abs(net.trace.hidden[-1]).max())
    following = size + np.log2(np.linalg.norm(net.weights.hidden_hidden @ h))
    assert 2 * (following + np.log2(max(1, 2 * np.linalg.norm(net.readout) ** 2))) >= 1024 - 1e-9
    shorter = unroll(replace(asked_, steps=net.steps))
    assert shorter.overflow is None
    np.testing.assert_array_equal(shorter.trace.hidden, net.trace.hidden)


def test_unroll_overflow_keeps_labels_aligned_with_targets():
    text = " ".join(str(k) for k in range(900))
    net = unroll(
        GradientExperiment("linear", 900, 4, "identity", 4.0, signal="sentence", sentence=text)
    )
    assert net.overflow is not None
    assert len(net.signal.labels) == len(net.signal.targets) == net.steps == net.overflow - 1
    assert net.signal.labels[-1] == str(net.steps - 1)


def test_unroll_of_ordinary_network_does_not_overflow():
    for cell in CELLS:
        assert unroll(asked(cell=cell, steps=200)).overflow is None
    assert unroll(GradientExperiment("rnn", 500, 8, gain=50.0)).overflow is None  # tanh bounds it


def test_unroll_rejects_overflow_within_two_steps():
    with pytest.raises(
        UserError, match="leaves float64 at step 2: choose a smaller gain"
    ) as refusal:
        unroll(GradientExperiment("linear", 10, 4, "identity", 1e160))
    assert (refusal.value.code, refusal.value.details) == ("overflow_at_once", {"step": 2})
