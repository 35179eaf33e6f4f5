"""The glossary: complete for every lesson's table of symbols, in both languages, and found."""

from __future__ import annotations

import re

import pytest

from seqviz.content import catalog, glossary
from seqviz.core.i18n import LANGUAGES, Text
from seqviz.ui.page.glossary import same, table

SLUGS = [record.slug for record in catalog.LESSONS]
HAN = re.compile(r"[\u4e00-\u9fff]")
SEVERAL = [one for one in glossary.list_letters() if len(one.meanings) > 1]


@pytest.mark.parametrize("slug", SLUGS)
def test_every_symbol_of_a_lesson_s_table_is_in_it(slug):
    known = {
        form
        for letter in glossary.list_letters()
        for one in letter.meanings
        for form in one.here.get(slug, [])
    }
    for lang in LANGUAGES:
        symbols = glossary.symbols(slug, lang)
        assert len(symbols) >= 6, lang  # the table is really read
        assert [one for one in symbols if one not in known] == []


def test_both_languages_are_complete_and_their_own():
    meanings = {id(one): one for letter in glossary.list_letters() for one in letter.meanings}
    for one in (*meanings.values(), *glossary.terms()):
        assert one.en.strip(), one
        assert not HAN.search(one.en), one
        assert HAN.search(one.zh) or one.zh in (one.en, "softmax"), one
        assert set(one.here) <= set(SLUGS), one
        assert set(one.texts) <= set(glossary.TEXTS), one
    for letter in glossary.list_letters():
        assert set(letter.remark) in (set(), set(LANGUAGES)), letter
        assert not letter.remark or HAN.search(letter.remark["zh"]), letter


def test_no_two_meanings_and_no_two_terms_have_the_same_words():
    meanings = {
        id(one): one for letter in glossary.list_letters() for one in letter.meanings
    }.values()
    for known in (meanings, glossary.terms()):
        assert len({one.en for one in known}) == len({one.zh for one in known}) == len(known)


@pytest.mark.parametrize("lang", LANGUAGES)
def test_a_letter_with_two_meanings_says_so_whatever_is_shown(lang):
    text = Text(lang)
    names = {one.name for one in SEVERAL}
    assert {"W", "U", "phi", "tau", "sigma", "omega", "a", "c"} <= names
    for slug in ("", *SLUGS):
        found = glossary.search("", slug)
        said = table(found, text, slug)
        for letter, shown in found:
            if letter is None or len(letter.meanings) == 1:
                continue
            sentence = same(letter, shown, text)
            assert text("frame.glossary_same", count=len(letter.meanings)) in sentence
            assert sentence in said
            for one in letter.meanings:  # each is a row, or named as what it is elsewhere
                word = one.zh if lang == "zh" else one.en
                assert one in shown or word in sentence, (slug, letter.name, word)


def test_a_letter_that_is_one_thing_says_nothing_of_the_kind():
    (only,) = [one for one in glossary.list_letters() if one.name == "theta"]
    assert text_of("theta", "en").count("meanings") == 0
    assert len(only.meanings) == 1


def text_of(typed: str, lang: str, slug: str = "") -> str:
    return table(glossary.search(typed, slug), Text(lang), slug)


def test_every_remark_belongs_to_a_letter_with_two_meanings():
    remarked = {one.name for one in glossary.list_letters() if one.remark}
    assert remarked <= {one.name for one in SEVERAL}
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
    assert [one.name for one, _ in glossary.search("h", "") if one] == ["h"]
    assert [one.name for one, _ in glossary.search("H", "") if one] == ["H"]


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
    terms = {one.en: set(one.here) for one in glossary.terms()}
    assert terms["LoRA"] == {"bert_accuracy"}
    assert "ar_fitting" in terms["Yule-Walker"]
    assert "attention" not in terms["Yule-Walker"]
