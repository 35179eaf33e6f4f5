"""What home says of the lessons is true of them, and what is searched for is where it leads."""

from __future__ import annotations

from urllib.parse import parse_qs, urlsplit

import pytest

from seqviz import lessons
from seqviz.content import bench_words, catalog, glossary, search_index
from seqviz.core.i18n import LANGUAGES, Text, catalogue, sections

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
    for kind, name, position, address, words, _ in search_index.rows(lang):
        parts = urlsplit(address)
        assert parts.path in SLUGS
        title = Text(lang)(f"{parts.path}.title")
        assert position.startswith(title) == (kind != "lesson"), position
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


@pytest.mark.parametrize("lang", LANGUAGES)
def test_search_has_one_row_per_word(lang):
    words = [
        search_index.normal(name)
        for kind, name, *_ in search_index.rows(lang)
        if kind in ("readout", "term")
    ]
    assert len(set(words)) == len(words)


def test_search_finds_readouts_words_of_figures_and_synonyms():
    def leads(typed: str) -> list[str]:
        words = [search_index.normal(word) for word in typed.split()]
        return [
            row[3]
            for row in search_index.rows("en")
            if all(word in f"{row[4]} {row[5]}" for word in words)
        ]

    assert "recurrent?lang=en#bench-writing" in leads("perplexity")  # read-out
    assert "recurrent?lang=en#bench-writing" in leads("困惑度")
    assert "vanishing_gradients?lang=en#bench-race" in leads("LSTM race")
    assert any(address.startswith("gpt?") for address in leads("nucleus"))  # synonym of top-p


@pytest.mark.parametrize("slug", ["ar_fitting", "gates", "vanishing_gradients"])
def test_bench_words_include_readouts_that_bench_shows(slug):
    for name, bench in getattr(lessons, slug).lesson.benches.items():
        keys = bench_words.keys(slug)[name]
        shown = set(bench.run(code=False).readouts)
        assert {f"{slug}.metric.{key}.label" for key in shown} <= {*keys}, name


def test_bench_words_cover_nearly_all_readouts():
    known = {
        key
        for key in catalogue("en")
        if key.endswith(".label") and key.partition(".")[2].startswith("metric.")
    }
    found = {key for slug in SLUGS for keys in bench_words.keys(slug).values() for key in keys}
    assert len(known - found) < 0.05 * len(known), known - found
