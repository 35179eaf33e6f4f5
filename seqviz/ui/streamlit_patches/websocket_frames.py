"""Patch: rate limit of websocket frames and size limit of messages.

Each frame takes some microseconds of the event loop: one connection that sent fragments of an
endless message, each of a byte or empty, or pings, stopped the server and filled its memory.
Complete messages have their own rate limit (`ui.quota.websocket_rate`). Streamlit checks the size
of a message only when it is complete, and allows the connection the size that it sends itself,
eight times as much: ten messages at once took a gigabyte, and the event loop for a second.
"""

from __future__ import annotations

import time
from typing import Any

from seqviz.ui.streamlit_patches.patch import Patch

FRAMES = 6_000  # per minute: twice the rate of messages that are read
PIECE = 8192  # bytes parsed before their frames are counted
_CLASS = "uvicorn.protocols.websockets.websockets_sansio_impl:WebSocketsSansIOProtocol"
_KINDS = ("handle_cont", "handle_text", "handle_bytes", "handle_ping", "handle_pong")


def apply() -> None:
    """Apply the patch to future connections."""
    from streamlit.runtime.runtime_util import get_max_widget_state_size_bytes
    from uvicorn.protocols.websockets.websockets_sansio_impl import (
        WebSocketsSansIOProtocol as Protocol,
    )

    received, connected = Protocol.data_received, Protocol.handle_connect

    def handle_connect(self: Any, event: Any) -> None:
        self.conn.max_message_size = get_max_widget_state_size_bytes()
        connected(self, event)

    def data_received(self: Any, data: bytes) -> None:
        for start in range(0, len(data), PIECE):
            if not self.transport.is_closing():
                received(self, data[start : start + PIECE])

    def counted(name: str) -> None:
        handle = getattr(Protocol, name)

        def handle_counted(self: Any, *event: Any) -> None:
            minute, frames = getattr(self, "heard", (0, 0))
            now = int(time.monotonic() // 60)
            self.heard = (now, frames + 1 if minute == now else 1)
            if self.heard[1] <= FRAMES:
                handle(self, *event)
            elif not self.transport.is_closing():
                self.transport.close()

        setattr(Protocol, name, handle_counted)

    Protocol.data_received = data_received  # type: ignore[method-assign]
    Protocol.handle_connect = handle_connect  # type: ignore[method-assign]
    for kind in _KINDS:
        counted(kind)


PATCH = Patch(
    "websocket_frames",
    (
        "streamlit.runtime.runtime_util:get_max_widget_state_size_bytes",
        *(f"{_CLASS}.{name}" for name in ("data_received", "handle_connect", *_KINDS)),
    ),
    apply,
    "Without it one connection without a session can block all clients with fragments of a "
    "message and fill the memory. No public API, and a proxy passes them on.",
)
