"""Softer gates, units found on one text and scored on another, minimal pairs: by other means."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from seqviz.compute.gates import agreement, searching, tasks, tempering
from seqviz.compute.gates.activations import activation, feature
from seqviz.compute.gates.observation import expect, observe
from seqviz.models.checkpoints import load

CELLS = pytest.mark.parametrize("cell", ["lstm", "gru"])


def sigmoid(a):
    return 1 / (1 + np.exp(-a))


@CELLS
@pytest.mark.parametrize("temperature", [0.3, 1.0, 4.0])
def test_read_tempered_matches_explicit_recursion(cell, temperature):
    """Step by step from the trained weights: a = W x + U h + b, gates sigma((a + added) / T)."""
    network, added = load(f"count_{cell}"), 0.75
    tempered = tempering.read_tempered(network, tasks.EXAMPLES["count"], "h", temperature, added)
    w, n = network.weights, network.weights.hidden
    h, c = np.zeros(n), np.zeros(n)
    for step, symbol in enumerate(tempered.ids):
        x = np.eye(len(network.symbols))[symbol]
        a, b = w.input_hidden @ x + w.input_bias, w.hidden_hidden @ h + w.hidden_bias
        total = a + b
        total[n : 2 * n] += added
        if cell == "lstm":
            i, f, g, o = total.reshape(4, n)
            c = sigmoid(f / temperature) * c + sigmoid(i / temperature) * np.tanh(g)
            h = sigmoid(o / temperature) * np.tanh(c)
            keeps = f
        else:
            r, z, _ = total.reshape(3, n)
            candidate = np.tanh(a[2 * n :] + sigmoid(r / temperature) * b[2 * n :])
            retention = sigmoid(z / temperature)
            h = retention * h + (1 - retention) * candidate
            keeps = z
        np.testing.assert_allclose(tempered.seen.values[step], h, atol=2e-4)
        gate = "f" if cell == "lstm" else "z"
        np.testing.assert_allclose(tempered.preactivation[gate][step], keeps, rtol=1e-3, atol=2e-3)


@CELLS
def test_read_tempered_at_one_matches_trained_network(cell):
    network = load(f"latch_{cell}")
    usual = observe(network, tasks.EXAMPLES["latch"], "h")
    tempered = tempering.read_tempered(network, tasks.EXAMPLES["latch"], "h", 1.0)
    np.testing.assert_array_equal(tempered.seen.values, usual.values)
    assert tempered.right_steps() == (16, 16)
    assert tempered.seen.retained(3) == pytest.approx(np.prod(usual.retention[1:, 2]), rel=1e-6)


def test_read_tempered_saturates_when_cold_and_is_half_when_hot():
    network = load("latch_lstm")
    hard, soft = (tempering.read_tempered(network, "cabad", "h", t) for t in (1e-3, 1e3))
    assert hard.saturated("i") > 0.99
    np.testing.assert_allclose(activation(soft.seen.trace, "i"), 0.5, atol=0.02)
    with pytest.raises(ValueError, match="positive"):
        tempering.tempered(network, 0.0)


def test_search_matches_separate_shifts():
    network = load("characters_gru")
    first, second = (observe(network, text, "h") for text in ('He said "no" twice.', 'A "b" c.'))
    result = searching.search(first, second, "quotes")
    given = feature("quotes", first.pieces)
    for shift in (1, 7, len(given) - 1):
        moved = np.roll(given, shift)
        r = [abs(np.corrcoef(item, moved)[0, 1]) for item in first.values.T]
        assert result.best[shift - 1] == pytest.approx(max(r), abs=1e-6)
    r = [np.corrcoef(item, given)[0, 1] for item in first.values.T]
    assert result.unit == int(np.abs(r).argmax()) + 1
    assert result.r_found == pytest.approx(r[result.unit - 1], abs=1e-6)
    as_good = sum(item >= abs(result.r_found) - 1e-12 for item in result.best)
    assert result.by_chance == (1 + as_good) / len(given)


@pytest.mark.parametrize(
    ("first", "second", "best", "alone", "verdict"),
    [
        (0.9, 0.8, 0.1, 0.1, "holds"), (0.9, 0.8, 0.95, 0.1, "chance"),
        (0.9, 0.2, 0.1, 0.5, "lost"), (0.9, -0.8, 0.1, 0.1, "lost"),
    ],
)  # fmt: skip
def test_search_verdict_follows_correlations(first, second, best, alone, verdict):
    observation = observe(load("characters_gru"), "ab cd", "h")
    result = replace(
        searching.search(observation, observation, "space"), correlation=np.array([0.0, first]),
        scored=np.array([0.0, second]), best=np.full(99, best), alone=np.full(99, alone),
    )  # fmt: skip
    assert (result.unit, result.verdict) == (2, verdict)
    assert replace(result, varies=(True, False)).verdict == "constant"


def test_search_does_not_confirm_pure_noise():
    """Of 256 units of noise the best has a large r on 60 steps, and nothing is left on others."""
    observation = observe(load("characters_gru"), "a film that is not dull " * 3, "h")
    random = np.random.RandomState(0)
    first, second = (
        replace(observation, values=random.standard_normal(observation.values.shape))
        for _ in range(2)
    )
    result = searching.search(first, second, "vowel")
    assert abs(result.r_found) > 0.25
    assert result.verdict in ("chance", "lost")


def test_pair_effect_is_difference_of_two_expectations():
    networks = [load("characters_lstm")]
    result = agreement.pair(networks, "The jokes are old", "The joke are old")
    item, other = (expect(networks, text) for text in ("The jokes are old", "The joke are old"))
    np.testing.assert_allclose(result.effect, item.bits - other.bits, atol=1e-12)
    noun = agreement.NOUNS.index(("jokes", "joke"))
    np.testing.assert_allclose(result.effects[:, noun], result.effect, atol=1e-12)
    assert result.position == 2
    assert (result.effects[:, :, 0] == 0).all()  # the same word, before the nouns
    spread = result.effects[0, :, 1]
    half = 2.200985 * spread.std(ddof=1) / np.sqrt(12)  # t(0.975), 11 degrees of freedom
    assert result.mean.ci[1][0, 1] == pytest.approx(spread.mean() + half)
    with pytest.raises(ValueError, match="one word"):
        agreement.pair(networks, "A b", "A b")


@pytest.mark.parametrize(
    ("one", "other", "place"),
    [("a b c", "a x c", 2), ("a b c", "a b", None), ("a b", "a b", None), ("a b", "x y", None),
     ("", "", None), ("word " * 99, "other" + " word" * 98, None),
     ("The dog", "The " + "z" * 470, None)],
)  # fmt: skip
def test_differing_returns_position_of_single_difference(one, other, place):
    assert agreement.differing(one, other) == place
