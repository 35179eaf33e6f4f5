"""Gates that are held in the bundled networks; other equations; longer sequences."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from seqviz.compute.gates import tasks, tiny
from seqviz.compute.gates.conventions import VARIANTS
from seqviz.compute.gates.forcing import Clamp
from seqviz.compute.gates.observation import compare, observe
from seqviz.compute.recurrent import LSTM, run
from seqviz.models import checkpoints
from tests.compute.gates.test_observation import TEXTS, exact

CELLS = pytest.mark.parametrize("cell", ["lstm", "gru"])


CLAMPS = (Clamp("", 0.2), Clamp("", 0.9, unit=2, first=5, last=7))


@CELLS
@pytest.mark.parametrize("kind", ["sentiment", "characters"])
def test_clamp_sets_value_at_its_steps(kind, cell):
    """The END that a character model reads before the text is in no clamp."""
    network, gate = exact(f"{kind}_{cell}"), {"lstm": "o", "gru": "r"}[cell]
    clamps = tuple(replace(clamp, gate=gate) for clamp in CLAMPS)
    observation = observe(network, TEXTS[kind], gate, clamps=clamps)
    expected = np.full_like(observation.values, 0.2)
    expected[4:7, 1] = 0.9
    np.testing.assert_array_equal(observation.values, expected)
    free = observe(network, TEXTS[kind], gate)
    for part in ("hidden", "cell_state") if cell == "lstm" else ("hidden",):
        before, after = getattr(observation.trace, part), getattr(free.trace, part)
        np.testing.assert_array_equal(before[0], after[0])
        # What the values do to the states: tests/compute/recurrent/test_gradients.py.
        assert np.abs(before[2:] - after[2:]).max(axis=1).min() > 1e-3


@pytest.mark.parametrize("kind", ["sentiment", "characters", "count"])
def test_clamp_of_i_and_f_to_zero_empties_cell(kind):
    """c = 0 and h = o tanh 0 = 0: the answer is the softmax of the biases."""
    network = exact(f"{kind}_lstm")
    observation = observe(network, TEXTS[kind], "c", clamps=(Clamp("i", 0.0), Clamp("f", 0.0)))
    assert not observation.values.any()
    assert not observation.trace.hidden[1:].any()
    assert set(observation.answer) == {network.head_bias.argmax()}


def test_clamp_of_f_to_one_matches_1997_lstm():
    """Another way through the kernel: the cell that has no forget gate."""
    network = exact("sentiment_lstm")
    observation = observe(network, TEXTS["sentiment"], "c", clamps=(Clamp("f", 1.0),))
    old = run(LSTM(forget="one"), network.weights, network.embedding[network.encode(
        TEXTS["sentiment"]
    ).ids])  # fmt: skip
    np.testing.assert_array_equal(observation.values, old.cell_state[1:])
    increments = observation.trace.input_gate * observation.trace.candidate
    np.testing.assert_allclose(
        observation.values, np.cumsum(increments, axis=0), rtol=1e-12, atol=1e-13
    )
    assert np.isinf(observation.time_constants).all()


@pytest.mark.parametrize("kind", ["sentiment", "characters", "parity"])
def test_clamp_of_z_to_one_keeps_initial_state(kind):
    network = exact(f"{kind}_gru")
    observation = observe(network, TEXTS[kind], "h", clamps=(Clamp("z", 1.0),))
    np.testing.assert_array_equal(
        observation.values, np.broadcast_to(observation.trace.hidden[0], observation.values.shape)
    )
    assert observation.trace.hidden[0].any() == (kind == "characters")  # which has read an END


@CELLS
def test_clamp_outside_text_is_noop_and_bad_clamp_raises(cell):
    network = exact(f"sentiment_{cell}")
    gate, other = ("f", "z") if cell == "lstm" else ("z", "f")
    free = observe(network, "not good")
    for clamp in (Clamp(gate, 0.0, first=3), Clamp(gate, 0.0, first=3, last=900)):
        np.testing.assert_array_equal(
            observe(network, "not good", clamps=(clamp,)).values, free.values
        )
    for clamp, message in (
        (Clamp(other, 0.5), f"no gate {other}"),
        (Clamp(gate, 1.5), "forced to a value in"),
    ):
        with pytest.raises(ValueError, match=message):
            observe(network, "not good", clamps=(clamp,))


@CELLS
def test_clamp_leaves_bundled_network_unchanged(cell):
    """In the float32 of the files."""
    network = checkpoints.load(f"characters_{cell}")
    before = {name: array.tobytes() for name, array in checkpoints.arrays(network).items()}
    free = observe(network, TEXTS["characters"])
    clamps = (Clamp("f" if cell == "lstm" else "z", 0.0),)
    assert observe(network, TEXTS["characters"], clamps=clamps).values.dtype == np.float32
    np.testing.assert_array_equal(observe(network, TEXTS["characters"]).values, free.values)
    after = {name: array.tobytes() for name, array in checkpoints.arrays(network).items()}
    assert after == before


# ------------------------------------------------------------------------- other texts' equations
@CELLS
@pytest.mark.parametrize("kind", ["sentiment", "characters", "latch"])
def test_compare_returns_distance_of_every_variant(kind, cell):
    network, text = exact(f"{kind}_{cell}"), TEXTS[kind]
    result, usual = compare(network, text), observe(network, text)
    assert result.variants == VARIANTS[cell]
    assert result.pieces == usual.pieces
    assert result.distance.shape == (len(result.variants), len(result.pieces))
    np.testing.assert_allclose(result.size, np.linalg.norm(usual.values, axis=1), rtol=1e-12)
    distance = dict(zip(result.variants, result.distance, strict=True))
    nothing = np.zeros_like(network.weights.input_bias)
    bare = replace(network, weights=replace(
        network.weights, input_bias=nothing, hidden_bias=nothing
    ))  # fmt: skip
    others = {"no_bias": observe(bare, text)}
    if cell == "lstm":
        if kind != "characters":  # whose END is read in the other equations, and never clamped
            others["forget_one"] = observe(network, text, clamps=(Clamp("f", 1.0),))
        assert distance["one_bias"].max() < 1e-12  # the sum of two biases is one bias
    else:
        assert distance["renamed"].max() < 1e-12  # sigma(-a) = 1 - sigma(a)
    for variant, other in others.items():
        moved = np.linalg.norm(other.values - usual.values, axis=1)
        np.testing.assert_allclose(distance[variant], moved, rtol=1e-9, atol=1e-12)
        assert moved.max() > 0.01


# ------------------------------------------------------------------------- sequences twice as long
def test_longer_matches_accuracy_on_double_length():
    network = exact("count_gru")
    batch = tasks.draw(network.kind, 40, tiny.TESTED, np.random.RandomState([5, 2]))
    right, full = [], []
    for k in range(tiny.TESTED):
        typed = " ".join(network.symbols[i] for i in batch.symbols[:, k])
        given = (observe(network, typed).answer == batch.answers[:, k])[batch.scored[:, k]]
        right += list(given)
        full.append(given.all())
    result = tiny.longer(network, 20, 5)
    assert (result.accuracy, result.exact_match) == (np.mean(right), np.mean(full))
    n = (batch.symbols == 0).sum(axis=0)  # a^n b^n: the answer is b for n - 1 steps, then the stop
    assert result.majority == pytest.approx((n - 1).sum() / n.sum())
    assert result.majority_whole == pytest.approx((n == 1).mean())
    assert tiny.longer(network, 20, 6) == tiny.longer(network, 20, 6)
