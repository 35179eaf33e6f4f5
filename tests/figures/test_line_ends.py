"""Names at the ends of lines: apart from one another, and none beyond the axis."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from seqviz.figures.grammar.axes import around
from seqviz.figures.grammar.line_ends import spread


def test_labels_stand_apart_and_near_their_lines():
    wanted = [99.0, 98.0, 30.0, 97.0, 60.0]
    found = spread(wanted, 6.0)
    assert np.diff(sorted(found)).min() >= 6.0 - 1e-9  # rounding of sums of numbers below 200
    assert (found[2], found[4]) == (30.0, 60.0)
    assert [found[0], found[1], found[3]] == pytest.approx([104.0, 98.0, 92.0])
    assert spread([], 6.0) == []


def test_labels_that_meet_only_after_others_were_moved():
    """Three in a heap push the fourth, which was far enough from each of them."""
    found = spread([0.0, 0.0, 0.0, 8.0], 6.0)
    assert sorted(found) == pytest.approx([-7.0, -1.0, 5.0, 11.0])


def test_no_label_stands_above_the_axis_that_would_leave_it_out():
    found = spread([100.0, 100.0, 100.0, 90.0, 36.0], 6.0, 103.0)
    assert max(found) == 103.0
    in_order = sorted(found)
    assert all(b - a >= 6.0 - 1e-9 for a, b in pairwise(in_order))
    assert found[4] == 36.0


def test_a_range_holds_its_values():
    low, high = around(np.array([1.0, np.nan, 3.0]), np.array([2.0]))
    assert low < 1 < 3 < high
    for flat in (np.zeros(3), np.full(3, 5.0), np.full(2, np.nan)):
        low, high = around(flat)
        assert low < high
