"""ALiBi and T5 as published and as others have coded them; which schemes notice a shift."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from seqviz.compute.positions import relative, sinusoidal

RELATIVE = ("none", "rotary", "alibi", "t5")


def recipe(heads):
    """get_slopes as its authors describe it: powers of two, else a mixture of two lists."""
    if heads & (heads - 1) == 0:
        start = 2 ** (-8 / heads)
        return [start**index for index in range(1, heads + 1)]
    power = 2 ** math.floor(math.log2(heads))
    return recipe(power) + recipe(2 * power)[0::2][: heads - power]


@pytest.mark.parametrize("heads", [*range(1, 34), 112, 1000])
def test_alibi_slopes_match_transformers(heads):
    from transformers.models.bloom import modeling_bloom as bloom

    values = relative.alibi_slopes(heads)
    np.testing.assert_allclose(values, recipe(heads), rtol=1e-12)  # up to 1024 multiplications
    theirs = bloom._get_alibi_slopes(heads, torch.device("cpu")).numpy()
    # A base in float32 raised to the power 1024: 1024 x 6e-8.
    np.testing.assert_allclose(values, theirs, rtol=1e-4)
    assert (relative.largest_slope(values), relative.smallest_slope(values)) == (
        max(values), min(values),
    )  # fmt: skip


def test_alibi_slopes_match_published_values():
    # Press et al. (2022), section 3: 8 heads, and 16 from 2^-0.5 in steps of 2^-0.5.
    np.testing.assert_array_equal(relative.alibi_slopes(8), [1 / 2**k for k in range(1, 9)])
    expected = [2 ** (-k / 2) for k in range(1, 17)]
    np.testing.assert_allclose(relative.alibi_slopes(16), expected, rtol=1e-15)


def test_alibi_bias_matches_explicit_loops():
    slopes = relative.alibi_slopes(3)
    causal, both = (relative.alibi_bias(3, 5, causal) for causal in (True, False))
    for head in range(3):
        for i in range(5):
            for j in range(5):
                expected = -slopes[head] * (i - j) if j <= i else -math.inf
                assert causal[head, i, j] == expected
                assert both[head, i, j] == -slopes[head] * abs(i - j)
    assert not np.signbit(np.diagonal(causal, axis1=1, axis2=2)).any()
    np.testing.assert_array_equal(relative.alibi_bias(2, 1), np.zeros((2, 1, 1)))


@pytest.mark.parametrize("bidirectional", [True, False])
@pytest.mark.parametrize(
    ("buckets", "distance"), [(32, 128), (16, 64), (64, 512), (4, 3), (32, 17)]
)
def test_t5_bucket_matches_transformers(bidirectional, buckets, distance):
    from transformers.models.t5.modeling_t5 import T5Attention

    offsets = np.arange(-3000, 3001)
    theirs = T5Attention._relative_position_bucket(
        torch.from_numpy(offsets), bidirectional, buckets, distance
    )
    values = relative.t5_bucket(offsets, bidirectional, buckets, distance)
    np.testing.assert_array_equal(values, theirs.numpy())
    indices = relative.t5_map(40, bidirectional, buckets, distance)
    for i, j in ((0, 0), (3, 39), (39, 3)):  # key minus query
        assert indices[i, j] == values[3000 + j - i]
    np.testing.assert_array_equal(relative.t5_map(1, bidirectional, buckets, distance), [[0]])


def test_buckets_used_counts_distinct_buckets():
    assert relative.buckets_used(np.array([[0, 1], [17, 0]]), 32) == (3, 32)


@pytest.mark.parametrize("scheme", RELATIVE)
@pytest.mark.parametrize("shift", [1, 1000, 100_000])
def test_shift_change_is_zero_for_relative_schemes(scheme, shift):
    shift_change = relative.shift_change(scheme, 20, shift, seed=3)
    assert (
        shift_change.largest < 1e-10
    )  # the figure to reach; rotation by 1e5 radians rounds at 1.5e-11
    assert shift_change.attention < 1e-10
    assert shift_change.beyond == 0
    assert scheme == "rotary" or shift_change.largest == 0


@pytest.mark.parametrize("scheme", ["sinusoidal", "learned"])
def test_shift_change_is_large_for_added_encodings(scheme):
    shift_change = relative.shift_change(scheme, 20, 100, seed=3)
    assert shift_change.largest > shift_change.typical > 0.3 * shift_change.size
    assert shift_change.attention > 0.1
    change = shift_change.after - shift_change.before
    assert shift_change.size == pytest.approx(np.sqrt(np.mean(shift_change.before**2)), rel=1e-14)
    assert shift_change.typical == pytest.approx(np.sqrt(np.mean(change**2)), rel=1e-14)
    assert shift_change.rounding == shift_change.largest == np.abs(change).max()
    gained = relative.softmax(shift_change.after) - relative.softmax(shift_change.before)
    moved = np.where(gained > 0, gained, 0).sum(axis=1).max()
    assert shift_change.attention == pytest.approx(moved, rel=1e-12)
    still = relative.shift_change(scheme, 20, 0, seed=3)
    assert (still.largest, still.attention, still.beyond) == (0, 0, 0)


@pytest.mark.parametrize(("shift", "beyond"), [(492, 0), (500, 8), (1000, 20)])
def test_shift_change_is_nan_beyond_learned_table(shift, beyond):
    shift_change = relative.shift_change("learned", 20, shift)
    assert shift_change.without_row == (beyond, 20)
    assert np.isfinite(shift_change.before).all()
    inside = 20 - beyond
    assert np.isfinite(shift_change.after[:inside, :inside]).all()
    assert np.isnan(shift_change.after[inside:]).all()
    assert np.isnan(shift_change.after[:, inside:]).all()
    assert np.isnan([shift_change.largest, shift_change.typical, shift_change.attention]).all() == (
        beyond > 0
    )


@pytest.mark.parametrize("scheme", relative.SCHEMES)
def test_scores_match_explicit_loops(scheme):
    n, d = 6, 8
    words = np.random.RandomState(5).standard_normal((n, d))
    maps, table = relative.projections(d, 4), relative.learned_table(d, 4)
    positions = np.array([0, 3, 4, 9, 11, 200])
    result = relative.scores(words, positions, scheme, maps, 4)
    bias = np.random.RandomState([4, 2]).standard_normal(32)
    sinusoids = sinusoidal.encoding(201, d).table
    for i in range(n):
        for j in range(n):
            x, y = words[i], words[j]
            if scheme == "sinusoidal":
                x, y = x + sinusoids[positions[i]], y + sinusoids[positions[j]]
            if scheme == "learned":
                x, y = x + table[positions[i]], y + table[positions[j]]
            q, k = x @ maps.query, y @ maps.key
            if scheme == "rotary":  # the key turned by j - i
                angle = (positions[j] - positions[i]) * 1e4 ** (-np.arange(0, d, 2) / d)
                z = (k[0::2] + 1j * k[1::2]) * np.exp(1j * angle)
                k = np.stack([z.real, z.imag], axis=1).ravel()
            expected = q @ k / math.sqrt(d)
            if scheme == "alibi":
                expected -= abs(positions[i] - positions[j]) / 2
            if scheme == "t5":
                expected += bias[relative.t5_bucket(positions[[j]] - positions[[i]]).item()]
            assert result[i, j] == pytest.approx(expected, abs=1e-12)


def test_learned_table_and_projections_have_documented_variance():
    # 512 x 64 squares of standard normal numbers: 5 standard errors of a mean
    table, maps = relative.learned_table(64, 1), relative.projections(64, 1)
    assert np.mean(table**2) == pytest.approx(0.5, abs=5 * 0.5 * math.sqrt(2 / table.size))
    for item in (maps.query, maps.key, maps.value):
        assert 64 * np.mean(item**2) == pytest.approx(1, abs=5 * math.sqrt(2 / item.size))


def test_scores_of_pure_sinusoids_ignore_shift_without_projections():
    """With random projections even the term of two sinusoids depends on the shift."""
    n, zero = 10, np.zeros((10, 16))
    same = relative.Projections(*[np.eye(16)] * 3)
    for maps, minimum, maximum in ((same, 0, 1e-12), (relative.projections(16, 0), 0.1, np.inf)):
        a, b = (relative.scores(zero, np.arange(n) + k, "sinusoidal", maps) for k in (0, 1000))
        assert minimum <= np.abs(a - b).max() <= maximum


def test_shift_change_is_reproducible_by_seed():
    a, b, c = (relative.shift_change("t5", seed=seed) for seed in (1, 1, 2))
    np.testing.assert_array_equal(a.before, b.before)
    assert np.abs(a.before - c.before).max() > 0.1
