"""The name of a file that a page offers is one that nobody can work out.

Streamlit names it by a digest of some of its content: of what is larger than a megabyte of the
start, the middle and the end. Two figures as pages of their own, each with the drawing library in
it, may be equal in all three: the second student would get the first one's file.
"""

from __future__ import annotations

import hashlib
import secrets

from seqviz.ui.streamlit_patches.patch import Patch

_secret = secrets.token_bytes(32)  # of this process, as are the files


def name(data: bytes, mimetype: str, filename: str | None = None) -> str:
    """As `_calculate_file_id`, of all of the content: a millisecond for each megabyte."""
    digest = hashlib.blake2b(key=_secret, digest_size=28)
    for part in (mimetype.encode(), (filename or "").encode(), data):
        digest.update(b"%d:" % len(part))
        digest.update(part)
    return digest.hexdigest()


PATCH = Patch(
    "media_names",
    ("streamlit.runtime.memory_media_file_storage:MemoryMediaFileStorage.load_and_get_id",),
    {"streamlit.runtime.memory_media_file_storage:_calculate_file_id": name},
    "Of two large files that differ in a few places one student would get another's. There is no "
    "public way.",
)
