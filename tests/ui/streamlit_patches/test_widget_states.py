"""A state that its widget cannot have said is not heard."""

from __future__ import annotations

import pytest
from streamlit.proto.WidgetStates_pb2 import WidgetState
from streamlit.runtime.state.common import WidgetMetadata
from streamlit.runtime.state.session_state import WStates

from tests.hostile.forged_messages import patched


def whole(value: float | None) -> int:
    """As a field for whole numbers reads; NaN raises."""
    return 7 if value is None else int(value)


@pytest.fixture
def states():
    with patched():
        yield WStates()


def known(states: WStates) -> WStates:
    states.set_widget_metadata(WidgetMetadata("n", whole, float, "double_value"))
    return states


FORGED = [
    {"double_value": float("nan")},
    {"double_value": float("inf")},
    {"string_value": "5"},
    {"trigger_value": True},
    {"bool_value": True},
    {"json_value": "["},
    {"double_array_value": {"data": [5]}},
]


@pytest.mark.parametrize("forged", FORGED, ids=str)
def test_widget_states_ignore_forged_value_and_kind(states, forged):
    known(states)
    states.set_widget_from_proto(WidgetState(id="n", double_value=3))
    states.set_widget_from_proto(WidgetState(id="n", **forged))
    assert states["n"] == 3
    assert states.widget_metadata["n"].value_type == "double_value"
    states.set_widget_from_proto(WidgetState(id="n", double_value=4))
    assert states["n"] == 4


@pytest.mark.parametrize("forged", FORGED, ids=str)
def test_widget_states_use_default_after_forged_early_value(states, forged):
    states.set_widget_from_proto(WidgetState(id="n", **forged))
    with pytest.raises(KeyError):
        states["n"]
    assert known(states)["n"] == 7


def test_widget_states_accept_integer(states):
    known(states).set_widget_from_proto(WidgetState(id="n", int_value=5))
    assert states["n"] == 5
    assert states.widget_metadata["n"].value_type == "double_value"


def test_widget_states_accept_cleared_value(states):
    known(states).set_widget_from_proto(WidgetState(id="n", double_value=3))
    states.set_widget_from_proto(WidgetState(id="n"))
    assert states["n"] == 7
