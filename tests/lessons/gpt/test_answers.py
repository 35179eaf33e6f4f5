"""The questions of the lesson on GPT and decoding are answered by what its benches compute."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

from seqviz.compute.gpt.cost import readings
from seqviz.compute.gpt.methods import METHODS
from seqviz.core.i18n import LANGUAGES, Text, number, percent
from seqviz.data import precomputed
from seqviz.experiments.gpt.continuation import next_token
from seqviz.experiments.gpt.shots import AMOUNTS
from seqviz.experiments.gpt.surprise import repeated
from seqviz.lessons.gpt.generation import AGAIN, DECODER, STORY
from seqviz.lessons.gpt.lesson import lesson
from seqviz.lessons.gpt.next_token import COUNT
from tests.lessons import quiz_helpers, textbook_rows

of, message = (partial(item, "gpt") for item in (quiz_helpers.of, quiz_helpers.says))


def test_questions_all_have_a_test_here():
    there = {key.split(".")[0] for key in Text("en").table("gpt.predict")}
    assert there == {"greedy", "human", "again", "shots"}


@pytest.mark.parametrize("language", LANGUAGES)
def test_greedy_answer_matches_text_probability(language, smollm2):
    result = precomputed.result(
        "ways", model=DECODER, text=STORY, steps=8, beams=3, penalty=1.0, seed=0
    )
    assert result.best_probability / result.greedy_probability > 100
    assert int(of("greedy", "answer", language)) == 2
    comma = next_token(DECODER, f"{STORY},")
    the, inside = (float(comma.chances[comma.pieces.index(piece)]) for piece in ("␣the", "␣in"))
    tree = result.tree
    begins = {
        item: float(np.exp(tree.log[tree.nodes(ids[:2])[1]]))
        for item, ids in (("greedy", result.greedy.ids),
                         ("best", tuple(int(tree.token[k]) for k in tree.path_to(tree.best))))
    }  # fmt: skip
    message(
        "greedy", language,
        *(f"{100 * item:.3g}%" for item in (result.greedy_probability, result.best_probability)),
        number(result.best_probability / result.greedy_probability), percent(the), percent(inside),
        f"{100 * result.greedy_probability / begins['greedy']:.3g}%",
        percent(result.best_probability / begins["best"]),
    )  # fmt: skip


@pytest.mark.parametrize("language", LANGUAGES)
def test_human_answer_matches_surprisal_order(language):
    result = precomputed.result("by_method", model=DECODER)
    order = sorted(METHODS, key=lambda method: result.mean(method).mean)
    assert order == ["beam", "greedy", "nucleus", "plain", "human", "hot"]
    verdicts = {name: result.more(name).verdict for name in METHODS[1:]}
    assert verdicts == {**dict.fromkeys(METHODS[1:], "less"), "hot": "more"}
    assert int(of("human", "answer", language)) == 1
    message(
        "human", language, *(number(result.mean(name).mean) for name in order if name != "beam")
    )
    people, expected = result.mean("human").mean, result.entropy_of("human")
    message("human", language, number(expected), number(people - expected))
    away = {name: abs(result.mean(name).mean - people) for name in METHODS[1:]}
    assert min(away, key=away.get) == "plain"  # the reveal says so
    # What the model writes costs what it expects; what people write costs more.
    low, high = result.mean("plain").ci
    assert low < result.entropy_of("plain") < high
    assert result.mean("human").low > expected


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("method", METHODS[1:])
def test_likely_note_splits_human_bits_into_entropy_and_gap(method, language):
    result = precomputed.result("by_method", model=DECODER)
    visible = textbook_rows.said(lesson, "likely", {"method": method}, language)
    people, expected = result.mean("human").mean, result.entropy_of("human")
    for value in (people, expected, people - expected, result.mean("plain").mean):
        assert number(value) in visible
    # Cross-entropy is entropy plus KL divergence, but the entropy of people, not of the model.
    denied = {"en": "no KL divergence", "zh": "不是 KL 散度"}[language]
    assert visible.count("KL") == visible.count(denied) == 1
    assert Text(language)(f"gpt.option.method.{method}") in visible


@pytest.mark.parametrize("language", LANGUAGES)
def test_note_speaks_of_tokens_left_only_where_some_are_cut(language, smollm2):
    """Temperature cuts none: a sentence on what "the others had" would speak of nothing."""
    bench = lesson.benches["scores"]
    whole = {"temperature": 1.5, "top_p": 1.0}
    assert "49,152" not in bench.run(whole, language, code=False).notes[0]
    cut = bench.run({**whole, "top_p": 0.5}, language, code=False)
    assert cut.readouts["kept"].value in cut.notes[0]


@pytest.mark.parametrize("language", LANGUAGES)
def test_again_answer_matches_repetition_probability(language, smollm2):
    result = repeated(DECODER, AGAIN)
    assert result.probability(12) > 0.95
    assert int(of("again", "answer", language)) == 2
    message("again", language, percent(result.probability(1)), percent(result.probability(12)))


@pytest.mark.parametrize("language", LANGUAGES)
def test_shots_answer_matches_accuracy_gain(language):
    result = precomputed.result("few_shots", model=DECODER)
    maximum, none = ("right", AMOUNTS[-1]), ("right", 0)
    gain = 100 * result.gain(maximum, none)
    assert gain.verdict == "null"
    assert int(of("shots", "answer", language)) == 1
    message(
        "shots", language, *(percent(result.accuracy(*item).mean) for item in (none, maximum)),
        *(number(item) for item in (gain.mean, *gain.ci)),
        percent(result.form(*none)), percent(result.form(*maximum)),
        percent(result.accuracy("random", AMOUNTS[-1]).mean),
    )  # fmt: skip


def test_readings_exercise_matches_token_sum():
    exercise = lesson.exercises["readings"]
    for variant, case in enumerate(exercise.cases):
        _, answer, _ = exercise.variant_of(variant)
        prompt, written = case["prompt"], case["written"]
        assert answer == sum(range(prompt, prompt + written))
        assert answer == written * prompt + written * (written - 1) / 2
        assert answer > readings(prompt, written)


@pytest.mark.parametrize("language", LANGUAGES)
def test_steps_note_never_gives_a_drawn_token_no_probability(language, smollm2):
    values = {"way": "sampled", "temperature": 1.2, "seed": 9, "step": 1}
    visible = textbook_rows.said(lesson, "steps", values, language)
    assert "0.0%" not in visible
    assert "Interactive" in visible  # it has a probability below 0.05%


def test_last_token_can_be_replaced(smollm2):
    bench = lesson.benches["steps"]
    before = bench.run({"step": COUNT}).facts
    after = bench.run({"step": COUNT, "rank": 2}).facts
    assert after["instead"] == before["token"] != after["token"]
    assert after["chance"] < before["chance"]
    assert after["own_bits"] > before["own_bits"]


def test_more_beginnings_follow_the_best_text_further():
    """The steps say how far: the most probable text begins with improbable tokens."""
    bench = lesson.benches["futures"]
    assert [bench.run({"shown": shown}).facts["followed"] for shown in (8, 40)] == [1, 5]
