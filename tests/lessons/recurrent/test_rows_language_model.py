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
from seqviz.experiments.recurrent.tagging.lac import lac_changes
from seqviz.lessons.framework.words import LessonWords
from seqviz.lessons.recurrent.lesson import lesson
from seqviz.models.pretrained import load
from tests.lessons import textbook_rows
from tools import measure_trainings

OWN, FREE, TIED, READOUTS, PADDING = (
    {"view": item} for item in ("own", "free", "tied", "readouts", "padding")
)
ROWS = {
    "1-13": ("writing", {}, (("gives “a” the most, 13.3%", "给“a”的概率最大，为 13.3%"),),
             {"upto": 26}),
    "1-14": ("writing", {}, (unbroken("log₂ P = −119"), "4.06"), {"text_read": "The flights"}),
    "1-15 cross-entropy": ("writing", {}, ("4.28", "−log₂"), {"upto": 24}),
    "1-15 teacher forcing": ("writing", OWN, (
        (unbroken("1.96 bits each after the text (teacher forcing), 8.01"),
         unbroken("每个 1.96 比特，读自己写的字符时每个 8.01")),),
                             {**OWN, "upto": 40}),
    "1-15 many": ("writing", FREE, (unbroken("2.19 ± 0.17"), unbroken("7.73 ± 0.38"), "4.39"),
                  {**FREE, "reader": "lstm"}),
    "1-16": ("writing", TIED, ("7,813,632", "8,238,906", "48.7%"), {**TIED, "tied_symbols": 82}),
    "1-16 characters": ("writing", {**TIED, "tied_symbols": 82}, ("4.8%", "246,418"), TIED),
    "1-17": ("writing", {**OWN, "heat": 1.0}, (("seed 1", "种子 1"), "ay doesn"),
             {**OWN, "heat": 1.0, "draws": 2}),
    "1-17 end": ("writing", {**OWN, "upto": 59}, (("the whole text", "读完全文"),), OWN),
    "1-19": ("readout", {}, ("87.1%", "“not”", "42.9%"), {"without": 1}),
    "1-19 last": ("readout", READOUTS, ("81.6%", "80.6%"), {**READOUTS, "least": 30}),
    "1-22 concat": ("readout", READOUTS, (("both ends, concatenated", "两端拼接 +0.1"),),
                    {**READOUTS, "combine": "both_sum"}),
    "1-22 mean": ("readout", {**READOUTS, "combine": "both_mean"},
                  (("same answer on 2,000 of 2,000", "2,000 条评论中的 2,000 条"),), READOUTS),
    "3-23 swap": ("writing", {"reader": "lstm"}, (("the LSTM gives", "LSTM 给"),), {}),
    "padding": ("readout", PADDING, ("70.3%", "81.8%", "12.4%"), {**PADDING, "pads": 0}),
    "padding packed": ("readout", {**PADDING, "pads": 0}, (("difference 0", "差为 0"),), PADDING),
    "padding zeros": ("readout", {**PADDING, "pad_as": "zeros", "pads": 40}, ("74.7%",), PADDING),
    "3-23 D-23 RNNModel": ("writing", {"view": "tied"}, ("282,194", "(58, 82)", "6.37"),
                           {"view": "tied", "wrapped": "lstm"}),
}  # fmt: skip
message = partial(textbook_rows.said, lesson)


@textbook_rows.each(ROWS)
def test_row_is_live(row, language):
    textbook_rows.live(lesson, ROWS[row], language)


def test_default_results_are_shipped_and_small():
    calls = [call for name in ("writing", "readout")
             for call in measure_trainings.calls(lesson.benches[name])]  # fmt: skip
    assert {function for function, _ in calls} == {writing.run_on, readouts.compare_readouts}
    assert len(calls) == 3  # either cell writes and is read by the other
    sizes = {item["call"]: precomputed.FOLDER / item["file"]
             for item in json.loads((precomputed.FOLDER / "index.json").read_text())}  # fmt: skip
    for function, keywords in calls:
        assert sizes[precomputed.call_name(function, keywords)].stat().st_size < 30_000


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
