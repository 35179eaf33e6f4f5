"""Detection of Back and Forward, after which Streamlit reruns a page with its earlier URL.

The settings stay in the session state, so without this the page would keep its look and rewrite the
URL.
"""

from __future__ import annotations


def went_back() -> bool:
    """Return True where this run is due to Back or Forward; False if Streamlit cannot tell."""
    from streamlit.runtime.scriptrunner import get_script_run_ctx

    return bool(getattr(get_script_run_ctx(), "is_history_navigation", False))
