"""One declaration of a parameter gives its widget, its default, its permalink and its test grid.

A bench declares a frozen dataclass whose fields come from `slider`, `steps`, `choice`, `toggle`
and `seed`. `draw` shows the widgets and returns an instance; `current` gives the instance without
drawing (for a bench that depends on another one); `grid` lists the values that tests try.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

import streamlit as st

from seqviz.text import Text, number

P = TypeVar("P")
Condition = Callable[[Mapping[str, Any]], bool]


@dataclass(frozen=True)
class Control:
    """What every control has: whether it hides behind "more", and when it applies at all."""

    default: Any
    more: bool = False
    when: Condition | None = None

    def extremes(self) -> tuple[Any, ...]:
        """The values at both ends, for the tests."""
        raise NotImplementedError

    def clean(self, raw: str) -> Any:
        """A permalink's text as a value; ValueError when it is none of ours."""
        raise NotImplementedError


@dataclass(frozen=True)
class Slider(Control):
    """A continuous (float) or counting (int) quantity between two ends."""

    low: float = 0
    high: float = 1
    step: float = 1

    def extremes(self) -> tuple[Any, ...]:
        return (self.low, self.high)

    def clean(self, raw: str) -> Any:
        value = type(self.default)(raw)
        if not self.low <= value <= self.high:
            raise ValueError(raw)
        return value


@dataclass(frozen=True)
class Steps(Control):
    """A number from a short list of stops, where equal steps would be unequal in effect."""

    stops: tuple[Any, ...] = ()

    def extremes(self) -> tuple[Any, ...]:
        return (self.stops[0], self.stops[-1])

    def clean(self, raw: str) -> Any:
        value = type(self.default)(raw)
        if value not in self.stops:
            raise ValueError(raw)
        return value


@dataclass(frozen=True)
class Choice(Control):
    """One name from a list (or several, as a tuple); the link carries the name, not its label."""

    options: tuple[str, ...] = ()
    many: bool = False
    menu: bool = False
    above: bool = False

    def extremes(self) -> tuple[Any, ...]:
        if self.many:
            return ((self.options[0],), self.options)
        return self.options

    def clean(self, raw: str) -> Any:
        names = tuple(raw.split("+")) if self.many else (raw,)
        if not all(name in self.options for name in names):
            raise ValueError(raw)
        return names if self.many else raw


@dataclass(frozen=True)
class Toggle(Control):
    """On or off."""

    def extremes(self) -> tuple[Any, ...]:
        return (False, True)

    def clean(self, raw: str) -> Any:
        return {"true": True, "false": False}[raw]


@dataclass(frozen=True)
class Seed(Control):
    """The random seed: same link, same picture for the whole class."""

    def extremes(self) -> tuple[Any, ...]:
        return (0, 9999)

    def clean(self, raw: str) -> Any:
        value = int(raw)
        if not 0 <= value <= 9999:
            raise ValueError(raw)
        return value


def _field(control: Control) -> Any:
    return dataclasses.field(default=control.default, metadata={"control": control})


def slider(
    low: float,
    high: float,
    default: float,
    step: float = 1,
    *,
    more: bool = False,
    when: Condition | None = None,
) -> Any:
    """A slider; integers when `default` is an integer."""
    return _field(Slider(default, more, when, low, high, step))


def steps(
    stops: tuple[Any, ...], default: Any, *, more: bool = False, when: Condition | None = None
) -> Any:
    """A slider over the given stops."""
    return _field(Steps(default, more, when, stops))


def choice(
    options: tuple[str, ...],
    default: Any,
    *,
    many: bool = False,
    menu: bool = False,
    more: bool = False,
    when: Condition | None = None,
) -> Any:
    """Buttons side by side (a drop-down with `menu`); several may be on with `many`."""
    return _field(Choice(default, more, when, options, many, menu))


def view(options: tuple[str, ...], default: str) -> Any:
    """Which figure a bench shows: buttons above the figure, not among its controls."""
    return _field(Choice(default, False, None, options, above=True))


def toggle(default: bool, *, more: bool = False, when: Condition | None = None) -> Any:
    """A switch."""
    return _field(Toggle(default, more, when))


def seed(default: int = 1, *, more: bool = False) -> Any:
    """The random seed of a bench."""
    return _field(Seed(default, more))


def controls(declaration: type[Any]) -> Iterator[tuple[str, Control]]:
    """The fields of a declaration with their controls, in order."""
    for f in dataclasses.fields(declaration):
        yield f.name, f.metadata["control"]


def grid(declaration: type[Any]) -> Iterator[tuple[str, Any]]:
    """(field, value) for every control at each of its ends: what the page tests try."""
    for name, control in controls(declaration):
        for value in control.extremes():
            yield name, value


def encoded(value: Any) -> str:
    """A value as it stands in a permalink."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, tuple):
        return "+".join(value)
    return f"{value:g}" if isinstance(value, float) else str(value)


def permalink(prefix: str, params: Any) -> dict[str, str]:
    """The query parameters of an instance: only what differs from the defaults."""
    return {
        f"{prefix}.{name}": encoded(getattr(params, name))
        for name, control in controls(type(params))
        if getattr(params, name) != control.default
    }


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
        return tuple(value) if isinstance(value, list) else value
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
    on_change: Callable[[], None] | None = None,
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
            values[name] = _widget(control, f"{prefix}.{name}", name, words, names, on_change)
    return declaration(**values)


def _widget(
    control: Control,
    key: str,
    name: str,
    words: Callable[[str], tuple[str, str | None]],
    names: Callable[[str, str], str],
    on_change: Callable[[], None] | None,
) -> Any:
    if key not in st.session_state:
        start = _value(key, control)
        st.session_state[key] = list(start) if isinstance(start, tuple) else start
    label, help_text = words(name)
    common: dict[str, Any] = {
        "key": key,
        "help": help_text,
        "on_change": on_change,
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
            # Kept in declared order: clicking in another order is not another question.
            value = tuple(o for o in control.options if o in (chosen or control.default))
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
