"""Static files, compressed once in memory and cached by browsers under hashed names.

Streamlit serves its scripts (5 MB for a lesson) uncompressed and compresses the app's own again at
each request. Here each file is compressed at its first request. Names of Streamlit's files carry a
hash; the app's files have a URL with the digest of all of them (`address`), so a cached file is
never outdated. Streamlit's fonts are replaced by the subsets that the lessons use
(`tools/fonts.py`), an eighth of the bytes.
"""

from __future__ import annotations

import asyncio
import gzip
import hashlib
import re
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import brotli
import streamlit as st

from seqviz.core import brotli_assets
from seqviz.core.paths import ASSETS, STATIC
from seqviz.ui.streamlit_patches import patch

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

TYPES = {
    ".js": b"text/javascript; charset=utf-8",
    ".css": b"text/css; charset=utf-8",
    ".svg": b"image/svg+xml",
}
WOFF2 = b"font/woff2"  # a compressed format
FONTS = ASSETS / "fonts"  # each named like the file that it replaces
FOREVER = b"public, max-age=31536000, immutable"
QUALITY = 6  # of brotli: 3.6 MB of scripts take 0.17 s; at 9 they take 0.6 s and are 1.6% smaller
OURS = "/app/static/"
# Preloaded with everything that they import: the first figure of every lesson needs these before
# the many scripts of Streamlit.
EARLY = ("components/shell.js", "components/slider_component.js")
_IMPORT = re.compile(r'^(?:import|export)\b[^"]*"(\.[^"]+)";', re.MULTILINE)


class Served:
    """Flag: True where this process serves the files, False without a server (tests)."""

    on = False


SERVED = Served()


def base() -> str:
    """Return the path under which the app is served: "", or a name with a leading slash."""
    name = str(st.get_option("server.baseUrlPath") or "").strip("/")
    return f"/{name}" if name else ""


def _own_files() -> list[Path]:
    return sorted(path for path in STATIC.rglob("*") if path.is_file())


@cache
def digest() -> str:
    """Return the digest of the app's static files, which is part of their URL."""
    hasher = hashlib.sha256()
    for path in _own_files():
        hasher.update(path.relative_to(STATIC).as_posix().encode() + path.read_bytes())
    return hasher.hexdigest()[:12]


def address(name: str) -> str:
    """Return the URL of one of the app's files.

    Args:
        name: path in `assets/static`.
    """
    return f"{base()}{OURS}{digest() + '/' if SERVED.on else ''}{name}"


@cache
def preloaded() -> tuple[str, ...]:
    """Return the names of the files that a page loads first, each before those that it imports."""
    result = ["plotly.min.js", *EARLY]
    for name in result:  # grows
        folder = (STATIC / name).parent
        paths = _IMPORT.findall(brotli_assets.read_asset(STATIC / name).decode())
        imported = [(folder / path).resolve().relative_to(STATIC.resolve()).as_posix()
                    for path in paths]  # fmt: skip
        result += [script for script in dict.fromkeys(imported) if script not in result]
    return tuple(result)


@cache
def upright_font() -> str:
    """Return the URL of the app's font, under which the server sends its subset."""
    index = (Path(st.__file__).parent / "static" / "index.html").read_text("utf-8")
    (font,) = re.findall(r"static/media/SourceSansVF-Upright[^\"]+", index)
    return f"{base()}/{font}"


@cache
def _files() -> dict[str, Path]:
    """Return every compressed file by its URL path (without `base`)."""
    streamlit = Path(st.__file__).parent / "static"
    result = {f"/{path.relative_to(streamlit).as_posix()}": path
             for path in (streamlit / "static").rglob("*") if path.suffix in TYPES}  # fmt: skip
    for path in _own_files():
        path = path.with_name(path.name.removesuffix(brotli_assets.PACKED))
        if path.suffix in TYPES:
            name = path.relative_to(STATIC).as_posix()
            result[f"{OURS}{name}"] = result[f"{OURS}{digest()}/{name}"] = path
    return result


@cache
def _fonts() -> dict[str, Path]:
    """Return the font subsets by Streamlit's URL path; none for an untested Streamlit version."""
    if st.__version__ != patch.TESTED:
        return {}
    return {f"/static/media/{path.name}": path for path in FONTS.glob("*.woff2")}


@cache
def _whole(path: Path) -> tuple[bytes, bytes]:
    """Return a file uncompressed, and its ETag."""
    content = brotli_assets.read_asset(path)
    return content, f'"{hashlib.sha256(content).hexdigest()[:16]}"'.encode()


@cache
def _compressed(path: Path, encoding: str) -> tuple[bytes, bytes]:
    """Return a file compressed, and its ETag."""
    content = brotli_assets.read_asset(path)
    tag = f'"{hashlib.sha256(content).hexdigest()[:16]}-{encoding}"'.encode()
    retained = path.with_name(path.name + brotli_assets.PACKED)
    if encoding == "br" and retained.exists():
        return retained.read_bytes(), tag
    if encoding == "br":
        return brotli.compress(content, quality=QUALITY), tag
    return gzip.compress(content, 9, mtime=0), tag


class StaticFilesMiddleware:
    """ASGI middleware that serves these files and passes other requests on."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app
        SERVED.on = True
        kinds = {"plotly.min.js": "preload; as=script"}  # not a module
        early = (
            f"<{address(item)}>; rel={kinds.get(item, 'modulepreload')}" for item in preloaded()
        )
        self._link = (b"link", ", ".join(early).encode())

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Respond with a file, or pass the request on with preload links for a page."""
        if scope["type"] != "http" or scope["method"] not in ("GET", "HEAD"):
            await self.app(scope, receive, send)
            return
        name = scope["path"].removeprefix(base())
        request = dict(scope["headers"])
        path = _files().get(name)
        accepted = request.get(b"accept-encoding", b"").decode("latin-1")
        encoding = next((item for item in ("br", "gzip") if item in accepted), None)
        if path is not None and (encoding is not None or not path.exists()):
            created = (_compressed, path, encoding) if encoding else (_whole, path)
            body, tag = await asyncio.to_thread(*created)
            ours = name.startswith(OURS) and digest() not in name
            headers = [
                (b"content-type", TYPES[path.suffix]),
                (b"cache-control", b"no-cache" if ours else FOREVER),
                (b"vary", b"Accept-Encoding"),
            ]
            if encoding:
                headers.append((b"content-encoding", encoding.encode()))
        elif font := _fonts().get(name):
            body, tag = _whole(font)
            # The URL is Streamlit's and stays the same when a glyph is added.
            headers = [(b"content-type", WOFF2), (b"cache-control", b"no-cache")]
        else:
            await self.app(scope, receive, self._with_link(send))
            return
        is_known = request.get(b"if-none-match") == tag
        headers.append((b"etag", tag))
        if not is_known:
            headers.append((b"content-length", str(len(body)).encode()))
        await send(
            {"type": "http.response.start", "status": 304 if is_known else 200, "headers": headers}
        )
        sent = b"" if is_known or scope["method"] == "HEAD" else body
        await send({"type": "http.response.body", "body": sent})

    def _with_link(self, send: Send) -> Send:
        async def answer(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = list(message.get("headers", ()))
                if any(
                    n.lower() == b"content-type" and v.startswith(b"text/html") for n, v in headers
                ):
                    message = {**message, "headers": [*headers, self._link]}
            await send(message)

        return answer
