"""Marks belong to the letter before them, in every script: words stay as they are written."""

from __future__ import annotations

import unicodedata

import numpy as np
import pytest

from seqviz.compute.gates import encoding
from seqviz.compute.gates.activations import _in_word, _negated
from seqviz.compute.letters import plain_marks
from seqviz.compute.recurrent.tagging.letters import without_spaces
from seqviz.experiments.text.vectors import tables

# Hindi, Thai, Hebrew with points, Tamil, Bengali, Arabic with vowels, Persian with a joiner, signs
# beside their letters, Vietnamese, Burmese, Salish.
WORDS = (
    "मुझे हिन्दी पसंद है", "สวัสดี ครับ", "שָׁלוֹם עוֹלָם", "தமிழ் மொழி", "বাংলা ভাষা",
    "مَرْحَبًا بِكُم",
    "می\u200cخواهم بروم", "nai\u0308ve cafe\u0301", "tie\u0302\u0301ng vie\u0323\u0302t",
    "မြန်မာ စာ",
    "k̓ʷəy̓ n̓a", "well-known d’été naïve",
)  # fmt: skip


def as_written(text: str) -> tuple[str, ...]:
    return tuple(unicodedata.normalize("NFC", text).lower().split())


@pytest.mark.parametrize("text", WORDS)
def test_tables_keep_words_of_every_script(text):
    assert tables.in_a_row(text) == as_written(text)
    assert tables.words_of(text) == tuple(dict.fromkeys(as_written(text)))
    assert tables.in_a_row(f"({text}): «{text}»!") == 2 * as_written(text)


def test_tables_keep_variation_selector_with_chinese_character():
    assert tables.in_a_row("葛\ufe00城मुझे") == ("葛\ufe00", "城", "मुझे")


def test_plain_marks_keeps_marks_without_letter():
    assert plain_marks("\u0301a \u0301- \u093e") == list("\u0301a \u0301- \u093e")
    assert plain_marks(["a", "\u0301", "", "\u0301b", ".\u0301"]) == ["a", "ˑ", "", "ˑb", ".\u0301"]


@pytest.mark.parametrize("text", [word for word in WORDS if "-" not in word and "’" not in word])
def test_encoding_words_keep_marks_with_letters(text):
    assert encoding.words(text, ("<unk>",)).pieces == tuple(
        unicodedata.normalize("NFC", text).split()
    )


def test_features_count_letters_across_marks():
    tokens = list("हिन्दी है")
    np.testing.assert_array_equal(_in_word(tokens), [1, 2, 3, 4, 5, 6, 0, 1, 2])
    far = _negated(list("not हिन्दी है न"))
    assert far[-1] == 1  # the third word after it, not the seventh


def test_without_spaces_tags_decomposed_accents():
    beside, full = (without_spaces(item) for item in ("cafe\u0301 noir", "café noir"))
    assert beside.symbols == full.symbols
    assert (beside.tags >= 0).all()
