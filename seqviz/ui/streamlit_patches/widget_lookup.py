"""Patch: look-up of one widget's value without a copy of the session state.

Each slider, number, menu and text field of Streamlit tests whether its key is in
`SafeSessionState.filtered_state`, which copies the whole session state and presents each component
again, although only one key is needed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from seqviz.ui.streamlit_patches.patch import Patch

if TYPE_CHECKING:
    from streamlit.runtime.state import SafeSessionState


class Lookup(Mapping[str, Any]):
    """Mapping with the content of `filtered_state`; copied only when iterated."""

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
    "Without it each slider, number, menu and text field copies the session state in every run, "
    "which takes longer the more of the page is open. No public API.",
)
