"""The app as `streamlit run app.py` serves it, for one module of tests each."""

from __future__ import annotations

from borrow import NO_PLAYWRIGHT, reach

reach("browser")  # what a visitor of the browser tests can do
if NO_PLAYWRIGHT:
    collect_ignore = ["test_server_policy.py"]
