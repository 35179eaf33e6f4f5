"""Questions drawn for the end of a lesson: five, all different, all answerable."""

from __future__ import annotations

import json
import math
import re
import statistics
from collections.abc import Callable
from itertools import accumulate

import pytest

from seqviz import lessons
from seqviz.content import catalog
from seqviz.core.i18n import LANGUAGES, Text
from seqviz.lessons.framework.lesson import Exercise
from seqviz.lessons.framework.quiz import N_QUESTIONS, draw

SLUGS = [record.slug for record in catalog.LESSONS]


def numbered(name: str, count: int) -> Exercise:
    return Exercise(name, tuple({"x": x} for x in range(count)), answer=lambda x: x)


@pytest.mark.parametrize("slug", SLUGS)
def test_draw_gives_five_other_questions_in_each_of_two_rounds(slug):
    lesson = getattr(lessons, slug).lesson
    exercises = lesson.quiz
    assert len(exercises) == len(lesson.exercises) + len(lesson.checks) >= 3
    opening = {(name, 0) for name in lesson.exercises}  # in the lesson itself
    first = draw(exercises, 1, opening)
    second = draw(exercises, 2, opening.union(first))
    assert len(first) == len(second) == N_QUESTIONS
    assert len(opening.union(first, second)) == len(opening) + 2 * N_QUESTIONS
    assert {name for name, _ in first} == set(exercises)


@pytest.mark.parametrize("slug", SLUGS)
def test_every_variant_is_another_question_with_finite_answer(slug):
    for name, exercise in getattr(lessons, slug).lesson.quiz.items():
        assert len({json.dumps(case) for case in exercise.cases}) == len(exercise.cases)
        for variant in range(len(exercise.cases)):
            case, answer, tolerance = exercise.variant_of(variant)
            assert math.isfinite(answer)
            assert tolerance > 0
            for lang in LANGUAGES:
                assert "{" not in Text(lang)(f"{slug}.{exercise.kind}.{name}.question", **case)


# Closed forms, each as its hint says it.
CLOSED_FORMS: dict[str, Callable[..., float]] = {
    "ar_fitting.variance": lambda phi: 1 / (1 - phi**2),
    "ar_fitting.correlation": lambda phi, lag: phi**lag,
    "text.bytes": lambda text: len(text.encode()),
    "text.analogy": lambda king, crown, man, low, woman, high: crown - low + high,
    "language_models.bits": lambda first, second, third: math.log2(first * second * third),
    "language_models.add_one": lambda count, total, symbols: (count + 1) / (total + symbols),
    "recurrent.gru": lambda inputs, hidden: 3 * hidden * (inputs + hidden + 2),
    "recurrent.unshared": lambda inputs, hidden, steps: steps * hidden * (inputs + hidden + 2),
    "vanishing_gradients.share": lambda gain, steps: 100 * gain**steps,
    "vanishing_gradients.growth": lambda gain, steps: gain**steps,
    "gates.lstm": lambda inputs, hidden: 4 * hidden * (inputs + hidden + 2),
    "gates.temperature": lambda a, temperature: 1 / (1 + math.exp(-a / temperature)),
    "attention.causal": lambda tokens: tokens * (tokens + 1) / 2,
    "attention.score": lambda dot, d_k: dot / math.sqrt(d_k),
    "positions.alibi": lambda heads, head: 2 ** (-8 * (head + 1) / heads),
    "positions.rotation": lambda d_k, offset: offset * 10_000 ** (-2 / d_k) * 180 / math.pi,
    "transformer.norm": lambda first, *rest: (
        (first - statistics.fmean((first, *rest))) / statistics.pstdev((first, *rest))
    ),
    "transformer.masked": lambda first, second, _: (
        math.exp(first) / (math.exp(first) + math.exp(second))
    ),
    "gpt.ratio": lambda ratio, temperature: ratio ** (1 / temperature),
    "gpt.nucleus": lambda percents, top_p: (
        1 + sum(total < top_p for total in accumulate(map(int, percents.split(", "))))
    ),
    "bert_accuracy.classifier": lambda width, classes: classes * (width + 1),
}


def test_every_check_has_a_closed_form():
    declared = {f"{s}.{name}" for s in SLUGS for name in getattr(lessons, s).lesson.checks}
    assert declared == set(CLOSED_FORMS)


@pytest.mark.parametrize("key", CLOSED_FORMS)
def test_check_accepts_closed_form_and_rejects_its_neighbors(key):
    slug, name = key.split(".")
    check = getattr(lessons, slug).lesson.checks[name]
    answers = []
    for variant in range(len(check.cases)):
        case, answer, tolerance = check.variant_of(variant)
        form = CLOSED_FORMS[key](*case.values())
        assert abs(form - answer) <= tolerance / 5
        assert tolerance <= max(0.5, 0.05 * abs(form))
        answers.append(answer)
    assert len(set(answers)) > 2  # no constant passes


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("key", CLOSED_FORMS)
def test_check_words_name_all_numbers_and_differ_between_languages(key, lang):
    slug, name = key.split(".")
    check, text = getattr(lessons, slug).lesson.checks[name], Text(lang)
    case = check.cases[0]
    for part in ("question", "right", "hint"):
        sentence = text(f"{slug}.check.{name}.{part}", **case, answer="42")
        assert bool(re.search("[一-鿿]", re.sub("“.*?”", "", sentence))) == (lang == "zh")
        if part == "question":
            assert all(str(value) in sentence for value in case.values())


def test_draw_repeats_with_seed_and_takes_exercises_in_turn():
    exercises = {"a": numbered("a", 9), "b": numbered("b", 9)}
    assert draw(exercises, 3) == draw(exercises, 3)
    assert len({draw(exercises, seed) for seed in range(20)}) > 10
    assert [name for name, _ in draw(exercises, 3)] == ["a", "b", "a", "b", "a"]


def test_draw_fills_up_from_longer_exercise_and_gives_fewer_without_variants():
    drawn = draw({"a": numbered("a", 1), "b": numbered("b", 9)}, 0)
    assert sorted(name for name, _ in drawn) == ["a", "b", "b", "b", "b"]
    assert draw({"a": numbered("a", 3)}, 0, {("a", 1)}) in (
        (("a", 0), ("a", 2)),
        (("a", 2), ("a", 0)),
    )
    assert draw({}, 0) == ()
