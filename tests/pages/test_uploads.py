"""A student's own file on the page: every refusal word for word, and what a good file gives."""

from __future__ import annotations

import numpy as np
import pytest
from looking import HAN, alerts, bench, figures
from rings import one_of

from seqviz.data import PROBLEM_CODES, DataProblem, column, parse
from seqviz.data.upload import MAX_BYTES, MAX_COLUMNS, MAX_ROWS
from seqviz.text import LANGUAGES, literal

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
    "no_numeric_column": lines("name", *["north"] * 40),
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


def test_every_refusal_is_tried():
    # no_such_column cannot be reached: the page offers only columns that the file has
    assert set(FILES) == set(PROBLEM_CODES) - {"no_such_column"}


@pytest.mark.parametrize("turn", one_of(range(2)))
def test_a_refusal_word_for_word(visit, turn):
    """On one page in each language, in turn."""
    pages = [visit(SLUG, lang, ar__real__source="csv") for lang in LANGUAGES]
    others = pages[0].charts()
    for place, (code, content) in enumerate(FILES.items(), turn):
        with pytest.raises(DataProblem) as caught:
            read(content)
        assert caught.value.code == code
        page = pages[place % 2]
        real = give(page, content)
        key = f"problem.{code}"
        words = page.text.first(f"{SLUG}.{key}", key).format(**caught.value.details)
        assert alerts(real) == {"error": [], "warning": [words], "info": [], "success": []}
        assert not figures(real)
        assert page.charts() == others


def test_a_good_file_is_drawn_as_it_is(visit):
    page = visit(SLUG, "zh", ar__real__source="csv")
    assert page.text(f"{SLUG}.hint.csv") in alerts(bench(page.app, "real"))["info"]
    give(page, lines("when,level", *ROWS))
    for view in VIEWS:
        page.run(ar__real__column="level", ar__real__view=view)
        place = bench(page.app, "real")
        assert not alerts(place)["warning"]
        (figure,) = figures(place)
        if view == "correlations":
            assert "120" in figure["layout"]["meta"]["alt"]


def test_the_column_that_varies_is_offered_and_another_can_be_chosen(visit):
    page = visit(SLUG, ar__real__source="csv")
    place = give(page, lines("a,b", *(f"{v:.3f},{-2 * v:.3f}" for v in VALUES)))
    (menu,) = [box for box in place.selectbox if box.key == "ar.real.column"]
    assert menu.options == ["a", "b"]
    first = figures(place)
    other = "b" if menu.value == "a" else "a"
    menu.set_value(other)
    page.app.run()
    page.healthy()
    assert figures(bench(page.app, "real")) != first


def test_another_file_with_other_columns(visit):
    """The column chosen in the first file does not exist in the second."""
    page = visit(SLUG, ar__real__source="csv")
    give(page, lines("a,b", *(f"{v:.3f},{2 * v:.3f}" for v in VALUES)))
    page.run(ar__real__column="b")
    place = give(page, lines("c", *(f"{v:.3f}" for v in VALUES)), "second.csv")
    assert not alerts(place)["warning"]
    assert len(figures(place)) == 1


def test_taking_the_file_away_brings_the_hint_back(visit):
    page = visit(SLUG, ar__real__source="csv")
    give(page, lines("when,level", *ROWS))
    page.app.get("file_uploader")[0].set_value(None)
    page.app.run()
    page.healthy()
    assert alerts(bench(page.app, "real"))["info"] == [page.text(f"{SLUG}.hint.csv")]


def test_a_file_too_short_for_the_horizon(visit):
    page = visit(SLUG, ar__real__source="csv", ar__real__horizon="50", ar__real__model="12")
    place = give(page, lines("x", *(f"{v:.3f}" for v in VALUES[:60])))
    words = page.text(f"{SLUG}.problem.too_short_to_forecast", horizon=50, steps=60)
    assert alerts(place)["warning"] == [words]


def test_the_shortest_file_that_is_read(visit):
    page = visit(SLUG, ar__real__source="csv", ar__real__horizon="1")
    give(page, lines("x", *(f"{v:.3f}" for v in VALUES[:30])))
    for view in VIEWS:
        page.run(ar__real__view=view)
        place = bench(page.app, "real")
        assert len(figures(place)) == 1, (view, alerts(place))


TIME = np.arange(100.0)
STRANGE = {
    "a line": TIME,
    "a sawtooth": TIME % 7,
    "huge": VALUES[:100] * 1e99,
    "tiny": VALUES[:100] * 1e-200,
    "one jump": (TIME > 50) * 1.0,
}


def test_strange_series_are_drawn_or_refused_in_words(visit):
    page = visit(SLUG, "zh", ar__real__source="csv")
    for name, values in STRANGE.items():
        give(page, lines("x", *(repr(float(v)) for v in values)), f"{name}.csv")
        for view in VIEWS:
            page.run(ar__real__view=view)
            place = bench(page.app, "real")
            warned = alerts(place)["warning"]
            assert len(figures(place)) + len(warned) == 1, (name, view)
            assert all(HAN.search(sentence) for sentence in warned), (name, view, warned)


def test_a_column_name_is_a_name_and_no_markup(visit):
    """In the menu as it is; in a sentence it must not be filled in again, nor run."""
    page = visit(SLUG, ar__real__source="csv")
    values = [f"{v:.3f}" for v in VALUES[:60]]
    for name in ("<script>alert(1)</script>", "**bold**", "$x$", "{row}", "a|b"):
        place = give(page, lines(name, *values))
        (menu,) = [box for box in place.selectbox if box.key == "ar.real.column"]
        assert menu.options == [name]
        assert len(figures(place)) == 1
        assert repr(name) in page.lesson.sources()["real"]
        broken = give(page, lines(name, *values, "warm", "1"), "second.csv")
        assert literal(name) in alerts(broken)["warning"][0]
