"""Rows and discrepancies of the texts on the bench "bill": said at one setting, not at another."""

from __future__ import annotations

from functools import partial

import pytest

from seqviz.core.i18n import LANGUAGES
from seqviz.core.units import unbroken
from seqviz.lessons.recurrent.lesson import lesson
from tests.lessons import textbook_rows
from tests.lessons.rows import Row, check

SHAPES, TERMS, TIME = ({"view": item} for item in ("shapes", "terms", "time"))
ROWS = {
    "0-27 1,153": Row(
        "bill",
        {},
        {"n_hidden": 16},
        {"bill.shared.whole": (1153, 321), "metric.bill_rnn": (1120, 304)},
        ("1,153", "1,120"),
    ),
    "0-36 4,480 and 3,360": Row(
        "bill",
        {},
        {"n_biases": "one"},
        {"metric.bill_lstm": (4480, 4352), "metric.bill_gru": (3360, 3264)},
        ("4,480", "3,360"),
    ),
    "no biases": Row(
        "bill",
        {"n_biases": "none"},
        {},
        {
            "metric.bill_rnn": (1056, 1120),
            "metric.bill_lstm": (4224, 4480),
            "metric.bill_gru": (3168, 3360),
        },
        ("1,056", "4,224", "3,168"),
    ),
    "0-23 stacked": Row("bill", {"n_layers": 2}, {}, {"metric.bill_rnn": (3232, 1120)}, ("3,232",)),
    "0-24 bidirectional": Row(
        "bill", {"n_directions": 2}, {}, {"metric.bill_rnn": (2240, 1120)}, ("2,240",)
    ),
    "1-20": Row(
        "bill",
        {"n_layers": 3},
        {},
        {"metric.bill_rnn": (5344, 1120)},
        (("layers: 3", "3 层"), "5,344"),
    ),
    "3-13": Row(
        "bill",
        {"n_steps": 512},
        {"n_steps": 64},
        {"bill.unshared.own": (573473, 71713), "bill.unshared.ratio": (497.4, 62.2)},
        ("573,473", "1,120"),
    ),
    "3-13 one step": Row(
        "bill",
        {"n_steps": 1},
        {"n_steps": 1, "n_hidden": 8},
        {"bill.one_step.own": (1153, 97)},
        (("nothing to share", "无可共享"),),
    ),
    "1-10": Row(
        "bill",
        {"view": "shapes", "n_inputs": 8},
        {"view": "shapes"},
        {"bill.shapes.W_x": ("32\xa0×\xa08", "32\xa0×\xa01")},
        (unbroken("32 × 8"), unbroken("32 × 32")),
    ),
    "1-10 gates": Row(
        "bill",
        {"view": "shapes", "of_cell": "lstm"},
        {"view": "shapes"},
        {"bill.shapes.rows": (128, 32), "bill.shapes.W_h": ("128\xa0×\xa032", "32\xa0×\xa032")},
        (unbroken("128 × 1"), unbroken("128 × 32")),
    ),
    "0-20 shapes": Row(
        "bill",
        {"view": "shapes"},
        {"view": "shapes", "n_hidden": 8},
        {"bill.shapes.rows": (32, 8), "bill.shapes.W_h": ("32\xa0×\xa032", "8\xa0×\xa08")},
        (unbroken("32 × 1"), unbroken("32 × 32")),
    ),
    "0-45": Row(
        "bill",
        {"view": "time"},
        {"view": "time", "n_steps": 512},
        {
            "metric.bill_ratio": (5.44, 5.561),
            "bill.slower.steps": (2.23, 7.954),
            "bill.slower.product": (0.4098, 1.43),
        },
        (("steps in a row take", "依次走"),),
    ),
    "3-14": Row(
        "bill",
        {"view": "terms"},
        {"view": "terms", "answer": "is."},
        {"bill.terms.ty": (34, 3), "metric.bill_bits": (46.32, 12.37), "bill.terms.terms": (34, 3)},
        (unbroken("T_x = 10"), unbroken("T_y = 34"), ("sum: 34", "34 项")),
    ),
    "D-10 as printed": Row(
        "bill",
        {"view": "shapes", "batch_axis": False},
        {"view": "shapes"},
        {"bill.works.after": (None, [1, 32])},
        ("IndexError", "Dimension out of range"),
    ),
    "D-10 mended": Row(
        "bill",
        {"view": "shapes"},
        {"view": "shapes", "batch_axis": False},
        {"bill.works.after": ([1, 32], None)},
        ("[1, 1]", ("of shape [1, 32].", "状态形状是 [1, 32]")),
    ),
    "D-20": Row(
        "bill",
        {"view": "terms", "summed_to": "tx"},
        {"view": "terms"},
        {"metric.bill_bits": (17.49, 46.32), "bill.terms.terms": (10, 34)},
        (("leaves out the last 24", "漏掉最后 24"),),
    ),
    "D-20 longer": Row(
        "bill",
        {"view": "terms", "summed_to": "tx", "answer": "is."},
        {"view": "terms", "summed_to": "tx", "answer": "is fun."},
        {"bill.not_there.missing": (7, 3)},
        (("7 more terms", "多 7 个"),),
    ),
    "D-20 equal": Row(
        "bill",
        {"view": "terms", "given": "A", "summed_to": "tx", "answer": "is"},
        {"view": "terms", "given": "A", "answer": "it", "summed_to": "tx"},
        {"metric.bill_bits": (9.455, 11.53)},
        (("are equal", "相等"),),
    ),
    "D-21": Row(
        "bill",
        {"view": "terms", "read_from": "same"},
        {"view": "terms"},
        {"metric.bill_bits": (333.6, 46.32)},
        (("after the character has been read", "读入该字符之后"), "334", "46.3"),
    ),
    "D-21 standard": Row(
        "bill",
        {"view": "terms"},
        {"view": "terms", "read_from": "same"},
        {"metric.bill_bits": (46.32, 333.6)},
        (("before the character is read", "读入该字符之前"),),
    ),
    "Chinese": Row(
        "bill",
        {"view": "terms", "answer": "我打车去商场"},
        {"view": "terms"},
        {"bill.terms.ty": (6, 34), "bill.unknown.unknown": (6, None)},
        (("6 of the 6", "6 个字符中有 6 个"),),
    ),
}
message = partial(textbook_rows.said, lesson, "bill")


@textbook_rows.each(ROWS)
def test_row_moves(row, language):
    check(lesson, ROWS[row], language)


@pytest.mark.parametrize("lang", LANGUAGES)
def test_bill_note_changes_with_every_control(lang):
    moved = {"n_inputs": 2, "n_hidden": 8, "n_layers": 2, "n_directions": 2, "n_steps": 64,
             "n_outputs": 10, "n_biases": "one"}  # fmt: skip
    before = message({}, lang)
    assert all(message({name: value}, lang) != before for name, value in moved.items())
    for name, value in (("n_outputs", 10), ("n_outputs", 0), ("n_directions", 2), ("n_inputs", 4)):
        assert message({**SHAPES, name: value}, lang) != message(SHAPES, lang)
    for name, value in (("n_steps", 4), ("at_once", "many")):
        assert message({**TIME, name: value}, lang) != message(TIME, lang)
