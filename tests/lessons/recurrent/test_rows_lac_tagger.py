"""The rows of the texts that are live on the bench of the tagger that people use."""

from __future__ import annotations

from functools import partial

import pytest

from seqviz.core.errors import UserError
from seqviz.core.i18n import LANGUAGES, sections
from seqviz.core.units import unbroken
from seqviz.lessons.recurrent.lesson import lesson
from tests.lessons import textbook_rows
from tests.lessons.rows import Row, check

TAGS = {"view": "tags"}
CRF = {**TAGS, "shown": "marginal"}
LEFT = {"side": "left"}
# row: values, what is said then, values at which it is not said
ROWS = {
    "0-24 1-21 3-21 mask the right": Row(
        "tagger",
        {},
        {"side": "left"},
        {"metric.tags_changed": ("3 / 7", "2 / 7"), "tagger.deleted.*.changed": (3, 2)},
        (unbroken("3 / 7"), "v-B → n-B"),
    ),
    "0-24 mask the left": Row(
        "tagger",
        {"side": "left"},
        {},
        {"metric.tags_changed": ("2 / 7", "3 / 7"), "metric.tags_changed_many": (0.4287, 0.2845)},
        (unbroken("2 / 7"), "n-I → n-B"),
    ),
    "0-24 not every sentence": Row(
        "tagger",
        {"line": "我打车去商场"},
        {},
        {"metric.tags_changed": ("0 / 6", "3 / 7")},
        (unbroken("0 / 6"),),
    ),
    "0-26 1-22 both sides counted": Row(
        "tagger",
        {"view": "counted"},
        {"view": "counted", "way": "mean"},
        {"metric.without_right": (0.2845, 0.9647), "metric.without_left": (0.4287, 0.9888)},
        ("28.4%", "42.9%"),
    ),
    "0-23 1-20 3-22 layers": Row(
        "tagger",
        {},
        {"layer": 1},
        {"tagger.moved.forward": (0.4514, 0.0), "tagger.moved.backward": (0.704, 0.5402)},
        ("0.451", "0.704"),
    ),
    "1-18 2-13 tags": Row(
        "tagger",
        {"view": "tags"},
        {"view": "tags", "shown": "marginal"},
        {"tagger.least_*.share": (0.0001033, 0.8771)},
        (unbroken("1.03 × 10⁻⁴"), "研究/v 生命/n 的/u 起源/n", unbroken("79 / 86")),
    ),
    "1-18 by the CRF": Row(
        "tagger",
        {"view": "tags", "shown": "marginal"},
        {"view": "tags"},
        {"tagger.least_*.share": (0.8771, 0.0001033)},
        ("0.877",),
    ),
    "2-11 order, one": Row(
        "tagger",
        {"line": "我打车去商场"},
        {"line": "我去商场打车"},
        {"tagger.deleted.same.whole": ("我/r 打车/v 去/v 商场/n", "我/r 去/v 商场/n 打车/v")},
        ("我/r 打车/v 去/v 商场/n",),
    ),
    "2-11 order, other": Row(
        "tagger",
        {"line": "我去商场打车"},
        {"line": "我打车去商场"},
        {"tagger.deleted.same.whole": ("我/r 去/v 商场/n 打车/v", "我/r 打车/v 去/v 商场/n")},
        ("我/r 去/v 商场/n 打车/v",),
    ),
}
message = partial(textbook_rows.said, lesson, "tagger")


@textbook_rows.each(ROWS)
def test_row_moves(row, language, lac):
    check(lesson, ROWS[row], language)


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
