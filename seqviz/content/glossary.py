"""The glossary: what each letter means in the lessons and in the five texts, and the terms.

Letters are in `assets/glossary/letters.toml`, terms in `terms.toml`, English and Chinese side by
side; a further language has a file of its own, `<lang>.toml`: `[meaning]` and `[remark]` by the
names in letters.toml, `[term]` by the English terms.
Which lessons use a letter is written there and checked against their tables of symbols; which
lessons use a term is read off their words.
"""

from __future__ import annotations

import re
import tomllib
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from itertools import chain
from typing import Any

from seqviz.content import catalog
from seqviz.core.i18n import LANGUAGES, catalogue, sections
from seqviz.core.paths import ASSETS
from seqviz.core.units import plainly_spaced, unbroken

TEXTS = ("S0", "S1", "S2", "S3", "S4")
GREEK = {  # in the order of the alphabet
    unicodedata.name(glyph).split()[-1].lower().replace("lamda", "lambda"): glyph
    for glyph in "αβγδεζηθικλμνξοπρστυφχψω"
}
_NAMES = {glyph: name for name, glyph in GREEK.items()} | {
    glyph.upper(): name.capitalize() for name, glyph in GREEK.items()
}
_FORMULA = re.compile(r"\$([^$]+)\$")
_WRAP = re.compile(r"\\(?:hat|tilde|bar|mathcal|mathbf|overline)\b|[{}\s]")
_FIRST = re.compile(r"\\([A-Za-z]+)|([A-Za-z]+)")
_APART = re.compile(r"[,;](?![^()]*\))(?:\\quad|\\ )?")  # not within parentheses
_PLAIN = re.compile(r"\\(?:var(?=[a-z])|cdot|langle|rangle|hat|tilde|mathcal|mathbf)?|[{}$_^]")


@dataclass(frozen=True)
class GlossaryEntry:
    """What a letter stands for, or a term without one.

    words: the term in each language. notation: how a lesson writes it, in LaTeX, by its slug; empty
    lists for a term that has no letter. texts: how one of the five texts writes or calls it, in
    Markdown.
    """

    words: Mapping[str, str]
    notation: Mapping[str, list[str]] = field(default_factory=dict)
    texts: Mapping[str, str] = field(default_factory=dict)

    @property
    def en(self) -> str:
        """The term in English."""
        return self.words["en"]

    @property
    def zh(self) -> str:
        """The term in Chinese, as the five texts have it."""
        return self.words["zh"]

    @property
    def base_letters(self) -> set[str]:
        """The letters, without their marks, by which a lesson or a text calls it."""
        return {item for item in map(letter, self._forms()) if item}

    def base_letters_of(self, text: str) -> set[str]:
        """The letters by which one of the five texts calls it."""
        return {letter(form) for form in _FORMULA.findall(self.texts.get(text, ""))}

    def written(self, by: str) -> list[str]:
        """Its forms with this letter, those of lessons before those of texts."""
        return [form for form in self._forms() if letter(form) == by]

    def _forms(self) -> list[str]:
        formulas = (form for text in self.texts.values() for form in _FORMULA.findall(text))
        return list(dict.fromkeys(chain(*self.notation.values(), formulas)))

    def matches(self, typed: str) -> bool:
        """Whether these words are in its terms, in how it is written or in what a text calls it."""
        forms = map(typed_form, chain(*self.notation.values(), self.texts.values()))
        message = plainly_spaced(" ".join([*self.words.values(), *forms]))
        return typed.casefold() in message.casefold()


@dataclass(frozen=True)
class Letter:
    """A letter with its meanings. remark: what is worth saying of it besides, by language."""

    name: str
    meanings: tuple[GlossaryEntry, ...]
    remark: Mapping[str, str]


def letter(form: str) -> str:
    r"""The letter of a formula without index, hat or variant: `\hat p` -> p, `\varphi_i` -> phi."""
    result = _FIRST.search(_WRAP.sub(lambda mark: " " if mark[0] in " {}" else "", form))
    if result is None:
        return ""
    name, word = result.groups()
    return str(word or name.removeprefix("var"))


def typed_form(form: str) -> str:
    r"""A formula as one types it: `W_{hh}` -> Whh, `$\sigma_{\max}$` -> sigmamax."""
    return _PLAIN.sub("", form)


@cache
def _read(name: str) -> dict[str, Any]:
    return tomllib.loads((ASSETS / "glossary" / f"{name}.toml").read_text("utf-8"))


def _words(kind: str, name: str, entry: Mapping[str, Any]) -> dict[str, str]:
    """A meaning, a remark or a term in every language, from its line or the language's own file."""
    if not entry:
        return {}
    return {
        lang: unbroken(entry[lang] if lang in entry else _read(lang)[kind][name])
        for lang in LANGUAGES
    }


@cache
def list_letters() -> tuple[Letter, ...]:
    """Every letter: Latin by the alphabet, small before large, then Greek, then signs."""
    payload = _read("letters")
    meanings = [
        GlossaryEntry(_words("meaning", name, item), item.get("here", {}), item.get("texts", {}))
        for name, item in payload["meaning"].items()
    ]
    names = sorted({name for meaning in meanings for name in meaning.base_letters}, key=_order)
    return tuple(
        Letter(
            name,
            tuple(meaning for meaning in meanings if name in meaning.base_letters),
            _words("remark", name, payload["remark"].get(name, {})),
        )
        for name in names
    )


def _order(name: str) -> tuple[int, str, bool]:
    greek = [*GREEK, *map(str.capitalize, GREEK)]
    kind = 1 if name in greek else 2 if len(name) > 2 else 0
    return kind, name.casefold(), name[:1].isupper()


@cache
def terms() -> tuple[GlossaryEntry, ...]:
    """Terms without a letter, by their English words, with the lessons in whose words they are."""
    words = {slug: "\n".join(_said_in(slug)) for slug in _slugs()}
    return tuple(
        GlossaryEntry(
            _words("term", payload["en"], payload),
            {slug: [] for slug, word in words.items() if _said(payload["en"]).search(word)},
            payload.get("texts", {}),
        )
        for payload in sorted(
            _read("terms")["term"], key=lambda snapshot: snapshot["en"].casefold()
        )
    )


def _said(term: str) -> re.Pattern[str]:
    return re.compile(rf"\b{re.escape(term)}s?\b", re.IGNORECASE)


def search(typed: str, slug: str) -> list[tuple[Letter | None, list[GlossaryEntry]]]:
    """What to show: letters with meanings, and last, without a letter, the terms.

    typed: empty, a letter or words. slug: of a lesson, for what it uses with its own letter; empty
    for all. What is found by words stands under one letter only.
    """
    typed = typed_form(typed.strip())
    one_letter = {_NAMES.get(typed, typed)} & {letter.name for letter in list_letters()}
    groups: list[tuple[Letter | None, list[GlossaryEntry]]] = []
    given: list[GlossaryEntry] = []
    for item in list_letters():
        if one_letter and item.name not in one_letter:
            continue
        visible = [
            meaning
            for meaning in item.meanings
            if (
                not slug
                or any(letter(form) == item.name for form in meaning.notation.get(slug, []))
            )
            and (one_letter or not typed or (meaning.matches(typed) and meaning not in given))
        ]
        given += visible
        groups.append((item, visible))
    named = [
        term
        for term in terms()
        if (not slug or slug in term.notation)
        and not one_letter
        and (not typed or term.matches(typed))
    ]
    return [(entry, displayed) for entry, displayed in (*groups, (None, named)) if displayed]


def _slugs() -> list[str]:
    return [record.slug for record in catalog.LESSONS]


def _said_in(slug: str) -> Iterator[str]:
    """All English words of a lesson."""
    yield from sections(slug, "en").values()
    yield from (
        str(message) for key, message in catalogue("en").items() if key.startswith(f"{slug}.")
    )


def symbols(slug: str, lang: str) -> list[str]:
    """The symbols of a lesson's table under its equations, in LaTeX, without what they equal."""
    rows = (line for line in sections(slug, lang)["equations"].splitlines() if line[:3] == "| $")
    cells = (formula for row in rows for formula in _FORMULA.findall(row.split(" | ")[0]))
    parts = (part for cell in cells for part in _APART.split(cell))
    return [part.partition("=")[0].strip() for part in parts]
