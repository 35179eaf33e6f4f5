"""One declaration of a parameter gives its widget, its default, its permalink and its ends.

A bench declares a frozen dataclass whose fields come from `slider`, `stepper`, `steps`, `choice`,
`view`, `order`, `toggle`, `sentence` and `seed`. This module holds the declarations and what
follows from them without a screen: bounds, links, the values that tests try. `widgets` draws them.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from seqviz.core.errors import UserError

_NONE = "-"  # in a link: none of the options
Condition = Callable[[Mapping[str, Any]], bool]


def on(**requested: Any) -> Condition:
    """When every named control has this value, or one of a tuple of values.

    A control of which several options may be on has a value where that one is on:
    `on(view=("map", "unit"))`, `on(cells="lstm")`.
    """
    options = {name: v if isinstance(v, tuple) else (v,) for name, v in requested.items()}

    def applies(values: Mapping[str, Any]) -> bool:
        return all(
            any(option in values[name] for option in these)
            if isinstance(values[name], tuple)
            else values[name] in these
            for name, these in options.items()
        )

    return applies


@dataclass(frozen=True)
class Control:
    """What every control has: whether it hides behind "more", and when it applies at all.

    client: drawn in the browser by the bench's own component, which reports its value.
    """

    default: Any
    more: bool = False
    when: Condition | None = None
    client: bool = dataclasses.field(default=False, kw_only=True)

    def bounds(self) -> tuple[Any, ...]:
        """The values at both ends, for the tests."""
        raise NotImplementedError

    def parse(self, raw: str) -> Any:
        """A permalink's text as a value; ValueError when it is none of ours."""
        raise NotImplementedError


@dataclass(frozen=True)
class Slider(Control):
    """A continuous (float) or counting (int) quantity between two ends.

    within: name of an earlier control whose value is the upper end, where that is less than `high`;
    or a function of the values of the controls before it, which gives that end.
    opens: where the handle stands until somebody moves it, from the values of the controls before
    it; the default is then no place of the slider, and means that nobody has.
    buttons: beside the slider, one button back and one forward. unit: what it counts or measures,
    where its label does not say so: a key of the shared words under `unit`.
    """

    low: float = 0
    high: float = 1
    step: float = 1
    within: str | Callable[[Mapping[str, Any]], float] | None = None
    opens: Callable[[Mapping[str, Any]], float] | None = None
    buttons: bool = False
    unit: str = ""

    def bounds(self) -> tuple[Any, ...]:
        return (self.low, self.high)

    def parse(self, raw: str) -> Any:
        value = type(self.default)(raw)
        if value != self.default and not self.low <= value <= self.high:
            raise ValueError(raw)
        return value + 0  # -0.0 is no place of its own

    def top(self, values: Mapping[str, Any]) -> float:
        """The upper end beside the values of the controls before it."""
        if self.within is None:
            return self.high
        try:
            end = self.within(values) if callable(self.within) else values[self.within]
        except UserError:  # of a damaged file, of no text: the bench says so
            return self.high
        return max(self.low, min(self.high, end))

    def display_value(self, value: Any, values: Mapping[str, Any]) -> Any:
        """Where the handle is at a value, beside the values of the controls before it."""
        if self.opens is None or value != self.default:
            return value
        try:
            return type(self.default)(self.opens(values))
        except UserError:  # as above
            return type(self.default)(self.low)


@dataclass(frozen=True)
class SelectSlider(Control):
    """A number from a short list of stops, where equal steps would be unequal in effect.

    unit: as of a slider.
    """

    stops: tuple[Any, ...] = ()
    unit: str = ""

    def bounds(self) -> tuple[Any, ...]:
        return (self.stops[0], self.stops[-1])

    def parse(self, raw: str) -> Any:
        value = type(self.default)(raw)
        if value not in self.stops:
            raise ValueError(raw)
        return value


@dataclass(frozen=True)
class Choice(Control):
    """One name from a list (or several, as a tuple); the link carries the name, not its label.

    shipped: the long work of every option comes with the app, not only that of the default.
    """

    options: tuple[str, ...] = ()
    many: bool = False
    menu: bool = False
    above: bool = False
    none: bool = False
    shipped: bool = False

    def bounds(self) -> tuple[Any, ...]:
        if self.many:
            return (() if self.none else (self.options[0],), self.options)
        return self.options

    def parse(self, raw: str) -> Any:
        names = tuple(raw.split("+")) if self.many else (raw,)
        if self.none and raw == _NONE:
            return ()
        if not all(name in self.options for name in names):
            raise ValueError(raw)
        return self.ordered(names) if self.many else raw

    def ordered(self, names: Sequence[str]) -> tuple[str, ...]:
        """Several names in declared order, once each: another order is not another question.

        None at all is the default, as a bench without any has nothing to show, unless it says
        that it has (`none`).
        """
        chosen = tuple(o for o in self.options if o in names)
        return chosen if chosen or self.none else self.default


@dataclass(frozen=True)
class Sortable(Control):
    """Things in a row, which a hand puts in another order: each of `default` once."""

    def bounds(self) -> tuple[Any, ...]:
        return (self.default, self.default[::-1])

    def parse(self, raw: str) -> Any:
        names = tuple(raw.split("+"))
        if sorted(names) != sorted(self.default):
            raise ValueError(raw)
        return names


@dataclass(frozen=True)
class Toggle(Control):
    """On or off."""

    def bounds(self) -> tuple[Any, ...]:
        return (False, True)

    def parse(self, raw: str) -> Any:
        return {"true": True, "false": False}[raw]


@dataclass(frozen=True)
class TextInput(Control):
    """A text of the student's own, of at most `limit` characters; `above`: over the figure.

    typed: the figure follows while it is typed, where the bench reads it in some milliseconds.
    """

    limit: int = 500
    above: bool = False
    typed: bool = False

    def bounds(self) -> tuple[Any, ...]:
        return ("", "x" * self.limit)

    def parse(self, raw: str) -> Any:
        return raw[: self.limit]


@dataclass(frozen=True)
class Seed(Control):
    """The random seed: same link, same picture for the whole class."""

    def bounds(self) -> tuple[Any, ...]:
        return (0, 9999)

    def parse(self, raw: str) -> Any:
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
    within: str | Callable[[Mapping[str, Any]], float] | None = None,
    unit: str = "",
) -> Any:
    """A slider; integers when `default` is an integer."""
    return _field(Slider(default, more, when, low, high, step, within, unit=unit))


def step_slider(
    low: int,
    high: int,
    default: int,
    *,
    when: Condition | None = None,
    within: str | Callable[[Mapping[str, Any]], float] | None = None,
    opens: Callable[[Mapping[str, Any]], float] | None = None,
) -> Any:
    """A place in a sequence of steps: a slider with a button back and one forward."""
    return _field(Slider(default, False, when, low, high, 1, within, opens, buttons=True))


def select_slider(
    stops: tuple[Any, ...],
    default: Any,
    *,
    more: bool = False,
    when: Condition | None = None,
    unit: str = "",
) -> Any:
    """A slider over the given stops."""
    return _field(SelectSlider(default, more, when, stops, unit))


def choice(
    options: tuple[str, ...],
    default: Any,
    *,
    many: bool = False,
    none: bool = False,
    menu: bool = False,
    more: bool = False,
    shipped: bool = False,
    when: Condition | None = None,
) -> Any:
    """Buttons side by side (a drop-down with `menu`); several may be on with `many`, or `none`."""
    return _field(Choice(default, more, when, options, many, menu, none=none, shipped=shipped))


def sortable(names: tuple[str, ...], *, more: bool = False, when: Condition | None = None) -> Any:
    """A row of things to put in order; their names are its options, as of a choice."""
    return _field(Sortable(names, more, when))


def view(options: tuple[str, ...], default: str) -> Any:
    """Which figure a bench shows: buttons above the figure, not among its controls."""
    return _field(Choice(default, False, None, options, above=True))


def toggle(default: bool, *, more: bool = False, when: Condition | None = None) -> Any:
    """A switch."""
    return _field(Toggle(default, more, when))


def text_input(
    default: str,
    limit: int = 500,
    *,
    above: bool = False,
    typed: bool = False,
    more: bool = False,
    when: Condition | None = None,
) -> Any:
    """One line of text; `above` the figure where it is what the bench is about."""
    return _field(TextInput(default, more, when, limit, above, typed))


def in_browser(declared: Any) -> Any:
    """The same control, drawn by the bench's component: it answers without the server."""
    return _field(dataclasses.replace(declared.metadata["control"], client=True))


def seed(default: int = 1, *, more: bool = False, when: Condition | None = None) -> Any:
    """The random seed of a bench."""
    return _field(Seed(default, more, when))


DRAGGABLE = Slider | SelectSlider | Sortable  # a hand moves them, and the picture follows


def controls(declaration: type[Any]) -> Iterator[tuple[str, Control]]:
    """The fields of a declaration with their controls, in order."""
    for f in dataclasses.fields(declaration):
        yield f.name, f.metadata["control"]


def encoded(value: Any) -> str:
    """A value as it stands in a permalink."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, tuple):
        return "+".join(value) or _NONE
    return f"{value:.10g}" if isinstance(value, float) else str(value)


def equals(text: str, value: Any) -> bool:
    """Whether a browser's text is this value; numbers may be written in several ways."""
    if isinstance(value, tuple):
        return encoded(value) == text
    try:
        return float(text) == float(value)
    except ValueError:
        return False


def permalink(prefix: str, params: Any) -> dict[str, str]:
    """The query parameters of an instance: only what differs from the defaults."""
    return {
        f"{prefix}.{name}": encoded(getattr(params, name))
        for name, control in controls(type(params))
        if getattr(params, name) != control.default
    }


def parse_params(declaration: type[Any], values: Mapping[str, Any], link: bool = False) -> Any:
    """The parameters with these values and, for the others, their defaults.

    As on a page: what does not apply has its default, and a slider ends where its upper end is.
    Raises ValueError for a name or a value that no control has; of a link these are passed over.
    """
    declared = dict(controls(declaration))
    if not link and (strange := sorted(set(values) - set(declared))):
        raise ValueError(f"There is no {', '.join(strange)}; there are {', '.join(declared)}.")
    result: dict[str, Any] = {}
    for name, control in declared.items():
        value = control.default
        if name in values and (control.when is None or control.when(result)):
            try:
                value = control.parse(encoded(values[name]))
            except (ValueError, KeyError):
                if not link:
                    raise ValueError(f"{name} cannot be {values[name]!r}.") from None
        if isinstance(control, Slider) and value > control.top(result):
            value = type(control.default)(control.top(result))
        result[name] = value
    return declaration(**result)
