"""What a component says reads as Streamlit's own presentation of it, without a class for each."""

from __future__ import annotations

import gc
import json
import time
from itertools import product
from pathlib import Path
from types import SimpleNamespace

import pytest
from streamlit.components.v2.bidi_component import main
from streamlit.proto.WidgetStates_pb2 import WidgetState, WidgetStates
from streamlit.testing.v1 import AppTest

from seqviz.core.paths import STATIC
from seqviz.ui.streamlit_patches import component_state

ROOT = Path(__file__).resolve().parents[3]
original = main.make_bidi_component_presenter


class Told(dict):
    """The part of a session's new state that a presenter reads."""

    def __init__(self, message: object, kind: str | None) -> None:
        super().__init__({} if message is None else {"events": message})
        self.widget_metadata = {"events": SimpleNamespace(value_type=kind)} if kind else {}


SAID = [
    None,
    [],
    {"event": "visible", "value": ["fit"]},
    [{"event": "pick", "value": {"x": 1, "y": 2}}, {"event": "visible", "value": None}],
    [{"event": "pick", "value": 1}, {"event": "pick", "value": 2}],
    [{"event": "kept", "value": "an event"}],
    ["no mapping", {"event": 5, "value": 1}, {"value": 1}, {"event": "bare"}],
    "no list",
    7,
]
BASES = [{}, {"kept": 1, "other": None}, None, "text", [1]]


KINDS = ("json_trigger_value", "json_value", None)


def test_reader_matches_streamlit_presenter():
    for message, base, kind in product(SAID, BASES, KINDS):
        session = SimpleNamespace(_new_widget_state=Told(message, kind))
        result = component_state.reader("events", "component", {"pick"})(base, session)
        # What somebody sends as a lasting state is not heard: no component of ours has one.
        lasting = base if kind != "json_trigger_value" or not isinstance(base, dict) else {}
        expected = original("events", "component", {"pick"})(lasting, session)
        assert result == expected, (message, base, kind)
        assert type(result) is type(base), (message, base, kind)


def test_components_set_no_lasting_state():
    scripts = [path for path in STATIC.rglob("*.js") if not path.name.endswith(".min.js")]
    assert len(scripts) > 10
    assert [path.name for path in scripts if "setStateValue" in path.read_text("utf-8")] == []


def classes() -> int:
    """How many classes of Streamlit's presentation there are."""
    return sum(type(o) is type and o.__name__ == "_WriteThrough" for o in gc.get_objects())


@pytest.fixture
def uncollected():
    gc.disable()
    yield
    gc.enable()


def test_reader_creates_no_class_per_page(monkeypatch, uncollected):
    monkeypatch.setattr(main, "make_bidi_component_presenter", original)
    monkeypatch.setattr(main, "deserialize_trigger_list", main.deserialize_trigger_list)
    page = AppTest.from_file(str(ROOT / "pages" / "gates.py"), default_timeout=120)
    before = classes()
    components = len(page.run().run().get("bidi_component"))
    assert classes() > before
    component_state.PATCH.put()
    before = classes()
    page = AppTest.from_file(str(ROOT / "pages" / "gates.py"), default_timeout=120)
    assert len(page.run().run().get("bidi_component")) == components > 0
    assert classes() == before


def clicked():
    import streamlit as st

    from seqviz.ui.page import components

    def pick(x, y):
        st.session_state.setdefault("picked", []).append((x, y))

    components.chart("figure", b'{"data": [], "layout": {}}', "", "", on_pick=pick)


def clicks(events: list) -> tuple[list, float]:
    """What the callback of a chart was told for these events, and seconds of the processor."""
    app = AppTest.from_function(clicked).run()
    (chart,) = app.get("bidi_component")
    name = f"$$STREAMLIT_INTERNAL_KEY_{chart.proto.id}__events"
    state = WidgetState(id=name, json_trigger_value=json.dumps(events))
    started = time.process_time()
    app._run(WidgetStates(widgets=[state]))
    assert not app.exception
    return app.session_state["picked"], time.process_time() - started


def test_reader_handles_only_last_of_many_clicks_quickly(monkeypatch):
    for name in ("make_bidi_component_presenter", "deserialize_trigger_list"):
        monkeypatch.setattr(main, name, getattr(main, name))  # is put back
    component_state.PATCH.put()
    many = [{"event": "pick", "value": {"x": n, "y": -n}} for n in range(1500)]
    result, seconds = clicks(many)
    assert result == [(1499, -1499)]
    assert seconds < 1.0  # a single one takes 0.02; each of them read all of them: 3 s


def test_last_of_each_limits_event_count():
    retained = component_state.last_of_each(
        json.dumps([{"event": f"e{n}", "value": n} for n in range(99)])
    )
    assert len(retained) == component_state.EVENTS
    assert retained[-1] == {"event": "e98", "value": 98}


@pytest.mark.parametrize(
    ("told", "kept"),
    [
        (None, None),
        ("[]", []),
        ("no JSON", []),
        ('{"event": "visible", "value": 1}', [{"event": "visible", "value": 1}]),
        ('["x", 1, {"event": 5}, {"event": "a"}, {"value": 1}]', [{"event": "a"}]),
        (
            '[{"event": "a", "value": 1}, {"event": "b"}, {"event": "a", "value": 2}]',
            [{"event": "b"}, {"event": "a", "value": 2}],
        ),
    ],
)
def test_last_of_each_keeps_last_event_per_name(told, kept):
    assert component_state.last_of_each(told) == kept
