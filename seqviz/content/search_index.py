"""Search index and reading times for the home page, computed from translations and prose.

No lesson is imported, as its dependencies would delay the home page.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from urllib.parse import quote

from seqviz.content import catalog, glossary
from seqviz.core.i18n import LANGUAGES, catalogue, sections

# Reading speed, below the 238 words per minute of stories (Brysbaert 2019) because of formulas;
# minutes added for each bench, question and task; rounding step in minutes.
WORDS_A_MINUTE, A_BENCH, A_QUESTION, A_TASK, ROUNDED = 200, 3, 1, 3, 5
NOT_READ = "sources"  # section that does not count as reading time
_FORMULA = re.compile(r"\$+([^$]+)\$+")
_COMMAND = re.compile(r"\\(?:var)?([a-z]+)")
_HAT = re.compile(r"\\hat\s*\{?(\w)\}?")
_MARKS = re.compile(r"[\\{}$_^*`“”\"']")


@dataclass(frozen=True)
class Entry:
    """Searchable item.

    Attributes:
        kind: "lesson", "bench" or "term".
        names: display name by language.
        slug: lesson to open.
        bench: figure in the lesson; "" for none.
        words: further search text, as `normal` returns it.
        term: glossary term by language; empty for lessons and benches.
    """

    kind: str
    names: Mapping[str, str]
    slug: str
    bench: str
    words: str
    term: Mapping[str, str] = field(default_factory=dict)


@cache
def named(slug: str, kind: str) -> tuple[str, ...]:
    """Return the names of a lesson's benches, questions ("predict"), exercises or targets.

    Args:
        slug: the lesson.
        kind: key prefix in its translations: "bench", "predict", "exercise" or "target".
    """
    start = f"{slug}.{kind}."
    keys = (key.removeprefix(start) for key in catalogue("en") if key.startswith(start))
    return tuple(dict.fromkeys(key.partition(".")[0] for key in keys))


@cache
def minutes(slug: str) -> int:
    """Return the duration of a lesson, rounded to five minutes: reading time plus activities."""
    prose = " ".join(section for name, section in sections(slug, "en").items() if name != NOT_READ)
    benches, questions = (len(named(slug, kind)) for kind in ("bench", "predict"))
    tasks = len(named(slug, "exercise")) + len(named(slug, "target"))
    full = len(prose.split()) / WORDS_A_MINUTE
    full += A_BENCH * benches + A_QUESTION * questions + A_TASK * tasks
    return ROUNDED * round(full / ROUNDED)


def normal(text: str) -> str:
    """Return text in lower case without LaTeX marks, for search: `$d_k$`, `dₖ` -> dk.

    Full-width letters, subscripts and other variants become plain characters (NFKC).
    """
    plain = _FORMULA.sub(lambda result: glossary.typed_form(result[1]), text)
    return _MARKS.sub("", unicodedata.normalize("NFKC", plain)).casefold()


def plain_title(text: str) -> str:
    r"""Return a title without Markdown and LaTeX marks (`\varphi` -> φ)."""
    text = _HAT.sub("\\1\u0302", text).replace(r"\odot", "⊙")
    text = text.replace(r"\langle ", "⟨").replace(r"\rangle", "⟩")
    greek = _COMMAND.sub(lambda result: glossary.GREEK.get(result[1], result[0]), text)
    return re.sub(r"[\\{}$*`]", "", greek)


@cache
def entries() -> tuple[Entry, ...]:
    """Return all searchable items: lessons and benches in teaching order, letters, terms."""
    return (*_lessons(), *_benches(), *_meanings())


@cache
def rows(lang: str) -> list[list[str]]:
    """Return the index for the browser, one row per item.

    Args:
        lang: language code.

    Returns:
        Rows of kind, name, slug of the lesson that contains the item ("" for a lesson), URL, and
        search text in all languages.
    """
    return [
        [
            entry.kind,
            entry.names[lang],
            entry.slug if entry.kind != "lesson" else "",
            _leads(entry, lang),
            " ".join(dict.fromkeys([*map(normal, entry.names.values()), entry.words])),
        ]
        for entry in entries()
    ]


def address(slug: str, lang: str, bench: str = "") -> str:
    """Return the URL, relative to the home page, of a lesson or of a bench in it.

    Args:
        slug: the lesson.
        lang: language code.
        bench: name of the bench; "" for the lesson.
    """
    return f"{slug}?lang={lang}" + (f"#bench-{bench}" if bench else "")


def _leads(entry: Entry, lang: str) -> str:
    """Return the URL of an item; a term without a figure leads to its glossary entry."""
    position = address(entry.slug, lang, entry.bench)
    return (
        position
        if entry.bench or not entry.term
        else f"{position}&glossary={quote(entry.term[lang])}"
    )


def _named(key: str) -> dict[str, str]:
    return {lang: str(catalogue(lang)[key]) for lang in LANGUAGES}


def _shown(names: Mapping[str, str], before: str = "") -> dict[str, str]:
    return {lang: before + plain_title(name) for lang, name in names.items()}


def _lessons() -> Iterator[Entry]:
    for record in catalog.LESSONS:
        stage = [_shown(_named(f"stage.{record.stage}.{part}")) for part in ("title", "question")]
        words = normal(" ".join(name for names in stage for name in names.values()))
        yield Entry("lesson", _shown(_named(f"{record.slug}.title")), record.slug, "", words)


def _benches() -> Iterator[Entry]:
    for record in catalog.LESSONS:
        for name in named(record.slug, "bench"):
            names = _named(f"{record.slug}.bench.{name}")
            words = normal(" ".join(names.values()))
            yield Entry("bench", _shown(names), record.slug, name, words)


def _meanings() -> Iterator[Entry]:
    letters = [meaning for letter in glossary.list_letters() for meaning in letter.meanings]
    for item in dict.fromkeys([*map(_Known, letters), *map(_Known, glossary.terms())]):
        for slug, forms in item.meaning.notation.items():
            message = item.meaning.words
            words = normal(" ".join([*message.values(), *(f"${form}$" for form in forms)]))
            signs = "".join(f"{plain_title(form)}: " for form in forms[:1])
            names, position = _shown(message, signs), _bench_of(slug, item.meaning, forms)
            yield Entry("term", names, slug, position, words, message)


@dataclass(frozen=True, eq=False)
class _Known:
    """Glossary entry compared by identity, as one entry may stand under several letters."""

    meaning: glossary.GlossaryEntry

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Known) and self.meaning is other.meaning

    def __hash__(self) -> int:
        return id(self.meaning)


def _bench_of(slug: str, meaning: glossary.GlossaryEntry, forms: list[str]) -> str:
    """Return the first bench of a lesson whose title or prose contains a form or term, or ""."""
    prose = sections(slug, "en")
    message = re.compile(rf"\b{re.escape(meaning.en)}s?\b", re.IGNORECASE)
    benches = named(slug, "bench")
    titles = {name: str(catalogue("en")[f"{slug}.bench.{name}"]) for name in benches}
    for position in (titles, prose):
        for name in benches:
            text = position.get(name, "")
            formulas = " ".join(_FORMULA.findall(text))
            if any(_stands(form, formulas) for form in forms) or (
                not forms and message.search(text)
            ):
                return name
    return ""


def _stands(form: str, formulas: str) -> bool:
    """Return True where a symbol is in the formulas, and not as a part of another name."""
    return bool(re.search(rf"(?<![A-Za-z\\]){re.escape(form)}(?![A-Za-z])", formulas))
