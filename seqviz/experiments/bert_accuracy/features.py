"""The sentence vectors of a frozen encoder, computed once: the slow part of training a head.

Kept in memory and, as they depend on nothing but weights and sentences, in `<cache>/features/`. A
file there is whole or absent: it is written beside its place and moved into it, and one that cannot
be read, or is not of these weights and sentences, is computed anew.
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
VALIDATION = 800  # sentences at the end of the training set, set apart
MAX_TOKENS = 64  # tokens; the longest sentence has 67, one in a thousand is cut
_VERSION = 1  # to be raised where the same sentences would give other vectors
_MODELS = 2  # in memory at once: 46 MB each for a model as wide as MiniLM


@dataclass(frozen=True)
class Features:
    """The vectors of one part of the sentences.

    seconds: that the network took for them, when it did. origin: "disk" or "computed".
    """

    vectors: Vectors
    seconds: float
    origin: str


_kept: OrderedDict[tuple[str, str, int | None], Features] = OrderedDict()
_guard = threading.Lock()
_making = threading.Lock()  # one computation at a time; who asks for the same waits for it


@cache
def parts() -> dict[str, Labeled]:
    """The sentences by part: 7,272 to train on, 800 for validation, 2,000 for the test."""
    train, test = sentiment_split()
    cut = len(train.texts) - VALIDATION
    return {
        "train": Labeled(train.texts[:cut], train.positive[:cut]),
        "validation": Labeled(train.texts[cut:], train.positive[cut:]),
        "test": test,
    }


@cache
def ids(model: str, part: str) -> tuple[Int[np.ndarray, "token"], ...]:
    """The token ids of a part's sentences."""
    return encoding.tokenize(load(model), parts()[part].texts, MAX_TOKENS)


def features(
    model: str,
    part: str,
    first: int | None = None,
    report: Callable[[float], object] = lambda fraction: None,
) -> Features:
    """The vectors of a part (`SPLITS`) or its `first` sentences: from memory, disk, or computed.

    report: called with the share that is done; what it raises ends the work, and nothing is kept.
    Raises the refusals of `pretrained.load`, and UserError("encoder_only") for a decoder.
    """
    key = (model, part, first)
    with _guard:
        if key in _kept:  # at once, even while others are being computed
            _kept.move_to_end(key)
            return _kept[key]
    while not _making.acquire(timeout=0.2):  # in small pieces: who waits can still leave
        report(0.0)
    try:
        with _guard:
            if key in _kept:  # whom we waited for has made it
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
    """What is on disk, into memory, so that no student waits for it; nothing is computed.

    Raises UserError("not_fetched") where the model itself is not here.
    """
    for part in SPLITS:
        result = _read(_path(model, part, None))
        if result is not None:
            _keep((model, part, None), result)


def ready(model: str) -> bool:
    """Whether all parts are in memory or on disk. (A damaged file counts as there.)"""
    with _guard:
        existing = {part for name, part, first in _kept if name == model and first is None}
    if existing == set(SPLITS):
        return True
    with contextlib.suppress(UserError):
        return all(part in existing or _path(model, part, None).is_file() for part in SPLITS)
    return False


def make(model: str, report: Report = no_progress) -> None:
    """A job: the vectors of all parts, 50 to 100 s on one core."""
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
    """The file's name says what the vectors depend on, hashed.

    That is the model's files, the libraries that run it, and the sentences.
    """
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
    """What the file has, or None where there is none or it is damaged (zip's checksums tell)."""
    try:
        with np.load(path, allow_pickle=False) as file:
            vectors = Vectors(file["cls"], file["mean"], file["pooler"])
            return Features(vectors, float(file["seconds"]), "disk")
    except Exception:  # of any kind: a damaged archive may say anything
        return None


def _write(path: Path, vectors: Vectors, seconds: float) -> None:
    """Whole or not at all. A disk that is full or read-only only means that there is no cache."""
    with contextlib.suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        with atomic_write.atomic_write(path) as created:
            arrays = {field.name: getattr(vectors, field.name) for field in fields(Vectors)}
            np.savez(created, allow_pickle=False, seconds=np.array(seconds), **arrays)
