"""Shell of a page: title, goal and first figure in the HTML that the server sends.

Streamlit shows nothing until its scripts have run and its websocket has delivered the lesson. The
shell is part of the page; `components/shell.js` draws the figure in the reader's theme and gives
way to the real one. Shells are created once per language and version of the app and stored in the
cache folder (`load_figure`), so the first page after a restart waits neither for a lesson nor for
its imports.
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
# Home's bench, with its static picture for wide windows and for phones (`tools/pictures.py`).
_HOME = """
  <div class="bench home">
    <h2 class="name">{title}</h2>
    <div class="main">{wide}{narrow}</div>
    <div class="side"><p>{lead}</p><i></i></div>
  </div>"""
HERO = ("says", "lag", "correlation", "sample", "theory", "band")  # (`home/hero.js`)
_LIVE = ".seqviz-home-bench[data-live] .main-svg"


@dataclass(frozen=True)
class PrerenderedFigure:
    """Shell of a page.

    Attributes:
        html: title, goal and an empty box for the first bench.
        payload: selectors for the script.
        figures: by theme; empty where the browser renders it, or before it was rendered.
    """

    html: str
    payload: dict[str, str]
    figures: dict[str, Any] = field(default_factory=dict)


_kept: dict[tuple[str, str], PrerenderedFigure] = {}


def page(
    slug: str, lang: str, is_plain: bool, undrawn: Callable[[str, str], PrerenderedFigure]
) -> str:
    """Return the shell's HTML of a lesson, or of home ("").

    Args:
        slug: of the lesson.
        lang: language code.
        is_plain: the URL has no settings, so the default figure is valid.
        undrawn: returns the shell without a figure.
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
    """Return the texts around home's bench."""
    text, record = Text(lang), catalog.lesson(catalog.SHOWN)
    words = text.table("home")
    return {
        "title": text(f"stage.{record.stage}.question"),
        "lead": text("home.lead"),
        "open": text("home.open", title=text(f"{record.slug}.title")),
        **{name: words[name] for name in HERO},
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
    """Return title and goal as HTML."""
    text = Text(lang)
    goal = markdown.html(text(f"{slug}.goal"))
    return _HTML.format(title=html.escape(text(f"{slug}.title")), goal=goal)


def load_figure(slug: str, lang: str) -> PrerenderedFigure | None:
    """Return the stored shell of this version of the app, if any."""
    if (slug, lang) not in _kept:
        with suppress(OSError, ValueError, TypeError):  # missing or damaged
            _kept[slug, lang] = PrerenderedFigure(
                **json.loads(_file(slug, lang).read_text("utf-8"))
            )
    return _kept.get((slug, lang))


def save_figure(slug: str, lang: str, first: PrerenderedFigure) -> None:
    """Store a shell for the next visitors and the next start."""
    _kept[slug, lang] = first
    _write(_file(slug, lang), json.dumps(asdict(first)))


def _file(slug: str, lang: str) -> Path:
    return store.cache() / "first_figures" / f"{slug}.{lang}.{version()}.json"


@cache
def version() -> str:
    """Return a digest of code, texts and data, everything that a figure depends on."""
    hasher = hashlib.sha256()
    for path in sorted([*PACKAGE.rglob("*.py"), *ASSETS.rglob("*.*")]):
        hasher.update(path.name.encode() + path.read_bytes())
    return hasher.hexdigest()[:16]


def _write(path: Path, content: str) -> None:
    """Write a file atomically and delete those of older versions."""
    slug, lang, *_ = path.name.split(".")
    with suppress(OSError):  # full or read-only disk: the next start renders it again
        path.parent.mkdir(parents=True, exist_ok=True)
        with atomic_write.atomic_write(path) as created:
            created.write_text(content, "utf-8")
        for older in {*path.parent.glob(f"{slug}.{lang}.*.json")} - {path}:
            older.unlink(missing_ok=True)
