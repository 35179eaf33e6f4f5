"""Rendering of first figures: the first bench of each lesson at its defaults.

A figure is rendered after the first visit of its lesson, or at the start with the preloaded models.
Until then, and where the URL has settings of the lesson, the shell has an empty box (`shell.page`).
"""

from __future__ import annotations

import html
import logging
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING

from seqviz import lessons
from seqviz.content import catalog
from seqviz.content.glosses import gloss
from seqviz.core.i18n import LANGUAGES, Text
from seqviz.lessons.framework.controls import controls
from seqviz.lessons.framework.host import PendingError
from seqviz.lessons.framework.words import LessonWords
from seqviz.plotting.figure import joined
from seqviz.ui.live import handler
from seqviz.ui.prerender import shell
from seqviz.ui.runtime import run_context
from seqviz.ui.runtime.run_context import Session
from seqviz.ui.runtime.scheduler import Priority, draw_queue
from seqviz.ui.server import static_files

if TYPE_CHECKING:
    from seqviz.lessons.framework.lesson import Bench

_BENCH = """
  <div class="bench">
    <div class="name">{name}</div>{steps}
    <div class="main{above}"><div class="main-figure"><div class="seqviz-chart"></div></div></div>
    <div><i></i><i></i><i></i></div>
  </div>"""
log = logging.getLogger(__name__)
_begun: set[tuple[str, str]] = set()


def mark_current(slug: str, lang: str) -> None:
    """Render the first figure of a lesson that is on screen, for the next visitors."""
    if static_files.SERVED.on and (slug, lang) not in _begun:
        _begun.add((slug, lang))
        if shell.load_figure(slug, lang) is None:
            handler.render_threads().submit(_draw, slug, lang)


def draw_all() -> None:
    """Render the first figures of all lessons and languages for which models are available."""
    for record in catalog.LESSONS:
        for lang in LANGUAGES:
            _draw(record.slug, lang)


def _draw(slug: str, lang: str) -> None:
    bench = _first(slug)
    figures = {}
    try:
        if not all(control.client for _, control in controls(bench.declaration)):
            with draw_queue().slot(Priority.DEPENDENT):
                light, dark = (_figure(bench, lang, dark) for dark in ("false", "true"))
            figures = {"light": light, "dark": None if dark == light else dark}
        shell.save_figure(slug, lang, replace(undrawn(slug, lang), figures=figures))
    except PendingError:
        _begun.discard((slug, lang))
    except Exception:
        log.exception("prerender: a first figure failed")


def _first(slug: str) -> Bench:
    return next(iter(getattr(lessons, slug).lesson.benches.values()))


def _figure(bench: Bench, lang: str, dark: str) -> dict[str, str]:
    session = Session("first", 0.0)
    with run_context.acting_as(session, bench.lesson.slug, bench.name):
        live_response = handler.render_bench(
            bench, {"lang": lang, "dark": dark}, session, veiled=handler.is_veiled(bench, session)
        )
    return {"alt": live_response.around["alt"], "figure": joined(live_response.figure).decode()}


def _steps(bench: Bench, text: Text) -> str:
    """Return the chips of the bench's steps without a function, as large as those of the page."""
    if not bench.steps:
        return ""
    words = LessonWords(bench.lesson.slug, text)
    chips = (
        f"<span><em>{number}</em>{html.escape(words(f'{step.key}.do'))}</span>"
        for number, step in enumerate(bench.steps, 1)
    )
    label = html.escape(text("frame.steps.label"))
    return f'<div class="steps"><small>{label}</small>{"".join(chips)}</div>'


@cache
def undrawn(slug: str, lang: str) -> shell.PrerenderedFigure:
    """Return the shell of a lesson without a figure."""
    first, text = _first(slug), Text(lang)
    key = f".st-key-bench-{first.name}"
    name = f"{slug}.bench.{first.name}"
    above = [control for _, control in controls(first.declaration, lang)
             if getattr(control, "above", False)]  # fmt: skip
    has_gloss = any(gloss(str(control.default), lang) for control in above)
    bench = _BENCH.format(
        name=html.escape(text(name)) if text.has(name) else "",
        steps=_steps(first, text),
        above=" below-choice" * bool(above) + " below-gloss" * has_gloss,
    )
    selector = f"{key} :is(.main-svg, .seqviz-sinusoid canvas)"
    payload = {"figure_selector": selector, "bench_selector": key}
    return shell.PrerenderedFigure(shell.head(slug, lang) + bench, payload)
