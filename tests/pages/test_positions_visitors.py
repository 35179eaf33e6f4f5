"""The lesson on positions: links, the browser's word, hostile words, models that are not there."""

from __future__ import annotations

import json

import numpy as np
import pytest
from looking import alerts, bench, figures
from positions_page import (
    FIRST,
    MODEL_BENCHES,
    OTHERS,
    SECOND,
    SLUG,
    drawn,
    figure,
    notes,
    opened,
    said,
    shown,
    warned,
)
from scenes import Scene, check

from seqviz.compute.positions import orders
from seqviz.compute.positions.sinusoidal import LAYOUTS, encoding
from seqviz.figures.positions.encodings import encoding_map
from seqviz.lessons.positions import lesson
from seqviz.models import pretrained
from seqviz.text import LANGUAGES, literal
from seqviz.ui.shared import components

EACH = pytest.mark.parametrize("lang", LANGUAGES)
WAVES = {
    "positions": 64, "d_model": 64, "base": 10_000.0, "layout": "interleaved", "position": 20,
    "dimension": 8,
}  # fmt: skip


def link(page) -> dict[str, str]:
    """The address bar without the language; AppTest gives a list where it was opened with one."""
    return {
        key: value[0] if isinstance(value, list) else value
        for key, value in page.app.query_params.items()
        if key != "lang"
    }


def executed(source: str) -> dict:
    space: dict = {}
    exec(compile(source, "<code under the figure>", "exec"), space)
    return space


# -------------------------------------------------------------------------------------- the code
VIEWS = (
    ("en", {"waves__positions": 200, "waves__d_model": 7, "waves__base": 300.0,
            "waves__layout": "halves", "schemes__view": "shift", "learned__view": "norms"}),
    ("zh", {"distance__view": "clocks", "effect__first": "one \\ 'two' \"three\" {four}"}),
)  # fmt: skip


@pytest.mark.parametrize(("lang", "settings"), VIEWS)
def test_the_code_under_every_figure_gives_that_figure(visit, settings, lang):
    """On the page; of each bench and view alone in `test_positions_views`."""
    page = opened(visit, lang, **settings)
    sources = page.lesson.sources()
    assert set(sources) == set(page.lesson.benches)
    for name, source in sources.items():
        assert len(source) < 3000, f"{name}: numbers listed that have a name"
        made = json.loads(executed(source)["figure"].to_json())
        if name == "waves":  # on the page it is drawn from the values
            p = figure(page, "waves")["values"]
            table = encoding(p["positions"], p["d_model"], p["base"], p["layout"])
            shown_here = drawn(page, encoding_map, table)
        else:
            shown_here = figure(page, name)
        for part in ("x", "y", "z", "text", "name"):
            ours, theirs = ([t.get(part) for t in f["data"]] for f in (made, shown_here))
            assert ours == theirs, (name, part)
        assert made["layout"]["meta"]["alt"] == shown_here["layout"]["meta"]["alt"], name


# ------------------------------------------------------------------------------ links of the waves
@pytest.mark.parametrize(
    ("name", "raw", "value"),
    [
        ("positions", "1", 1),
        ("positions", "10000", 10_000),
        ("d_model", "2", 2),
        ("d_model", "511", 511),
        ("base", "1.5", 1.5),
        ("base", "1000000", 1e6),
        ("layout", "halves", "halves"),
        ("position", "9999", 9999),
        ("dimension", "511", 511),
    ],
)
def test_a_link_sets_what_the_browser_draws(visit, name, raw, value):
    page = visit(SLUG, **{f"po__waves__{name}": raw})
    assert figure(page, "waves")["values"] == {**WAVES, name: value}
    assert link(page) == {f"po.waves.{name}": raw}


@pytest.mark.parametrize(
    ("name", "raw"),
    [
        *(("positions", raw) for raw in ("0", "10001", "-3", "1.5", "nan", "x")),
        *(("d_model", raw) for raw in ("1", "513", "0", "inf", "64.0")),
        *(("base", raw) for raw in ("1", "1.4", "0", "-5", "1000001", "nan", "inf", "10,000")),
        *(("layout", raw) for raw in ("spiral", "", "Halves", "<b>")),
        *(("position", raw) for raw in ("-1", "10000")),
        *(("dimension", raw) for raw in ("-1", "512")),
    ],
)
def test_a_link_with_something_impossible_falls_back(visit, name, raw):
    page = visit(SLUG, **{f"po__waves__{name}": raw})
    assert figure(page, "waves")["values"] == WAVES
    assert f"po.waves.{name}" not in page.app.query_params


def test_the_largest_table_is_computed_and_drawn(visit):
    page = opened(visit, waves__positions=10_000, waves__d_model=512, waves__base=1.5)
    assert figure(page, "waves")["values"]["positions"] == 10_000
    page.app.get_by_key("po.waves.data").click().run()
    page.healthy()


# --------------------------------------------------------------------------- what the browser says
@pytest.fixture
def told(monkeypatch):
    """`told(page, values)`: the browser reports these, then the page runs."""
    callbacks = []
    drawing = components.sinusoid

    def noted(key, values, words, on_change):
        callbacks.append(on_change)
        drawing(key, values, words, on_change)

    monkeypatch.setitem(components.IN_BROWSER, "sinusoid", noted)

    def tell(page, values):
        """As Streamlit does: before the script runs, in this visitor's session."""
        import streamlit as st

        state: dict = {}
        with monkeypatch.context() as patch:
            patch.setattr(st, "session_state", state)
            callbacks[-1](values)
        for key, value in state.items():
            page.app.session_state[key] = value
        page.app.run()
        page.healthy()
        return state

    return tell


def test_what_the_browser_reports_is_in_the_link_and_in_the_code(visit, told):
    page = opened(visit)
    told(page, {**WAVES, "positions": 100, "d_model": 6, "base": 300, "layout": "halves"})
    assert link(page) == {
        "po.waves.positions": "100", "po.waves.d_model": "6", "po.waves.base": "300",
        "po.waves.layout": "halves",
    }  # fmt: skip
    sines = executed(page.lesson.sources()["waves"])["sines"]
    np.testing.assert_array_equal(sines.table, encoding(100, 6, 300.0, "halves").table)
    assert figure(page, "waves")["values"]["d_model"] == 6
    told(page, WAVES)
    assert link(page) == {}


RUBBISH = (
    dict.fromkeys(WAVES),
    dict.fromkeys(WAVES, "<script>"),
    {name: [1, 2] for name in WAVES},
    {name: {"a": 1} for name in WAVES},
    dict.fromkeys(WAVES, True),
    dict.fromkeys(WAVES, 10**400),
    dict.fromkeys(WAVES, -(10**9)),
    {name: float("nan") for name in WAVES},
    {name: float("inf") for name in WAVES},
    dict.fromkeys(WAVES, "9" * 10000),
    {"positions": 0, "d_model": 1, "base": 1, "layout": "", "position": -1, "dimension": 512},
    {"positions": 2.5, "d_model": 63.5, "position": 0.1, "dimension": 1e-9},
    {"other": 3, "": 1, "po.waves.positions": 5, "__class__": "x", "view": "matrix"},
    {3: 4, None: 5, (1, 2): 3},
    {},
)


@pytest.mark.parametrize("values", RUBBISH, ids=range(len(RUBBISH)))
def test_rubbish_from_the_browser_changes_nothing(visit, told, values):
    page = opened(visit, waves__d_model=9)
    before = figure(page, "waves"), page.lesson.sources()["waves"]
    assert told(page, values) == {}
    assert (figure(page, "waves"), page.lesson.sources()["waves"]) == before


def test_what_is_possible_among_rubbish_is_taken(visit, told):
    page = opened(visit)
    state = told(page, {"positions": "x", "d_model": 10, "layout": LAYOUTS[1], "other": 1})
    assert state == {"po.waves.d_model": 10, "po.waves.layout": "halves"}


@pytest.mark.parametrize("value", [None, "x", 3, [1, 2], True])
def test_a_report_that_is_no_mapping_is_no_report(value, monkeypatch):
    """What the component's own callback makes of the state that it finds."""
    import streamlit as st

    heard, given = [], {}

    def component(**settings):
        given.update(settings)

    monkeypatch.setattr(components, "_component", lambda *_, **__: component)
    monkeypatch.setattr(st, "session_state", {"k": {"settings": value}})
    components.sinusoid("k", WAVES, {}, heard.append)
    given["on_settings_change"]()
    assert heard == []
    monkeypatch.setattr(st, "session_state", {"k": {"settings": {"base": 2, "at": 1, "x": 1}}})
    given["on_settings_change"]()
    assert heard == [{"base": 2}]


# ------------------------------------------------------------------------------------ odd sentences
HOSTILE = "<b>Mary</b> $x^2$ [a](http://b) **John** %{x} &amp; `c` # {d}"


@EACH
def test_hostile_words_are_plain_text(visit, lang):
    page = opened(visit, lang, effect__first=HOSTILE, effect__how="shuffled", effect__draw=2)
    second = orders.shuffle(HOSTILE, 2)
    assert page.text(f"{SLUG}.note.shuffled", text=literal(second)) in said(page, "effect")
    labels = list(figure(page, "effect")["layout"]["xaxis"]["ticktext"])
    page.run(po__effect__view="maps")
    maps = figure(page, "effect")["layout"]
    labels += [*maps["xaxis"]["ticktext"], *maps["yaxis"]["ticktext"]]
    page.run(po__encoder__view="maps")
    labels += figure(page, "encoder")["layout"]["xaxis"]["ticktext"]
    for label in labels:
        assert "<" not in label, label
        assert "%{" not in label, label
    assert any("&lt;b&gt;Mary" in label for label in labels)
    assert any("&amp;amp;" in label for label in labels)  # as typed
    for bench_name in ("effect", "encoder"):
        page.app.get_by_key(f"po.{bench_name}.data").click().run()
        page.healthy()


@EACH
@pytest.mark.parametrize("name", ["first", "second"])
def test_too_many_words_are_one_sentence(visit, lang, name):
    long = " ".join(f"w{k}" for k in range(25))
    page = opened(visit, lang, **{f"effect__{name}": long})
    wanted = page.text(f"{SLUG}.problem.many_words", limit=24)
    assert page.warned() == warned(page, "effect") == [wanted]
    assert not bench(page.app, "effect").metric
    assert not notes(page, "effect")
    assert len(figures(bench(page.app, "encoder"))) == 1  # the encoder reads more
    page.run(**{f"po__effect__{name}": long.rsplit(" ", 1)[0]})
    assert not page.warned()


@pytest.mark.parametrize("settings", [{"first": ""}, {"second": "  "}, {"first": "", "second": ""}])
def test_no_words_are_refused(settings):
    check(lesson, Scene("effect", settings, refuses="no_text"))


@EACH
def test_no_words_are_one_sentence(visit, lang):
    page = opened(visit, lang, effect__second="  ")
    assert warned(page, "effect") == [page.text("problem.no_text")]


def test_a_long_pasted_text_is_read_as_far_as_the_table_goes(visit):
    page = opened(visit, effect__first="a b " * 500, effect__second="b a " * 500)
    assert len(figures(bench(page.app, "encoder"))) == 1
    page.run(po__encoder__view="maps")
    assert len(figures(bench(page.app, "encoder"))) == 1


def test_the_encoder_reads_the_sentences_above(visit):
    page = opened(visit)
    before = shown(page, "encoder")
    page.run(po__effect__first=SECOND, po__effect__second=FIRST)
    swapped = shown(page, "encoder")
    assert swapped["alike_own"] == before["alike_own"]
    page.run(po__effect__second=SECOND)
    assert shown(page, "encoder")["alike_own"] == "1.000"
    assert link(page) == {"po.effect.first": SECOND}  # the second is the declared one again


# ------------------------------------------------------------------------ a model that is not here
@pytest.fixture
def nowhere(minilm, smollm2, monkeypatch, tmp_path):
    """Nothing is loaded, the cache is empty, and no source answers."""
    monkeypatch.setattr(pretrained, "_loaded", {})
    monkeypatch.setenv("SEQVIZ_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.delenv("PIP_FIND_LINKS", raising=False)


@EACH
def test_a_model_that_cannot_be_had_leaves_the_rest_whole(visit, nowhere, lang):
    page = opened(visit, lang)
    sentence = page.text("problem.unreachable", model="all-MiniLM-L6-v2", name="@").split("@")[0]
    for _ in range(2):
        (warning,) = page.warned()
        assert warning.replace("\\", "").startswith(sentence.replace("\\", ""))
        assert warned(page, "learned") == [warning]
        assert alerts(bench(page.app, "encoder"))["info"] == [
            page.text("work.model_stopped", model="all-MiniLM-L6-v2")
        ]
        for name in MODEL_BENCHES:
            assert not figures(bench(page.app, name))
            assert not bench(page.app, name).metric
        for name in OTHERS[:-1]:
            assert len(figures(bench(page.app, name))) == 1, name
        assert page.app.button(key="po.learned.again").label == page.text("work.again")
        page.run(po__effect__causal=True, po__distance__view="clocks")  # the rest answers
    assert notes(page, "effect") == {"causal"}


def test_a_model_that_no_bench_above_waits_for_is_fetched_here(visit, minilm, smollm2, monkeypatch):
    """The bench of the learned table leads for its own model only."""
    monkeypatch.setattr(pretrained, "_loaded", {})  # on the disk, not in memory
    page = opened(visit, learned__model="smollm2")
    assert len(figures(bench(page.app, "encoder"))) == 1
    assert not bench(page.app, "encoder").info
    assert pretrained.loaded("minilm")


def test_two_models_that_cannot_be_had_say_so_each_for_itself(visit, nowhere):
    page = opened(visit, learned__model="smollm2")
    for name, title in (("learned", "SmolLM2-135M-Instruct"), ("encoder", "all-MiniLM-L6-v2")):
        (warning,) = warned(page, name)
        assert title in warning.replace("\\", "")
        assert page.app.button(key=f"po.{name}.again").label == page.text("work.again")
