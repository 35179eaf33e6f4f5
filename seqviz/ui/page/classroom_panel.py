"""Room of a class on a page: entry panel, chip, and questions that the class votes on.

The room works between browsers and plain routes (`ui.classroom.routes`); a page only knows the code
of its reader's room.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from urllib.parse import urlencode, urlsplit, urlunsplit

import streamlit as st

from seqviz.classroom import codes
from seqviz.content import catalog
from seqviz.core.i18n import Text
from seqviz.lessons.framework.lesson import Bench
from seqviz.plotting.style import Style
from seqviz.ui.page import components
from seqviz.ui.render.share_link import in_network, link_and_code, svg_code

KEY, KEPT = "room", "_room"  # query parameter; key in the session state


def code() -> str:
    """Return the code of the reader's room; empty outside a room."""
    request = st.query_params.get(KEY)
    return str(st.session_state.get(KEPT) or (codes.read(request) if request else ""))


def room_chip(text: Text, slug: str, address: str) -> None:
    """Show the room's chip and keep its code in the URL of every page.

    Args:
        text: translations.
        slug: of the page.
        address: URL of the page without parameters.
    """
    if not (result := code()):
        return
    st.session_state[KEPT] = result
    if st.query_params.get(KEY) != result:
        st.query_params[KEY] = result
    payload = words(text, lessons=True)
    lesson = slug if slug in payload["lessons"] else ""
    host = urlsplit(in_network(address) or "").netloc
    components.room("in_room", result, lesson, payload, host, lambda: _go(""))


def join_panel(text: Text) -> None:
    """Show the panel that opens or joins a room."""
    components.room_join("room_door", words(text), _go)


def invite_panel(text: Text, code: str, address: str) -> None:
    """Show the code, link and QR code that bring others into the room."""
    st.markdown(f"## {codes.format_code(code)}")
    st.caption(text("room.others"))
    link_and_code(text, address)


def invitation(text: Text, code: str, address: str) -> None:
    """Show how others come into the room, for the title of a lesson in presenter mode.

    It is empty where only this machine reaches the app.

    Args:
        text: translations.
        code: of the room.
        address: URL of the page without parameters.
    """
    if not (shared := in_network(address)):
        return
    parts = urlsplit(shared)
    home = urlunsplit((parts.scheme, parts.netloc, parts.path.rpartition("/")[0] + "/", "", ""))
    link = f"{home}?{urlencode({KEY: code})}"
    with st.container(key="invitation"):
        st.image(svg_code(f"{link}&lang={text.lang}"), width="stretch", alt=text("frame.qr_code"))
        st.caption(link.partition("://")[2])


def vote(text: Text, key: str, options: Sequence[str], right: int) -> None:
    """Put a question of a lesson to the vote; the revealed answer is stored at `<key>.revealed`.

    Args:
        text: translations.
        key: of the question.
        options: possible answers.
        right: index of the right one, which the browser receives once it is revealed.
    """

    def revealed(choice: Any) -> None:
        is_known = isinstance(choice, int) and 0 <= choice < len(options)
        st.session_state[f"{key}.revealed"] = choice if is_known else None

    is_revealed = f"{key}.revealed" in st.session_state
    components.poll(key, options, right if is_revealed else None, words(text), revealed)


def run_as_class(text: Text, bench: Bench, style: Style, presenting: bool) -> None:
    """Show the seed experiment of a bench in a room: one seed per seat."""
    if not code() or bench.replicate is None:
        return
    payload = {**words(text), "missing": text("frame.no_library")}
    components.class_run(
        f"{bench.prefix}.class", bench.lesson.slug, bench.name, text.lang, presenting, style.height,
        payload,
    )  # fmt: skip


def _go(entered: str) -> None:
    """Enter a room, or leave it for an empty code."""
    st.session_state[KEPT] = result = codes.read(entered)
    if not result and KEY in st.query_params:
        del st.query_params[KEY]


def words(text: Text, lessons: bool = False) -> dict[str, Any]:
    """Return the labels of the room components; with the lesson titles if `lessons`."""
    titles = {record.slug: text(f"{record.slug}.title") for record in catalog.LESSONS}
    payload = {k: v for k, v in text.table("room").items() if isinstance(v, str)}
    names = {"names": list(text.items("room.names")), "home": text("frame.map")}
    return {**payload, **names, "lessons": titles} if lessons else payload
