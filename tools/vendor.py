"""Fetch the JavaScript that the pages load themselves, and check it: `python tools/vendor.py`.

Streamlit carries a Plotly of its own, but rebuilds a chart from nothing whenever its data change.
The lessons update theirs in place (`assets/static/chart.js`) with the part of Plotly that knows
lines, bars and heatmaps. Taken with the npm client; at run time nothing comes from another host.
"""

from __future__ import annotations

import hashlib
import io
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

STATIC = Path(__file__).resolve().parent.parent / "assets" / "static"
PACKAGE = "plotly.js-cartesian-dist-min@4.1.1"
MEMBER = "package/plotly-cartesian.min.js"
SHA256 = "79542150855a52c567260e3137095dbe2b744e6d702a5cabe67da246942fba7a"


def fetch(package: str, member: str) -> bytes:
    """One file of a package, by `npm pack`."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["npm", "pack", "--silent", package], cwd=folder, check=True)
        (archive,) = Path(folder).glob("*.tgz")
        with tarfile.open(fileobj=io.BytesIO(archive.read_bytes())) as packed:
            found = packed.extractfile(member)
            if found is None:
                raise FileNotFoundError(member)
            return found.read()


def main() -> int:
    """Write the file if its checksum is the known one."""
    content = fetch(PACKAGE, MEMBER)
    digest = hashlib.sha256(content).hexdigest()
    if digest != SHA256:
        print(f"{PACKAGE}: sha256 {digest}, expected {SHA256}; nothing written")
        return 1
    (STATIC / "plotly.min.js").write_bytes(content)
    print(f"{PACKAGE}: {len(content):,} bytes, checksum as expected")
    return 0


if __name__ == "__main__":
    sys.exit(main())
