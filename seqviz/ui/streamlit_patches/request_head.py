"""Patch: size and time limits of a request's head (URL and headers).

uvicorn's httptools parser has neither limit: one connection could fill the memory with headers, and
many that never finish theirs would stay open. uvicorn limits only its other, slower parser, and
Streamlit passes no uvicorn settings on.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from seqviz.ui.streamlit_patches.patch import Patch

if TYPE_CHECKING:
    from asyncio import Transport
    from asyncio.events import TimerHandle

HEADERS = 100  # a browser sends twenty, a chain of proxies twenty more
LINE = 8000  # bytes of a line of a websocket request: a longer one would never be answered
BYTES = 256 * 1024  # a link with a text of 10,000 Chinese characters has 90 kB
SECONDS = 10.0
PIPELINE = 100  # pipelined requests; browsers and proxies send none
REFUSED = (
    b"HTTP/1.1 431 Request Header Fields Too Large\r\n"
    b"content-length: 0\r\nconnection: close\r\n\r\n"
)


class RequestHead:
    """State of a head that is being received.

    Attributes:
        size: bytes received.
        over: True where it was rejected and the connection closes.
    """

    def __init__(self, transport: Transport, timer: TimerHandle) -> None:
        self.size = 0
        self.over = False
        self._transport = transport
        self._timer = timer

    def arrived(self) -> None:
        """Stop the timer: the head is complete."""
        self._timer.cancel()

    def refuse(self) -> None:
        """Respond 431 and close the connection."""
        self.over = True
        self._timer.cancel()
        self._transport.write(REFUSED)
        self._transport.close()


def apply() -> None:
    """Apply the patch to future connections."""
    from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol as Protocol

    created, lost, fed = Protocol.connection_made, Protocol.connection_lost, Protocol.data_received
    started, complete = Protocol.on_message_begin, Protocol.on_headers_complete
    body, end = Protocol.on_body, Protocol.on_message_complete
    upgrade = Protocol.handle_websocket_upgrade

    def connection_made(self: Any, transport: Any) -> None:
        created(self, transport)
        begin(self)

    def begin(self: Any) -> None:
        self.head = RequestHead(self.transport, self.loop.call_later(SECONDS, self.transport.close))

    def connection_lost(self: Any, exc: Exception | None) -> None:
        if self.head is not None:
            self.head.arrived()
        lost(self, exc)

    def data_received(self: Any, data: bytes) -> None:
        if self.head is None and (self.cycle is None or self.cycle.response_complete):
            begin(self)  # the next request on this connection
        if self.head is not None and self.head.over:
            return
        fed(self, data)
        if self.head is not None:  # the head is not complete
            self.head.size += len(data)
            if self.head.size > BYTES and not self.head.over:
                self.head.refuse()

    def on_message_begin(self: Any) -> None:
        if self.head is None:  # a pipelined request
            begin(self)
        started(self)

    def on_headers_complete(self: Any) -> None:
        lines = [len(self.url), *(len(name) + len(value) for name, value in self.headers)]
        maximum = LINE if self.parser.should_upgrade() else BYTES
        many = len(self.headers) > HEADERS or len(self.pipeline) >= PIPELINE
        if many or sum(lines) > BYTES or max(lines) > maximum:
            self.head.refuse()
            return
        self.head.arrived()
        self.head = None
        # The parser limits a URL to 65,535 bytes; links with long texts exceed that, so the query
        # is split off.
        self.url, _, query = self.url.partition(b"?")
        complete(self)
        self.scope["query_string"] = query  # the app starts later, on the event loop

    def on_body(self: Any, part: bytes) -> None:
        if self.head is None:
            body(self, part)

    def on_message_complete(self: Any) -> None:
        if self.head is None:
            end(self)

    def handle_websocket_upgrade(self: Any) -> None:
        if self.head is None:
            upgrade(self)

    for function in (
        connection_made, connection_lost, data_received, on_message_begin, on_headers_complete,
        on_body, on_message_complete, handle_websocket_upgrade,
    ):  # fmt: skip
        setattr(Protocol, function.__name__, function)


_CLASS = "uvicorn.protocols.http.httptools_impl:HttpToolsProtocol"
PATCH = Patch(
    "request_head",
    tuple(
        f"{_CLASS}.{name}"
        for name in (
            "connection_made", "connection_lost", "data_received", "on_message_begin",
            "on_headers_complete", "on_body", "on_message_complete", "handle_websocket_upgrade",
        )
    ),
    apply,
    "Without it one connection can fill the memory with headers, and an incomplete request stays "
    "open forever. A reverse proxy has the same limits.",
)  # fmt: skip
