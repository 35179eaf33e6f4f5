"""The glossary: complete for every lesson's table of symbols, in both languages, and found."""

from __future__ import annotations

import re

import pytest

from seqviz.content import catalog, glossary
from seqviz.core.i18n import LANGUAGES, Text
from seqviz.ui.page.glossary import same, table

SLUGS = [record.slug for record in catalog.LESSONS]
HAN = re.compile(r"[\u4e00-\u9fff]")
SEVERAL = [letter for letter in glossary.list_letters() if len(letter.meanings) > 1]


@pytest.mark.parametrize("slug", SLUGS)
def test_every_symbol_of_a_lesson_s_table_is_in_it(slug):
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


def test_both_languages_are_complete_and_their_own():
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


def test_no_two_meanings_and_no_two_terms_have_the_same_words():
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
def test_a_letter_with_two_meanings_says_so_whatever_is_shown(lang):
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


def test_a_letter_that_is_one_thing_says_nothing_of_the_kind():
    (only,) = [letter for letter in glossary.list_letters() if letter.name == "theta"]
    assert text_of("theta", "en").count("meanings") == 0
    assert len(only.meanings) == 1


def text_of(typed: str, lang: str, slug: str = "") -> str:
    return table(glossary.search(typed, slug), Text(lang), slug)


def test_every_remark_belongs_to_a_letter_with_two_meanings():
    remarked = {letter.name for letter in glossary.list_letters() if letter.remark}
    assert remarked <= {item.name for item in SEVERAL}
    assert remarked == set(glossary._read("letters")["remark"])


@pytest.mark.parametrize(
    ("form", "name"),
    [
        (r"\hat p", "p"), (r"\varphi_i", "phi"), (r"\phi", "phi"), ("W_{hh}", "W"), ("PE_p", "PE"),
        (r"\mathcal J", "J"), (r"\hat y^{\langle t\rangle}", "y"), (r"\sigma_{\max}", "sigma"),
        (r"\tilde c_t", "c"), (r"b_{\cdot}", "b"), ("*", ""),
    ],
)  # fmt: skip
def test_the_letter_of_a_formula(form, name):
    assert glossary.letter(form) == name


@pytest.mark.parametrize(
    ("typed", "words"),
    [
        ("W", "recurrent matrix"), ("σ", "sigmoid"), ("sigma", "sigmoid"), ("W_hh", "recurrent"),
        ("W_{hh}", "recurrent"), ("遗忘", "forget gate"), ("相关门", "forget gate"),
        ("加法门", "input gate"), ("令牌", "token"), ("Singular", "largest singular value"),
        ("变形金刚", "Transformer"), ("Γ", "input gate"), (" tau ", "time constant"),
    ],
)  # fmt: skip
def test_it_is_found_by_letter_term_or_what_a_text_calls_it(typed, words):
    assert words in text_of(typed, "en"), typed


def test_a_small_letter_is_not_the_large_one():
    assert [item.name for item, _ in glossary.search("h", "") if item] == ["h"]
    assert [item.name for item, _ in glossary.search("H", "") if item] == ["H"]


@pytest.mark.parametrize("typed", ["<script>", "$\\frac", "|", "٣", "\x00", "a" * 40])
def test_what_is_not_there_is_not_found(typed):
    assert glossary.search(typed, "") == []


@pytest.mark.parametrize("lang", LANGUAGES)
def test_every_row_has_four_cells_and_links_to_its_lessons(lang):
    lines = text_of("", lang).splitlines()
    assert len(lines) > 150
    assert {line.count(" | ") for line in lines[2:]} == {3}
    for slug in SLUGS:
        assert f"]({slug}?lang={lang})" in "\n".join(lines)


def test_a_term_names_the_lessons_in_whose_words_it_is():
    terms = {term.en: set(term.notation) for term in glossary.terms()}
    assert terms["LoRA"] == {"bert_accuracy"}
    assert "ar_fitting" in terms["Yule-Walker"]
    assert "attention" not in terms["Yule-Walker"]
