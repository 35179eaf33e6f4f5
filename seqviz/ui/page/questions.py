"""Questions on a page: predictions, exercises with a checked answer, and sketches."""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np
import streamlit as st

from seqviz import lessons
from seqviz.compute import typed_numbers
from seqviz.core.i18n import Text
from seqviz.lessons.framework import controls
from seqviz.lessons.framework.control_schema import number_options
from seqviz.lessons.framework.error_messages import to_message
from seqviz.lessons.framework.lesson import Exercise, Lesson
from seqviz.lessons.framework.words import LessonWords
from seqviz.ui.page import classroom_panel, components
from seqviz.ui.render import html
from seqviz.ui.runtime.result_cache import cached


def predict(words: LessonWords, key: str, name: str, values: Mapping[str, object]) -> None:
    """Show a question, its options, and the explanation once one is chosen."""
    text, position = words.text, f"{words.slug}.predict.{name}"
    options = text.items(f"{position}.options")
    st.markdown(f"**{text('frame.predict')}** {text(f'{position}.question')}")
    if classroom_panel.code():
        classroom_panel.vote(text, key, options)
        chosen = st.session_state.get(f"{key}.revealed", "hidden")
        if chosen is None:  # a reader who has not voted sees the answer, too
            st.info(text(f"{position}.reveal", **values))
    else:
        chosen = st.radio(
            text("frame.predict"), range(len(options)), index=None, key=key,
            format_func=options.__getitem__, label_visibility="collapsed", persist_state="session",
        )  # fmt: skip
    if not isinstance(chosen, int):
        return
    right = chosen == int(text(f"{position}.answer"))
    verdict = text("frame.right" if right else "frame.wrong")
    with st.container(key=f"{key}.done"):  # `assets/static/bench/progress.js` looks for it
        (st.success if right else st.info)(f"**{verdict}** {text(f'{position}.reveal', **values)}")


def posed(slug: str, name: str, variant: int) -> tuple[Mapping[str, object], float, float]:
    """Return a variant of an exercise; its arguments are names, so the result can be cached."""
    exercise: Exercise = getattr(lessons, slug).lesson.exercises[name]
    return exercise.variant_of(variant)


def ask(words: LessonWords, key: str, exercise: Exercise) -> None:
    """Show one variant of an exercise, with a button for another."""
    text, position = words.text, f"{words.slug}.exercise.{exercise.name}"
    variant = st.session_state.setdefault(f"{key}.variant", 0)
    try:
        values, answer, tolerance = cached(posed)(words.slug, exercise.name, variant).result
    except ValueError as refusal:
        st.warning(to_message(refusal, words), icon=":material/info:")
        return
    st.markdown(f"**{text('frame.exercise')}** {text(f'{position}.question', **values)}")
    row = st.container(horizontal=True, vertical_alignment="bottom")
    with row:
        given = _given(text, f"{key}.{variant}")
        st.button(
            text("frame.another"), key=f"{key}.next", type="tertiary", icon=":material/refresh:",
            on_click=lambda: st.session_state.update({f"{key}.variant": variant + 1}),
        )  # fmt: skip
    if given is None:
        return
    if abs(given - answer) <= tolerance:
        message = text(f"{position}.right", **{**values, "answer": f"{answer:.4g}"})
        with st.container(key=f"{key}.done"):
            st.success(f"**{text('frame.right')}** {message}")
    else:
        st.info(f"**{text('frame.not_yet')}** {text(f'{position}.hint', **values)}")


def _given(text: Text, key: str) -> float | None:
    """Return the number that the reader has entered, if any."""

    def take(answer: str) -> None:
        with suppress(ValueError):
            st.session_state[key] = typed_numbers.number(answer) if answer else None

    options = {**number_options(text("frame.answer"), None, text),
               "value": st.session_state.get(key)}  # fmt: skip
    with st.container(key=f"{key}.field", width=220):
        components.number(f"{key}.number", options, take)
    return st.session_state.get(key)


_TAG = re.compile(r"<[^>]*>")


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

    done = bool(st.session_state.get(state))
    own = {
        name: message for name, message in text.table(position).items() if name in ("own", "median")
    }
    missing = text("frame.no_library")
    around = {"alt": result.alts[done], "y": result.y if done else None, "missing": missing}
    payload = {**result.around, **around, "words": {**text.table("sketch"), **own}}
    components.sketch(
        key, payload, result.after if done else result.before, classroom_panel.words(text), computed
    )
    if done:
        st.info(text(f"{position}.reveal"))
