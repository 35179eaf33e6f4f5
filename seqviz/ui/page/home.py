"""Home page: a live bench, the search, and the lessons as cards.

Each is one Streamlit element, because building elements takes most of the browser's time. The bench
is that of a lesson's first slider and requests live responses as it does there (`ui/live`); nothing
is rendered when a drag ends. `home/hero.js` leaves out the panel of its figure that needs the
lesson. The slider's value stands in the URL.
"""

from __future__ import annotations

import html
from typing import Any

import streamlit as st

from seqviz import lessons
from seqviz.content import catalog, search_index
from seqviz.core.i18n import Text
from seqviz.core.paths import STATIC
from seqviz.lessons.framework.control_schema import slider_options
from seqviz.lessons.framework.controls import Slider, controls
from seqviz.lessons.framework.lesson import Bench
from seqviz.lessons.framework.quiz import N_QUESTIONS
from seqviz.lessons.framework.words import LessonWords
from seqviz.plotting.figure import joined
from seqviz.ui.live import handler
from seqviz.ui.page import components, header, plan, widgets
from seqviz.ui.page.page_host import render_safely
from seqviz.ui.prerender import shell
from seqviz.ui.render import css
from seqviz.ui.runtime import run_context
from seqviz.ui.server import static_files

READOUTS = {"r1": 0, "memory": 3}  # in the sentence under the figure: their indices in the bench
_PICTURE = """<img src="{}" alt="" width="304" height="152" loading="lazy" decoding="async">"""
_CARD = """
<li><a class="seqviz-card" href="{href}" data-slug="{slug}" data-code="{code}" data-tasks="{tasks}"
data-questions="{questions}">
{picture}
<h3>{number} · {title}</h3><p>{question}</p><p class="small"><span>{minutes}</span></p></a></li>"""


def opening_bench() -> Bench:
    """Return the bench at the top of the home page."""
    return getattr(lessons, catalog.SHOWN).lesson.benches[catalog.lesson(catalog.SHOWN).first[0]]


def bench(text: Text) -> None:
    """Show figure, slider, sentence and link to the lesson; one sentence if that fails."""
    words = LessonWords(catalog.SHOWN, text)
    render_safely(lambda: _bench(words, text), words)


def _bench(words: LessonWords, text: Text) -> None:
    result, dark = opening_bench(), css.theme() == "dark"
    name = catalog.lesson(catalog.SHOWN).first[1]
    params = result.declaration(**{name: widgets.linked_value(result, name)})
    live = handler.live_descriptor(
        result, {result.prefix: params}, text.lang, header.presenting(), dark
    )
    assert live is not None  # the slider is one of its controls
    answer = handler.render_bench(result, live["query"], run_context.session())
    label, help_text = words.control(name)
    control = dict(controls(result.declaration))[name]
    assert isinstance(control, Slider)
    value = getattr(params, name)
    options = slider_options(control, value, label, help_text, text, vars(params))
    components.home_bench(
        "home-bench",
        {
            **answer.around,
            "live": live,
            "key": f"{result.prefix}.{name}",
            "options": options,
            "lesson": _address(catalog.SHOWN, text),
            "missing": text("frame.no_library"),
            "sentence": READOUTS,
            "words": shell.home_words(text.lang),
        },
        joined(answer.figure),
    )


def bookmarks(text: Text) -> None:
    """Show this browser's bookmarks; nothing without any and in presenter mode."""
    if not header.presenting():
        components.bookmarks("home-bookmarks", text)


def search(text: Text) -> None:
    """Show ways in, the search field, and what this browser remembers of the lessons."""
    slug = catalog.LESSONS[0].slug
    minutes = search_index.minutes(slug)
    link = text("home.new_link", title=text(f"{slug}.title"), minutes=minutes)
    words = {**text.table("home"), "new_link": link}
    first = _address(slug, text)
    planned = plan.address(slug, header.view_parameters())
    components.home_search("home-search", text.lang, first, planned, words)


def cards(text: Text) -> None:
    """Show the lessons in teaching order."""
    number = enumerate(catalog.LESSONS, start=1)
    listed = "".join(_card(position, record, text) for position, record in number)
    with st.container(key="home-cards"):
        st.html(f'<ol class="seqviz-cards">{listed}</ol>')


def _card(number: int, record: catalog.LessonRecord, text: Text) -> str:
    tasks = [f"{kind}-{name}" for kind in ("predict", "exercise", "target")
             for name in search_index.named(record.slug, kind)]  # fmt: skip
    values: dict[str, Any] = {
        "href": _address(record.slug, text),
        "slug": record.slug,
        "code": record.code,
        "tasks": " ".join(tasks),
        "questions": N_QUESTIONS,
        "number": number,
        "title": text(f"{record.slug}.title"),
        "question": text(f"stage.{record.stage}.question"),
        "minutes": text("home.minutes", minutes=search_index.minutes(record.slug)),
    }
    written = {key: html.escape(str(value)) for key, value in values.items()}
    return _CARD.format(**written, picture=_picture(record.slug))


def _picture(slug: str) -> str:
    """Return the picture of a lesson; empty for a lesson without one."""
    name = f"home/card_{slug}_{css.theme()}.svg"
    return _PICTURE.format(static_files.address(name)) if (STATIC / name).exists() else ""


def _address(slug: str, text: Text) -> str:
    return search_index.address(slug, text.lang) + ("&present=true" if header.presenting() else "")
