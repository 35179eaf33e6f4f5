"""What a component says reads as Streamlit's own presentation of it, without a class for each."""

from __future__ import annotations

import gc
from pathlib import Path
from types import SimpleNamespace

import pytest
from streamlit.components.v2.bidi_component import main
from streamlit.testing.v1 import AppTest

from seqviz.ui.streamlit_internals import component_state

ROOT = Path(__file__).resolve().parent.parent.parent
original = main.make_bidi_component_presenter


class Told(dict):
    """The part of a session's new state that a presenter reads."""

    def __init__(self, said: object, kind: str | None) -> None:
        super().__init__({} if said is None else {"events": said})
        self.widget_metadata = {"events": SimpleNamespace(value_type=kind)} if kind else {}


SAID = [
    None,
    [],
    {"event": "near", "value": ["fit"]},
    [{"event": "pick", "value": {"x": 1, "y": 2}}, {"event": "near", "value": None}],
    [{"event": "pick", "value": 1}, {"event": "pick", "value": 2}],
    [{"event": "kept", "value": "an event"}],
    ["no mapping", {"event": 5, "value": 1}, {"value": 1}, {"event": "bare"}],
    "no list",
    7,
]
BASES = [{}, {"kept": 1, "other": None}, None, "text", [1]]


@pytest.mark.parametrize("base", BASES, ids=repr)
@pytest.mark.parametrize("said", SAID, ids=repr)
@pytest.mark.parametrize("kind", ["json_trigger_value", "json_value", None])
def test_it_reads_as_streamlit_s(said, base, kind):
    session = SimpleNamespace(_new_widget_state=Told(said, kind))
    found = component_state.reader("events", "component", {"pick"})(base, session)
    assert found == original("events", "component", {"pick"})(base, session)
    assert type(found) is type(base)


def classes() -> int:
    """How many classes of Streamlit's presentation there are."""
    return sum(type(o) is type and o.__name__ == "_WriteThrough" for o in gc.get_objects())


@pytest.fixture
def uncollected():
    gc.disable()
    yield
    gc.enable()


def test_a_page_makes_no_class(monkeypatch, uncollected):
    monkeypatch.setattr(main, "make_bidi_component_presenter", original)
    page = AppTest.from_file(str(ROOT / "pages" / "gates.py"), default_timeout=120)
    before = classes()
    components = len(page.run().run().get("bidi_component"))
    assert classes() > before
    component_state.install()
    before = classes()
    page = AppTest.from_file(str(ROOT / "pages" / "gates.py"), default_timeout=120)
    assert len(page.run().run().get("bidi_component")) == components > 0
    assert classes() == before
