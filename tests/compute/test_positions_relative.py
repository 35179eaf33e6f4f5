"""ALiBi and T5 as published and as others have coded them; which schemes notice a shift."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from seqviz.compute.positions import relative, sinusoidal
from seqviz.refusal import Refusal

RELATIVE = ("none", "rotary", "alibi", "t5")


def recipe(heads):
    """get_slopes as its authors describe it: powers of two, else a mixture of two lists."""
    if heads & (heads - 1) == 0:
        start = 2 ** (-8 / heads)
        return [start**place for place in range(1, heads + 1)]
    power = 2 ** math.floor(math.log2(heads))
    return recipe(power) + recipe(2 * power)[0::2][: heads - power]


def test_published_slopes():
    # Press et al. (2022), section 3: 8 heads, and 16 from 2^-0.5 in steps of 2^-0.5.
    np.testing.assert_array_equal(relative.alibi_slopes(8), [1 / 2**k for k in range(1, 9)])
    np.testing.assert_allclose(
        relative.alibi_slopes(16), [2 ** (-k / 2) for k in range(1, 17)], rtol=1e-15
    )
    assert list(relative.alibi_slopes(1)) == [1 / 256]


@pytest.mark.parametrize("heads", [*range(1, 34), 112, 1000])
def test_slopes_of_any_number_of_heads(heads):
    from transformers.models.bloom import modeling_bloom as bloom

    found = relative.alibi_slopes(heads)
    np.testing.assert_allclose(found, recipe(heads), rtol=1e-12)  # up to 1024 multiplications
    theirs = bloom._get_alibi_slopes(heads, torch.device("cpu")).numpy()
    # A base in float32 raised to the power 1024: 1024 x 6e-8.
    np.testing.assert_allclose(found, theirs, rtol=1e-4)


def test_bias_in_loops():
    slopes = relative.alibi_slopes(3)
    causal, both = (relative.alibi_bias(3, 5, causal) for causal in (True, False))
    for head in range(3):
        for i in range(5):
            for j in range(5):
                wanted = -slopes[head] * (i - j) if j <= i else -math.inf
                assert causal[head, i, j] == wanted
                assert both[head, i, j] == -slopes[head] * abs(i - j)
    assert not np.signbit(np.diagonal(causal, axis1=1, axis2=2)).any()
    np.testing.assert_array_equal(relative.alibi_bias(2, 1), np.zeros((2, 1, 1)))


def test_blooms_bias_differs_by_a_constant_per_row_so_attention_is_the_same():
    from transformers.models.bloom import modeling_bloom as bloom

    theirs = bloom.build_alibi_tensor(torch.ones(1, 6), 4, torch.float32).numpy()
    ours = relative.alibi_bias(4, 6)
    for head in range(4):
        later = np.where(np.isinf(ours[head]), -np.inf, np.broadcast_to(theirs[head], (6, 6)))
        np.testing.assert_allclose(
            relative.softmax(ours[head]), relative.softmax(later), atol=1e-7
        )  # float32 slopes


@pytest.mark.parametrize("bidirectional", [True, False])
@pytest.mark.parametrize(
    ("buckets", "distance"), [(32, 128), (16, 64), (64, 512), (4, 3), (32, 17)]
)
def test_buckets_are_transformers(bidirectional, buckets, distance):
    from transformers.models.t5.modeling_t5 import T5Attention

    offsets = np.arange(-3000, 3001)
    theirs = T5Attention._relative_position_bucket(
        torch.from_numpy(offsets), bidirectional, buckets, distance
    )
    found = relative.t5_bucket(offsets, bidirectional, buckets, distance)
    np.testing.assert_array_equal(found, theirs.numpy())
    assert (found.min(), found.max()) == (0, buckets - 1)


def test_buckets_by_hand():
    # 32 buckets both ways: 16 each, 8 exact, then 8 + floor(8 log(d/8) / log 16).
    for d in (0, 1, 7, 8, 11, 12, 20, 50, 100, 128, 1000):
        wanted = d if d < 8 else min(8 + math.floor(8 * math.log(d / 8) / math.log(16)), 15)
        assert relative.t5_bucket(np.array([-d])).item() == wanted
        if d:
            assert relative.t5_bucket(np.array([d])).item() == 16 + wanted
    one_way = relative.t5_bucket(np.array([5, 1, 0, -1, -15, -16, -4000]), bidirectional=False)
    assert list(one_way) == [0, 0, 0, 1, 15, 16, 31]


def test_the_map_is_one_bucket_per_diagonal():
    found = relative.t5_map(40)
    for offset in range(-39, 40):
        diagonal = np.diagonal(found, offset)
        assert set(diagonal) == {relative.t5_bucket(np.array([offset])).item()}
    np.testing.assert_array_equal(relative.t5_map(1), [[0]])


@pytest.mark.parametrize("scheme", RELATIVE)
@pytest.mark.parametrize("shift", [1, 1000, 100_000])
def test_relative_schemes_do_not_notice_a_shift(scheme, shift):
    found = relative.shift_change(scheme, 20, shift, seed=3)
    assert found.largest < 1e-10  # the figure to reach; rotation by 1e5 radians rounds at 1.5e-11
    assert found.attention < 1e-10
    assert found.beyond == 0
    if scheme != "rotary":
        assert found.largest == 0


@pytest.mark.parametrize("scheme", ["sinusoidal", "learned"])
def test_added_encodings_notice_it(scheme):
    found = relative.shift_change(scheme, 20, 100, seed=3)
    assert found.largest > found.typical > 0.3 * found.size
    assert found.attention > 0.1
    change = found.after - found.before
    assert found.size == pytest.approx(np.sqrt(np.mean(found.before**2)), rel=1e-14)
    assert found.typical == pytest.approx(np.sqrt(np.mean(change**2)), rel=1e-14)
    assert found.largest == np.abs(change).max()
    gained = relative.softmax(found.after) - relative.softmax(found.before)
    assert found.attention == pytest.approx(
        np.where(gained > 0, gained, 0).sum(axis=1).max(), rel=1e-12
    )
    still = relative.shift_change(scheme, 20, 0, seed=3)
    assert (still.largest, still.attention, still.beyond) == (0, 0, 0)


def test_a_learned_table_ends():
    found = relative.shift_change("learned", 20, 1000)
    assert found.beyond == 20
    assert np.isnan([found.largest, found.typical, found.attention]).all()
    assert np.isfinite(found.before).all()
    edge = relative.shift_change("learned", 20, 500)
    assert edge.beyond == 8
    assert np.isfinite(edge.after[:12, :12]).all()
    assert np.isnan(edge.after[12:]).all()
    assert np.isnan(edge.after[:, 12:]).all()
    table = np.random.RandomState(0).standard_normal((2000, 24))
    assert relative.shift_change("learned", 20, 1000, table=table).typical > 0.1


@pytest.mark.parametrize("scheme", relative.SCHEMES)
def test_scores_in_loops(scheme):
    n, d = 6, 8
    words = np.random.RandomState(5).standard_normal((n, d))
    maps, table = relative.projections(d, 4), relative.learned_table(d, 4)
    places = np.array([0, 3, 4, 9, 11, 200])
    found = relative.scores(words, places, scheme, maps, table, 100.0, 4)
    bias = np.random.RandomState([4, 2]).standard_normal(32)
    waves = sinusoidal.encoding(201, d, 100.0).table
    for i in range(n):
        for j in range(n):
            x, y = words[i], words[j]
            if scheme == "sinusoidal":
                x, y = x + waves[places[i]], y + waves[places[j]]
            if scheme == "learned":
                x, y = x + table[places[i]], y + table[places[j]]
            q, k = x @ maps.query, y @ maps.key
            if scheme == "rotary":  # the key turned by j - i
                angle = (places[j] - places[i]) * 100.0 ** (-np.arange(0, d, 2) / d)
                z = (k[0::2] + 1j * k[1::2]) * np.exp(1j * angle)
                k = np.stack([z.real, z.imag], axis=1).ravel()
            wanted = q @ k / math.sqrt(d)
            if scheme == "alibi":
                wanted -= abs(places[i] - places[j]) / 2
            if scheme == "t5":
                wanted += bias[relative.t5_bucket(places[[j]] - places[[i]]).item()]
            assert found[i, j] == pytest.approx(wanted, abs=1e-12)


def test_the_term_of_two_sinusoids_alone_would_not_notice():
    n, zero = 10, np.zeros((10, 16))
    for kind, least, most in (("identity", 0, 1e-12), ("random", 0.1, np.inf)):
        maps = relative.projections(16, 0, kind)
        a = relative.scores(zero, np.arange(n), "sinusoidal", maps)
        b = relative.scores(zero, np.arange(n) + 1000, "sinusoidal", maps)
        assert least <= np.abs(a - b).max() <= most, kind


def test_the_same_seed_is_the_same_picture():
    a, b, c = (relative.shift_change("t5", seed=seed) for seed in (1, 1, 2))
    np.testing.assert_array_equal(a.before, b.before)
    assert np.abs(a.before - c.before).max() > 0.1


@pytest.mark.parametrize(
    ("call", "code"),
    [
        (lambda: relative.alibi_slopes(0), "heads"),
        (lambda: relative.alibi_slopes(1025), "heads"),
        (lambda: relative.alibi_bias(8, 0), "encoding_positions"),
        (lambda: relative.t5_map(8, True, 33), "buckets"),
        (lambda: relative.t5_map(8, True, 2), "buckets"),
        (lambda: relative.t5_map(8, True, 32, 8), "buckets"),
        (lambda: relative.t5_map(2049), "encoding_positions"),
        (lambda: relative.shift_change("none", 0), "encoding_positions"),
        (lambda: relative.shift_change("none", 5, -1), "shift"),
        (lambda: relative.shift_change("none", 5, 100_001), "shift"),
        (lambda: relative.shift_change("sinusoidal", base=1.0), "encoding_base"),
        (lambda: relative.shift_change("rotary", d_model=7), "odd_head"),
    ],
)
def test_what_cannot_work_is_refused(call, code):
    with pytest.raises(Refusal) as caught:
        call()
    assert caught.value.code == code


def test_unknown_words_raise():
    words = np.ones((2, 4))
    with pytest.raises(ValueError, match="Unknown scheme"):
        relative.shift_change("absolute")
    with pytest.raises(ValueError, match="projections"):
        relative.projections(4, 0, "zero")
    with pytest.raises(ValueError, match="needs its table"):
        relative.placed(words, np.arange(2), "learned")
    with pytest.raises(ValueError, match="wide"):
        relative.placed(words, np.arange(2), "learned", np.ones((9, 5)))
