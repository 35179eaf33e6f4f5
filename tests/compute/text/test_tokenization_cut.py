"""Characters, graphemes, words of a dictionary, WordPiece: places, round trips, what is lost."""

from __future__ import annotations

import numpy as np
import pytest

from seqviz.compute.text.tokenization.bpe import Bpe
from seqviz.compute.text.tokenization.cut import characters, graphemes, single_bytes, strips
from seqviz.compute.text.tokenization.dictionary import Dictionary
from seqviz.compute.text.tokenization.wordpiece import WordPiece
from seqviz.core.errors import UserError

FAMILY = "👨‍👩‍👧"
HOSTILE = ("", " ", "\0", "\ud800x", "a\r\nb", f"{FAMILY}🏽🇨🇳🇫🇷e\u0301", "שלום עולם", "x" * 20_000)
TOKENS = ("[UNK]", "un", "una", "##ffa", "##ble", "!", "人", "a", "##b")
VOCABULARY = {name: index for index, name in enumerate(TOKENS)}


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
@pytest.mark.parametrize("cutter", ["characters", "bytes", "words", "bpe"])
def test_cutters_round_trip_every_text(text, cutter):
    cut = {
        "characters": characters, "bytes": single_bytes, "bpe": Bpe(np.array([[32, 97]])).cut,
        "words": Dictionary({"x": 2, "人工": 3}).cut,
    }[cutter](text)  # fmt: skip
    assert cut.back == text
    assert not cut.lost
    size = len(text.encode("utf-8", "surrogatepass"))
    np.testing.assert_array_equal(cut.starts[1:], cut.ends[:-1])
    assert (cut.ends[-1] if len(cut.ends) else 0) == size


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (f"a{FAMILY}b", ["a", FAMILY, "b"]),
        ("e\u0301x", ["e\u0301", "x"]),
        ("🇨🇳🇫🇷", ["🇨🇳", "🇫🇷"]),
        ("👍🏽!", ["👍🏽", "!"]),
        ("a\r\nb", ["a", "\r\n", "b"]),
        ("人工", ["人", "工"]),
        ("\0\u0301", ["\0", "\u0301"]),
    ],
)
def test_graphemes_split_at_user_perceived_characters(text, shown):
    assert list(graphemes(text)) == shown


def test_strips_per_character_splits_tokens_by_bytes():
    result = strips("a人", [("bytes", single_bytes), ("one", Bpe(np.array([[97, 228]])).cut)])
    assert result.per_character("bytes", chinese=True) == 3
    assert result.per_character("bytes", chinese=False) == 1
    assert result.per_character("one", chinese=True) == pytest.approx(0.5 + 2)  # "a" + E4, BA, BA
    assert result.per_character("one", chinese=False) == pytest.approx(0.5)
    assert np.isnan(strips("a", [("bytes", single_bytes)]).per_character("bytes", chinese=True))


def test_strips_rejects_empty_text():
    with pytest.raises(UserError) as refused:
        strips("", [("bytes", single_bytes)])
    assert refused.value.code == "no_text"


def test_dictionary_returns_most_likely_segmentation():
    dictionary = Dictionary(
        {"研究": 20, "研究生": 5, "生命": 20, "命": 4, "生": 4, "起源": 9, "的": 90}
    )
    assert list(dictionary.words("研究生命的起源")) == ["研究", "生命", "的", "起源"]
    assert list(dictionary.words("GPT-2, ok\r\n")) == ["GPT", "-", "2", ",", " ", "ok", "\r\n"]


def test_word_piece_reports_every_tried_prefix():
    prefix_lookups = WordPiece(VOCABULARY).prefix_lookups("unaffable")
    assert prefix_lookups.pieces == ("una", "##ffa", "##ble")
    assert prefix_lookups.rungs[0].tried == (
        "unaffable", "unaffabl", "unaffab", "unaffa", "unaff", "unaf", "una",
    )  # fmt: skip
    assert [rung.tried[0] for rung in prefix_lookups.rungs] == ["unaffable", "##ffable", "##ble"]
    assert prefix_lookups.lookups == 7 + 4 + 1
    assert [prefix_lookups.after(tries) for tries in (0, 6, 7, 11, 12)] == [
        (), (), ("una",), ("una", "##ffa"), prefix_lookups.pieces,
    ]  # fmt: skip


def test_word_piece_maps_unmatched_word_to_unk():
    piece = WordPiece(VOCABULARY)
    assert piece.prefix_lookups("unx").pieces == ("[UNK]",)
    assert piece.prefix_lookups("a" * 101).pieces == ("[UNK]",)
    assert piece.prefix_lookups("abbbb").pieces == ("a", "##b", "##b", "##b", "##b")


@pytest.mark.parametrize(
    ("text", "back", "lost"),
    [
        ("una a!", "una a!", ()),
        ("Una", "una", ("case",)),
        ("ün", "un", ("accents",)),
        ("a  a", "a a", ("spaces",)),
        ("a\0a", "[UNK]", ("signs", "unknown")),
        ("人a", "人 a", ("spaces",)),
        ("x", "[UNK]", ("unknown",)),
    ],
)
def test_word_piece_names_losses(text, back, lost):
    result = WordPiece(VOCABULARY).cut(text)
    assert result.back == back
    assert result.lost == lost


def test_word_piece_keeps_byte_offsets_of_input():
    result = WordPiece(VOCABULARY).cut("é 人 Unaffable")
    assert result.names == ("[UNK]", "人", "una", "##ffa", "##ble")
    assert result.starts.tolist() == [0, 3, 7, 10, 13]
    assert result.ends.tolist() == [2, 6, 10, 13, 16]
    assert result.share_unknown == pytest.approx(0.2)
