"""Patch: disconnect a client that does not read its messages, by size.

Streamlit limits only their number, 500, of which one may have megabytes.
"""

from __future__ import annotations

import asyncio
from typing import Any

from seqviz.ui.streamlit_patches.patch import Patch

MAX_UNREAD_BYTES = 48_000_000  # opening a page takes 0.1 to 1 MB, one message at most 32 MB


class BoundedSendQueue(asyncio.Queue[bytes]):
    """Send queue, bounded by number and by bytes."""

    def __init__(self, maxsize: int) -> None:
        super().__init__(maxsize)
        self._bytes = 0

    def full(self) -> bool:
        """Return True where the next message is rejected."""
        return super().full() or self._bytes > MAX_UNREAD_BYTES

    def _put(self, item: bytes) -> None:
        self._bytes += len(item)
        super()._put(item)

    def _get(self) -> bytes:
        item: bytes = super()._get()
        self._bytes -= len(item)
        return item


def apply() -> None:
    """Apply the patch."""
    from streamlit.web.server.starlette.starlette_websocket import StarletteSessionClient as Client

    begin = Client.__init__

    def bounded(self: Client, *args: Any, **keywords: Any) -> None:
        begin(self, *args, **keywords)
        self._send_queue = BoundedSendQueue(self._send_queue.maxsize)  # before its task starts

    Client.__init__ = bounded  # type: ignore[method-assign]


_CLIENT = "streamlit.web.server.starlette.starlette_websocket:StarletteSessionClient"
PATCH = Patch(
    "unread_messages",
    (_CLIENT, f"{_CLIENT}.write_forward_msg", f"{_CLIENT}._sender"),
    apply,
    "Without it ten clients that read nothing can fill the memory while their pages render.",
)
