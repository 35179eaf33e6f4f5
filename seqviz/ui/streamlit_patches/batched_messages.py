"""Patch: an interaction is not lost when a component reports an event at the same moment.

The browser puts everything that happens before its next idle moment into one message, which names
one fragment: that of the first event. A page that scrolls is busy for a tenth of a second, in which
a bench may come near and "next lesson" be pressed: the server received both, rendered the bench,
and lost the press.
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from seqviz.ui.streamlit_patches import widget_states
from seqviz.ui.streamlit_patches.patch import Patch

if TYPE_CHECKING:
    from streamlit.proto.ClientState_pb2 import ClientState
    from streamlit.runtime.app_session import AppSession

# Their callbacks request what is to be rendered (`draw_besides`), whichever fragment runs.
ASKS_ITSELF = (".lazy__events", ".debounce__events", ".commit__events")
AUTOMATIC = (".lazy__events", ".debounce__events")  # those that no reader has caused
_told: WeakKeyDictionary[AppSession, dict[str, bytes]] = WeakKeyDictionary()  # last states


def apply() -> None:
    """Apply the patch."""
    from streamlit.runtime.app_session import AppSession

    request = AppSession.request_rerun

    def ask_for_all(session: AppSession, client_state: ClientState | None) -> None:
        if client_state is not None:
            changed = _changed(session, client_state)
            # Merged with one, a request of Back that has not begun stays one of Back.
            automatic = bool(changed) and all(name.endswith(AUTOMATIC) for name in changed)
            client_state.is_auto_rerun = client_state.is_auto_rerun or automatic
            if client_state.fragment_id and session.has_fragment(client_state.fragment_id):
                client_state.fragment_id = _fragment(session, client_state.fragment_id, changed)
        request(session, client_state)

    AppSession.request_rerun = ask_for_all  # type: ignore[method-assign, assignment]


def _changed(session: AppSession, client_state: ClientState) -> list[str]:
    """Return the widgets with a new state."""
    before, _told[session] = _told.get(session, {}), {}
    changed = []
    for state in client_state.widget_states.widgets:
        if "trigger" in (state.WhichOneof("value") or ""):
            changed.append(state.id)
            continue
        message = _told[session][state.id] = state.SerializeToString()
        if message != before.get(state.id) and (
            state.id in before or not widget_states.is_held(session._session_state, state)
        ):
            changed.append(state.id)
    return changed


def _fragment(session: AppSession, spoken: str, changed: list[str]) -> str:
    """Return the fragment of all changed widgets except those in ASKS_ITSELF; "": the page."""
    existing = session._session_state._new_widget_state.widget_metadata
    asking = {
        existing[name].fragment_id or ""
        for name in changed
        if name in existing and not name.endswith(ASKS_ITSELF)
    }
    if not asking:
        return spoken
    item = asking.pop()
    return item if not asking and session.has_fragment(item) else ""


PATCH = Patch(
    "batched_messages",
    (
        "streamlit.runtime.app_session:AppSession.request_rerun",
        "streamlit.runtime.app_session:AppSession.has_fragment",
        "streamlit.runtime.state.session_state:SessionState._new_widget_state",
        "streamlit.runtime.state.session_state:WStates.widget_metadata",
        "streamlit.runtime.state.common:WidgetMetadata.fragment_id",
    ),
    apply,
    "Without it an interaction on a page that scrolls is sometimes lost without a trace. No "
    "public API sets the fragment of a message.",
)
