"""The room of a class, as a page shows it: the way in, the chip, and questions put to the vote.

What happens in a room happens between browsers and plain routes (`ui.classroom.routes`); a page
only knows the code of the room that its reader is in.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import streamlit as st

from seqviz.classroom import codes
from seqviz.content import catalog
from seqviz.core.i18n import Text
from seqviz.lessons.framework.lesson import Bench
from seqviz.plotting.style import Style
from seqviz.ui.page import components
from seqviz.ui.render.share_link import link_and_code

KEY, KEPT = "room", "_room"  # in the link, and in the session


def code() -> str:
    """The room that the reader is in; empty outside of one."""
    request = st.query_params.get(KEY)
    return str(st.session_state.get(KEPT) or (codes.read(request) if request else ""))


def room_chip(text: Text, slug: str) -> None:
    """In a room: its chip, on every page, and its code in every address. slug: the page's."""
    if not (result := code()):
        return
    st.session_state[KEPT] = result
    if st.query_params.get(KEY) != result:
        st.query_params[KEY] = result
    payload = words(text, lessons=True)
    lesson = slug if slug in payload["lessons"] else ""
    components.room("in_room", result, lesson, payload, lambda: _go(""))


def join_panel(text: Text) -> None:
    """What opens a room or joins one."""
    components.room_join("room_door", words(text), _go)


def invite_panel(text: Text, code: str, address: str) -> None:
    """In a room, how others come to it: they are taken along to where its teacher is."""
    st.markdown(f"## {codes.format_code(code)}")
    st.caption(text("room.others"))
    link_and_code(text, address)


def vote(text: Text, key: str, options: Sequence[str]) -> None:
    """A question of a lesson, put to the class. What is revealed stands under `<key>.revealed`."""

    def revealed(choice: Any) -> None:
        is_known = isinstance(choice, int) and 0 <= choice < len(options)
        st.session_state[f"{key}.revealed"] = choice if is_known else None

    components.poll(key, options, words(text), revealed)


def run_as_class(text: Text, bench: Bench, style: Style, presenting: bool) -> None:
    """In a room, below a bench that a class can run: a seed for each seat."""
    if not code() or bench.replicate is None:
        return
    payload = {**words(text), "missing": text("frame.no_library")}
    components.class_run(
        f"{bench.prefix}.class", bench.lesson.slug, bench.name, text.lang, presenting, style.height,
        payload,
    )  # fmt: skip


def _go(entered: str) -> None:
    """Into a room, or out of it."""
    st.session_state[KEPT] = result = codes.read(entered)
    if not result and KEY in st.query_params:
        del st.query_params[KEY]


def words(text: Text, lessons: bool = False) -> dict[str, Any]:
    """What stands on the parts of a room; lessons: with the titles of all of them."""
    titles = {record.slug: text(f"{record.slug}.title") for record in catalog.LESSONS}
    payload = {k: v for k, v in text.table("room").items() if isinstance(v, str)}
    names = {"names": list(text.items("room.names")), "home": text("frame.map")}
    return {**payload, **names, "lessons": titles} if lessons else payload
