"""Every row and discrepancy of the texts that belongs to this lesson is live on one of its benches.

A row names a bench at some values, what it then says in either language, and other values at which
it no longer says so: what a text writes is not only written here but moves with a control.
"""

from __future__ import annotations

import pytest

from seqviz.core.i18n import LANGUAGES, Text
from seqviz.core.units import unbroken
from seqviz.lessons.transformer.lesson import lesson
from tests.lessons import frozen
from tests.lessons.frozen import Row, becomes
from tests.lessons.textbook_rows import each, live, said

# bench, values, what it says (numbers, or a pair of words in English and Chinese), other values
ROWS = {
    "0-45": ("bill", {"view": "operations", "tokens": 512}, ("1,034",),
             {"view": "operations", "tokens": 8}),
    "0-46": ("stream", {"view": "pair", "component": 9, "block": 2},
             (("25.1%", "25.1%"), ("Cross-attention", "交叉注意力"), unbroken("6 × 512")),
             {"view": "pair", "component": 7, "block": 2}),
    "0-50": ("masks", {"mask": "padding", "pads": 2}, (("6 of 9", "9 格中有 6 格"),),
             {"mask": "padding", "pads": 1}),
    "0-52": ("masks", {"mask": "token", "key": 1}, ("7.7%",), {"mask": "token", "key": 2}),
    "0-54": ("norms", {"row": 1, "feature": 1}, ("−1.069",), {"added": 1.0}),
    "0-55": ("norms", {"row": 2, "feature": 1}, ("−0.4472", unbroken("w[0, 1][0] = 2"), "−1.225"),
             {"row": 2, "feature": 1, "tensor": "1 2 4, 2 3 4 | 5 4 4, 4 4 4"}),
    "0-56": ("bill", {"tree": 5}, ("Dropout(p=0.1, inplace=False)", "eps=1e-05", "44,140,544"),
             {"tree": 3}),
    "0-57": ("steps", {"step": 10}, (unbroken("6 × 512"),), {"step": 10, "words": "the cat"}),
    "0-58": ("steps", {"step": 8, "hidden": 2048}, ("2,048", unbroken("6 × 2,048")),
             {"step": 8, "hidden": 4096}),
    "0-59": ("depths", {"view": "gradient", "blocks": 24}, (unbroken("2.85 × 10⁻¹¹"), "3.83"),
             {"view": "gradient", "blocks": 2}),
    "0-60": ("pair", {"number": "342"}, (("“two” on 2, with 99.2%", "“two”对 2，占 99.2%"),),
             {"number": "345"}),
    "0-61": ("steps", {"step": 6, "dropout": 0.1}, ("10.1%",), {"step": 6, "dropout": 0.3}),
    "1-33": ("stream", {"view": "pair", "component": 3}, ("22.6", "Add & Norm"),
             {"view": "pair", "component": 2}),
    "2-19": ("stream", {"view": "pair", "component": 13}, (unbroken("6 × 11"),
             ("Linear (then softmax)", "线性层（再 softmax）")), {"view": "pair", "component": 12}),
    "2-23": ("steps", {"step": 9, "layer": 0}, (("Add & Norm again", "再一次 Add & Norm"),),
             {"step": 7, "layer": 0}),
    "2-24": ("steps", {"step": 8, "layer": 0}, ("50.3%",), {"step": 8, "layer": 3}),
    "2-25": ("masks", {"mask": "causal"}, ("0.787", "21.3%"), {"mask": "none"}),
    "2-26": ("pair", {"look": 0}, ("0.992",), {"look": 1}),
    "4-16": ("stream", {"view": "pair", "component": 4, "block": 5}, ("21.8%", unbroken("6 × 512")),
             {"view": "pair", "component": 4, "block": 4}),
    "4-20": ("pair", {"kind": "shifted"}, ((unbroken("word i − 1 of the output"),
    unbroken("输出的第 i − 1 个词")),),
             {"kind": "unshifted"}),
    "4-21": ("pair", {"number": "342"}, (("“forty”: 97.9%", "“forty”：97.9%"),),
             {"number": "999"}),
    "4-23": ("norms", {"given": "word"}, (("one number per feature", "只有一个数"),),
             {"given": "all"}),
    "D-30": ("masks", {"mask": "causal"}, (("the first weight is 0.787", "第一个权重是 0.787"),),
             {"mask": "causal", "scores": "3 1 3, 1 2 0.5, 0.3 1 2"}),
    "D-31": ("pair", {"kind": "shifted"}, (("reads the word before", "前一个词"),),
             {"kind": "unshifted"}),
    "D-32": ("pair", {"kind": "shifted"}, ("94.3–98.9%",), {"kind": "unshifted"}),
    "D-33": ("remove", {"change": "residual"}, (unbroken("0 / 30"),), {"change": "skip"}),
    "D-34": ("masks", {"mask": "padding"}, (("exactly 0", "恰好为 0"),), {"mask": "none"}),
    "D-35": ("masks", {"mask": "token", "key": 2}, (("3 of 9", "9 格中有 3 格"),),
             {"mask": "none"}),
    "D-36": ("bill", {"design": "transformer"},
             (("Cross-attention: 14.3%", "交叉注意力: 14.3%"),),
             {"design": "bert_base"}),
    "D-37": ("steps", {"dropout": 0.1, "places": "torch"}, (("no longer sums to 1", "不再是 1"),),
             {"dropout": 0.1, "places": "s0"}),
    "D-38": ("norms", {"row": 4}, (unbroken("w[1, 1][0] = 4"),), {"row": 3}),
    "D-39": ("norms", {"row": 1}, (("3 numbers of its word", "本词的 3 个数"),),
             {"row": 1, "tensor": "1 2, 2 3 | 3 4, 4 4"}),
    "D-49": ("bill", {"design": "bert_base"}, (("Embedding tables: 21.8%", "嵌入表: 21.8%"),),
             {"design": "transformer"}),
}  # fmt: skip


STEP_6, STEP_8, TREE = {"step": 6, "dropout": 0.1}, {"step": 8}, {"tree": 3}
OPERATIONS, PADDING = {"view": "operations", "tokens": 512}, {"mask": "padding", "pads": 1}
# The same rows as numbers that move; those of the map of the block stand beside it.
MAPPED = {"0-46", "1-33", "2-19", "4-16"}
MOVES = {
    "0-45": Row("bill", OPERATIONS, OPERATIONS | {"tokens": 8}, "recurrent", becomes(1034, 26)),
    "0-50": Row("masks", PADDING, PADDING | {"pads": 2}, "closed", becomes(3, 6)),
    "0-52": Row("masks", {"mask": "token", "key": 1}, {"mask": "token", "key": 2}, "leaked",
                becomes(0.07722, 0.10804)),
    "0-54": Row("norms", {}, {"added": 1.0}, "layer", becomes(-1.0690, -0.7071)),
    # LayerNorm of the word keeps its value; BatchNorm shares the feature with the other words.
    "0-55": Row("norms", {}, {"tensor": "1 2 4, 2 3 4 | 5 4 4, 4 4 4"},
                lambda facts: (facts["layer"], facts["batch"]),
                becomes((-1.0690, -1.3416), (-1.0690, -1.2649))),
    "0-56": Row("bill", TREE, {"tree": 4},
                lambda facts: (facts["dropouts"], facts["norms"]), becomes((0, 2), (7, 7))),
    "0-57": Row("steps", {"step": 10}, {"step": 10, "words": "the cat"}, "numbers",
                becomes(6 * 512, 2 * 512)),
    "0-58": Row("steps", STEP_8, STEP_8 | {"hidden": 4096}, "numbers",
                becomes(6 * 2048, 6 * 4096)),
    "0-59": Row("depths", {"blocks": 24}, {"blocks": 2},
                lambda facts: (facts["pre"], facts["plain"]),
                becomes((0.5830, -10.544), (0.15147, -1.1602))),
    "0-60": Row("pair", {"number": "342"}, {"number": "345"}, "weight", becomes(0.9924, 0.9833)),
    "0-61": Row("steps", STEP_6, STEP_6 | {"dropout": 0.3}, "dropped", becomes(0.1009, 0.2943)),
    "2-23": Row("steps", {"step": 9}, {"step": 9, "layer": 3}, "before", becomes(20.527, 20.270)),
    "2-24": Row("steps", STEP_8, STEP_8 | {"layer": 3}, "active", becomes(0.5033, 0.5081)),
    "2-25": Row("masks", {"mask": "none"}, {"mask": "causal"}, "worst", becomes(0.0, 0.2130)),
    "2-26": Row("pair", {"look": 0}, {"look": 1}, "weight", becomes(0.99244, 0.99388)),
    "4-20": Row("pair", {"kind": "shifted"}, {"kind": "unshifted"}, "written",
                becomes(0.975, 0.0)),
    "4-21": Row("pair", {"number": "342"}, {"number": "999"}, "least", becomes(0.9792, 0.9763)),
    "4-23": Row("norms", {}, {"added": 5.0}, lambda facts: (facts["layer"], facts["batch"]),
                becomes((-1.0690, -1.3416), (1.2247, 1.5213))),
}  # fmt: skip


@each(ROWS)
def test_row_is_live(row, language, smollm2):
    live(lesson, ROWS[row], language)


@frozen.each(MOVES)
def test_row_moves(row):
    frozen.check(lesson, MOVES[row])


def test_every_row_has_number_that_moves():
    assert set(MOVES) == {row for row in ROWS if not row.startswith("D-")} - MAPPED


def test_masks_note_reports_query_without_key():
    """A key that no query sees is not reported."""
    assert "may see no key" in said(lesson, "masks", {"mask": "token", "scores": "3", "key": 1})
    assert "no key" not in said(lesson, "masks", {"mask": "padding", "pads": 2})


@pytest.mark.parametrize("language", LANGUAGES)
def test_texts_table_names_discrepancies_and_rows_are_complete(language):
    table = str(Text(language).table("transformer.texts")["rows"])
    several = [row for row in ROWS if row.startswith("D-")]
    assert [row for row in several if row not in table] == []
    assert (len(ROWS) - len(several), len(several)) == (22, 11)
