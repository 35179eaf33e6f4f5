"""Where the files lie that belong to the code: assets, pages, configuration.

In a checkout they lie beside the package, at the top of the repository; in the wheel, inside the
package (`setup.py` puts them there).
"""

from __future__ import annotations

from pathlib import Path

PACKAGE = Path(__file__).resolve().parent.parent
CARRIED = PACKAGE / "_app"
INSTALLED = CARRIED.is_dir()
ROOT = CARRIED if INSTALLED else PACKAGE.parent  # holds app.py, pages, .streamlit
ASSETS = ROOT / "assets"
# Streamlit serves `static` beside app.py: a link into the assets in a checkout, files in the wheel.
STATIC = ROOT / "static" if INSTALLED else ASSETS / "static"
