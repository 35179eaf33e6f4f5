"""Word-by-word Chinese below the English sentences that text fields open with."""

from __future__ import annotations

import importlib
import re

import pytest

from seqviz.content import catalog
from seqviz.content.glosses import gloss, glosses
from seqviz.lessons.framework import controls

WORDS = re.compile(r"[A-Za-z]+")
FEWEST = 3  # words of a sentence; shorter fields hold a word, a number or a matrix


def defaults() -> set[str]:
    """The sentences of at least three English words that fields open with."""
    benches = [
        bench
        for record in catalog.LESSONS
        for bench in importlib.import_module(
            f"seqviz.lessons.{record.slug}.lesson"
        ).lesson.benches.values()
    ]
    return {
        control.default
        for bench in benches
        for _, control in controls.controls(bench.declaration)
        if isinstance(control, controls.TextInput)
        and len(WORDS.findall(control.default.replace("[MASK]", ""))) >= FEWEST
    }


def test_every_english_sentence_of_a_field_has_a_gloss():
    assert {*glosses()} <= defaults()
    assert {text for text in defaults() - {*glosses()} if "+" not in text} == set()


@pytest.mark.parametrize("sentence", glosses())
def test_gloss_has_the_words_of_its_sentence_in_order_each_with_chinese(sentence):
    chinese = gloss(sentence, "zh")
    assert WORDS.findall(chinese) == WORDS.findall(sentence.replace("[MASK]", ""))
    for part in chinese.split(" · "):
        assert re.fullmatch(r"[A-Za-z ]+ [\u4e00-\u9fff…（）]+", part), part
    assert gloss(sentence, "en") == ""


def test_gloss_of_other_text_is_empty():
    assert gloss("quite my own words", "zh") == ""
