"""Pinned curves of a figure: which figures have some, and the words of their chips."""

from __future__ import annotations

from collections import Counter
from typing import Any

import streamlit as st

from seqviz.lessons.framework import controls
from seqviz.lessons.framework.words import LessonWords
from seqviz.plotting.figure import Figure
from seqviz.ui.page import components, widgets
from seqviz.ui.runtime import run_context

MIN_POINTS = 3  # of a curve, as in the script
MAX_LENGTH = 2000  # characters of the pins in the address


def has_curves(chart: object) -> bool:
    """Return True for a figure with lines, or bars that stand alone (`ghost` in `bench/pins.js`).

    Args:
        chart: a figure or a drawing of another kind.
    """
    if not isinstance(chart, Figure) or "map" in (chart.page.get("meta") or {}):
        return False
    bars = Counter(t.get("yaxis", "y") for t in chart.traces if t.get("type") == "bar")
    return 1 in bars.values() or any(
        t.get("type", "scatter") == "scatter"
        and "lines" in t.get("mode", "")
        and len(t.get("y", ())) >= MIN_POINTS
        for t in chart.traces
    )


def show(prefix: str, declaration: type[Any], words: LessonWords) -> None:
    """Show the chips of a figure's pins; session and address keep the pins.

    Args:
        prefix: of the bench.
        declaration: its controls.
        words: texts of the lesson.
    """
    key = f"{prefix}.pin"
    links = run_context.session().links
    if key in st.query_params:
        links[key] = st.query_params[key]
    elif key in links:  # a run that began before they were set
        st.query_params[key] = links[key]

    def take(pins: object) -> None:
        if isinstance(pins, str) and len(pins) <= MAX_LENGTH:
            links[key] = st.query_params[key] = pins
        elif pins is None:
            links.pop(key, None)
            st.query_params.pop(key, None)

    components.pins(f"{prefix}.pins", data(prefix, declaration, words), take)


def data(prefix: str, declaration: type[Any], words: LessonWords) -> dict[str, Any]:
    """Return the data of the script: labels and defaults of the controls, and words.

    Args:
        prefix: of the bench.
        declaration: its controls.
        words: texts of the lesson.
    """
    labels, options, defaults = {}, {}, {}
    table = words.text.table("pins")
    for name, control in widgets.declared(prefix, declaration):
        key = f"{prefix}.{name}"
        labels[key] = words.control(name)[0]
        defaults[key] = controls.encoded(control.default)
        if isinstance(control, controls.Choice):
            options[key] = {option: words.option(name, option) for option in control.options}
        elif isinstance(control, controls.Toggle):
            options[key] = {value: table[value] for value in ("true", "false")}
    return {
        "bench": prefix,
        "key": f"{prefix}.pin",
        "labels": labels,
        "options": options,
        "defaults": defaults,
        "words": table,
    }
