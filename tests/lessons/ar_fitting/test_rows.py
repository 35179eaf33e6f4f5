"""Every row of the texts that belongs to this lesson, as a number of a bench that moves.

Row 3-01 asks for context and for any length: a window that reaches the season, against an RNN,
whose error is the same beside every window. The three tasks of row 0-02 are wirings of an unrolled
network: the lesson on RNNs draws them.
"""

from __future__ import annotations

import pytest

from seqviz.lessons.ar_fitting.lesson import lesson
from seqviz.lessons.recurrent.lesson import lesson as recurrent
from tests.lessons.rows import Row, check, falls

WINDOW = {"view": "window"}
ROWS = {
    "0-01": Row("process", {}, {"shuffle": True}, {"r1": (0.7545, 0.02398)}),
    "0-03": Row(
        "process",
        {"phi": 0.8},
        {"phi": -0.5},
        {"r1": lambda first, second: abs(first - 0.8) < 0.1 and abs(second + 0.5) < 0.1},
    ),
    "0-04": Row("process", {}, {"order": 2}, {"memory": (14, 9)}),
    "0-05": Row(
        "forecast",
        {"horizon": 1},
        {"horizon": 20},
        {"difference": lambda first, second: first < 1e-9 < 0.1 < second},
    ),
    "0-18": Row(
        "networks", WINDOW | {"window": 3}, WINDOW | {"window": 4}, {"parameters": (41, 49)}
    ),
    "0-27": Row("networks", {"preset": "text"}, {"preset": "text_1000"}, {"network_mse": falls}),
    "0-28": Row(
        "networks", {"preset": "held_out"}, {"preset": "text_1000"}, {"error": (1.2316, 0.7013)}
    ),
    "3-01": Row(
        "networks",
        WINDOW | {"window": 3},
        WINDOW | {"window": 4},
        {"network_mse": (2.154, 0.9700), "rnn_mse": (1.034, 1.034)},
    ),
    "3-02": Row(
        "fit",
        {"process.order": 2, "same": False, "model": 1},
        {"process.order": 2, "same": False, "model": 2},
        {"sigma_hat": falls},
    ),
    # A window below the season sees nothing of it; the state of the RNN does, whatever it reads.
    "3-03": Row(
        "networks",
        WINDOW | {"window": 1},
        WINDOW | {"window": 4},
        {lambda facts: facts["network_mse"] - facts["rnn_mse"]: lambda a, b: a > 0.5 > b},
    ),
}


@pytest.mark.parametrize("row", ROWS)
def test_row_moves(row):
    check(lesson, ROWS[row])


def test_row_0_02_moves():
    """One output after every input, or one after all of them: as many pairs have an influence."""
    check(
        recurrent,
        Row("wirings", {"read_at": "each"}, {"read_at": "last"}, {"nonzero": ((21, 36), (6, 6))}),
    )
