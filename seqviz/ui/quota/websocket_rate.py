"""How fast a page may talk: its messages are read at the pace that its device has left.

Streamlit begins a thread for each message that asks for the whole page, on the thread that serves
everybody: one connection that sent as many as it could kept all others waiting, and for half a
minute after it had gone. What is not read yet waits at the sender.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from seqviz.ui.runtime.clients import by_scope, client_registry

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

BURST = 200.0  # messages; a page that opens sends ten
REFILL_PER_S = 50.0  # a second; a hand sends ten
SIZE = 16_384  # bytes; a larger message also counts as so many of these


class WebSocketRateMiddleware:
    """Middleware between a websocket and whoever reads it."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on; others have a step between two messages."""
        if scope["type"] != "websocket":
            await self.app(scope, receive, send)
            return
        account = client_registry().get(*by_scope(scope))

        async def paced() -> Message:
            limits = BURST * account.students, REFILL_PER_S * account.students
            await asyncio.sleep(account.messages.retry_after(*limits))
            message = await receive()
            account.messages.consume(1.0, *limits)
            size = len(message.get("bytes") or message.get("text") or "") / SIZE
            if size > 1:  # large ones wait for one another, and nobody else for them
                await asyncio.sleep(account.sizes.retry_after(*limits))
                account.sizes.consume(size, *limits)
            return message

        await self.app(scope, paced, send)
