"""Glossary: symbols with their meanings in the lessons and the five texts, and terms.

The five texts are named "S0" to "S4" (`TEXTS`).

Letters are in `assets/glossary/letters.toml` and terms in `terms.toml`, in English and Chinese. A
further language has its own file, `<lang>.toml`: `[meaning]` and `[remark]` by the names in
letters.toml, `[term]` by the English terms. letters.toml lists the lessons that use a letter, which
is checked against their tables of symbols; the lessons that use a term are found by searching
their text.
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
GREEK = {  # in alphabetical order
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
_PLAIN = re.compile(
    r"\\(?:var(?=[a-z])|cdot|langle|rangle|hat|tilde|mathcal|mathbf|mathrm)?|[{}$_^]"
)


@dataclass(frozen=True)
class GlossaryEntry:
    """Meaning of a letter, or a term without a letter.

    Attributes:
        words: the term in each language.
        notation: LaTeX forms by lesson slug; empty lists for a term without a letter.
        texts: notation or name in each of the five texts, in Markdown.
    """

    words: Mapping[str, str]
    notation: Mapping[str, list[str]] = field(default_factory=dict)
    texts: Mapping[str, str] = field(default_factory=dict)

    @property
    def en(self) -> str:
        """English term."""
        return self.words["en"]

    @property
    def zh(self) -> str:
        """Chinese term, as in the five texts."""
        return self.words["zh"]

    @property
    def base_letters(self) -> set[str]:
        """Letters, without accents and indices, in any lesson or text."""
        return {item for item in map(letter, self._forms()) if item}

    def base_letters_of(self, text: str) -> set[str]:
        """Return the letters, without accents and indices, in one of the five texts."""
        return {letter(form) for form in _FORMULA.findall(self.texts.get(text, ""))}

    def written(self, by: str) -> list[str]:
        """Return the LaTeX forms with base letter `by`, those of lessons before those of texts."""
        return [form for form in self._forms() if letter(form) == by]

    def _forms(self) -> list[str]:
        formulas = (form for text in self.texts.values() for form in _FORMULA.findall(text))
        return list(dict.fromkeys(chain(*self.notation.values(), formulas)))

    def matches(self, typed: str) -> bool:
        """Return True where the query is part of the term or of any notation for it."""
        forms = map(typed_form, chain(*self.notation.values(), self.texts.values()))
        message = plainly_spaced(" ".join([*self.words.values(), *forms]))
        return typed.casefold() in message.casefold()


@dataclass(frozen=True)
class Letter:
    """Letter with its meanings.

    Attributes:
        name: the letter; Greek letters by their English name.
        meanings: entries with a form of this letter.
        remark: further note by language; empty for none.
    """

    name: str
    meanings: tuple[GlossaryEntry, ...]
    remark: Mapping[str, str]


def letter(form: str) -> str:
    r"""Return the base letter of a formula: `\hat p` -> p, `\varphi_i` -> phi."""
    result = _FIRST.search(_WRAP.sub(lambda mark: " " if mark[0] in " {}" else "", form))
    if result is None:
        return ""
    name, word = result.groups()
    return str(word or name.removeprefix("var"))


def typed_form(form: str) -> str:
    r"""Return a formula in plain characters: `$W_{\mathrm{max}}$` -> Wmax."""
    return _PLAIN.sub("", form)


@cache
def _read(name: str) -> dict[str, Any]:
    return tomllib.loads((ASSETS / "glossary" / f"{name}.toml").read_text("utf-8"))


def _words(kind: str, name: str, entry: Mapping[str, Any]) -> dict[str, str]:
    """Return a meaning, remark or term in every language, from its entry or the language's file."""
    if not entry:
        return {}
    return {
        lang: unbroken(entry[lang] if lang in entry else _read(lang)[kind][name])
        for lang in LANGUAGES
    }


@cache
def meaning(name: str) -> GlossaryEntry:
    """Return a meaning by its name in `letters.toml`.

    Raises:
        KeyError: there is no such meaning.
    """
    item = _read("letters")["meaning"][name]
    return GlossaryEntry(_words("meaning", name, item), item.get("here", {}), item.get("texts", {}))


@cache
def _groups() -> dict[str, str]:
    """Return the color group of each letter."""
    groups = _read("letters")["color"].items()
    return {glyph: group for group, letters in groups for glyph in letters.split()}


def letter_group(glyph: str) -> str:
    """Return the group whose color a letter has in all lessons; empty for the color of text."""
    return _groups().get(glyph, "")


def to_speech(symbol: str) -> str:
    """Return a symbol of an equation as a screen reader says it: `x_{t−1}` -> x t−1."""
    return re.sub(r"[_^]", " ", re.sub(r"[{}]", "", symbol))


@cache
def list_letters() -> tuple[Letter, ...]:
    """Return all letters: Latin in alphabetical order, lower case first, then Greek, then signs."""
    payload = _read("letters")
    meanings = [meaning(name) for name in payload["meaning"]]
    names = sorted({name for entry in meanings for name in entry.base_letters}, key=_order)
    return tuple(
        Letter(
            name,
            tuple(entry for entry in meanings if name in entry.base_letters),
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
    """Return terms without a letter in alphabetical order, with the lessons that use them."""
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
    """Return letters with matching meanings, followed by matching terms without a letter.

    Args:
        typed: query: empty, a letter, or words. A meaning found by words is listed under its first
            letter only.
        slug: lesson to which results are limited; "" for all lessons.

    Returns:
        Pairs of a letter, or None for terms, and its entries; pairs without entries are left out.
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
    """Yield all English text of a lesson."""
    yield from sections(slug, "en").values()
    yield from (
        str(message) for key, message in catalogue("en").items() if key.startswith(f"{slug}.")
    )


def symbols(slug: str, lang: str) -> list[str]:
    """Return the symbols in the table under a lesson's equations, in LaTeX.

    Args:
        slug: the lesson.
        lang: language code.
    """
    rows = (line for line in sections(slug, lang)["equations"].splitlines() if line[:3] == "| $")
    cells = (formula for row in rows for formula in _FORMULA.findall(row.split(" | ")[0]))
    parts = (part for cell in cells for part in _APART.split(cell))
    return [part.partition("=")[0].strip() for part in parts]
