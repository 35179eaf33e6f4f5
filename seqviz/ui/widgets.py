"""Draw what a bench declares, and keep the address bar in step with it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import streamlit as st

from seqviz.text import Text, number
from seqviz.ui.controls import Choice, Control, Seed, Slider, Steps, Toggle, controls, encoded

P = TypeVar("P")


def current(prefix: str, declaration: type[P]) -> P:
    """The values as they stand (widget, else link, else default), without drawing anything."""
    values: dict[str, Any] = {}
    for name, control in controls(declaration):
        key = f"{prefix}.{name}"
        shown = control.when is None or control.when(values)
        values[name] = _value(key, control) if shown else control.default
    return declaration(**values)


def _value(key: str, control: Control) -> Any:
    if key in st.session_state:
        value = st.session_state[key]
        if isinstance(control, Choice) and control.many:
            return control.ordered(value)
        return value
    raw = st.query_params.get(key)
    if raw is None:
        return control.default
    try:
        return control.clean(raw)
    except (ValueError, KeyError):  # an invalid link falls back to the default
        return control.default


def draw(
    prefix: str,
    declaration: type[P],
    text: Text,
    words: Callable[[str], tuple[str, str | None]],
    names: Callable[[str, str], str],
    above: Any,
    side: Any,
) -> P:
    """Draw the widgets of a declaration and return its instance.

    `words(field)` gives a control's label and help, `names(field, option)` an option's label.
    Views go to `above` (over the figure), everything else to `side`; controls marked `more` hide
    behind one quiet expander, so that few are seen at first.
    """
    front = side.container()
    behind = None
    values: dict[str, Any] = {}
    for name, control in controls(declaration):
        if control.when is not None and not control.when(values):
            values[name] = control.default
            continue
        place = front
        if isinstance(control, Choice) and control.above:
            place = above
        elif control.more:
            behind = behind or side.expander(text("frame.more"), type="compact")
            place = behind
        with place:
            values[name] = _widget(control, f"{prefix}.{name}", name, words, names)
    return declaration(**values)


def _widget(
    control: Control,
    key: str,
    name: str,
    words: Callable[[str], tuple[str, str | None]],
    names: Callable[[str, str], str],
) -> Any:
    if key not in st.session_state:
        start = _value(key, control)
        st.session_state[key] = list(start) if isinstance(start, tuple) else start
    label, help_text = words(name)
    common: dict[str, Any] = {
        "key": key,
        "help": help_text,
        "persist_state": "page",
    }
    match control:
        case Slider():
            kind = type(control.default)
            value = st.slider(
                label,
                kind(control.low),
                kind(control.high),
                step=kind(control.step),
                **common,
            )
        case Steps():
            value = st.select_slider(label, control.stops, format_func=_stop, **common)
        case Choice(many=True):
            chosen = st.pills(
                label,
                control.options,
                selection_mode="multi",
                format_func=lambda option: names(name, option),
                **common,
            )
            value = control.ordered(chosen)
        case Choice(menu=True):
            value = st.selectbox(
                label, control.options, format_func=lambda o: names(name, o), **common
            )
        case Choice():
            value = st.segmented_control(
                label,
                control.options,
                format_func=lambda o: names(name, o),
                required=True,
                label_visibility="collapsed" if control.above else "visible",
                **common,
            )
        case Toggle():
            value = st.toggle(label, **common)
        case Seed():
            value = st.number_input(label, 0, 9999, step=1, **common)
        case _:
            raise TypeError(f"no widget for {type(control).__name__}")
    _write_link(key, value, control)
    return control.default if value is None else value


def _stop(value: Any) -> str:
    return f"{value:,}" if isinstance(value, int) else number(value, 2)


def _write_link(key: str, value: Any, control: Control) -> None:
    """Keep the address bar in step, in words that do not depend on the reader's language.

    Streamlit's own `bind` writes the translated label of an option into the link, so a link made
    in Chinese would not open in English; values are written here instead.
    """
    if value == control.default or value is None:
        if key in st.query_params:
            del st.query_params[key]
    elif st.query_params.get(key) != encoded(value):
        st.query_params[key] = encoded(value)
