"""Questions on a page: predictions, exercises with a checked answer, and sketches."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence, Set
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import streamlit as st

from seqviz import lessons
from seqviz.compute import typed_numbers
from seqviz.core import settings
from seqviz.core.i18n import Text, number, percent
from seqviz.lessons.framework import controls
from seqviz.lessons.framework.control_schema import number_options
from seqviz.lessons.framework.error_messages import to_message
from seqviz.lessons.framework.lesson import Bench, Exercise, Lesson
from seqviz.lessons.framework.steps import light_json
from seqviz.lessons.framework.veil import Question
from seqviz.lessons.framework.words import LessonWords
from seqviz.ui.page import classroom_panel, components, widgets
from seqviz.ui.render import html
from seqviz.ui.runtime import run_context
from seqviz.ui.runtime.result_cache import cached
from seqviz.ui.streamlit_patches.fragment_reruns import draw_page

MAX_TRIES = 2
WHOLE_TOLERANCE = 0.5  # of answers that are whole numbers


def predict(words: LessonWords, key: str, question: Question, bench: Bench) -> None:
    """Show a question, its options, and the explanation once it is answered.

    A wrong answer gets its own feedback and a second try. In a room the class votes, and the
    teacher reveals the answer.

    Args:
        words: texts of the lesson.
        key: of the question.
        question: its declaration.
        bench: the bench that answers it.
    """
    text, position = words.text, f"{words.slug}.predict.{question.name}"
    options = text.items(f"{position}.options")
    right = int(text(f"{position}.answer"))
    answered = run_context.session().answered
    st.markdown(f"**{text('frame.predict')}** {text(f'{position}.question')}")
    if classroom_panel.code():
        classroom_panel.vote(text, key, options, right)
        chosen = st.session_state.get(f"{key}.revealed", "hidden")
        if chosen == "hidden":
            return
        answered.add(key)
        tries = [] if chosen is None else [chosen]
    else:
        tries = _tries(text, key, options, right)
    if key not in answered:
        if tries:
            key = f"{position}.feedback"
            feedback = text.items(key)[tries[-1]] if text.has(key) else ""
            st.info(f"**{text('frame.wrong')}** {feedback} {text('frame.try_again')}")
        return
    verdict = text("frame.right" if tries[-1] == right else "frame.wrong") if tries else ""
    with st.container(key=f"{key}.done"):  # `assets/static/bench/progress.js` looks for it
        box = st.success if tries and tries[-1] == right else st.info
        box(f"**{verdict}** {text(f'{position}.reveal')}" if tries else text(f"{position}.reveal"))
        if question.at is not None:
            st.button(
                text("frame.show_it"), key=f"{key}.show", type="tertiary",
                icon=":material/arrow_forward:", on_click=partial(_set_to_answer, bench, question),
            )  # fmt: skip
            if question.above:
                titles = (text(f"{words.slug}.bench.{name}") for name in question.above)
                st.caption(text("frame.sets_above", figures=", ".join(titles)))
            if st.session_state.pop(f"{key}.above", False):
                draw_page()


def _set_to_answer(bench: Bench, question: Question) -> None:
    """Set the controls of the bench, and of those that it reads, to the answer of a question."""
    widgets.set_all(bench.prefix, bench.declaration, question.at or {})
    for name, values in question.above.items():
        other = bench.lesson.benches[name]
        widgets.set_all(other.prefix, other.declaration, values)
        st.session_state[f"{bench.lesson.record.code}.predict.{question.name}.above"] = True


def lift(text: Text, key: str, predictions: Set[str]) -> None:
    """Show a button that lifts the veil of a bench whose questions stand elsewhere.

    Args:
        text: translations.
        key: of the button.
        predictions: keys of the open predictions about it; without any nothing is shown.
    """
    if predictions and settings.value("SEQVIZ_GUIDED"):
        with st.container(horizontal=True, vertical_alignment="center"):
            st.caption(text("frame.answered_above", count=len(predictions)))
            answered = run_context.session().answered
            st.button(text("frame.result"), key=key, type="tertiary",
                      on_click=partial(answered.update, predictions))  # fmt: skip


def _tries(text: Text, key: str, options: Sequence[str], right: int) -> list[int]:
    """Show the options with a button to skip, and return the answers given so far."""
    answered = run_context.session().answered
    tries: list[int] = st.session_state.setdefault(f"{key}.tries", [])
    if key in answered:
        icons = {**dict.fromkeys(tries, ":material/close:"), right: ":material/check:"}
        lines = [f"{icons.get(at, '◦')} {option}" for at, option in enumerate(options)]
        st.markdown("  \n".join(lines))
        return tries

    def choose() -> None:
        if (chosen := st.session_state[key]) is not None:
            tries.append(chosen)
            if chosen == right or len(tries) == MAX_TRIES:
                answered.add(key)

    with st.container(horizontal=True, vertical_alignment="center"):
        st.radio(
            text("frame.predict"), range(len(options)), index=None, key=key, horizontal=True,
            format_func=options.__getitem__, label_visibility="collapsed",
            persist_state="session", on_change=choose,
        )  # fmt: skip
        st.button(
            text("frame.skip"), key=f"{key}.skip", type="tertiary",
            on_click=partial(answered.add, key),
        )  # fmt: skip
    return tries


def own_answer(words: LessonWords, bench: Bench, params: Any) -> None:
    """Show what the reader has predicted once the figure shows the answer, and light it up there.

    Args:
        words: texts of the lesson.
        bench: the bench that answers the prediction.
        params: its parameters.
    """
    text, code = words.text, bench.lesson.record.code
    for question in bench.questions:
        key, position = f"{code}.predict.{question.name}", f"{words.slug}.predict.{question.name}"
        tries = st.session_state.get(f"{key}.tries")
        if question.veils and tries and key in run_context.session().answered:
            chosen = text.items(f"{position}.options")[tries[-1]]
            right = tries[-1] == int(text(f"{position}.answer"))
            sentence = text("frame.predicted", answer=chosen)
            if question.lights:
                lights = _lights(question, tries[-1], bench, params, text)
                components.answer(f"{key}.answer", bench.prefix, sentence, right, lights)
            else:
                st.caption(f"{':material/check:' if right else ':material/close:'} {sentence}")


def _lights(
    question: Question, option: int, bench: Bench, params: Any, text: Text
) -> list[dict[str, Any]]:
    """Return what an option lights up; nothing where the figure shows other settings."""
    at = controls.parse_params(bench.declaration, question.at or {})
    if any(getattr(params, name) != getattr(at, name) for name in question.at or ()):
        return []
    return [light_json(light, text) for light in question.lights[option]]


def posed(slug: str, name: str, variant: int) -> tuple[Mapping[str, object], float, float]:
    """Return a variant of an exercise; its arguments are names, so the result can be cached."""
    exercise: Exercise = getattr(lessons, slug).lesson.quiz[name]
    return exercise.variant_of(variant)


def ask(words: LessonWords, key: str, exercise: Exercise) -> None:
    """Show one variant of an exercise, with a button for another."""
    variant = st.session_state.setdefault(f"{key}.variant", 0)

    def another() -> None:
        st.button(
            words.text("frame.another"), key=f"{key}.next", type="tertiary",
            icon=":material/refresh:",
            on_click=lambda: st.session_state.update({f"{key}.variant": variant + 1}),
        )  # fmt: skip

    label = words.text("frame.exercise")
    pose(words, f"{key}.{variant}", exercise, variant, label, another, f"{key}.done")


def pose(
    words: LessonWords,
    key: str,
    exercise: Exercise,
    variant: int,
    label: str,
    button: Callable[[], object] | None = None,
    done: str | None = None,
) -> bool | None:
    """Show a variant of an exercise and check the reader's answer.

    Args:
        words: texts of the lesson.
        key: of this variant.
        exercise: its declaration.
        variant: its number.
        label: bold words before the question.
        button: shows a button beside the field.
        done: key of the container of the message for a right answer.

    Returns:
        Whether the answer is right; None without one.
    """
    text, position = words.text, f"{words.slug}.{exercise.kind}.{exercise.name}"
    try:
        values, answer, tolerance = cached(posed)(words.slug, exercise.name, variant).result
    except ValueError as refusal:
        st.warning(to_message(refusal, words), icon=":material/info:")
        return None
    st.markdown(f"**{label}** {text(f'{position}.question', **values)}")
    with st.container(horizontal=True, vertical_alignment="bottom"):
        given = _given(text, key, exercise)
        if button:
            button()
    if given is None:
        return None
    if abs(given - answer) <= tolerance:
        solution = f"{answer:,.0f}" if answer.is_integer() else number(answer, 4)
        message = text(f"{position}.right", **{**values, "answer": solution})
        with st.container(key=done):
            st.success(f"**{text('frame.right')}** {message}")
        return True
    st.info(f"**{text('frame.not_yet')}** {text(f'{position}.hint', **values)}")
    return False


def _given(text: Text, key: str, exercise: Exercise) -> float | None:
    """Return the number that the reader has entered, if any.

    The label of the field says how exact it must be.
    """
    tolerance = ""
    if exercise.share:
        tolerance = percent(exercise.share, 0)
    elif 0 < exercise.within < WHOLE_TOLERANCE:
        tolerance = f"{exercise.within:g}"
    label = text("frame.answer")
    if tolerance:
        label = text("frame.answer_within", tolerance=tolerance)

    def take(answer: str) -> None:
        with suppress(ValueError):
            st.session_state[key] = typed_numbers.number(answer) if answer else None

    options = {**number_options(label, None, text),
               "value": st.session_state.get(key)}  # fmt: skip
    with st.container(key=f"{key}.field", width=290):
        components.number(f"{key}.number", options, take)
    return st.session_state.get(key)


_TAG = re.compile(r"<[^>]*>")
# Pixels, of curves and bars, which are wide; on slides they are as tall as the others.
_SKETCH_HEIGHT = 280


@dataclass(frozen=True)
class SketchFigures:
    """Figures of a sketch as the page sends them, before and after the result is revealed.

    Attributes:
        before: JSON of the empty axes.
        after: JSON of the computed figure.
        alts: alternative text of both.
        around: what the browser needs to draw and compare (`classroom/drawn_prediction.js`).
        y: the computed values, sent only when revealed.
    """

    before: bytes
    after: bytes
    alts: tuple[str, str]
    around: Mapping[str, Any]
    y: list[Any]


def sketch_figures(slug: str, name: str, lang: str, presenting: bool) -> SketchFigures:
    """Return the figures of a sketch; its arguments are names, so the result can be cached."""
    lesson: Lesson = getattr(lessons, slug).lesson
    sketch = lesson.sketches[name]
    style = html.style(lang, presenting)
    if not presenting and sketch.kind != "cell":
        style = replace(style, height=_SKETCH_HEIGHT)
    posed = sketch.posed(lesson, style)
    axes = {letter: posed.after.axis(letter) for letter in "xy"}
    titles = {letter: _TAG.sub("", axis["title"]["text"]) for letter, axis in axes.items()}
    bench = lesson.benches[sketch.bench]
    around = {
        "kind": sketch.kind,
        "x": posed.x.tolist(),
        "rows": posed.rows.tolist(),
        "ends": posed.ends,
        "log": axes["y"].get("type") == "log",
        "most": posed.max_values,
        "titles": titles,
        "height": style.height,
        "named": {
            letter: [_TAG.sub("", str(word)) for word in axis["ticktext"]]
            for (letter, axis), positions in zip(axes.items(), (posed.x, posed.rows), strict=True)
            if positions.tolist() == list(axis.get("tickvals", [None]))
        },
        "bench": sketch.bench,
        "prefix": bench.prefix,
        "settings": controls.permalink(
            bench.prefix, controls.parse_params(bench.declaration, sketch.values)
        ),
    }
    values = posed.y.astype(object)
    values[~np.isfinite(posed.y)] = None  # JSON has no NaN
    alts = (style.text("alt.sketch", **titles), style.text("alt.sketch_computed", **titles))
    before, after = (figure.to_json().encode() for figure in (posed.before, posed.after))
    return SketchFigures(before, after, alts, around, values.tolist())


def sketch(words: LessonWords, key: str, name: str, presenting: bool) -> None:
    """Show a prediction to draw on real axes, and its result on request."""
    text, position = words.text, f"{words.slug}.sketch.{name}"
    st.markdown(f"**{text('frame.predict')}** {text(f'{position}.question')}")
    try:
        result = cached(sketch_figures)(words.slug, name, text.lang, presenting).result
    except ValueError as refusal:
        st.warning(to_message(refusal, words), icon=":material/info:")
        return
    state = f"{key}.{classroom_panel.code()}.computed"  # in a room the teacher reveals the result

    def computed(on: bool) -> None:
        st.session_state[state] = on
        if on:
            run_context.session().answered.add(key)

    done = bool(st.session_state.get(state))
    own = {
        name: message for name, message in text.table(position).items() if name in ("own", "median")
    }
    missing = text("frame.no_library")
    around = {"alt": result.alts[done], "y": result.y if done else None, "missing": missing}
    common = {**text.table("sketch"), "skip": text("frame.skip")}
    payload = {**result.around, **around, "words": {**common, **own}}
    components.sketch(
        key, payload, result.after if done else result.before, classroom_panel.words(text), computed
    )
    if done:
        run_context.session().answered.add(key)
        with st.container(key=f"{key}.done"):
            st.info(text(f"{position}.reveal"))
