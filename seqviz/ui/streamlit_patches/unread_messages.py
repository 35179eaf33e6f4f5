"""A client that does not read what it asks for is let go when too much waits for it.

Streamlit counts messages, 500 of them, of which one may have megabytes.
"""

from __future__ import annotations

import asyncio
from typing import Any

from seqviz.ui.streamlit_patches.patch import Patch

MAX_UNREAD_BYTES = (
    48_000_000  # bytes; a page that opens has 0.1 to 1 MB, and one message at most 32
)


class BoundedSendQueue(asyncio.Queue[bytes]):
    """Messages that wait to be sent; full by number, or by bytes."""

    def __init__(self, maxsize: int) -> None:
        super().__init__(maxsize)
        self._bytes = 0

    def full(self) -> bool:
        """Whether the next one is refused."""
        return super().full() or self._bytes > MAX_UNREAD_BYTES

    def _put(self, item: bytes) -> None:
        self._bytes += len(item)
        super()._put(item)

    def _get(self) -> bytes:
        item: bytes = super()._get()
        self._bytes -= len(item)
        return item


def apply() -> None:
    """From now on, in this process."""
    from streamlit.web.server.starlette.starlette_websocket import StarletteSessionClient as Client

    begin = Client.__init__

    def bounded(self: Client, *args: Any, **keywords: Any) -> None:
        begin(self, *args, **keywords)
        self._send_queue = BoundedSendQueue(
            self._send_queue.maxsize
        )  # before its task first looks at it

    Client.__init__ = bounded  # type: ignore[method-assign]


_CLIENT = "streamlit.web.server.starlette.starlette_websocket:StarletteSessionClient"
PATCH = Patch(
    "unread_messages",
    (_CLIENT, f"{_CLIENT}.write_forward_msg", f"{_CLIENT}._sender"),
    apply,
    "Ten clients that read nothing could fill the memory, and pages were drawn for nobody.",
)
