"""Saturation, time constants, features, orders, clamps, conventions, counts: closed forms first."""

from __future__ import annotations

import numpy as np
import pytest

from seqviz.compute.gates import activations as act
from seqviz.compute.gates import conventions, forcing
from seqviz.compute.recurrent import GRU, LSTM, RNN, RecurrentWeights, State, run


def weights(blocks: int, width: int = 3, hidden: int = 5, seed: int = 0) -> RecurrentWeights:
    draw = np.random.RandomState(seed).standard_normal
    rows = blocks * hidden
    return RecurrentWeights(draw((rows, width)), draw((rows, hidden)), draw(rows), draw(rows))


X = np.random.RandomState(1).standard_normal((9, 3))
LSTM_RUN, GRU_RUN = run(LSTM(), weights(4), X), run(GRU(), weights(3), X)


def test_symbols_match_trace_arrays():
    for trace, names in ((LSTM_RUN, "i f o g c h"), (GRU_RUN, "r z n h")):
        assert act.symbols(trace) == tuple(names.split())
        for name in act.symbols(trace):
            assert act.activation(trace, name).shape == (9, 5)
    np.testing.assert_array_equal(act.activation(LSTM_RUN, "c"), LSTM_RUN.cell_state[1:])
    np.testing.assert_array_equal(act.activation(GRU_RUN, "z"), GRU_RUN.update_gate)
    with pytest.raises(ValueError, match="no f"):
        act.activation(GRU_RUN, "f")


def test_time_constants_match_decay_to_1_over_e():
    retention = np.full((40, 3), np.exp(-1 / np.array([1.0, 5.0, 200.0])))
    np.testing.assert_allclose(act.time_constants(retention), [1, 5, 200], rtol=1e-12)
    mixed = np.array([[0.5], [0.125]])  # product 1/16 over two steps: one quarter a step
    np.testing.assert_allclose(act.time_constants(mixed), -1 / np.log(0.25))
    assert list(act.time_constants(np.array([[1.0, 0.0], [1.0, 0.5]]))) == [np.inf, 0]


def test_saturation_returns_share_of_saturated_steps():
    gate = np.array([[0.05, 0.5], [0.95, 0.5], [0.99, 0.1], [0.5, 0.9]])
    result = act.saturation(gate)
    np.testing.assert_array_equal(result.left, [0.25, 0])
    np.testing.assert_array_equal(result.right, [0.5, 0])


@pytest.mark.parametrize(
    ("name", "tokens", "wanted"),
    [
        ("position", "abc", [1, 2, 3]),
        ("space", "a b", [0, 1, 0]),
        ("vowel", "abE", [1, 0, 1]),
        ("vowel", ("area", "shy"), [0.75, 0]),
        ("quotes", 'a"b"c', [0, 1, 1, 1, 0]),
        ("in_word", "ab cd", [1, 2, 0, 1, 2]),
        ("in_word", ("ab", "c"), [2, 1]),
        ("negation", ("it", "is", "n't", "so", "very", "bad", "now"), [0, 0, 1, 1, 1, 1, 0]),
        # Of characters it starts when the word is complete.
        ("negation", "is not so", [0, 0, 0, 0, 0, 1, 1, 1, 1]),
        *((name, "", []) for name in act.FEATURES),
        *((name, "b", [float(name in ("position", "in_word"))]) for name in act.FEATURES),
    ],
)
def test_feature_matches_expected_values(name, tokens, wanted):
    np.testing.assert_allclose(act.feature(name, list(tokens)), wanted)


def test_correlation_is_pearson_and_zero_for_constants():
    values = np.random.RandomState(2).standard_normal((30, 4))
    values[:, 3] = 0.1
    given = np.random.RandomState(3).standard_normal(30)
    result = act.correlation(values, given)
    for unit in range(3):
        assert result[unit] == pytest.approx(np.corrcoef(values[:, unit], given)[0, 1], abs=1e-12)
    assert result[3] == 0
    assert not act.correlation(values, np.ones(30)).any()


@pytest.mark.parametrize(
    ("cell", "clamps", "block", "held"),
    [
        (LSTM(), [forcing.Clamp("f", 1.0)], 1, {1: [1] * 6}),
        (LSTM(), [forcing.Clamp("f", 1.0), forcing.Clamp("f", 0.0, 2, 3, 4)], 1,
         {1: [1] * 6, 2: [1, 1, 0, 0, 1, 1]}),  # later ones win
        (LSTM(), [forcing.Clamp("o", 0.5, 5, last=1)], 3, {5: [0.5] + [np.nan] * 5}),
        (GRU(), [forcing.Clamp("z", 1.0, first=7)], 1, {1: [np.nan] * 6}),  # beyond the sequence
        (GRU(), [forcing.Clamp("n", -1.0, 1, first=6, last=9)], 2, {1: [np.nan] * 5 + [-1]}),
    ],
)  # fmt: skip
def test_forced_applies_clamps_to_gate_unit_and_steps(cell, clamps, block, held):
    values = forcing.forced(cell, 6, 5, clamps)
    for unit, expected in held.items():
        np.testing.assert_array_equal(values[:, block, unit - 1], expected)
    assert np.isnan(np.delete(values, block, axis=1)).all()
    if clamps[0].unit is not None:
        assert np.isnan(np.delete(values, clamps[0].unit - 1, axis=2)).all()


@pytest.mark.parametrize(
    ("cell", "clamps", "message"),
    [
        (LSTM(), [forcing.Clamp("z", 1.0)], "no gate z"),
        (GRU(), [forcing.Clamp("f", 1.0)], "no gate f"),
        (LSTM(), [forcing.Clamp("i", 1.0, 6)], "Unit 6"),
        (LSTM(), [forcing.Clamp("i", 1.0, 0)], "Unit 0"),
        (RNN(), [], "no gates"),
    ],
)
def test_forced_rejects_clamps_missing_from_cell(cell, clamps, message):
    with pytest.raises(ValueError, match=message):
        forcing.forced(cell, 4, 5, clamps)


def test_order_sorts_units_by_criterion():
    values = np.array([[0.1, 0.9, 0.5], [0.2, 0.9, 0.7]])
    retention = np.array([[0.5, 0.9, 0.99], [0.5, 0.9, 0.99]])
    given = np.array([0.0, 1.0])
    assert list(act.order("unit", values, retention, given)) == [0, 1, 2]
    assert list(act.order("mean", values, retention, given)) == [1, 2, 0]
    assert list(act.order("time", values, retention, given)) == [2, 1, 0]
    assert list(act.order("correlation", values, retention, given))[-1] == 1
    with pytest.raises(ValueError, match="Unknown order"):
        act.order("color", values, retention, given)


def test_reading_differs_except_for_equivalent_variants():
    for kind, blocks in (("lstm", 4), ("gru", 3)):
        for variant in conventions.VARIANTS[kind]:
            result = conventions.reading(variant, kind, weights(blocks), X)
            assert result.distance.shape == (9,)
            # Two names of z and, where nothing multiplies one of them, two biases are the same;
            # r (U h + b') is not r U h + b': PyTorch's GRU needs both.
            same = (kind, variant) in (("gru", "renamed"), ("lstm", "one_bias"))
            assert (result.distance.max() < 1e-13) == same, variant
            assert same or result.distance.max() > 1e-3, variant
    with pytest.raises(ValueError, match="variants"):
        conventions.reading("renamed", "lstm", weights(4), X)


def test_reading_wrong_update_matches_first_step_formula():
    w = weights(3)
    result = conventions.reading("wrong_update", "gru", w, X[:1])
    usual = run(GRU(), w, X[:1], State(np.zeros(5)))
    z, n = usual.update_gate[0], usual.candidate[0]
    assert result.distance[0] == pytest.approx(np.linalg.norm((1 - z) * n - z * n), abs=1e-14)
