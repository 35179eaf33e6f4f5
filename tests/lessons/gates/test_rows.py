"""Every row of the texts that belongs to this lesson, as a number of a bench that moves.

The simplified GRU of row 0-40 is a bench of *Vanishing gradients*; row 1-23 of that lesson,
agreement over a distance, is a bench of this one.
"""

from __future__ import annotations

import pytest

from seqviz.lessons.gates.lesson import lesson
from seqviz.lessons.vanishing_gradients.lesson import lesson as vanishing
from tests.lessons.rows import Row, check, falls, rises

SHORT = {"watch.characters": "A slow film."}
ROWS = {
    "0-36": Row("one", {}, {"added": -4.0}, {"kept": falls}),
    "0-37": Row("force", {"f": 0.0}, {"f": 1.0}, {"state": rises}),
    "0-38": Row("one", {"cell": "gru"}, {"cell": "gru", "added": -4.0}, {"kept": falls}),
    "0-39": Row(
        "size",
        {"hidden": 32},
        {"hidden": 64},
        {
            lambda facts: [facts[f"count_{cell}"] for cell in ("rnn", "gru", "lstm")]: (
                [1120, 3360, 4480],
                [4288, 12_864, 17_152],
            )
        },
    ),
    "1-23": Row("agreement", {}, {"text": "The flights"}, {"bits_gru": falls}),
    # k = c · f, j = g · i and c = j + k of one unit
    "1-25": Row(
        "one",
        {"unit": 5},
        {"unit": 3},
        {
            lambda facts: (facts["kept"] + float(facts["written"]), facts["result"]): lambda a, b: (
                all(abs(s - c) < 1e-3 for s, c in (a, b)) and falls(a[1], b[1])
            )
        },
    ),
    "1-26": Row(
        "one", {"view": "mask"}, {"view": "mask", "temperature": 0.05}, {"saturated": rises}
    ),
    "1-27": Row(
        "conventions", {"cell": "gru"}, {"cell": "gru"} | SHORT, {"nearest": (0.07234, 0.05947)}
    ),
    "1-28": Row(
        "size",
        {"biases": "two"},
        {"biases": "none"},
        {"count_rnn": (1120, 1056), "count_lstm": (4480, 4224)},
    ),
    "3-19": Row("conventions", {"cell": "gru"}, {"cell": "gru"} | SHORT, {"size": (13.77, 13.26)}),
    "3-20": Row(
        "conventions",
        {"cell": "gru"},
        {"cell": "lstm"},
        {"furthest": ("z put into the other equation", "no tanh")},
    ),
}
# The three cases: D_u = 0 gives the identity, D_u = 1 with D_r = 0 nothing, both 1 a plain RNN.
CASES = [
    Row("gates", {"update": 0.1}, {"update": 0.0}, {"gru_radius": (0.9850, 1.0)}),
    Row("gates", {"update": 1.0}, {"update": 1.0, "reset": 0.0}, {"gru_radius": (0.9448, 0)}),
    Row(
        "gates",
        {"update": 0.1},
        {"update": 1.0},
        {lambda facts: facts["gru_radius"] - facts["rnn_radius"]: (0.04025, 0.0)},
    ),
]


@pytest.mark.parametrize("row", ROWS)
def test_row_moves(row):
    check(lesson, ROWS[row])


@pytest.mark.parametrize("row", range(len(CASES)))
def test_row_0_40_moves(row):
    check(vanishing, CASES[row])
