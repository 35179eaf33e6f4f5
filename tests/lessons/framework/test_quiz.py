"""Questions drawn for the end of a lesson: five, all different, all answerable."""

from __future__ import annotations

import json
import math

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
    exercises = getattr(lessons, slug).lesson.exercises
    opening = {(name, 0) for name in exercises}  # in the lesson itself
    first = draw(exercises, 1, opening)
    second = draw(exercises, 2, opening.union(first))
    assert len(first) == len(second) == N_QUESTIONS
    assert len(opening.union(first, second)) == len(opening) + 2 * N_QUESTIONS
    assert {name for name, _ in first} == set(exercises)


@pytest.mark.parametrize("slug", SLUGS)
def test_every_variant_is_another_question_with_finite_answer(slug):
    for name, exercise in getattr(lessons, slug).lesson.exercises.items():
        assert len({json.dumps(case) for case in exercise.cases}) == len(exercise.cases)
        for variant in range(len(exercise.cases)):
            case, answer, tolerance = exercise.variant_of(variant)
            assert math.isfinite(answer)
            assert tolerance > 0
            for lang in LANGUAGES:
                assert "{" not in Text(lang)(f"{slug}.exercise.{name}.question", **case)


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
