"""Texts as symbols: every text, nothing lost, unknown things shown as such."""

from __future__ import annotations

import numpy as np
import pytest

from seqviz.compute.gates.encoding import (
    UNKNOWN,
    characters,
    marks,
    normalized,
    split_words,
    word,
    words,
)

SYMBOLS = (UNKNOWN, *"abcdefghijklmnopqrstuvwxyz ,.", "not", "n't", "do", "good", "it")
TEXTS = (
    "",
    "a",
    " ",
    "not good",
    "I don’t, do you?",
    "emoji 🙂🏽 and é, é",
    "مرحبا بالعالم",
    "我不喜欢这部电影。",
    "<script>alert('x')</script>",
    "a\tb\nc\r\nd",
    "x" * 10_000,
    "\u200d\u0301\ufeff",
    "_under_score_",
)


@pytest.mark.parametrize("read", [characters, words, marks])
@pytest.mark.parametrize("text", TEXTS)
def test_encoders_return_pieces_with_matching_spans(read, text):
    result = read(text, SYMBOLS)
    assert len(result.ids) == len(result.pieces) == len(result.spans) == len(result)
    assert result.ids.dtype == np.int64
    assert all(0 <= i < len(SYMBOLS) for i in result.ids)
    for piece, (first, end) in zip(result.pieces, result.spans, strict=True):
        assert result.text[first:end] == piece != ""
    # Between two pieces there is white space only: nothing that can be seen is lost.
    ends = [0, *result.spans[:, 1]]
    starts = [*result.spans[:, 0], len(result.text)]
    for end, start in zip(ends, starts, strict=True):
        assert end <= start
        assert result.text[end:start].strip() == ""


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("I don't.", ("I", "do", "n't", ".")),
        ("It's Bond's film", ("It", "'s", "Bond", "'s", "film")),
        ("can’t", ("ca", "n’t")),
        ("1999 co-star", ("1999", "co", "-", "star")),
        ("isn't it", ("is", "n't", "it")),
    ],
)
def test_words_splits_contractions(text, pieces):
    assert words(text, SYMBOLS).pieces == pieces


def test_encoders_map_unlisted_symbols_to_unknown():
    """Without an unknown symbol its number is -1; a digit with its star is one symbol."""
    assert list(marks("0x1", ("0", "1")).ids) == [0, -1, 1]
    assert marks("27*9 0*", ()).pieces == ("2", "7*", "9", "0*")
    result = characters("aé", SYMBOLS)
    assert [SYMBOLS[i] for i in result.ids] == ["a", UNKNOWN]
    assert [SYMBOLS[i] for i in words("Not bad", SYMBOLS).ids] == ["not", UNKNOWN]


def test_normalized_composes_letter_and_accent():
    assert normalized("e\u0301") == "é"
    assert len(characters("e\u0301", SYMBOLS)) == 1
    assert word("DON’T") == "don't"


@pytest.mark.parametrize("text", [
    "The airline’s flights DON'T leave, she said.", "ΟΔΟΣ and İstanbul", "हिन्दी e\u0301t",
    "  \t two\nlines ", "",
])  # fmt: skip
def test_split_words_are_symbols_of_encoded_words(text):
    assert split_words(text) == [word(piece) for piece in words(text, ()).pieces]
