"""Streamlit's index.html, extended per request: configuration, head, style and shell.

Unmodified, Streamlit looks for its server below the URL of the lesson (two 404 responses in the
console), then one folder up, and only then opens its websocket. With the base URL and the content
of `/_stcore/host-config` in the page it connects at once. The style fixes the page width, which
would otherwise change twice while a lesson loads. `IndexPageMiddleware` is the public entry.
"""

from __future__ import annotations

import asyncio
import gzip
import json
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl

import streamlit as st

from seqviz.content import catalog
from seqviz.core import settings
from seqviz.core.paths import STATIC
from seqviz.ui.server import page_head, static_files

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

BEFORE = b"<script"  # Streamlit's first script; the app's runs before it
ROOT = b'<div id="root"'  # element that Streamlit renders into
OTHERS = frozenset({"present", "embed", "embed_options", "view"})  # layouts without a shell
TEXTS = STATIC / "text_parameters.txt"
STALE = (b"content-length", b"etag", b"last-modified")  # describe the file only
# The class is doubled because Streamlit's own rule comes later. The skeleton that is shown until a
# page arrives has the margins of a page.
STYLE = """
.stMainBlockContainer.stMainBlockContainer {max-width: 1200px; padding-top: 4rem;}
@media (min-width: 864px) {
  .stMainBlockContainer.stMainBlockContainer:has(
    > .stVerticalBlock > .stElementContainer > [data-testid="stAppSkeleton"]) {
    padding-left: 5rem; padding-right: 5rem;
  }
}
"""
# Layout and colors of the shell that is shown until the page is rendered.
FIRST = """
@font-face {{font-family: "Source Sans"; font-weight: 200 900;
  src: url("{font}") format("woff2");}}
#seqviz-shell {{
  position: absolute; inset: 0; z-index: 1; overflow: hidden; box-sizing: border-box;
  font: 400 1rem/1.6 {family};
}}
body:has(> #seqviz-shell) > #root {{visibility: hidden; opacity: 0;}}
#seqviz-shell:not(.set) > div {{visibility: hidden;}}
#seqviz-shell > div {{
  max-width: 1200px; margin: 0 auto; padding: 4rem 5rem 0; box-sizing: border-box;
}}
/* The boxes are as wide as the switches are, so that the row wraps where theirs does. */
#seqviz-shell .masthead {{display: flex; flex-wrap: wrap; gap: .25rem 1rem;}}
#seqviz-shell b {{flex: 0 0 86px; height: 40px;}}
#seqviz-shell b:nth-of-type(1) {{flex-basis: 138px;}}
#seqviz-shell b:nth-of-type(2) {{flex-basis: 108px;}}
#seqviz-shell .title {{flex: 0 1 auto; font-size: 2.1rem; font-weight: 700; line-height: 1.2;}}
#seqviz-shell .goal p {{margin: 1rem 0;}}
#seqviz-shell .bench {{
  display: grid; grid-template-columns: calc(72.7273% - 1rem) 1fr; column-gap: 2rem;
  padding: calc(1rem - 1px); border: 1px solid var(--border); border-radius: 8px;
}}
#seqviz-shell .name {{grid-column: 1 / -1; font-weight: 600; line-height: 1.2; padding: .68rem 0;}}
/* As in bench/steps.css. */
#seqviz-shell .steps {{
  grid-column: 1 / -1; display: flex; flex-wrap: wrap; align-items: center; gap: .4rem;
  font-size: .875rem; line-height: 1.3; margin-bottom: 1rem;
}}
#seqviz-shell .steps small {{
  font-size: inherit; line-height: 1.6; opacity: .7; margin-right: .2rem;
}}
#seqviz-shell .steps span {{
  display: inline-flex; align-items: center; gap: .45rem; min-height: 2rem; box-sizing: border-box;
  padding: .2rem .7rem .2rem .25rem; border: 1px solid var(--border); border-radius: 1.1rem;
}}
#seqviz-shell .steps em {{
  flex: 0 0 1.4rem; font-size: .8rem; font-style: normal; text-align: center;
}}
@media (pointer: coarse) {{
  #seqviz-shell .steps span {{min-height: 2.75rem; border-radius: 1.375rem; padding-left: .5rem;}}
}}
@media (max-width: 640px) {{#seqviz-shell .steps small {{display: none;}}}}
#seqviz-shell .main {{height: 420px;}}
#seqviz-shell .below-choice {{margin-top: 3rem;}}
#seqviz-shell .below-gloss > .main-figure {{margin-top: 38px;}}
#seqviz-shell i {{
  display: block; height: .25rem; margin: 2.4rem 0; border-radius: 2px; background: var(--border);
}}
#seqviz-shell .main-figure {{height: 100%;}}
#seqviz-shell .home h2 {{margin: 0; font-size: 1.25rem;}}
#seqviz-shell .home .side p {{margin: 0 0 1rem; line-height: 1.5;}}
#seqviz-shell .home svg {{display: block; max-width: 100%; height: auto;}}
#seqviz-shell .narrow {{display: none;}}
@media (max-width: 863px) {{#seqviz-shell > div {{padding: 4rem 1rem 0;}}}}
@media (max-width: 640px) and (pointer: coarse) {{
  #seqviz-shell b:nth-of-type(2) {{display: none;}}
}}
@media (max-width: 640px) {{
  #seqviz-shell .title {{flex-basis: 100%;}}
  #seqviz-shell .bench {{grid-template-columns: 1fr;}}
  #seqviz-shell .below-choice {{margin-top: 65px;}}
  #seqviz-shell .wide {{display: none;}}
  #seqviz-shell .narrow {{display: block;}}
}}
"""
# Removed from page requests: the response must be complete and uncompressed to be edited here.
WHOLE = (b"accept-encoding", b"if-none-match", b"if-modified-since")


# Put the language into the URL before the page does, which would add a useless step to the
# browser's history.
IN_ADDRESS = """
{
  const { language } = document.documentElement.dataset;
  const address = new URL(location.href);
  if (language && address.searchParams.get("lang") !== language) {
    const told = location.search.slice(1).split("&");
    const others = told.filter((one) => one && !/^lang(=|$)/.test(one));
    const query = ["lang=" + language, ...others].join("&");
    history.replaceState(history.state, "", location.pathname + "?" + query + location.hash);
  }
}"""


def script() -> str:
    """Return the inline script that runs before Streamlit's own scripts."""
    host = {"allowedOrigins": st.get_option("client.allowedOrigins"), "useExternalAuthToken": False}
    return (
        f"{_parent_guard()}"  # first, because a browser may refuse the rest in a frame
        f"window.__streamlit = {{HOST_CONFIG: {json.dumps(host)},"
        f" BACKEND_BASE_URL: location.origin + {json.dumps(static_files.base() or '/')}}};"
        f"{IN_ADDRESS}"
        # A teacher's link for another device: Streamlit would drop the fragment.
        r"window.seqvizToken = /^#teacher=([\w-]{20,60})$/.exec(location.hash)?.[1];"
        "if (window.seqvizToken)"
        " history.replaceState(history.state, '', location.pathname + location.search);"
    )


@cache
def _parent_guard() -> str:
    """Return the script that keeps texts from the page around the app."""
    texts = " ".join(TEXTS.read_text("utf-8").split())
    guard = (STATIC / "components/parent_guard.js").read_text("utf-8")
    return f"{{const TEXTS = {json.dumps(texts)};\n{guard}}}"


@cache
def theme_script() -> str:
    """Return the inline script that follows the shell (`prerender.shell`)."""
    return (STATIC / "components/shell_theme.js").read_text("utf-8")


class IndexPageMiddleware:
    """ASGI middleware that adds script, style, head and shell to the index page.

    Args:
        app: the next ASGI app.
        first: returns the shell by slug ("" is home), language, and True where the URL has no
            settings.
    """

    def __init__(self, app: ASGIApp, first: Callable[[str, str, bool], str]) -> None:
        self.app = app
        self._first = first
        self._known = {"", *(lesson.slug for lesson in catalog.LESSONS)}
        style = f"{STYLE}{_first_style()}"
        self._added = f"<style>{style}</style>\n    <script>{script()}</script>\n    ".encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on; buffer and edit an HTML response, whose length is sent first."""
        if scope["type"] != "http" or scope["method"] != "GET":
            await self.app(scope, receive, send)
            return
        request = dict(scope["headers"])
        zipped = b"gzip" in request.get(b"accept-encoding", b"")
        if b"text/html" in request.get(b"accept", b""):
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
                body = await asyncio.to_thread(
                    self._known_page, body, scope, request
                )  # it reads a file
                headers = [h for h in start["headers"] if h[0].lower() not in STALE]
                if zipped:
                    body = gzip.compress(body, mtime=0)
                    headers += [(b"content-encoding", b"gzip"), (b"vary", b"Accept-Encoding")]
                headers.append((b"content-length", str(len(body)).encode()))
                await send({**start, "headers": headers})
                await send({"type": "http.response.body", "body": body})

        await self.app(scope, receive, answer)

    def _known_page(self, page: bytes, scope: Scope, headers: dict[bytes, bytes]) -> bytes:
        """Return a page with its head, and with the shell where the layout is the default one."""
        slug = scope["path"].removeprefix(static_files.base()).strip("/")
        if slug not in self._known:
            return page
        query = dict(parse_qsl(scope["query_string"].decode("latin-1")))
        preferred = headers.get(b"accept-language", b"").decode("latin-1")
        lang = settings.language(query.get("lang"), preferred)
        page = page_head.put(page, slug, lang, scope)
        page = page.replace(b"<html ", f'<html data-language="{lang}" '.encode(), 1)
        if not OTHERS.isdisjoint(query):
            return page
        before = self._first(slug, lang, query.keys() <= {"lang"}).encode()
        return page.replace(ROOT, before + ROOT, 1)


@cache
def _first_style() -> str:
    """Return the style of the shell in the theme's colors, which Streamlit's scripts set later."""
    style = FIRST.format(font=static_files.upright_font(), family=st.get_option("theme.font"))
    for theme in ("light", "dark"):
        page, text, border, colors = (st.get_option(f"theme.{theme}.{name}") for name in (
            "backgroundColor", "textColor", "borderColor", "chartCategoricalColors"
        ))  # fmt: skip
        style += (
            f"#seqviz-shell.{theme} {{background: {page}; color: {text}; --border: {border}; "
            f"--st-chart-categorical-colors: {','.join(colors)}; "
            + "; ".join(f"--seqviz-{slot}: {color}" for slot, color in enumerate(colors, 1))
            + "}\n"
        )
    return style


def _is_page(message: Message) -> bool:
    headers = {name.lower(): value for name, value in message.get("headers", ())}
    page = headers.get(b"content-type", b"").startswith(b"text/html")
    return message["status"] == 200 and page and b"content-encoding" not in headers
