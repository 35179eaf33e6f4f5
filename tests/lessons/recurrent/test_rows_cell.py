"""Every row and discrepancy of the texts that the cell, its wirings and its collapse have to show.

As in test_text_rows: a bench at some values, what it says there, and values at which it does not.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import pytest

from seqviz.core.errors import UserError
from seqviz.core.i18n import LANGUAGES, Text
from seqviz.core.units import unbroken
from seqviz.lessons.framework.error_messages import to_message
from seqviz.lessons.framework.words import LessonWords
from seqviz.lessons.recurrent.lesson import lesson
from tests.lessons import textbook_rows
from tests.lessons.rows import Row, check

NOTATION, ORDER, OWN = ({"view": item} for item in ("notations", "order", "one"))
SINGLE, DOUBLE = (1e-8, 1e-6), (1e-17, 1e-15)  # rounding, which differs by processor


def moves(*ends: float | tuple[float, float]) -> Callable[[float, float], bool]:
    """Return a move from one end to the other; a pair is a range."""

    def has_moved(*values: float) -> bool:
        return all(
            end[0] < value < end[1] if isinstance(end, tuple) else round(value, 3) == end
            for end, value in zip(ends, values, strict=True)
        )

    return has_moved


ROWS = {
    "0-19": Row(
        "step",
        {},
        {"recurrent": "0.5 0; 0 0"},
        {"metric.x_apart": (0.5212, 0.02739)},
        (("would be 0.521 away", "相差 0.521"),),
    ),
    "0-20": Row(
        "step",
        {"squash": "sigmoid"},
        {},
        {"step.s*.y:0": (0.5998, 0.283), "step.s*.y:1": (0.7916, 0.717)},
        (unbroken("σ(W_y h) = 0.600, 0.792"),),
    ),
    "0-20 state": Row(
        "step",
        {},
        {"unit": 2},
        {"metric.sum_of": (0.2052, 0.8058), "metric.state_of": (0.2024, 0.6673)},
        (unbroken("tanh(0.205) = **0.202**"),),
    ),
    "0-21": Row(
        "collapse",
        {},
        {"tanh": 100.0},
        {"metric.superposition": moves(SINGLE, 1.038), "metric.kernel_error": moves(SINGLE, 4.198)},
        (("returns its sum", "直接返回加和"), unbroken("10⁻⁷")),
    ),
    "0-22": Row(
        "step",
        {"unrolled": 4},
        {},
        {
            "step.loop.steps": (4, 6),
            "metric.x_apart": (0.621, 0.5212),
            "step.loop.y:0": (0.1654, 0.2791),
        },
        (("4 times", "循环 4 次"), "0.621"),
    ),
    "0-26": Row(
        "wirings",
        {"view": "beside", "purpose": "forecast"},
        {"view": "beside", "purpose": "tags"},
        {
            "wirings.purpose.*.count": (2, 1),
            "wirings.purpose.*.names": ("N → N, 2 layers", "2 directions"),
        },
        (("N → N, 2 layers", "N → N，两层"),),
    ),
    "0-26 translation": Row(
        "wirings",
        {"view": "beside", "purpose": "translation"},
        {"view": "beside", "purpose": "review"},
        {"wirings.purpose.*.names": ("N → M", "N → 1")},
        ("N → M",),
    ),
    "1-08": Row(
        "step",
        {"view": "notations", "notation": "s1", "bias": "1 0"},
        {"view": "notations", "bias": "1 0"},
        {"step.notation.difference": (0.4825, 0.0)},
        (("in the notation U, W, g(U h + W x)", "用“U, W”的记号，g(U h + W x)"),),
    ),
    "1-09": Row(
        "step",
        {"moment": 1},
        {},
        {"metric.sum_of": (2.0, 0.2052)},
        ("0.80 · 0.00 + (−0.60) · 0.00 + 1.00 · 2.00",),
    ),
    "1-09 program": Row(
        "step",
        {"executed": 6},
        {"executed": 4},
        {
            "rows.program.program_runs": (["1", "3", "2", "0"], ["1", "2", "1", "0"]),
            "rows.program.program_value": (
                ["0, 0", "0.202, 0.667", "0.563, 0.437", "–"],
                ["0, 0", "0.648, 0.522", "0.873, 0.127", "–"],
            ),
        },
        (("After 6 of 14 lines", "14 行中运行了 6 行"),),
    ),
    "1-10": Row(
        "step",
        {},
        {"recurrent": "1", "inputs": "1", "bias": "0", "outputs": "1"},
        {"step.shapes.d_h": (2, 1), "step.shapes.recurrent": ("2\xa0×\xa02", "1\xa0×\xa01")},
        (
            (unbroken("2 × 2 (d_h × d_h)"), unbroken("2 × 2（d_h × d_h）")),
            (unbroken("2 × 1 (d_h × d_in)"), unbroken("2 × 1（d_h × d_in）")),
        ),
    ),
    "1-11": Row(
        "step",
        {},
        {"outputs": "1 0; 0 1"},
        {"step.softmax.y:0": (0.283, 0.3858), "step.softmax.y:1": (0.717, 0.6142)},
        (unbroken("softmax(W_y h) = 0.283, 0.717"),),
    ),
    "1-41": Row(
        "wirings",
        {"origin": "schuster"},
        {"origin": "jordan"},
        {"metric.inputs_of": ((6, 6), (3, 6)), "metric.nonzero": ((36, 36), (21, 36))},
        ("1997", "242", ("two directions", "双向")),
    ),
    "1-41 list": Row(
        "wirings",
        {"origin": "jordan"},
        {"origin": "jordan", "output": 5},
        {
            "rows.history.history_inputs": (
                ["3 / 6", "3 / 6", "3 / 6", "6 / 6", "6 / 6", "6 / 6"],
                ["5 / 6", "5 / 6", "5 / 6", "6 / 6", "6 / 6", "6 / 6"],
            )
        },
        ("1986", "1990", "1997", "Elman", "Schuster"),
    ),
    "2-11": Row(
        "step",
        {"view": "order", "one_text": "我打车去商场", "other_text": "我去商场打车"},
        {"view": "order", "one_text": "我打车去商场", "other_text": "我打车去商场"},
        {"metric.apart": (3.196, 0.0)},
        (("another order", "顺序不同"), "3.20"),
    ),
    "2-13 N-N": Row(
        "wirings",
        {"view": "one"},
        {"view": "one", "read_at": "last"},
        {"metric.nonzero": ((21, 36), (6, 6)), "metric.inputs_of": ((3, 6), (6, 6))},
        (unbroken("21 / 36"),),
    ),
    "2-13 N-1": Row(
        "wirings",
        {"view": "one", "read_at": "last"},
        {"view": "one"},
        {"metric.nonzero": ((6, 6), (21, 36)), "metric.inputs_of": ((6, 6), (3, 6))},
        (unbroken("6 / 6"),),
    ),
    "2-13 1-N": Row(
        "wirings",
        {"view": "one", "enter": "first"},
        {"view": "one"},
        {"metric.nonzero": ((6, 6), (21, 36)), "metric.inputs_of": ((1, 1), (3, 6))},
        (unbroken("1 / 1"),),
    ),
    "3-11": Row(
        "step",
        {"view": "notations", "notation": "s3"},
        {"view": "notations", "notation": "s1"},
        {"step.notation.formula": ("g(W_aa a + W_ax x + b)", "g(U h + W x)")},
        (("in the notation W_aa, W_ax", "用“W_aa, W_ax”的记号"), "W_aa a"),
    ),
    "3-12": Row(
        "step",
        {"view": "notations", "notation": "joined", "bias": "1 0"},
        {"view": "notations", "notation": "s1", "bias": "1 0"},
        {"step.notation.difference": (0.0, 0.4825)},
        (("in the notation W_a, concatenated", "用“W_a（拼接）”的记号"), "**0**"),
    ),
    "3-16": Row(
        "wirings",
        {"view": "one", "read_at": "after"},
        {"view": "one"},
        {"metric.nonzero": ((24, 24), (21, 36)), "metric.inputs_of": ((6, 6), (3, 6))},
        (unbroken("24 / 24"),),
    ),
    "D-09": Row(
        "collapse",
        {"precision": "float64"},
        {},
        {
            "metric.superposition": moves(DOUBLE, SINGLE),
            "metric.kernel_error": moves(DOUBLE, SINGLE),
        },
        ("float64",),
    ),
    "D-09 tanh": Row(
        "collapse",
        {"tanh": 100.0},
        {},
        {"metric.superposition": moves(1.038, SINGLE)},
        (("no longer add up", "不再可以相加"),),
    ),
    "D-11": Row(
        "step",
        {"view": "notations"},
        {"view": "notations", "inputs": "1 0; 0 1"},
        {"step.swapped_shape.shape": ("2\xa0×\xa01", None)},
        (unbroken("2 × 1"), ("swap U and W", "U 和 W 正好互换")),
    ),
    "D-11 fits": Row(
        "step",
        {"view": "notations", "inputs": "1 0; 0 1", "x": "1 2 3 4"},
        {"view": "notations", "inputs": "1 0; 0 1", "x": "4 3 2 1"},
        {"step.swapped.wrong": (0.5658, 0.563)},
        (("is wrong by", "这里的误差为"),),
    ),
}
ASKED = "0-19 0-20 0-21 0-22 0-26 1-08 1-09 1-10 1-11 1-41 2-11 2-13 3-11 3-12 3-16 D-09 D-11"
message = partial(textbook_rows.said, lesson)


def test_rows_all_present():
    assert set(ASKED.split()) == {name.split()[0] for name in ROWS}


@textbook_rows.each(ROWS)
def test_row_moves(row, language):
    check(lesson, ROWS[row], language)


@pytest.mark.parametrize("language", LANGUAGES)
def test_wirings_note_warns_about_backward_half(language):
    both = {**OWN, "backward": True}
    for read, some in (("last", 1), ("ends", 6)):
        share = (f"{some} of 6", f"6 个输入中的 {some} 个")[LANGUAGES.index(language)]
        words = message("wirings", {**both, "read_at": read}, language)
        assert share in words
        assert "y₆" in words
        assert "y₁" not in words


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
