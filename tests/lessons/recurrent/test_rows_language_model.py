"""The rows of the texts on language models at work, readouts and pads are live on their benches.

As in test_text_rows: a bench at some values, what it says, and values at which it does not.
"""

from __future__ import annotations

import json
from functools import partial

import pytest

from seqviz.core.errors import UserError
from seqviz.core.i18n import LANGUAGES, Text, sections
from seqviz.core.units import unbroken
from seqviz.data import precomputed
from seqviz.experiments.recurrent.states import readouts, writing
from seqviz.experiments.recurrent.states.tied_words import compare_tied
from seqviz.experiments.recurrent.tagging.lac import lac_changes
from seqviz.lessons.framework.words import LessonWords
from seqviz.lessons.recurrent.lesson import lesson
from seqviz.models.pretrained import load
from tests.lessons import textbook_rows
from tests.lessons.rows import Row, check
from tools import measure_trainings

OWN, FREE, TIED, READOUTS, PADDING = (
    {"view": item} for item in ("own", "free", "tied", "readouts", "padding")
)
ROWS = {
    "1-13": Row(
        "writing",
        {},
        {"upto": 26},
        {"writing.letter.chance": (0.1328, 0.3689)},
        (("gives “a” the most, 13.3%", "给“a”的概率最大，为 13.3%"),),
    ),
    "1-14": Row(
        "writing",
        {},
        {"text_read": "The flights"},
        {"writing.*.read:total": (-119.2, -21.95), "metric.perplexity_read": (4.058, 3.988)},
        (unbroken("log₂ P = −119"), "4.06"),
    ),
    "1-15 cross-entropy": Row(
        "writing",
        {},
        {"upto": 24},
        {"writing.letter.bits": (4.279, 0.7198), "writing.letter.rank": (8, 1)},
        ("4.28", "−log₂"),
    ),
    "1-15 teacher forcing": Row(
        "writing",
        {"view": "own"},
        {"view": "own", "upto": 40},
        {"metric.loss_forced": (1.958, 1.774), "metric.loss_free": (8.01, 7.097)},
        (
            (
                unbroken("1.96 bits each after the text (teacher forcing), 8.01"),
                unbroken("每个 1.96 比特，读自己写的字符时每个 8.01"),
            ),
        ),
    ),
    "1-15 many": Row(
        "writing",
        {"view": "free"},
        {"view": "free", "reader": "lstm"},
        {"writing.steps.forced": (2.194, 2.309)},
        (unbroken("2.19 ± 0.17"), unbroken("7.73 ± 0.38"), "4.39"),
    ),
    "1-16": Row(
        "writing",
        {"view": "tied"},
        {"view": "tied", "tied_symbols": 82},
        {
            "metric.all_tied": (4036000.0, 109600.0),
            "metric.all_untied": (7943000.0, 120100.0),
            "metric.saved": (0.4918, 0.08736),
        },
        ("4,036,410", "7,943,226", "49.2%"),
    ),
    "1-16 perplexity": Row(
        "writing",
        {"view": "tied"},
        {"view": "tied", "tied_units": 32},
        {
            "metric.perplexity_tied": (58.77, 82.26),
            "metric.perplexity_untied": (60.35, 77.57),
            "writing.trained_sizes.single_size": (306_762.0, 59_466.0),
            "writing.trained_sizes.double_size": (512_842.0, 110_986.0),
        },
        ("58.8", "60.4", "306,762", "512,842"),
    ),
    "1-16 characters": Row(
        "writing",
        {"view": "tied", "tied_symbols": 82},
        {"view": "tied"},
        {"metric.saved": (0.08736, 0.4918)},
        ("8.7%",),
    ),
    "1-17": Row(
        "writing",
        {"view": "own", "heat": 1.0},
        {"view": "own", "heat": 1.0, "draws": 2},
        {
            "writing.own.own": (
                "ay doesn't doesn't memorable people acting econon's are excu",
                "ho cat banned the movie, the film' that ''nebblin's funny re",
            ),
            "metric.loss_free": (8.286, 7.482),
        },
        (("seed 1", "种子 1"), "ay doesn"),
    ),
    "1-17 end": Row(
        "writing",
        {"view": "own", "upto": 59},
        {"view": "own", "upto": 59, "text_read": "The film"},
        {"writing.end.own": ("⏎", " is a strange of the story and start of the story and start ")},
        (("the whole text", "读完全文"),),
    ),
    "1-19": Row(
        "readout",
        {},
        {"without": 1},
        {"metric.positive_rest": (0.8707, 0.4514), "readout.without.rest": (0.8707, 0.4514)},
        ("87.1%", "“not”", "42.9%"),
    ),
    "1-19 last": Row(
        "readout",
        {"view": "readouts"},
        {"view": "readouts", "least": 30},
        {"metric.right_last:share": (0.816, 0.7721), "metric.right_both:share": (0.817, 0.7633)},
        ("81.6%", "80.6%"),
    ),
    "1-22 concat": Row(
        "readout",
        {"view": "readouts"},
        {"view": "readouts", "combine": "both_sum"},
        {"metric.right_both:share": (0.817, 0.82)},
        (("both ends, concatenated", "两端拼接 +0.1"),),
    ),
    "1-22 mean": Row(
        "readout",
        {"view": "readouts", "combine": "both_mean"},
        {"view": "readouts", "combine": "both_product"},
        {"metric.right_both:share": (0.82, 0.8155)},
        (("same answer on 2,000 of 2,000", "2,000 条评论中的 2,000 条"),),
    ),
    "3-23 swap": Row(
        "writing",
        {"reader": "lstm"},
        {},
        {"metric.loss_read": (2.107, 2.021), "writing.letter.chance": (0.1485, 0.1328)},
        (("the LSTM gives", "LSTM 给"),),
    ),
    "padding": Row(
        "readout",
        {"view": "padding"},
        {"view": "padding", "pads": 0},
        {"metric.right_padded:share": (0.7035, 0.818), "metric.positive_padded": (0.1238, 0.4292)},
        ("70.3%", "81.8%", "12.4%"),
    ),
    "padding packed": Row(
        "readout",
        {"view": "padding", "pads": 0},
        {"view": "padding"},
        {"metric.positive_padded": (0.4292, 0.1238)},
        (("difference 0", "差为 0"),),
    ),
    "padding zeros": Row(
        "readout",
        {"view": "padding", "pad_as": "zeros", "pads": 40},
        {"view": "padding"},
        {"metric.right_padded:share": (0.747, 0.7035)},
        ("74.7%",),
    ),
    "3-23 D-23 RNNModel": Row(
        "writing",
        {"view": "tied"},
        {"view": "tied", "wrapped": "lstm"},
        {"writing.wrapped.model:parameters": (91986.0, 119122.0)},
        ("(58, 82)", "91,986", "6.36"),
    ),
}
message = partial(textbook_rows.said, lesson)


@textbook_rows.each(ROWS)
def test_row_moves(row, language):
    check(lesson, ROWS[row], language)


def test_default_results_are_shipped_and_small():
    calls = [call for name in ("writing", "readout")
             for call in measure_trainings.calls(lesson.benches[name])]  # fmt: skip
    assert {function for function, _ in calls} == {
        writing.run_on, compare_tied, readouts.compare_readouts
    }  # fmt: skip
    assert len(calls) == 4  # either cell writes and is read by the other
    sizes = {item["call"]: precomputed.FOLDER / item["file"]
             for item in json.loads((precomputed.FOLDER / "index.json").read_text())}  # fmt: skip
    for function, keywords in calls:
        assert sizes[precomputed.call_name(function, keywords)].stat().st_size < 60_000


@pytest.mark.parametrize("temperature", writing.TEMPERATURES)
def test_writing_note_follows_error_trend(temperature):
    result = precomputed.result("run_on", network="characters_gru", judge="characters_lstm")
    payload = message("writing", {**FREE, "heat": temperature})
    change, around = result.trend[:, result.case(temperature)]
    words = ("no growth is shown" if abs(change) <= around else
             "errors add up" if change > 0 else "easier to predict")  # fmt: skip
    assert words in payload
    assert result.sentences == 645  # as the view is called


@pytest.mark.parametrize("text", ["", " ", "x", "人工智能", "<b>$x$</b> [a](b)", "\ud83d",
                                  "שלום 👨‍👩‍👧",
                                  "x" * 500])  # fmt: skip
def test_writing_and_readout_accept_or_reject_any_text(text):
    for bench, values in (
        ("writing", {"text_read": text}), ("writing", {**OWN, "text_read": text, "heat": 1.5}),
        ("readout", {"review": text}), ("readout", {**PADDING, "review": text}),
    ):  # fmt: skip
        try:
            visible = lesson.benches[bench].run(values, code=False)
        except UserError as refusal:
            for language in LANGUAGES:
                LessonWords("recurrent", Text(language))(
                    f"problem.{refusal.code}", **refusal.details
                )
            assert refusal.code == "no_text" and not text.strip()  # noqa: PT017, PT018
            continue
        visible.figure.to_json().encode("utf-8")
        assert "<b>" not in "".join(visible.notes)


@pytest.mark.parametrize(("bench", "control", "ends"), [
    ("writing", "upto", (1, 59)), ("writing", "heat", (0.0, 1.5)),
    ("writing", "draws", (0, 9999)),
    ("writing", "tied_symbols", (82, 50_257)), ("writing", "tied_units", (32, 1024)),
    ("readout", "without", (0, 17)), ("readout", "least", (1, 30)), ("readout", "pads", (0, 40)),
])  # fmt: skip
def test_control_changes_note(bench, control, ends):
    around = {"heat": FREE, "draws": {**OWN, "heat": 1.0}, "tied_symbols": TIED,
              "tied_units": TIED, "least": READOUTS, "pads": PADDING}  # fmt: skip
    item, other = (message(bench, {**around.get(control, {}), control: end}, "en") for end in ends)
    assert item != other


def test_note_counts_unknown_letters_and_words():
    assert "4 of 4 letters have no symbol" in message("writing", {"text_read": "人工智能"})
    assert "1 of 3 words are not in" in message("readout", {"review": "a qwxyzt film"})


@pytest.mark.parametrize("language", LANGUAGES)
def test_option_labels_and_prose_match_result_counts(language, lac):
    """Names of views, and what the prose says of LAC, are written by hand."""
    words = LessonWords("recurrent", Text(language))
    held = writing.run_on, {"network": "characters_gru", "judge": "characters_lstm"}
    many = readouts.compare_readouts, {"network": "sentiment_gru"}
    for view, count in (
        ("free", precomputed.find(*held).result.sentences),
        ("readouts", precomputed.find(*many).result.reviews()),
        ("counted", precomputed.find(lac_changes, {}).result.sentences),
    ):
        assert f"{count:,}" in words.option("view", view)
    network = load("lac").network
    page = sections("recurrent", language)["tagger_network"]
    for number in (len(network.tags), len(network.layers[0][0].candidate)):
        assert f" {number} " in page
