"""Notes for the Chinese course behind the lessons, shown with `?course=zh5` only.

They name the course's five texts, S0 to S4, their variants and their misprints. The parameter stays
in the address of every page, as a room's code does.
"""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import urlencode

import streamlit as st

from seqviz.core.i18n import Text, sections
from seqviz.ui.page import glossary

KEY, NAME, ANCHOR = "course", "zh5", "course"  # query parameter, its value, id of the section
_KEPT = "_course"  # key in the session state


def is_on() -> bool:
    """Return True where the reader has opened the app for the course."""
    return NAME in (st.query_params.get(KEY), st.session_state.get(_KEPT))


def persist() -> None:
    """Keep the parameter in the URL of every page."""
    if is_on():
        st.session_state[_KEPT] = NAME
        if st.query_params.get(KEY) != NAME:
            st.query_params[KEY] = NAME


def link(text: Text, parameters: dict[str, str]) -> str:
    """Return the link from a lesson to its notes, as HTML.

    Args:
        text: translations.
        parameters: query parameters of every page.
    """
    query = urlencode({**parameters, KEY: NAME})
    return f'<a href="?{query}#{ANCHOR}" target="_self">{text("frame.course")}</a>'


def notes(slug: str, text: Text) -> None:
    """Show what the texts of the course say, and the lesson's variants of it."""
    st.markdown(f"## {text('frame.course')}")
    st.html(f'<span id="{ANCHOR}"></span>')
    st.markdown(text(f"{slug}.texts.intro"))
    own = f"{slug}.texts.columns"
    heads = text.items(own if text.has(own) else "frame.texts_columns")
    lines = [_row(heads), "|---|---|---|", *map(_row, text.items(f"{slug}.texts.rows"))]
    st.markdown("\n".join(lines))
    prose = sections(slug, text.lang)
    if "course" in prose:
        st.markdown(prose["course"])
    st.markdown(glossary.five_texts(text))


def _row(cells: Sequence[str]) -> str:
    """Return a row of a Markdown table, with bars in cells escaped, as in P(x | y)."""
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"
