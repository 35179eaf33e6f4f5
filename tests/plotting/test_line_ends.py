"""Names at the ends of lines: apart from one another, and none beyond the axis."""

from __future__ import annotations

import numpy as np
import pytest

from seqviz.plotting.axes import around
from seqviz.plotting.line_ends import spread


@pytest.mark.parametrize(
    ("wanted", "top", "found"),
    [
        ([], None, []),
        # near their lines, and those that stand alone are where they want to be
        ([99.0, 98.0, 30.0, 97.0, 60.0], None, [104.0, 98.0, 30.0, 92.0, 60.0]),
        # three in a heap push the fourth, which was far enough from each of them
        ([0.0, 0.0, 0.0, 8.0], None, [-7.0, -1.0, 5.0, 11.0]),
        # none above the axis, which would leave it out
        ([100.0, 100.0, 100.0, 90.0, 36.0], 103.0, [91.0, 97.0, 103.0, 85.0, 36.0]),
    ],
)
def test_spread_separates_labels_near_their_lines(wanted, top, found):
    assert spread(wanted, 6.0, *([] if top is None else [top])) == pytest.approx(found)


def test_around_covers_values_with_nonempty_range():
    low, high = around(np.array([1.0, np.nan, 3.0]), np.array([2.0]))
    assert low < 1 < 3 < high
    for flat in (np.zeros(3), np.full(3, 5.0), np.full(2, np.nan)):
        low, high = around(flat)
        assert low < high
