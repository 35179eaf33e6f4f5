"""The glossary: complete for every lesson's table of symbols, in both languages, and found."""

from __future__ import annotations

import re

import pytest

from seqviz.content import catalog, glossary
from seqviz.core.i18n import LANGUAGES, Text, sections
from seqviz.ui.page.glossary import same, table

SLUGS = [record.slug for record in catalog.LESSONS]
HAN = re.compile(r"[\u4e00-\u9fff]")
# KaTeX puts an element after a function name; MathML allows none where the name is the index.
FUNCTION_AS_INDEX = re.compile(r"[_^](?:\\(?:max|min|sup|inf|lim)\b|\{\\(?:max|min|sup|inf|lim)\})")
SEVERAL = [letter for letter in glossary.list_letters() if len(letter.meanings) > 1]


@pytest.mark.parametrize("slug", SLUGS)
def test_glossary_contains_every_lesson_symbol(slug):
    existing = {
        form
        for letter in glossary.list_letters()
        for meaning in letter.meanings
        for form in meaning.notation.get(slug, [])
    }
    for lang in LANGUAGES:
        symbols = glossary.symbols(slug, lang)
        assert len(symbols) >= 6, lang  # the table is really read
        assert [symbol for symbol in symbols if symbol not in existing] == []


@pytest.mark.parametrize("slug", SLUGS)
def test_formula_has_no_function_name_as_index(slug):
    assert FUNCTION_AS_INDEX.search(r"\sigma_{\max}(W)")
    for lang in LANGUAGES:
        text = "\n".join(sections(slug, lang).values())
        assert FUNCTION_AS_INDEX.findall(text) == []


@pytest.mark.parametrize("slug", SLUGS)
def test_english_table_of_symbols_has_no_chinese_column(slug):
    """The glossary gives the term in the other language."""
    rows = [
        line
        for section in sections(slug, "en").values()
        for line in section.splitlines()
        if line.startswith("|")
    ]
    assert "| symbol | meaning |" in rows
    assert [row for row in rows if HAN.search(row)] == []


def test_glossary_is_complete_in_both_languages():
    meanings = {
        id(meaning): meaning for letter in glossary.list_letters() for meaning in letter.meanings
    }
    for item in (*meanings.values(), *glossary.terms()):
        assert item.en.strip(), item
        assert not HAN.search(item.en), item
        assert HAN.search(item.zh) or item.zh in (item.en, "softmax"), item
        assert set(item.notation) <= set(SLUGS), item
        assert set(item.texts) <= set(glossary.TEXTS), item
    for letter in glossary.list_letters():
        assert set(letter.remark) in (set(), set(LANGUAGES)), letter
        assert not letter.remark or HAN.search(letter.remark["zh"]), letter


def test_glossary_words_are_unique():
    meanings = {
        id(meaning): meaning for letter in glossary.list_letters() for meaning in letter.meanings
    }.values()
    for existing in (meanings, glossary.terms()):
        assert (
            len({item.en for item in existing})
            == len({item.zh for item in existing})
            == len(existing)
        )


@pytest.mark.parametrize("lang", LANGUAGES)
def test_glossary_table_mentions_all_meanings_of_letter(lang):
    """A letter with several meanings says so, whichever of them are shown."""
    text = Text(lang)
    names = {item.name for item in SEVERAL}
    assert {"W", "U", "phi", "tau", "sigma", "omega", "a", "c"} <= names
    for slug in ("", *SLUGS):
        result = glossary.search("", slug)
        message = table(result, text, slug)
        for letter, visible in result:
            if letter is None or len(letter.meanings) == 1:
                continue
            sentence = same(letter, visible, text)
            assert text("frame.glossary_same", count=len(letter.meanings)) in sentence
            assert sentence in message
            for meaning in letter.meanings:  # each is a row, or named as what it is elsewhere
                word = meaning.zh if lang == "zh" else meaning.en
                assert meaning in visible or word in sentence, (slug, letter.name, word)


def test_glossary_omits_meanings_note_for_single_meaning():
    (only,) = [letter for letter in glossary.list_letters() if letter.name == "theta"]
    assert text_of("theta", "en").count("meanings") == 0
    assert len(only.meanings) == 1


def text_of(typed: str, lang: str, slug: str = "") -> str:
    return table(glossary.search(typed, slug), Text(lang), slug)


def test_glossary_remarks_require_two_meanings():
    remarked = {letter.name for letter in glossary.list_letters() if letter.remark}
    assert remarked <= {item.name for item in SEVERAL}
    assert remarked == set(glossary._read("letters")["remark"])


@pytest.mark.parametrize(
    ("form", "name"),
    [
        (r"\hat p", "p"), (r"\varphi_i", "phi"), (r"\phi", "phi"), ("W_{hh}", "W"), ("PE_p", "PE"),
        (r"\mathcal J", "J"), (r"\hat y^{\langle t\rangle}", "y"),
        (r"\sigma_{\mathrm{max}}", "sigma"),
        (r"\tilde c_t", "c"), (r"b_{\cdot}", "b"), ("*", ""),
    ],
)  # fmt: skip
def test_glossary_letter_parses_formula(form, name):
    assert glossary.letter(form) == name


@pytest.mark.parametrize(
    ("typed", "words"),
    [
        ("W", "recurrent matrix"), ("σ", "sigmoid"), ("sigma", "sigmoid"), ("W_hh", "recurrent"),
        ("W_{hh}", "recurrent"), ("遗忘", "forget gate"), ("相关门", "forget gate"),
        ("加法门", "input gate"), ("令牌", "token"), ("Singular", "largest singular value"),
        ("变形金刚", "Transformer"), ("Γ", "input gate"), (" tau ", "time constant"),
        ("sigmamax", "largest singular value"),
    ],
)  # fmt: skip
def test_glossary_search_matches_letter_term_and_text_name(typed, words):
    assert words in text_of(typed, "en"), typed


def test_glossary_search_is_case_sensitive_for_letters():
    assert [item.name for item, _ in glossary.search("h", "") if item] == ["h"]
    assert [item.name for item, _ in glossary.search("H", "") if item] == ["H"]


@pytest.mark.parametrize("typed", ["<script>", "$\\frac", "|", "٣", "\x00", "a" * 40])
def test_glossary_search_returns_empty_without_match(typed):
    assert glossary.search(typed, "") == []


@pytest.mark.parametrize("lang", LANGUAGES)
def test_glossary_table_has_four_cells_and_lesson_links(lang):
    lines = text_of("", lang).splitlines()
    assert len(lines) > 150
    assert {line.count(" | ") for line in lines[2:]} == {3}
    for slug in SLUGS:
        assert f"]({slug}?lang={lang})" in "\n".join(lines)


def test_glossary_terms_list_lessons_that_use_them():
    terms = {term.en: set(term.notation) for term in glossary.terms()}
    assert terms["LoRA"] == {"bert_accuracy"}
    assert "ar_fitting" in terms["Yule-Walker"]
    assert "attention" not in terms["Yule-Walker"]
