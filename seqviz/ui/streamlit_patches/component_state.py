"""Patch: component events as a plain dictionary, without a class per look-up.

Streamlit creates a new class for each component whenever its state is looked up, so that a page can
write to it (`st.session_state[key].name = value`), which no page of the app does. A callback runs
for each event of a message and reads the message's value: of thousands of clicks at once only the
last counts. The app's components have no lasting state: a forged one would shadow all later events
and is ignored.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from seqviz.ui.streamlit_patches.patch import Patch

EVENTS = 16  # event names per message; the app's components have one or two


def reader(
    aggregator_id: str, component_id: str | None = None, allowed_state_keys: object = None
) -> Callable[[object, Any], object]:
    """Return a presenter like `make_bidi_component_presenter`, for read-only components.

    Args:
        aggregator_id: widget that receives the component's events as {"event": ..., "value": ...}.
        component_id: only for writing; unused.
        allowed_state_keys: only for writing; unused.
    """

    def present(base: object, session: Any) -> object:
        """Return the component's events of this run."""
        payload = session._new_widget_state
        metadata = payload.widget_metadata.get(aggregator_id)
        if (
            not isinstance(base, dict)
            or getattr(metadata, "value_type", "") != "json_trigger_value"
        ):
            return base
        try:
            message = payload[aggregator_id]
        except KeyError:
            message = None
        parts = message if isinstance(message, list) else [message]
        events = [part for part in parts if isinstance(part, dict)]
        return {e["event"]: e.get("value") for e in events if isinstance(e.get("event"), str)}

    return present


def last_of_each(value: str | None) -> list[Any] | None:
    """Return the last event of each name, in order; otherwise like `deserialize_trigger_list`."""
    from streamlit.components.v2.bidi_component.serialization import deserialize_trigger_list

    events = deserialize_trigger_list(value)
    if events is None:
        return None
    retained: dict[str, Any] = {}
    for event in reversed(events):
        name = event.get("event") if isinstance(event, dict) else None
        if isinstance(name, str) and len(retained) < EVENTS:
            retained.setdefault(name, event)
    return list(reversed(retained.values()))


PATCH = Patch(
    "component_state",
    (
        "streamlit.components.v2.bidi_component.serialization:deserialize_trigger_list",
        "streamlit.runtime.state.session_state:SessionState._new_widget_state",
        "streamlit.runtime.state.session_state:WStates.widget_metadata",
    ),
    {
        "streamlit.components.v2.bidi_component.main:deserialize_trigger_list": last_of_each,
        "streamlit.components.v2.bidi_component.main:make_bidi_component_presenter": reader,
    },
    "Without it most cyclic garbage of interactions is such classes (10,000 of 14,000 objects in "
    "half a minute with twenty students), and 1,500 clicks in one message take 3 s. No "
    "public API.",
)
