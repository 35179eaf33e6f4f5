"""Sentence vectors on disk: the same again, and damage of any kind only costs time."""

from __future__ import annotations

import errno
from collections import OrderedDict
from pathlib import Path

import numpy as np
import pytest

from seqviz.data.reviews import Labeled, sentiment_split
from seqviz.experiments.bert_accuracy import encoding, features
from seqviz.jobs import CancelledError
from seqviz.models import store
from tests.models.hub import together

FIRST = 30


@pytest.fixture
def fresh(put, monkeypatch):
    """The tiny BERT, and no features anywhere; calling it forgets what is in memory."""
    put()

    def forget():
        monkeypatch.setattr(features, "_kept", OrderedDict())

    forget()
    features.ids.cache_clear()
    yield forget
    features.ids.cache_clear()


def files() -> list[Path]:
    return sorted((store.cache() / "features").rglob("*"))


def same(a: features.Features, b: features.Features) -> None:
    for name in ("cls", "mean", "pooler"):
        np.testing.assert_array_equal(getattr(a.vectors, name), getattr(b.vectors, name))
    assert a.seconds == b.seconds


def test_parts_match_sentiment_split():
    train, test = sentiment_split()
    parts = features.parts()
    assert [len(parts[part].texts) for part in features.SPLITS] == [7272, 800, 2000]
    assert parts["train"].texts + parts["validation"].texts == train.texts
    assert parts["test"].texts == test.texts
    positive = np.concatenate([parts["train"].positive, parts["validation"].positive])
    assert (positive == train.positive).all()


def test_features_computes_once_then_reads_memory_then_disk(fresh):
    computed = features.features("tiny", "test", FIRST)
    assert computed.origin == "computed"
    assert computed.vectors.mean.shape == (FIRST, 16)
    assert features.features("tiny", "test", FIRST) is computed
    fresh()
    read = features.features("tiny", "test", FIRST)
    assert read.origin == "disk"
    same(computed, read)
    with pytest.raises(ValueError, match="read-only"):
        read.vectors.mean[0] = 0  # shared by all students


def test_recall_loads_from_disk_without_computing(fresh, monkeypatch):
    features.recall("tiny")
    assert not features._kept
    sentences = {
        part: Labeled(labeled.texts[:FIRST], labeled.positive[:FIRST])
        for part, labeled in features.parts().items()
    }
    monkeypatch.setattr(features, "parts", lambda: sentences)
    features.make("tiny")
    computed = dict(features._kept)
    fresh()
    monkeypatch.setattr(features, "_compute", pytest.fail)
    features.recall("tiny")
    assert features._kept.keys() == {("tiny", part, None) for part in features.SPLITS}
    for key, result in features._kept.items():
        assert result.origin == "disk"
        same(result, computed[key])
        assert not result.vectors.cls.flags.writeable


def test_recall_skips_damaged_file(fresh, monkeypatch):
    sentences = dict.fromkeys(features.SPLITS, Labeled(("good", "bad"), np.array([True, False])))
    monkeypatch.setattr(features, "parts", lambda: sentences)
    features.make("tiny")
    (damaged,) = (store.cache() / "features").glob("tiny-test-*")
    damaged.write_bytes(truncated(damaged.read_bytes()))
    fresh()
    features.recall("tiny")
    assert {part for _, part, _ in features._kept} == {"train", "validation"}


def truncated(data: bytes) -> bytes:
    return data[: len(data) // 2]


def flipped(data: bytes) -> bytes:
    middle = len(data) // 2
    return data[:middle] + bytes([data[middle] ^ 1]) + data[middle + 1 :]


@pytest.mark.parametrize("damage", [truncated, flipped, lambda _: b"", lambda _: b"PK\3\4 no"])
def test_features_recomputes_damaged_file(fresh, damage):
    computed = features.features("tiny", "test", FIRST)
    (path,) = files()
    full = path.read_bytes()
    path.write_bytes(damage(full))
    fresh()
    again = features.features("tiny", "test", FIRST)
    assert again.origin == "computed"
    np.testing.assert_array_equal(again.vectors.mean, computed.vectors.mean)
    fresh()
    assert features.features("tiny", "test", FIRST).origin == "disk"


def test_features_computes_without_cache_if_folder_is_unwritable(fresh):
    store.cache().mkdir(parents=True, exist_ok=True)
    (store.cache() / "features").write_text("in the way")
    assert features.features("tiny", "test", FIRST).origin == "computed"


def test_features_leaves_no_file_on_full_disk(fresh, monkeypatch):
    def full(path, **arrays):
        Path(path).write_bytes(b"half")
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as here:
        here.setattr(np, "savez", full)
        assert features.features("tiny", "test", FIRST).origin == "computed"
    assert files() == []


def test_features_path_depends_on_weights_and_sentences(fresh, monkeypatch):
    paths = {features._path("tiny", part, count) for part in features.SPLITS for count in (5, 6)}
    before = store.stored("tiny")
    changed = {**before.files, "model.safetensors": "0" * 64}
    monkeypatch.setattr(
        store, "stored", lambda name: store.StoredModel(name, *_rest(before, changed))
    )
    paths |= {features._path("tiny", part, count) for part in features.SPLITS for count in (5, 6)}
    assert len(paths) == 12


def _rest(stored_model: store.StoredModel, changed: dict[str, str]):
    return (
        stored_model.folder,
        stored_model.origin,
        stored_model.version,
        stored_model.date,
        changed,
    )


def test_features_stores_nothing_on_cancel_and_can_restart(fresh):
    def leave(share):
        raise CancelledError

    with pytest.raises(CancelledError):
        features.features("tiny", "test", FIRST, leave)
    assert not (store.cache() / "features").exists()
    assert features.features("tiny", "test", FIRST).origin == "computed"


def test_features_computes_once_for_concurrent_callers(fresh, monkeypatch):
    calls, vectors = [], encoding.vectors

    def counted(*args, **keywords):
        calls.append(1)
        return vectors(*args, **keywords)

    monkeypatch.setattr(encoding, "vectors", counted)
    results = []
    together(*[lambda: results.append(features.features("tiny", "test", FIRST))] * 2)
    assert len(calls) == 1
    assert results[0] is results[1]


def test_make_computes_all_parts_and_reports_progress(fresh, monkeypatch):
    few = {
        part: Labeled(labeled.texts[:40], labeled.positive[:40])
        for part, labeled in features.parts().items()
    }
    monkeypatch.setattr(features, "parts", lambda: few)
    assert not features.ready("tiny")
    shares = []
    features.make("tiny", lambda record, fraction: shares.append(fraction))
    assert features.ready("tiny")
    assert shares == sorted(shares)
    assert shares[-1] == 1
    assert len(set(shares)) >= 6
    fresh()
    assert features.ready("tiny")  # on disk
    files()[0].unlink()
    assert not features.ready("tiny")
