"""Glossary dialog, opened from the header of every page or by a link: `?glossary=W`."""

from __future__ import annotations

from collections.abc import Iterable

import streamlit as st

from seqviz.content import catalog, glossary
from seqviz.content.glossary import GlossaryEntry, Letter
from seqviz.core.i18n import Text, escape_markdown
from seqviz.ui.page import dialogs
from seqviz.ui.page.fragments import fragment
from seqviz.ui.runtime import run_context

MAX_QUERY_CHARS = 40
LINKED = "glossary"  # query parameter
_OPENED = "_glossary"  # session key: the link that was opened last
_BUTTON = "glossary.open"
_SEARCH, _LESSON = "glossary.search", "glossary.lesson"


def button(slug: str, text: Text, of_course: bool = False) -> None:
    """Show the glossary button, a separate fragment: opening it does not rerun the page.

    Args:
        slug: of the lesson whose letters come first, or of no lesson.
        text: translations.
        of_course: name the texts of the Chinese course.
    """
    chosen = slug if any(lesson.slug == slug for lesson in catalog.LESSONS) else ""

    @run_context.lesson_scope()
    def draw() -> None:
        label, icon = text("frame.glossary"), ":material/menu_book:"
        pressed = dialogs.asked_for(label, icon, _BUTTON)
        linked = st.query_params.get(LINKED)
        by_link = linked is not None and st.session_state.get(_OPENED) != linked
        if not pressed and not by_link:
            return
        dialogs.ask_for(_BUTTON)
        st.session_state[_OPENED] = linked
        st.session_state[_SEARCH] = (linked or "")[:MAX_QUERY_CHARS] if by_link else ""
        st.session_state[_LESSON] = "" if by_link else chosen
        st.dialog(label, width="large", icon=icon)(lambda: fill(text, of_course))()

    with st.container(width="content"):  # without a width, the button fills the row
        fragment(draw, f"glossary.{slug}")  # a separate key on each page, as benches have


def fill(text: Text, of_course: bool = False) -> None:
    """Show search field, lesson filter and table; their values are in the session state.

    Args:
        text: translations.
        of_course: name the texts of the Chinese course.
    """
    with st.container(horizontal=True, key="glossary-search"):
        typed = st.text_input(text("frame.glossary_search"), key=_SEARCH, max_chars=MAX_QUERY_CHARS)
        slug = st.selectbox(
            text("frame.glossary_lesson"),
            ["", *(lesson.slug for lesson in catalog.LESSONS)],
            format_func=lambda item: text(f"{item}.title") if item else text("frame.glossary_all"),
            key=_LESSON,
        )
    with st.container(key="glossary-table"):
        result = glossary.search(typed, slug)
        if not result and slug and (result := glossary.search(typed, "")):
            st.caption(text("frame.glossary_beyond"))
            slug = ""
        if not result:
            st.markdown(text("frame.glossary_none", typed=escape_markdown(typed)))
        else:
            st.markdown(table(result, text, slug, of_course))
        if of_course:
            st.caption(five_texts(text))
        st.caption(text("frame.glossary_link"))


def five_texts(text: Text) -> str:
    """Return the explanation of S0 to S4, in Markdown."""
    named = "\n".join(f"* {item}" for item in text.items("frame.five_texts_are"))
    return f"{text('frame.five_texts')}\n\n{named}"


def table(
    rows: Iterable[tuple[Letter | None, list[GlossaryEntry]]],
    text: Text,
    slug: str,
    of_course: bool = True,
) -> str:
    """Return search results as a Markdown table.

    Args:
        rows: results by letter.
        text: translations.
        slug: of the lesson that filters them, or empty.
        of_course: with the column that names the texts of the Chinese course.
    """
    columns = 4 if of_course else 3
    lines = [_line(text.items("frame.glossary_columns")[:columns]), "|---" * columns + "|"]
    for letter, visible in rows:
        if letter is None:
            lines.append(_line([f"**{text('frame.glossary_terms')}**", *[""] * (columns - 1)]))
        elif len(letter.meanings) > 1:
            lines.append(
                _line(
                    [_sign(letter), same(letter, visible, text, of_course), *[""] * (columns - 2)]
                )
            )
        lines += [_line(_row(letter, item, text, slug)[:columns]) for item in visible]
    return "\n".join(lines)


def same(letter: Letter, entries: list[GlossaryEntry], text: Text, of_course: bool = True) -> str:
    """Return the sentence that a letter has several meanings, with the hidden ones."""
    messages = [f"**{text('frame.glossary_same', count=len(letter.meanings))}**"]
    remark = letter.remark.get(text.lang, "")
    if remark and (of_course or not any(name in remark for name in glossary.TEXTS)):
        messages.append(remark)
    hidden = [meaning for meaning in letter.meanings if meaning not in entries]
    usage = {_term(item, text): _where(item, letter, text, of_course) for item in hidden}
    others = [
        text("frame.glossary_in", term=term, places=locations) if locations else term
        for term, locations in usage.items()
    ]
    if others:
        joined = text.items("frame.glossary_joined")[1].join(others)
        messages.append(text("frame.glossary_elsewhere", others=joined))
    return " ".join(messages)


def _row(letter: Letter | None, glossary_entry: GlossaryEntry, text: Text, slug: str) -> list[str]:
    """Return letter, both terms, lessons and texts; a filter selects the lesson's notation."""
    forms = [] if letter is None else glossary_entry.written(letter.name)
    if slug and letter is not None:
        own = [
            form for form in glossary_entry.notation[slug] if glossary.letter(form) == letter.name
        ]
        forms = own or forms
    other = glossary_entry.zh if text.lang == "en" else glossary_entry.en
    return [
        ", ".join(f"${form}$" for form in forms),
        f"{_term(glossary_entry, text)} · {other}"
        if other != _term(glossary_entry, text)
        else other,
        text.items("frame.glossary_joined")[0].join(
            _lesson(name, written, text) for name, written in glossary_entry.notation.items()
        ),
        " · ".join(f"{name}\u00a0{text}" for name, text in glossary_entry.texts.items()),
    ]


def _lesson(slug: str, written: list[str], text: Text) -> str:
    """Return a link to a lesson and its form of the letter."""
    link = f"[{text(f'{slug}.title')}]({slug}?lang={text.lang})"
    return " ".join([link, *(f"${form}$" for form in written[:1])])


def _where(glossary_entry: GlossaryEntry, letter: Letter, text: Text, of_course: bool) -> str:
    """Return the lessons and texts that use this letter for the entry."""
    lessons = [
        text(f"{slug}.title")
        for slug, forms in glossary_entry.notation.items()
        if any(glossary.letter(form) == letter.name for form in forms)
    ]
    texts = [
        name
        for name in glossary_entry.texts
        if of_course and letter.name in glossary_entry.base_letters_of(name)
    ]
    return text.items("frame.glossary_joined")[0].join([*lessons, *texts])


def _term(glossary_entry: GlossaryEntry, text: Text) -> str:
    return glossary_entry.words[text.lang]


def _sign(letter: Letter) -> str:
    """Return the letter as a formula."""
    is_known = letter.name.casefold() in glossary.GREEK or len(letter.name) > 2
    return f"$\\{letter.name}$" if is_known else f"${letter.name}$"


def _line(cells: list[str]) -> str:
    return "| " + " | ".join(cells) + " |"
