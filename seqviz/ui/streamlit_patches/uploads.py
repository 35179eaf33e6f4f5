"""A session keeps the files that it uploaded last, not all that it ever sends."""

from __future__ import annotations

from typing import Any

from seqviz.ui.streamlit_patches.patch import Patch

KEPT = 4  # a lesson asks for one at most


def apply() -> None:
    """From now on, in this process."""
    from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager

    add = MemoryUploadedFileManager.add_file

    def add_file(self: MemoryUploadedFileManager, session_id: str, file: Any) -> None:
        """As Streamlit's own; what is older than the last KEPT goes."""
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
    "Streamlit keeps every file that a session has sent until it ends: 300 files of 6 MB from one "
    "tab took 1.8 GB of everybody's memory.",
)
