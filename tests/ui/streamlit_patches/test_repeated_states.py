"""A state that a message only repeats does not undo what the page has set since."""

from __future__ import annotations

import pytest
from streamlit.proto.WidgetStates_pb2 import WidgetState, WidgetStates
from streamlit.runtime.state import SessionState
from streamlit.runtime.state.common import WidgetMetadata

from seqviz.ui.streamlit_patches import repeated_states
from tests.hostile.forged_messages import patched

EVENT = WidgetState(id="slider__events", json_trigger_value='[{"event": "commit", "value": 1}]')


def read_number(value: float | None) -> float:
    return 0.0 if value is None else value


@pytest.fixture
def page(monkeypatch):
    with patched():
        monkeypatch.setattr(SessionState, "on_script_will_rerun", SessionState.on_script_will_rerun)
        repeated_states.apply()
        state = SessionState()
        for name in ("first", "second"):
            metadata = WidgetMetadata(name, read_number, float, "double_value")
            state._new_widget_state.set_widget_metadata(metadata)
        yield state


def receive(page: SessionState, *events: WidgetState, **values: float) -> None:
    states = [WidgetState(id=name, double_value=value) for name, value in values.items()]
    page.on_script_will_rerun(WidgetStates(widgets=[*states, *events]))


def set_values(page: SessionState, **values: float) -> None:
    for name, value in values.items():
        page._new_widget_state.set_from_value(name, value)


def test_repeated_state_keeps_value_of_page(page):
    receive(page, first=3, second=1)
    set_values(page, first=5)
    receive(page, EVENT, first=3, second=1)
    assert (page["first"], page["second"]) == (5, 1)
    receive(page, EVENT, first=5, second=1)
    assert page["first"] == 5


def test_repeated_state_of_another_choice_keeps_value_of_page(page):
    receive(page, first=3, second=1)
    set_values(page, first=5)
    receive(page, first=3, second=2)
    assert (page["first"], page["second"]) == (5, 2)


def test_value_chosen_once_more_is_taken(page):
    receive(page, first=3, second=1)
    set_values(page, first=5)
    receive(page, first=3, second=1)
    assert page["first"] == 3


def test_value_chosen_once_more_after_two_were_reset_is_taken(page):
    receive(page, first=3, second=1)
    set_values(page, first=5, second=0)
    receive(page, first=3, second=0)
    assert (page["first"], page["second"]) == (3, 0)


def test_first_message_is_taken_whole(page):
    receive(page, EVENT, first=3, second=1)
    assert (page["first"], page["second"]) == (3, 1)


def test_empty_message_leaves_what_is_known(page):
    """Back sends no states."""
    receive(page, first=3, second=1)
    page.on_script_will_rerun(WidgetStates())
    set_values(page, first=5)
    receive(page, EVENT, first=3, second=1)
    assert page["first"] == 5
