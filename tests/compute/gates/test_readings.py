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
def test_observation_reports_values_of_one_unit(name, symbol, gate):
    observation = observe(checkpoints.load(name), TEXT, symbol, "mean")
    means = observation.values.mean(axis=0)
    assert observation.unit_at(1) == means.argmax() + 1
    assert (
        observation.unit_at(9999) == observation.unit_at(observation.hidden) == means.argmin() + 1
    )
    unit, step = 7, 3
    value = observation.values[2, 6]
    assert observation.value_at(unit, step) == value
    # Another name of the update gate, and of no other value.
    assert observation.value_at(unit, step, "write") == (
        1 - float(value) if symbol == "z" else value
    )
    retained = getattr(observation.trace, gate)[:, 6].astype(float)
    assert observation.time_constant(unit) == pytest.approx(-1 / np.log(retained).mean())
    vowels = [letter in "aeiouAEIOU" for letter in TEXT]
    r = np.corrcoef(observation.values[:, 6].astype(float), vowels)[0, 1]
    assert observation.correlation(unit, "vowel") == pytest.approx(r)
    assert observation.length_at_end == pytest.approx(
        np.sqrt((observation.values[-1].astype(float) ** 2).sum())
    )


def test_observation_reports_bits_and_final_answer():
    observation = observe(checkpoints.load("characters_lstm"), TEXT)
    assert observation.bits_per_character() == pytest.approx(
        -np.log2(observation.probability).mean()
    )
    never = replace(observation, probability=np.zeros_like(observation.probability))
    assert np.isfinite(never.bits_per_character())
    parity = observe(checkpoints.load("parity_lstm"), "101")
    assert parity.answer_at_end() == "even"
    assert observe(checkpoints.load("parity_lstm"), "1").answer_at_end() == "odd"


def test_observation_largest_change_compares_runs():
    network = checkpoints.load("parity_gru")
    free = observe(network, "101")
    held = observe(network, "101", clamps=(Clamp("z", 1.0),))
    assert held.largest_change(free) == np.abs(free.values).max()  # nothing is ever written
    assert free.largest_change(free) == 0


def test_variant_comparison_reports_shares():
    variant_comparison = VariantComparison(
        tuple("abcd"),
        ("renamed", "reset_before", "no_bias"),
        np.array([[0, 1e-16, 0, 0], [0, 1, 2, 1], [0.5, 6, 0, 0]]),
        np.array([1.0, 2.0, 4.0, 3.0]),
        np.array([0.0, 0.0, 1e-3]),
    )
    assert variant_comparison.certain
    assert not replace(variant_comparison, moved=np.array([0.0, 0.0, 0.02])).certain
    assert variant_comparison.nearest_share == 0.5
    assert variant_comparison.largest_size == 4
    np.testing.assert_allclose(variant_comparison.shares, [2.5e-17, 0.5, 1.5])
    assert (variant_comparison.same(), variant_comparison.furthest()) == (("renamed",), "no_bias")
    assert (
        format_value(
            variant_comparison.furthest_share, unit_of(VariantComparison.furthest_share.fget)
        )
        == "150%"
    )


def test_expectation_reports_bits_at_end():
    p = np.array([[[0.5, 0.5], [0.1, 0.4]], [[0.5, 0.5], [0.2, 0.2]]])
    expectation = Expectation(("a", "b"), ("was", "were"), ("x_lstm", "x_gru"), p, 0)
    assert expectation.bits_at_end("x_lstm") == pytest.approx(2)
    assert expectation.bits_at_end("x_gru") == 0
    assert [expectation.likelier_at_end(name) for name in expectation.networks] == ["were", "was"]
    other = replace(expectation, probability=p[..., ::-1])
    assert other.likelier_at_end("x_lstm") == "was"


def test_parameter_counts_match_formulas_and_checkpoints():
    result = counting.table(1, 32)
    for cell, count in (("rnn", 1120), ("gru", 3360), ("lstm", 4480)):
        assert result.count(cell) == result.by_formula(cell) == count
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
def test_time_constant_of_constant_gate_matches_formula(gate):
    assert activations.time_constant(gate) == pytest.approx(-1 / np.log(gate))


def test_task_examples_have_no_unknown_symbols():
    """What a page shows first is read without a symbol that the network does not know."""
    for kind, text in tasks.EXAMPLES.items():
        observed = observation.observe(checkpoints.load(f"{kind}_lstm"), text)
        assert not observed.unknown.any()
        assert observed.answer_at_end() in tasks.ANSWERS[kind]
