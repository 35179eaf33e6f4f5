"""Connection state of a session, which Streamlit keeps for a while after a disconnect.

Streamlit has no event for a closed page, and `st.context` does not name the session.
"""

from __future__ import annotations


def name() -> str:
    """Return Streamlit's id of the session that runs in this thread; empty without one."""
    from streamlit.runtime.scriptrunner import get_script_run_ctx

    return str(getattr(get_script_run_ctx(), "session_id", ""))


def is_open(name: str) -> bool:
    """Return True where the session's page is connected, or where no server runs."""
    from streamlit import runtime

    return not runtime.exists() or runtime.get_instance().is_active_session(name)
