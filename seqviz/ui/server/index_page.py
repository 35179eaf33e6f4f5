"""The page that Streamlit sends for every address: told where its server is, and how wide it is.

Left to itself it looks for its server below the address of the lesson first, where there is none
(two answers of 404 in the console), then one folder up, and opens its websocket after that. Told
both, with what `/_stcore/host-config` would say, it opens the websocket at once. Its width would
change twice before a lesson stands, first from Streamlit's to a wide one, then to ours.
"""

from __future__ import annotations

import gzip
import json
from typing import TYPE_CHECKING

import streamlit as st

from seqviz.ui.server import static_files

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

BEFORE = b"<script"  # Streamlit's first one, so that ours has run before
STALE = (b"content-length", b"etag", b"last-modified")  # they are the file's, not of what is sent
# Two classes, as Streamlit's own rule comes later. What stands there until a page arrives has the
# margins of a page.
STYLE = """
.stMainBlockContainer.stMainBlockContainer {max-width: 1200px; padding-top: 4rem;}
@media (min-width: 864px) {
  .stMainBlockContainer.stMainBlockContainer:has([data-testid="stAppSkeleton"]) {
    padding-left: 5rem; padding-right: 5rem;
  }
}
"""
# Without them the page comes whole and as it is: to be read here.
WHOLE = (b"accept-encoding", b"if-none-match", b"if-modified-since")


def script() -> str:
    """What runs in the page before Streamlit's own scripts."""
    host = {"allowedOrigins": st.get_option("client.allowedOrigins"),
            "useExternalAuthToken": False}  # fmt: skip
    return (
        f"window.__streamlit = {{HOST_CONFIG: {json.dumps(host)},"
        f" BACKEND_BASE_URL: location.origin + {json.dumps(static_files.base() or '/')}}};"
    )


class KnownServer:
    """Middleware that puts script and style into the page."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app
        self._added = f"<style>{STYLE}</style>\n    <script>{script()}</script>\n    ".encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on; a page is put together first, as its length is said before it."""
        if scope["type"] != "http" or scope["method"] != "GET":
            await self.app(scope, receive, send)
            return
        asked = dict(scope["headers"])
        zipped = b"gzip" in asked.get(b"accept-encoding", b"")
        if b"text/html" in asked.get(b"accept", b""):
            scope = {**scope, "headers": [h for h in scope["headers"] if h[0] not in WHOLE]}
        start: Message | None = None
        parts: list[bytes] = []

        async def answer(message: Message) -> None:
            nonlocal start
            if message["type"] == "http.response.start" and _is_page(message):
                start = message
                return
            if start is None or message["type"] != "http.response.body":
                await send(message)
                return
            parts.append(message.get("body", b""))
            if not message.get("more_body", False):
                body = b"".join(parts).replace(BEFORE, self._added + BEFORE, 1)
                headers = [h for h in start["headers"] if h[0].lower() not in STALE]
                if zipped:
                    body = gzip.compress(body, mtime=0)
                    headers += [(b"content-encoding", b"gzip"), (b"vary", b"Accept-Encoding")]
                headers.append((b"content-length", str(len(body)).encode()))
                await send({**start, "headers": headers})
                await send({"type": "http.response.body", "body": body})

        await self.app(scope, receive, answer)


def _is_page(message: Message) -> bool:
    headers = {name.lower(): value for name, value in message.get("headers", ())}
    page = headers.get(b"content-type", b"").startswith(b"text/html")
    return message["status"] == 200 and page and b"content-encoding" not in headers
