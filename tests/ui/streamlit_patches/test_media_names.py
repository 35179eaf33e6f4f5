"""Each file has a name of its own, which its content does not give away."""

from __future__ import annotations

import pytest
from streamlit.runtime import memory_media_file_storage as storage

from seqviz.ui.streamlit_patches import media_names


@pytest.fixture
def files(monkeypatch):
    monkeypatch.setattr(storage, "_calculate_file_id", storage._calculate_file_id)  # is put back
    media_names.PATCH.put()
    return storage.MemoryMediaFileStorage("/media")


def test_media_name_distinguishes_one_byte_difference(files):
    item, other = bytearray(3_000_000), bytearray(3_000_000)
    other[500_000] = 1
    kind = storage.MediaFileKind.DOWNLOADABLE
    names = [files.load_and_get_id(bytes(data), "text/html", kind) for data in (item, other, item)]
    assert names[0] == names[2] != names[1]
    assert files.get_file(f"{names[1]}.html").content == bytes(other)


def test_media_name_depends_on_kind_and_file_name():
    payload = {(b"x", "a", None), (b"x", "b", None), (b"x", "a", "b"), (b"xb", "a", None)}
    assert len({media_names.name(*parts) for parts in payload}) == len(payload)


def test_media_name_differs_between_processes(monkeypatch):
    before = media_names.name(b"x", "a/b")
    monkeypatch.setattr(media_names, "_secret", b"another")
    assert media_names.name(b"x", "a/b") != before
