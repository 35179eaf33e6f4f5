"""Every row of the texts that belongs to this lesson, as a number of a bench that moves.

Row 1-23, agreement over a distance, is a bench of *Gates*.
"""

from __future__ import annotations

import pytest

from seqviz.lessons.vanishing_gradients.lesson import lesson
from tests.lessons.rows import Row, check, falls, rises


def of_both_ways(facts):
    """The norm of a weight gradient, by its formula and by PyTorch."""
    return facts["weight_total"], facts["weight_autograd"]


def agree(before, after):
    return all(pair[0] == pytest.approx(pair[1]) for pair in (before, after)) and (
        rises(before[0], after[0]) or falls(before[0], after[0])
    )


ROWS = {
    "0-29": Row("paths", {"steps": 6}, {"steps": 12}, {"total": falls}),
    "0-30": Row("back", {"shift": 0.0}, {"shift": 1.0}, {"own": (0.1876, 0.4790)}),
    "0-31": Row(
        "weights", {"matrix": "readout"}, {"matrix": "readout", "gain": 1.2}, {of_both_ways: agree}
    ),
    "0-32": Row("paths", {"t": 1}, {"t": 3}, {"share": (0.4160, 0.3167)}),
    "0-33": Row(
        "reach",
        {"gain": 0.9},
        {"gain": 1.2},
        {"linear:factor": lambda before, after: before < 1 < after},
    ),
    "0-34": Row("weights", {}, {"matrix": "input_hidden"}, {of_both_ways: agree}),
    "0-35": Row("back", {"taken": 2}, {"taken": 2, "cell": "rnn"}, {"carried": falls}),
    "1-12": Row(
        "cut",
        {"kind": "segments", "window": 10},
        {"kind": "segments", "window": 50},
        {"kept": rises},
    ),
    "1-24": Row(
        "reach",
        {"steps": 100},
        {"steps": 20},
        {lambda facts: float(facts["rnn"].norms.hidden[0]): rises},
    ),
    "2-12": Row("pairs", {"earlier": 40}, {"earlier": 70}, {"largest": rises}),
    "3-15": Row("cut", {"view": "random"}, {"view": "random", "stop": 0.4}, {"one_draw": rises}),
    "3-17": Row("pairs", {}, {"reach.gain": 1.5}, {"bound": (8.052, 16.93)}),
    "3-18": Row(
        "cut",
        {"view": "clipping", "radius": 1.1},
        {"view": "clipping", "radius": 1.1, "threshold": 0.1},
        {"loss_clipped": rises},
    ),
}


@pytest.mark.parametrize("row", ROWS)
def test_row_moves(row):
    check(lesson, ROWS[row])
