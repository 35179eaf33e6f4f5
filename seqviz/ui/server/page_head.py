"""What the head of a page says: language, title, description, and where it is in other languages.

Streamlit's says "Streamlit" in English until its scripts have run; who looks for pages reads no
more than this, and a browser offers to translate what says that it is English.
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

MAX_DESCRIPTION_CHARS = 300  # characters of a description
_HOST = re.compile(r"[\w.-]+(:\d{1,5})?|\[[\da-fA-F:.]+\](:\d{1,5})?", re.ASCII)
_LANG, _TITLE = re.compile(rb'<html lang="[^"]*"'), re.compile(rb"<title>[^<]*</title>")


def put(page: bytes, slug: str, lang: str, scope: Scope) -> bytes:
    """The page with the head of a lesson ("" is home) in a language.

    Addresses in it begin with the host that was asked for; without one there are none.
    """
    name, tag = slug or "home", Text(lang)("frame.language_tag")
    page = _LANG.sub(f'<html lang="{tag}"'.encode(), page, 1)
    return _TITLE.sub((_said(name, lang) + _others(slug, scope)).encode(), page, 1)


@cache
def _said(name: str, lang: str) -> str:
    text = Text(lang)
    title = html.escape(f"{text(f'{name}.title')} · SeqViz")
    payload = re.sub(r"[*`$\\\\]", "", text(f"{name}.goal")).strip()
    payload = (
        payload
        if len(payload) <= MAX_DESCRIPTION_CHARS
        else payload[:MAX_DESCRIPTION_CHARS].rsplit(" ", 1)[0] + " …"
    )
    return (
        f'<title>{title}</title>\n    <meta name="description" content="{html.escape(payload)}" />'
    )


def origin(scope: Scope) -> str:
    """Scheme and host of the server, as who asks knows it; empty where that is no address.

    What ends the encryption in front of the app says so in a header; who forges it misleads nobody
    but themselves.
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
