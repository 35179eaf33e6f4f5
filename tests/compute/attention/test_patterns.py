"""Measures of what heads do: against loops over their definitions and on heads of one habit."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from seqviz.compute.attention import patterns
from seqviz.compute.attention.patterns import HABITS, Habits, habits

MEASURES = (*HABITS, "entropy", "spread", "distance")
SHAPES = pytest.mark.parametrize("shape", [(1, 1, 1), (1, 1, 2), (2, 3, 3), (3, 2, 17), (4, 1, 40)])
# float64 sums of at most 40 terms of size 1 (distances: 40)
CLOSE = {"rtol": 1e-12, "atol": 1e-13}


def weights_of(layers, heads, tokens, causal=False):
    """Random weights, some of them exactly 0, whose rows sum to 1; read-only, as readings are."""
    random = np.random.RandomState(0)
    weights = random.gamma(0.3, size=(layers, heads, tokens, tokens))
    weights[random.uniform(size=weights.shape) < 0.2] = 0
    if causal:
        weights = np.tril(weights)
    weights[..., np.arange(tokens), np.arange(tokens)] += 0.01  # no row is empty
    weights /= weights.sum(-1, keepdims=True)
    weights.flags.writeable = False
    return weights


def by_definition(weights, ids, special):
    """The measures of one head [query, key] as sums in words: query after query."""
    tokens = len(ids)
    queries = list(range(1, tokens)) or [0]
    total = dict.fromkeys(MEASURES, 0.0)
    for i in queries:
        bits, observed = 0.0, 0
        for j in range(tokens):
            w = float(weights[i, j])
            total["previous"] += w * (j == i - 1)
            total["next"] += w * (j == i + 1)
            total["itself"] += w * (j == i)
            total["same"] += w * (j != i and ids[j] == ids[i])
            total["first"] += w * (j == 0)
            total["separator"] += w * (j > 0 and bool(special[j]))
            total["distance"] += w * abs(i - j)
            if w > 0:
                bits -= w * math.log2(w)
                observed += 1
        total["entropy"] += bits
        total["spread"] += bits / math.log2(max(observed, 2))
    return {name: value / len(queries) for name, value in total.items()}


@pytest.mark.parametrize("causal", [False, True])
@SHAPES
def test_habits_match_definitions(shape, causal):
    """On ids of which several are equal, and special tokens as an encoder puts them."""
    weights, tokens = weights_of(*shape, causal), shape[2]
    ids, special = np.random.RandomState(0).randint(0, 4, tokens), np.zeros(tokens, bool)
    special[[0, tokens // 2, -1]] = True
    special.flags.writeable = False
    result = habits(weights, ids, special)
    for layer, head in itertools.product(range(shape[0]), range(shape[1])):
        expected = by_definition(weights[layer, head], ids, special)
        for name in MEASURES:
            measure = getattr(result, name)
            assert measure.shape == shape[:2]
            np.testing.assert_allclose(measure[layer, head], expected[name], **CLOSE, err_msg=name)


def pure(tokens, target):
    """A head that puts all weight of query i on target(i)."""
    weights = np.zeros((1, 1, tokens, tokens))
    for i in range(tokens):
        weights[0, 0, i, target(i)] = 1
    return weights


IDS = np.array([9, 1, 2, 1, 2, 8])
SPECIAL = np.array([1, 0, 0, 0, 0, 1], bool)


@pytest.mark.parametrize(
    ("name", "target", "share", "distance"),
    [
        ("previous", lambda i: max(i - 1, 0), 1, 1),
        ("itself", lambda i: i, 1, 0),
        ("first", lambda i: 0, 1, 3),  # the mean of 1 ... 5
        ("next", lambda i: min(i + 1, 5), 4 / 5, 4 / 5),  # the last query has none after it
        ("separator", lambda i: 5, 1, 2),  # the mean of 4 ... 0
        ("same", lambda i: (0, 3, 4, 1, 2, 5)[i], 4 / 5, 8 / 5),  # the separator is alone
    ],
)
def test_habits_identify_pure_head(name, target, share, distance):
    result = habits(pure(6, target), IDS, SPECIAL)
    assert getattr(result, name) == pytest.approx(share)
    assert result.distance == pytest.approx(distance)
    assert result.name(0, 0) == name
    assert (result.entropy, result.spread) == (0, 0)


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("tokens", [2, 8, 33])
def test_habits_name_uniform_head_broad(tokens, causal):
    """Of two tokens half the weight is on the previous one, which names the head."""
    weights = np.tri(tokens) if causal else np.ones((tokens, tokens))
    weights /= weights.sum(-1, keepdims=True)
    result = habits(weights[None, None], np.arange(tokens), np.zeros(tokens, bool))
    assert result.spread == pytest.approx(1)
    bits = np.log2(np.arange(2, tokens + 1)).mean() if causal else np.log2(tokens)
    assert result.entropy == pytest.approx(bits)
    assert result.name(0, 0) == ("previous" if tokens == 2 else "broad")  # 2: half of it is there


def named(**values):
    measures = {name: np.array([[float(values.get(name, 0))]]) for name in MEASURES}
    return Habits(**measures).name(0, 0)


def test_habits_name_applies_thresholds():
    assert named(previous=0.5, spread=0.95) == "previous"  # from one half on, and before "broad"
    assert named(previous=0.4999, spread=0.9) == "broad"
    assert named(previous=0.4999, spread=0.8999) == "mixed"
    assert named(first=0.6, itself=0.7) == "itself"  # the larger of two


# --- rollout --------------------------------------------------------------------------------------


@SHAPES
def test_rollout_matches_paper_recursion(shape):
    """Abnar and Zuidema (2020): A~(l) = A(l) A~(l - 1) with A = (W + I) / 2, heads averaged."""
    weights = weights_of(*shape)
    values = patterns.rollout(weights)
    tokens = shape[2]
    before = np.eye(tokens)
    for layer in range(shape[0]):
        now = np.zeros((tokens, tokens))
        for i, j, k in itertools.product(range(tokens), repeat=3):
            mixed = (sum(weights[layer, :, i, k]) / shape[1] + (i == k)) / 2
            now[i, j] += mixed * before[k, j]
        np.testing.assert_allclose(values[layer], now, **CLOSE)
        before = now


def test_rollout_of_previous_token_heads_is_binomial():
    """One step back or none, each with one half: after l layers the binomial distribution."""
    layers, tokens = 5, 12
    weights = pure(tokens, lambda i: max(i - 1, 0)).repeat(layers, 0)
    result = patterns.rollout(weights)[-1, -1]
    expected = [math.comb(layers, back) / 2**layers for back in range(layers + 1)]
    np.testing.assert_allclose(result[::-1][: layers + 1], expected, **CLOSE)


def test_rollout_handles_fully_masked_query():
    weights = weights_of(2, 2, 4).copy()
    weights[:, :, 2] = 0
    values = patterns.rollout(weights)
    np.testing.assert_allclose(values.sum(-1), 1, **CLOSE)
    np.testing.assert_allclose(values[-1, 2], np.eye(4)[2], **CLOSE)


def test_rollout_accumulates_in_float64():
    """Float32 weights, as models give them: 30 layers, and rows still sum to 1 to 1e-12."""
    weights = weights_of(30, 2, 20).astype(np.float32)
    np.testing.assert_allclose(patterns.rollout(weights).sum(-1), 1, 0, 1e-12)


# --- tiles and order ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("tokens", "side"), [(1, 10), (10, 10), (11, 10), (19, 10), (512, 24), (7, 1), (100, 33)]
)
def test_tiles_take_largest_weight_per_cell(tokens, side):
    """Cells of nearly one size: straight lines stay straight. What fits stays as it is."""
    weights = weights_of(1, 2, tokens)
    result, side = patterns.tiles(weights, side), min(tokens, side)
    assert result.shape == (1, 2, side, side)
    starts = [cell * tokens // side for cell in range(side)] + [tokens]
    for row, column in itertools.product(range(side), repeat=2):
        part = weights[..., starts[row] : starts[row + 1], starts[column] : starts[column + 1]]
        np.testing.assert_array_equal(result[..., row, column], part.max((-2, -1)))


@pytest.mark.parametrize("most", [0, 3, 20, 100])
def test_ranked_matches_stable_sort(most):
    """Equal heads stay in their order."""
    measure = np.random.RandomState(0).randint(0, 9, size=(4, 5)) / 8
    every = itertools.product(range(4), range(5))
    expected = sorted(every, key=lambda pair: -measure[pair])
    assert patterns.ranked(measure, most) == expected[:most]
