"""Defaults of the reader's language on a page: what is drawn, and what the address then says."""

from __future__ import annotations

import dataclasses

import pytest
from streamlit.testing.v1 import AppTest

from tests.lessons.framework.sample_bench import Localized
from tests.ui.page import widget_page

PAGE = """
import streamlit as st
from tests.lessons.framework.sample_bench import Localized
from seqviz.core.i18n import Text
from seqviz.ui.page import widgets

st.session_state["_lang"] = st.session_state.get("reader", "en")
if values := st.session_state.pop("set_all", None):
    widgets.set_all("t.b", Localized, values["values"])
st.session_state["before"] = widgets.current("t.b", Localized)
st.session_state["drawn"] = widgets.draw(
    "t.b", Localized, Text("en"), lambda name: (name, None), lambda name, option: option.upper(),
    st.container(), st.container(),
)
st.session_state["after"] = widgets.current("t.b", Localized)
st.session_state["told"] = widgets.told_by_link("t.b", Localized)
"""
ENGLISH, CHINESE = Localized(), Localized(line="狗咬人", task="words")
MARK = {"defaults": "zh"}


def opened(reader: str, room: str = "", **link: str) -> AppTest:
    app = AppTest.from_string(PAGE, default_timeout=20)
    app.session_state["reader"] = reader
    if room:
        app.session_state["_room"] = room
    for name, raw in link.items():
        app.query_params[f"t.b.{name}"] = raw
    app.run()
    assert not app.exception
    return app


def shown(app: AppTest) -> tuple[Localized, dict[str, str]]:
    assert not app.exception
    return Localized(**widget_page.drawn(app)), widget_page.links(app)


def moved(app: AppTest, **values: object) -> AppTest:
    for name, value in values.items():
        app.session_state[f"t.b.{name}"] = value
    return app.run()


def test_untouched_bench_opens_in_the_language_of_the_reader_without_a_setting():
    assert shown(opened("en")) == (ENGLISH, {})
    assert shown(opened("zh")) == (CHINESE, {})


@pytest.mark.parametrize("reader", ["en", "zh"])
def test_old_link_opens_as_it_was_made(reader):
    assert shown(opened(reader, n="5")) == (dataclasses.replace(ENGLISH, n=5), {"n": "5"})


def test_moved_control_leaves_the_others_as_the_reader_sees_them():
    app = moved(opened("zh"), n=5)
    assert shown(app) == (dataclasses.replace(CHINESE, n=5), {"n": "5", **MARK})
    app = moved(app, view="tags")  # the text does not apply there
    assert shown(app)[1] == {"n": "5", "view": "tags", **MARK}
    app = moved(app, view="order")
    assert shown(app) == (dataclasses.replace(CHINESE, n=5), {"n": "5", **MARK})
    assert shown(moved(app, n=3)) == (CHINESE, {})


@pytest.mark.parametrize("reader", ["en", "zh"])
def test_link_of_a_chinese_page_opens_alike_in_both_languages(reader):
    app = opened(reader, n="5", **MARK)
    assert shown(app) == (dataclasses.replace(CHINESE, n=5), {"n": "5", **MARK})
    assert app.session_state["told"] == {"t.b.n": "5", "t.b.defaults": "zh"}
    chosen = moved(app, task="spaces")
    assert shown(chosen)[1] == {"n": "5", "task": "spaces", **MARK}


def test_switch_of_the_language_changes_what_was_not_touched():
    app = opened("zh")
    app.session_state["reader"] = "en"
    assert shown(app.run()) == (ENGLISH, {})
    app.session_state["reader"] = "zh"
    assert shown(app.run()) == (CHINESE, {})


def test_switch_of_the_language_leaves_a_touched_bench_alone():
    app = moved(opened("zh"), line="人咬狗")
    app.session_state["reader"] = "en"
    expected = dataclasses.replace(CHINESE, line="人咬狗")
    assert shown(app.run()) == (expected, {"line": "人咬狗", **MARK})


@pytest.mark.parametrize("link", [{"n": "5"}, {"n": "5", **MARK}, {"line": "狗"}])
@pytest.mark.parametrize(("reader", "defaults"), [("en", ENGLISH), ("zh", CHINESE)])
def test_reset_returns_to_the_defaults_of_the_reader(reader, defaults, link):
    app = opened(reader, **link)
    app.session_state["set_all"] = {"values": {}}
    assert shown(app.run()) == (defaults, {})


def test_settings_of_a_question_are_shown_with_the_defaults_of_the_reader():
    app = opened("zh", n="5")
    app.session_state["set_all"] = {"values": {"view": "tags"}}
    assert shown(app.run())[1] == {"view": "tags", **MARK}
    assert shown(app)[0].task == "words"


@pytest.mark.parametrize(("reader", "defaults"), [("en", "zh"), ("zh", "en")])
def test_link_to_the_defaults_of_the_other_language_keeps_them(reader, defaults):
    app = opened(reader, defaults=defaults)
    expected = CHINESE if defaults == "zh" else ENGLISH
    assert shown(app) == (expected, {"defaults": defaults})
    assert shown(app.run()) == (expected, {"defaults": defaults})
    assert shown(opened(reader, defaults=reader))[1] == {}


def test_room_has_the_language_of_the_defaults_in_every_address():
    """A student who reads the other language follows it and sees the same numbers."""
    assert shown(opened("zh", room="ABCDEF")) == (CHINESE, MARK)
    assert shown(opened("en", room="ABCDEF")) == (ENGLISH, {"defaults": "en"})
    assert shown(opened("en", room="ABCDEF", **MARK)) == (CHINESE, MARK)
    assert shown(opened("zh", room="ABCDEF", defaults="en")) == (ENGLISH, {"defaults": "en"})


@pytest.mark.parametrize("room", ["", "ABCDEF"])
def test_address_in_a_room_names_the_defaults_of_benches_that_are_not_drawn(room):
    app = AppTest.from_string("""
import streamlit as st
from seqviz.ui.page import navigation
st.session_state["_lang"] = "zh"
navigation.arrive("recurrent", {"lang": "zh"})
""", default_timeout=20)  # fmt: skip
    app.session_state["_room"] = room
    app.run()
    assert not app.exception
    named = {key for key in app.query_params if key.endswith(".defaults")}
    assert named == ({"rn.step.defaults", "rn.tagging.defaults"} if room else set())
