"""What a page hears of a widget is something that this widget can say.

Whoever speaks the protocol by hand can send a state of any kind for any widget. Streamlit gives it
to the widget's own reader, which raises where it is of another kind; it also takes the kind for the
widget's own from then on. The state stays, so every later run raised as well. Here what cannot be
read is not heard, and the widget keeps the value that it had.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from seqviz.ui.streamlit_patches.patch import Patch

if TYPE_CHECKING:
    from streamlit.proto.WidgetStates_pb2 import WidgetState
    from streamlit.runtime.state.common import WidgetMetadata
    from streamlit.runtime.state.session_state import WStates


class UnreadableStateError(Exception):
    """No widget of this kind says that."""


def read(metadata: WidgetMetadata[Any], widget_state: WidgetState) -> Any:
    """The value of a widget. Raises Unreadable."""
    from streamlit.runtime.state.common import unpack_widget_state_value

    kind = widget_state.WhichOneof("value")
    if kind == "int_value" and metadata.value_type == "double_value":
        kind = "double_value"  # a field for numbers says a whole one so
    if kind not in (metadata.value_type, None):  # None: it has been emptied
        raise UnreadableStateError
    try:
        return metadata.deserializer(unpack_widget_state_value(widget_state))
    except Exception:  # what a reader raises depends on the widget
        raise UnreadableStateError from None


def apply() -> None:
    """From now on, in this process."""
    from streamlit.runtime.state import session_state

    serialized, value = session_state.Serialized, session_state.Value
    get = session_state.WStates.__getitem__

    def heard(self: WStates, widget_state: WidgetState) -> None:
        """A state has arrived; of a widget that is not drawn yet it is read when it is."""
        if (metadata := self.widget_metadata.get(widget_state.id)) is None:
            self.states[widget_state.id] = serialized(widget_state)
            return
        try:
            self.states[widget_state.id] = value(read(metadata, widget_state))
        except UnreadableStateError:
            return

    def get_state(self: WStates, key: str) -> Any:
        """The value of a widget; KeyError where there is none."""
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
    "A forged state ends all later runs of its own session, each with a traceback in the log. "
    "There is no public way.",
)
