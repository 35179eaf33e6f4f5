"""Requests that name a host that the operator has not allowed are answered by nobody.

A page of another site whose name leads to this server (DNS rebinding) would read what it answers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from seqviz.ui.streamlit_patches import origin_check

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

# They keep their own rules: who looks whether the server is well may know it by its address alone.
EXEMPT = ("/_stcore/health", "/metrics")


class AllowedHostMiddleware:
    """Middleware that answers 403 where `server.allowedHosts` does not have the request's host."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on or answer."""
        if scope["type"] == "http" and not scope["path"].endswith(EXEMPT):
            host = dict(scope["headers"]).get(b"host")
            if not origin_check.is_host_allowed(host.decode("latin-1") if host else None):
                from starlette.responses import PlainTextResponse

                answer = PlainTextResponse("This address is not one of this server's.", 403)
                await answer(scope, receive, send)
                return
        await self.app(scope, receive, send)
