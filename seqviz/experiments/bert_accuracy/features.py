"""Cached sentence vectors of a frozen encoder, the slow part of training a head.

They are cached in memory and, since they depend only on weights and sentences, in
`<cache>/features/`. Files are written atomically; one that is unreadable, or belongs to other
weights or sentences, is recomputed.
"""

from __future__ import annotations

import contextlib
import hashlib
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import cache
from importlib.metadata import version
from pathlib import Path

import numpy as np
from jaxtyping import Int

from seqviz.core import atomic_write
from seqviz.core.errors import UserError
from seqviz.data.reviews import Labeled, sentiment_split
from seqviz.experiments.bert_accuracy import encoding
from seqviz.experiments.bert_accuracy.encoding import Vectors
from seqviz.jobs import Report, no_progress, scale_report
from seqviz.models import store
from seqviz.models.pretrained import load

SPLITS = ("train", "validation", "test")
VALIDATION = 800  # sentences at the end of the training set
MAX_TOKENS = 64  # tokens; the longest sentence has 67, one in a thousand is cut
_VERSION = 1  # raise it when the same sentences give other vectors
_MODELS = 2  # in memory at once: 46 MB each for a model as wide as MiniLM


@dataclass(frozen=True)
class Features:
    """Sentence vectors of one part of the sentences.

    Attributes:
        vectors: the vectors.
        seconds: time that the network took to compute them.
        origin: "disk" or "computed".
    """

    vectors: Vectors
    seconds: float
    origin: str


_kept: OrderedDict[tuple[str, str, int | None], Features] = OrderedDict()
_guard = threading.Lock()
_making = threading.Lock()  # one computation at a time


@cache
def parts() -> dict[str, Labeled]:
    """Return the sentences by part: 7,272 for training, 800 for validation, 2,000 for the test."""
    train, test = sentiment_split()
    cut = len(train.texts) - VALIDATION
    return {
        "train": Labeled(train.texts[:cut], train.positive[:cut]),
        "validation": Labeled(train.texts[cut:], train.positive[cut:]),
        "test": test,
    }


@cache
def ids(model: str, part: str) -> tuple[Int[np.ndarray, "token"], ...]:
    """Return the token ids of the sentences of a part.

    Args:
        model: name of the model.
        part: one of `SPLITS`.
    """
    return encoding.tokenize(load(model), parts()[part].texts, MAX_TOKENS)


def features(
    model: str,
    part: str,
    first: int | None = None,
    report: Callable[[float], object] = lambda fraction: None,
) -> Features:
    """Return the vectors of a part, from memory, from disk or computed.

    Args:
        model: name of the encoder.
        part: one of `SPLITS`.
        first: number of sentences from the start; None for all.
        report: called with the share done; an exception it raises ends the work uncached.

    Raises:
        UserError: errors of `pretrained.load`; "encoder_only" for a decoder.
    """
    key = (model, part, first)
    with _guard:
        if key in _kept:  # without waiting for another computation
            _kept.move_to_end(key)
            return _kept[key]
    while not _making.acquire(timeout=0.2):  # short waits, so that a waiting job can be cancelled
        report(0.0)
    try:
        with _guard:
            if key in _kept:  # computed during the wait
                return _kept[key]
        features = _read(_path(model, part, first)) or _compute(model, part, first, report)
        _keep(key, features)
        return features
    finally:
        _making.release()


def _keep(key: tuple[str, str, int | None], features: Features) -> None:
    for name in fields(Vectors):
        getattr(features.vectors, name.name).flags.writeable = False
    with _guard:
        _kept[key] = features
        while len(_kept) > _MODELS * len(SPLITS):
            _kept.popitem(last=False)


def recall(model: str) -> None:
    """Load the vectors on disk into memory, so that no user waits for it; compute nothing.

    Raises:
        UserError: "not_fetched" if the model is not on this machine.
    """
    for part in SPLITS:
        result = _read(_path(model, part, None))
        if result is not None:
            _keep((model, part, None), result)


def ready(model: str) -> bool:
    """Return True where all parts are in memory or on disk, even in a damaged file."""
    with _guard:
        existing = {part for name, part, first in _kept if name == model and first is None}
    if existing == set(SPLITS):
        return True
    with contextlib.suppress(UserError):
        return all(part in existing or _path(model, part, None).is_file() for part in SPLITS)
    return False


def make(model: str, report: Report = no_progress) -> None:
    """Compute the vectors of all parts (a job), 50 to 100 s on one core.

    Args:
        model: name of the encoder.
        report: progress callback; receives the share done.
    """
    counts = {split: len(parts()[split].texts) for split in SPLITS}
    total, before = sum(counts.values()), 0
    for split, count in counts.items():
        features(
            model, split, report=scale_report(report, before / total, (before + count) / total)
        )
        before += count


def _compute(
    model: str, part: str, first: int | None, report: Callable[[float], object]
) -> Features:
    pretrained = load(model)
    title = pretrained.card.title
    if pretrained.card.kind != "encoder":
        raise UserError(
            "encoder_only",
            f"{title} is a decoder; choose an encoder, which makes sentence vectors.",
            model=title,
        )
    start = time.perf_counter()
    vectors = encoding.vectors(pretrained, ids(model, part)[:first], report=report)
    seconds = time.perf_counter() - start
    _write(_path(model, part, first), vectors, seconds)
    return Features(vectors, seconds, "computed")


def _path(model: str, part: str, first: int | None) -> Path:
    """Return the path of a file, named by a hash of model files, library versions and sentences."""
    stored = store.stored(model)
    if stored is None:
        raise UserError(
            "not_fetched", f"{model} is not on this machine yet.", model=model, name=model
        )
    libraries = [version(name) for name in ("torch", "transformers")]
    files = sorted(stored.files.items())
    existing = hashlib.sha256(repr((_VERSION, MAX_TOKENS, libraries, files)).encode())
    existing.update("\n".join(parts()[part].texts[:first]).encode())
    return store.cache() / "features" / f"{model}-{part}-{existing.hexdigest()[:16]}.npz"


def _read(path: Path) -> Features | None:
    """Return the vectors in a file; None if it is missing or damaged (zip has checksums)."""
    try:
        with np.load(path, allow_pickle=False) as file:
            vectors = Vectors(file["cls"], file["mean"], file["pooler"])
            return Features(vectors, float(file["seconds"]), "disk")
    except Exception:  # a damaged archive may raise any exception
        return None


def _write(path: Path, vectors: Vectors, seconds: float) -> None:
    """Write the vectors atomically; a full or read-only disk only means that nothing is cached."""
    with contextlib.suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        with atomic_write.atomic_write(path) as created:
            arrays = {field.name: getattr(vectors, field.name) for field in fields(Vectors)}
            np.savez(created, allow_pickle=False, seconds=np.array(seconds), **arrays)
