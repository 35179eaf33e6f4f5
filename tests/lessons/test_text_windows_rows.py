"""The rows and discrepancies of the texts that belong to ids and windows are live on these benches.

As in test_gpt_rows: a bench at some values, what it says, and values at which it does not.
"""

from __future__ import annotations

import pytest

from seqviz.lessons.bench.output import Note, Passage, Readout
from seqviz.lessons.text import lesson
from seqviz.text import LANGUAGES

WINDOW, COUNTS, HOT = ({"view": view} for view in ("window", "counts", "onehot"))
SEQUENTIAL, RANDOM = {"cutting": "sequential"}, {"cutting": "random"}
ROWS = {
    "0-07": ("ids", WINDOW, ("from, her, ##s, she, you, had, an, were, but, be, this",),
             {**WINDOW, "first": 3000}),
    "0-08": ("ids", {**WINDOW, "find": "103"}, ("[MASK]", ("with id 103", "编号 103")), WINDOW),
    "0-12": ("windows", HOT, (("the cosine is 0.", "余弦相似度是 0。"),), {**HOT, "phrase": "aa"}),
    "3-04": ("windows", {**HOT, "step": 3}, ("Tₓ = 26", "x⟨3⟩"), HOT),
    "3-05": ("windows", {**COUNTS, "line": "人工智能"}, (("Nothing is left", "一个也没有留下"),),
             {**COUNTS, "line": "人工智能", "clean": False}),
    "3-06": ("windows", {**COUNTS, "counted_by": "character"}, ("“␣”",), COUNTS),
    "3-07": ("windows", COUNTS, ("6,258", "11.9 %"), {**COUNTS, "min_freq": 2}),
    "3-08": ("windows", HOT, (("components", "个分量"), "56"), {**HOT, "width": 5}),
    "3-09": ("windows", RANDOM, (("0 of the 4", "有 0 个正好"),), SEQUENTIAL),
    "3-10": ("windows", SEQUENTIAL, (("4 of the 4", "有 4 个正好"),), RANDOM),
    "D-61": ("windows", HOT, (("23 letters, 26 signs", "23 个字母；连空格和标点共 26 个字符"),),
             {**HOT, "phrase": "This course"}),
    "D-92": ("ids", WINDOW, (("Ids 2013 to 2023", "编号 2013 到 2023"),), {**WINDOW, "first": 9}),
}  # fmt: skip


def said(bench: str, values: dict, language: str) -> str:
    """All that is written at these settings, in the figure's description too."""
    shown = lesson.benches[bench].run(values, language, code=False)
    parts = [one.sentence for one in shown.of(Note)]
    parts += [f"{one.label}: {one.value} {one.beside}" for one in shown.of(Readout)]
    parts += [one.html for one in shown.of(Passage)]
    return " ".join([*parts, shown.figure.alt]).replace("\\", "")


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("row", ROWS)
def test_a_row_is_live(row, language, minilm):
    bench, values, wanted, other = ROWS[row]
    here, there = said(bench, values, language), said(bench, other, language)
    words = [one[LANGUAGES.index(language)] if isinstance(one, tuple) else one for one in wanted]
    for one in words:
        assert one in here, (row, one, here)
    assert words[-1] not in there, (row, there)


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_default_makes_the_claim(language, minilm):
    told = said("ids", {}, language)
    assert ("equal to the last bit", "每一位都相同")[LANGUAGES.index(language)] in told
    assert "200" in told
    memory = said("windows", {"view": "memory"}, language)
    for bits in ("2.16", "2.91", "3.07"):
        assert bits in memory


@pytest.mark.parametrize("text", ["", "x", "<b>$x$</b> " * 60, "\x00\ud800", "مرحبا 👩‍👩‍👧"])
def test_any_text_is_read_or_refused_in_words(text, minilm):
    from seqviz.refusal import Refusal

    for bench, values in (
        ("ids", {"opinion": text}), ("ids", {**WINDOW, "find": text[:100]}),
        ("windows", {"page": text}), ("windows", {**COUNTS, "line": text[:500]}),
        ("windows", {**HOT, "phrase": text[:120]}),
    ):  # fmt: skip
        try:
            lesson.benches[bench].run(values).figure.to_json().encode("utf-8")
        except Refusal as refusal:
            assert refusal.code in ("short_for_windows", "no_text")  # noqa: PT017
