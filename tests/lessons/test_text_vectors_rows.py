"""The rows of the texts on vectors of words (0-11, 0-13, 0-14, D-17) are live on their benches.

As in test_gpt_rows: a bench at some values, what it says, and values at which it does not.
"""

from __future__ import annotations

import pytest

from seqviz.lessons.bench.output import Chart, Note, Readout
from seqviz.lessons.bench.words import Words
from seqviz.lessons.text import lesson
from seqviz.refusal import Refusal
from seqviz.text import LANGUAGES, Text

ROWS = {
    "0-11": ("map", {}, ("0.644", "0.748", "queen"), {"across": "boy man"}),
    "0-11 cosine": ("map", {"view": "near", "centered": False}, ("0.824", "prince"),
                    {"view": "near"}),
    "0-11 analogy": ("map", {"view": "analogy"}, ("queen", "0.810", "0.843"),
                     {"view": "analogy", "question": "uncle - man + woman"}),
    "0-13 skip-gram": ("neighbors", {"view": "pairs"}, ("14",), {"view": "pairs", "reach": 1}),
    "0-13 CBOW": ("neighbors", {"view": "pairs", "mode": "cbow", "pair": 3},
                  ("the, dog, the, man", "bites"), {"view": "pairs"}),
    "0-13 vectors": ("neighbors", {}, ("thriller", "sequences", "effects"), {"looked_up": "music"}),
    "0-14": ("reading", {}, ("1.000", "0.966", "0.757"),
             {"second_text": "The bank of the stream is steep."}),
    "0-14 many": ("reading", {"view": "many"}, ("0.848", "0.716", "98 %", "91 %"),
                  {"view": "many", "layer": 2}),
    "D-17": ("neighbors", {"view": "pairs", "line": "狗咬人"}, ("人 咬 狗", "6"),
             {"view": "pairs"}),
}  # fmt: skip


def said(bench: str, values: dict, language: str) -> str:
    """All that is written at these settings, in the figure's description too."""
    shown = lesson.benches[bench].run(values, language, code=False)
    parts = [one.sentence for one in shown.of(Note)]
    parts += [f"{one.label}: {one.value} {one.beside}" for one in shown.of(Readout)]
    return "\n".join([*parts, *(one.drawn.alt for one in shown.of(Chart))])


@pytest.mark.parametrize("row", ROWS)
def test_a_row_is_live(row, minilm):
    bench, values, words, other = ROWS[row]
    for language in LANGUAGES:
        here, there = said(bench, values, language), said(bench, other, language)
        assert all(word in here for word in words), (language, here)
        assert not all(word in there for word in words), (language, there)


def test_the_goals_of_the_three_benches_stand_in_their_sentences(minilm):
    """The claims of the issue, each at the defaults of a view."""
    classes = said("map", {"view": "classes"}, "en")
    assert "51.7 %" in classes
    assert "32.3 %" in classes
    assert "1.5 %" in said("map", {"view": "classes", "source": "minilm"}, "en")
    measured = said("neighbors", {"view": "list"}, "en")
    assert "16 words find it only with the narrow window, 2 only with the wide one" in measured


@pytest.mark.parametrize("text", ["", "\x00", "\ud800 king", "<b>king</b> $x$", "שלום עולם", "🏳️‍🌈"])
def test_hostile_texts_give_a_figure_or_one_sentence(text, minilm):
    for bench, name, values in (
        ("map", "listed", {}), ("map", "asked", {"view": "near"}), ("map", "across", {}),
        ("map", "question", {"view": "analogy"}), ("reading", "shared", {}),
        ("reading", "first_text", {}), ("neighbors", "looked_up", {}),
        ("neighbors", "line", {"view": "pairs"}),
    ):  # fmt: skip
        try:
            shown = lesson.benches[bench].run({**values, name: text}, code=False)
        except Refusal as refusal:
            for language in LANGUAGES:  # in the reader's words
                Words("text", Text(language))(f"problem.{refusal.code}", **refusal.details)
            continue
        assert shown.figure is not None
        assert "<b>" not in "".join(shown.notes)
