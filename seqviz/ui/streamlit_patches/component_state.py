"""What a component of a page says is a plain dictionary.

Streamlit makes a new class for each component of a page each time that its state is looked up, so
that a page can write to it (`st.session_state[key].name = value`), which no page of ours does. A
callback is called for each event of a message, and reads what the message says: of thousands of
clicks at once only the last is heard. A component of ours has no lasting state: what somebody sends
as one would stand before all later events, and is not heard.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from seqviz.ui.streamlit_patches.patch import Patch

EVENTS = 16  # kinds of them in one message; a component of ours has one or two


def reader(
    aggregator_id: str, component_id: str | None = None, allowed_state_keys: object = None
) -> Callable[[object, Any], object]:
    """As `make_bidi_component_presenter`, for components that are only read.

    aggregator_id: where the events of the component arrive, as {"event": ..., "value": ...}. The
    other two are for writing.
    """

    def present(base: object, session: Any) -> object:
        """Its events of this run."""
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
    """As `deserialize_trigger_list`, with the last event of each name, in the order they came."""
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
    "Those classes were most of the garbage in cycles that presses leave (10,000 of 14,000 objects "
    "in half a minute with twenty students), and 1,500 clicks in one message took 3 s. There is no "
    "public way.",
)
