"""What a page may load, run and be shown in: headers on every answer of the server.

The content-security policy names no other host, so a page asks nobody but this server, and what a
student types cannot run: an inline script runs only if its digest stands here. Which feature needs
which source was found in Chromium with Streamlit 1.67, by reporting what a policy without them
would have forbidden:

* `script-src blob:`: each component of our own (charts, theme, settle, pictures): Streamlit imports
  a component's script from memory. Only a script that runs already can make such an address.
* digests: one line in Streamlit's index.html, two of ours there (`index_page`); the four inline
  scripts of BertViz' frames, which are given as `srcdoc` and so inherit this policy.
* `style-src 'unsafe-inline'`: 330 style attributes of formulas on one page (KaTeX), Plotly's
  tooltips, emotion and styled-components (Streamlit), components, `st.html`. A style cannot run,
  and with the rest of the policy it cannot fetch.
* `img-src data:` the mosaics in figures, Streamlit's icons; `blob:` the PNG that is saved.
* `font-src data:` Streamlit's icons.

Not given: `'unsafe-eval'` (Vega has an interpreter, Plotly's maps of the world are not used),
workers, frames with an address, and `'wasm-unsafe-eval'`: Streamlit's protobuf tries it for whole
numbers of 64 bits, once, and goes on without.
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
    """The source expression that allows this very inline script."""
    text = hashlib.sha256(script.encode("utf-8")).digest()
    return f"'sha256-{base64.b64encode(text).decode()}'"


def inline_scripts(html: str) -> list[str]:
    """The texts of the scripts in a page that are to run and have no file of their own."""
    return [
        match["text"]
        for match in _SCRIPT.finditer(html)
        if not re.search(r"src=|type=\"(text/plain|application/json)\"", match["attributes"])
    ]


@cache
def policy(frame_ancestors: str) -> str:
    """The content-security policy, in one line."""
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
)  # of a page, which has the policy itself


class SecurityHeadersMiddleware:
    """Middleware that puts the policy and its like on every answer.

    On a script, style or font, which is no page, only what keeps it from being taken for one: with
    all of them a lesson's 130 scripts would bring 150 kB of headers.

    frame_ancestors: who may show the app in a frame. Anyone by default, as a Space is shown in a
    frame of the hub's site; the app has no accounts, so a false frame around it gains nothing. What
    that page hears has no text of a reader (`components/parent_guard.js`). Nor has the Referer
    of a request to this server, which proxies write into their logs: an address can have one.
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
        """Pass on, with the headers."""
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
