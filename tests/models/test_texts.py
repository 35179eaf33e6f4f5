"""A student's text as tokens: the ids of the texts, any Unicode, cut where it is too long."""

from __future__ import annotations

import copy
import time
import unicodedata
from dataclasses import replace

import numpy as np
import pytest

from seqviz.core.errors import UserError
from seqviz.models import texts
from seqviz.models.texts import MAX_TEXT_TOKENS, tokens

SENTENCE = "AI and ML course is interesting and easy!"
PIECES = "[CLS] ai and ml course is interesting and easy ! [SEP]"
HARD = {
    "control characters": "a\x00b\x07c\x1b[31m\x7f\x85d",
    "lone surrogates": "a\ud800b\udfff",
    "emoji": "😀 👩‍👩‍👧 🇩🇪",
    "right to left": "שלום עולם \u202eabc",
    "combining": "e\u0301" * 20 + "Z̷̢̛̗̙a̷",
    "Chinese": "你好，世界。",
    "markup": "</script><b>&amp;\"'%{x} $x$ [CLS] <|endoftext|>",
    "white": " \n\t\r\n \u00a0\u2003 x",
    "private and unassigned": "\ue000\U0010ffff\ufffe",
}


@pytest.fixture(params=["minilm", "smollm2"])
def model(request):
    return request.getfixturevalue(request.param)


def whole(result):
    """What holds for every reading of every text."""
    count = len(result.ids)
    assert 0 < count <= MAX_TEXT_TOKENS
    for part in (result.pieces, result.segments, result.special, result.real):
        assert len(part) == count
    assert result.special.dtype == result.real.dtype == bool
    assert np.issubdtype(result.ids.dtype, np.integer)
    for piece in result.pieces:
        assert piece
        assert not any(unicodedata.category(letter) in ("Cc", "Cs") for letter in piece), piece
    assert result.left_out >= 0


def test_tokens_match_ids_of_example_sentence(minilm):
    result = tokens(minilm, SENTENCE)
    assert result.ids.tolist() == [101, 9932, 1998, 19875, 2607, 2003, 5875, 1998, 3733, 999, 102]
    assert result.pieces == tuple(PIECES.split())
    assert np.flatnonzero(result.special).tolist() == [0, 10]
    assert result.real.all()
    assert not result.segments.any()
    assert (result.second, result.left_out) == (0, 0)


def test_tokens_of_decoder_have_no_special_ones_and_mark_spaces(smollm2):
    result = tokens(smollm2, "The capital of France is")
    assert result.pieces == ("The", "␣capital", "␣of", "␣France", "␣is")
    assert not result.special.any()
    assert result.ids.tolist() == smollm2.tokenizer("The capital of France is")["input_ids"]


@pytest.mark.parametrize("name", HARD)
def test_tokens_accept_any_unicode(model, name):
    text = HARD[name]
    result = tokens(model, text)
    whole(result)
    clean = text.encode("utf-8", "replace").decode()
    assert result.ids.tolist() == model.tokenizer(clean)["input_ids"]


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("é", ("é",)),
        ("a é", ("a", "␣é")),
        ("😀", ("‹F0 9F›", "‹98›", "‹80›")),  # no single token is a whole character
        ("a שׁ"[:3], ("a", "␣‹D7›", "‹A9›")),  # a space and a part of a character in one token
        ("a\nb\tc", ("a", "⏎", "b", "⇥", "c")),
        ("a\x00\x85", ("a", "‹00›", "‹C2›", "‹85›")),
        ("  a", ("␣", "␣a")),
        ("<|endoftext|>", ("<|endoftext|>",)),
    ],
)
def test_tokens_render_partial_characters_as_bytes(smollm2, text, pieces):
    result = tokens(smollm2, text)
    whole(result)
    assert result.pieces == pieces


def test_tokens_byte_pieces_restore_text(smollm2):
    """Second implementation: put together again, the pieces are the text."""
    text = "".join(HARD[name] for name in ("emoji", "Chinese", "right to left")) + " ñ €"
    raw = b""
    for piece in tokens(smollm2, text).pieces:
        while piece:
            if piece.startswith("‹"):
                part, _, piece = piece[1:].partition("›")
                raw += bytes.fromhex(part)
            else:
                raw += piece[0].replace("␣", " ").encode()
                piece = piece[1:]
    assert raw.decode() == text


def test_byte_of_covers_all_256_bytes(smollm2):
    table = texts._byte_of()
    assert sorted(table.values()) == list(range(256))
    for name, token in smollm2.tokenizer.get_vocab().items():
        assert texts.piece(smollm2, token), name  # none is empty and none raises


def test_piece_matches_tokens(model):
    result = tokens(model, SENTENCE)
    for token, piece in zip(result.ids, result.pieces, strict=True):
        assert texts.piece(model, int(token)) == piece


@pytest.mark.parametrize("text", ["", " ", "\n\t", "\x00"])
def test_tokens_reject_empty_text_for_decoder_only(minilm, smollm2, text):
    result = tokens(minilm, text)
    assert result.pieces == ("[CLS]", "[SEP]")
    assert result.special.all()
    if text:
        return
    with pytest.raises(UserError) as caught:
        tokens(smollm2, text)
    assert caught.value.code == "empty_text"


# --- pairs and padding ----------------------------------------------------------------------------


def test_tokens_join_pair_with_segments(minilm):
    result = tokens(minilm, "A cat sat.", "It slept!")
    assert " ".join(result.pieces) == "[CLS] a cat sat . [SEP] it slept ! [SEP]"
    assert result.second == 6
    assert result.segments.tolist() == [0] * 6 + [1] * 4
    assert np.flatnonzero(result.special).tolist() == [0, 5, 9]


def test_tokens_ignore_second_text_for_decoder(smollm2):
    item, two = tokens(smollm2, "A cat"), tokens(smollm2, "A cat", "It slept", 2)
    assert two.pieces[:2] == item.pieces
    assert (two.second, two.segments.any()) == (0, False)
    assert len(two.ids) == 4


def test_tokens_append_padding(model):
    plain, result = tokens(model, SENTENCE), tokens(model, SENTENCE, pads=3)
    count = len(plain.ids)
    assert result.ids[:count].tolist() == plain.ids.tolist()
    assert result.real.tolist() == [True] * count + [False] * 3
    assert result.special[count:].all()
    assert set(result.ids[count:]) == {model.tokenizer.pad_token_id}
    if model.card.kind == "encoder":
        assert result.pieces[count:] == ("[PAD]",) * 3
        assert result.ids[-1] == 0
        pair = tokens(model, "a", "b", pads=2)
        assert pair.segments.tolist() == [0, 0, 0, 1, 1, 0, 0]


def test_tokens_pad_with_end_token_without_padding_token(smollm2):
    other = replace(smollm2, tokenizer=copy.deepcopy(smollm2.tokenizer))
    other.tokenizer.pad_token = None
    other.tokenizer.eos_token = "<|endoftext|>"
    assert tokens(other, "A cat", pads=1).pieces[-1] == "<|endoftext|>"


# --- long texts -----------------------------------------------------------------------------------


@pytest.mark.parametrize("count", [508, 509, 510, 511, 512, 513, 700])
def test_tokens_truncate_at_512_and_count_left_out(model, count):
    result = tokens(model, " ".join(["cat"] * count))
    added = 2 if model.card.kind == "encoder" else 0
    assert len(result.ids) == min(count + added, MAX_TEXT_TOKENS)
    assert result.left_out == max(0, count + added - MAX_TEXT_TOKENS)
    if added:
        assert (result.pieces[0], result.pieces[-1]) == ("[CLS]", "[SEP]")
        assert set(result.pieces[1:-1]) == {"cat"}


def test_tokens_truncate_longer_text_of_pair(minilm):
    result = tokens(minilm, "cat " * 700, "dog " * 20)
    assert len(result.ids) == MAX_TEXT_TOKENS
    assert result.left_out == 723 - MAX_TEXT_TOKENS
    assert result.pieces.count("dog") == 20
    assert result.pieces[result.second] == "dog"
    both = tokens(minilm, "cat " * 600, "dog " * 600)
    assert abs(both.pieces.count("cat") - both.pieces.count("dog")) <= 1
    assert both.left_out == 1203 - MAX_TEXT_TOKENS


def test_tokens_omit_padding_for_long_text(model):
    result = tokens(model, "cat " * 600, pads=5)
    assert len(result.ids) == MAX_TEXT_TOKENS
    assert result.real.all()
    assert tokens(model, "cat", pads=10_000).ids.shape == (MAX_TEXT_TOKENS,)


def test_tokens_leave_tokenizer_settings_unchanged(model):
    """A fast tokenizer keeps the settings of its last call."""
    before = tokens(model, SENTENCE)
    tokens(model, "cat " * 600)
    longer = model.tokenizer("cat " * 600, verbose=False)["input_ids"]
    assert len(longer) >= 600
    assert tokens(model, SENTENCE).pieces == before.pieces


@pytest.mark.parametrize("unit", ["word ", "你好世界", "😀", "a", " ", "\ud800", "<b>&"])
def test_tokens_truncate_one_megabyte_within_one_second(model, unit):
    text = unit * (1_000_000 // len(unit))
    start = time.process_time()
    result = tokens(model, text)
    assert time.process_time() - start < 1  # measured: 0.01 to 0.05 s
    whole(result)
    assert result.left_out > 0  # also where what is seen of it are a few tokens


def test_tokens_report_unread_end_of_text(minilm):
    """20,000 characters may be one token ([UNK]) or none (spaces)."""
    assert tokens(minilm, " " * 19_995 + "cat").left_out == 0
    assert tokens(minilm, " " * 30_000 + "cat").left_out == 1
    assert tokens(minilm, "cat", "a" * 30_000 + " cat").left_out == 1


def test_tokens_respect_model_position_limit(minilm, monkeypatch):
    monkeypatch.setattr(minilm.network.config, "max_position_embeddings", 64)
    result = tokens(minilm, "cat " * 100, pads=3)
    assert len(result.ids) == 64
    assert result.left_out == 38


@pytest.mark.parametrize(
    ("text", "unknown", "own"),
    [
        ("The animal did not cross the street because it was too tired.", 0, 13),
        ("玛丽给了约翰一朵花", 7, 9),
        ("", 0, 0),
    ],
)
def test_tokens_count_unknown_tokens(minilm, smollm2, text, unknown, own):
    read = texts.tokens(minilm, text, pads=2)
    assert (read.unknown, read.n_text_tokens) == (unknown, own)
    assert read.pieces.count("[UNK]") == unknown
    pair = texts.tokens(minilm, text, "约翰走")
    assert texts.unknown_tokens("minilm", text, "约翰走") == (pair.pieces.count("[UNK]"), own + 3)
    if text:  # bytes spell everything
        assert texts.unknown_tokens("smollm2", text)[0] == 0
