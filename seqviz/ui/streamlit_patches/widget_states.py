"""Patch: ignore widget states that the widget cannot have.

A client can send a state of any kind for any widget. Streamlit passes it to the widget's
deserializer, which raises for another kind, and adopts that kind for the widget. The state stays,
so every later run raises as well. Here an unreadable state is ignored and the widget keeps its
value.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from seqviz.ui.streamlit_patches.patch import Patch

if TYPE_CHECKING:
    from streamlit.proto.WidgetStates_pb2 import WidgetState
    from streamlit.runtime.state.common import WidgetMetadata
    from streamlit.runtime.state.session_state import SessionState, WStates


class UnreadableStateError(Exception):
    """A state that a widget of this kind cannot have."""


def read(metadata: WidgetMetadata[Any], widget_state: WidgetState) -> Any:
    """Return the value of a widget; raises UnreadableStateError."""
    from streamlit.runtime.state.common import unpack_widget_state_value

    kind = widget_state.WhichOneof("value")
    if kind == "int_value" and metadata.value_type == "double_value":
        kind = "double_value"  # a number field sends an integer this way
    if kind not in (metadata.value_type, None):  # None: cleared
        raise UnreadableStateError
    try:
        return metadata.deserializer(unpack_widget_state_value(widget_state))
    except Exception:  # exceptions depend on the widget
        raise UnreadableStateError from None


def is_held(state: SessionState, widget_state: WidgetState) -> bool:
    """Return True where a received state only repeats what the page has set, or is of no widget."""
    metadata = state._new_widget_state.widget_metadata.get(widget_state.id)
    if metadata is None:
        return True
    try:
        return bool(read(metadata, widget_state) == state[widget_state.id])
    except (UnreadableStateError, KeyError, ValueError):
        return False


def apply() -> None:
    """Apply the patch."""
    from streamlit.runtime.state import session_state

    serialized, value = session_state.Serialized, session_state.Value
    get = session_state.WStates.__getitem__

    def heard(self: WStates, widget_state: WidgetState) -> None:
        """Store a received state; that of a widget without metadata is read later."""
        if (metadata := self.widget_metadata.get(widget_state.id)) is None:
            self.states[widget_state.id] = serialized(widget_state)
            return
        try:
            self.states[widget_state.id] = value(read(metadata, widget_state))
        except UnreadableStateError:
            return

    def get_state(self: WStates, key: str) -> Any:
        """Return the value of a widget; raises KeyError for an unknown key."""
        state, metadata = self.states.get(key), self.widget_metadata.get(key)
        if isinstance(state, serialized) and metadata is not None:
            try:
                self.states[key] = value(read(metadata, state.value))
            except UnreadableStateError:
                self.states[key] = value(metadata.deserializer(None))
        return get(self, key)

    session_state.WStates.set_widget_from_proto = heard  # type: ignore[method-assign]
    session_state.WStates.__getitem__ = get_state  # type: ignore[method-assign]


PATCH = Patch(
    "widget_states",
    (
        "streamlit.runtime.state.session_state:WStates.__getitem__",
        "streamlit.runtime.state.session_state:WStates.set_widget_from_proto",
        "streamlit.runtime.state.session_state:WStates.widget_metadata",
        "streamlit.runtime.state.session_state:WStates.states",
        "streamlit.runtime.state.session_state:Serialized",
        "streamlit.runtime.state.session_state:Value",
        "streamlit.runtime.state.common:unpack_widget_state_value",
        "streamlit.runtime.state.common:WidgetMetadata.value_type",
        "streamlit.runtime.state.common:WidgetMetadata.deserializer",
    ),
    apply,
    "Without it a forged state breaks all later runs of its session, each with a traceback in "
    "the log. No public API.",
)
