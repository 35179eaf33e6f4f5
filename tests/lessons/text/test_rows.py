"""Every row and discrepancy of the texts that belongs to this lesson is live on one of its benches.

As in test_transformer_rows: a bench at some values, what it says, and values at which it does not.
A row with several parts has several lines here.
"""

from __future__ import annotations

import re
from collections import Counter
from functools import partial

import numpy as np
import pytest

from seqviz.core.errors import UserError
from seqviz.core.i18n import LANGUAGES, Text, number
from seqviz.core.units import unbroken
from seqviz.data.reviews import movie_reviews
from seqviz.experiments.text.tokenization import learned as own
from seqviz.experiments.text.tokenization.cutters import NAMES
from seqviz.experiments.text.vectors import neighbors
from seqviz.lessons.framework.output import EquationLine
from seqviz.lessons.framework.words import LessonWords
from seqviz.lessons.text.lesson import lesson
from seqviz.lessons.text.tokenization import SAMPLE, TEXT
from tests.lessons import rows, textbook_rows
from tests.lessons.rows import Row, check

WINDOW, COUNTS, HOT = ({"view": item} for item in ("window", "counts", "onehot"))
ROWS = {
    "0-06 corpus": Row(
        "cutters",
        {"strip": "wordpiece", "review": 1},
        {"strip": "wordpiece", "review": 2},
        {"metric.tokens": (45, 18), "cutters.review.*.label": (1, 0)},
        (("Review 1 of 8,072", "共 8,072 条"), ("label 1", "标签为 1"), "2025, 2069, 2024"),
    ),
    "0-06 label": Row(
        "ids",
        {"opinion": "A wonderful film, warm and funny."},
        {},
        {"ids.same.trained": (0.9999, 0.9067)},
        (("“Positive” goes from 100.0%", "“正面”的概率原为 100.0%"),),
    ),
    "0-06 tokens": Row(
        "cutters",
        {"text": "A wonderful film, warm and funny."},
        {},
        {"metric.tokens": (8, 43)},
        (("8 tokens", "8 个词元"),),
    ),
    "0-07": Row(
        "ids",
        {"view": "window"},
        {"view": "window", "first": 3000},
        {"ids.window.token": ("from", "paris"), "ids.window.beside": (0.2, 0.0569)},
        ("from, her, ##s, she, you, had, an, were, but, be, this",),
    ),
    "0-08 inserted": Row(
        "cutters",
        {"strip": "wordpiece", "special": "hidden"},
        {"strip": "wordpiece"},
        {"cutters.ids.count": (28, 27)},
        ("101, 103, 9932", "[MASK]"),
    ),
    "0-08 removed": Row(
        "cutters",
        {"strip": "wordpiece", "special": "bare"},
        {"strip": "wordpiece"},
        {"cutters.ids.count": (25, 27), "cutters.ids.first": ("ai", "[CLS]")},
        (("2 ids fewer", "少 2 个"), "[9932, 1998"),
    ),
    "0-08 id": Row(
        "ids",
        {"view": "window", "find": "103"},
        {"view": "window"},
        {"metric.matches": (3, 30522)},
        ("[MASK]", ("with id 103", "编号 103")),
    ),
    "0-09": Row(
        "cutters",
        {"strip": "wordpiece", "text": "AI and ML course is interesting and easy!"},
        {"strip": "wordpiece"},
        {"cutters.ids.count": (11, 27), "metric.tokens": (9, 25)},
        ("101, 9932, 1998, 19875, 2607, 2003, 5875, 1998, 3733, 999, 102",),
    ),
    "0-09 Chinese": Row(
        "cutters",
        {"strip": "words"},
        {"strip": "characters"},
        {"metric.tokens": (26, 58)},
        (("26 tokens for 58", "58 个字符切成 26 个词元"),),
    ),
    "0-10": Row(
        "ladder",
        {},
        {"word": "playing"},
        {"metric.lookups": (12, 1), "ladder.all.pieces": ("una ##ffa ##ble", "playing")},
        ("una ##ffa ##ble",),
    ),
    "0-11 map": Row(
        "map",
        {},
        {"across": "boy man"},
        {"map.axes.x": (0.644, 1.016), "metric.slant": (-0.07781, -0.1408)},
        ("0.644", "0.748", "queen"),
    ),
    "0-11 cosine": Row(
        "map",
        {"view": "near", "centered": False},
        {"view": "near"},
        {"metric.top": (0.8237, 0.7778), "metric.between": (0.2772, 0.06664)},
        ("0.824", "prince"),
    ),
    "0-11 analogy": Row(
        "map",
        {"view": "analogy"},
        {"view": "analogy", "question": "uncle - man + woman"},
        {"metric.left_out": ("queen", "niece"), "analogy.*.cosine": (0.843, 0.8833)},
        ("queen", "0.810", "0.843"),
    ),
    "0-12": Row(
        "windows",
        {"view": "onehot"},
        {"view": "onehot", "phrase": "aa"},
        {"windows.onehot.cosine": (0.0, 1.0), "windows.onehot.size": (14, 2)},
        ((unbroken("at t = 2 is 0."), "余弦相似度是 0。"),),
    ),
    "0-13 skip-gram": Row(
        "neighbors",
        {"view": "pairs"},
        {"view": "pairs", "reach": 1},
        {"metric.pairs_in_all": ("14", "8")},
        ("14",),
    ),
    "0-13 CBOW": Row(
        "neighbors",
        {"view": "pairs", "mode": "cbow"},
        {"view": "pairs"},
        {"metric.pairs_in_all": ("5", "14"), "pairs.given": ("the, dog, the, man", "dog")},
        ("the, dog, the, man", "bites"),
    ),
    "0-13 vectors": Row(
        "neighbors",
        {},
        {"looked_up": "music"},
        {
            "neighbors.words.near": (
                "thriller, horror, flick, with",
                "style, pop, pretentious, century",
            ),
            "neighbors.words.count": (199, 93),
        },
        ("thriller", "sequences", "effects"),
    ),
    "0-14": Row(
        "reading",
        {},
        {"second_text": "The bank of the stream is steep."},
        {"metric.layer_input": (0.9662, 0.9581), "metric.layer_last": (0.7571, 0.9168)},
        ("0.966", "0.757", "1.000"),
    ),
    "0-14 many": Row(
        "reading",
        {"view": "many"},
        {"view": "many", "layer": 2},
        {"metric.told:share": (0.98, 0.9), "reading.many.same": (0.8481, 0.9118)},
        ("98%", "0.848", "0.716", "91%"),
    ),
    "3-04": Row(
        "windows",
        {"view": "onehot"},
        {"view": "onehot", "phrase": "Hello"},
        {"windows.onehot.tokens": (26, 5), "windows.onehot.size": (14, 5)},
        ("x⟨1⟩", unbroken("Tₓ = 26")),
    ),
    "3-04 targets": Row(
        "windows",
        {},
        {"batch": 1},
        {"windows.symbols.x": ("e", "a"), "windows.symbols.y": ("n", "l")},
        ((unbroken("T_x = T_y = 5"), unbroken("T_x = T_y = 5")), "y⁽ⁱ⁾⟨t⟩"),
    ),
    "3-05": Row(
        "windows",
        {"view": "counts", "line": "人工智能"},
        {"view": "counts", "line": "人工智能", "clean": False},
        {"metric.vocabulary": (6258, 6550)},
        (("Nothing is left", "一个也没有留下"),),
    ),
    "3-06": Row(
        "windows",
        {"view": "counts", "counted_by": "character"},
        {"view": "counts"},
        {"windows.counts.first": ("␣", "the"), "metric.vocabulary": (28, 6258)},
        ("“␣”",),
    ),
    "3-07": Row(
        "windows",
        {"view": "counts"},
        {"view": "counts", "min_freq": 2},
        {"metric.vocabulary": (6258, 13304), "metric.unknown_held": (0.119, 0.06119)},
        ("6,258", "11.9%"),
    ),
    "3-08": Row(
        "windows",
        {"view": "onehot"},
        {"view": "onehot", "width": 5},
        {"metric.multiplications": (56, 70)},
        ("56", ("components", "个分量")),
    ),
    "3-09": Row(
        "windows",
        {"cutting": "random"},
        {"cutting": "sequential"},
        {"metric.continued": ((0, 4), (4, 4))},
        (("0 of the 4", "有 0 个正好"),),
    ),
    "3-10": Row(
        "windows",
        {"cutting": "sequential"},
        {"cutting": "random"},
        {"metric.continued": ((4, 4), (0, 4))},
        (("4 of the 4", "有 4 个正好"),),
    ),
    "4-33": Row(
        "cutters",
        {"text": "Let us encode this sentence"},
        {"text": "Hello,"},
        {"cutters.ids.ids": ("5756, 514, 37773, 428, 6827", "15496, 11")},
        ("5756, 514, 37773, 428, 6827",),
    ),
    "D-17": Row(
        "neighbors",
        {"view": "pairs", "line": "狗咬人", "reordered": "人咬狗"},
        {"view": "pairs"},
        {"metric.pairs_in_all": ("6", "14"), "metric.pairs_kept": ("6", "12")},
        ("人 咬 狗", "6"),
    ),
    "D-60": Row(
        "ladder",
        {"word": "playing"},
        {"word": "embeddings"},
        {"metric.lookups": (1, 18), "ladder.all.ids": ("2652", "7861, 8270, 4667, 2015")},
        ("[2652]",),
    ),
    "D-60 interesting": Row(
        "ladder",
        {"word": "interesting"},
        {},
        {"metric.parts": (1, 3), "ladder.all.ids": ("5875", "14477, 20961, 3468")},
        ("[5875]",),
    ),
    "D-61": Row(
        "windows",
        {"view": "onehot"},
        {"view": "onehot", "phrase": "This course"},
        {"metric.letters": ("23", "10"), "metric.signs": ("26", "11")},
        (("23 letters, 26 characters", "23 个字母；连空格和标点共 26 个字符"),),
    ),
    "D-61 strip": Row(
        "cutters",
        {"strip": "characters", "text": "This course is interesting"},
        {"strip": "characters", "text": "Thiscourseisinteresting"},
        {"metric.tokens": (26, 23)},
        (("26 tokens for 26", "26 个字符切成 26 个词元"),),
    ),
    "D-90": Row(
        "merges",
        {"view": "compression"},
        {"view": "compression", "merges": 1000},
        {"metric.bytes_editorials": (2.032, 2.513), "metric.bytes_held": (2.166, 2.84)},
        (("editorials", "社论"),),
    ),
    "D-90 counts": Row(
        "windows",
        {"view": "counts"},
        {"view": "counts", "min_freq": 10},
        {"metric.unknown_held": (0.119, 0.18)},
        ("11.9%",),
    ),
    "D-92": Row(
        "ids",
        {"view": "window"},
        {"view": "window", "first": 9},
        {"ids.window.beside": (0.2, 0.821)},
        (("Ids 2013 to 2023", "编号 2013 到 2023"),),
    ),
    "D-65": Row(
        "cutters",
        {"strip": "smollm2", "special": "beginning"},
        {"strip": "wordpiece", "special": "beginning"},
        {"cutters.*.token": ("<|im_start|>", ""), "cutters.ids.first": ("<|im_start|>", "[CLS]")},
        ("<|im_start|>",),
    ),
    "hello": Row(
        "cutters", {"text": "Hello,"}, {}, {"cutters.ids.count": (2, 43)}, ("[15496, 11]",)
    ),
    "minbpe": Row(
        "merges",
        {"corpus": "minbpe"},
        {"corpus": "minbpe", "merges": 2},
        {"merges.sample.ids": ("258, 100, 258, 97, 99", "257, 98, 100, 257, 98, 97, 99")},
        ("[258, 100, 258, 97, 99]",),
    ),
    "Chinese": Row(
        "cutters",
        {},
        {"strip": "bytes"},
        {"metric.per_chinese": (2.062, 3.0), "metric.per_other": (0.2381, 1.0)},
        ("8.66", "2.06"),
    ),
}
ASKED = """
0-06 0-07 0-08 0-09 0-10 0-11 0-12 0-13 0-14 3-04 3-05 3-06 3-07 3-08 3-09 3-10
D-17 D-60 D-61 D-65 D-90 D-92
"""
message = partial(textbook_rows.said, lesson)


def test_special_view_lists_every_token():
    visible = message("cutters", {"view": "special"})
    for token in ("[UNK]", "[CLS]", "[SEP]", "[MASK]", "<|endoftext|>", "<|im_start|>", "[BOS]"):
        assert token in visible


def test_echoes_finds_quantities_that_repeat_a_control():
    """The step of a one-hot vector is the control itself; its size is the text's."""
    hot = {"view": "onehot"}
    echo = Row("windows", {**hot, "step": 3}, hot, {"windows.onehot.t": (3, 1)})
    assert rows.echoes(lesson, echo) == ["windows.onehot.t"]
    computed = Row("windows", hot, {**hot, "phrase": "aa"}, {"windows.onehot.size": (14, 1)})
    assert rows.echoes(lesson, computed) == []


def test_cbow_vectors_move_with_window(monkeypatch):
    """Row 0-13: vectors that are trained here, on 600 of the reviews so that it takes seconds."""
    texts = [review.lower().split() for review in movie_reviews().texts[:600]]
    counted = Counter(word for text in texts for word in text)
    words = tuple(word for word, count in counted.most_common() if count >= 20)
    known = [[words.index(word) if word in words else -1 for word in text] for text in texts]
    texts_of = np.repeat(np.arange(600), [len(text) for text in texts])
    corpus = words, np.array([counted[word] for word in words]), np.concatenate(known), texts_of
    monkeypatch.setattr(neighbors, "corpus", lambda: corpus)

    def given_words(window):
        """Number of known words within the window of a known word, counted one by one."""
        near = [text[max(k - window, 0) : k] + text[k + 1 : k + 1 + window]
                for text in known for k in range(len(text)) if text[k] >= 0]  # fmt: skip
        return f"{sum(word >= 0 for some in near for word in some):,}"

    here = {"method": "cbow", "looked_up": "film"}
    moves = {
        "metric.narrow_pairs": (given_words(2), given_words(5)),
        "neighbors.words.near": lambda narrow, wide: narrow != wide,
    }
    check(lesson, Row("neighbors", here, here | {"narrow": 5}, moves), train=True)


def test_rows_all_present():
    assert set(ASKED.split()) <= {name.split()[0] for name in ROWS}


@textbook_rows.each(ROWS)
def test_row_moves(row, language, minilm, smollm2):
    check(lesson, ROWS[row], language)


@pytest.mark.parametrize("language", LANGUAGES)
def test_rows_table_names_every_discrepancy(language):
    rows = Text(language).items("text.texts.rows")
    for code in ("D-17", "D-60", "D-61", "D-65", "D-90", "D-92"):
        assert any(code in str(row) for row in rows), code


def test_map_and_neighbors_notes_state_expected_numbers(minilm):
    """The claims of the issue, each at the defaults of a view."""
    classes = message("map", {"view": "classes"}, "en")
    assert "51.7%" in classes
    assert "32.3%" in classes
    assert "1.5%" in message("map", {"view": "classes", "source": "minilm"}, "en")
    measured = message("neighbors", {"view": "list"}, "en")
    assert "15 words find it only with the narrow window, 4 only with the wide one" in measured


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


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("text", [TEXT, "今天天气很好。", "[MASK] and <|endoftext|>"])
@pytest.mark.parametrize("strip", NAMES)
def test_cutters_equation_divides_tokens_by_characters(strip, text, language, minilm, smollm2):
    """[CLS] and [SEP], which BERT's ids have in addition, are no tokens of the text."""
    bench = lesson.benches["cutters"]
    run = bench.run({"strip": strip, "text": text}, language, code=False)
    line = next(item for item in run.items if isinstance(item, EquationLine)).html
    share, tokens, characters = re.findall(r'class="number">([\d.,]+)<', line)
    assert share == number(int(tokens) / int(characters))
    assert (tokens, characters) == (run.readouts["tokens"].value, str(len(text)))


def test_step_of_few_reviews_takes_all_merges():
    """Its sentence says that no pair occurs twice any more."""
    step = next(item for item in lesson.benches["merges"].steps if item.name == "others")
    assert step.values["merges"] == len(own.learned("reviews", 20).pairs)


@pytest.mark.parametrize("sum_", ["king - man + woman", "paris - france + italy"])
def test_analogy_equation_names_first_word_of_chart(sum_):
    run = lesson.benches["map"].run({"view": "analogy", "question": sum_}, code=False)
    line = next(item for item in run.items if isinstance(item, EquationLine)).html
    assert f'class="number">{run.readouts["nearest"].value}<' in line


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
