"""One tab that sends file after file takes no more memory than four of them."""

from __future__ import annotations

import pytest
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.runtime.uploaded_file_manager import UploadedFileRec

from seqviz.ui.streamlit_patches import uploads


@pytest.fixture
def manager(monkeypatch):
    monkeypatch.setattr(
        MemoryUploadedFileManager, "add_file", MemoryUploadedFileManager.add_file
    )  # is put back
    uploads.apply()
    return MemoryUploadedFileManager("/upload")


def test_uploads_keep_last_files_per_session(manager):
    manager.add_file("another", UploadedFileRec("mine", "a.csv", "text/csv", b"x"))
    for number in range(300):
        manager.add_file("one", UploadedFileRec(f"{number}", "a.csv", "text/csv", b"x" * 1000))
    retained = [file.file_id for file in manager.get_files("one", [str(n) for n in range(300)])]
    assert retained == ["296", "297", "298", "299"]
    assert manager._total_bytes == 4001
    assert manager.get_files("another", ["mine"])
