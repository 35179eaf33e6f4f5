"""The page on positions: what the browser draws and reports, and models that are not there."""

from __future__ import annotations

import numpy as np
import pytest

from seqviz.compute.positions.sinusoidal import LAYOUTS, encoding
from seqviz.core.i18n import LANGUAGES
from seqviz.lessons.framework import controls
from seqviz.lessons.positions.lesson import lesson
from seqviz.models import pretrained
from seqviz.ui.page import components
from tests.pages.page_assertions import alerts, bench, every_bench_shows, figures
from tests.sliders import sliders

SLUG = "positions"
MODEL_BENCHES = ("learned", "encoder")
WAVES = {
    "positions": 64, "d_model": 64, "base": 10_000.0, "layout": "interleaved", "position": 20,
    "dimension": 8,
}  # fmt: skip


def opened(visit, lang: str = "en", **settings: object):
    """The page with some settings in its link, "effect__view" for one."""
    return visit(SLUG, lang, **{f"po__{key}": controls.encoded(v) for key, v in settings.items()})


def waves(page) -> dict:
    """What the browser is given to draw."""
    (sent,) = figures(bench(page.app, "waves"))
    return sent


def test_page_matches_bench_output(visit):
    settings = {
        "distance.view": "rotation", "distance.offset": 7, "learned.view": "path",
        "schemes.view": "alibi", "schemes.heads": 12, "effect.view": "maps", "effect.causal": True,
        "encoder.view": "maps", "encoder.head": 3,
    }  # fmt: skip
    page = opened(visit, "zh", **{key.replace(".", "__"): v for key, v in settings.items()})
    every_bench_shows(page, lesson, settings, "zh")


def test_schemes_bench_draws_when_chosen_head_is_removed(visit):
    """The slider of heads is moved below the chosen head."""
    page = opened(visit, schemes__view="alibi", schemes__heads=12, schemes__head=11)
    for heads in (5, 1, 3):
        page.run(po__schemes__heads=heads)
        assert figures(bench(page.app, "schemes"))


# ------------------------------------------------------------------------------ links of the waves
ENDS = (
    {"positions": 1, "d_model": 2, "base": 1.5, "layout": "halves", "position": 9999},
    {"positions": 10_000, "d_model": 511, "base": 1e6, "dimension": 511},
)
BEYOND = (
    {"positions": "0", "d_model": "513", "base": "1", "layout": "spiral", "position": "-1",
     "dimension": "512"},
    {"positions": "10001", "d_model": "64.0", "base": "10,000", "layout": "Halves",
     "position": "10000", "dimension": "nan"},
)  # fmt: skip


@pytest.mark.parametrize(("values", "lang"), zip(ENDS, LANGUAGES, strict=True))
def test_waves_link_sets_client_values(visit, values, lang):
    page = opened(visit, lang, **{f"waves__{name}": value for name, value in values.items()})
    assert waves(page)["values"] == {**WAVES, **values}
    request = {f"po.waves.{k}": controls.encoded(v) for k, v in values.items()}
    assert page.address == {"lang": lang, **request}
    own = page.text.table(f"{SLUG}.client.sinusoid")
    assert waves(page)["words"] == own | {
        "exact": page.text("frame.exact"), "field": page.text.table("number_field")
    }  # fmt: skip
    assert waves(page)["start"] == WAVES
    assert all(waves(page)["words"].values())
    assert not sliders(bench(page.app, "waves"))
    for kind in ("button_group", "metric"):
        assert not bench(page.app, "waves").get(kind), kind


@pytest.mark.parametrize("raw", BEYOND)
def test_waves_link_falls_back_on_impossible_value(visit, raw):
    page = visit(SLUG, **{f"po__waves__{name}": text for name, text in raw.items()})
    assert waves(page)["values"] == WAVES
    assert page.address == {"lang": page.text.lang}


# --------------------------------------------------------------------------- what the browser says
@pytest.fixture
def told(monkeypatch):
    """`told(page, values)`: the browser reports these, then the page runs."""
    callbacks = []
    drawing = components.sinusoid

    def noted(key, values, start, words, on_change):
        callbacks.append(on_change)
        drawing(key, values, start, words, on_change)

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


def test_waves_report_updates_link_and_code(visit, told):
    page = opened(visit)
    told(page, {**WAVES, "positions": 100, "d_model": 6, "base": 300, "layout": "halves"})
    assert page.address == {
        "lang": "en", "po.waves.positions": "100", "po.waves.d_model": "6", "po.waves.base": "300",
        "po.waves.layout": "halves",
    }  # fmt: skip
    space: dict = {}
    exec(page.lesson.sources()["waves"], space)
    np.testing.assert_array_equal(space["sines"].table, encoding(100, 6, 300.0, "halves").table)
    assert waves(page)["values"]["d_model"] == 6
    told(page, WAVES)
    assert page.address == {"lang": page.text.lang}


RUBBISH = (
    *(dict.fromkeys(WAVES, value) for value in (
        None, "<script>", [1, 2], {"a": 1}, True, 10**400, -(10**9), float("nan"), float("inf"),
        "9" * 10000,
    )),
    {"positions": 0, "d_model": 1, "base": 1, "layout": "", "position": -1, "dimension": 512},
    {"positions": 2.5, "d_model": 63.5, "position": 0.1, "dimension": 1e-9},
    {"other": 3, "": 1, "po.waves.positions": 5, "__class__": "x", "view": "matrix"},
    {3: 4, None: 5, (1, 2): 3},
    {},
)  # fmt: skip


def test_waves_report_drops_invalid_values_and_keeps_valid_ones(visit, told):
    page = opened(visit, waves__d_model=9)
    before = waves(page), page.lesson.sources()["waves"]
    for values in RUBBISH:
        assert told(page, values) == {}, values
    assert (waves(page), page.lesson.sources()["waves"]) == before
    state = told(page, {"positions": "x", "d_model": 10, "layout": LAYOUTS[1], "other": 1})
    assert state == {"po.waves.d_model": 10, "po.waves.layout": "halves"}


def test_waves_report_ignores_non_mapping_state(monkeypatch):
    """What the component's own callback makes of the state that it finds."""
    import streamlit as st

    received, given = [], {}
    monkeypatch.setattr(components, "_component", lambda *_, **__: given.update)
    for value in (None, "x", 3, [1, 2], True, {"base": 2, "at": 1, "x": 1}):
        monkeypatch.setattr(st, "session_state", {"k": {"settings": value}})
        components.sinusoid("k", WAVES, WAVES, {}, received.append)
        given["on_settings_change"]()
    assert received == [{"base": 2}]


# ----------------------------------------------------------------------------------- odd sentences
def test_effect_bench_warns_about_too_many_words(visit):
    page = opened(visit, "zh", effect__second=" ".join(f"w{k}" for k in range(25)))
    expected = page.text(f"{SLUG}.problem.many_words", limit=24)
    assert page.warned() == alerts(bench(page.app, "effect"))["warning"] == [expected]
    assert not bench(page.app, "effect").metric
    assert len(figures(bench(page.app, "encoder"))) == 1  # the encoder reads more


# ------------------------------------------------------------------------ a model that is not here
def test_page_without_model_keeps_other_benches(visit, minilm, smollm2, nowhere):
    page = opened(visit, "zh")
    sentence = page.text("problem.unreachable", model="all-MiniLM-L6-v2", name="@").split("@")[0]
    (warning,) = page.warned()
    assert warning.replace("\\", "").startswith(sentence.replace("\\", ""))
    assert alerts(bench(page.app, "learned"))["warning"] == [warning]
    stopped = page.text("work.model_stopped", model="all-MiniLM-L6-v2")
    assert alerts(bench(page.app, "encoder"))["info"] == [stopped]
    for name in lesson.benches:
        there = name not in MODEL_BENCHES
        assert len(figures(bench(page.app, name))) == there, name
    assert page.app.button(key="po.learned.again").label == page.text("work.again")


def test_encoder_bench_loads_its_own_model(visit, minilm, smollm2, monkeypatch):
    """The bench of the learned table leads for its own model only."""
    monkeypatch.setattr(pretrained, "_loaded", {})  # on the disk, not in memory
    page = opened(visit, learned__model="smollm2")
    assert len(figures(bench(page.app, "encoder"))) == 1
    assert not bench(page.app, "encoder").info
    assert pretrained.loaded("minilm")


def test_page_reports_each_unreachable_model(visit, minilm, smollm2, nowhere):
    page = opened(visit, learned__model="smollm2")
    for name, title in (("learned", "SmolLM2-135M-Instruct"), ("encoder", "all-MiniLM-L6-v2")):
        (warning,) = alerts(bench(page.app, name))["warning"]
        assert title in warning.replace("\\", "")
        assert page.app.button(key=f"po.{name}.again").label == page.text("work.again")
