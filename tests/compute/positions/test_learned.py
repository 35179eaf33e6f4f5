"""Analysis of position tables: PCA, spectrum and likeness against SciPy and closed forms."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from scipy import signal, spatial

from seqviz.compute.positions import learned, sinusoidal
from seqviz.compute.positions.tiny.network import TinyEncoder
from seqviz.core.errors import UserError

TABLE = np.random.RandomState(0).standard_normal((60, 20)) * np.linspace(3, 0.2, 20) + 5
WAVES = sinusoidal.encoding(60, 20).table


@pytest.mark.parametrize("table", [TABLE, -TABLE, WAVES])
def test_path_matches_svd_of_centered_table(table):
    result = learned.path(table)
    left, values, right = np.linalg.svd(table - table.mean(axis=0), full_matrices=False)
    # Squaring the table: relative 1e-15 of the square, over gaps of some percent.
    np.testing.assert_allclose(result.explained, values[:2] ** 2 / (values**2).sum(), rtol=1e-12)
    largest = right[[0, 1], np.abs(right[:2]).argmax(axis=1)]
    sign = np.sign(largest)  # the largest entry of a direction is positive
    np.testing.assert_allclose(result.directions, sign[:, None] * right[:2], atol=1e-11)
    np.testing.assert_allclose(result.components, left[:, :2] * values[:2] * sign, atol=1e-10)


def test_path_of_circle_has_two_equal_components():
    table = sinusoidal.rows(np.arange(40) * 2 * np.pi / 40, 2) * 3
    result = learned.path(table)
    np.testing.assert_allclose(result.explained, [0.5, 0.5], rtol=1e-13)
    np.testing.assert_allclose(np.linalg.norm(result.components, axis=1), 3, rtol=1e-13)


@pytest.mark.parametrize("positions", [1, 7])
def test_path_and_compare_handle_tables_without_variance(positions):
    table = np.full((positions, 4), 0.1)
    result, like = learned.path(table), learned.compare(table)
    np.testing.assert_array_equal(result.explained, 0)
    np.testing.assert_array_equal(result.components, 0)
    assert np.isnan([like.cka, like.unlike]).all()
    assert like.in_eight == 0


@pytest.mark.parametrize("n", [2, 3, 16, 17])
def test_spectrum_matches_scipy_and_sums_to_variance(n):
    table = TABLE[:n]
    result = learned.spectrum(table)
    frequency, power = signal.periodogram(table, detrend="constant", scaling="spectrum", axis=0)
    np.testing.assert_allclose(result.frequency, frequency[1:], atol=1e-15)
    np.testing.assert_allclose(result.power, power[1:].mean(axis=1), rtol=1e-12, atol=1e-15)
    assert result.power.sum() == pytest.approx(table.var(axis=0).mean(), rel=1e-12)


def test_compare_is_invariant_to_rotation_and_scale():
    turn, _ = np.linalg.qr(np.random.RandomState(1).standard_normal((20, 20)))
    result = learned.compare(2.5 * WAVES @ turn + 4)
    assert result.cka == pytest.approx(1, abs=1e-12)
    assert result.unlike == pytest.approx(0, abs=1e-12)
    assert result.in_eight == pytest.approx(result.sinusoidal_in_eight, abs=1e-12)
    assert result.cka_chance < 0.6


def test_compare_matches_definition_and_scipy():
    result = learned.compare(TABLE)
    x, y = TABLE - TABLE.mean(axis=0), WAVES - WAVES.mean(axis=0)
    cross, own, other = (np.sum((a.T @ b) ** 2) for a, b in ((x, y), (x, x), (y, y)))
    assert result.cka == pytest.approx(cross / math.sqrt(own * other), rel=1e-12)
    assert result.unlike == pytest.approx(spatial.procrustes(WAVES, TABLE)[2], abs=1e-12)
    for share, table in ((result.in_eight, x), (result.sinusoidal_in_eight, y)):
        squares = np.linalg.svd(table, compute_uv=False) ** 2
        assert share == pytest.approx(squares[:8].sum() / squares.sum(), abs=1e-12)
    # Rows drawn independently are like waves no more than by chance, which is far from 0.
    assert result.cka == pytest.approx(result.cka_chance, abs=0.05)
    # float32 entries of an odd width
    item, exact = (learned.compare(TABLE[:, :7].astype(kind)) for kind in (np.float32, float))
    assert item.cka == pytest.approx(exact.cka, rel=1e-5)


def test_updates_match_gradients_of_network():
    """Autograd gives a row a gradient exactly where a text reaches its position."""
    draws = [np.random.RandomState(0)]
    network = TinyEncoder("learned", 5, 2, 12, draws)
    lengths, longest = np.array([2, 3, 3, 8, 11]), 9
    reached = np.zeros(12)
    for length in np.minimum(lengths, longest):
        network.zero_grad()
        network(torch.zeros(1, 1, length, dtype=torch.int64)).square().sum().backward()
        reached += network.table.grad[0].abs().sum(1).numpy() > 0
    result = learned.updates(lengths, 12, longest)
    np.testing.assert_allclose(result.separate, reached / len(lengths))
    np.testing.assert_array_equal(result.packed, np.arange(12) < longest)
    facts = result.summary()
    assert (result.sequences, facts["never"], facts["packed_never"]) == (3, 3, 3)
    assert (facts["half"], facts["end"], facts.variant) == (3, 9, "some")
    assert learned.updates(lengths, 8, 8).summary().variant == "all"
    with pytest.raises(UserError):
        learned.updates(lengths, 12, 13)
