"""Paths of the files that belong to the code: assets, pages, configuration.

In a checkout they are next to the package, at the top of the repository; in the wheel they are
inside the package (`setup.py` copies them).
"""

from __future__ import annotations

from pathlib import Path

PACKAGE = Path(__file__).resolve().parent.parent
CARRIED = PACKAGE / "_app"
INSTALLED = CARRIED.is_dir()
ROOT = CARRIED if INSTALLED else PACKAGE.parent  # contains app.py, pages, .streamlit
ASSETS = ROOT / "assets"
PLANS = ROOT / "docs" / "teaching"  # lesson plans, and notebooks for homework
# Streamlit serves the folder `static` next to app.py: in a checkout a link into the assets.
STATIC = ROOT / "static" if INSTALLED else ASSETS / "static"
