"""One sentence under a figure is in sight; the others are folded, and none is lost."""

from __future__ import annotations

import pytest

from seqviz.lessons.framework.arrangement import arrange, first_sentence
from seqviz.lessons.framework.output import ColoredText, Hidden, Item, Note, Target

SPLITS = [
    ("One sentence, 0.98 of it.", "One sentence, 0.98 of it.", ""),
    ("The first. The second; it goes on.", "The first.", "The second; it goes on."),
    ("**5 of 10: weights.** Each row sums to 1. More.",
     "**5 of 10: weights.** Each row sums to 1.", "More."),
    ("**The network wins.** On the test data.", "**The network wins.** On the test data.", ""),
    # What a reader has typed stands in quotes, and may hold ends of sentences.
    ("“Dogs bark. Cats do not.” costs 9 bits. It is short.",
     "“Dogs bark. Cats do not.” costs 9 bits.", "It is short."),
    ("Counted: Dogs bark\\. A cat sits\\. Done.", "Counted: Dogs bark\\. A cat sits\\. Done.", ""),
    ("It holds (by chance. Or not). Then more.", "It holds (by chance. Or not).", "Then more."),
    ("Smith et al. write so. Others too.", "Smith et al. write so.", "Others too."),
    ("第一句。第二句！", "第一句。", "第二句！"),
    ("“狗咬人。真的？” 要 9 比特。顺序不同。", "“狗咬人。真的？” 要 9 比特。", "顺序不同。"),
    ("**欠拟合。** 误差是 1.17。直线更好。", "**欠拟合。** 误差是 1.17。", "直线更好。"),
]  # fmt: skip


@pytest.mark.parametrize(("markdown", "first", "rest"), SPLITS)
def test_first_sentence_ends_where_sentence_does(markdown, first, rest):
    assert first_sentence(markdown) == (first, rest)


def test_one_sentence_is_in_sight_and_rest_is_folded_in_order():
    passage, notice = ColoredText("<p>text</p>"), Note("The text is cut.", "notice")
    target, caption = Target("**Goal.** Reach it. Now.", name="x"), Note("A source.", "caption")
    items: list[Item] = [notice, Note("A. B."), passage, Note("C."), caption, Note("D."), target]
    shown, folded = arrange(items)
    assert shown == [notice, Note("A."), passage, caption, target]
    assert folded == [Note("B."), Note("C."), Note("D.")]


def test_formula_is_no_sentence():
    formula = Note("$$\nx\n$$")
    assert arrange([formula, Note("A."), Note("B.")]) == ([formula, Note("A.")], [Note("B.")])


def test_veiled_output_has_one_gray_bar():
    figure = Hidden(400)
    assert arrange([figure, Hidden(), Hidden()]) == ([figure, Hidden()], [])
