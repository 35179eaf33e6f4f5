"""A sentence in Markdown as HTML, where no page of Streamlit's sets it."""

from __future__ import annotations

from functools import cache, lru_cache
from typing import Any


@lru_cache(200)
def html(sentence: str) -> str:
    """What looks like HTML in it stays text."""
    return str(_markdown().render(sentence))


@cache
def _markdown() -> Any:
    from markdown_it import MarkdownIt

    return MarkdownIt("commonmark", {"html": False})
