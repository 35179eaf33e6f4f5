"""A visitor who leaves in the middle of a request is no failure of the app."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send


class DisconnectMiddleware:
    """Middleware that ends a request in silence whose visitor has gone: a phone that lost its line.

    Without it each writes a traceback of 40 lines into the log, or 80 for an upload.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on."""
        from starlette.requests import ClientDisconnect

        try:
            await self.app(scope, receive, send)
        except ClientDisconnect:
            return
