"""What comes with the page itself: title, goal, and the first bench's figure.

Of Streamlit's page nothing is there until its scripts have run and its websocket has brought the
lesson. So these stand in the page that is sent; `components/shell.js` paints the figure in the
reader's theme and gives way to the page's own. They are made once for a language and a version of
the app (`first_figure`), and a file in the cache keeps them for the next start: its first page
waits neither for a lesson nor for what a lesson needs.
"""

from __future__ import annotations

import hashlib
import html
import json
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from seqviz.content import catalog
from seqviz.core import atomic_write
from seqviz.core.i18n import Text
from seqviz.core.paths import ASSETS, PACKAGE
from seqviz.lessons.framework import markdown
from seqviz.models import store
from seqviz.ui.server import index_page, static_files

_PAGE = """
<div id="seqviz-shell" aria-hidden="true"><div>{html}
</div></div>
<script>{theme}</script>
<script type="application/json" id="seqviz-shell-figure">{data}</script>
<script type="module" async src="{script}"></script>
"""
_HTML = """
  <div class="masthead"><div class="title">{title}</div><b></b><b></b><b></b><b></b></div>
  <div class="goal">{goal}</div>"""
# Home's bench, with its picture as it is on a wide window and on a phone (`tools/pictures.py`).
_HOME = """
  <div class="bench home">
    <h2 class="name">{title}</h2>
    <div class="main">{wide}{narrow}</div>
    <div class="side"><p>{lead}</p><i></i></div>
  </div>"""
_LIVE = ".seqviz-home-bench[data-live] .main-svg"
_STEPS = 100  # that the networks of home's bench read, by default; a test looks


@dataclass(frozen=True)
class PrerenderedFigure:
    """html: title and goal, and a place for the first bench. payload: of the script.

    figures: by theme; empty where the browser makes it, or nobody has yet.
    """

    html: str
    payload: dict[str, str]
    figures: dict[str, Any] = field(default_factory=dict)


_kept: dict[tuple[str, str], PrerenderedFigure] = {}


def page(
    slug: str, lang: str, is_plain: bool, undrawn: Callable[[str, str], PrerenderedFigure]
) -> str:
    """What stands in a lesson's page, or the map's (""), before Streamlit's, as HTML.

    is_plain: with nothing set. undrawn: makes it without a figure where none has been drawn.
    """
    if slug:
        first = load_figure(slug, lang) or undrawn(slug, lang)
    else:
        first = PrerenderedFigure(head("home", lang) + _home(lang), {"figure_selector": _LIVE})
    figures = first.figures if is_plain else {}
    data = json.dumps({**first.payload, "figures": figures}, ensure_ascii=False)
    return _PAGE.format(
        html=first.html,
        data=data.replace("<", "\\u003c"),
        theme=index_page.theme_script(),
        script=static_files.address("components/shell.js"),
    )


def home_words(lang: str) -> dict[str, str]:
    """What is written around home's bench."""
    text, slug = Text(lang), catalog.SHOWN
    return {
        "title": text(f"{slug}.bench.{catalog.lesson(slug).first[0]}"),
        "lead": text("home.lead", steps=_STEPS),
        "open": text("home.open", title=text(f"{slug}.title")),
    }


@cache
def _home(lang: str) -> str:
    words = {name: html.escape(home_word) for name, home_word in home_words(lang).items()}
    stills = {
        size: f'<div class="{size}">{_still(f"home.{lang}.{size}.svg")}</div>'
        for size in ("wide", "narrow")
    }
    return _HOME.format(**words, **stills)


def _still(name: str) -> str:
    return (ASSETS / "pictures" / name).read_text("utf-8").strip()


@cache
def head(slug: str, lang: str) -> str:
    """Title and goal."""
    text = Text(lang)
    goal = markdown.html(text(f"{slug}.goal"))
    return _HTML.format(title=html.escape(text(f"{slug}.title")), goal=goal)


def load_figure(slug: str, lang: str) -> PrerenderedFigure | None:
    """What this version of the app has drawn for a lesson on this machine."""
    if (slug, lang) not in _kept:
        with suppress(OSError, ValueError, TypeError):  # none, or damaged
            _kept[slug, lang] = PrerenderedFigure(
                **json.loads(_file(slug, lang).read_text("utf-8"))
            )
    return _kept.get((slug, lang))


def save_figure(slug: str, lang: str, first: PrerenderedFigure) -> None:
    """For the next visitor, and for the next start."""
    _kept[slug, lang] = first
    _write(_file(slug, lang), json.dumps(asdict(first)))


def _file(slug: str, lang: str) -> Path:
    return store.cache() / "first_figures" / f"{slug}.{lang}.{version()}.json"


@cache
def version() -> str:
    """Of all that a figure is made from: code, words, data."""
    hasher = hashlib.sha256()
    for path in sorted([*PACKAGE.rglob("*.py"), *ASSETS.rglob("*.*")]):
        hasher.update(path.name.encode() + path.read_bytes())
    return hasher.hexdigest()[:16]


def _write(path: Path, content: str) -> None:
    """Whole or not at all, in place of an older version's."""
    slug, lang, *_ = path.name.split(".")
    with suppress(OSError):  # a full disk, or one that cannot be written: the next start draws it
        path.parent.mkdir(parents=True, exist_ok=True)
        with atomic_write.atomic_write(path) as created:
            created.write_text(content, "utf-8")
        for older in {*path.parent.glob(f"{slug}.{lang}.*.json")} - {path}:
            older.unlink(missing_ok=True)
