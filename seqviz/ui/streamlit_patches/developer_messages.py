"""What Streamlit does for whoever develops an app, it does not do for visitors.

Anybody can send these messages: one is answered with the names of files that are not committed,
after several calls of git on the thread that serves everybody; one empties Streamlit's caches.
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
    """Nothing happens."""


def apply() -> None:
    """From now on, in this process."""
    from streamlit.runtime.app_session import AppSession

    for name in NAMES:
        setattr(AppSession, name, passed_over)


PATCH = Patch(
    "developer_messages",
    tuple(f"streamlit.runtime.app_session:AppSession.{name}" for name in NAMES),
    apply,
    "A visitor could read the names of files beside the app, and keep git busy on the thread that "
    "serves everybody. `client.toolbarMode` hides the menu, not the messages.",
)
