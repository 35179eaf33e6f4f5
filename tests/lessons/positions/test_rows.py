"""Every row of the texts that belongs to this lesson, as a number of a bench that moves.

Of row 1-35 that learned vectors are added; that late ones are less trained is a view without a
control.
"""

from __future__ import annotations

import pytest

from seqviz.lessons.positions.lesson import lesson
from tests.lessons.frozen import Row, becomes, check, each, falls

pytestmark = pytest.mark.usefixtures("minilm")

SAME = {"second": "Mary gave John a flower"}
ROWS = {
    "0-44": Row("distance", {"base": 10_000.0}, {"base": 100.0}, "longest", falls),
    "1-35": Row("effect", {"strength": 1.0}, {"strength": 2.0}, "moved_learned",
                becomes(0.6566, 0.9841)),
    # positions 4, 5 and 17: 1 and 13 apart
    "1-36": Row("distance", {}, {"base": 10.0}, lambda facts: (facts["near"], facts["far"]),
                becomes((7.485, 5.516), (6.928, -1.229))),
    "2-20": Row("effect", {"strength": 1.0}, {"strength": 0.0}, "moved_learned",
                becomes(0.6566, 0.0)),
    "4-22": Row("effect", {}, SAME, lambda facts: (facts["moved_none"], facts["moved_sinusoidal"]),
                becomes((0.0, 0.1749), (0.0, 0.0))),
}  # fmt: skip


@each(ROWS)
def test_row_moves(row):
    check(lesson, ROWS[row])
