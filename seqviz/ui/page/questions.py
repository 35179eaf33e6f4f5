"""Questions on a page: one to answer before looking, and tasks that check themselves."""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st

from seqviz import lessons
from seqviz.lessons.bench.lesson import Exercise
from seqviz.lessons.bench.words import Words
from seqviz.ui.page import classroom
from seqviz.ui.shared.caching import cached


def predict(words: Words, key: str, name: str, values: Mapping[str, object]) -> None:
    """The question, its options, and its reveal once one is chosen."""
    text, place = words.text, f"{words.slug}.predict.{name}"
    options = text.items(f"{place}.options")
    st.markdown(f"**{text('frame.predict')}** {text(f'{place}.question')}")
    if classroom.code():
        classroom.vote(text, key, options)
        chosen = st.session_state.get(f"{key}.revealed", "hidden")
        if chosen is None:  # who has not voted reads the answer, too
            st.info(text(f"{place}.reveal", **values))
    else:
        chosen = st.radio(
            text("frame.predict"), range(len(options)), index=None, key=key,
            format_func=options.__getitem__, label_visibility="collapsed",
        )  # fmt: skip
    if not isinstance(chosen, int):
        return
    right = chosen == int(text(f"{place}.answer"))
    verdict = text("frame.right" if right else "frame.wrong")
    with st.container(key=f"{key}.done"):  # `assets/static/progress.js` looks for it
        (st.success if right else st.info)(f"**{verdict}** {text(f'{place}.reveal', **values)}")


def posed(slug: str, name: str, variant: int) -> tuple[Mapping[str, object], float, float]:
    """A variant of an exercise of a lesson, for what the class shares: told by its names."""
    found: Exercise = getattr(lessons, slug).lesson.exercises[name]
    return found.posed(variant)


def ask(words: Words, key: str, exercise: Exercise) -> None:
    """One variant of a task; a new one can be asked for as often as one likes."""
    text, place = words.text, f"{words.slug}.exercise.{exercise.name}"
    variant = st.session_state.setdefault(f"{key}.variant", 0)
    values, answer, tolerance = cached(posed)(words.slug, exercise.name, variant).result
    st.markdown(f"**{text('frame.exercise')}** {text(f'{place}.question', **values)}")
    row = st.container(horizontal=True, vertical_alignment="bottom")
    with row:
        given = st.number_input(
            text("frame.answer"), value=None, key=f"{key}.{variant}", format="%.4g", width=220,
        )  # fmt: skip
        st.button(
            text("frame.another"), key=f"{key}.next", type="tertiary", icon=":material/refresh:",
            on_click=lambda: st.session_state.update({f"{key}.variant": variant + 1}),
        )  # fmt: skip
    if given is None:
        return
    if abs(given - answer) <= tolerance:
        said = text(f"{place}.right", **{**values, "answer": f"{answer:.4g}"})
        with st.container(key=f"{key}.done"):
            st.success(f"**{text('frame.right')}** {said}")
    else:
        st.info(f"**{text('frame.not_yet')}** {text(f'{place}.hint', **values)}")
