"""Link to a page, its QR code, and the HTML that embeds a bench."""

from __future__ import annotations

import socket
from functools import lru_cache
from html import escape
from urllib.parse import urlsplit, urlunsplit

import segno
import streamlit as st

from seqviz.core.i18n import Text
from seqviz.ui.server import loopback
from seqviz.ui.streamlit_patches.origin_check import is_local

LOOPBACK = "127.0.0.1"  # Streamlit reports None for it


HEIGHT = 640  # pixels of an embedded bench at text width: figure, metrics, sentences


def link_and_code(
    text: Text, url: str, frame: tuple[str, str] | None = None, line: str = "embed.line"
) -> None:
    """Show a permalink to copy and its QR code.

    Args:
        text: translations.
        url: the permalink.
        frame: path below the app's URL and title of a bench to embed.
        line: key of the sentence before the embedding HTML.
    """
    shared = in_network(url)
    if shared is None:
        st.caption(text("frame.only_here"))
    elif shared != url:
        st.caption(text("frame.same_network"))
    url = shared or url
    st.code(url, language=None, wrap_lines=True)
    if frame:
        st.caption(text(line))
        st.code(iframe(url, *frame), language=None, wrap_lines=True)
        path = frame[0].replace("embed/", "print/", 1)
        page = urlsplit(sibling_address(url, path))
        query = f"{page.query}&answered=skip"  # this reader sees the result
        st.link_button(
            text("embed.for_print"),
            urlunsplit(page._replace(query=query)),
            icon=":material/download:",
        )
    try:
        picture = svg_code(url)
    except segno.DataOverflowError:  # the link contains a long text
        st.caption(text("frame.long_link"))
        return
    st.image(picture, width=260, alt=text("frame.qr_code"))


def in_network(url: str) -> str | None:
    """Return the URL as other devices reach it; None for one that only this machine reaches."""
    parts = urlsplit(url)
    if not is_local(parts.netloc):
        return url
    # A client that only claims to be local does not learn this machine's address.
    here = loopback.is_local_request(st.context.ip_address or LOOPBACK, st.context.headers)
    own = _own_address() if here else None
    return urlunsplit(parts._replace(netloc=f"{own}:{parts.port or 80}")) if own else None


def page_code(url: str, text: Text) -> str:
    """Return the QR code that a printed lesson ends with, as hidden HTML (`bench/print.css`).

    It is empty where only this machine reaches the URL.
    """
    shared = in_network(url) if urlsplit(url).netloc else None
    if shared is None:
        return ""
    alt = escape(text("frame.qr_code"))
    return f'<img class="seqviz-page-code" src="{_code_source(shared)}" alt="{alt}" hidden>'


def iframe(url: str, path: str, title: str) -> str:
    """Return the HTML that embeds a bench in another page, at the settings of its permalink.

    >>> iframe("http://h/gates?ga.one.unit=3&lang=en", "embed/gates/one", "One").split(" title")[0]
    '<iframe src="http://h/embed/gates/one?ga.one.unit=3&amp;lang=en"'
    """
    return (
        f'<iframe src="{escape(sibling_address(url, path))}" title="{escape(title)}" '
        'loading="lazy" '
        f'width="100%" height="{HEIGHT}" style="border:0"></iframe>'
    )


def sibling_address(url: str, path: str) -> str:
    """Return a URL with another last path and the same settings."""
    parts = urlsplit(url)
    path = f"{parts.path.rpartition('/')[0]}/{path}"
    return urlunsplit(parts._replace(path=path, fragment=""))


def frame_of(slug: str, bench: str, text: Text) -> tuple[str, str]:
    """Return path and title of a bench to embed."""
    own, title = f"{slug}.bench.{bench}", text(f"{slug}.title")
    name = text(own).replace("$", "") if text.has(own) else ""  # a frame's title has no formula
    return f"embed/{slug}/{bench}", f"{name} · {title}" if name else title


def svg_code(url: str, scale: int = 6) -> str:
    """Return the QR code of a URL; its white border makes it readable on a dark page."""
    return str(segno.make(url, error="m").svg_inline(scale=scale, border=4, light="#fff"))


@lru_cache(64)
def _code_source(url: str) -> str:
    """Return the QR code of a URL as an image source: `st.html` removes inline drawings."""
    return str(segno.make(url, error="m").svg_data_uri(scale=6, border=4, light="#fff"))


def _own_address() -> str | None:
    """Return this machine's address in its network; the UDP socket sends nothing."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))
        except OSError:
            return None
        own = probe.getsockname()[0]
    return None if own.startswith("127.") else own
