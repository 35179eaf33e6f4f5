"""A widget asks a session for one key: it gets what the whole copy would have held."""

from __future__ import annotations

import pytest
from streamlit.runtime.state import SafeSessionState, SessionState
from streamlit.testing.v1 import AppTest

from seqviz.ui.streamlit_patches.widget_lookup import Lookup

copied = SafeSessionState.filtered_state


@pytest.fixture
def safe():
    state = SessionState()
    state["gain"] = 0.9
    state["nothing"] = None
    state["$$STREAMLIT_INTERNAL_KEY_x"] = 1
    return SafeSessionState(state, lambda: None)


def test_lookup_matches_filtered_state(safe):
    full = copied.fget(safe)
    lookup = Lookup(safe)
    assert dict(lookup) == full == {"gain": 0.9, "nothing": None}
    assert len(lookup) == 2
    assert "gain" in lookup
    assert lookup["nothing"] is None
    assert "other" not in lookup
    with pytest.raises(KeyError):
        lookup["other"]


def test_lookup_reads_key_without_copy(safe, monkeypatch):
    monkeypatch.setattr(SessionState, "filtered_state", property(lambda _: pytest.fail("copied")))
    lookup = Lookup(safe)
    assert "gain" in lookup
    assert lookup["gain"] == 0.9


def page():
    import streamlit as st

    state = st.session_state
    for key, value in (("one", None), ("two", None), ("three", None), ("four", 7)):
        state.setdefault(key, value)
    st.number_input("one", 0, 9, key="one")
    st.selectbox("two", ["a", "b"], key="two")
    st.text_input("three", key="three")
    st.slider("four", 0, 9, key="four")
    st.slider("five", 0, 9, key="five")


def test_lookup_serves_widget_values(monkeypatch):
    requests = []

    def looked_up(safe):
        requests.append(1)
        return Lookup(safe)

    monkeypatch.setattr(SafeSessionState, "filtered_state", property(looked_up))
    app = AppTest.from_function(page).run()
    assert not app.exception
    assert len(requests) >= 5  # Streamlit still asks in this way
    assert app.number_input(key="one").value is None
    assert app.selectbox(key="two").value is None
    assert app.text_input(key="three").value is None
    assert app.slider(key="four").value == 7
    assert app.slider(key="five").value == 0
    app.slider(key="four").set_value(3).run()
    assert app.slider(key="four").value == 3
