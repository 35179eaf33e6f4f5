"""Widgets of a bench's declared controls, kept in sync with the URL."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from functools import partial
from typing import Any, TypeVar

import streamlit as st

from seqviz.content.glosses import gloss
from seqviz.core.i18n import Text, escape_markdown
from seqviz.core.languages import DEFAULT
from seqviz.lessons.framework.control_schema import (
    active_controls,
    is_constant,
    order_options,
    seed_options,
    slider_options,
)
from seqviz.lessons.framework.controls import (
    DEFAULTS,
    DRAGGABLE,
    Choice,
    Control,
    Seed,
    SelectSlider,
    Slider,
    Sortable,
    TextInput,
    Toggle,
    controls,
    defaults_language,
    encoded,
    languages,
    parse_params,
)
from seqviz.lessons.framework.lesson import Bench
from seqviz.ui.page import classroom_panel, components, course
from seqviz.ui.runtime import run_context

P = TypeVar("P")
MAX_QUOTED = 40  # characters of an invalid value
# The language of the page (`header.language`); a widget that changes the page clears the URL.
KEPT_LANGUAGE = "_lang"


def current(prefix: str, declaration: type[P]) -> P:
    """Return the current parameters (widget, else link, else default) without rendering."""
    values: dict[str, Any] = {}
    for name, control in declared(prefix, declaration):
        key = f"{prefix}.{name}"
        visible = control.when is None or control.when(values)
        values[name] = (
            _within(control, _value(key, control), values) if visible else control.default
        )
    return declaration(**values)


def told_by_link(prefix: str, declaration: type[Any]) -> dict[str, str]:
    """Return the non-default settings of the URL, by key, as written."""
    result: dict[str, str] = {}
    for name, control in controls(declaration, language_of_defaults(prefix, declaration)):
        key = f"{prefix}.{name}"
        value = _linked(key, control)
        if value != control.default:
            result[key] = encoded(value)
    if (key := f"{prefix}.{DEFAULTS}") in st.query_params:
        result[key] = language_of_defaults(prefix, declaration)
    return result


def linked_value(bench: Bench, name: str) -> Any:
    """Return the URL's value of one control of a bench, else its default."""
    return _linked(f"{bench.prefix}.{name}", dict(controls(bench.declaration))[name])


def follow_link(prefix: str, declaration: type[Any]) -> None:
    """Set changed controls to the URL's values."""
    for name, control in declared(prefix, declaration):
        key = f"{prefix}.{name}"
        if st.session_state.pop(key, None) is not None:
            _remember(key, _value(key, control))


def reader_language() -> str:
    """Return the language of the page."""
    return str(st.session_state.get(KEPT_LANGUAGE, DEFAULT))


def language_of_defaults(prefix: str, declaration: type[Any]) -> str:
    """Return the language whose defaults the bench has: the URL's, else the reader's.

    Args:
        prefix: of the bench.
        declaration: its controls.
    """
    if len(languages(declaration)) == 1:
        return DEFAULT
    start = f"{prefix}."
    values = {k.removeprefix(start): v for k, v in st.query_params.items() if k.startswith(start)}
    return defaults_language(declaration, values, reader_language())


def declared(prefix: str, declaration: type[Any]) -> list[tuple[str, Control]]:
    """Return the name and the control of each field, with the defaults that the bench has.

    After a switch of the language, controls that have not been moved get the new defaults.

    Args:
        prefix: of the bench.
        declaration: its controls.
    """
    lang, state_key = language_of_defaults(prefix, declaration), f"_{prefix}.{DEFAULTS}"
    result = list(controls(declaration, lang))
    before = st.session_state.get(state_key, lang)
    if before != lang:
        for name, control in controls(declaration, before):
            if control.translated and st.session_state.get(f"{prefix}.{name}") == control.default:
                del st.session_state[f"{prefix}.{name}"]
    if len(languages(declaration)) > 1:
        st.session_state[state_key] = lang
    return result


def write_defaults_language(prefix: str, declaration: type[Any], lang: str) -> None:
    """Write to the URL whose defaults a bench has, where it could not be told from the rest.

    In a room it always is: the participants read different languages.

    Args:
        prefix: of the bench.
        declaration: its controls.
        lang: language of the defaults.
    """
    if len(languages(declaration)) == 1:
        return
    start = f"{prefix}."
    names = [key.removeprefix(start) for key in st.query_params if key.startswith(start)]
    others = {name: "" for name in names if name != DEFAULTS}
    is_needed = lang != defaults_language(declaration, others, reader_language())
    _write(start + DEFAULTS, lang if is_needed or classroom_panel.code() else None)


def _within(control: Control, value: Any, values: Mapping[str, Any]) -> Any:
    """Return a slider's value, limited by a bound that depends on other controls."""
    if isinstance(control, Slider) and value > control.top(values):
        return type(control.default)(control.top(values))
    return value


def _value(key: str, control: Control) -> Any:
    if key in st.session_state:
        value = st.session_state[key]
        if isinstance(control, Choice) and control.many:
            return control.ordered(value)
        if isinstance(control, Sortable):
            return tuple(value)
        # A menu may hold the label of an option in the language that the reader has just left.
        if not isinstance(control, Choice) or value in control.options:
            return value
    return _linked(key, control)


def _linked(key: str, control: Control) -> Any:
    """Return the URL's value of a control, else its default."""
    raw = st.query_params.get(key)
    if raw is None:
        return control.default
    try:
        return control.parse(raw)
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
    max_visible: int | None = None,
) -> P:
    """Render the widgets of a declaration and return its parameters.

    Controls marked `above` go over the figure, others to `side`; those marked `more` are in an
    expander.

    Args:
        prefix: of the bench.
        declaration: its controls.
        text: translations.
        words: returns label and help of a control.
        names: returns the label of an option.
        above: container over the figure; None to have all controls in `side`.
        side: container of the controls.
        max_visible: number of controls outside the expander; None for no limit.
    """
    front = side.container()
    folded = _folded(prefix, declaration, max_visible) if max_visible else set()
    after = None
    values: dict[str, Any] = {}
    invalid = st.session_state.setdefault(f"_{prefix}.invalid", _invalid_links(prefix, declaration))
    lang = language_of_defaults(prefix, declaration)
    for name, control in declared(prefix, declaration):
        if control.when is not None and not control.when(values):
            values[name] = control.default
            _set_aside(f"{prefix}.{name}", control)
            continue
        if control.course and not course.is_on():
            values[name] = _value(f"{prefix}.{name}", control)  # a link may set it
            if values[name] == control.default:
                _set_aside(f"{prefix}.{name}", control)
                continue
        position = front
        if isinstance(control, Choice | TextInput) and control.above and name not in folded:
            position = above or front
        elif name in folded or (control.more and not is_constant(control, values)):
            after = after or side.expander(
                text("frame.more"), type="compact", expanded=_is_more_linked(prefix, declaration)
            )
            position = after
        with position:
            values[name] = _widget(control, prefix, name, text, words, names, values)
            if isinstance(control, TextInput) and (chinese := gloss(values[name], text.lang)):
                st.caption(chinese)
            if isinstance(control, TextInput) and len(values[name]) >= control.limit:
                st.caption(text("frame.text_full", limit=control.limit))
            if name in invalid and values[name] == control.default:
                label = words(name)[0]
                st.caption(
                    text("frame.invalid_link", control=label, value=escape_markdown(invalid[name]))
                )
    write_defaults_language(prefix, declaration, lang)
    return declaration(**values)


def _folded(prefix: str, declaration: type[Any], max_visible: int) -> set[str]:
    """Return the controls that are one too many: text inputs first, then the last ones."""
    values = vars(current(prefix, declaration))
    names = [
        name
        for name, control in controls(declaration)
        if not control.more and (control.when is None or control.when(values))
    ]
    inputs = [n for n, control in controls(declaration) if isinstance(control, TextInput)]
    least_needed = sorted(names, key=lambda name: (name not in inputs, -names.index(name)))
    return set(least_needed[: max(0, len(names) - max_visible)])


def _is_more_linked(prefix: str, declaration: type[Any]) -> bool:
    """Return whether the address sets a control behind "more", or has done so in this session.

    It does not become False again: the expander would close while its slider is at the default.
    """
    names = [name for name, control in controls(declaration) if control.more]
    key = f"_{prefix}.more_linked"
    linked = any(f"{prefix}.{name}" in st.query_params for name in names)
    st.session_state[key] = linked or st.session_state.get(key, False)
    return bool(st.session_state[key])


def _invalid_links(prefix: str, declaration: type[Any]) -> dict[str, str]:
    """Return the URL's values that no control has, by control."""
    invalid: dict[str, str] = {}
    for name, control in controls(declaration):
        raw = st.query_params.get(f"{prefix}.{name}")
        if raw is not None:
            try:
                control.parse(raw)
            except (ValueError, KeyError):
                invalid[name] = raw[:MAX_QUOTED]
    return invalid


def _set_aside(key: str, control: Control) -> None:
    """Remove an inapplicable control from the URL; its value is kept until it applies again."""
    if key in st.query_params:
        _remember(key, _value(key, control))
        _write_link(key, None, control)


def _remember(key: str, value: Any) -> None:
    st.session_state[key] = list(value) if isinstance(value, tuple) else value


def _widget(
    control: Control,
    prefix: str,
    name: str,
    text: Text,
    words: Callable[[str], tuple[str, str | None]],
    names: Callable[[str, str], str],
    values: Mapping[str, Any],
) -> Any:
    key = f"{prefix}.{name}"
    start = _within(control, _value(key, control), values)
    if key not in st.session_state or start != _value(key, control):
        _remember(key, start)
    if control.client:
        _write_link(key, start, control)
        return start
    label, help_text = words(name)
    common: dict[str, Any] = {
        "key": key,
        "help": help_text,
        "persist_state": "session",
    }
    match control:
        case Slider() if is_constant(control, values):
            value = start
        case Slider() | SelectSlider():
            value = start
            options = slider_options(control, start, label, help_text, text, values)
            committed = partial(_rested, key, control)
            components.slider(f"{key}.slider", prefix, key, options, committed)
        case Sortable():
            value = start
            named = order_options(control, start, label, help_text, text, partial(names, name))
            components.slider(f"{key}.slider", prefix, key, named, partial(_rested, key, control))
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
        case TextInput():
            maximum = text("frame.text_limit", limit=control.limit)
            common["help"] = f"{help_text} {maximum}" if help_text else maximum
            value = st.text_input(label, max_chars=control.limit, **common)
        case Toggle():
            value = st.toggle(label, **common)
        case Seed():
            value = start
            options = seed_options(control, start, label, help_text, text)
            components.number(f"{key}.slider", options, partial(_rested, key, control))
        case _:
            raise TypeError(f"no widget for {type(control).__name__}")
    _write_link(key, value, control)
    return control.default if value is None else value


def _rested(key: str, control: Control, text: str) -> None:
    """Set a control to a committed value, which comes from the browser and may be anything."""
    with suppress(ValueError, KeyError):
        st.session_state[key] = control.parse(text)


def set_all(prefix: str, declaration: type[Any], values: Mapping[str, Any]) -> None:
    """Set all controls of a bench before its next run.

    Args:
        prefix: of the bench.
        declaration: its controls.
        values: settings by name; the other controls get their defaults in the reader's language.
    """
    lang = reader_language() if reader_language() in languages(declaration) else DEFAULT
    params = parse_params(declaration, {**values, DEFAULTS: lang})
    for name, control in controls(declaration, lang):
        st.session_state[f"{prefix}.{name}"] = getattr(params, name)
        if len(languages(declaration)) > 1:
            _write_link(f"{prefix}.{name}", getattr(params, name), control)
    write_defaults_language(prefix, declaration, lang)


def apply_slider_values(prefix: str, declaration: type[Any]) -> None:
    """Apply the slider events of a bench in this run.

    Needed by other callbacks of the same run, because the order of callbacks is undefined.
    """
    payload = components.event_value(f"{prefix}.commit", "commit")
    if isinstance(payload, Mapping):
        take(prefix, declaration, payload)
    for name, control in controls(declaration):
        key = f"{prefix}.{name}"
        if isinstance(text := components.event_value(f"{key}.slider", "value"), str):
            _rested(key, control, text)


def take(prefix: str, declaration: type[Any], answer: Mapping[str, Any]) -> dict[str, str]:
    """Set sliders to the "values" of a browser's message; return the valid ones."""
    values = answer.get("values")
    taken: dict[str, str] = {}
    for name, control in controls(declaration):
        key = f"{prefix}.{name}"
        text = values.get(key) if isinstance(values, Mapping) else None
        if isinstance(control, DRAGGABLE) and isinstance(text, str):
            with suppress(ValueError):
                if not isinstance(control, Sortable):
                    float(text)
                _rested(key, control, text)
                taken[name] = text
    return taken


def apply_values(prefix: str, values: Mapping[str, Any]) -> None:
    """Set controls of a bench to valid values, before the run that draws them."""
    for name, value in values.items():
        _remember(f"{prefix}.{name}", value)


def frame(params: Any) -> list[tuple[str, float | None]]:
    """Return the active controls at these parameters, with the upper bounds of sliders."""
    return [
        (name, control.top(values) if isinstance(control, Slider) else None)
        for name, control, values in active_controls(params)
    ]


def write_links(prefix: str, params: Any, names: Iterable[str]) -> None:
    """Write these controls to the URL without rendering them."""
    lang = language_of_defaults(prefix, type(params))
    among = dict(controls(type(params), lang))
    for name in names:
        _write_link(f"{prefix}.{name}", getattr(params, name), among[name])
    write_defaults_language(prefix, type(params), lang)


def _write_link(key: str, value: Any, control: Control) -> None:
    """Write a value to the URL in language-independent form.

    Streamlit's `bind` would write the translated label of an option, so a link created in Chinese
    would not open in English.
    """
    _write(key, None if value == control.default or value is None else encoded(value))


def _write(key: str, text: str | None) -> None:
    """Write a parameter to the URL; None removes it."""
    links = run_context.session().links  # restores the URL of this lesson on return
    if text is None:
        links.pop(key, None)
        if key in st.query_params:
            del st.query_params[key]
        return
    links[key] = text
    if st.query_params.get(key) != text:
        st.query_params[key] = text
