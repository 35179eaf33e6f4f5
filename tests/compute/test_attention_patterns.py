"""Measures of what heads do: against loops over their definitions and on heads of one habit."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from seqviz.compute.attention import patterns
from seqviz.compute.attention.patterns import HABITS, Habits, habits

MEASURES = (*HABITS, "entropy", "spread", "distance")
SHAPES = [(1, 1, 1), (1, 1, 2), (2, 3, 3), (3, 2, 17), (4, 1, 40)]
# float64 sums of at most 40 terms of size 1 (distances: 40)
CLOSE = {"rtol": 1e-12, "atol": 1e-13}


def weights_of(layers, heads, tokens, seed=0, causal=False):
    """Random weights, some of them exactly 0, whose rows sum to 1."""
    random = np.random.RandomState(seed)
    weights = random.gamma(0.3, size=(layers, heads, tokens, tokens))
    weights[random.uniform(size=weights.shape) < 0.2] = 0
    if causal:
        weights = np.tril(weights)
    weights[..., np.arange(tokens), np.arange(tokens)] += 0.01  # no row is empty
    return weights / weights.sum(-1, keepdims=True)


def tokens_of(count, seed=0):
    """Ids of which several are equal, and special tokens as an encoder puts them."""
    ids = np.random.RandomState(seed).randint(0, 4, count)
    special = np.zeros(count, bool)
    special[[0, count // 2, -1]] = True
    return ids, special


def by_definition(weights, ids, special):
    """The measures of one head [query, key] as sums in words: query after query."""
    tokens = len(ids)
    queries = list(range(1, tokens)) or [0]
    total = dict.fromkeys(MEASURES, 0.0)
    for i in queries:
        bits, seen = 0.0, 0
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
                seen += 1
        total["entropy"] += bits
        total["spread"] += bits / math.log2(max(seen, 2))
    return {name: value / len(queries) for name, value in total.items()}


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("shape", SHAPES)
def test_measures_equal_their_definitions(shape, causal):
    weights = weights_of(*shape, causal=causal)
    ids, special = tokens_of(shape[2])
    found = habits(weights, ids, special)
    for layer, head in itertools.product(range(shape[0]), range(shape[1])):
        wanted = by_definition(weights[layer, head], ids, special)
        for name in MEASURES:
            measure = getattr(found, name)
            assert measure.shape == shape[:2]
            np.testing.assert_allclose(measure[layer, head], wanted[name], **CLOSE, err_msg=name)


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
def test_a_head_of_one_habit(name, target, share, distance):
    found = habits(pure(6, target), IDS, SPECIAL)
    assert getattr(found, name) == pytest.approx(share)
    assert found.distance == pytest.approx(distance)
    assert found.name(0, 0) == name
    assert (found.entropy, found.spread) == (0, 0)
    assert not np.signbit(found.entropy)  # "-0 bits" would be seen in a table


@pytest.mark.parametrize("tokens", [2, 8, 33])
def test_a_head_that_looks_everywhere_alike(tokens):
    found = habits(
        np.full((1, 1, tokens, tokens), 1 / tokens), np.arange(tokens), np.zeros(tokens, bool)
    )
    assert found.entropy == pytest.approx(np.log2(tokens))
    assert found.spread == pytest.approx(1)
    assert found.name(0, 0) == ("previous" if tokens == 2 else "broad")  # 2: half of it is there


def test_a_causal_head_that_looks_back_everywhere_alike_is_broad_too():
    weights = np.tril(np.ones((16, 16)))
    weights /= weights.sum(-1, keepdims=True)
    found = habits(weights[None, None], np.arange(16), np.zeros(16, bool))
    assert found.spread == pytest.approx(1)
    assert found.entropy == pytest.approx(np.mean(np.log2(np.arange(2, 17))))
    assert found.name(0, 0) == "broad"


def test_one_token_looks_at_itself():
    found = habits(np.ones((1, 1, 1, 1)), np.array([5]), np.array([False]))
    values = {name: float(getattr(found, name)[0, 0]) for name in MEASURES}
    assert values == dict.fromkeys(MEASURES, 0) | {"itself": 1, "first": 1}


def named(**values):
    measures = {name: np.array([[float(values.get(name, 0))]]) for name in MEASURES}
    return Habits(**measures).name(0, 0)


def test_names():
    assert named(previous=0.5, spread=0.95) == "previous"  # from one half on, and before "broad"
    assert named(previous=0.4999, spread=0.9) == "broad"
    assert named(previous=0.4999, spread=0.8999) == "mixed"
    assert named(first=0.6, itself=0.7) == "itself"  # the larger of two
    assert {named(**{habit: 1}) for habit in HABITS} == set(HABITS)


def test_inputs_stay_as_they_are():
    weights = weights_of(2, 2, 5)
    ids, special = tokens_of(5)
    before = weights.copy(), special.copy()
    for array in (weights, ids, special):
        array.flags.writeable = False  # readings are
    habits(weights, ids, special)
    patterns.rollout(weights)
    patterns.tiles(weights, 2)
    np.testing.assert_array_equal(weights, before[0])
    np.testing.assert_array_equal(special, before[1])


# --- entropy --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("row", "bits"),
    [
        ([1.0], 0),
        ([0.0, 1.0, 0.0], 0),
        ([0.5, 0.5], 1),
        ([0.25] * 4, 2),
        ([0.5, 0.25, 0.125, 0.125], 1.75),
        ([0.9, 0.1], -(0.9 * math.log2(0.9) + 0.1 * math.log2(0.1))),
        ([0.0, 0.0], 0),  # a query that may look nowhere
    ],
)
def test_entropy_in_closed_form(row, bits):
    (found,) = patterns.entropy(np.array([row]))
    assert found == pytest.approx(bits, abs=1e-15)
    assert not np.signbit(found)


def test_entropy_of_many_rows_at_once():
    weights = weights_of(2, 3, 6)
    found = patterns.entropy(weights)
    assert found.shape == (2, 3, 6)
    for place in itertools.product(range(2), range(3), range(6)):
        (wanted,) = patterns.entropy(weights[place][None])
        np.testing.assert_allclose(found[place], wanted, **CLOSE)


# --- rollout --------------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", SHAPES)
def test_rollout_is_the_recursion_of_the_paper(shape):
    """Abnar and Zuidema (2020): A~(l) = A(l) A~(l - 1) with A = (W + I) / 2, heads averaged."""
    weights = weights_of(*shape)
    found = patterns.rollout(weights)
    tokens = shape[2]
    before = np.eye(tokens)
    for layer in range(shape[0]):
        now = np.zeros((tokens, tokens))
        for i, j, k in itertools.product(range(tokens), repeat=3):
            mixed = (sum(weights[layer, :, i, k]) / shape[1] + (i == k)) / 2
            now[i, j] += mixed * before[k, j]
        np.testing.assert_allclose(found[layer], now, **CLOSE)
        before = now
    np.testing.assert_allclose(found.sum(-1), 1, **CLOSE)
    assert found.min() >= 0


def test_rollout_of_heads_that_look_at_themselves_is_the_identity():
    weights = np.broadcast_to(np.eye(5), (4, 3, 5, 5))
    np.testing.assert_array_equal(patterns.rollout(weights), np.broadcast_to(np.eye(5), (4, 5, 5)))


def test_rollout_of_previous_token_heads_is_a_binomial():
    """One step back or none, each with one half: after l layers the binomial distribution."""
    layers, tokens = 5, 12
    weights = pure(tokens, lambda i: max(i - 1, 0)).repeat(layers, 0)
    found = patterns.rollout(weights)[-1, -1]
    wanted = [math.comb(layers, back) / 2**layers for back in range(layers + 1)]
    np.testing.assert_allclose(found[::-1][: layers + 1], wanted, **CLOSE)


def test_rollout_where_a_query_may_look_nowhere():
    weights = weights_of(2, 2, 4)
    weights[:, :, 2] = 0
    found = patterns.rollout(weights)
    np.testing.assert_allclose(found.sum(-1), 1, **CLOSE)
    np.testing.assert_allclose(found[-1, 2], np.eye(4)[2], **CLOSE)


def test_rollout_counts_in_float64():
    """Float32 weights, as models give them: 30 layers, and rows still sum to 1 to 1e-12."""
    weights = weights_of(30, 2, 20).astype(np.float32)
    np.testing.assert_allclose(patterns.rollout(weights).sum(-1), 1, 0, 1e-12)


# --- tiles ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("tokens", [1, 2, 10])
def test_tiles_are_exact_where_everything_fits(tokens):
    weights = weights_of(2, 3, tokens)
    np.testing.assert_array_equal(patterns.tiles(weights, 10), weights)


@pytest.mark.parametrize(("tokens", "side"), [(11, 10), (19, 10), (512, 24), (7, 1), (100, 33)])
def test_each_cell_is_the_largest_weight_within_it(tokens, side):
    weights = weights_of(1, 2, tokens)
    found = patterns.tiles(weights, side)
    assert found.shape == (1, 2, side, side)
    starts = [cell * tokens // side for cell in range(side)] + [tokens]
    for row, column in itertools.product(range(side), repeat=2):
        part = weights[..., starts[row] : starts[row + 1], starts[column] : starts[column + 1]]
        np.testing.assert_array_equal(found[..., row, column], part.max((-2, -1)))
    np.testing.assert_array_equal(found.max((-2, -1)), weights.max((-2, -1)))
    sizes = np.diff(starts)
    assert sizes.min() >= 1
    assert sizes.max() - sizes.min() <= 1  # cells of nearly one size: straight lines stay straight


def test_one_bright_cell_is_never_lost():
    weights = np.zeros((1, 1, 512, 512), np.float32)
    weights[0, 0, 400, 37] = 0.875
    found = patterns.tiles(weights, 24)[0, 0]
    assert found.max() == np.float32(0.875)
    assert np.argwhere(found > 0).tolist() == [[400 * 24 // 512, 37 * 24 // 512]]


# --- order ----------------------------------------------------------------------------------------


def test_ranked_is_the_order_of_sorting_pairs():
    measure = np.random.RandomState(0).uniform(size=(4, 5))
    pairs = list(itertools.product(range(4), range(5)))
    wanted = sorted(pairs, key=lambda pair: -measure[pair])
    assert patterns.ranked(measure, 20) == wanted
    assert patterns.ranked(measure, 3) == wanted[:3]
    assert patterns.ranked(measure, 100) == wanted
    assert patterns.ranked(measure, 0) == []


def test_equal_heads_stay_in_their_order():
    assert patterns.ranked(np.ones((2, 2)), 4) == [(0, 0), (0, 1), (1, 0), (1, 1)]
