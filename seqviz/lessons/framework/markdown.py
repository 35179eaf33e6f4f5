"""Markdown to HTML outside Streamlit: embeds, live answers, notebooks."""

from __future__ import annotations

import re
from functools import cache, lru_cache
from typing import Any


@lru_cache(200)
def html(sentence: str) -> str:
    """Return Markdown text as HTML; HTML tags in it are escaped."""
    return str(_markdown().render(sentence))


@lru_cache(200)
def inline(words: str) -> str:
    """Return a label as HTML without a paragraph.

    `$x_t$` becomes an italic letter with an italic subscript.
    """
    result = str(_markdown().renderInline(words))
    return re.sub(r"\$(\w)_(\w)\$", r"<i>\1</i><sub><i>\2</i></sub>", result)


@cache
def _markdown() -> Any:
    from markdown_it import MarkdownIt

    return MarkdownIt("commonmark", {"html": False})
