"""RoPE: matrices, complex numbers, Llama's and GPT-J's code, and the relative property."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from seqviz.compute.positions import rotary
from seqviz.refusal import Refusal

LAYOUTS = ("interleaved", "halves")
Q, K = np.random.RandomState(0).standard_normal((2, 64))


def matrix(position, d_k, base, layout):
    """RoFormer, equation 15, pair by pair."""
    found = np.zeros((d_k, d_k))
    for i in range(d_k // 2):
        a, b = (2 * i, 2 * i + 1) if layout == "interleaved" else (i, i + d_k // 2)
        angle = position * base ** (-2 * i / d_k)
        found[a, a] = found[b, b] = math.cos(angle)
        found[a, b], found[b, a] = -math.sin(angle), math.sin(angle)
    return found


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("base", [100.0, 1e5])
def test_rotation_is_a_matrix_product_and_a_complex_product(layout, base):
    vectors = np.random.RandomState(1).standard_normal((3, 5, 10))
    positions = np.array([0, 1, 2, 50, -7])
    found = rotary.rotate(vectors, positions, base, layout)
    as_complex = rotary.as_complex(vectors, layout)
    turned = as_complex * np.exp(1j * np.multiply.outer(positions, rotary.frequencies(10, base)))
    # Angles up to 50: 50 x 1e-16 and a few operations.
    np.testing.assert_allclose(rotary.as_complex(found, layout), turned, atol=1e-13)
    for place, position in enumerate(positions):
        for batch in range(3):
            wanted = matrix(position, 10, base, layout) @ vectors[batch, place]
            np.testing.assert_allclose(found[batch, place], wanted, atol=1e-13)
    np.testing.assert_array_equal(found[:, 0], vectors[:, 0])


def test_the_layouts_are_one_up_to_the_order_of_dimensions():
    order = np.concatenate([np.arange(0, 8, 2), np.arange(1, 8, 2)])
    x, positions = np.random.RandomState(2).standard_normal((6, 8)), np.arange(6)
    halves = rotary.rotate(x[:, order], positions, layout="halves")
    np.testing.assert_array_equal(halves, rotary.rotate(x, positions)[:, order])
    assert (
        np.abs(rotary.rotate(x, positions, layout="halves") - rotary.rotate(x, positions)).max() > 1
    )


def test_halves_are_llamas():
    from transformers.models.llama import modeling_llama as llama

    config = llama.LlamaConfig(
        hidden_size=64,
        num_attention_heads=4,
        rope_parameters={"rope_type": "default", "rope_theta": 1e5},
    )
    x = np.random.RandomState(3).standard_normal((1, 4, 20, 16))
    given, places = torch.from_numpy(x), torch.arange(20)[None]
    cos, sin = llama.LlamaRotaryEmbedding(config)(given, places)
    theirs, _ = llama.apply_rotary_pos_emb(given, given, cos, sin)
    # Their angles are float32: 20 x 6e-8, times components up to 4.
    ours = rotary.rotate(x, np.arange(20), 1e5, "halves")
    np.testing.assert_allclose(ours, theirs.numpy(), atol=1e-5)


def test_interleaved_is_gptjs():
    from transformers.models.gptj import modeling_gptj as gptj

    x = np.random.RandomState(4).standard_normal((1, 20, 4, 16))  # batch, position, head, d_k
    sin, cos = torch.split(gptj.create_sinusoidal_positions(20, 16)[None], 8, dim=-1)
    theirs = gptj.apply_rotary_pos_emb(torch.from_numpy(x), sin, cos).numpy()
    ours = rotary.rotate(x.swapaxes(1, 2), np.arange(20), 1e4, "interleaved").swapaxes(1, 2)
    np.testing.assert_allclose(ours, theirs, atol=1e-5)  # as above


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("base", [1e4, 1e5])
@pytest.mark.parametrize("start", [0, 1000, 90_000])
def test_scores_depend_on_the_offset_alone(layout, base, start):
    found = rotary.score_by_offset(Q, K, start + np.arange(40), base, layout)
    # The figure to reach; angles of 1e5 are rounded at 1.5e-11, and a sum of 64 averages them.
    assert found.by_offset.spread < 1e-10 * np.linalg.norm(Q) * np.linalg.norm(K)
    if start <= 1000:
        assert found.by_offset.spread < 1e-10
    assert list(found.by_offset.offset) == list(range(-39, 40))
    np.testing.assert_allclose(found.by_offset.mean, found.closed_form, atol=1e-10)
    for i, j in ((0, 0), (5, 30), (30, 5)):
        a = matrix(start + i, 64, base, layout) @ Q
        b = matrix(start + j, 64, base, layout) @ K
        assert found.scores[i, j] == pytest.approx(a @ b, abs=1e-9 if start > 1000 else 1e-10)
        turned = matrix(j - i, 64, base, layout) @ K  # equation 16: R_(j-i), exact small angles
        assert found.scores[i, j] == pytest.approx(Q @ turned, abs=1e-9 if start > 1000 else 1e-10)


def test_offsets_have_a_direction():
    found = rotary.score_by_offset(Q, K, np.arange(10)).by_offset
    assert np.abs(found.mean - found.mean[::-1]).max() > 1


def test_rotation_keeps_lengths_and_the_plain_product_at_offset_zero():
    positions = np.array([3, 17, 400])
    turned = rotary.rotate(np.tile(Q, (3, 1)), positions)
    np.testing.assert_allclose(np.linalg.norm(turned, axis=1), np.linalg.norm(Q), rtol=1e-14)
    found = rotary.score_by_offset(Q, K, positions)
    np.testing.assert_allclose(np.diag(found.scores), Q @ K, atol=1e-12)


def test_one_position():
    found = rotary.score_by_offset(Q, K, np.array([5]))
    assert list(found.by_offset.offset) == [0]
    assert found.closed_form[0] == pytest.approx(Q @ K, abs=1e-13)


def test_what_cannot_work_is_refused():
    with pytest.raises(Refusal) as caught:
        rotary.rotate(np.ones((2, 7)), np.arange(2))
    assert caught.value.code == "odd_head"
    for base in (1.0, 0.0, math.nan):
        with pytest.raises(Refusal) as caught:
            rotary.frequencies(8, base)
        assert caught.value.code == "encoding_base"
    for positions, code in (
        (np.arange(0), "encoding_positions"),
        (np.arange(2049), "encoding_positions"),
        (np.array([-100_001]), "position_too_far"),
    ):
        with pytest.raises(Refusal) as caught:
            rotary.score_by_offset(Q, K, positions)
        assert caught.value.code == code
    with pytest.raises(ValueError, match="layout"):
        rotary.rotate(np.ones((2, 8)), np.arange(2), layout="thirds")


@pytest.mark.parametrize("layout", LAYOUTS)
def test_random_scores_are_those_of_a_pair_drawn_with_the_seed(layout):
    found = rotary.random_scores(8, 12, 100.0, layout, seed=3)
    q, k = np.random.RandomState(3).standard_normal((2, 8))
    wanted = rotary.score_by_offset(q, k, np.arange(12), 100.0, layout)
    np.testing.assert_array_equal(found.scores, wanted.scores)
    np.testing.assert_array_equal(found.closed_form, wanted.closed_form)
    assert not np.array_equal(rotary.random_scores(8, 12, 100.0, layout, 4).scores, found.scores)


def test_random_scores_vary_by_the_root_of_the_width():
    """400 scores of offset 0 for each width: within five standard errors of a variance."""
    for d_k in (2, 64):
        scores = [rotary.random_scores(d_k, 1, seed=seed).scores[0, 0] for seed in range(400)]
        # The fourth moment of such a sum is 3 + 6 / d_k times the squared variance.
        error = np.sqrt((2 + 6 / d_k) / 400)
        assert abs(np.mean(np.square(scores)) / d_k - 1) < 5 * error


@pytest.mark.parametrize(("d_k", "positions", "base"), [(7, 4, 10.0), (8, 0, 10.0), (8, 4, 1.0)])
def test_random_scores_refuse_what_the_others_refuse(d_k, positions, base):
    with pytest.raises(Refusal):
        rotary.random_scores(d_k, positions, base)
