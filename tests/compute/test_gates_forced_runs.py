"""Clamps against equations written out by hand; other equations; longer sequences."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from test_gates_observation import TEXTS, exact

from seqviz.compute.gates import tasks, tiny
from seqviz.compute.gates.conventions import VARIANTS
from seqviz.compute.gates.encoding import END
from seqviz.compute.gates.forcing import Clamp
from seqviz.compute.gates.networks import Network
from seqviz.compute.gates.observation import compare, observe
from seqviz.compute.recurrent import LSTM, run
from seqviz.experiments import gates
from seqviz.models import checkpoints
from seqviz.refusal import Refusal

CELLS = pytest.mark.parametrize("cell", ["lstm", "gru"])


# ------------------------------------------------------------ clamps written into the equations
def sigmoid(a: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-a))


def by_hand(network: Network, text: str, clamps: tuple[Clamp, ...]) -> tuple[np.ndarray, ...]:
    """The states c (LSTM) or h (GRU) of every step, and the probabilities of all answers after it.

    The equations as they are printed, with the clamps where the gates are used. The first row is
    what was before the text: zeros, or what the END before a sentence left, which nobody clamps.
    """
    w, n = network.weights, network.weights.hidden
    spoken = network.encode(text).ids
    opening = [network.symbols.index(END)] if network.kind == "characters" else []
    h = c = np.zeros(n)
    states, hiddens = [c], [h]
    for t, number in enumerate([*opening, *spoken], 1 - len(opening)):

        def held(gate: str, value: np.ndarray, t: int = t) -> np.ndarray:
            value = value.copy()
            for clamp in clamps:
                if clamp.gate == gate and max(1, clamp.first) <= t <= (clamp.last or np.inf):
                    value[slice(None) if clamp.unit is None else clamp.unit - 1] = clamp.value
            return value

        a = w.input_hidden @ network.embedding[number] + w.input_bias
        b = w.hidden_hidden @ h + w.hidden_bias
        if network.cell == "lstm":
            i, f, g, o = (a + b).reshape(4, n)
            i, f = held("i", sigmoid(i)), held("f", sigmoid(f))
            g, o = held("g", np.tanh(g)), held("o", sigmoid(o))
            c = f * c + i * g
            h = o * np.tanh(c)
        else:
            (ar, az, an), (br, bz, bn) = a.reshape(3, n), b.reshape(3, n)
            r, z = held("r", sigmoid(ar + br)), held("z", sigmoid(az + bz))
            h = z * h + (1 - z) * held("n", np.tanh(an + r * bn))
        if t < 1:
            states, hiddens = [], []
        states.append(c if network.cell == "lstm" else h)
        hiddens.append(h)
    scores = np.array(hiddens) @ network.head.T + network.head_bias
    p = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return np.array(states), p / p.sum(axis=-1, keepdims=True)


HELD = {
    "lstm": (
        (Clamp("f", 1.0),),
        (Clamp("f", 0.0),),
        (Clamp("i", 0.0), Clamp("f", 0.0)),
        (Clamp("o", 0.3, unit=7, first=3, last=9),),
        (Clamp("g", -1.0, first=4), Clamp("f", 0.95, unit=96)),
        (Clamp("i", 0.2), Clamp("i", 0.9, unit=2, first=5, last=5)),
    ),
    "gru": (
        (Clamp("z", 1.0),),
        (Clamp("z", 0.0),),
        (Clamp("r", 0.0),),
        (Clamp("n", -0.5, unit=2, first=2, last=5),),
        (Clamp("r", 1.0, first=4), Clamp("z", 0.95, unit=96)),
        (Clamp("z", 0.2), Clamp("z", 0.9, unit=3, first=5, last=5)),
    ),
}
CASES = [(cell, clamps) for cell, tried in HELD.items() for clamps in ((), *tried)]


@pytest.mark.parametrize("kind", ["sentiment", "characters"])
@pytest.mark.parametrize(("cell", "clamps"), CASES)
def test_a_clamp_is_that_value_in_the_equation(kind, cell, clamps):
    """float64 twice; what differs is the order of sums, 1e-15 a step over some 40 steps."""
    network = exact(f"{kind}_{cell}")
    seen = observe(network, TEXTS[kind], "c" if cell == "lstm" else "h", clamps=clamps)
    states, p = by_hand(network, TEXTS[kind], clamps)
    np.testing.assert_allclose(seen.values, states[1:], rtol=1e-10, atol=1e-12)
    ids = network.encode(TEXTS[kind]).ids
    wanted = p[1:, 1] if kind == "sentiment" else p[np.arange(len(ids)), ids]
    np.testing.assert_allclose(seen.probability, wanted, rtol=1e-10, atol=1e-14)
    np.testing.assert_array_equal(seen.answer, p[1:].argmax(axis=-1))
    free = observe(network, TEXTS[kind], seen.symbol)
    assert np.array_equal(free.values, seen.values) == (clamps == ())


@CELLS
def test_the_float32_of_the_files_clamps_the_same(cell):
    """Two gates of bundled weights in their own precision: 1e-7 a step, amplified over 12 steps."""
    clamps = HELD[cell][-1]
    seen = gates.observe(f"sentiment_{cell}", TEXTS["sentiment"], "h", clamps=clamps)
    again = observe(exact(f"sentiment_{cell}"), TEXTS["sentiment"], "h", clamps=clamps)
    assert seen.values.dtype == np.float32
    np.testing.assert_allclose(seen.values, again.values, 0, 1e-5)


@pytest.mark.parametrize("kind", ["sentiment", "characters", "count"])
def test_nothing_kept_and_nothing_written_is_an_empty_cell(kind):
    """c = 0 and h = o tanh 0 = 0: the answer is the softmax of the biases."""
    network = exact(f"{kind}_lstm")
    seen = observe(network, TEXTS[kind], "c", clamps=(Clamp("i", 0.0), Clamp("f", 0.0)))
    assert not seen.values.any()
    assert not seen.trace.hidden[1:].any()
    assert set(seen.answer) == {network.head_bias.argmax()}


def test_f_at_one_is_the_cell_of_1997():
    """Another way through the kernel: the cell that has no forget gate."""
    network = exact("sentiment_lstm")
    seen = observe(network, TEXTS["sentiment"], "c", clamps=(Clamp("f", 1.0),))
    old = run(LSTM(forget="one"), network.weights, network.embedding[network.encode(
        TEXTS["sentiment"]
    ).ids])  # fmt: skip
    np.testing.assert_array_equal(seen.values, old.cell_state[1:])
    increments = seen.trace.input_gate * seen.trace.candidate
    np.testing.assert_allclose(seen.values, np.cumsum(increments, axis=0), rtol=1e-12, atol=1e-13)
    assert np.isinf(seen.time_constants).all()


@pytest.mark.parametrize("kind", ["sentiment", "characters", "parity"])
def test_z_at_one_keeps_what_was_before_the_text(kind):
    network = exact(f"{kind}_gru")
    seen = observe(network, TEXTS[kind], "h", clamps=(Clamp("z", 1.0),))
    np.testing.assert_array_equal(
        seen.values, np.broadcast_to(seen.trace.hidden[0], seen.values.shape)
    )
    assert seen.trace.hidden[0].any() == (kind == "characters")  # which has read an END


@CELLS
def test_clamps_outside_the_text_do_nothing_and_wrong_ones_are_refused(cell):
    network = exact(f"sentiment_{cell}")
    gate, other = ("f", "z") if cell == "lstm" else ("z", "f")
    free = observe(network, "not good")
    for clamp in (Clamp(gate, 0.0, first=3), Clamp(gate, 0.0, first=3, last=900)):
        np.testing.assert_array_equal(
            observe(network, "not good", clamps=(clamp,)).values, free.values
        )
    for clamp, message in (
        (Clamp(other, 0.5), f"no gate {other}"),
        (Clamp(gate, 0.5, 97), "Unit 97"),
        (Clamp(gate, 0.5, 0), "Unit 0"),
        (Clamp(gate, 1.5), "forced to a value in"),
    ):
        with pytest.raises(ValueError, match=message):
            observe(network, "not good", clamps=(clamp,))


@CELLS
def test_a_forced_run_leaves_the_bundled_network_as_it_was(cell):
    network = checkpoints.load(f"characters_{cell}")
    before = {name: array.tobytes() for name, array in checkpoints.arrays(network).items()}
    free = observe(network, TEXTS["characters"])
    for clamps in HELD[cell]:
        observe(network, TEXTS["characters"], clamps=clamps)
        again = observe(network, TEXTS["characters"])
        np.testing.assert_array_equal(again.values, free.values)
    after = {name: array.tobytes() for name, array in checkpoints.arrays(network).items()}
    assert after == before


# ------------------------------------------------------------------------- other texts' equations
@CELLS
@pytest.mark.parametrize("kind", ["sentiment", "characters", "latch"])
def test_compare_has_every_variant_beside_the_network_itself(kind, cell):
    network, text = exact(f"{kind}_{cell}"), TEXTS[kind]
    found, usual = compare(network, text), observe(network, text)
    assert found.variants == VARIANTS[cell]
    assert found.pieces == usual.pieces
    assert found.distance.shape == (len(found.variants), len(found.pieces))
    np.testing.assert_allclose(found.size, np.linalg.norm(usual.values, axis=1), rtol=1e-12)
    distance = dict(zip(found.variants, found.distance, strict=True))
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


@CELLS
def test_compare_reads_what_observe_reads(cell):
    name = f"sentiment_{cell}"
    text = "good film. " * 300
    assert gates.compare(name, text).pieces == gates.observe(name, text).pieces
    for nothing in ("", " \n"):
        with pytest.raises(Refusal) as refused:
            gates.compare(name, nothing)
        assert refused.value.code == "no_text"


# ------------------------------------------------------------------------- sequences twice as long
def test_longer_is_the_accuracy_on_sequences_twice_as_long():
    network = exact("count_gru")
    batch = tasks.draw(network.kind, 40, tiny.TESTED, np.random.RandomState([5, 2]))
    right = []
    for k in range(tiny.TESTED):
        typed = " ".join(network.symbols[i] for i in batch.symbols[:, k])
        right += list((observe(network, typed).answer == batch.answers[:, k])[batch.scored[:, k]])
    assert tiny.longer(network, 20, 5) == np.mean(right)
    assert tiny.longer(network, 20, 6) == tiny.longer(network, 20, 6)
