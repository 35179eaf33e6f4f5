"""ASGI middleware that ignores clients which disconnect in the middle of a request."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send


class DisconnectMiddleware:
    """ASGI middleware that ends a request silently when its client has disconnected.

    Without it each disconnect, such as a phone without reception, logs a traceback of 40 lines, or
    80 for an upload.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on and suppress ClientDisconnect."""
        from starlette.requests import ClientDisconnect

        try:
            await self.app(scope, receive, send)
        except ClientDisconnect:
            return
