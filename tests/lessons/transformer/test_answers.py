"""The questions of the lesson on the Transformer block are answered by what its benches compute."""

from __future__ import annotations

import re

import numpy as np
import pytest

from seqviz.compute.transformer.depth import ARRANGEMENTS
from seqviz.compute.transformer.interpretability.account import part_location
from seqviz.compute.transformer.interpretability.removal import of_change
from seqviz.compute.transformer.learning import StackSettings
from seqviz.compute.transformer.pair import PairSettings
from seqviz.core.i18n import LANGUAGES, Text, number, percent
from seqviz.core.paths import ASSETS
from seqviz.data import precomputed
from seqviz.experiments.transformer import architectures
from seqviz.experiments.transformer.interpretability import account
from seqviz.lessons.framework.output import EquationLine, Metric
from seqviz.lessons.transformer.interpretability import TEXT
from seqviz.lessons.transformer.lesson import SIZES, lesson


def of(name: str, part: str, language: str):
    text = Text(language)
    key = f"transformer.predict.{name}.{part}"
    return text.items(key) if part == "options" else text(key)


def test_questions_all_have_a_test_here():
    request = {key.split(".")[0] for key in Text("en").table("transformer.predict")}
    assert request == {
        "knows", "missed", "copies", "norms", "bill", "deep", "shift", "passes",
    }  # fmt: skip


@pytest.mark.parametrize("language", LANGUAGES)
def test_passes_answer_matches_share_of_what_the_layer_read(language):
    parts = precomputed.result("decoder_parts", model="smollm2", text=TEXT)
    kept = parts.find("sum_2").share[:, -1]
    message = of("passes", "reveal", language)
    assert percent(kept[20]) in message
    assert percent(kept[0]) in message
    assert 0.85 < kept[20] < 0.95  # nine tenths
    norms = parts.find("sum_2").norm[19:21, -1]
    assert all(re.search(rf"\b{norm:.0f}\b", message, re.ASCII) for norm in norms)


@pytest.mark.parametrize("language", LANGUAGES)
def test_stream_section_has_first_largest_and_last_norm(language):
    parts = precomputed.result("decoder_parts", model="smollm2", text=TEXT)
    section = (ASSETS / "lessons" / "transformer" / f"{language}.md").read_text("utf-8")
    after = parts.find("sum_1").norm[:, -1]
    stream = parts.stream()
    assert after.max() > stream.max()
    assert str(after.argmax()) in section
    for norm in (stream[0], after.max(), stream[-1]):
        assert number(norm) in section


@pytest.mark.parametrize("language", LANGUAGES)
def test_knows_answer_matches_largest_part(language, smollm2):
    item = account.account("smollm2", TEXT, "Paris")
    both = account.account("smollm2", TEXT, "Paris", "London")
    assert part_location(both.largest) == ("attention", 23)
    assert part_location(item.largest) == ("mlp", 29)
    assert int(of("knows", "answer", language)) == 1
    reveal = of("knows", "reveal", language)
    for visible in (number(both.logit, 4), number(both.largest_value), number(item.largest_value),
                  number(both.parts[item.largest])):  # fmt: skip
        assert visible in reveal, visible


@pytest.mark.parametrize("language", LANGUAGES)
def test_missed_answer_matches_unchanged_predictions(language):
    result = precomputed.result("remove", model="smollm2", text=TEXT)
    skip, around = of_change(result, "skip"), of_change(result, "residual")
    assert skip.same == (22, 30)
    assert around.same == (0, 30)
    assert int(of("missed", "answer", language)) == 2
    reveal = of("missed", "reveal", language)
    foremost = np.argsort(-skip.bits)[:3]
    assert foremost.tolist() == [0, 11, 1]
    for visible in ("22", "30", number(skip.median), *(number(skip.bits[k]) for k in foremost)):
        assert re.search(rf"(?<![\d.]){re.escape(visible)}(?![\d])", reveal), visible


@pytest.mark.parametrize("language", LANGUAGES)
def test_deep_answer_matches_trained_stacks(language):
    six, twelve = (
        precomputed.result("train_stacks", settings=StackSettings(blocks)) for blocks in (6, 12)
    )
    learned = {name: six.learned("constant", name) for name in ARRANGEMENTS}
    assert learned == {"post": (0, 5), "pre": (5, 5), "none": (5, 5), "plain": (0, 5)}
    assert six.learned("warm_up", "post") == (5, 5)
    deep = {name for name in ARRANGEMENTS if twelve.learned("constant", name)[0]}
    assert deep == {name for name in ARRANGEMENTS if twelve.learned("warm_up", name)[0]} == {"pre"}
    assert int(of("deep", "answer", language)) == 1
    reveal = of("deep", "reveal", language)
    visible = [six.median("constant", name) for name in ARRANGEMENTS]
    for value in (*visible, six.median("warm_up", "post"), twelve.median("constant", "none")):
        assert number(value) in reveal, value


@pytest.mark.parametrize("language", LANGUAGES)
def test_shift_answer_matches_trained_pair(language):
    result = precomputed.result("train_pair", settings=PairSettings())
    assert result.forced.tolist() == [195, 200]
    assert result.written.tolist() == [195, 0]
    assert result.loss[-1, 1] < result.loss[-1, 0]
    assert int(of("shift", "answer", language)) == 2
    reveal = of("shift", "reveal", language)
    for visible in (*map(number, result.loss[-1].tolist()), "200", "195"):
        assert visible in reveal, visible


def test_steps_readout_lists_active_units_only_where_present():
    visible = {
        step: [item.name for item in lesson.benches["steps"].run({"step": step}).of(Metric)]
        for step in (5, 8)
    }
    assert "active" not in visible[5]
    assert "active" in visible[8]


@pytest.mark.parametrize("language", LANGUAGES)
def test_copies_answer_matches_remaining_gain(language):
    result = precomputed.result("copy_twice", model="smollm2", seed=0, count=50)
    assert result.gain_left("best", 1) > 0.75
    assert int(of("copies", "answer", language)) == 2
    question, reveal = (of("copies", part, language) for part in ("question", "reveal"))
    for visible in (number(result.gain("best", 0).mean), f"{result.all_heads}", f"{result.length}"):
        assert visible in question, visible
    for visible in (number(result.gain("best", 1).mean),
                  number(result.gain("random", 8).mean),
                  *(percent(result.gain_left("best", off)) for off in (1, 4, 8))):  # fmt: skip
        assert visible in reveal, visible


@pytest.mark.parametrize("language", LANGUAGES)
def test_norms_answer_matches_moved_values(language):
    before, after = (lesson.benches["norms"].run({"added": added}).figure for added in (0.0, 1.0))
    moved = [
        int((np.abs(np.asarray(a["z"], float) - np.asarray(b["z"], float)) > 1e-3).sum())
        for a, b in zip(before.traces, after.traces, strict=True)
        if a["type"] == "heatmap"
    ]
    assert 3 in moved
    assert 4 in moved
    assert of("norms", "options", language)[int(of("norms", "answer", language))].startswith("3")


@pytest.mark.parametrize("language", LANGUAGES)
def test_bill_answer_matches_largest_share(language):
    model = architectures.architecture("transformer")
    shares = [model.share(part) for part in ("self_attention", "cross_attention", "feed_forward",
                                             "norm")]  # fmt: skip
    assert int(of("bill", "answer", language)) == int(np.argmax(shares))
    reveal = of("bill", "reveal", language)
    for visible in (f"{model.total:,.0f}", *map(percent, shares)):
        assert visible in reveal, visible


@pytest.mark.parametrize(
    ("bench", "one", "said", "other", "then"),
    [
        ("account", {}, "MLP of layer 28", {"against": "London"}, "attention of layer 23 on"),
        ("account", {}, "head 4 adds most", {"part": 61}, "number 1066 adds most"),
        ("lens", {}, "from layer 29 on", {"place": 2}, "At “␣France”"),
        ("lens", {"model": "minilm"}, "At “\\[MASK\\]”", {"model": "minilm", "place": 1},
         "At “\\[SEP\\]”"),
        ("lens", {"model": "minilm", "filled": "[MASK] it is"}, "At “\\[MASK\\]”",
         {"model": "minilm", "filled": "[MASK] it is", "place": 1}, "At “\\[SEP\\]”"),
        ("lens", {}, "settles at row 28 of 30", {"reading": "fitted"},
         "dotted lines are the plain"),
        ("lens", {"view": "reviews"}, "On 100 film reviews", {}, "At “␣is”"),
        ("remove", {}, "in 22 of 30", {"change": "residual"}, "in 0 of 30"),
        ("remove", {}, "in 22 of 30", {"model": "minilm"}, "in 2 of 6"),
        ("remove", {"view": "many"}, "of 200 film reviews:", {"view": "many", "model": "minilm"},
         "of which the seventh is hidden"),
        ("induction", {}, "best 8 of 270", {"off": 0}, "head 18.6 has the strongest"),
        ("induction", {}, "over 50 sequences", {"view": "one", "off": 1}, "This is one sequence"),
    ],
)  # fmt: skip
def test_note_changes_with_numbers(bench, one, said, other, then, minilm, smollm2):
    before, after = ("\n".join(lesson.benches[bench].run(values).notes) for values in (one, other))
    assert said in before
    assert then not in before
    assert then in after


def equation(bench: str, **values) -> str:
    """Return the equation of a bench without its tags."""
    (line,) = lesson.benches[bench].run(values).of(EquationLine)
    return re.sub(" +", " ", re.sub("<[^>]+>", " ", line.html))


def test_remove_equation_has_two_probabilities_of_one_token():
    line = equation("remove", change="skip")
    item = of_change(precomputed.result("remove", model="smollm2", text=TEXT), "skip")
    before, after = number(item.probability), number(item.changed[item.largest])
    assert line.count(item.before) == 2
    assert f"{item.before}: {before}" in line
    assert f"{item.before}: {after}" in line


def test_account_equation_and_readout_name_a_difference(smollm2):
    plain, apart = equation("account"), equation("account", against="London")
    assert "logit of the target token" in plain
    assert "logit of the target token" not in apart
    assert "minus that of the other token" in apart
    labels = [
        item.label for item in lesson.benches["account"].run({"against": "London"}).of(Metric)
    ]
    assert labels[0] == "Difference of the logits"


@pytest.mark.parametrize("language", LANGUAGES)
def test_layer_exercise_accepts_hint_formula(language):
    exercise = lesson.exercises["layer"]
    for variant in range(len(SIZES)):
        values, answer, within = exercise.variant_of(variant)
        d, f = values["width"], values["hidden"]
        assert abs(4 * (d * d + d) + 2 * d * f + f + d + 4 * d - answer) <= within < 1
        text = Text(language)
        for part in ("question", "right", "hint"):
            message = text(f"transformer.exercise.layer.{part}", **values, answer=f"{answer:.4g}")
            assert str(d) in message
            assert str(f) in message
