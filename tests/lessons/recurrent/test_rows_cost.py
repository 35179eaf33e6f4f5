"""Rows and discrepancies of the texts on the bench "bill": said at one setting, not at another."""

from __future__ import annotations

from functools import partial

import pytest

from seqviz.core.i18n import LANGUAGES
from seqviz.core.units import unbroken
from seqviz.lessons.recurrent.lesson import lesson
from tests.lessons import textbook_rows

SHAPES, TERMS, TIME = ({"view": item} for item in ("shapes", "terms", "time"))
SHORT = {**TERMS, "given": "A"}
ROWS = {
    "0-27 1,153": ({}, ("1,153", "1,120"), {"n_hidden": 16}),
    "0-36 4,480 and 3,360": ({}, ("4,480", "3,360"), {"n_biases": "one"}),
    "no biases": ({"n_biases": "none"}, ("1,056", "4,224", "3,168"), {}),
    "0-23 stacked": ({"n_layers": 2}, ("3,232",), {}),
    "0-24 bidirectional": ({"n_directions": 2}, ("2,240",), {}),
    "1-20": ({"n_layers": 3}, (("layers: 3", "3 层"), "5,344"), {}),
    "3-13": ({"n_steps": 512}, ("573,473", "1,120"), {"n_steps": 64}),
    "3-13 one step": ({"n_steps": 1}, (("nothing to share", "无可共享"),), {}),
    "1-10": ({**SHAPES, "n_inputs": 8}, (unbroken("32 × 8"), unbroken("32 × 32")), SHAPES),
    "1-10 gates": ({**SHAPES, "of_cell": "lstm"}, (unbroken("128 × 1"), unbroken("128 × 32")),
    SHAPES),
    "0-20 shapes": (SHAPES, (unbroken("32 × 1"), unbroken("32 × 32")), {**SHAPES, "n_hidden": 8}),
    "0-45": (TIME, (("steps in a row take", "依次走"),), {}),
    "3-14": (TERMS, (unbroken("T_x = 10"), unbroken("T_y = 34"), ("sum: 34", "34 项")), SHORT),
    "D-10 as printed": ({**SHAPES, "batch_axis": False}, ("IndexError", "Dimension out of range"),
                        SHAPES),
    "D-10 mended": (SHAPES, ("[1, 1]", ("of shape [1, 32].", "状态形状是 [1, 32]")),
                    {**SHAPES, "batch_axis": False}),
    "D-20": ({**TERMS, "summed_to": "tx"}, (("leaves out the last 24", "漏掉最后 24"),), TERMS),
    "D-20 longer": ({**TERMS, "summed_to": "tx", "answer": "is."},
                    (("7 more terms", "多 7 个"),), {**TERMS, "answer": "is."}),
    "D-20 equal": ({**SHORT, "summed_to": "tx", "answer": "is"}, (("are equal", "相等"),), SHORT),
    "D-21": ({**TERMS, "read_from": "same"},
             (("after the character has been read", "读入该字符之后"), "334", "46.3"), {}),
    "D-21 standard": (TERMS, (("before the character is read", "读入该字符之前"),),
                      {**TERMS, "read_from": "same"}),
    "Chinese": ({**TERMS, "answer": "我打车去商场"}, (("6 of the 6", "6 个字符中有 6 个"),), TERMS),
}  # fmt: skip
message = partial(textbook_rows.said, lesson, "bill")


@textbook_rows.each(ROWS)
def test_row_is_live(row, language):
    textbook_rows.live(lesson, ("bill", *ROWS[row]), language)


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
