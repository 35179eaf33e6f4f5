"""What a student types, as the benches read it: numbers, special tokens, words of any script."""

from __future__ import annotations

from importlib import import_module

import pytest

from seqviz.core.errors import UserError
from seqviz.core.i18n import LANGUAGES, Text
from seqviz.lessons.framework.error_messages import to_message
from seqviz.lessons.framework.words import LessonWords

HEARD = {"en": 0, "zh": 1}


def shown(slug: str, bench: str, language: str, **values):
    return import_module(f"seqviz.lessons.{slug}").lesson.benches[bench].run(values, language)


def said(slug: str, bench: str, language: str, **values) -> str:
    return " ".join(shown(slug, bench, language, **values).notes)


def refused(slug: str, bench: str, language: str, **values) -> str:
    with pytest.raises(UserError) as caught:
        shown(slug, bench, language, **values)
    return to_message(caught.value, LessonWords(slug, Text(language)))


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize(
    ("slug", "bench", "values"),
    [
        ("recurrent", "step", {"x": "0,5 1,5 0"}),
        ("recurrent", "step", {"inputs": "0,5; 0,25"}),
        ("recurrent", "step", {"outputs": "2 0; 0 0,5"}),
        ("transformer", "norms", {"tensor": "0,5 1 2, 1 2 3"}),
        ("transformer", "masks", {"scores": "2 1, 1 0,5"}),
    ],
)
def test_number_input_rejects_ambiguous_decimal_comma(slug, bench, values, language):
    payload = refused(slug, bench, language, **values)
    assert "0,5" in payload
    expected = ("Write 0.5 or 0, 5.", "请写 0.5 或 0, 5。")[HEARD[language]]
    assert payload.replace("\\", "").endswith(expected)


@pytest.mark.parametrize(
    ("slug", "bench", "name", "typed", "plain"),
    [
        ("transformer", "norms", "tensor", "−2 1 3，1 2 ０．5", "-2 1 3, 1 2 0.5"),
        ("transformer", "norms", "tensor", "2 1 3; 1 2 0.5", "2 1 3, 1 2 0.5"),
        ("transformer", "masks", "scores", "2 1 3，1 2 0.5；0.3 1 2", "2 1 3, 1 2 0.5, 0.3 1 2"),
        ("recurrent", "step", "x", "－2，0 、1；0", "-2 0 1 0"),
        ("recurrent", "step", "recurrent", "0.8 −０。6；0.6 0.8", "0.8 -0.6; 0.6 0.8"),
    ],
)
def test_number_input_accepts_chinese_punctuation(slug, bench, name, typed, plain):
    item, other = (shown(slug, bench, "en", **{name: text}) for text in (typed, plain))
    assert item.notes == other.notes
    assert str(item.figure.data) == str(other.figure.data)


@pytest.mark.parametrize("language", LANGUAGES)
def test_cutters_keep_typed_special_tokens_intact(language, minilm, smollm2):
    given = {
        ("wordpiece", "Paris is the [MASK] of France."): "101, 3000, 2003, 1996, 103, 1997, 2605",
        ("wordpiece", "first [SEP] second"): "[101, 2034, 102, 2117, 102]",
        ("smollm2", "The end.<|endoftext|>Once upon"): "[504, 1112, 30, 0, ",
        ("smollm2", "<|im_start|><file_sep>"): "[1, 5]",
        ("gpt2", "The end.<|endoftext|>"): "50256]",
    }  # fmt: skip
    full = ("special tokens whole", "特殊词元整个取出")[HEARD[language]]
    for (strip, text), ids in given.items():
        payload = said("text", "cutters", language, strip=strip, text=text)
        assert ids in payload
        assert full in payload
    payload = said("text", "cutters", language, strip="gpt2", text="a [MASK] b")
    assert full not in payload
    assert ("special token of another tokenizer", "别的分词器的特殊词元")[
        HEARD[language]
    ] in payload
    payload = refused("text", "ladder", language, word="[MASK] x")
    assert "103" in payload
    assert "MASK" in payload
    assert shown("text", "ladder", language, word="un[MASK]").notes


@pytest.mark.parametrize("language", LANGUAGES)
def test_neighbors_keep_combining_marks_in_words(language):
    line = "मुझे हिन्दी पसंद है"
    result = shown("text", "neighbors", language, view="pairs", line=line, reach=1)
    assert "हिन्दी" in str(result.figure.data) + " ".join(result.notes)


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("text", ["The film was <mask>.", "The film was good."])
def test_lens_and_remove_reject_text_without_mask_alike(language, text, minilm):
    item, other = (
        refused("transformer", bench, language, model="minilm", filled=text)
        for bench in ("lens", "remove")
    )
    assert item == other
    assert "MASK" in item
