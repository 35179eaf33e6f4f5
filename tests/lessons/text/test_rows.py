"""Every row and discrepancy of the texts that belongs to this lesson is live on one of its benches.

As in test_transformer_rows: a bench at some values, what it says, and values at which it does not.
A row with several parts has several lines here.
"""

from __future__ import annotations

from functools import partial

import pytest

from seqviz.core.errors import UserError
from seqviz.core.i18n import LANGUAGES, Text
from seqviz.core.units import unbroken
from seqviz.experiments.text.tokenization import learned as own
from seqviz.lessons.framework.words import LessonWords
from seqviz.lessons.text.lesson import lesson
from seqviz.lessons.text.tokenization import SAMPLE, TEXT
from tests.lessons import textbook_rows

ENGLISH = "AI and ML course is interesting and easy!"
S0 = "101, 9932, 1998, 19875, 2607, 2003, 5875, 1998, 3733, 999, 102"
COURSE, JOINED = "This course is interesting", "Thiscourseisinteresting"
SPECIAL, WINDOW, COUNTS, HOT = (
    {"view": item} for item in ("special", "window", "counts", "onehot")
)
PAIRS, ANALOGY, NEAR, MANY = ({"view": item} for item in ("pairs", "analogy", "near", "many"))
COMPRESSION = {"view": "compression"}
SEQUENTIAL, RANDOM = {"cutting": "sequential"}, {"cutting": "random"}
REVIEW = "A wonderful film, warm and funny."
NO_LETTERS = {**COUNTS, "line": "人工智能"}
ROWS = {
    "0-06 label": ("ids", {"opinion": REVIEW},
                   (("“Positive” goes from 100.0%", "“正面”的概率原为 100.0%"),), {}),
    "0-06 tokens": ("cutters", {"text": REVIEW}, (("8 tokens", "8 个词元"),), {}),
    "0-07": ("ids", WINDOW, ("from, her, ##s, she, you, had, an, were, but, be, this",),
             {**WINDOW, "first": 3000}),
    "0-08": ("cutters", SPECIAL, ("[UNK]", "[CLS]", "[SEP]", "[MASK]"), {}),
    "0-08 id": ("ids", {**WINDOW, "find": "103"}, ("[MASK]", ("with id 103", "编号 103")), WINDOW),
    "0-09": ("cutters", {"text": ENGLISH, "strip": "wordpiece"}, (S0,), {"strip": "wordpiece"}),
    "0-09 Chinese": ("cutters", {"strip": "words"},
                     (("26 tokens for 58", "58 个字符切成 26 个词元"),), {"strip": "characters"}),
    "0-10": ("ladder", {}, ("una ##ffa ##ble",), {"word": "playing"}),
    "0-11 map": ("map", {}, ("0.644", "0.748", "queen"), {"across": "boy man"}),
    "0-11 cosine": ("map", {**NEAR, "centered": False}, ("0.824", "prince"), NEAR),
    "0-11 analogy": ("map", ANALOGY, ("queen", "0.810", "0.843"),
                     {**ANALOGY, "question": "uncle - man + woman"}),
    "0-12": ("windows", HOT, (("the cosine is 0.", "余弦相似度是 0。"),), {**HOT, "phrase": "aa"}),
    "0-13 skip-gram": ("neighbors", PAIRS, ("14",), {**PAIRS, "reach": 1}),
    "0-13 CBOW": ("neighbors", {**PAIRS, "mode": "cbow"}, ("the, dog, the, man", "bites"), PAIRS),
    "0-13 vectors": ("neighbors", {}, ("thriller", "sequences", "effects"), {"looked_up": "music"}),
    "0-14": ("reading", {}, ("0.966", "0.757", "1.000"),
             {"second_text": "The bank of the stream is steep."}),
    "0-14 many": ("reading", MANY, ("98%", "0.848", "0.716", "91%"), {**MANY, "layer": 2}),
    "3-04": ("windows", {**HOT, "step": 3}, ("x⟨3⟩", unbroken("Tₓ = 26")), HOT),
    "3-05": ("windows", NO_LETTERS, (("Nothing is left", "一个也没有留下"),),
             {**NO_LETTERS, "clean": False}),
    "3-06": ("windows", {**COUNTS, "counted_by": "character"}, ("“␣”",), COUNTS),
    "3-07": ("windows", COUNTS, ("6,258", "11.9%"), {**COUNTS, "min_freq": 2}),
    "3-08": ("windows", HOT, ("56", ("components", "个分量")), {**HOT, "width": 5}),
    "3-09": ("windows", RANDOM, (("0 of the 4", "有 0 个正好"),), SEQUENTIAL),
    "3-10": ("windows", SEQUENTIAL, (("4 of the 4", "有 4 个正好"),), RANDOM),
    "4-33": ("cutters", {"text": "Let us encode this sentence"}, ("5756, 514, 37773, 428, 6827",),
             {"text": "Hello,"}),
    "D-17": ("neighbors", {**PAIRS, "line": "狗咬人"}, ("人 咬 狗", "6"), PAIRS),
    "D-60": ("ladder", {"word": "playing"}, ("[2652]",), {"word": "embeddings"}),
    "D-60 interesting": ("ladder", {"word": "interesting"}, ("[5875]",), {}),
    "D-61": ("windows", HOT, (("23 letters, 26 signs", "23 个字母；连空格和标点共 26 个字符"),),
             {**HOT, "phrase": "This course"}),
    "D-61 strip": ("cutters", {"text": COURSE, "strip": "characters"},
                   (("26 tokens for 26", "26 个字符切成 26 个词元"),),
                   {"text": JOINED, "strip": "characters"}),
    "D-65": ("cutters", SPECIAL, ("<|endoftext|>", "<|im_start|>", "[BOS]"), {}),
    "D-90": ("merges", COMPRESSION, (("editorials", "社论"),), {"corpus": "toy", **COMPRESSION}),
    "D-90 counts": ("windows", COUNTS, ("11.9%",), HOT),
    "D-92": ("ids", WINDOW, (("Ids 2013 to 2023", "编号 2013 到 2023"),), {**WINDOW, "first": 9}),
    "hello": ("cutters", {"text": "Hello,"}, ("[15496, 11]",), {}),
    "minbpe": ("merges", {"corpus": "minbpe"}, ("[258, 100, 258, 97, 99]",),
               {"corpus": "minbpe", "merges": 2}),
    "Chinese": ("cutters", {}, ("8.66", "2.06"), {"strip": "bytes"}),
}  # fmt: skip
ASKED = """
0-06 0-07 0-08 0-09 0-10 0-11 0-12 0-13 0-14 3-04 3-05 3-06 3-07 3-08 3-09 3-10
D-17 D-60 D-61 D-65 D-90 D-92
"""
message = partial(textbook_rows.said, lesson)


def test_rows_all_present():
    assert set(ASKED.split()) <= {name.split()[0] for name in ROWS}


@textbook_rows.each(ROWS)
def test_row_is_live(row, language, minilm, smollm2):
    textbook_rows.live(lesson, ROWS[row], language)


@pytest.mark.parametrize("language", LANGUAGES)
def test_rows_table_names_every_discrepancy(language):
    rows = Text(language).items("text.texts.rows")
    for number in ("D-17", "D-60", "D-61", "D-65", "D-90", "D-92"):
        assert any(number in str(row) for row in rows), number


def test_map_and_neighbors_notes_state_expected_numbers(minilm):
    """The claims of the issue, each at the defaults of a view."""
    classes = message("map", {"view": "classes"}, "en")
    assert "51.7%" in classes
    assert "32.3%" in classes
    assert "1.5%" in message("map", {"view": "classes", "source": "minilm"}, "en")
    measured = message("neighbors", {"view": "list"}, "en")
    assert "16 words find it only with the narrow window, 2 only with the wide one" in measured


@pytest.mark.parametrize("language", LANGUAGES)
def test_ids_and_windows_notes_state_expected_numbers(language, minilm):
    payload = message("ids", {}, language)
    assert ("equal to the last bit", "每一位都相同")[LANGUAGES.index(language)] in payload
    assert "200" in payload
    memory = message("windows", {"view": "memory"}, language)
    for bits in ("2.16", "2.91", "3.07"):
        assert bits in memory


@pytest.mark.parametrize(
    "text", ["\0", "\ud83d", "שלום", "👨‍👩‍👧", "x" * 500, " ", "\u0301", "<b>&"]
)
@pytest.mark.parametrize("name", ["cutters", "merges", "ladder"])
def test_tokenization_benches_accept_or_reject_any_text(name, text, minilm, smollm2):
    control = {"cutters": "text", "merges": "sample", "ladder": "word"}[name]
    codes = {"no_text"}  # what there is no word in
    for strip in ("wordpiece", "smollm2") if name == "cutters" else ("",):
        values = {control: text, **({"strip": strip} if strip else {})}
        try:
            visible = lesson.benches[name].run(values)
        except UserError as refusal:
            codes.add(refusal.code)
            continue
        visible.figure.to_json()
        assert "\ud83d" not in "".join(visible.notes)
    assert codes == {"no_text"}


def test_cutters_user_strip_follows_merges(minilm, smollm2):
    few, many = (
        lesson.benches["cutters"].run({"strip": "own", "merges.merges": count})
        for count in (0, 1000)
    )
    assert few.readouts["tokens"].value == str(len(TEXT.encode()))
    assert int(many.readouts["tokens"].value) < 70


def test_cutters_omit_strip_of_missing_model(monkeypatch):
    monkeypatch.setattr(
        "seqviz.experiments.text.tokenization.vocabularies.has_tokenizer", lambda model: False
    )
    visible = lesson.benches["cutters"].run({"strip": "wordpiece"})
    assert [trace for trace in visible.figure.traces if trace.get("name") == "WordPiece"] == []
    assert sum("not on this machine" in note for note in visible.notes) == 2


def test_learned_merges_overfit_few_reviews(minilm):
    """The fewer reviews, the larger the gap between them and those that were held out."""
    gaps = []
    for amount in (20, 200, own.ALL):
        result = own.learned("reviews", amount)
        per_token = own.compression_at(result, "reviews", amount, min(180, len(result.pairs)))
        trained, held, editorials = per_token.per_token[:, 0]
        assert trained > held > editorials
        gaps.append(trained - held)
    assert gaps == sorted(gaps, reverse=True)


def test_compression_curve_matches_point_values():
    result = own.learned("reviews", 20)
    curve = own.compression(result, "reviews", 20)
    for position in (0, 7, 40):
        at = own.compression_at(result, "reviews", 20, int(curve.merges[position]))
        assert (at.tokens[:, 0] == curve.tokens[:, position]).all()
    compression = own.compression_of(result, SAMPLE)
    assert (
        compression.tokens[0, -1]
        == own.before_and_after(result, len(result.pairs), SAMPLE).of("own").tokens
    )
    assert compression.tokens[0, 0] == len(SAMPLE)


@pytest.mark.parametrize("text", ["", "\x00", "\ud800 king", "<b>king</b> $x$", "שלום עולם", "🏳️‍🌈"])
def test_embedding_benches_accept_or_reject_any_text(text, minilm):
    for bench, name, values in (
        ("map", "listed", {}), ("map", "asked", {"view": "near"}), ("map", "across", {}),
        ("map", "question", {"view": "analogy"}), ("reading", "shared", {}),
        ("reading", "first_text", {}), ("neighbors", "looked_up", {}),
        ("neighbors", "line", {"view": "pairs"}),
    ):  # fmt: skip
        try:
            visible = lesson.benches[bench].run({**values, name: text}, code=False)
        except UserError as refusal:
            for language in LANGUAGES:  # in the reader's words
                LessonWords("text", Text(language))(f"problem.{refusal.code}", **refusal.details)
            continue
        assert visible.figure is not None
        assert "<b>" not in "".join(visible.notes)


@pytest.mark.parametrize("text", ["", "x", "<b>$x$</b> " * 60, "\x00\ud800", "مرحبا 👩‍👩‍👧"])
def test_ids_and_windows_accept_or_reject_any_text(text, minilm):
    for bench, values in (
        ("ids", {"opinion": text}), ("ids", {**WINDOW, "find": text[:100]}),
        ("windows", {"page": text}), ("windows", {**COUNTS, "line": text[:500]}),
        ("windows", {**HOT, "phrase": text[:120]}),
    ):  # fmt: skip
        try:
            lesson.benches[bench].run(values).figure.to_json().encode("utf-8")
        except UserError as refusal:
            assert refusal.code in ("short_for_windows", "no_text")  # noqa: PT017
