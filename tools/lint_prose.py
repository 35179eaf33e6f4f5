"""Check the prose that students see: length of sentences and paragraphs, words, units, references.

    python -m tools.lint_prose             all lessons and the frame of the app
    python -m tools.lint_prose gates gpt   these lessons

The notes for the Chinese course (section `course`, keys `texts.*`) and sources are exempt.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass

from seqviz.content import catalog
from seqviz.core.i18n import LANGUAGES, catalogue, sections

MAX_WORDS, MAX_PARAGRAPH_WORDS = 25, 60
MAX_SIGNS, MAX_PARAGRAPH_SIGNS = 60, 160  # Chinese characters
_REFERENCE = re.compile(r"\bS[0-4]\b|\bD-\d\d\b|\b\d-\d\d\b(?!\d)")
# Words of the makers; the usual ones stand beside them.
BANNED = {
    "en": {
        r"\bbench(es)?\b": "figure", r"\bcutters?\b": "tokenizer", r"\bverdicts?\b": "result",
        r"\bthe bill\b": "cost", r"\baccount of\b": "logit attribution",
        r"\bright side\b": "right context", r"\bwhoever\b": "subject first",
        r"\bstands? (under|beside|above|below)\b": "is", r"\d\s%": "99.2%",
        r"\bdear(er|est)?\b": "expensive, hard to predict",
    },
    "zh": {r"\d\s+%": "99.2%"},
}  # fmt: skip
_FRAME = ("home", "frame", "nav", "embed", "sketch", "room", "seats", "work", "problem", "reading",
          "readout", "class_notebook")  # fmt: skip
_EXEMPT_SECTIONS = ("course", "sources")
_EXEMPT_KEYS = re.compile(r"\.(texts|control\.\w+\.options)\.|\.answer$|\.alt\.|\.five_texts")
_MARKUP = re.compile(
    r"\$\$.*?\$\$|```.*?```|^\|[^\n]*$|^#+ [^\n]*$|<!--.*?-->|<[^>]+>", re.S | re.M
)
_SENTENCE = {
    "en": re.compile(r"(?<!\bal\.)(?<!e\.g\.)(?<!i\.e\.)(?<!vs\.)(?<=[.?!])[\"”*)]*\s+"),
    "zh": re.compile(r"(?<=[。？！])"),
}


@dataclass(frozen=True)
class Problem:
    """One violation.

    Attributes:
        place: key or section, with the language.
        message: what is wrong.
    """

    place: str
    message: str


def lint(slug: str) -> list[Problem]:
    """Return the violations of a lesson, or of the frame of the app for ""."""
    return [problem for lang in LANGUAGES for problem in _language(slug, lang)]


def _language(slug: str, lang: str) -> Iterator[Problem]:
    for place, text in _texts(slug, lang):
        for paragraph in re.split(r"\n\s*\n|\n(?=\s*[*-] |\s*\d+\. )", _plain(text)):
            yield from (
                Problem(f"{lang} {place}", message) for message in check(paragraph.strip(), lang)
            )


def _texts(slug: str, lang: str) -> Iterator[tuple[str, str]]:
    """Yield key or section, and text."""
    for key, value in catalogue(lang).items():
        first = key.split(".")[0]
        own = first == slug if slug else first in _FRAME
        if own and not _EXEMPT_KEYS.search(f"{key}."[:-1]) and not _EXEMPT_KEYS.search(f"{key}."):
            for item in value if isinstance(value, list) else [value]:
                if isinstance(item, str):
                    yield key, item
    if slug:
        for name, text in sections(slug, lang).items():
            if name not in _EXEMPT_SECTIONS:
                yield f"[{name}]", text


def _plain(text: str) -> str:
    """Return a text without tables, headings, code and displayed formulas; $x$ is one word."""
    plain = _MARKUP.sub("", text)
    plain = re.sub(r"\$[^$]*\$|\{[^}]*\}", "x", plain)
    return re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", plain)


def check(paragraph: str, lang: str) -> Iterator[str]:
    """Yield what is wrong with a paragraph.

    Args:
        paragraph: plain text.
        lang: language code.
    """
    length, most, most_paragraph, unit = (
        (_count_words, MAX_WORDS, MAX_PARAGRAPH_WORDS, "words")
        if lang == "en"
        else (_count_signs, MAX_SIGNS, MAX_PARAGRAPH_SIGNS, "characters")
    )
    for sentence in _SENTENCE[lang].split(paragraph):
        if (size := length(sentence)) > most:
            yield f"sentence of {size} {unit}: {sentence[:60]}…"
    if (size := length(paragraph)) > most_paragraph:
        yield f"paragraph of {size} {unit}: {paragraph[:60]}…"
    for match in _REFERENCE.finditer(paragraph):
        yield f"internal reference {match[0]}"
    for pattern, better in BANNED[lang].items():
        for match in re.finditer(pattern, paragraph, re.I):
            yield f"{match[0]!r}: write {better}"


def _count_words(text: str) -> int:
    return len(re.findall(r"[^\W_][^\s]*", text))


def _count_signs(text: str) -> int:
    return len(re.findall(r"[\u4e00-\u9fff]|[A-Za-z0-9.]+", text))


def main(slugs: list[str]) -> int:
    """Print the violations; return the exit status.

    Args:
        slugs: lessons to check; all and the frame by default.
    """
    chosen = slugs or ["", *(record.slug for record in catalog.LESSONS)]
    total = 0
    for slug in chosen:
        problems = lint(slug)
        total += len(problems)
        print(f"{slug or 'frame'}: {len(problems)}")
        if slugs or len(chosen) == 1:
            for problem in problems:
                print(f"  {problem.place}: {problem.message}")
    return int(total > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
