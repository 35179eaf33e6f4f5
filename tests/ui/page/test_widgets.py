"""The widgets of a declaration on a page: link in, link out, and what another bench reads."""

from __future__ import annotations

import dataclasses
import json

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from seqviz.lessons.framework.controls import controls, encoded
from seqviz.ui.page import widgets
from tests.lessons.framework.sample_bench import METHODS, Sample
from tests.sliders import rest, sliders
from tests.ui.page import widget_page
from tests.ui.page.widget_page import links

PAGE = """
import streamlit as st
from tests.lessons.framework.sample_bench import Sample
from seqviz.core.i18n import Text
from seqviz.ui.page import widgets

st.session_state["before"] = widgets.current("t.b", Sample)
st.session_state["drawn"] = widgets.draw(
    "t.b", Sample, Text("en"), lambda name: (name, None), lambda name, option: option.upper(),
    st.container(), st.container(),
)
st.session_state["after"] = widgets.current("t.b", Sample)
"""


def opened(**link: str) -> AppTest:
    return widget_page.opened(PAGE, link)


def drawn(app: AppTest) -> Sample:
    return Sample(**widget_page.drawn(app))


def test_widgets_start_with_defaults_and_empty_link():
    app = opened()
    assert drawn(app) == Sample()
    assert links(app) == {}


@pytest.mark.parametrize(
    ("name", "raw", "value"),
    [
        ("figure", "map", "map"),
        ("phi", "-1.2", -1.2),
        ("order", "5", 5),
        ("n", "5000", 5000),
        ("rate", "0.0003", 0.0003),
        ("noise", "student_t", "student_t"),
        ("cell", "mlp", "mlp"),
        ("methods", "ols+exact_ml", ("ols", "exact_ml")),
        ("shuffle", "true", True),
        ("seed", "9999", 9999),
    ],
)
def test_link_sets_control(name, raw, value):
    app = opened(**{name: raw})
    assert drawn(app) == dataclasses.replace(Sample(), **{name: value})
    assert links(app) == {name: raw}


def test_link_drops_invalid_values_and_uses_defaults():
    """All at once: each control alone decides, none takes the page down."""
    raw = {"figure": "x", "phi": "nan", "order": "2.0", "n": "51", "rate": "inf", "noise": "",
           "cell": "RNN", "methods": "ols+x", "shuffle": "1", "seed": "²",
           "second": "1e999"}  # fmt: skip
    assert set(raw) == {name for name, _ in controls(Sample)}
    app = opened(**raw)
    assert drawn(app) == Sample()
    # what does not apply is not on the page, and its words stay in the link
    assert set(links(app)) <= {"second"}
    assert any("“nan”" in caption.value for caption in app.caption)
    app.session_state["t.b.phi"] = 0.5
    app.run()
    assert not any("“nan”" in caption.value for caption in app.caption)


@pytest.mark.parametrize(("link", "is_open"), [({}, False), ({"rate": "0.1"}, True)])
def test_link_to_control_behind_more_opens_it(link, is_open):
    app = opened(**link)
    assert [item.proto.expanded for item in app.expander] == [is_open]
    for name in link:
        del app.query_params[f"t.b.{name}"]
    app.run()
    assert [item.proto.expanded for item in app.expander] == [is_open]


def test_link_normalizes_order_of_names():
    app = opened(methods="exact_ml+ols")
    assert drawn(app).methods == ("ols", "exact_ml")
    assert links(app) == {"methods": "ols+exact_ml"}


def test_link_deduplicates_names():
    app = opened(methods="ols+ols")
    assert drawn(app).methods == ("ols",)


def test_multi_choice_ignores_click_order():
    """All on again, the last one clicked first: the default, and nothing for a link to say."""
    app = opened()
    app.session_state["t.b.methods"] = list(reversed(METHODS))
    app.run()
    assert drawn(app) == Sample()
    assert links(app) == {}


def test_link_ignores_unknown_parameter():
    app = opened(nothing="1")
    assert drawn(app) == Sample()


def test_hidden_control_uses_default_until_shown():
    app = opened(second="0.9")
    assert drawn(app).second == 0.5
    assert "t.b.second" not in sliders(app)
    rest(app, **{"t.b.order": 2})
    assert drawn(app) == dataclasses.replace(Sample(), order=2, second=0.9)


@pytest.mark.parametrize(
    ("name", "value"),
    [("phi", 0.25), ("order", 3), ("n", 50), ("rate", 0.1), ("seed", 12), ("shuffle", True),
     ("cell", "mlp"), ("figure", "map"), ("noise", "student_t")],
)  # fmt: skip
def test_link_contains_changed_control_and_omits_default(name, value):
    app = opened()
    app.session_state[f"t.b.{name}"] = value
    app.run()
    assert not app.exception
    assert drawn(app) == dataclasses.replace(Sample(), **{name: value})
    assert links(app) == {name: encoded(value)}
    app.session_state[f"t.b.{name}"] = getattr(Sample(), name)
    app.run()
    assert drawn(app) == Sample()
    assert links(app) == {}


def test_widgets_apply_user_input():
    """Not through the session: as a visitor does it. (Sliders, seeds: test_browser_sliders.)"""
    app = opened()
    app.get_by_key("t.b.shuffle").set_value(True)
    app.get_by_key("t.b.cell").set_value("mlp")
    app.get_by_key("t.b.noise").set_value("student_t")
    app.run()
    assert not app.exception
    expected = dataclasses.replace(Sample(), shuffle=True, cell="mlp", noise="student_t")
    assert drawn(app) == expected


def test_link_uses_option_names_not_labels():
    """The labels above are upper case: a link made in one language opens in the other."""
    app = opened(noise="student_t", methods="ols")
    assert links(app) == {"noise": "student_t", "methods": "ols"}
    (menu,) = app.selectbox
    assert menu.options == ["GAUSSIAN", "STUDENT_T"]


def test_current_falls_back_to_link_on_stale_label(monkeypatch):
    """Streamlit gives the label that the browser showed before the language was changed."""
    monkeypatch.setattr(st, "session_state", {"t.b.noise": "Student's t"})
    for link, value in ({"t.b.noise": "student_t"}, "student_t"), ({}, Sample().noise):
        monkeypatch.setattr(st, "query_params", link)
        assert widgets.current("t.b", Sample).noise == value


def test_multi_choice_restores_all_names_when_emptied():
    app = opened(methods="ols")
    app.session_state["t.b.methods"] = []
    app.run()
    assert not app.exception
    assert app.session_state["drawn"].methods == METHODS


def test_more_expander_contains_rate_and_seed():
    app = opened()
    (more,) = app.expander
    assert list(sliders(more)) == ["t.b.rate"]
    assert [w.key for w in more if getattr(w, "key", None)] == [
        "t.b.rate.slider", "t.b.seed.slider"
    ]  # fmt: skip


def test_widgets_match_declared_ranges_and_steps():
    app = opened()
    payload = sliders(app)
    ends = {name: [payload[f"t.b.{name}"][key] for key in ("low", "high", "step", "whole", "start")]
            for name in ("phi", "order")}  # fmt: skip
    assert ends == {"phi": [-1.2, 1.2, 0.01, False, "0.8"], "order": [1, 5, 1, True, "1"]}
    (seed,) = json.loads(app.get_by_key("t.b.seed.slider").proto.json)
    assert [seed[key] for key in ("low", "high", "step", "whole")] == [0, 9999, 1, True]
    assert [(stop["text"], stop["value"]) for stop in payload["t.b.n"]["stops"]] == [
        ("50", "50"), ("100", "100"), ("5,000", "5000"),
    ]  # fmt: skip


@pytest.mark.parametrize("text", ["nan", "inf", "1.3", "", "0x1", "1e999", "one"])
def test_rested_ignores_invalid_slider_text(text):
    """`_rested` is its callback: what is no value of the control changes nothing."""
    app = AppTest.from_string(f"""
import streamlit as st
from tests.lessons.framework.sample_bench import Sample
from seqviz.lessons.framework.controls import controls
from seqviz.ui.page import widgets

st.session_state["t.b.phi"] = 0.5
widgets._rested("t.b.phi", dict(controls(Sample))["phi"], {text!r})
""").run()
    assert not app.exception
    assert app.session_state["t.b.phi"] == 0.5
