"""Every row and discrepancy of the texts that the cell, its wirings and its collapse have to show.

As in test_text_rows: a bench at some values, what it says there, and values at which it does not.
"""

from __future__ import annotations

from functools import partial

import pytest

from seqviz.core.errors import UserError
from seqviz.core.i18n import LANGUAGES, Text
from seqviz.core.units import unbroken
from seqviz.lessons.framework.error_messages import to_message
from seqviz.lessons.framework.words import LessonWords
from seqviz.lessons.recurrent.lesson import lesson
from tests.lessons import textbook_rows

NOTATION, ORDER, OWN = ({"view": item} for item in ("notations", "order", "one"))
TAXI = {**ORDER, "one_text": "我打车去商场", "other_text": "我去商场打车"}
SQUARE = {**NOTATION, "inputs": "1 0; 0 1", "x": "1 2 3 4"}
ROWS = {
    "0-19": ("step", {}, (("would be 0.521 away", "会相距 0.521"),), {"x": "1"}),
    "0-20": ("step", {"squash": "sigmoid"}, (unbroken("σ(W_y h) = 0.600, 0.792"),), {}),
    "0-20 state": ("step", {}, (unbroken("tanh(0.205) = **0.202**"),), {"unit": 2}),
    "0-21": ("collapse", {}, (("returns its sum", "直接返回加和"), unbroken("3.2 × 10⁻⁷")),
             {"tanh": 100.0}),
    "0-22": ("step", {"unrolled": 4}, (("4 times", "循环 4 次"), "0.621"), {}),
    "1-08": ("step", {**NOTATION, "notation": "s1"}, (("in the notation U, W, g(U h + W x)",
             "用“U, W”的记号，g(U h + W x)"),), NOTATION),
    "1-09": ("step", {"moment": 1}, ("0.80 · 0.00 + (−0.60) · 0.00 + 1.00 · 2.00",), {}),
    "1-10": ("step", {}, ((unbroken("2 × 2 (d_h × d_h)"), unbroken("2 × 2（d_h × d_h）")),
             (unbroken("2 × 1 (d_h × d_in)"), unbroken("2 × 1（d_h × d_in）"))),
             {"recurrent": "1", "inputs": "1", "bias": "0", "outputs": "1"}),
    "1-11": ("step", {}, (unbroken("softmax(W_y h) = 0.283, 0.717"),), {"squash": "sigmoid"}),
    "2-11": ("step", TAXI, (("another order", "顺序不同"), "3.20"),
             {**TAXI, "other_text": "我打车去商场"}),
    "2-13 N-N": ("wirings", OWN, (unbroken("21 / 36"),), {**OWN, "read_at": "last"}),
    "2-13 N-1": ("wirings", {**OWN, "read_at": "last"}, (unbroken("6 / 6"),), OWN),
    "2-13 1-N": ("wirings", {**OWN, "enter": "first"}, (unbroken("1 / 1"),), OWN),
    "3-11": ("step", {**NOTATION, "notation": "s3"},
             (("in the notation W_aa, W_ax", "用“W_aa, W_ax”的记号"), "W_aa a"), {"view": "step"}),
    "3-12": ("step", {**NOTATION, "notation": "joined"},
             (("in the notation W_a, concatenated", "用“W_a（拼接）”的记号"), "**0**"), NOTATION),
    "3-16": ("wirings", {**OWN, "read_at": "after"}, (unbroken("24 / 24"),), OWN),
    "D-09": ("collapse", {"precision": "float64"}, ("float64",), {}),
    "D-09 tanh": ("collapse", {"tanh": 100.0}, (("no longer add up", "不再可以相加"),), {}),
    "D-11": ("step", NOTATION, (unbroken("2 × 1"), ("swap U and W", "U 和 W 正好互换")), SQUARE),
    "D-11 fits": ("step", SQUARE, (("is wrong by", "这里的误差为"),), NOTATION),
}  # fmt: skip
ASKED = "0-19 0-20 0-21 0-22 1-08 1-09 1-10 1-11 2-11 2-13 3-11 3-12 3-16 D-09 D-11"
message = partial(textbook_rows.said, lesson)


def test_rows_all_present():
    assert set(ASKED.split()) == {name.split()[0] for name in ROWS}


@textbook_rows.each(ROWS)
def test_row_is_live(row, language):
    textbook_rows.live(lesson, ROWS[row], language)


@pytest.mark.parametrize("language", LANGUAGES)
def test_wirings_note_warns_about_backward_half(language):
    both = {**OWN, "backward": True}
    for read, some in (("last", 1), ("ends", 6)):
        share = (f"{some} of 6", f"6 个输入中的 {some} 个")[LANGUAGES.index(language)]
        assert share in message("wirings", {**both, "read_at": read}, language)


@pytest.mark.parametrize(
    ("bench", "name", "ends"),
    [
        ("step", "unrolled", (1, 8)), ("step", "moment", (1, 6)), ("step", "unit", (1, 2)),
        ("collapse", "tanh", (0.0, 100.0)), ("collapse", "amplitude", (0.01, 10.0)),
        ("collapse", "hidden_units", (1, 64)), ("wirings", "cell", ("lstm", "gru")),
    ],
)  # fmt: skip
def test_control_changes_note(bench, name, ends):
    low, high = (message(bench, {name: end}) for end in ends)
    assert low != high


@pytest.mark.parametrize("name", ["layers", "output", "seed"])
def test_wirings_control_changes_note(name):
    assert message("wirings", {**OWN, name: 1}) != message("wirings", {**OWN, name: 2})


@pytest.mark.parametrize("language", LANGUAGES)
def test_step_rejects_invalid_input_with_translated_message(language):
    bad = ({"recurrent": "1 2"}, {"recurrent": "x"}, {"recurrent": "1 1 1 1"},
           {"inputs": "1 2; 3 4", "x": "1 2 3"}, {"view": "order", "one_text": " "})  # fmt: skip
    for values in bad:
        with pytest.raises(UserError) as refused:
            lesson.benches["step"].run(values, language, code=False)
        text = to_message(refused.value, LessonWords("recurrent", Text(language)))
        assert "{" not in text
        assert text != str(refused.value) or language == "en"
