"""Every row of the texts that belongs to this lesson, as a number of a bench that moves.

Row 1-35 has two: learned vectors are added, and late ones are trained by fewer texts.
"""

from __future__ import annotations

import pytest

from seqviz.lessons.positions.lesson import lesson
from tests.lessons.rows import Row, check, falls

pytestmark = pytest.mark.usefixtures("minilm")

SAME = {"second": "Mary gave John a flower"}
UPDATES = {"view": "updates"}
ROWS = {
    "0-44": Row("distance", {"base": 10_000.0}, {"base": 100.0}, {"longest": falls}),
    "1-35": Row(
        "effect", {"strength": 1.0}, {"strength": 2.0}, {"moved_learned": (0.6566, 0.9841)}
    ),
    "1-35 updates": Row(
        "learned",
        UPDATES,
        UPDATES | {"longest": 16},
        {"never": (433, 496), "packed_never": (384, 496), "half": (26, 16)},
    ),
    # positions 4, 5 and 17: 1 and 13 apart
    "1-36": Row("distance", {}, {"base": 10.0}, {"near": (7.485, 6.928), "far": (5.516, -1.229)}),
    "2-20": Row("effect", {"strength": 1.0}, {"strength": 0.0}, {"moved_learned": (0.6566, 0.0)}),
    "4-22": Row("effect", {}, SAME, {"moved_none": (0.0, 0.0), "moved_sinusoidal": (0.1749, 0.0)}),
}


@pytest.mark.parametrize("row", ROWS)
def test_row_moves(row):
    check(lesson, ROWS[row])
