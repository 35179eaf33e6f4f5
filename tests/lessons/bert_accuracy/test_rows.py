"""Every row of the texts that belongs to this lesson, as a number of a bench that moves."""

from __future__ import annotations

import pytest

from seqviz.lessons.bert_accuracy.lesson import lesson
from tests.lessons.rows import Row, check

pytestmark = pytest.mark.usefixtures("minilm")

TOKENS, PAIRED = {"view": "tokens"}, {"view": "paired"}
ROWS = {
    "0-68": Row(
        "padding",
        TOKENS,
        TOKENS | {"text": "I love sci-fi."},
        {"real": (21, 8), "pads": (491, 504)},
    ),
    "0-72": Row(
        "compare",
        PAIRED | {"first": "random_head"},
        PAIRED | {"first": "all"},
        {"system_a": (0.583, 0.872)},
    ),
}


@pytest.mark.parametrize("row", ROWS)
def test_row_moves(row):
    check(lesson, ROWS[row])
