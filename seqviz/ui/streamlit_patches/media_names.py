"""Patch: names of downloadable files that nobody can compute.

Streamlit derives the name from a digest of some of the content: above a megabyte, of start, middle
and end. Two standalone figures, each with the drawing library in it, may be equal in all three: the
second student would get the first one's file.
"""

from __future__ import annotations

import hashlib
import secrets

from seqviz.ui.streamlit_patches.patch import Patch

_secret = secrets.token_bytes(32)  # of this process, like the files


def name(data: bytes, mimetype: str, filename: str | None = None) -> str:
    """Return the file id of all of the content, as a keyed hash; a millisecond per megabyte."""
    digest = hashlib.blake2b(key=_secret, digest_size=28)
    for part in (mimetype.encode(), (filename or "").encode(), data):
        digest.update(b"%d:" % len(part))
        digest.update(part)
    return digest.hexdigest()


PATCH = Patch(
    "media_names",
    ("streamlit.runtime.memory_media_file_storage:MemoryMediaFileStorage.load_and_get_id",),
    {"streamlit.runtime.memory_media_file_storage:_calculate_file_id": name},
    "Without it a student can get another's file where two large ones differ in few places. No "
    "public API.",
)
