"""Header of every page: language, presenter mode, share, and device information."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode, urlsplit

import streamlit as st

from seqviz import lessons
from seqviz.content import catalog
from seqviz.core import settings
from seqviz.core.i18n import LANGUAGES, Text
from seqviz.models import device, placement, pretrained
from seqviz.ui.page import classroom_panel, components, course, glossary, navigation
from seqviz.ui.page.widgets import KEPT_LANGUAGE
from seqviz.ui.render import css
from seqviz.ui.render.share_link import frame_of, link_and_code
from seqviz.ui.streamlit_patches.navigation import went_back

MAX_ADDRESS_CHARS = 2000  # of a URL without its query
# Switches are set in every run because they lose their state at some page changes in the browser.


def language() -> str:
    """Return the reader's language: switch, else link, else previous page.

    On the first page of a visit: the server's setting, else the browser's. After Back or Forward:
    the link's.
    """
    state = st.session_state
    linked = st.query_params.get("lang")
    chosen = (went_back() and linked) or state.get("lang") or linked or state.get(KEPT_LANGUAGE)
    accepted = st.context.headers.get("Accept-Language") or st.context.locale or ""
    state[KEPT_LANGUAGE] = settings.language(chosen, accepted)
    return state[KEPT_LANGUAGE]


def presenting() -> bool:
    """Return True in presenter mode."""
    if "present" in st.session_state and not went_back():
        return bool(st.session_state["present"])
    return st.query_params.get("present") == "true"


def view_parameters() -> dict[str, str]:
    """Return the query parameters that every page has now."""
    present = {"present": "true"} if presenting() else {}
    room = {classroom_panel.KEY: result} if (result := classroom_panel.code()) else {}
    of_course = {course.KEY: course.NAME} if course.is_on() else {}
    return {"lang": language(), **present, **room, **of_course}


def open_page(slug: str) -> Text:
    """Show title, switches and panels; return the translations of the page."""
    text = Text(language())
    navigation.arrive(slug, view_parameters())
    css.apply(presenting(), slug)
    course.persist()
    with st.container(horizontal=True, key="masthead", vertical_alignment="center"):
        st.title(text(f"{slug}.title"), anchor=False)
        st.space("stretch")
        _language_switch(text)
        _presenter_switch(text)
        glossary.button(slug, text, course.is_on())
        classroom_panel.room_chip(text, slug, _here())
        _share(slug, text)
        _about(text)
        names = {"data": "data_key", "copy_keys": "copy_keys", "copy_touch": "copy_touch"}
        words = {name: text(f"frame.{key}") for name, key in names.items()}
        tag = text("frame.language_tag")
        components.watch_theme(tag, words, navigation.addresses(slug, view_parameters()))
        if presenting():
            components.present(text.table("present"))
    if presenting():
        st.caption(text("frame.present_keys"))
        if code := classroom_panel.code():
            classroom_panel.invitation(text, code, _here())
    return text


def _language_switch(text: Text) -> None:
    st.session_state["lang"] = text.lang
    st.segmented_control(
        text("frame.language"),
        LANGUAGES,
        format_func=lambda lang: Text(lang)("frame.language_name"),
        key="lang",
        required=True,
        persist_state="session",
        label_visibility="collapsed",
    )
    # Always in the link: a shared link opens in the language of the lecture.
    if st.query_params.get("lang") != text.lang:
        st.query_params["lang"] = text.lang


def _presenter_switch(text: Text) -> None:
    on = presenting()
    st.session_state["present"] = on
    st.toggle(
        text("frame.present"),
        key="present",
        help=f"{text('frame.present_help')} {text('frame.present_keys')}",
        persist_state="session",
    )
    if on and st.query_params.get("present") != "true":
        st.query_params["present"] = "true"
    elif not on and "present" in st.query_params:
        del st.query_params["present"]


def _popover(text: Text, name: str, icon: str) -> Any:
    """Return a popover whose content is rendered only when it is open."""
    return st.popover(
        text(f"frame.{name}"), icon=icon, type="tertiary", key=name, on_change="rerun"
    )


def _share(slug: str, text: Text) -> None:
    panel = _popover(text, "share", ":material/qr_code_2:")
    if not panel.open:
        return
    registered = slug in {record.slug for record in catalog.LESSONS}
    first = next(iter(getattr(lessons, slug).lesson.benches)) if registered else None
    with panel:
        if code := classroom_panel.code():
            classroom_panel.invite_panel(text, code, address({classroom_panel.KEY: code}))
            return
        classroom_panel.join_panel(text)
        st.divider()
        frame = frame_of(slug, first, text) if first else None
        link_and_code(text, address(st.query_params.to_dict()), frame, "embed.line_first")


def _about(text: Text) -> None:
    panel = _popover(text, "about", ":material/memory:")
    if panel.open:  # choosing the device may import torch
        with panel:
            chosen = device.choose()
            st.markdown(text("frame.device", name=chosen.name))
            for key in placement.device_messages():
                st.caption(text(f"frame.{key}", wish=chosen.preference, **placement.facts()))
            for model in pretrained.all_loaded():
                st.caption(
                    text(
                        "frame.loaded",
                        model=model.card.title,
                        dtype=model.dtype,
                        origin=text(f"frame.origin_{model.origin}"),
                    )
                )


def address(parameters: Mapping[str, str]) -> str:
    """Return the URL of this page with these parameters and the language."""
    query = {**parameters, "lang": language()}
    return f"{_here()}?{urlencode(query)}"


def _here() -> str:
    """Return the URL of the page as the browser reports it; empty if invalid."""
    payload = (st.context.url or "").split("?")[0]
    try:
        parts = urlsplit(payload)
        full = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
    except ValueError:  # for example http://[bad
        return ""
    return payload if full and payload.isprintable() and len(payload) <= MAX_ADDRESS_CHARS else ""


def neighbours(slug: str, text: Text) -> None:
    """Show links to the previous lesson (or home) and the next."""
    before, after = catalog.neighbours(slug)
    with st.container(horizontal=True, key="neighbours"):
        _step(before, "previous", ":material/arrow_back:", text)
        st.space("stretch")
        if after is not None:
            _step(after, "next", ":material/arrow_forward:", text)


def _step(target: catalog.LessonRecord | None, name: str, icon: str, text: Text) -> None:
    page = f"pages/{target.slug}.py" if target else "pages/home.py"
    if st.button(
        text(f"{target.slug}.title") if target else text("frame.map"),
        icon=icon,
        icon_position="left" if name == "previous" else "right",
        key=f"go.{name}",
        type="tertiary",
    ):
        slug = target.slug if target else navigation.HOME
        st.switch_page(page, query_params=navigation.query(slug, view_parameters()))
