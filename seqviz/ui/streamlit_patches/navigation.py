"""Back and forward within a page: Streamlit runs the page again with the address of that time.

What has been set stays in the session all the same, so the page would look as before and write its
address anew.
"""

from __future__ import annotations


def went_back() -> bool:
    """Whether the reader has gone back or forward; False where Streamlit does not say it."""
    from streamlit.runtime.scriptrunner import get_script_run_ctx

    return bool(getattr(get_script_run_ctx(), "is_history_navigation", False))
