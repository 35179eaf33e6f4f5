"""Rate limit of websocket messages per device.

Streamlit starts a thread for each message that reruns the page, on the event loop that serves all
clients: one connection that sent at full speed blocked the others, and for half a minute after it
had closed. Messages beyond the limit wait at the sender.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from seqviz.ui.runtime.clients import by_scope, client_registry

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

BURST = 200.0  # messages; opening a page sends ten
REFILL_PER_S = 50.0  # a drag sends ten per second
SIZE = 16_384  # bytes; a larger message also counts in these units


class WebSocketRateMiddleware:
    """ASGI middleware that delays websocket messages beyond the device's rate."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the connection on with a rate-limited `receive`."""
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
            if size > 1:  # large messages have a bucket of their own, so small ones do not wait
                await asyncio.sleep(account.sizes.retry_after(*limits))
                account.sizes.consume(size, *limits)
            return message

        await self.app(scope, paced, send)
