"""HTML head of a page: language, title, description, and links to the other languages.

Streamlit's head says "Streamlit" in English until its scripts have run. Search engines read only
this, and a browser offers to translate a page that claims to be in English.
"""

from __future__ import annotations

import html
import re
from functools import cache
from typing import TYPE_CHECKING

from seqviz.core.i18n import LANGUAGES, Text
from seqviz.ui.server.static_files import base

if TYPE_CHECKING:
    from starlette.types import Scope

MAX_DESCRIPTION_CHARS = 300
_HOST = re.compile(r"[\w.-]+(:\d{1,5})?|\[[\da-fA-F:.]+\](:\d{1,5})?", re.ASCII)
_LANG, _TITLE = re.compile(rb'<html lang="[^"]*"'), re.compile(rb"<title>[^<]*</title>")


def put(page: bytes, slug: str, lang: str, scope: Scope) -> bytes:
    """Return the page with the head of a lesson ("" is home) in a language.

    Its URLs begin with the requested host; without a valid one they are omitted.
    """
    name, tag = slug or "home", Text(lang)("frame.language_tag")
    page = _LANG.sub(f'<html lang="{tag}"'.encode(), page, 1)
    return _TITLE.sub((_said(name, lang) + _others(slug, scope)).encode(), page, 1)


@cache
def _said(name: str, lang: str) -> str:
    text = Text(lang)
    title = html.escape(f"{text(f'{name}.title')} · SeqViz")
    goal = text(f"{name}.goal")
    if text.has(f"{name}.about"):
        goal = f"{goal} {text(f'{name}.about')}"
    payload = re.sub(r"[*`$\\\\]", "", goal).strip()
    payload = (
        payload
        if len(payload) <= MAX_DESCRIPTION_CHARS
        else payload[:MAX_DESCRIPTION_CHARS].rsplit(" ", 1)[0] + " …"
    )
    return (
        f'<title>{title}</title>\n    <meta name="description" content="{html.escape(payload)}" />'
    )


def origin(scope: Scope) -> str:
    """Return scheme and host of the server as the client knows it; empty for an invalid host.

    A proxy that terminates TLS sets X-Forwarded-Proto; a client that forges it misleads only
    itself.
    """
    headers = {name: value.decode("latin-1") for name, value in scope["headers"]}
    host, plain = headers.get(b"host", ""), scope.get("scheme", "http")
    payload = headers.get(b"x-forwarded-proto", "").split(",")[0].strip()
    scheme = payload if payload in ("http", "https") else plain
    return f"{scheme}://{host}" if _HOST.fullmatch(host) else ""


def _others(slug: str, scope: Scope) -> str:
    if not (server := origin(scope)):
        return ""
    here = f"{server}{base()}/{slug}"
    tags = {Text(lang)("frame.language_tag"): f"{here}?lang={lang}" for lang in LANGUAGES}
    return "".join(
        f'\n    <link rel="alternate" hreflang="{tag}" href="{address}" />'
        for tag, address in {**tags, "x-default": here}.items()
    )
