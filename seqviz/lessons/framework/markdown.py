"""Render Markdown as HTML where Streamlit does not: embeds, live answers, notebooks."""

from __future__ import annotations

import re
from functools import cache, lru_cache
from typing import Any


@lru_cache(200)
def html(sentence: str) -> str:
    """Return sentences in Markdown as HTML; what looks like HTML in them stays text."""
    return str(_markdown().render(sentence))


@lru_cache(200)
def inline(words: str) -> str:
    """Return a label as HTML without a paragraph; a letter with an index is set as a formula."""
    result = str(_markdown().renderInline(words))
    return re.sub(r"\$(\w)_(\w)\$", r"<i>\1</i><sub><i>\2</i></sub>", result)


@cache
def _markdown() -> Any:
    from markdown_it import MarkdownIt

    return MarkdownIt("commonmark", {"html": False})
