"""The network under study: its matrices by their definitions, its signals, its loss, its limits."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
import torch

from seqviz.compute.bptt import (
    CELLS,
    INITS,
    LOSSES,
    SIGNALS,
    Experiment,
    recurrent_matrix,
    signal,
    spectrum,
    unroll,
)
from seqviz.compute.bptt.experiment import network, split
from seqviz.refusal import Refusal

pytestmark = pytest.mark.filterwarnings("error")

SENTENCE = "The flights the airline was cancelling were full ."
CONTENT = {"linear": 0, "rnn": 0, "relu": 0, "lstm": 2, "gru": 2}


def asked(**settings) -> Experiment:
    return Experiment(**{"steps": 12, "width": 5, "sentence": SENTENCE, **settings})


# The recurrent matrix


@pytest.mark.parametrize("gain", [0.3, 1.0, 2.0])
@pytest.mark.parametrize("width", [1, 2, 33])
def test_orthogonal(width, gain):
    w = recurrent_matrix("orthogonal", width, gain, 4)
    # QR by Householder reflections is orthogonal to a few units in the last place.
    np.testing.assert_allclose(w.T @ w, gain**2 * np.eye(width), rtol=0, atol=1e-14 * gain**2)


def test_orthogonal_is_drawn_uniformly():
    """Haar measure: E tr Q = 0 and E tr(Q)^2 = 1; without the signs of R the trace is biased."""
    traces = np.array([np.trace(recurrent_matrix("orthogonal", 8, 1.0, s)) for s in range(400)])
    assert abs(traces.mean()) < 4 / math.sqrt(400)
    assert abs((traces**2).mean() - 1) < 4 * math.sqrt(2 / 400)


@pytest.mark.parametrize("width", [1, 2, 5, 32])
@pytest.mark.parametrize("gain", [0.1, 0.9, 2.0])
def test_radius_is_exact(width, gain):
    found = spectrum("radius", width, gain, 3)
    # Eigenvalues of a Gaussian matrix: condition near 10, so 1e-13 of them.
    assert found.radius == pytest.approx(gain, rel=1e-12)
    assert np.abs(found.eigenvalues).max() == found.radius <= found.sigma_max * (1 + 1e-12)


def test_gaussian_moments():
    """d^2 independent N(0, g^2/d): mean and variance within four standard errors."""
    d, gain = 400, 1.5
    w = recurrent_matrix("gaussian", d, gain, 1) * math.sqrt(d) / gain
    assert abs(w.mean()) < 4 / d
    assert abs(w.var() - 1) < 4 * math.sqrt(2) / d
    assert abs((w**4).mean() - 3) < 4 * math.sqrt(96) / d  # Var z^4 = 105 - 9
    # Circular law: the radius is near the gain; fluctuations at d = 400 are a few percent.
    assert spectrum("gaussian", d, gain, 1).radius == pytest.approx(gain, rel=0.1)


def test_gain_scales_the_same_draw():
    for init in ("gaussian", "orthogonal", "identity", "radius"):
        one, other = (recurrent_matrix(init, 6, gain, 2) for gain in (1.0, 0.25))
        np.testing.assert_allclose(other, 0.25 * one, rtol=1e-15)


def test_identity():
    np.testing.assert_array_equal(recurrent_matrix("identity", 4, 0.7, 9), 0.7 * np.eye(4))


def test_non_normal_preset():
    """D-14 of the map of the texts: 2-norm 10.02, spectral radius 0.5, whatever the gain."""
    found = spectrum("non_normal", 6, 1.7, 1)
    assert round(found.sigma_max, 2) == 10.02
    assert found.sigma_max == pytest.approx((10 + math.sqrt(101)) / 2, rel=1e-14)
    np.testing.assert_array_equal(found.eigenvalues, 0.5)
    assert found.radius == 0.5
    w = recurrent_matrix("non_normal", 2, 1.0, 1)
    np.testing.assert_array_equal(w, [[0.5, 10], [0, 0.5]])


def test_powers_of_the_non_normal_preset_vanish_after_a_transient():
    """W^k = 0.5^k [[1, 20 k], [0, 1]]: above one up to k = 7, then to zero."""
    w = recurrent_matrix("non_normal", 4, 1.0, 1)
    norms = [np.linalg.norm(np.linalg.matrix_power(w, k), 2) for k in range(61)]
    closed = [0.5**k * (10 * k + math.sqrt((10 * k) ** 2 + 1)) for k in range(61)]
    np.testing.assert_allclose(norms, closed, rtol=1e-13)
    assert min(norms[1:8]) > 1 > max(norms[8:])
    assert norms[-1] < 1e-14


def test_an_odd_width_leaves_the_last_unit_of_the_preset_alone():
    w = recurrent_matrix("non_normal", 5, 1.0, 1)
    np.testing.assert_array_equal(w[4], [0, 0, 0, 0, 0.5])
    assert np.count_nonzero(w) == 5 + 2


def test_unknown_names_are_refused():
    with pytest.raises(ValueError, match="no initialization called 'uniform'"):
        recurrent_matrix("uniform", 3, 1.0, 1)
    for wrong, words in (
        ({"cell": "mlp"}, "no cell called 'mlp'"),
        ({"signal": "noise"}, "no signal called 'noise'"),
        ({"loss": "sum"}, "no loss called 'sum'"),
        ({"init": "uniform"}, "no initialization called 'uniform'"),
    ):
        with pytest.raises(ValueError, match=words):
            unroll(asked(**wrong))


# One network


@pytest.mark.parametrize("init", INITS)
def test_cells_with_one_seed_share_content_readout_and_inputs(init):
    shared = recurrent_matrix(init, 5, 0.8, 6)
    nets = {cell: unroll(asked(cell=cell, init=init, gain=0.8, seed=6)) for cell in CELLS}
    for cell, net in nets.items():
        k = CONTENT[cell]
        np.testing.assert_array_equal(net.weights.block(k), shared)
        np.testing.assert_array_equal(
            net.weights.input_hidden[5 * k : 5 * (k + 1)], nets["rnn"].weights.input_hidden
        )
        np.testing.assert_array_equal(net.readout, nets["rnn"].readout)
        np.testing.assert_array_equal(net.signal.inputs, nets["rnn"].signal.inputs)


@pytest.mark.parametrize(("cell", "block", "name"), [("lstm", 1, "forget"), ("gru", 1, "update")])
def test_biases_are_zero_but_for_the_student_s(cell, block, name):
    _, weights, _ = network(asked(cell=cell, forget_bias=2.5, update_bias=-1.5), 1, 1)
    expected = np.zeros((4 if cell == "lstm" else 3, 5))
    expected[block] = 2.5 if cell == "lstm" else -1.5
    np.testing.assert_array_equal(weights.input_bias, expected.ravel())
    np.testing.assert_array_equal(weights.hidden_bias, 0)
    plain = network(asked(cell=cell), 1, 1)[1].input_bias[5:10]
    np.testing.assert_array_equal(plain, 1.0 if cell == "lstm" else 0.0)


@pytest.mark.parametrize("cell", ["lstm", "gru"])
def test_gates_keep_pytorch_s_uniform_weights(cell):
    """U(-1/sqrt(d), 1/sqrt(d)): bounds, and a variance of 1/(3 d) within four standard errors."""
    d = 48
    _, weights, _ = network(Experiment(cell, width=d), 1, 1)
    gates = np.concatenate([weights.block(k) for k in (0, 1, 3)[: 3 if cell == "lstm" else 2]])
    assert 0.999 / math.sqrt(d) < np.abs(gates).max() <= 1 / math.sqrt(d)
    assert abs(3 * d * gates.var() - 1) < 4 * math.sqrt(0.8 / gates.size)  # kurtosis 1.8


def test_content_inputs_and_readout_have_their_variances():
    d = 1000
    _, weights, readout = network(Experiment("rnn", width=d, init="identity"), 16, 3)
    assert abs(16 * weights.input_hidden.var() - 1) < 4 * math.sqrt(2 / (16 * d))
    assert abs(d * readout.var() - 1) < 4 * math.sqrt(2 / (3 * d))


@pytest.mark.parametrize("cell", CELLS)
def test_seeds_decide_and_nothing_else(cell):
    """The same on every call, whatever numpy's global generator does, which is left alone."""
    np.random.seed(1)
    one = unroll(asked(cell=cell, seed=3))
    np.random.seed(2)
    state = np.random.get_state()[1].copy()
    again, other = unroll(asked(cell=cell, seed=3)), unroll(asked(cell=cell, seed=4))
    np.testing.assert_array_equal(np.random.get_state()[1], state)
    for name in ("input_hidden", "hidden_hidden", "input_bias"):
        np.testing.assert_array_equal(getattr(one.weights, name), getattr(again.weights, name))
    np.testing.assert_array_equal(one.trace.hidden, again.trace.hidden)
    np.testing.assert_array_equal(one.errors, again.errors)
    assert one.loss == again.loss != other.loss
    for name in ("input_hidden", "hidden_hidden"):
        assert np.abs(getattr(one.weights, name) - getattr(other.weights, name)).max() > 0.1
    assert np.abs(one.readout - other.readout).max() > 0.1
    assert (one.signal.inputs != other.signal.inputs).all()


def test_weights_depend_on_neither_signal_nor_loss_nor_length():
    one = unroll(asked(signal="random", loss="last", steps=12))
    other = unroll(asked(signal="ar", loss="mean", steps=7))
    for name in ("input_hidden", "hidden_hidden"):
        np.testing.assert_array_equal(getattr(one.weights, name), getattr(other.weights, name))


# Signals


def test_random_signal_is_gaussian():
    found = signal(asked(signal="random", steps=4000))
    for part in (found.inputs, found.targets):
        assert part.shape == (4000, 1)
        assert abs(part.mean()) < 4 / math.sqrt(4000)
        assert abs(part.var() - 1) < 4 * math.sqrt(2 / 4000)
    assert abs(np.corrcoef(found.inputs[:, 0], found.targets[:, 0])[0, 1]) < 4 / math.sqrt(4000)


@pytest.mark.parametrize("steps", [2, 3, 10, 501])
def test_adding_problem(steps):
    """Two marks, one in each half; the answer at every step is the sum of those seen so far."""
    for seed in range(20):
        values, marks = signal(asked(signal="adding", steps=steps, seed=seed)).inputs.T
        targets = signal(asked(signal="adding", steps=steps, seed=seed)).targets[:, 0]
        first, second = np.flatnonzero(marks)
        assert first < steps // 2 <= second
        np.testing.assert_array_equal(marks[[first, second]], 1)
        assert ((values >= 0) & (values < 1)).all()
        assert targets[-1] == values[first] + values[second]
        np.testing.assert_array_equal(targets[:first], 0)
        np.testing.assert_array_equal(targets[first:second], values[first])


def test_ar_signal_asks_for_the_next_value():
    found = signal(asked(signal="ar", steps=2000))
    np.testing.assert_array_equal(found.inputs[1:], found.targets[:-1])
    noise = (found.targets - 0.8 * found.inputs)[:, 0]
    assert abs(noise.var() - 1) < 4 * math.sqrt(2 / 2000)
    assert abs(np.corrcoef(noise[1:], noise[:-1])[0, 1]) < 4 / math.sqrt(2000)


def test_sentence_signal_asks_for_the_next_token():
    found = signal(asked(signal="sentence", steps=50))
    words = SENTENCE.split()
    assert found.labels == tuple(words[:-1])
    known = list(dict.fromkeys(words))
    assert [known[i] for i in found.targets] == words[1:]
    assert found.inputs.shape == (8, 16)
    assert found.outputs == len(known) == 9  # "The" and "the" are two


def test_the_same_token_is_the_same_vector():
    found = signal(asked(signal="sentence", sentence="a b a c a b ."))
    rows = {label: found.inputs[k] for k, label in enumerate(found.labels)}
    for k, label in enumerate(found.labels):
        np.testing.assert_array_equal(found.inputs[k], rows[label])
    assert len(np.unique(found.inputs, axis=0)) == 3


def test_a_long_sentence_is_cut_at_the_steps():
    found = signal(asked(signal="sentence", steps=3))
    assert found.labels == ("The", "flights", "the")
    assert len(found.targets) == 3


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
def test_tokens(text, tokens):
    assert split(text) == tokens


@pytest.mark.parametrize("text", ["", "   ", "one", "two words", "两字"])
def test_a_short_sentence_is_refused(text):
    with pytest.raises(Refusal, match="at least three words") as refusal:
        unroll(asked(signal="sentence", sentence=text))
    assert refusal.value.code == "short_sentence"


def test_three_chinese_characters_are_enough():
    assert unroll(asked(signal="sentence", sentence="三个字")).steps == 2


# The loss


@pytest.mark.parametrize("cell", CELLS)
@pytest.mark.parametrize("kind", SIGNALS)
def test_loss_and_its_first_derivative_by_torch(cell, kind):
    """J from the states alone, and dJ/dh_t directly from each output: the states are leaves."""
    for loss in LOSSES:
        net = unroll(asked(cell=cell, signal=kind, loss=loss))
        states = torch.tensor(net.trace.hidden[1:], requires_grad=True)
        answers = states @ torch.tensor(net.readout).T
        answers.retain_grad()
        targets = torch.tensor(net.signal.targets)
        if kind == "sentence":
            each = torch.nn.functional.cross_entropy(answers, targets, reduction="none")
        else:
            each = torch.nn.functional.mse_loss(answers, targets, reduction="none").sum(1)
        found = each[-1] if loss == "last" else each.mean()
        found.backward()
        # A sum of at most 12 terms near one.
        assert net.loss == pytest.approx(found.item(), rel=1e-13)
        np.testing.assert_allclose(net.errors, states.grad.numpy(), rtol=0, atol=1e-14)
        np.testing.assert_allclose(net.residuals, answers.grad.numpy(), rtol=0, atol=1e-14)


@pytest.mark.parametrize("kind", SIGNALS)
def test_mean_and_last(kind):
    """The last step's own error is T times smaller in the mean; "last" has no other."""
    last, mean = (unroll(asked(signal=kind, loss=loss)) for loss in ("last", "mean"))
    np.testing.assert_allclose(last.errors[-1], last.steps * mean.errors[-1], rtol=1e-14)
    np.testing.assert_array_equal(last.errors[:-1], 0)
    assert (np.abs(mean.errors[:-1]).sum(1) > 0).all()
    np.testing.assert_array_equal(last.trace.hidden, mean.trace.hidden)


# Beyond float64


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize(("init", "width"), [("orthogonal", 2), ("identity", 8), ("radius", 3)])
def test_overflow_is_named_and_ends_the_sequence(init, width, loss):
    """Gain 2 for 1200 steps is 2^1200; what is left is finite, squares included."""
    asked_ = Experiment("linear", 1200, width, init, 2.0, loss=loss)
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


def test_overflow_keeps_labels_and_tokens_together():
    text = " ".join(str(k) for k in range(900))
    net = unroll(Experiment("linear", 900, 4, "identity", 4.0, signal="sentence", sentence=text))
    assert net.overflow is not None
    assert len(net.signal.labels) == len(net.signal.targets) == net.steps == net.overflow - 1
    assert net.signal.labels[-1] == str(net.steps - 1)


def test_an_ordinary_network_does_not_overflow():
    for cell in CELLS:
        assert unroll(asked(cell=cell, steps=200)).overflow is None
    assert unroll(Experiment("rnn", 500, 8, gain=50.0)).overflow is None  # tanh bounds it


def test_overflow_within_two_steps_is_refused():
    with pytest.raises(Refusal, match="leaves float64 at step 2: choose a smaller gain") as refusal:
        unroll(Experiment("linear", 10, 4, "identity", 1e160))
    assert refusal.value.code == "overflow_at_once"
    assert refusal.value.details == {"step": 2}
