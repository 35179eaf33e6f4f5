"""What comes with the page itself: title, goal, and the first bench's figure.

Of Streamlit's page nothing is there until its scripts have run and its websocket has brought the
lesson. So these stand in the page that is sent, the figure at its defaults as `fast_path` answers
it; `assets/static/first.js` paints it in the reader's theme and gives way to the page's own. It is
drawn once for a language and a version of the app: when the lesson has been seen, or at start, with
the models that are preloaded; a file in the cache keeps it for the next start. Before that, and
where the address has settings of the lesson, its place is empty.
"""

from __future__ import annotations

import hashlib
import html
import json
import logging
import os
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from seqviz import catalog, lessons
from seqviz.lessons.bench.controls import controls
from seqviz.lessons.bench.host import NotYet
from seqviz.lessons.bench.output import Note
from seqviz.models import store
from seqviz.paths import ASSETS, PACKAGE
from seqviz.text import LANGUAGES, Text
from seqviz.ui.bench import fast_path
from seqviz.ui.server import index_page, run_context, static_files
from seqviz.ui.server.run_context import Session
from seqviz.ui.shared.draw_queue import Rank, draw_queue

if TYPE_CHECKING:
    from seqviz.lessons.bench.lesson import Bench

_PAGE = """
<div id="seqviz-first" aria-hidden="true"><div>
  <div class="masthead"><div class="title">{title}</div><b></b><b></b><b></b><b></b></div>
  <div class="goal">{goal}</div>{bench}
</div></div>
<script>{theme}</script>
<script type="application/json" id="seqviz-first-figure">{data}</script>
<script type="module" async src="{script}"></script>
"""
_BENCH = """
  <div class="bench{parts}">
    <div class="name">{name}</div>
    <div class="stage{above}"><div class="stage-figure"><div class="seqviz-chart"></div></div></div>
    <div><i></i><i></i><i></i></div>
  </div>"""
_CARDS = ":is([class*='st-key-open-'], [class*='st-key-later-'])"  # of the map
log = logging.getLogger(__name__)
_pages: dict[tuple[str, str], str] = {}
_begun: set[tuple[str, str]] = set()


def page(slug: str, lang: str, plain: bool) -> str:
    """What stands in a lesson's page, or the map's (""), before Streamlit's, as HTML.

    plain: with nothing set.
    """
    return (_pages.get((slug, lang), "") if plain else "") or _without_figure(slug, lang)


def seen(slug: str, lang: str) -> None:
    """Somebody has this lesson on the screen: draw its first figure for those who come next."""
    if static_files.SERVED.on and (slug, lang) not in _begun:
        _begun.add((slug, lang))
        fast_path.pool(Rank.FOLLOWING).submit(_draw, slug, lang)


def recall() -> None:
    """Those that this version of the app has drawn before, on this machine."""
    for record in catalog.LESSONS:
        for lang in LANGUAGES:
            with suppress(OSError, ValueError):  # none, or damaged
                figures = json.loads(_file(record.slug, lang).read_text("utf-8"))
                _pages[record.slug, lang] = _html(record.slug, Text(lang), figures)
                _begun.add((record.slug, lang))


def _file(slug: str, lang: str) -> Path:
    return store.cache() / "first_figures" / f"{slug}.{lang}.{_version()}.json"


@cache
def _version() -> str:
    """Of all that a figure is made from: code, words, data."""
    whole = hashlib.sha256()
    for path in sorted([*PACKAGE.rglob("*.py"), *ASSETS.rglob("*.*")]):
        whole.update(path.name.encode() + path.read_bytes())
    return whole.hexdigest()[:16]


def _write(path: Path, content: str) -> None:
    """Whole or not at all, in place of an older version's."""
    slug, lang, *_ = path.name.split(".")
    with suppress(OSError):  # a full disk, or one that cannot be written: the next start draws it
        path.parent.mkdir(parents=True, exist_ok=True)
        unfinished = path.with_suffix(f".{os.getpid()}")
        unfinished.write_text(content, "utf-8")
        for older in path.parent.glob(f"{slug}.{lang}.*.json"):
            older.unlink(missing_ok=True)
        os.replace(unfinished, path)


def draw_all() -> None:
    """Those of every lesson in every language, as far as what they need is here."""
    for record in catalog.LESSONS:
        for lang in LANGUAGES:
            _draw(record.slug, lang)


def _draw(slug: str, lang: str) -> None:
    bench = _first(slug)
    if all(control.client for _, control in controls(bench.declaration)):
        return  # the browser makes it
    try:
        with draw_queue().turn(Rank.FOLLOWING):
            light, dark = (_figure(bench, lang, dark) for dark in ("false", "true"))
        figures = {"light": light, "dark": None if dark == light else dark}
        _pages[slug, lang] = _html(slug, Text(lang), figures)
        _write(_file(slug, lang), json.dumps(figures))
    except NotYet:
        _begun.discard((slug, lang))
    except Exception:
        log.exception("a first figure failed")


def _first(slug: str) -> Bench:
    return next(iter(getattr(lessons, slug).lesson.benches.values()))


def _figure(bench: Bench, lang: str, dark: str) -> dict[str, str]:
    session = Session("first", 0.0)
    with run_context.answering(session, bench.lesson.slug, bench.name):
        found = fast_path.answer(bench, {"lang": lang, "dark": dark}, session)
    return {"alt": found.around["alt"], "figure": found.figure.decode()}


@cache
def _without_figure(slug: str, lang: str) -> str:
    return _html(slug, Text(lang), {})


def _html(slug: str, text: Text, figures: dict[str, dict[str, str] | None]) -> str:
    """figures: by theme."""
    data: dict[str, object] = {"stands": _CARDS, "figures": figures}
    bench = ""
    if slug:
        first = _first(slug)
        place = f".st-key-bench-{first.name}"
        data |= {"place": place, "stands": f"{place} :is(.main-svg, .seqviz-sinusoid canvas)"}
        name = f"{slug}.bench.{first.name}"
        above = (getattr(control, "above", False) for _, control in controls(first.declaration))
        bench = _BENCH.format(
            parts=" in-part" if first.lesson.parts else "",
            name=html.escape(text(name)) if text.has(name) else "",
            above=" below-choice" if any(above) else "",
        )
    return _PAGE.format(
        title=html.escape(text(f"{slug or 'home'}.title")),
        goal=fast_path.html(Note(text(f"{slug or 'home'}.goal"))),
        bench=bench,
        data=json.dumps(data, ensure_ascii=False).replace("<", "\\u003c"),
        theme=index_page.theme_script(),
        script=static_files.address("first.js"),
    )
