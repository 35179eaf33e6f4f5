"""Questions at the end of a lesson, drawn from its exercises."""

from __future__ import annotations

from collections.abc import Collection, Mapping

import numpy as np

from seqviz.lessons.framework.lesson import Exercise

N_QUESTIONS = 5


def draw(
    exercises: Mapping[str, Exercise], seed: int, skip: Collection[tuple[str, int]] = ()
) -> tuple[tuple[str, int], ...]:
    """Draw questions: the exercises in turn, each with other numbers every time.

    Args:
        exercises: the lesson's exercises by name.
        seed: random seed.
        skip: questions that are not drawn.

    Returns:
        Name and variant of each question, all different; fewer than `N_QUESTIONS` only where the
        exercises have no more variants.
    """
    rng = np.random.default_rng(seed)
    decks = [
        [
            (name, variant)
            for variant in rng.permutation(len(exercise.cases)).tolist()
            if (name, variant) not in skip
        ]
        for name, exercise in exercises.items()
    ]
    rounds = (
        [deck[turn] for deck in decks if turn < len(deck)]
        for turn in range(max(map(len, decks), default=0))
    )
    return tuple(question for turn in rounds for question in turn)[:N_QUESTIONS]
