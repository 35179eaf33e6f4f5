"""The sinusoidal encoding: its definition in loops, printed values, other code, rotations."""

from __future__ import annotations

import math
import time

import numpy as np
import pytest

from seqviz.compute.positions import sinusoidal as pe

ROUNDING = 1e-12  # sine and cosine of angles up to some 1000: 1000 x 1e-16, and a few operations
EACH_LAYOUT = pytest.mark.parametrize("layout", pe.LAYOUTS)


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
def test_encoding_matches_paper_formula(d_model, base):
    sinusoids = pe.encoding(40, d_model, base)
    np.testing.assert_allclose(sinusoids.table, looped(40, d_model, base), atol=ROUNDING)
    assert (sinusoids.layout, sinusoids.base) == ("interleaved", base)


def test_encoding_matches_printed_values():
    # Saeed, "A gentle introduction to positional encoding", part 1: k = 4, d = 4, n = 100.
    printed = [
        [0, 1, 0, 1],
        [0.84147098, 0.54030231, 0.09983342, 0.99500417],
        [0.90929743, -0.41614684, 0.19866933, 0.98006658],
        [0.14112001, -0.9899925, 0.29552021, 0.95533649],
    ]
    np.testing.assert_allclose(pe.encoding(4, 4, 100.0).table, printed, atol=5e-9)  # 8 places


@pytest.mark.parametrize("d_model", [2, 8, 9])
def test_encoding_halves_matches_marian(d_model):
    """An odd width ends in a sine without its cosine."""
    from transformers.models.marian import modeling_marian as marian

    theirs = marian.MarianSinusoidalPositionalEmbedding(50, d_model).create_weight().numpy()
    # float32 entries of size 1: half a unit in the last place is 6e-8.
    np.testing.assert_allclose(pe.encoding(50, d_model, layout="halves").table, theirs, atol=1e-7)


def test_encoding_longest_wave_is_shorter_than_tensor2tensor():
    """Tensor2tensor reaches the base; the formula of the paper stops short of it."""
    from transformers.models.m2m_100 import modeling_m2m_100 as m2m

    theirs = m2m.M2M100SinusoidalPositionalEmbedding.get_embedding(50, 8).numpy()
    # Their angles are float32: 50 x 6e-8, twice rounded.
    np.testing.assert_allclose(theirs[:, 3], np.sin(np.arange(50) / 1e4), atol=1e-5)
    assert pe.encoding(50, 8).longest < 0.2 * 2 * np.pi * 1e4


@EACH_LAYOUT
@pytest.mark.parametrize(("d_model", "base"), [(512, 10_000.0), (2, 1.5), (10, 300.0)])
def test_encoding_has_expected_wavelengths_and_row_norms(d_model, base, layout):
    sinusoids = pe.encoding(200, d_model, base, layout)
    expected = 2 * np.pi * base ** (2 * np.arange(d_model // 2) / d_model)
    np.testing.assert_allclose(sinusoids.wavelengths, expected, rtol=1e-13)
    assert (sinusoids.shortest, sinusoids.longest) == (2 * np.pi, sinusoids.wavelengths[-1])
    assert sinusoids.degrees(3, 0) == pytest.approx(math.degrees(3))  # one radian a position
    assert sinusoids.degrees(3, -1) == pytest.approx(360 * 3 / expected[-1])
    np.testing.assert_allclose(np.linalg.norm(sinusoids.table, axis=1), sinusoids.norm, rtol=1e-14)
    assert sinusoids.norm == pytest.approx(math.sqrt(d_model / 2))
    assert pe.encoding(3, 5).norm == math.sqrt(2)  # of an odd width that of the first row


@EACH_LAYOUT
@pytest.mark.parametrize("offset", [0, 1, 7, -3])
def test_rotation_shifts_rows_by_offset(layout, offset):
    matrix = pe.rotation(offset, 12, 1000.0, layout)
    before, after = (pe.rows(np.arange(50) + k, 12, 1000.0, layout) for k in (0, offset))
    np.testing.assert_allclose(before @ matrix.T, after, atol=ROUNDING)
    expected = np.zeros((12, 12))
    for pair in range(6):
        a, b = (2 * pair, 2 * pair + 1) if layout == "interleaved" else (pair, pair + 6)
        angle = offset * 1000.0 ** (-pair / 6)
        expected[a, a] = expected[b, b] = math.cos(angle)
        expected[a, b], expected[b, a] = math.sin(angle), -math.sin(angle)
    np.testing.assert_allclose(matrix, expected, atol=1e-15)


@EACH_LAYOUT
@pytest.mark.parametrize("offset", [1, 7, 100])
def test_fit_rotation_recovers_rotation_from_full_table(layout, offset):
    fitted_rotation = pe.fit_rotation(pe.encoding(200, 8, 100.0, layout).table, offset)
    formula = pe.rotation(offset, 8, 100.0, layout)
    assert fitted_rotation.rank_of_width == (8, 8)
    # Condition number below 2 here: rounding and nothing else.
    assert max(fitted_rotation.residual, fitted_rotation.gap(formula)) < ROUNDING
    formula[1, 2] -= 0.5
    assert fitted_rotation.gap(formula) == pytest.approx(0.5)


def test_fit_rotation_returns_minimum_norm_matrix_if_rank_deficient():
    """Few positions do not determine the slow pairs."""
    table = pe.encoding(64, 64).table
    fitted_rotation = pe.fit_rotation(table, 5)
    _, values, right = np.linalg.svd(table[:-5], full_matrices=False)
    visible = right[values > 1e-10 * values[0]]
    assert fitted_rotation.rank_of_width == (len(visible), 64)
    assert fitted_rotation.rank < 64
    # What was cut off is below 1e-10 of the largest singular value.
    assert fitted_rotation.residual < 1e-10 * values[0]
    # Rounding (1e-15 x size) over the least singular value kept (1e-10 of the largest).
    assert fitted_rotation.gap(pe.rotation(5, 64) @ (visible.T @ visible)) < 1e-4


def test_fit_rotation_leaves_residual_for_lone_sine():
    fitted_rotation = pe.fit_rotation(pe.encoding(500, 9, 100.0).table, 7)
    assert fitted_rotation.rank == 9
    assert fitted_rotation.residual > 0.1


@pytest.mark.timing
def test_encoding_of_ten_thousand_positions_takes_under_half_second():
    taken = []
    for _ in range(5):  # the machine may be busy with something else
        start = time.perf_counter()
        table = pe.encoding(10_000, 256).table
        taken.append(time.perf_counter() - start)
    assert table[9999, 0] == pytest.approx(math.sin(9999), abs=1e-12)
    assert min(taken) < 0.5
