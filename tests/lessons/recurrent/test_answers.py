"""The questions of the lesson on recurrent networks are answered by what its benches say."""

from __future__ import annotations

import re

import pytest
import torch

from seqviz.compute.recurrent.costs.counting import NetworkSizes, bill
from seqviz.core.i18n import LANGUAGES, Text, number
from seqviz.data import precomputed
from seqviz.lessons.framework.output import Note
from seqviz.lessons.recurrent.lesson import lesson

# Numbers of a reveal that a bench says at the settings of "Show it in the figure"; a pair is a
# rounded number and that of the bench.
SAID = {
    "wirings": dict.fromkeys(LANGUAGES, ("0.091",)),
    "tagging": {
        "en": ("19.1", "19.0", ("0.2", "0.187"), "9.64"),
        "zh": ("18.5", "18.1", ("0.3", "0.334"), "12.4"),
    },
}


def reveal(name: str, language: str) -> str:
    return Text(language)(f"recurrent.predict.{name}.reveal")


def test_questions_all_have_a_test_here():
    request = {key.split(".")[0] for key in Text("en").table("recurrent.predict")}
    assert request == {*SAID, "bill"}
    assert set(lesson.exercises) == {"count"}


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("name", SAID)
def test_reveal_quotes_bench_numbers(name, language):
    if name not in lesson.benches:
        pytest.skip(f"The bench {name} is not there yet.")
    visible = lesson.benches[name].run(lesson.questions[name].at, language, code=False)
    notes = " ".join(item.sentence for item in visible.of(Note)).replace("\\", "")
    for entry in SAID[name][language]:
        quoted, said = entry if isinstance(entry, tuple) else (entry, entry)
        assert quoted in reveal(name, language)
        assert said in notes


@pytest.mark.parametrize("language", LANGUAGES)
def test_bill_answer_matches_constant_weights_and_growing_time(language):
    timed = precomputed.result("time_steps")
    long, short = timed.milliseconds(1, 512), timed.milliseconds(1, 128)
    assert 3 < long[0] / short[0] < 5  # about four times
    assert long[1] < long[0] / 2
    counts = {bill(NetworkSizes(), steps).count("rnn") for steps in (128, 512)}
    assert counts == {1120}
    for item in (number(long[0]), number(short[0]), number(long[1]), "1,120"):
        assert item in reveal("bill", language)
    assert int(Text(language)("recurrent.predict.bill.answer")) == 1


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("variant", range(5))
def test_count_hint_formula_matches_torch(variant, language):
    case, answer, _ = lesson.exercises["count"].variant_of(variant)
    hint = Text(language)("recurrent.exercise.count.hint", **case)
    formulas = [item.replace("·", "*") for item in re.findall(r"\d+ · [\d ·()+]+\)", hint)]
    first, above = (eval(formula) for formula in formulas)
    module = torch.nn.LSTM(case["inputs"], case["hidden"], case["layers"], bidirectional=True)
    counted = sum(parameter.numel() for parameter in module.parameters())
    assert answer == counted == first + (case["layers"] - 1) * above
