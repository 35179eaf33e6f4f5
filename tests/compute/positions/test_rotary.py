"""RoPE: matrices, complex numbers, Llama's and GPT-J's code, and the relative property."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
import torch

from seqviz.compute.positions import rotary
from tests.tiers import pairwise

LAYOUTS = ("interleaved", "halves")
Q, K = np.random.RandomState(0).standard_normal((2, 64))


def matrix(position, d_k, base, layout):
    """RoFormer, equation 15, pair by pair."""
    result = np.zeros((d_k, d_k))
    for i in range(d_k // 2):
        a, b = (2 * i, 2 * i + 1) if layout == "interleaved" else (i, i + d_k // 2)
        angle = position * base ** (-2 * i / d_k)
        result[a, a] = result[b, b] = math.cos(angle)
        result[a, b], result[b, a] = -math.sin(angle), math.sin(angle)
    return result


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("base", [100.0, 1e5])
def test_rotate_matches_matrix_and_complex_product(layout, base):
    vectors = np.random.RandomState(1).standard_normal((3, 5, 10))
    positions = np.array([0, 1, 2, 50, -7])
    result = rotary.rotate(vectors, positions, base, layout)
    as_complex = rotary.as_complex(vectors, layout)
    turned = as_complex * np.exp(1j * np.multiply.outer(positions, rotary.frequencies(10, base)))
    # Angles up to 50: 50 x 1e-16 and a few operations.
    np.testing.assert_allclose(rotary.as_complex(result, layout), turned, atol=1e-13)
    for index, position in enumerate(positions):
        expected = vectors[:, index] @ matrix(position, 10, base, layout).T
        np.testing.assert_allclose(result[:, index], expected, atol=1e-13)


def test_rotate_halves_matches_llama():
    from transformers.models.llama import modeling_llama as llama

    config = llama.LlamaConfig(
        hidden_size=64,
        num_attention_heads=4,
        rope_parameters={"rope_type": "default", "rope_theta": 1e5},
    )
    x = np.random.RandomState(3).standard_normal((1, 4, 20, 16))
    given, positions = torch.from_numpy(x), torch.arange(20)[None]
    cos, sin = llama.LlamaRotaryEmbedding(config)(given, positions)
    theirs, _ = llama.apply_rotary_pos_emb(given, given, cos, sin)
    # Their angles are float32: 20 x 6e-8, times components up to 4.
    ours = rotary.rotate(x, np.arange(20), 1e5, "halves")
    np.testing.assert_allclose(ours, theirs.numpy(), atol=1e-5)


def test_rotate_interleaved_matches_gptj():
    from transformers.models.gptj import modeling_gptj as gptj

    x = np.random.RandomState(4).standard_normal((1, 20, 4, 16))  # batch, position, head, d_k
    sin, cos = torch.split(gptj.create_sinusoidal_positions(20, 16)[None], 8, dim=-1)
    theirs = gptj.apply_rotary_pos_emb(torch.from_numpy(x), sin, cos).numpy()
    ours = rotary.rotate(x.swapaxes(1, 2), np.arange(20), 1e4, "interleaved").swapaxes(1, 2)
    np.testing.assert_allclose(ours, theirs, atol=1e-5)  # as above


@pairwise(layout=LAYOUTS, base=[1e4, 1e5], start=[0, 1000, 90_000])
def test_score_by_offset_depends_only_on_offset(layout, base, start):
    offset = rotary.score_by_offset(Q, K, start + np.arange(40), base, layout)
    # The figure to reach; angles of 1e5 are rounded at 1.5e-11, and a sum of 64 averages them.
    size = np.linalg.norm(Q) * np.linalg.norm(K) if start > 1000 else 1
    assert offset.by_offset.spread < 1e-10 * size
    assert list(offset.by_offset.offset) == list(range(-39, 40))
    np.testing.assert_allclose(offset.by_offset.mean, offset.closed_form, atol=1e-10)
    for i, j in ((0, 0), (5, 30), (30, 5)):
        turned = matrix(j - i, 64, base, layout) @ K  # equation 16: R_(j-i), exact small angles
        assert offset.scores[i, j] == pytest.approx(Q @ turned, abs=1e-9 if start > 1000 else 1e-10)


@pytest.mark.parametrize("places", [[5], [0, 1, 5]])
def test_score_by_offset_handles_few_uneven_positions(places):
    offset = rotary.score_by_offset(Q, K, np.array(places))
    assert list(offset.by_offset.offset) == sorted({i - j for i in places for j in places})
    assert offset.closed_form[offset.by_offset.offset == 0].item() == pytest.approx(
        Q @ K, abs=1e-13
    )


@pytest.mark.parametrize("layout", LAYOUTS)
def test_random_scores_match_pair_drawn_with_seed(layout):
    offset = rotary.random_scores(8, 12, 100.0, layout, seed=3)
    q, k = np.random.RandomState(3).standard_normal((2, 8))
    expected = rotary.score_by_offset(q, k, np.arange(12), 100.0, layout)
    np.testing.assert_array_equal(offset.scores, expected.scores)
    np.testing.assert_array_equal(offset.closed_form, expected.closed_form)
    assert offset.pairs == 4
    assert offset.spread == (offset.by_offset.high - offset.by_offset.low).max() < 1e-12
    assert offset.error < 1e-12
    assert replace(offset, closed_form=offset.closed_form + 0.25).error == pytest.approx(0.25)
