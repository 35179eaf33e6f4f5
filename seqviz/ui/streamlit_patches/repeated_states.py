"""Patch: ignore the states that a message only repeats.

Each message of the browser has the states of all widgets. One that is sent while the page sets a
widget (Back, a link, a reset) still has the previous state, and Streamlit takes that for a choice
of the reader: what was just set is undone. Here a widget whose state is that of the message before
keeps the value of the page, provided that the message reports anything else.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from seqviz.ui.streamlit_patches import widget_states
from seqviz.ui.streamlit_patches.patch import Patch

if TYPE_CHECKING:
    from streamlit.proto.WidgetStates_pb2 import WidgetStates
    from streamlit.runtime.state import SessionState

KEY = "_received_states"  # in the session's state: the states that were received last, by widget


def apply() -> None:
    """Apply the patch."""
    from streamlit.runtime.state import SessionState

    prepare = SessionState.on_script_will_rerun

    def on_script_will_rerun(
        state: SessionState, fresh_widget_states: WidgetStates | None, **options: Any
    ) -> None:
        if fresh_widget_states is not None and fresh_widget_states.widgets:
            fresh_widget_states = without_repeated(state, fresh_widget_states)
        prepare(state, fresh_widget_states, **options)

    SessionState.on_script_will_rerun = on_script_will_rerun  # type: ignore[method-assign, assignment]


def without_repeated(state: SessionState, received: WidgetStates) -> WidgetStates:
    """Return the received states without those that were received last time.

    A message without any other news is returned whole: the reader has chosen once more what the
    page has replaced since.

    Args:
        state: of the session.
        received: states of all widgets.
    """
    before: dict[str, bytes] = {}
    if KEY in state:
        before = state[KEY]
    now: dict[str, bytes] = {}
    remaining, has_news = [], False
    for item in received.widgets:
        is_trigger = "trigger" in (item.WhichOneof("value") or "")
        if not is_trigger:
            now[item.id] = item.SerializeToString()
            if before.get(item.id) == now[item.id] and item.id in state:
                continue
        remaining.append(item)
        has_news = has_news or is_trigger or not widget_states.is_held(state, item)
    state[KEY] = now
    return type(received)(widgets=remaining) if has_news else received


PATCH = Patch(
    "repeated_states",
    (
        "streamlit.runtime.state.session_state:SessionState.on_script_will_rerun",
        "streamlit.runtime.state.session_state:SessionState._new_widget_state",
    ),
    apply,
    "Without it Back or Ctrl+Z on a slow server sometimes takes back nothing. No public API says "
    "which widget a message is about.",
)
