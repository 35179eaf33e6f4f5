"""Rows and discrepancies of the texts that belong to the first three benches, live on them.

As in test_transformer_rows: a bench at some values, what it says, and values at which it does not.
"""

from __future__ import annotations

import pytest

from seqviz.experiments.tokenization import learned as own
from seqviz.lessons.bench.output import Note, Readout, Rows
from seqviz.lessons.text import lesson
from seqviz.lessons.text_cut import SAMPLE, TEXT
from seqviz.refusal import Refusal
from seqviz.text import LANGUAGES

ENGLISH = "AI and ML course is interesting and easy!"
S0 = "101, 9932, 1998, 19875, 2607, 2003, 5875, 1998, 3733, 999, 102"
ROWS = {
    "0-08": ("cutters", {"view": "special"}, ("[UNK]", "[CLS]", "[SEP]", "[MASK]"), {}),
    "0-09": ("cutters", {"text": ENGLISH, "strip": "wordpiece"}, (S0,), {"strip": "wordpiece"}),
    "0-10": ("ladder", {"word": "unaffable"}, ("una \\#\\#ffa \\#\\#ble",), {"word": "playing"}),
    "4-33": ("cutters", {"text": "Let us encode this sentence"}, ("5756, 514, 37773, 428, 6827",),
             {"text": "Hello,"}),
    "hello": ("cutters", {"text": "Hello,"}, ("[15496, 11]",), {}),
    "minbpe": ("merges", {"corpus": "minbpe"}, ("[258, 100, 258, 97, 99]",),
               {"corpus": "minbpe", "merges": 2}),
    "Chinese": ("cutters", {}, ("2.06", "8.66"), {"strip": "bytes"}),
    "D-60": ("ladder", {}, ("2652", "5875"), None),
    "D-61": ("cutters", {"text": "This course is interesting", "strip": "characters"}, ("26",),
             {"text": "Thiscourseisinteresting", "strip": "characters"}),
    "D-61, letters": ("cutters", {"text": "Thiscourseisinteresting", "strip": "characters"},
                      ("23",), {"text": "This course is interesting", "strip": "characters"}),
    "D-65": ("cutters", {"view": "special"}, ("<|endoftext|>", "<|im_start|>", "\\[BOS\\]"), {}),
}  # fmt: skip


def said(bench: str, values: dict, language: str) -> str:
    shown = lesson.benches[bench].run(values, language)
    rows = [str(one) for table in shown.of(Rows) for column in table.columns.values()
            for one in column]  # fmt: skip
    notes = [note.sentence for note in shown.of(Note)]
    return "\n".join([*notes, *(one.value for one in shown.of(Readout)), *rows])


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("row", ROWS)
def test_the_row_is_live(row, language, minilm, smollm2):
    bench, values, wanted, other = ROWS[row]
    found = said(bench, values, language)
    assert all(one in found for one in wanted), found
    if other is not None:
        assert not all(one in said(bench, other, language) for one in wanted)


@pytest.mark.parametrize(
    "text", ["\0", "\ud83d", "שלום", "👨‍👩‍👧", "x" * 500, " ", "\u0301", "<b>&"]
)
@pytest.mark.parametrize("name", ["cutters", "merges", "ladder"])
def test_any_text_gives_a_figure_or_a_sentence(name, text, minilm, smollm2):
    control = {"cutters": "text", "merges": "sample", "ladder": "word"}[name]
    codes = {"no_text"}  # what there is no word in
    for strip in ("wordpiece", "smollm2") if name == "cutters" else ("",):
        values = {control: text, **({"strip": strip} if strip else {})}
        try:
            shown = lesson.benches[name].run(values)
        except Refusal as refusal:
            codes.add(refusal.code)
            continue
        shown.figure.to_json()
        assert "\ud83d" not in "".join(shown.notes)
    assert codes == {"no_text"}


def test_the_strip_of_the_student_follows_the_merges_below(minilm, smollm2):
    few, many = (
        lesson.benches["cutters"].run({"strip": "own", "merges.merges": count})
        for count in (0, 1000)
    )
    assert few.readouts["tokens"].value == str(len(TEXT.encode()))
    assert int(many.readouts["tokens"].value) < 70


def test_a_model_that_is_not_here_leaves_its_strip_out(monkeypatch):
    monkeypatch.setattr("seqviz.experiments.tokenization.vocabularies.here", lambda model: False)
    shown = lesson.benches["cutters"].run({"strip": "wordpiece"})
    assert [one for one in shown.figure.traces if one.get("name") == "WordPiece"] == []
    assert sum("not on this machine" in note for note in shown.notes) == 2


def test_few_reviews_are_learned_by_heart(minilm):
    """The fewer reviews, the larger the gap between them and those that were held out."""
    gaps = []
    for amount in (20, 200, own.ALL):
        found = own.learned("reviews", amount)
        per_token = own.compression_at(found, "reviews", amount, min(180, len(found.pairs)))
        trained, held, editorials = per_token.per_token[:, 0]
        assert trained > held > editorials
        gaps.append(trained - held)
    assert gaps == sorted(gaps, reverse=True)


def test_the_curve_and_the_sentence_are_of_one_computation():
    found = own.learned("reviews", 20)
    curve = own.compression(found, "reviews", 20)
    for place in (0, 7, 40):
        at = own.compression_at(found, "reviews", 20, int(curve.merges[place]))
        assert (at.tokens[:, 0] == curve.tokens[:, place]).all()
    whole = own.compression_of(found, SAMPLE)
    assert (
        whole.tokens[0, -1]
        == own.before_and_after(found, len(found.pairs), SAMPLE).of("own").tokens
    )
    assert whole.tokens[0, 0] == len(SAMPLE)
