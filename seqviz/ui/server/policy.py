"""Security headers of all responses: content-security, referrer and permissions policy.

The content-security policy names no other host, so a page loads only from this server, and text
that a student types cannot run: an inline script runs only if its digest is listed. The source that
each feature needs was determined in Chromium with Streamlit 1.67 in report-only mode:

* `script-src blob:`: the app's components (charts, theme, debounce, images): Streamlit imports a
  component's script from memory. Only a script that already runs can create such a URL.
* digests: one line in Streamlit's index.html, two scripts of the app there (`index_page`), and the
  four inline scripts of BertViz' frames, which are `srcdoc` frames and inherit this policy.
* `style-src 'unsafe-inline'`: 330 style attributes of formulas on one page (KaTeX), Plotly's
  tooltips, emotion and styled-components (Streamlit), components, `st.html`. A style cannot run,
  and with the rest of the policy it cannot fetch.
* `img-src data:` for mosaics in figures and Streamlit's icons; `blob:` for the saved PNG.
* `font-src data:` for Streamlit's icons.

Not granted: `'unsafe-eval'` (Vega has an interpreter, Plotly's world maps are not used), workers,
frames with a URL, and `'wasm-unsafe-eval'`: Streamlit's protobuf tries it once for 64-bit integers
and continues without.
"""

from __future__ import annotations

import base64
import hashlib
import re
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import streamlit

from seqviz.experiments.bertviz import scripts as bertviz_scripts
from seqviz.ui.server import index_page

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

_SCRIPT = re.compile(r"<script(?P<attributes>[^>]*)>(?P<text>.*?)</script>", re.DOTALL)


def digest(script: str) -> str:
    """Return the CSP source expression that allows this inline script."""
    text = hashlib.sha256(script.encode("utf-8")).digest()
    return f"'sha256-{base64.b64encode(text).decode()}'"


def inline_scripts(html: str) -> list[str]:
    """Return the executable inline scripts of an HTML page."""
    return [
        match["text"]
        for match in _SCRIPT.finditer(html)
        if not re.search(r"src=|type=\"(text/plain|application/json)\"", match["attributes"])
    ]


@cache
def policy(frame_ancestors: str) -> str:
    """Return the content-security policy in one line."""
    index = Path(streamlit.__file__).parent / "static" / "index.html"
    scripts = (*inline_scripts(index.read_text("utf-8")), index_page.script(),
               index_page.theme_script(), *bertviz_scripts.scripts())  # fmt: skip
    digests = [digest(text) for text in scripts]
    rules = {
        "default-src": ("'none'",),
        "script-src": ("'self'", "blob:", *digests),
        "script-src-attr": ("'none'",),
        "style-src": ("'self'", "'unsafe-inline'"),
        "img-src": ("'self'", "data:", "blob:"),
        "font-src": ("'self'", "data:"),
        "connect-src": ("'self'",),
        "base-uri": ("'self'",),
        "form-action": ("'self'",),
        "frame-ancestors": (frame_ancestors,),
    }
    return "; ".join(" ".join((name, *sources)) for name, sources in rules.items())


NOSNIFF = (b"x-content-type-options", b"nosniff")
POLICY_PARTS = (
    b"text/javascript",
    b"application/javascript",
    b"text/css",
    b"font/",
)  # resources of a page, which has the policy itself


class SecurityHeadersMiddleware:
    """ASGI middleware that adds the security headers to every response.

    Scripts, styles and fonts get only `nosniff`: with all headers the 130 scripts of a lesson would
    carry 150 kB of them. The Referer is limited to the origin, because proxies log it and a URL can
    contain a reader's text.

    Args:
        app: the next ASGI app.
        frame_ancestors: sites that may show the app in a frame. Any by default, because a Space is
            shown in a frame of the hub's site; the app has no accounts, so a malicious frame gains
            nothing. The framing page receives no text of a reader (`components/parent_guard.js`).
    """

    def __init__(self, app: ASGIApp, frame_ancestors: str) -> None:
        self.app = app
        self._added = [
            (b"content-security-policy", policy(frame_ancestors).encode("ascii")),
            NOSNIFF,
            (b"referrer-policy", b"strict-origin"),
            (
                b"permissions-policy",
                b"camera=(), microphone=(), geolocation=(), display-capture=(), usb=(), payment=()",
            ),
        ]
        self._names = {name for name, _ in self._added}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on and add the headers to its response."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        async def answer(message: Message) -> None:
            if message["type"] == "http.response.start":
                retained = [
                    h for h in message.get("headers", ()) if h[0].lower() not in self._names
                ]
                part = any(
                    h[0].lower() == b"content-type" and h[1].startswith(POLICY_PARTS)
                    for h in retained
                )
                added = [NOSNIFF] if part else self._added
                message = {**message, "headers": [*retained, *added]}
            await send(message)

        await self.app(scope, receive, answer)
