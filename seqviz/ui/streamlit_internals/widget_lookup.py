"""A widget that asks for its own value does not copy the whole session first.

Each slider, number, menu and text field of Streamlit asks whether its key is in
`SafeSessionState.filtered_state`, which makes a dictionary of everything that the session holds and
a new class for each component of the page: 3.5 % of what a server with fifty students computed,
more where a page is opened, and garbage in cycles. What it asks for is one key. There is no public
way to this; what is used of Streamlit is checked by tests/ui/test_widget_lookup.py.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from streamlit.runtime.state.safe_session_state import SafeSessionState


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


def install() -> None:
    """From now on, in this process."""
    SafeSessionState.filtered_state = property(Lookup)  # type: ignore[assignment, method-assign]
