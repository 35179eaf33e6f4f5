"""Every row and discrepancy of the texts that belongs to this lesson is live on one of its benches.

A row has a number that moves with a control, and what the bench prints in either language; a
discrepancy has words that are gone at other settings.
"""

from __future__ import annotations

import pytest

from seqviz.core.i18n import LANGUAGES, Text
from seqviz.core.units import unbroken
from seqviz.lessons.transformer.lesson import lesson
from tests.lessons.rows import Row, check, each
from tests.lessons.textbook_rows import said

ROWS = {
    "0-45": Row(
        "bill",
        {"view": "operations", "tokens": 512},
        {"view": "operations", "tokens": 8},
        {"recurrent": (1034, 26)},
        ("1,034",),
    ),
    "0-46": Row(
        "stream",
        {"view": "pair", "component": 9, "block": 2},
        {"view": "pair", "component": 7, "block": 2},
        {"part_share": (0.2509, 0.3116)},
        (("25.1%", "25.1%"), ("Cross-attention", "交叉注意力"), unbroken("6 × 512")),
    ),
    "0-50": Row(
        "masks",
        {"mask": "padding", "pads": 2},
        {"mask": "padding", "pads": 1},
        {"closed": (6, 3)},
        (("6 of 9", "9 格中有 6 格"),),
    ),
    "0-52": Row(
        "masks",
        {"mask": "token", "key": 1},
        {"mask": "token", "key": 2},
        {"leaked": (0.07722, 0.10804)},
        ("7.7%",),
    ),
    "0-54": Row(
        "norms",
        {"row": 1, "feature": 1},
        {"added": 1.0},
        {"layer": (-1.0690, -0.7071)},
        ("−1.069",),
    ),
    # LayerNorm of the word keeps its value; BatchNorm shares the feature with the other words.
    "0-55": Row(
        "norms",
        {"row": 2, "feature": 1},
        {"row": 2, "feature": 1, "tensor": "1 2 4, 2 3 4 | 5 4 4, 4 4 4"},
        {"layer": (-1.2247, -1.2247), "batch": (-0.4472, -0.6325)},
        ("−0.4472", unbroken("w[0, 1][0] = 2"), "−1.225"),
    ),
    "0-56": Row(
        "bill",
        {"tree": 5},
        {"tree": 3},
        {"dropouts": (7, 0), "norms": (7, 2)},
        ("Dropout(p=0.1, inplace=False)", "eps=1e-05", "44,140,544"),
    ),
    "0-57": Row(
        "steps",
        {"step": 10},
        {"step": 10, "words": "the cat"},
        {"numbers": (6 * 512, 2 * 512)},
        (unbroken("6 × 512"),),
    ),
    "0-58": Row(
        "steps",
        {"step": 8, "hidden": 2048},
        {"step": 8, "hidden": 4096},
        {"numbers": (6 * 2048, 6 * 4096)},
        ("2,048", unbroken("6 × 2,048")),
    ),
    "0-59": Row(
        "depths",
        {"view": "gradient", "blocks": 24},
        {"view": "gradient", "blocks": 2},
        {"pre": (0.5830, 0.15147), "plain": (-10.544, -1.1602)},
        (unbroken("2.85 × 10⁻¹¹"), "3.83"),
    ),
    "0-60": Row(
        "pair",
        {"number": "342"},
        {"number": "345"},
        {"weight": (0.9924, 0.9833)},
        (("“two” on 2, with 99.2%", "“two”对 2，占 99.2%"),),
    ),
    "0-61": Row(
        "steps",
        {"step": 6, "dropout": 0.1},
        {"step": 6, "dropout": 0.3},
        {"dropped": (0.1009, 0.2943)},
        ("10.1%",),
    ),
    "1-33": Row(
        "stream",
        {"view": "pair", "component": 3},
        {"view": "pair", "component": 2},
        {"norm": (22.627, 15.625)},
        ("22.6", "Add & Norm"),
    ),
    "2-19": Row(
        "stream",
        {"view": "pair", "component": 13},
        {"view": "pair", "component": 12},
        {"width": (11, 512)},
        (unbroken("6 × 11"), ("Linear (then softmax)", "线性层（再 softmax）")),
    ),
    "2-23": Row(
        "steps",
        {"step": 9},
        {"step": 9, "layer": 3},
        {"before": (20.527, 20.270)},
        (("Add & Norm again", "再一次 Add & Norm"),),
    ),
    "2-24": Row(
        "steps",
        {"step": 8, "layer": 0},
        {"step": 8, "layer": 3},
        {"active": (0.5033, 0.5081)},
        ("50.3%",),
    ),
    "2-25": Row(
        "masks", {"mask": "causal"}, {"mask": "none"}, {"worst": (0.2130, 0.0)}, ("0.787", "21.3%")
    ),
    "2-26": Row(
        "pair",
        {"look": 0},
        {"look": 1},
        {"weight": lambda first, second: first < 0.993 < second},
        ("0.992",),
    ),
    "4-16": Row(
        "stream",
        {"view": "pair", "component": 4, "block": 5},
        {"view": "pair", "component": 4, "block": 4},
        {"part_share": (0.2182, 0.2897)},
        ("21.8%", unbroken("6 × 512")),
    ),
    "4-20": Row(
        "pair",
        {"kind": "shifted"},
        {"kind": "unshifted"},
        {"written": (0.975, 0.0)},
        (("the word before the one that it writes", "要写的词的前一个词"),),
    ),
    "4-21": Row(
        "pair",
        {"number": "342"},
        {"number": "999"},
        {"least": (0.9792, 0.9763)},
        (("“forty”: 97.9%", "“forty”：97.9%"),),
    ),
    "4-23": Row(
        "norms", {}, {"added": 5.0}, {"layer": (-1.0690, 1.2247), "batch": (-1.3416, 1.5213)}
    ),
    "4-23 one word": Row(
        "norms",
        {"given": "word"},
        {"given": "all"},
        {},
        (("one number per feature", "只有一个数"),),
    ),
    "D-30": Row(
        "masks",
        {"mask": "causal"},
        {"mask": "causal", "scores": "3 1 3, 1 2 0.5, 0.3 1 2"},
        {},
        (("the first weight is 0.787", "第一个权重是 0.787"),),
    ),
    "D-31": Row(
        "pair",
        {"kind": "shifted"},
        {"kind": "unshifted"},
        {},
        (("reads the word before", "前一个词"),),
    ),
    "D-32": Row("pair", {"kind": "shifted"}, {"kind": "unshifted"}, {}, ("94.3–98.9%",)),
    "D-33": Row("remove", {"change": "residual"}, {"change": "skip"}, {}, (unbroken("0 / 30"),)),
    "D-34": Row("masks", {"mask": "padding"}, {"mask": "none"}, {}, (("exactly 0", "恰好为 0"),)),
    "D-35": Row(
        "masks", {"mask": "token", "key": 2}, {"mask": "none"}, {}, (("3 of 9", "9 格中有 3 格"),)
    ),
    "D-36": Row(
        "bill",
        {"design": "transformer"},
        {"design": "bert_base"},
        {},
        (("Cross-attention: 14.3%", "交叉注意力: 14.3%"),),
    ),
    "D-37": Row(
        "steps",
        {"dropout": 0.1, "places": "torch"},
        {"dropout": 0.1, "places": "s0"},
        {},
        (("no longer sums to 1", "不再是 1"),),
    ),
    "D-38": Row("norms", {"row": 4}, {"row": 3}, {}, (unbroken("w[1, 1][0] = 4"),)),
    "D-39": Row(
        "norms",
        {"row": 1},
        {"row": 1, "tensor": "1 2, 2 3 | 3 4, 4 4"},
        {},
        (("3 numbers of its word", "本词的 3 个数"),),
    ),
    "D-49": Row(
        "bill",
        {"design": "bert_base"},
        {"design": "transformer"},
        {},
        (("Embedding tables: 21.8%", "嵌入表: 21.8%"),),
    ),
}


@each(ROWS)
def test_row_moves(row, language, smollm2):
    check(lesson, ROWS[row], language)


def test_masks_note_reports_query_without_key():
    """A key that no query sees is not reported."""
    assert "may see no key" in said(lesson, "masks", {"mask": "token", "scores": "3", "key": 1})
    assert "no key" not in said(lesson, "masks", {"mask": "padding", "pads": 2})


@pytest.mark.parametrize("language", LANGUAGES)
def test_texts_table_names_discrepancies_and_rows_are_complete(language):
    table = str(Text(language).table("transformer.texts")["rows"])
    names = {row.split()[0] for row in ROWS}
    several = [row for row in names if row.startswith("D-")]
    assert [row for row in several if row not in table] == []
    assert (len(names) - len(several), len(several)) == (22, 11)
