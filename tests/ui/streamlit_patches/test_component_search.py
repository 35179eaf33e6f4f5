"""There is nothing to find: no package that is installed with the app brings a component."""

from __future__ import annotations

import subprocess
import sys

SEARCH = """
from streamlit.components.v2 import manifest_scanner
from seqviz.ui.streamlit_patches import component_search
found = manifest_scanner.scan_component_manifests()
component_search.PATCH.put()
assert manifest_scanner.scan_component_manifests() == found, found
"""


def test_component_search_patch_misses_no_component():
    done = subprocess.run([sys.executable, "-c", SEARCH], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
