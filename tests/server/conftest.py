"""The app as `streamlit run app.py` serves it, for one module of tests each."""

from __future__ import annotations

import importlib.util
import os
import sys
from pathlib import Path

import pytest

REQUIRED = os.environ.get("SEQVIZ_REQUIRE_BROWSER") == "1"
# What a visitor of the browser tests can do is in their folder.
sys.path.append(str(Path(__file__).resolve().parent.parent / "browser"))
if importlib.util.find_spec("playwright") is None and not REQUIRED:
    collect_ignore_glob = ["test_*.py"]


@pytest.fixture(scope="session")
def browser():
    from benchmarks.browser import NoChromium, chromium

    try:
        with chromium() as running:
            yield running
    except NoChromium as error:
        if REQUIRED:
            pytest.fail(str(error), pytrace=False)
        pytest.skip(str(error))
