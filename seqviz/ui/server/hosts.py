"""ASGI middleware that rejects requests for hosts the operator has not allowed.

With DNS rebinding, a page of another site whose name resolves to this server could read responses.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from seqviz.ui.streamlit_patches import origin_check

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

# These have their own rules: a health check may know the server only by its address.
EXEMPT = ("/_stcore/health", "/metrics")


class AllowedHostMiddleware:
    """ASGI middleware that responds 403 to hosts outside `server.allowedHosts`."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, or respond 403."""
        if scope["type"] == "http" and not scope["path"].endswith(EXEMPT):
            host = dict(scope["headers"]).get(b"host")
            if not origin_check.is_host_allowed(host.decode("latin-1") if host else None):
                from starlette.responses import PlainTextResponse

                answer = PlainTextResponse("This address is not one of this server's.", 403)
                await answer(scope, receive, send)
                return
        await self.app(scope, receive, send)
