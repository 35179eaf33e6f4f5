"""The numbers that stand under the figures of positions, by hand or from the formula."""

from __future__ import annotations

import math

import numpy as np
import pytest

from seqviz.compute.positions import relative, rotary
from seqviz.compute.positions.findings import VARIANTS, Reordered
from seqviz.compute.positions.learned import compare
from seqviz.compute.positions.orders import Orders
from seqviz.compute.positions.sinusoidal import encoding, found_rotation, rotation
from seqviz.units import unit_of


@pytest.mark.parametrize(("d_model", "base"), [(64, 10_000.0), (2, 1.5), (10, 300.0)])
def test_of_a_table(d_model, base):
    found = encoding(5, d_model, base)
    assert found.norm == pytest.approx(math.sqrt(d_model / 2))
    assert found.shortest == pytest.approx(2 * math.pi)
    assert found.longest == pytest.approx(2 * math.pi * base ** ((d_model - 2) / d_model))
    assert found.degrees(3, 0) == pytest.approx(math.degrees(3))  # one radian a position
    assert found.degrees(3, -1) == pytest.approx(360 * 3 / found.longest)


def test_of_the_rotation_that_was_found():
    found = found_rotation(encoding(40, 4, 10.0).table, 2)
    formula = rotation(2, 4, 10.0)
    assert found.rank_of_width == (4, 4)
    assert found.gap(formula) < 1e-9
    moved = formula.copy()
    moved[1, 2] -= 0.5
    assert found.gap(moved) == pytest.approx(0.5)
    assert unit_of(type(found), "residual").digits == 2


def test_of_rotated_scores():
    found = rotary.random_scores(6, 9, 100.0)
    q, k = np.random.RandomState(1).standard_normal((2, 6))
    assert found.pairs == 3
    assert found.spread == (found.by_offset.high - found.by_offset.low).max() < 1e-12
    assert found.error < 1e-12
    other = rotary.ScoresByOffset(
        found.positions, found.scores, found.by_offset, found.closed_form + 0.25, 3
    )
    assert other.error == pytest.approx(0.25)
    assert found.closed_form[8] == pytest.approx(float(q @ k))  # no offset: the plain product


def test_of_schemes_in_the_score():
    slopes = relative.alibi_slopes(8)
    assert relative.largest_slope(slopes) == 1 / 2
    assert relative.smallest_slope(slopes) == 1 / 256
    assert relative.buckets_used(np.array([[0, 1], [17, 0]]), 32) == (3, 32)


def test_of_a_shift():
    learned = relative.shift_change("learned", 16, 500)
    assert learned.without_row == (4, 16)  # positions 512 to 515 of a table of 512
    turned = relative.shift_change("rotary", 16, 500)
    assert turned.rounding == np.abs(turned.after - turned.before).max()
    assert unit_of(type(turned), "rounding").digits == 2


def orders(partner, moved):
    square = np.zeros((2, 3, 3))
    return Orders(("a", "b", "c"), ("b", "a"), partner, ("none", "rotary"), np.array(moved),
                  np.zeros(2), square, square[:, :2, :2])  # fmt: skip


def test_of_two_orders():
    nan = math.nan
    found = orders((1, 0, -1), [[1e-13, 3e-13, nan], [0.2, 0.125, nan]])
    assert found.farthest("none") == 0  # rounding
    assert found.farthest("rotary") == 0.2
    assert found.strangers
    alone = orders((-1, -1, -1), [[nan] * 3] * 2)
    assert math.isnan(alone.farthest("none"))
    assert alone.strangers
    assert not Orders(**{**vars(found), "others": ("b", "a", "c"), "partner": (1, 0, 2)}).strangers


def test_of_a_learned_table():
    table = np.random.RandomState(3).standard_normal((30, 12))
    found = compare(table)
    values = np.linalg.svd(table - table.mean(0), compute_uv=False) ** 2
    assert found.in_eight == pytest.approx(values[:8].sum() / values.sum())
    sines = encoding(30, 12).table
    values = np.linalg.svd(sines - sines.mean(0), compute_uv=False) ** 2
    assert found.sinusoidal_in_eight == pytest.approx(values[:8].sum() / values.sum())
    assert unit_of(type(found), "unlike").kind == "share"


@pytest.mark.parametrize("place", range(len(VARIANTS)))
def test_of_a_real_encoder(place):
    alike, kept, previous = np.random.RandomState(0).uniform(size=(3, 4))
    found = Reordered("m", ("a",), ("a",), VARIANTS, alike, kept, previous,
                      np.ones((4, 1, 1)), 0, 0)  # fmt: skip
    assert found.alike_of(VARIANTS[place]) == alike[place]
    assert found.kept_of(VARIANTS[place]) == kept[place]
    assert found.previous_of(VARIANTS[place]) == previous[place]
