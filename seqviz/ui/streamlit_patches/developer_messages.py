"""Patch: messages of Streamlit's developer menu are ignored.

Any client can send them: one is answered with the names of uncommitted files, after several calls
of git on the event loop; one clears Streamlit's caches.
"""

from __future__ import annotations

from typing import Any

from seqviz.ui.streamlit_patches.patch import Patch

NAMES = (
    "_handle_git_information_request",
    "_handle_clear_cache_request",
    "_handle_set_run_on_save_request",
)


def passed_over(*_: Any) -> None:
    """Ignore a message."""


def apply() -> None:
    """Apply the patch."""
    from streamlit.runtime.app_session import AppSession

    for name in NAMES:
        setattr(AppSession, name, passed_over)


PATCH = Patch(
    "developer_messages",
    tuple(f"streamlit.runtime.app_session:AppSession.{name}" for name in NAMES),
    apply,
    "Without it a visitor can read the names of the app's uncommitted files, and block the event "
    "loop with git. `client.toolbarMode` hides the menu, not the messages.",
)
