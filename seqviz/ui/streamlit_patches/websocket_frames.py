"""A websocket sends some thousand frames a minute, whatever they are, and none is too large.

Each takes the thread that serves everybody for some microseconds: one connection that sent pieces
of a message that never ended, each a byte long or empty, or pings, stopped the server and filled
its memory. Messages have a size and a pace of their own (`ui.quota.websocket_rate`). Streamlit
looks at the size of a message when all of it is there, and lets the connection take as much as it
sends itself, eight times as much: ten messages at once took a gigabyte, and the thread for a
second.
"""

from __future__ import annotations

import time
from typing import Any

from seqviz.ui.streamlit_patches.patch import Patch

FRAMES = 6_000  # a minute: twice as many messages as are read
PIECE = 8192  # bytes that are looked at before they are counted
_CLASS = "uvicorn.protocols.websockets.websockets_sansio_impl:WebSocketsSansIOProtocol"
_KINDS = ("handle_cont", "handle_text", "handle_bytes", "handle_ping", "handle_pong")


def apply() -> None:
    """From now on, in this process: connections that are yet to be made."""
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
    "One connection without a session could stop everybody with pieces of a message, and fill the "
    "memory. There is no public way, and a proxy passes them on.",
)
