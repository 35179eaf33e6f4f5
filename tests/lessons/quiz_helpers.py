"""What a page asks before it shows: the words of a question, and the numbers of its reveal."""

from __future__ import annotations

import re

from seqviz.core.i18n import Text


def of(slug: str, name: str, part: str, language: str):
    text = Text(language)
    key = f"{slug}.predict.{name}.{part}"
    return text.items(key) if part == "options" else text(key)


def says(slug: str, name: str, language: str, *visible_text: str) -> None:
    reveal = of(slug, name, "reveal", language)
    for item in visible_text:
        assert re.search(rf"(?<![\d.]){re.escape(item)}(?![\d])", reveal), item
