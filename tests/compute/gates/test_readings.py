"""What a page reads off a run of gates: each number beside numpy's, or counted by hand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from seqviz.compute.gates import activations, counting, observation, tasks
from seqviz.compute.gates.forcing import Clamp
from seqviz.compute.gates.observation import Expectation, VariantComparison, observe
from seqviz.core.i18n import format_value
from seqviz.core.units import unit_of
from seqviz.models import checkpoints

TEXT = "It is not a great film."


@pytest.mark.parametrize(
    ("name", "symbol", "gate"),
    [("characters_gru", "z", "update_gate"), ("characters_lstm", "c", "forget_gate")],
)
def test_of_one_unit_at_one_step(name, symbol, gate):
    seen = observe(checkpoints.load(name), TEXT, symbol, "mean")
    means = seen.values.mean(axis=0)
    assert seen.unit_at(1) == means.argmax() + 1
    assert seen.unit_at(9999) == seen.unit_at(seen.hidden) == means.argmin() + 1
    unit, step = 7, 3
    value = seen.values[2, 6]
    assert seen.value_at(unit, step) == value
    # Another name of the update gate, and of no other value.
    assert seen.value_at(unit, step, "write") == (1 - float(value) if symbol == "z" else value)
    kept = getattr(seen.trace, gate)[:, 6].astype(float)
    assert seen.time_constant(unit) == pytest.approx(-1 / np.log(kept).mean())
    vowels = [letter in "aeiouAEIOU" for letter in TEXT]
    r = np.corrcoef(seen.values[:, 6].astype(float), vowels)[0, 1]
    assert seen.correlation(unit, "vowel") == pytest.approx(r)
    assert seen.length_at_end == pytest.approx(np.sqrt((seen.values[-1].astype(float) ** 2).sum()))


def test_answers_at_the_end():
    seen = observe(checkpoints.load("characters_lstm"), TEXT)
    assert seen.bits_per_character() == pytest.approx(-np.log2(seen.probability).mean())
    never = replace(seen, probability=np.zeros_like(seen.probability))
    assert np.isfinite(never.bits_per_character())
    parity = observe(checkpoints.load("parity_lstm"), "101")
    assert parity.answer_at_end() == "even"
    assert observe(checkpoints.load("parity_lstm"), "1").answer_at_end() == "odd"


def test_the_largest_change():
    network = checkpoints.load("parity_gru")
    free = observe(network, "101")
    held = observe(network, "101", clamps=(Clamp("z", 1.0),))
    assert held.largest_change(free) == np.abs(free.values).max()  # nothing is ever written
    assert free.largest_change(free) == 0


def test_the_same_weights_in_other_equations():
    found = VariantComparison(
        tuple("abcd"),
        ("renamed", "reset_before", "no_bias"),
        np.array([[0, 1e-16, 0, 0], [0, 1, 2, 1], [0.5, 6, 0, 0]]),
        np.array([1.0, 2.0, 4.0, 3.0]),
        np.array([0.0, 0.0, 1e-3]),
    )
    assert found.certain
    assert not replace(found, moved=np.array([0.0, 0.0, 0.02])).certain
    assert found.nearest_share == 0.5
    assert found.largest_size == 4
    np.testing.assert_allclose(found.shares, [2.5e-17, 0.5, 1.5])
    assert (found.same(), found.furthest()) == (("renamed",), "no_bias")
    assert (
        format_value(found.furthest_share, unit_of(VariantComparison.furthest_share.fget)) == "150%"
    )


def test_what_is_expected_after_the_last_word():
    p = np.array([[[0.5, 0.5], [0.1, 0.4]], [[0.5, 0.5], [0.2, 0.2]]])
    found = Expectation(("a", "b"), ("was", "were"), ("x_lstm", "x_gru"), p, 0)
    assert found.bits_at_end("x_lstm") == pytest.approx(2)
    assert found.bits_at_end("x_gru") == 0
    assert [found.likelier_at_end(name) for name in found.networks] == ["were", "was"]
    other = replace(found, probability=p[..., ::-1])
    assert other.likelier_at_end("x_lstm") == "was"


def test_parameters_are_counted():
    found = counting.table(1, 32)
    for cell, count in (("rnn", 1120), ("gru", 3360), ("lstm", 4480)):
        assert found.count(cell) == found.by_formula(cell) == count
    for name in checkpoints.names():
        network = checkpoints.load(name)
        count = sum(array.size for array in checkpoints.arrays(network).values())
        if network.kind in tasks.TASKS:  # read as one-hot vectors, which nobody trains
            np.testing.assert_array_equal(network.embedding, np.eye(len(network.symbols)))
            count -= network.embedding.size
        assert network.parameters == count == checkpoints.card(name).parameters
    # LSTM(3, 8) with two biases and a read-out of 8 x 3 + 3
    assert checkpoints.load("count_lstm").parameters == 4 * 8 * (3 + 8 + 2) + 27 == 443


@pytest.mark.parametrize("gate", [0.5, 0.9, 0.995])
def test_the_time_constant_of_a_gate_that_stays(gate):
    assert activations.time_constant(gate) == pytest.approx(-1 / np.log(gate))


def test_the_examples_of_the_little_jobs_are_answered():
    """What a page shows first is read without a symbol that the network does not know."""
    for kind, text in tasks.EXAMPLES.items():
        seen = observation.observe(checkpoints.load(f"{kind}_lstm"), text)
        assert not seen.unknown.any()
        assert seen.answer_at_end() in tasks.ANSWERS[kind]
