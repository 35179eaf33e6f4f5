"""Every row of the texts that belongs to this lesson, as a number of a bench that moves.

Rows 4-08 to 4-19 are one example of eight words, printed by the text for seed 123.
"""

from __future__ import annotations

import pytest

from seqviz.lessons.attention.lesson import lesson
from tests.lessons.rows import Row, check, falls, rises

pytestmark = pytest.mark.usefixtures("minilm")

HEADS = {"stage": 5, "heads": 8}


def by_hand(stage, moves, **after):
    return Row("by_hand", {"stage": stage}, {"stage": stage, **after}, moves)


ROWS = {
    "0-43": by_hand(2, {"weight": (0.0008979, 0.1609)}, temperature=5.0),
    "0-47": by_hand(5, {"divisor": (4.0, 1.0)}, scale="none"),
    "0-48": Row("apart", {"key": 3}, {"key": 8}, {"weight": (0.6879, 0.05386)}),
    "0-49": Row("by_hand", HEADS, HEADS | {"width": "split"}, {"d_k": (16, 2)}),
    "0-51": by_hand(7, {"closed": (0, 28), "row_sum": (1.0, 1.0)}, causal=True),
    "1-29": by_hand(2, {"weight": (0.0008979, 0.0)}, causal=True),
    "1-30": by_hand(4, {"score": (14.367, 14.435)}, query=3),
    "1-31": Row("scale", {}, {"temperature": 2.0}, {"d_k": rises}),  # entropy of scores / sqrt(d_k)
    "1-32": Row(
        "by_hand",
        {"stage": 7, "causal": True},
        {"stage": 7, "causal": True, "operator": "multiply"},
        {"weight": (0.0, 0.06104)},
    ),
    "1-34": Row(
        "by_hand", {"stage": 9, "heads": 8}, {"stage": 9, "heads": 4}, {"joined": (128, 64)}
    ),
    "2-21": Row(
        "real",
        {},
        {"encoder": "The animal did not cross the street, it was too wide."},
        {"weight": falls},
    ),
    "2-22": Row("ablate", {"off": "5.7"}, {"off": "5.7,3.1"}, {"pair": (0.5721, 0.5668)}),
    "4-08": by_hand(1, {"scaled": (23.01, 61.63)}, seed=1),
    "4-09": by_hand(2, {"score": (9.064, 22.66)}, query=3),
    "4-10": by_hand(2, {"share": (0.9991, 0.6543), "row_sum": (1.0, 1.0)}, temperature=5.0),
    "4-11": by_hand(2, {"rest": falls}, query=3),
    "4-12": by_hand(3, {"d_k": (16, 32)}, d_k=32),
    "4-13": by_hand(4, {"score": (14.3667, 32.148)}, key=4),
    "4-14": by_hand(7, {"share": (0.8560, 0.9993)}, scale="none"),
    "4-15": by_hand(8, {"share": (0.8560, 0.9456)}, query=3),
    "4-17": Row("by_hand", HEADS, HEADS | {"head": 2}, {"score": (25.60, 16.14)}),
    "4-18": Row("by_hand", HEADS, HEADS | {"width": "split"}, {"joined": (128, 16)}),
    "4-19": Row(
        "by_hand", {"stage": 9, "heads": 8}, {"stage": 9, "heads": 1}, {"joined": (128, 16)}
    ),
}


@pytest.mark.parametrize("row", ROWS)
def test_row_moves(row):
    check(lesson, ROWS[row])
