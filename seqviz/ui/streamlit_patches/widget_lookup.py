"""A widget that asks for its own value does not copy the whole session first.

Each slider, number, menu and text field of Streamlit asks whether its key is in
`SafeSessionState.filtered_state`, which makes a dictionary of everything that the session holds and
presents each component of the page anew. What it asks for is one key.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from seqviz.ui.streamlit_patches.patch import Patch

if TYPE_CHECKING:
    from streamlit.runtime.state import SafeSessionState


class Lookup(Mapping[str, Any]):
    """What `filtered_state` holds, found key by key; copied only where all of it is asked for."""

    def __init__(self, safe: SafeSessionState) -> None:
        self._safe = safe

    def __getitem__(self, key: str) -> Any:
        with self._safe._lock:
            return self._safe._state[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._copy())

    def __len__(self) -> int:
        return len(self._copy())

    def __repr__(self) -> str:
        return repr(self._copy())

    def _copy(self) -> dict[str, Any]:
        with self._safe._lock:
            return self._safe._state.filtered_state


PATCH = Patch(
    "widget_lookup",
    (
        "streamlit.runtime.state:SafeSessionState._lock",
        "streamlit.runtime.state:SafeSessionState._state",
        "streamlit.runtime.state:SessionState.filtered_state",
    ),
    {"streamlit.runtime.state:SafeSessionState.filtered_state": property(Lookup)},
    "Each slider, number, menu and text field of a press would copy the whole session: the more of "
    "the page is open, the more that takes. There is no public way.",
)
