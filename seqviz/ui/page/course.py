"""Notes for the Chinese course behind the lessons: a page per lesson, `?view=course`.

They name the course's five texts, S0 to S4, their variants and their misprints. With `?course=zh5`
a lesson shows them, too, with the controls of the variants; this parameter stays in the address of
every page, as a room's code does.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any
from urllib.parse import urlencode

import streamlit as st

from seqviz.content.glossary import search
from seqviz.core.i18n import Text, sections
from seqviz.lessons.framework import controls
from seqviz.lessons.framework.lesson import Lesson
from seqviz.lessons.framework.words import LessonWords
from seqviz.ui.page import glossary

KEY, NAME, ANCHOR = "course", "zh5", "course"  # query parameter, its value, id of the section
VIEW = "view"  # query parameter of the page of notes; its value is KEY
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


def is_page() -> bool:
    """Return True where the address is that of a lesson's page of notes."""
    return st.query_params.get(VIEW) == KEY


def link(text: Text, parameters: dict[str, str]) -> str:
    """Return the link from a lesson to its page of notes, as HTML.

    Args:
        text: translations.
        parameters: query parameters of every page.
    """
    query = urlencode({**parameters, VIEW: KEY})
    return f'<a href="?{query}" target="_self">{text("frame.course")}</a>'


def page(lesson: Lesson, text: Text, parameters: dict[str, str]) -> None:
    """Show the page of notes: texts, variants in the figures, notation, and the way back.

    Args:
        lesson: the lesson.
        text: translations.
        parameters: query parameters of every page.
    """
    words = LessonWords(lesson.slug, text)
    there = {**parameters, KEY: NAME}
    notes(lesson.slug, text)
    lines = [
        f"* [{words(f'bench.{bench}')}](?{urlencode({**there, **values})}#bench-{bench}):"
        f" {words.control(name)[0]}"
        for bench, name, values in variants(lesson)
    ]
    if lines:
        st.markdown("\n".join([f"### {text('frame.course_variants')}", *lines]))
    st.markdown(f"### {text('frame.course_notation')}")
    groups = search("", lesson.slug)
    named = [(letter, [item for item in items if item.texts]) for letter, items in groups]
    rows = [(letter, items) for letter, items in named if items]
    st.markdown(glossary.table(rows, text, lesson.slug))
    st.html(
        f'<a href="?{urlencode(parameters)}" target="_self">{text("frame.course_back")}</a> · '
        f'<a href="?{urlencode(there)}" target="_self">{text("frame.course_in_lesson")}</a>'
    )


def variants(lesson: Lesson) -> Iterator[tuple[str, str, dict[str, str]]]:
    """Yield the controls of the texts' variants: bench, control, and a link's settings for it."""
    for bench_name, bench in lesson.benches.items():
        declared = dict(controls.controls(bench.declaration))
        for name, control in declared.items():
            if control.course:
                values = _applying(declared, name)
                values[name] = next(v for v in control.bounds() if v != control.default)
                link_values = controls.permalink(bench.prefix, bench.declaration(**values))
                yield bench_name, name, link_values


def _applying(declared: dict[str, controls.Control], name: str) -> dict[str, Any]:
    """Return the setting of one earlier control with which a control applies; {} if it does."""
    defaults = {other: control.default for other, control in declared.items()}
    applies = declared[name].when
    if applies is None or applies(defaults):
        return {}
    return next(
        {other: option}
        for other, control in declared.items()
        if isinstance(control, controls.Choice)
        for option in map(control.parse, control.options)
        if applies({**defaults, other: option})
    )


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
