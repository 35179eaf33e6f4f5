"""The head of a request, its address and its headers, is of some size and arrives in some seconds.

uvicorn's parser for HTTP has neither limit: one connection could fill the memory with headers, and
many that never end theirs would be kept open. uvicorn has a limit for its other parser only, which
is slower, and Streamlit takes no setting of uvicorn's.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from seqviz.ui.streamlit_patches.patch import Patch

if TYPE_CHECKING:
    from asyncio import Transport
    from asyncio.events import TimerHandle

HEADERS = 100  # a browser sends twenty, a chain of proxies as many again
LINE = 8000  # bytes of each where a websocket is asked for: what takes more is never answered
BYTES = 256 * 1024  # a link with a text of 10,000 Chinese characters has 90 kB
SECONDS = 10.0
PIPELINE = 100  # requests that wait for the answer before; neither browser nor proxy sends any
REFUSED = (
    b"HTTP/1.1 431 Request Header Fields Too Large\r\n"
    b"content-length: 0\r\nconnection: close\r\n\r\n"
)


class RequestHead:
    """What has arrived of a head. over: it was too much, and the connection ends."""

    def __init__(self, transport: Transport, timer: TimerHandle) -> None:
        self.size = 0
        self.over = False
        self._transport = transport
        self._timer = timer

    def arrived(self) -> None:
        """All of it is here."""
        self._timer.cancel()

    def refuse(self) -> None:
        """Answer that it is too large, and hang up."""
        self.over = True
        self._timer.cancel()
        self._transport.write(REFUSED)
        self._transport.close()


def apply() -> None:
    """From now on, in this process: connections that are yet to be made."""
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
        if self.head is not None:  # it goes on
            self.head.size += len(data)
            if self.head.size > BYTES and not self.head.over:
                self.head.refuse()

    def on_message_begin(self: Any) -> None:
        if self.head is None:  # another one has come with the last
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
        # The parser takes addresses of at most 65,535 bytes apart; links with long texts have more.
        self.url, _, query = self.url.partition(b"?")
        complete(self)
        self.scope["query_string"] = query  # what answers begins later, on the event loop

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
    "One connection could fill the memory with headers, and half a request stays open for ever. A "
    "proxy in front does the same.",
)  # fmt: skip
