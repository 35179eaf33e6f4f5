"""The rows of the texts that are live on the bench of the tagger that people use."""

from __future__ import annotations

from functools import partial

import pytest

from seqviz.core.errors import UserError
from seqviz.core.i18n import LANGUAGES, sections
from seqviz.core.units import unbroken
from seqviz.lessons.recurrent.lesson import lesson
from tests.lessons import textbook_rows

TAGS, COUNTED = {"view": "tags"}, {"view": "counted"}
CRF = {**TAGS, "shown": "marginal"}
LEFT = {"side": "left"}
# row: values, what is said then, values at which it is not said
ROWS = {
    "0-24 1-21 3-21 mask the right": ({}, ("研究生命/n", unbroken("3 / 7")), LEFT),
    "0-24 mask the left": (LEFT, ("研究生/v 命/n",), {}),
    "0-24 not every sentence": ({"line": "我打车去商场"}, (unbroken("0 / 6"),), {}),
    "0-26 1-22 both sides counted": (COUNTED, ("28.4%", "42.9%"), {**COUNTED, "way": "mean"}),
    "0-23 1-20 3-22 layers": ({}, ("0.451", "0.704"), {"layer": 1}),
    "1-18 2-13 tags": (TAGS, (unbroken("1.03 × 10⁻⁴"), "研究/v 生命/n 的/u 起源/n",
    unbroken("79 / 86")),
    CRF),
    "1-18 by the CRF": (CRF, ("0.877",), TAGS),
    "2-11 order, one": ({"line": "我打车去商场"}, ("我/r 打车/v 去/v 商场/n",),
                        {"line": "我去商场打车"}),
    "2-11 order, other": ({"line": "我去商场打车"}, ("我/r 去/v 商场/n 打车/v",),
                          {"line": "我打车去商场"}),
}  # fmt: skip
message = partial(textbook_rows.said, lesson, "tagger")


@textbook_rows.each(ROWS)
def test_row_is_live(row, language, lac):
    textbook_rows.live(lesson, ("tagger", *ROWS[row]), language)


@pytest.mark.parametrize("language", LANGUAGES)
def test_tagger_page_names_cell_convention(language):
    prose = sections("recurrent", language)
    assert all(item in prose["course"] for item in ("D-02", "D-03", "](/gates)"))
    assert "models fetch lac" in prose["tagger_network"]


@pytest.mark.parametrize("language", LANGUAGES)
def test_tagger_note_reports_unknown_characters(language, lac):
    for values in ({}, TAGS):
        visible = message({**values, "line": "I love 你"}, language)
        assert "5" in visible
        assert "2" in visible
        assert len(visible.split("\n")) > len(message(values, language).split("\n"))


@pytest.mark.parametrize(
    "text", ["", " \n", "<b>$x$</b>", "\x00\ud800", "مرحبا 👩‍👩‍👧", "x" * 10_000]
)
def test_tagger_renders_or_rejects_any_text(text, lac):
    for values in ({}, {"way": "zero"}, LEFT, TAGS, CRF):
        try:
            visible = lesson.benches["tagger"].run({**values, "line": text[:30]}, code=False)
        except UserError as refusal:
            assert refusal.code == "empty_text"  # noqa: PT017
            continue
        visible.figure.to_json().encode("utf-8")
        assert "<b>" not in "".join(visible.notes)


def test_tagger_renders_row_of_fifteen_tags(lac):
    line = "工信处女干事每月经过下属科室都要亲口交代24口交换机等技"
    for values in (TAGS, CRF):
        visible = lesson.benches["tagger"].run({**values, "line": line}, code=False)
        assert len(visible.figure.axis("y2")["ticktext"]) >= 15
