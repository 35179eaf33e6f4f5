"""A sentence in Markdown as HTML, where no page of Streamlit's sets it."""

from __future__ import annotations

import re
from functools import cache, lru_cache
from typing import Any


@lru_cache(200)
def html(sentence: str) -> str:
    """What looks like HTML in it stays text."""
    return str(_markdown().render(sentence))


@lru_cache(200)
def inline(words: str) -> str:
    """A name or a label, without a paragraph around it; a letter of a formula is set as one."""
    result = str(_markdown().renderInline(words))
    return re.sub(r"\$(\w)_(\w)\$", r"<i>\1</i><sub><i>\2</i></sub>", result)


@cache
def _markdown() -> Any:
    from markdown_it import MarkdownIt

    return MarkdownIt("commonmark", {"html": False})
