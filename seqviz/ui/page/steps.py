"""Steps of a bench on its page: chips, the current step in session and address, links to a step.

`<code>.<bench>.step=<n>` (`Bench.step_key`) in the address means: the reader has taken step n, and
the settings are still those of the step. Other settings remove it.
"""

from __future__ import annotations

from typing import Any

import streamlit as st

from seqviz.core.i18n import Text
from seqviz.core.languages import DEFAULT
from seqviz.lessons.framework import controls
from seqviz.lessons.framework.lesson import Bench, Lesson
from seqviz.lessons.framework.output import StepSentence
from seqviz.lessons.framework.output_html import note_html
from seqviz.lessons.framework.steps import light_json, matching
from seqviz.lessons.framework.words import LessonWords
from seqviz.ui.page import components, widgets
from seqviz.ui.runtime import run_context


def expand_links(lesson: Lesson) -> None:
    """Complete the address of a step by those of its settings that the address does not name."""
    for bench in lesson.benches.values():
        if number := _linked(bench):
            lang = widgets.language_of_defaults(bench.prefix, bench.declaration)
            declared = dict(controls.controls(bench.declaration, lang))
            for name, value in bench.step_settings(number, widgets.reader_language()).items():
                key = f"{bench.prefix}.{name}"
                if value != declared[name].default and key not in st.query_params:
                    st.query_params[key] = controls.encoded(value)
            if lang != DEFAULT:  # the settings alone would have the first language's defaults
                st.query_params[f"{bench.prefix}.{controls.DEFAULTS}"] = lang


def told_by_link(bench: Bench) -> dict[str, str]:
    """Return the step that the address names, as written; empty without a valid one."""
    return {bench.step_key: str(number)} if (number := _linked(bench)) else {}


def link(bench: Bench) -> dict[str, str]:
    """Return the query parameter of the current step; empty for none."""
    return {bench.step_key: str(number)} if (number := _current(bench)) else {}


def _linked(bench: Bench) -> int:
    """Return the number of the step that the address names; 0 without a valid one."""
    raw = st.query_params.get(bench.step_key, "") if bench.steps else ""
    valid = raw.isascii() and raw.isdigit() and len(raw) < 3
    return int(raw) if valid and 1 <= int(raw) <= len(bench.steps) else 0


def take(bench: Bench, number: int) -> None:
    """Set the controls of a bench to a step, before the run that draws them."""
    widgets.apply_values(bench.prefix, bench.step_settings(number, widgets.reader_language()))
    mark(bench, number)


def mark(bench: Bench, number: int) -> None:
    """Record that the reader has taken a step, in session and address; 0 for none."""
    links, key = run_context.session().links, bench.step_key
    if not number:
        links.pop(key, None)
        if key in st.query_params:
            del st.query_params[key]
        return
    links[key] = text = str(number)
    st.session_state[_done_key(bench)] = sorted({*_done(bench), number})
    if st.query_params.get(key) != text:
        st.query_params[key] = text


def update(bench: Bench, params: Any, number: object = None) -> None:
    """Record the step of a commit that the page does not draw.

    Args:
        bench: the bench.
        params: its parameters after the commit.
        number: number of the step as the browser reports it; anything else for a drag by hand.
    """
    if not bench.steps:
        return
    at = matching(bench.declaration, bench.steps, params, widgets.reader_language())
    if at and number == at:
        mark(bench, at)
    elif _current(bench) != at:
        mark(bench, 0)


def show(
    bench: Bench, params: Any, sentence: StepSentence | None, words: LessonWords, text: Text
) -> None:
    """Show the chips, with the sentence of the current step.

    Args:
        bench: a bench with steps.
        params: its parameters.
        sentence: sentence of the step that has these settings, or None.
        words: texts of the lesson.
        text: shared texts.
    """
    current = _current(bench)
    if current and current != matching(bench.declaration, bench.steps, params, text.lang):
        current = 0
    if current or bench.step_key in run_context.session().links:
        mark(bench, current)
    components.steps(
        f"{bench.prefix}.step-chips",  # no control has this name
        data(bench, params, sentence, words, text) | {"current": current, "done": _done(bench)},
        lambda number: take(bench, number),
    )


def data(
    bench: Bench, params: Any, sentence: StepSentence | None, words: LessonWords, text: Text
) -> dict[str, Any]:
    """Return the data of the script: steps, current settings and words; see `show`."""
    prefix = f"{bench.prefix}."
    steps = [
        {
            "text": words(f"{step.key}.do"),
            "settings": {
                f"{prefix}{name}": controls.encoded(value)
                for name, value in bench.step_settings(number, text.lang).items()
            },
            "named": [f"{prefix}{name}" for name in step.named(text.lang)],
            "lights": [light_json(light, text) for light in step.lights],
        }
        for number, step in enumerate(bench.steps, 1)
    ]
    named = bench.step_settings(1, text.lang)
    return {
        "bench": bench.prefix,
        "steps": steps,
        "key": bench.step_key,
        "values": {f"{prefix}{name}": controls.encoded(getattr(params, name)) for name in named},
        "sentence": sentence and {"number": sentence.number, "html": note_html(sentence)},
        "words": {"label": text("frame.steps.label"), "done": text("frame.steps.done")},
    }


def _current(bench: Bench) -> int:
    """Return the number of the step that the reader has taken last; 0 for none."""
    text = run_context.session().links.get(bench.step_key, "")
    return int(text) if text.isdigit() and 1 <= int(text) <= len(bench.steps) else 0


def _done_key(bench: Bench) -> str:
    return f"_{bench.prefix}.steps_done"


def _done(bench: Bench) -> list[int]:
    return list(st.session_state.get(_done_key(bench), ()))
