"""The sinusoidal encoding: its definition in loops, printed values, other code, rotations."""

from __future__ import annotations

import math
import subprocess
import sys
import time

import numpy as np
import pytest

from seqviz.compute.positions import sinusoidal as pe
from seqviz.refusal import Refusal

ROUNDING = 1e-12  # sine and cosine of angles up to some 1000: 1000 x 1e-16, and a few operations


def looped(positions, d_model, base):
    """Vaswani et al. (2017), section 3.5, entry by entry."""
    table = np.zeros((positions, d_model))
    for pos in range(positions):
        for column in range(d_model):
            angle = pos / base ** ((column - column % 2) / d_model)
            table[pos, column] = math.cos(angle) if column % 2 else math.sin(angle)
    return table


@pytest.mark.parametrize("base", [1.5, 100.0, 1e4, 1e6])
@pytest.mark.parametrize("d_model", [2, 6, 7, 16])
def test_the_table_is_the_papers_formula(d_model, base):
    found = pe.encoding(40, d_model, base)
    np.testing.assert_allclose(found.table, looped(40, d_model, base), atol=ROUNDING)
    assert (found.layout, found.base) == ("interleaved", base)


def test_printed_values():
    # Saeed, "A gentle introduction to positional encoding", part 1: k = 4, d = 4, n = 100.
    printed = [
        [0, 1, 0, 1],
        [0.84147098, 0.54030231, 0.09983342, 0.99500417],
        [0.90929743, -0.41614684, 0.19866933, 0.98006658],
        [0.14112001, -0.9899925, 0.29552021, 0.95533649],
    ]
    np.testing.assert_allclose(pe.encoding(4, 4, 100.0).table, printed, atol=5e-9)  # 8 places


@pytest.mark.parametrize("d_model", [2, 8, 9])
def test_halves_are_the_same_columns_in_another_order(d_model):
    text, code = (pe.encoding(30, d_model, layout=layout).table for layout in pe.LAYOUTS)
    np.testing.assert_array_equal(code, np.concatenate([text[:, 0::2], text[:, 1::2]], axis=1))


@pytest.mark.parametrize("d_model", [8, 9])
def test_marian_has_the_papers_frequencies_in_halves_and_a_lone_sine(d_model):
    from transformers.models.marian import modeling_marian as marian

    theirs = marian.MarianSinusoidalPositionalEmbedding(50, d_model).create_weight().numpy()
    # float32 entries of size 1: half a unit in the last place is 6e-8.
    np.testing.assert_allclose(pe.encoding(50, d_model, layout="halves").table, theirs, atol=1e-7)


@pytest.mark.parametrize("d_model", [8, 9])
def test_tensor2tensor_reaches_the_base_and_pads_with_zeros(d_model):
    from transformers.models.m2m_100 import modeling_m2m_100 as m2m

    theirs = m2m.M2M100SinusoidalPositionalEmbedding.get_embedding(50, d_model).numpy()
    ours = pe.encoding(50, d_model, layout="halves", spacing="tensor2tensor")
    # Their angles are float32: 50 x 6e-8, twice rounded.
    np.testing.assert_allclose(ours.table, theirs, atol=1e-5)
    assert ours.wavelengths[-1] == pytest.approx(2 * np.pi * 1e4, rel=1e-14)
    paper = pe.encoding(50, d_model, layout="halves").table
    assert np.abs(paper - ours.table).max() > 0.5


def test_wavelengths_run_from_2_pi_to_just_under_2_pi_base():
    found = pe.encoding(1, 512)
    assert found.wavelengths[0] == 2 * np.pi
    assert found.wavelengths[-1] == pytest.approx(2 * np.pi * 1e4 ** (510 / 512), rel=1e-13)
    ratios = found.wavelengths[1:] / found.wavelengths[:-1]
    np.testing.assert_allclose(ratios, 1e4 ** (2 / 512), rtol=1e-13)


@pytest.mark.parametrize("layout", pe.LAYOUTS)
def test_every_row_has_the_norm_root_of_half_the_width(layout):
    norms = np.linalg.norm(pe.encoding(500, 64, layout=layout).table, axis=1)
    np.testing.assert_allclose(norms, np.sqrt(32), rtol=1e-14)
    odd = np.linalg.norm(pe.encoding(500, 5, base=10.0).table, axis=1)
    assert np.ptp(odd) > 0.1  # a sine alone does not keep it


@pytest.mark.parametrize("layout", pe.LAYOUTS)
@pytest.mark.parametrize("spacing", pe.SPACINGS)
@pytest.mark.parametrize("offset", [0, 1, 7, -3])
def test_a_rotation_moves_every_row_along(layout, spacing, offset):
    d_model = 11 if spacing == "tensor2tensor" else 12
    matrix = pe.rotation(offset, d_model, 1000.0, layout, spacing)
    before = pe.rows(np.arange(50), d_model, 1000.0, layout, spacing)
    after = pe.rows(np.arange(50) + offset, d_model, 1000.0, layout, spacing)
    np.testing.assert_allclose(before @ matrix.T, after, atol=ROUNDING)
    np.testing.assert_allclose(matrix @ matrix.T, np.eye(d_model), atol=1e-15 * 10)
    assert np.linalg.det(matrix) == pytest.approx(1, abs=1e-13)


def test_rotations_add_up():
    two, five, seven = (pe.rotation(k, 8) for k in (2, 5, 7))
    np.testing.assert_allclose(two @ five, seven, atol=1e-15 * 8)


def test_the_rotation_found_from_a_full_table_is_the_rotation():
    for layout in pe.LAYOUTS:
        table = pe.encoding(200, 8, 100.0, layout).table
        for offset in (1, 7, -7, 100):
            found = pe.found_rotation(table, offset)
            assert found.rank == 8
            # Condition number below 2 here: rounding and nothing else.
            np.testing.assert_allclose(
                found.matrix, pe.rotation(offset, 8, 100.0, layout), atol=ROUNDING
            )
            assert max(found.residual, found.orthogonality) < ROUNDING


def test_few_positions_do_not_show_slow_pairs_and_the_least_matrix_is_found():
    table = pe.encoding(64, 64).table
    found = pe.found_rotation(table, 5)
    assert found.rank < 64
    # What was cut off is below 1e-10 of the largest singular value.
    assert found.residual < 1e-10 * found.singular_values[0]
    assert found.orthogonality > 0.5  # a projection drops whole directions
    start = table[:-5]
    _, values, right = np.linalg.svd(start, full_matrices=False)
    shown = right[values > 1e-10 * values[0]]
    expected = pe.rotation(5, 64) @ (shown.T @ shown)
    # Rounding (1e-15 x size) over the least singular value kept (1e-10 of the largest).
    np.testing.assert_allclose(found.matrix, expected, atol=1e-4)


def test_no_matrix_moves_a_lone_sine():
    found = pe.found_rotation(pe.encoding(500, 9, 100.0).table, 7)
    assert found.rank == 9
    assert found.residual > 0.1
    with pytest.raises(Refusal, match="no cosine") as caught:
        pe.rotation(7, 9)
    assert caught.value.code == "lone_sine"


def test_a_random_table_has_no_such_matrix():
    table = np.random.RandomState(0).standard_normal((200, 8))
    assert pe.found_rotation(table, 1).residual > 1


@pytest.mark.parametrize("layout", pe.LAYOUTS)
def test_the_blocks_of_a_rotation_are_plane_rotations(layout):
    blocks, rest = pe.pair_blocks(pe.rotation(3, 6, 50.0, layout), layout)
    for block, omega in zip(blocks, pe.frequencies(6, 50.0), strict=True):
        c, s = math.cos(3 * omega), math.sin(3 * omega)
        np.testing.assert_allclose(block, [[c, s], [-s, c]], atol=1e-15)
    assert rest == 0
    other = "halves" if layout == "interleaved" else "interleaved"
    assert pe.pair_blocks(pe.rotation(3, 6, 50.0, layout), other)[1] > 0.1


def test_one_position_is_zeros_and_ones():
    np.testing.assert_array_equal(pe.encoding(1, 4).table, [[0, 1, 0, 1]])
    with pytest.raises(Refusal) as caught:
        pe.found_rotation(pe.encoding(1, 4).table, 1)
    assert caught.value.code == "offset_beyond_table"


@pytest.mark.timing
def test_ten_thousand_positions_take_less_than_half_a_second():
    taken = []
    for _ in range(5):  # the machine may be busy with something else
        start = time.perf_counter()
        table = pe.encoding(10_000, 256).table
        taken.append(time.perf_counter() - start)
    assert table.shape == (10_000, 256)
    assert min(taken) < 0.5
    assert table[9999, 0] == pytest.approx(math.sin(9999), abs=1e-12)


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ((10, 8, 1.0), "encoding_base"),
        ((10, 8, 0.5), "encoding_base"),
        ((10, 8, -3.0), "encoding_base"),
        ((10, 8, math.nan), "encoding_base"),
        ((10, 8, math.inf), "encoding_base"),
        ((0, 8), "encoding_positions"),
        ((100_001, 8), "encoding_positions"),
        ((10, 1), "encoding_width"),
        ((10, 4097), "encoding_width"),
        ((100_000, 1000), "encoding_too_large"),
    ],
)
def test_what_cannot_work_is_refused_with_a_sentence(arguments, code):
    with pytest.raises(Refusal) as caught:
        pe.encoding(*arguments)
    assert caught.value.code == code
    assert str(caught.value).endswith(".")


def test_unknown_words_and_large_systems_are_refused():
    with pytest.raises(ValueError, match="layout"):
        pe.encoding(3, 4, layout="thirds")
    with pytest.raises(ValueError, match="spacing"):
        pe.encoding(3, 4, spacing="linear")
    with pytest.raises(Refusal) as caught:
        pe.found_rotation(np.ones((2048, 512)), 1)
    assert caught.value.code == "too_large_to_solve"


def test_the_package_needs_only_numpy():
    names = "sinusoidal, offsets, clocks, rotary, relative, learned, order"
    code = f"import sys; from seqviz.compute.positions import {names}; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout
    assert "seqviz.compute.positions.order" in loaded.split()
    assert not {"torch", "scipy", "statsmodels", "streamlit"} & set(loaded.split())
