"""Numbers as they are typed: read as they are meant, or refused in one sentence, never guessed."""

from __future__ import annotations

import numpy as np
import pytest

from seqviz.compute import typed_numbers as typed
from seqviz.compute.attention.masks import pairs
from seqviz.compute.recurrent.wirings import step
from seqviz.compute.transformer import masking, normalization, spelling
from seqviz.core.errors import UserError

NUMBERS = {
    "0.3": 0.3, "−0.3": -0.3, "–.5": -0.5, "－０．３": -0.3, "０．３": 0.3, "+2": 2.0, "1e-1": 0.1,
    "２。５": 2.5, "\u00a07\u3000": 7.0, "\ufeff1.": 1.0, "１Ｅ２": 100.0,
}  # fmt: skip


@pytest.mark.parametrize(("text", "value"), NUMBERS.items())
def test_number_parses_unicode_spellings(text, value):
    assert typed.number(text) == value


@pytest.mark.parametrize(
    "text",
    ["", "-", ".", "1/3", "1_0", "nan", "inf", "0x1", "1 2", "0,5", "٣", "--1", "10²", "1e999"],
)
def test_number_rejects_malformed_text(text):
    with pytest.raises(ValueError, match="is not a number"):
        typed.number(text)


TENSOR = [[[2, 1, 3], [1, 2, 0.5]]]


@pytest.mark.parametrize(
    "text",
    ["2 1 3, 1 2 0.5", "2 1 3，1 2 0.5", "2 1 3; 1 2 0.5", "2 1 3；1 2 0.5", "2 1 3、1 2 0.5",
     "２ 1\u00a03,\u30001 2 ０．５", "2 1 3 ,1e0 2 .5".replace(",1", ", 1")],
)  # fmt: skip
def test_tensor_accepts_unicode_separators(text):
    np.testing.assert_array_equal(normalization.read(text), TENSOR)


def test_tensor_parses_two_sentences_with_unicode_minus():
    result = normalization.read("−2 1, ＋3 –1 ｜ 0 1；－1 ０")
    np.testing.assert_array_equal(result, [[[-2, 1], [3, -1]], [[0, 1], [-1, 0]]])


@pytest.mark.parametrize("text", ["2 1 3，1 2 0.5，0.3 1 2", "2 1 3; 1 2 ０.5; 0.3 1 2"])
def test_masked_scores_accept_unicode_separators(text):
    np.testing.assert_array_equal(masking.masked(text).scores, [*TENSOR[0], [0.3, 1, 2]])


@pytest.mark.parametrize(
    ("text", "found"),
    [("5．7", ((5, 7),)), ("5.7，5.8", ((5, 7), (5, 8))), ("5.7; 5.8", ((5, 7), (5, 8))),
     ("5。7、５．８", ((5, 7), (5, 8))), ("5.7,5.8", ((5, 7), (5, 8))),
     ("5.7；5.8 ＋ 0.1", ((0, 1), (5, 7), (5, 8)))],
)  # fmt: skip
def test_pairs_accepts_unicode_separators(text, found):
    assert pairs(text) == found


@pytest.mark.parametrize("text", ["−1；2, 3 4", "－１ 2 3 4", "–1, 2; 3、4", "-1，2，3，4"])
def test_inputs_accepts_unicode_separators(text):
    np.testing.assert_array_equal(step.inputs(text, 2, 3), [[-1, 2], [3, 4], [0, 0]])


READERS = {
    "tensor": normalization.read,
    "scores": masking.masked,
    "matrix": lambda text: step.matrix(text, "W_x"),
    "x": lambda text: step.inputs(text, 1, 6),
}


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize(
    ("text", "code", "details"),
    [
        ("0,5 1,5 0", "comma", {"part": "0,5", "point": "0.5", "apart": "0, 5"}),
        ("0,5; 0,25", "comma", {"part": "0,5", "point": "0.5", "apart": "0, 5"}),
        ("1; −３,2", "comma", {"part": "-3,2", "point": "-3.2", "apart": "-3, 2"}),
        ("1 ,5", "comma", {"part": ",5", "point": ".5", "apart": ", 5"}),
        ("1,2,3", "commas", {"part": "1,2,3", "apart": "1, 2, 3"}),
        ("1,234.5", "commas", {"part": "1,234.5", "apart": "1, 234.5"}),
    ],
)
def test_readers_reject_ambiguous_decimal_comma(reader, text, code, details):
    with pytest.raises(UserError, match=r"\.$") as refused:
        READERS[reader](text)
    assert (refused.value.code, refused.value.details) == (code, details)


@pytest.mark.parametrize("text", ["３４２", "\u00a0342\u3000", "３４2"])
def test_spelling_reads_full_width_digits(text):
    assert spelling.read(text) == 342
