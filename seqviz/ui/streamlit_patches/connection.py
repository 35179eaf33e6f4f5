"""Whether the page of a session is connected: Streamlit keeps the session for a while after that.

It tells nobody when a page is closed, and `st.context` does not name its session.
"""

from __future__ import annotations


def name() -> str:
    """Streamlit's name for the session that runs in this thread; empty elsewhere."""
    from streamlit.runtime.scriptrunner import get_script_run_ctx

    return str(getattr(get_script_run_ctx(), "session_id", ""))


def is_open(name: str) -> bool:
    """Whether a page is connected to the session of this name; True where nothing is served."""
    from streamlit import runtime

    return not runtime.exists() or runtime.get_instance().is_active_session(name)
