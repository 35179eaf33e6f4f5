"""A sentence that quotes a 95% interval says what the interval covers, in both languages."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import seqviz
from seqviz.content import catalog
from seqviz.core.i18n import LANGUAGES, catalogue

QUOTED = re.compile(r"\{(\w+[._])?(low|high|ends|margin)\b")
# What each source is called in a sentence; "{...}" also where it is counted.
NAMES = {
    "texts": ("texts|beginnings|reviews|sequences|pairs", "文本|开头|影评|序列|对句子"),
    "nouns": ("over nouns", "对名词"),
    "questions": ("reviews", "影评|评论"),
    "questions and draws": ("reviews.*samples", "影评.*示例"),
    "reviews": ("reviews", "评论"),
    "sentences": ("sentences", "句"),
    "seeds": ("seeds", "种子"),
    "permutations": ("permutations", "打乱"),
    "words": ("words", "词"),
    "stretches": ("stretches", "段"),
    "sequences": ("sequences", "序列"),
}
# The source of the interval that a sentence quotes, by the beginning of its key.
SOURCES = {
    "attention.note.trials.": "texts", "gates.note.effect.": "nouns", "gpt.note.likely.": "texts",
    "gpt.note.shots.": "questions and draws", "language_models.note.counts.": "sentences",
    "language_models.note.ladder.": "sentences", "language_models.note.sides.": "sentences",
    "language_models.note.window.": "sentences",
    "language_models.note.writing.": "texts", "recurrent.note.tagging.": "sentences",
    "recurrent.note.tagger.gap_": "sentences", "recurrent.note.writing.": "sentences",
    "recurrent.note.readout.": "reviews", "text.note.ids.many": "permutations",
    "text.note.reading.many": "words", "text.note.windows.": "stretches",
    "transformer.note.lens.many": "texts", "transformer.note.removed_many.": "texts",
    "transformer.note.induction.": "sequences",
}  # fmt: skip
RANGES = {  # from the least to the largest of something: no interval of a sample
    "attention.note.stage.softmax", "bert_accuracy.note.seeds_between",
    "bert_accuracy.note.one_seed", "bert_accuracy.note.no_seed", "bert_accuracy.note.random_seeds",
    "bert_accuracy.note.random_seeds_within", "gates.note.lies", "gates.note.stays",
    "gates.note.moves.up", "gates.note.moves.down", "gpt.note.scores", "gpt.note.scores_kept",
    "gpt.note.scores_none",
    "language_models.note.window.seeds", "recurrent.note.step.order", "recurrent.note.step.other",
    "text.note.reading.one",
    "transformer.note.dropped.rows", "vanishing_gradients.note.cliff",
}  # fmt: skip
PARTS = {"recurrent.note.readout.gain": "recurrent.note.readout.gain_more"}  # stands in another


def quoting(language: str) -> Iterator[tuple[str, str]]:
    """Return the key and the words of every note that quotes two ends."""
    for record in catalog.LESSONS:
        words = catalogue(language)
        for key, sentence in words.items():
            if key.startswith(f"{record.slug}.note.") and QUOTED.search(sentence):
                yield key, sentence


def source_of(key: str) -> str:
    return next((source for begin, source in SOURCES.items() if key.startswith(begin)), "")


@pytest.mark.parametrize("language", LANGUAGES)
def test_interval_note_names_its_source(language):
    every = dict(catalogue(language))
    result = dict(quoting(language))
    assert result
    assert result.keys() >= RANGES
    for key, sentence in result.items():
        if key in RANGES:
            continue
        assert source_of(key), f"{key}: a range, or an interval of what?"
        name = NAMES[source_of(key)][LANGUAGES.index(language)]
        assert re.search(name, every[PARTS[key]] if key in PARTS else sentence), key


def test_interval_sources_match_estimates():
    """Each name of the table is what some result says, and every result's source has words."""
    tree = [ast.parse(path.read_text("utf-8"))
            for path in Path(seqviz.__file__).parent.joinpath("compute").rglob("*.py")]  # fmt: skip
    said = {
        str(node.value.value)
        for module in tree
        for node in ast.walk(module)
        if isinstance(node, ast.keyword) and node.arg == "source"
        and isinstance(node.value, ast.Constant)
    }  # fmt: skip
    assert said == NAMES.keys()
    assert set(SOURCES.values()) <= said
