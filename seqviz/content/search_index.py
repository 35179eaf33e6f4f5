"""Search index and reading times for the home page, computed from translations and prose.

It is built in the background after the start, or at the first request for it, which an idle page
sends (`seqviz.ui.app.router`). No lesson is imported for it.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from urllib.parse import quote

from seqviz.content import bench_words, catalog, glossary
from seqviz.core.i18n import LANGUAGES, Text, catalogue, sections

# Reading speed, below the 238 words per minute of stories (Brysbaert 2019) because of formulas;
# minutes added for each bench, question and task; rounding step in minutes.
WORDS_A_MINUTE, A_BENCH, A_QUESTION, A_TASK, ROUNDED = 200, 3, 1, 3, 5
NOT_READ = "sources"  # section that does not count as reading time
_PLACEHOLDER = re.compile(r"\{[^{}]*\}")
_FORMULA = re.compile(r"\$+([^$]+)\$+")
_COMMAND = re.compile(r"\\(?:var)?([a-z]+)")
_HAT = re.compile(r"\\hat\s*\{?(\w)\}?")
_MARKS = re.compile(r"[\\{}$_^*`“”\"']")


@dataclass(frozen=True)
class Entry:
    """Searchable item.

    Attributes:
        kind: "lesson", "bench", "readout" or "term".
        names: display name by language.
        slug: lesson to open.
        bench: figure in the lesson; "" for none.
        words: its names and forms for search, as `normal` returns them.
        further: text about it, which a search finds after names.
        term: glossary term by language; empty for lessons and benches.
    """

    kind: str
    names: Mapping[str, str]
    slug: str
    bench: str
    words: str
    further: str = ""
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
    """Return all searchable items: lessons, benches and read-outs in teaching order, terms."""
    return (*_lessons(), *_benches(), *_readouts(), *_meanings())


@cache
def rows(lang: str) -> list[list[str]]:
    """Return the index for the browser, one row per name of a kind.

    Args:
        lang: language code.

    Returns:
        Rows of kind, name, where it is, URL, names for search, and further text (with synonyms of
        the names), both in all languages. A name in several places leads to the first of them.
    """
    items_by_name: dict[str, list[Entry]] = {}
    for entry in entries():
        name = normal(entry.names[lang])
        key = name if entry.kind in ("readout", "term") else f"{entry.slug}#{entry.bench} {name}"
        items_by_name.setdefault(key, []).append(entry)
    return [_row(items, lang) for items in items_by_name.values()]


def _row(items: list[Entry], lang: str) -> list[str]:
    first = items[0]
    parts = [part for entry in items for part in (*map(normal, entry.names.values()), entry.words)]
    names = " ".join(
        part
        for part in dict.fromkeys(parts)
        if not any(part != other and part in other for other in parts)
    )
    synonyms = [" ".join(group) for group in _synonyms() if any(_holds(names, x) for x in group)]
    further = " ".join(filter(None, [*(entry.further for entry in items), *synonyms]))
    position = _position(items, Text(lang))
    return [first.kind, first.names[lang], position, _leads(first, lang), names, further]


def _position(items: list[Entry], text: Text) -> str:
    """Return the lesson and figure of the first of these items, and the other lessons."""
    first = items[0]
    if first.kind == "lesson":
        return ""
    title, *others = dict.fromkeys(text(f"{entry.slug}.title") for entry in items)
    if first.bench and first.kind != "bench":
        title += f" · {plain_title(text(f'{first.slug}.bench.{first.bench}'))}"
    also = text("home.also", lessons=text("home.joined").join(others)) if others else ""
    return f"{title} ({also})" if also else title


@cache
def _synonyms() -> list[list[str]]:
    """Return groups of words, in all languages, that mean the same."""
    lists = (Text(lang).items("search.synonyms") for lang in LANGUAGES)
    return [[normal(word) for item in group for word in re.split("[,、] ?", item)]
            for group in zip(*lists, strict=True)]  # fmt: skip


def _holds(names: str, word: str) -> bool:
    """Return True where a word, or a Chinese phrase, is among the names."""
    return re.search(rf"(?<![a-z]){re.escape(word)}(?![a-z])", names) is not None


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
            keys = bench_words.all_keys()[record.slug][name]
            further = [_distinct(lang, (*keys, *_about(record.slug, name))) for lang in LANGUAGES]
            yield Entry("bench", _shown(names), record.slug, name, words, " ".join(further))


def _about(slug: str, bench: str) -> list[str]:
    start = f"{slug}.claim.{bench}"
    return [key for key in catalogue("en") if key == start or key.startswith(f"{start}.")]


def _distinct(lang: str, keys: Iterable[str]) -> str:
    """Return the words of messages, each once, without their placeholders and numbers."""
    messages = [catalogue(lang)[key] for key in keys if key in catalogue(lang)]
    text = " ".join(message for message in messages if isinstance(message, str))
    words = re.split(r"[^\w'-]+", normal(_PLACEHOLDER.sub(" ", text)))
    return " ".join(dict.fromkeys(word for word in words if len(word) > 1 and not word.isdigit()))


def _readouts() -> Iterator[Entry]:
    for record in catalog.LESSONS:
        for bench in named(record.slug, "bench"):
            for key in bench_words.all_keys()[record.slug][bench]:
                if key.startswith(f"{record.slug}.metric.") and key.endswith(".label"):
                    names = _named(key)
                    if any("{" in name for name in names.values()):
                        continue
                    words = normal(" ".join(names.values()))
                    helps = key.removesuffix("label") + "help"
                    further = " ".join(_distinct(lang, [helps]) for lang in LANGUAGES)
                    yield Entry("readout", _shown(names), record.slug, bench, words, further)


def _meanings() -> Iterator[Entry]:
    letters = [meaning for letter in glossary.list_letters() for meaning in letter.meanings]
    for item in dict.fromkeys([*map(_Known, letters), *map(_Known, glossary.terms())]):
        for slug, forms in item.meaning.notation.items():
            message = item.meaning.words
            words = normal(" ".join([*message.values(), *(f"${form}$" for form in forms)]))
            signs = "".join(f"{plain_title(form)}: " for form in forms[:1])
            names, position = _shown(message, signs), _bench_of(slug, item.meaning, forms)
            yield Entry("term", names, slug, position, words, term=message)


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
