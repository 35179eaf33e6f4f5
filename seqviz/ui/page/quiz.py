"""Five questions at the end of a lesson, one after the other, drawn when their card is opened."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial

import numpy as np
import streamlit as st

from seqviz.lessons.framework.lesson import Lesson
from seqviz.lessons.framework.quiz import draw
from seqviz.lessons.framework.words import LessonWords
from seqviz.ui.page import questions
from seqviz.ui.page.fragments import fragment
from seqviz.ui.runtime import run_context


@dataclass
class Round:
    """The questions of one round and the answers so far.

    Attributes:
        number: of the round in this session.
        questions: name and variant of each exercise.
        position: index of the question on screen; their number once the result is.
        first_answers: for each answered question, whether the first answer was right.
    """

    number: int
    questions: tuple[tuple[str, int], ...]
    position: int = 0
    first_answers: list[bool] = field(default_factory=list)

    def advance(self) -> None:
        """Go to the next question, or to the result, if this one is answered."""
        self.position = min(self.position + 1, len(self.first_answers))


def card(words: LessonWords, declared: Lesson) -> None:
    """Show the folded card; nothing is drawn or computed until it is opened."""
    key = f"{declared.record.code}.quiz"

    def panel() -> None:
        opened = st.expander(
            words.text("quiz.title"), icon=":material/check:", key=f"{key}.card", on_change="rerun"
        )
        if opened.open:
            with opened:
                show_round(words, key, declared)

    fragment(run_context.lesson_scope()(panel), key)


def start(declared: Lesson, key: str) -> None:
    """Start a round with questions that are not on screen, neither here nor in the lesson."""
    before: Round | None = st.session_state.get(f"_{key}")
    code = declared.record.code
    on_screen = {
        (name, st.session_state.get(f"{code}.exercise.{name}.variant", 0) % len(exercise.cases))
        for name, exercise in declared.exercises.items()
    }
    seed = int(np.random.default_rng().integers(2**32))
    deck = draw(declared.quiz, seed, on_screen.union(before.questions if before else ()))
    st.session_state[f"_{key}"] = Round(before.number + 1 if before else 0, deck)


def show_round(words: LessonWords, key: str, declared: Lesson) -> None:
    """Show the current question of a round, or its result."""
    text = words.text
    if f"_{key}" not in st.session_state:
        start(declared, key)
    current: Round = st.session_state[f"_{key}"]
    count = len(current.questions)
    if current.position == count:
        score = sum(current.first_answers)
        with st.container(key=f"{key}.{score}.done"):  # `bench/progress.js` looks for it
            box = st.success if score == count else st.info
            box(text("quiz.result", score=score, of=count))
        st.button(
            text("quiz.new"), key=f"{key}.new", type="tertiary", icon=":material/refresh:",
            on_click=partial(start, declared, key),
        )  # fmt: skip
        return
    name, variant = current.questions[current.position]
    is_right = questions.pose(
        words, f"{key}.{current.number}.{current.position}", declared.quiz[name], variant,
        text("quiz.place", place=current.position + 1, of=count),
    )  # fmt: skip
    if is_right is None:
        return
    if len(current.first_answers) == current.position:
        current.first_answers.append(is_right)
    label = "frame.result" if current.position == count - 1 else "quiz.next"
    st.button(text(label), key=f"{key}.next", icon=":material/arrow_forward:",
              on_click=current.advance)  # fmt: skip
