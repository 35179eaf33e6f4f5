"""A student's own file on the page: every refusal word for word, and what a good file gives."""

from __future__ import annotations

from datetime import date, timedelta

import numpy as np
import pytest

from seqviz.core.i18n import LANGUAGES, Text, escape_markdown
from seqviz.data import PROBLEM_CODES, DataError, column, parse, upload
from seqviz.data.upload import MAX_BYTES, MAX_COLUMNS, MAX_ROWS
from tests.pages.page_assertions import HAN, alerts, bench, figures
from tests.tiers import first_only

SLUG = "ar_fitting"
VIEWS = ("fan", "correlations", "order")
VALUES = np.random.RandomState(8).normal(size=120).cumsum()
ROWS = [f"{k},{value:.4f}" for k, value in enumerate(VALUES)]


def lines(*rows: str) -> bytes:
    return "\n".join(rows).encode()


FILES = {
    "empty": b"\n \n",
    "too_large": b"x\n" + b"1\n2\n" * (MAX_BYTES // 4),
    "not_csv": b"PK\x03\x04" + lines("when,level", *ROWS),
    "encoding": lines("when,level", *ROWS) + "\n120,温度".encode("gbk"),
    "malformed": lines("when,level", *ROWS[:50], '50,"1.5', *ROWS[51:]),
    "too_many_columns": lines(",".join("1" * (MAX_COLUMNS + 1))),
    "too_long": b"x\n" + b"1\n2\n" * (MAX_ROWS // 2 + 1),
    "ragged": lines("when,level", *ROWS[:9], "9,1.5,7", *ROWS[10:]),
    "title": lines("My data", "when,level", *ROWS),
    "decimal_comma": lines(*[f"{v:.1f}".replace(".", ",") for v in VALUES]),
    "spaces": lines("when level", *[row.replace(",", " ") for row in ROWS]),
    "no_numeric_column": lines("name", *["north"] * 40),
    "extra_line": lines("when,level", "s,m", *ROWS),
    "thousands": lines("when;level", *[f"{k};{700 + 9 * k % 600:,}" for k in range(120)]),
    "both_marks": lines("when;level", *[f"{k},5;{value:.4f}" for k, value in enumerate(VALUES)]),
    "several_series": lines(
        "place,year,level",
        *(f"{'AB'[k // 60]},{1900 + k % 60},{v:.4f}" for k, v in enumerate(VALUES)),
    ),
    "missing": lines("level", *[f"{v:.3f}" for v in VALUES[:60]], "", "1.5"),
    "not_a_number": lines("level", *[f"{v:.3f}" for v in VALUES[:60]], "warm", "1.5"),
    "infinite": lines("level", *[f"{v:.3f}" for v in VALUES[:60]], "1e200", "1.5"),
    "too_short": lines("level", *[f"{v:.3f}" for v in VALUES[:29]]),
    "constant": lines("level", *["3.5"] * 60),
}


def read(content: bytes) -> np.ndarray:
    """The last column of numbers, as the library reads it."""
    table = parse(content)
    return column(table, table.numeric_columns[-1])


def give(page, content: bytes, name: str = "mine.csv"):
    page.app.get("file_uploader")[0].set_value((name, content, "text/csv"))
    page.app.run()
    page.healthy()
    return bench(page.app, "real")


def test_upload_cases_cover_every_problem_code():
    # no_such_column cannot be reached: the page offers only columns that the file has
    assert set(FILES) == set(PROBLEM_CODES) - {"no_such_column"}


@pytest.mark.parametrize("turn", first_only(range(2)))
def test_upload_refusal_matches_sentence(visit, turn):
    """On one page in each language, in turn."""
    pages = [visit(SLUG, lang, ar__real__source="csv") for lang in LANGUAGES]
    others = pages[0].charts()
    for index, (code, content) in enumerate(FILES.items(), turn):
        with pytest.raises(DataError) as caught:
            read(content)
        assert caught.value.code == code
        page = pages[index % 2]
        real = give(page, content)
        key = f"problem.{code}"
        details = {k: escape_markdown(v) if isinstance(v, str) else v
                   for k, v in caught.value.details.items()}  # fmt: skip
        words = page.text.first(f"{SLUG}.{key}", key).format(**details)
        assert alerts(real) == {"error": [], "warning": [words], "info": [], "success": []}, code
        assert not figures(real)
        assert page.charts() == others


DATES = [str(date(2023, 1, 2) + timedelta(k)) for k in range(130)]
DATED = [f"{day},{value:.4f}" for day, value in zip(DATES, VALUES, strict=False)]
REMARKED = {
    "own_newest_first": lines("when,level", *DATED[::-1]),
    "own_not_in_order": lines("when,level", *DATED[60:], *DATED[:60]),
    "own_gaps": lines("when,level", *DATED[:50], *DATED[60:]),
    "own_doubled": lines("when,level", *sorted([*DATED, *DATED[5:17]])),
    "own_unequal": lines("t,level", *(
        f"{k * k},{value:.4f}" for k, value in enumerate(VALUES)
    )),
    "own_unlike": lines("when,level", *DATED, "Total,12.5"),
    "own_missing_code": lines("when,level", *DATED[:99], f"{DATES[99]},-999", *DATED[100:]),
    "own_left_out": lines("when,level", *DATED, f"{DATES[120]},"),
    "own_two_columns": lines(*(f"{20 + 7 * k % 61},{10 + k * k % 71}" for k in range(120))),
    "own_three_decimals": lines("when,level", *(
        f"{day},{100 + value:.3f}" for day, value in zip(DATES, VALUES, strict=False)
    )),
}  # fmt: skip


def test_upload_remarks_have_sentences():
    for lang in LANGUAGES:
        own = Text(lang).table(f"{SLUG}.note")
        assert {f"own_{code}" for code in upload.REMARK_CODES} == set(REMARKED)
        assert set(REMARKED) == {key for key in own if key.startswith("own_")}


@pytest.mark.parametrize("turn", first_only(range(2)))
def test_upload_remark_is_shown_with_figure(visit, turn):
    """One sentence each, and nothing else on the page is lost."""
    pages = [visit(SLUG, lang, ar__real__source="csv") for lang in LANGUAGES]
    others = pages[0].charts()
    for index, (key, content) in enumerate(REMARKED.items(), turn):
        page = pages[index % 2]
        real = give(page, content)
        table = parse(content)
        name = table.numeric_columns[upload.likely(table)]
        (remark,) = upload.remarks(table, name)
        assert f"own_{remark.code}" == key
        words = page.text(f"{SLUG}.note.{key}", **remark.details)
        assert words in [element.value for element in real.markdown]
        assert not alerts(real)["warning"]
        assert page.charts() == others + 1


def test_upload_with_newest_row_first_is_reversed(visit):
    page = visit(SLUG, ar__real__source="csv", ar__real__view="correlations")
    forward = figures(give(page, lines("when,level", *DATED)))
    backward = figures(give(page, REMARKED["own_newest_first"]))
    assert forward == backward
    assert "[::-1]" in page.lesson.sources()["real"]


def test_upload_axis_names_column(visit):
    page = visit(SLUG, ar__real__source="csv")
    (figure,) = figures(give(page, lines("when,level <b>", *DATED)))
    assert "(level &lt;b&gt;)" in figure["layout"]["yaxis"]["title"]["text"]


def test_upload_draws_valid_file_in_every_view(visit):
    page = visit(SLUG, "zh", ar__real__source="csv")
    assert page.text(f"{SLUG}.hint.csv") in alerts(bench(page.app, "real"))["info"]
    give(page, lines("when,level", *ROWS))
    for view in VIEWS:
        page.run(ar__real__column="level", ar__real__view=view)
        position = bench(page.app, "real")
        assert not alerts(position)["warning"]
        (figure,) = figures(position)
        if view == "correlations":
            assert "120" in figure["layout"]["meta"]["alt"]


def test_upload_column_menu_changes_figure(visit):
    """The column that varies is offered, and another can be chosen."""
    page = visit(SLUG, ar__real__source="csv")
    position = give(page, lines("a,b", *(f"{v:.3f},{-2 * v:.3f}" for v in VALUES)))
    (menu,) = [box for box in position.selectbox if box.key == "ar.real.column"]
    assert menu.options == ["a", "b"]
    first = figures(position)
    other = "b" if menu.value == "a" else "a"
    menu.set_value(other)
    page.app.run()
    page.healthy()
    assert figures(bench(page.app, "real")) != first


def test_upload_of_second_file_resets_column(visit):
    """The column chosen in the first file does not exist in the second."""
    page = visit(SLUG, ar__real__source="csv")
    give(page, lines("a,b", *(f"{v:.3f},{2 * v:.3f}" for v in VALUES)))
    page.run(ar__real__column="b")
    position = give(page, lines("c", *(f"{v:.3f}" for v in VALUES)), "second.csv")
    assert not alerts(position)["warning"]
    assert len(figures(position)) == 1


def test_upload_removal_restores_hint(visit):
    page = visit(SLUG, ar__real__source="csv")
    give(page, lines("when,level", *ROWS))
    page.app.get("file_uploader")[0].set_value(None)
    page.app.run()
    page.healthy()
    assert alerts(bench(page.app, "real"))["info"] == [page.text(f"{SLUG}.hint.csv")]


def test_upload_rejects_file_too_short_for_horizon(visit):
    page = visit(SLUG, ar__real__source="csv", ar__real__horizon="50", ar__real__model="12")
    position = give(page, lines("x", *(f"{v:.3f}" for v in VALUES[:60])))
    words = page.text(f"{SLUG}.problem.too_short_to_forecast", horizon=50, steps=60)
    assert alerts(position)["warning"] == [words]


def test_upload_draws_shortest_accepted_file(visit):
    page = visit(SLUG, ar__real__source="csv", ar__real__horizon="1")
    give(page, lines("x", *(f"{v:.3f}" for v in VALUES[:30])))
    for view in VIEWS:
        page.run(ar__real__view=view)
        position = bench(page.app, "real")
        assert len(figures(position)) == 1, (view, alerts(position))


TIME = np.arange(100.0)
STRANGE = {
    "a line": TIME,
    "a sawtooth": TIME % 7,
    "huge": VALUES[:100] * 1e99,
    "tiny": VALUES[:100] * 1e-200,
    "one jump": (TIME > 50) * 1.0,
}


def test_upload_draws_or_rejects_degenerate_series(visit):
    page = visit(SLUG, "zh", ar__real__source="csv")
    for name, values in STRANGE.items():
        give(page, lines("x", *(repr(float(v)) for v in values)), f"{name}.csv")
        for view in VIEWS:
            page.run(ar__real__view=view)
            position = bench(page.app, "real")
            warned = alerts(position)["warning"]
            assert len(figures(position)) + len(warned) == 1, (name, view)
            assert all(HAN.search(sentence) for sentence in warned), (name, view, warned)


def test_upload_column_name_is_escaped(visit):
    """In the menu as it is; in a sentence it must not be filled in again, nor run."""
    page = visit(SLUG, ar__real__source="csv")
    values = [f"{v:.3f}" for v in VALUES[:60]]
    for name in ("<script>alert(1)</script>", "**bold**", "$x$", "{row}", "a|b"):
        position = give(page, lines(name, *values))
        (menu,) = [box for box in position.selectbox if box.key == "ar.real.column"]
        assert menu.options == [name]
        assert len(figures(position)) == 1
        assert repr(name) in page.lesson.sources()["real"]
        broken = give(page, lines(name, *values, "warm", "1"), "second.csv")
        assert escape_markdown(name) in alerts(broken)["warning"][0]
