"""What home says of the lessons is true of them, and what is searched for is where it leads."""

from __future__ import annotations

from urllib.parse import parse_qs, urlsplit

import pytest

from seqviz import lessons
from seqviz.content import catalog, glossary, search_index
from seqviz.core.i18n import LANGUAGES, catalogue, sections

SLUGS = [record.slug for record in catalog.LESSONS]


@pytest.mark.parametrize("slug", SLUGS)
def test_search_index_names_match_lesson_declaration(slug):
    lesson = getattr(lessons, slug).lesson
    assert set(search_index.named(slug, "bench")) == set(lesson.benches)
    assert set(search_index.named(slug, "exercise")) == set(lesson.exercises)
    questions = [key for key in catalogue("en") if key.startswith(f"{slug}.predict.")]
    assert len(search_index.named(slug, "predict")) == sum(
        key.endswith(".answer") for key in questions
    )


@pytest.mark.parametrize("slug", SLUGS)
def test_search_index_minutes_match_formula(slug):
    words = sum(len(section.split()) for name, section in sections(slug, "en").items()
                if name != "sources")  # fmt: skip
    lesson = getattr(lessons, slug).lesson
    questions = sum(key.startswith(f"{slug}.predict.") and key.endswith(".answer")
                    for key in catalogue("en"))  # fmt: skip
    targets = sum(key.startswith(f"{slug}.target.") and key.endswith(".task")
                  for key in catalogue("en"))  # fmt: skip
    tasks = len(lesson.exercises) + targets
    full = words / 200 + 3 * len(lesson.benches) + questions + 3 * tasks
    assert abs(search_index.minutes(slug) - full) <= 2.5
    assert search_index.minutes(slug) % 5 == 0


@pytest.mark.parametrize("lang", LANGUAGES)
def test_search_index_addresses_resolve_to_lesson_benches(lang):
    benches = set()
    for _, name, slug, address, words in search_index.rows(lang):
        parts = urlsplit(address)
        assert parts.path in SLUGS
        assert slug in ("", parts.path)
        lesson, query = getattr(lessons, parts.path).lesson, parse_qs(parts.query)
        assert query.pop("lang") == [lang]
        bench = parts.fragment.removeprefix("bench-")
        assert bench in ("", *lesson.benches)
        for term in query.pop("glossary", []):
            assert glossary.search(term, ""), term
            assert not bench
        assert not query
        assert name
        assert not set("\\$*`{}") & set(name), name
        assert search_index.normal(name) in words
        benches |= {(parts.path, bench)} if bench else set()
    assert len(benches) == sum(len(getattr(lessons, slug).lesson.benches) for slug in SLUGS)


def found(typed: str) -> list[search_index.Entry]:
    """Those in whose words this is a word, or the beginning of one."""
    return [
        entry
        for entry in search_index.entries()
        if f" {search_index.normal(typed)}" in f" {entry.words}"
    ]


@pytest.mark.parametrize(
    ("typed", "kind", "slug", "bench"),
    [
        ("d_k", "bench", "attention", "scale"), ("dk", "term", "attention", "scale"),
        ("dₖ", "term", "attention", "scale"), ("POSITION", "lesson", "positions", ""),
        ("位置", "lesson", "positions", ""),
        ("gradient clipping", "term", "vanishing_gradients", ""),
        ("Truncation", "bench", "vanishing_gradients", "cut"),
        ("phi", "term", "ar_fitting", ""),
    ],
)  # fmt: skip
def test_search_finds_letters_titles_and_terms_in_both_languages(typed, kind, slug, bench):
    assert (kind, slug) in {(item.kind, item.slug) for item in found(typed)}
    if bench:
        assert bench in {item.bench for item in found(typed)}


def test_search_index_ignores_letter_inside_other_name():
    assert search_index._stands("d_k", r"\sqrt{d_k}")
    assert not search_index._stands("k", r"\sqrt{dk}")
    assert not search_index._stands("h", r"\hat y")


def test_search_index_address_selects_bench():
    assert search_index.address("bert_accuracy", "zh", "tune") == (
        "bert_accuracy?lang=zh#bench-tune"
    )
    assert search_index.address("gates", "en") == "gates?lang=en"
