"""Analysis of position tables: PCA, spectrum and likeness against SciPy and closed forms."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import signal, spatial

from seqviz.compute.positions import learned, sinusoidal
from seqviz.refusal import Refusal

TABLE = np.random.RandomState(0).standard_normal((60, 20)) * np.linspace(3, 0.2, 20) + 5


def test_the_path_is_the_svd_of_the_centered_table():
    found = learned.path(TABLE, 4)
    centered = TABLE - TABLE.mean(axis=0)
    left, values, right = np.linalg.svd(centered, full_matrices=False)
    # Squaring the table: relative 1e-15 of the square, over gaps of some percent.
    np.testing.assert_allclose(found.explained, values[:4] ** 2 / (values**2).sum(), rtol=1e-12)
    for place in range(4):
        sign = np.sign(found.directions[place] @ right[place])
        np.testing.assert_allclose(found.directions[place], sign * right[place], atol=1e-11)
        expected = sign * left[:, place] * values[place]
        np.testing.assert_allclose(found.components[:, place], expected, atol=1e-10)


def test_signs_do_not_depend_on_the_tables_sign():
    a, b = learned.path(TABLE), learned.path(-TABLE)
    assert (np.take_along_axis(a.directions, np.abs(a.directions).argmax(1)[:, None], 1) > 0).all()
    np.testing.assert_allclose(a.directions, b.directions, atol=1e-12)
    np.testing.assert_allclose(a.components, -b.components, atol=1e-11)


def test_a_circle_has_a_path_of_two_equal_components():
    table = sinusoidal.rows(np.arange(40) * 2 * np.pi / 40, 2) * 3
    found = learned.path(table, 5)
    np.testing.assert_allclose(found.explained, [0.5, 0.5], rtol=1e-13)
    np.testing.assert_allclose(np.linalg.norm(found.components, axis=1), 3, rtol=1e-13)


def test_tables_of_one_position_or_equal_rows_have_no_path():
    for table in (np.full((1, 4), 0.1), np.full((7, 4), 0.1)):
        found = learned.path(table)
        np.testing.assert_array_equal(found.explained, 0)
        np.testing.assert_array_equal(found.components, 0)


@pytest.mark.parametrize("n", [2, 3, 16, 17])
def test_the_spectrum_is_scipys_and_sums_to_the_variance(n):
    table = TABLE[:n]
    found = learned.spectrum(table)
    frequency, power = signal.periodogram(table, detrend="constant", scaling="spectrum", axis=0)
    np.testing.assert_allclose(found.frequency, frequency[1:], atol=1e-15)
    np.testing.assert_allclose(found.power, power[1:].mean(axis=1), rtol=1e-12, atol=1e-15)
    assert found.power.sum() == pytest.approx(table.var(axis=0).mean(), rel=1e-12)


def test_a_wave_that_fits_has_one_line_of_half_its_squared_amplitude():
    place = np.arange(64)
    wave = 3 * np.sin(2 * np.pi * 5 / 64 * place + 0.4)
    found = learned.spectrum(np.stack([wave, 0 * wave + 7], axis=1))
    wanted = np.zeros(32)
    wanted[4] = 9 / 2 / 2  # averaged over the two dimensions
    np.testing.assert_allclose(found.power, wanted, atol=1e-13)
    assert found.strongest[0] == 5 / 64
    alternating = learned.spectrum((-1.0) ** place[:, None])
    assert (alternating.frequency[-1], alternating.power[-1]) == (0.5, 1.0)


def test_sinusoids_are_found_at_their_frequencies():
    encoding = sinusoidal.encoding(256, 32, 100.0)
    found = learned.spectrum(encoding.table)
    # Fast waves; slow ones leak into the mean. Within one bin of the table's length.
    for pair in range(8):
        for column in (2 * pair, 2 * pair + 1):
            assert abs(found.strongest[column] - 1 / encoding.wavelengths[pair]) <= 1 / 256


def test_a_sinusoidal_table_turned_and_scaled_is_like_itself():
    waves = sinusoidal.encoding(60, 20).table
    turn, _ = np.linalg.qr(np.random.RandomState(1).standard_normal((20, 20)))
    found = learned.compare(2.5 * waves @ turn + 4)
    assert found.cka == pytest.approx(1, abs=1e-12)
    assert found.unlike == pytest.approx(0, abs=1e-12)
    np.testing.assert_allclose(found.share, found.sinusoidal_share, atol=1e-12)
    np.testing.assert_allclose(found.sinusoidal_norms, np.sqrt(10), rtol=1e-14)
    assert found.cka_chance < 0.6


def test_likeness_by_definition_and_by_scipy():
    found = learned.compare(TABLE)
    waves = sinusoidal.encoding(60, 20).table
    x, y = TABLE - TABLE.mean(axis=0), waves - waves.mean(axis=0)
    cross, own, other = (np.sum((a.T @ b) ** 2) for a, b in ((x, y), (x, x), (y, y)))
    assert found.cka == pytest.approx(cross / math.sqrt(own * other), rel=1e-12)
    assert found.unlike == pytest.approx(spatial.procrustes(waves, TABLE)[2], abs=1e-12)
    for values, table in ((found.share, x), (found.sinusoidal_share, y)):
        squares = np.linalg.svd(table, compute_uv=False) ** 2
        wanted = [squares[:count].sum() / squares.sum() for count in (2, 8, 32)]
        np.testing.assert_allclose(values, wanted, atol=1e-12)
    assert list(found.counts) == [2, 8, 32]
    np.testing.assert_allclose(found.norms, np.linalg.norm(TABLE, axis=1), rtol=1e-15)
    # Rows drawn independently are like waves no more than by chance, which is far from 0.
    assert found.cka == pytest.approx(found.cka_chance, abs=0.05)


def test_float32_tables_odd_widths_and_tables_without_variation():
    found = learned.compare(TABLE[:, :7].astype(np.float32))
    wide = learned.compare(TABLE[:, :7])
    assert found.cka == pytest.approx(wide.cka, rel=1e-5)  # float32 entries
    still = learned.compare(np.full((5, 4), 0.1))
    assert np.isnan([still.cka, still.unlike]).all()
    np.testing.assert_array_equal(still.share, 0)
    assert learned.compare(np.ones((1, 4))).norms[0] == 2


def test_what_cannot_work_is_refused():
    hole = np.ones((3, 4))
    hole[1, 1] = np.nan
    for call, code in (
        (lambda: learned.path(hole), "table_not_finite"),
        (lambda: learned.spectrum(np.ones((1, 4))), "one_position"),
        (lambda: learned.compare(np.ones((0, 4))), "encoding_positions"),
        (lambda: learned.path(np.ones((2049, 1))), "encoding_positions"),
        (lambda: learned.compare(TABLE, base=1.0), "encoding_base"),
    ):
        with pytest.raises(Refusal) as caught:
            call()
        assert caught.value.code == code
    with pytest.raises(ValueError, match="at least one"):
        learned.path(TABLE, 0)
