"""Patch: a session keeps only its last uploaded files."""

from __future__ import annotations

from typing import Any

from seqviz.ui.streamlit_patches.patch import Patch

KEPT = 4  # files; a lesson needs one at most


def apply() -> None:
    """Apply the patch."""
    from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager

    add = MemoryUploadedFileManager.add_file

    def add_file(self: MemoryUploadedFileManager, session_id: str, file: Any) -> None:
        """Add a file and remove those before the last KEPT."""
        add(self, session_id, file)
        with self._lock:
            older = [*self.file_storage[session_id]][:-KEPT]
        for file_id in older:
            self.remove_file(session_id, file_id)

    MemoryUploadedFileManager.add_file = add_file  # type: ignore[method-assign]


PATCH = Patch(
    "uploads",
    (
        "streamlit.runtime.memory_uploaded_file_manager:MemoryUploadedFileManager.add_file",
        "streamlit.runtime.memory_uploaded_file_manager:MemoryUploadedFileManager.remove_file",
    ),
    apply,
    "Without it Streamlit keeps every file of a session until it ends: 300 files of 6 MB from one "
    "tab took 1.8 GB of memory.",
)
