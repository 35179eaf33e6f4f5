"""Control declarations: each gives a widget, a default, a permalink parameter and bounds.

A bench declares a frozen dataclass whose fields come from `slider`, `step_slider`, `select_slider`,
`choice`, `view`, `sortable`, `toggle`, `text_input` and `seed`. This module holds the declarations
and everything that needs no screen: bounds, permalinks, the values that tests try. The widgets are
drawn by `seqviz.ui`.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from seqviz.core.errors import UserError
from seqviz.core.languages import DEFAULT, LANGUAGES

# Name in a permalink for the language of the defaults; no control has it (`defaults_language`).
DEFAULTS = "defaults"
_NONE = "-"  # stands in a permalink for an empty selection
Condition = Callable[[Mapping[str, Any]], bool]


def on(**requested: Any) -> Condition:
    """Return a condition: every named control has the given value, or one of a tuple of values.

    A control with several selected options meets the condition if one of them is listed. Examples:
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
    """Declaration of one parameter.

    Attributes:
        default: the initial value; its type is the type of the parameter.
        more: True for a control behind "more".
        when: condition on the values of earlier controls; None for a control that always applies.
        client: True where the bench's own browser component draws the control and reports its
            value.
        course: True for a variant of the Chinese course's texts (`ui.page.course`).
        translated: other initial values, by the language of the page (see `localized`).
    """

    default: Any
    more: bool = False
    when: Condition | None = None
    client: bool = dataclasses.field(default=False, kw_only=True)
    course: bool = dataclasses.field(default=False, kw_only=True)
    translated: Mapping[str, Any] = dataclasses.field(
        default_factory=dict, kw_only=True, hash=False
    )

    def bounds(self) -> tuple[Any, ...]:
        """Return the values at both ends, for tests."""
        raise NotImplementedError

    def parse(self, raw: str) -> Any:
        """Return the value that a permalink's text denotes; raises ValueError or KeyError."""
        raise NotImplementedError


@dataclass(frozen=True)
class Slider(Control):
    """A continuous (float) or counting (int) quantity between two ends.

    Attributes:
        low: the lower end.
        high: the upper end.
        step: distance between two values.
        within: an upper end below `high`: the name of an earlier control whose value it is, or a
            function of the values of the earlier controls.
        opens: the initial position as a function of the values of the earlier controls. The default
            is then outside the range of the slider and means "not moved yet".
        buttons: True for one button back and one forward beside the slider.
        unit: a key of the shared texts under `unit`, where the label does not name the unit.
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
        return value + 0  # turns -0.0 into 0.0

    def top(self, values: Mapping[str, Any]) -> float:
        """Return the upper end for the given values of the earlier controls.

        Where `within` raises UserError (a damaged file, an empty text), it is `high`; the bench
        reports the error.
        """
        if self.within is None:
            return self.high
        try:
            end = self.within(values) if callable(self.within) else values[self.within]
        except UserError:  # a damaged file or an empty text; the bench reports it
            return self.high
        return max(self.low, min(self.high, end))

    def display_value(self, value: Any, values: Mapping[str, Any]) -> Any:
        """Return the slider position for a value, given the values of the earlier controls.

        Args:
            value: the value of the parameter; the default can mean "not moved yet" (see `opens`).
            values: values of the earlier controls.
        """
        if self.opens is None or value != self.default:
            return value
        try:
            return type(self.default)(self.opens(values))
        except UserError:  # as in `top`
            return type(self.default)(self.low)


@dataclass(frozen=True)
class SelectSlider(Control):
    """A number from a short list of stops, where equal steps would have unequal effects.

    Attributes:
        stops: the selectable values, ascending.
        unit: as in `Slider`.
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
    """One option of a list, or several as a tuple; permalinks carry option names, not labels.

    Attributes:
        options: names of the options in displayed order.
        many: True where several options can be selected.
        menu: True for a drop-down menu, False for buttons.
        above: True for buttons above the figure.
        none: True where no option needs to be selected.
        shipped: True where training results of all options are shipped, not only that of the
            default.
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
        """Return selected names once each, in declared order.

        The order of selection thus does not change a request.
        An empty selection gives the default, unless the choice allows it (`none`).
        """
        chosen = tuple(o for o in self.options if o in names)
        return chosen if chosen or self.none else self.default


@dataclass(frozen=True)
class Sortable(Control):
    """Items of a row that the student puts in order; each item of `default` occurs once."""

    def bounds(self) -> tuple[Any, ...]:
        return (self.default, self.default[::-1])

    def parse(self, raw: str) -> Any:
        names = tuple(raw.split("+"))
        if sorted(names) != sorted(self.default):
            raise ValueError(raw)
        return names


@dataclass(frozen=True)
class Toggle(Control):
    """An on/off switch."""

    def bounds(self) -> tuple[Any, ...]:
        return (False, True)

    def parse(self, raw: str) -> Any:
        return {"true": True, "false": False}[raw]


@dataclass(frozen=True)
class TextInput(Control):
    """A text that the student enters.

    Attributes:
        limit: maximum number of characters; longer texts are cut.
        above: True for an input above the figure.
        typed: True where the figure follows while the student types; for benches that read a text
            within milliseconds.
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
    """A random seed from 0 to 9999; the same permalink gives every student the same figure."""

    def bounds(self) -> tuple[Any, ...]:
        return (0, 9999)

    def parse(self, raw: str) -> Any:
        value = int(raw)
        if not 0 <= value <= 9999:
            raise ValueError(raw)
        return value


def _field(control: Control) -> Any:
    return dataclasses.field(default=control.default, metadata={"control": control})


def for_course(declared: Any) -> Any:
    """Return a declared control that pages show only to the Chinese course.

    Args:
        declared: what another function of this module returned.
    """
    return _field(dataclasses.replace(declared.metadata["control"], course=True))


def localized(declared: Any, **translated: Any) -> Any:
    """Return a declared text input or choice that opens differently in other languages.

    For a text that the reader should understand and that no English model reads.

    Args:
        declared: what another function of this module returned; its default is the English one.
        **translated: initial values by language code.
    """
    return _field(dataclasses.replace(declared.metadata["control"], translated=translated))


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
    """Declare a slider; its values are integers if `default` is an integer.

    Args:
        low: the lower end.
        high: the upper end.
        default: the initial value.
        step: distance between two values.
        more: True to put it behind "more".
        when: condition on the earlier controls; see `on`.
        within: an upper end that depends on earlier controls; see `Slider`.
        unit: a key of the shared texts under `unit`.
    """
    return _field(Slider(default, more, when, low, high, step, within, unit=unit))


def step_slider(
    low: int,
    high: int,
    default: int,
    *,
    more: bool = False,
    when: Condition | None = None,
    within: str | Callable[[Mapping[str, Any]], float] | None = None,
    opens: Callable[[Mapping[str, Any]], float] | None = None,
) -> Any:
    """Declare a slider over a sequence of steps, with a button back and one forward.

    Args:
        low: the first step.
        high: the last step.
        default: the initial step.
        more: True to put it behind "more".
        when: condition on the earlier controls; see `on`.
        within: an upper end that depends on earlier controls; see `Slider`.
        opens: an initial step that depends on earlier controls; see `Slider`.
    """
    return _field(Slider(default, more, when, low, high, 1, within, opens, buttons=True))


def select_slider(
    stops: tuple[Any, ...],
    default: Any,
    *,
    more: bool = False,
    when: Condition | None = None,
    unit: str = "",
) -> Any:
    """Declare a slider over the given stops.

    Args:
        stops: the selectable values, ascending.
        default: the initial stop.
        more: True to put it behind "more".
        when: condition on the earlier controls; see `on`.
        unit: a key of the shared texts under `unit`.
    """
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
    """Declare a choice of one option, or of several.

    Args:
        options: names of the options in displayed order.
        default: the selected option; a tuple of names with `many`.
        many: True to allow several options.
        none: True to allow no option.
        menu: True for a drop-down menu in place of buttons.
        more: True to put it behind "more".
        shipped: True where training results of all options are shipped.
        when: condition on the earlier controls; see `on`.
    """
    return _field(Choice(default, more, when, options, many, menu, none=none, shipped=shipped))


def sortable(names: tuple[str, ...], *, more: bool = False, when: Condition | None = None) -> Any:
    """Declare a row of items to put in order.

    Args:
        names: names of the items in initial order; their texts are looked up like options of a
            choice.
        more: True to put it behind "more".
        when: condition on the earlier controls; see `on`.
    """
    return _field(Sortable(names, more, when))


def view(options: tuple[str, ...], default: str) -> Any:
    """Declare the choice of the figure that a bench shows, as buttons above the figure.

    Args:
        options: names of the figures.
        default: the figure shown first.
    """
    return _field(Choice(default, False, None, options, above=True))


def toggle(default: bool, *, more: bool = False, when: Condition | None = None) -> Any:
    """Declare an on/off switch.

    Args:
        default: the initial state.
        more: True to put it behind "more".
        when: condition on the earlier controls; see `on`.
    """
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
    """Declare a text input.

    Args:
        default: the initial text.
        limit: maximum number of characters.
        above: True to put it above the figure, for a bench whose main subject is the text.
        typed: True to redraw the figure while the student types.
        more: True to put it behind "more".
        when: condition on the earlier controls; see `on`.
    """
    return _field(TextInput(default, more, when, limit, above, typed))


def in_browser(declared: Any) -> Any:
    """Return the declared field as one that the bench's browser component draws itself."""
    return _field(dataclasses.replace(declared.metadata["control"], client=True))


def seed(default: int = 1, *, more: bool = False, when: Condition | None = None) -> Any:
    """Declare a random seed.

    Args:
        default: the initial seed, 0 to 9999.
        more: True to put it behind "more".
        when: condition on the earlier controls; see `on`.
    """
    return _field(Seed(default, more, when))


DRAGGABLE = Slider | SelectSlider | Sortable  # the figure follows a drag


def controls(declaration: type[Any], lang: str = DEFAULT) -> Iterator[tuple[str, Control]]:
    """Yield the name and the control of each field of a declaration, in order.

    Args:
        declaration: the dataclass of the controls.
        lang: language code; the controls have the defaults of that language.
    """
    for f in dataclasses.fields(declaration):
        control = f.metadata["control"]
        if lang in control.translated:
            control = dataclasses.replace(control, default=control.translated[lang])
        yield f.name, control


def languages(declaration: type[Any]) -> tuple[str, ...]:
    """Return the languages that have defaults of their own, the first one for all others."""
    translated = {lang for _, control in controls(declaration) for lang in control.translated}
    return (DEFAULT, *(lang for lang in LANGUAGES if lang in translated))


def defaults_language(declaration: type[Any], values: Mapping[str, Any], lang: str) -> str:
    """Return the language whose defaults the values of a link are relative to.

    It is the one that the link names. Without that, a link with settings has the first language's
    defaults, in whatever language it is opened; one without settings has the reader's.

    Args:
        declaration: the dataclass of the controls.
        values: values by name.
        lang: language code of the reader.
    """
    among = languages(declaration)
    if values.get(DEFAULTS) in among:
        return str(values[DEFAULTS])
    is_set = any(name in values for name, _ in controls(declaration))
    return lang if lang in among and not is_set else DEFAULT


def encoded(value: Any) -> str:
    """Return a value as the text that stands in a permalink."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, tuple):
        return "+".join(value) or _NONE
    return f"{value:.10g}" if isinstance(value, float) else str(value)


def equals(text: str, value: Any) -> bool:
    """Return True where a browser's text denotes this value.

    Numbers are compared as numbers, since they can be written in several ways.

    Args:
        text: the text that the browser sent.
        value: the value to compare with.
    """
    if isinstance(value, tuple):
        return encoded(value) == text
    try:
        return float(text) == float(value)
    except ValueError:
        return False


def permalink(prefix: str, params: Any, lang: str = DEFAULT) -> dict[str, str]:
    """Return the query parameters of an instance; values equal to the defaults are left out.

    They are relative to the defaults of the language that leaves out most, and name that language
    where a reader of `lang` would not have its defaults without that. So an address with a
    parameter more, or in another language, has the same settings.

    Args:
        prefix: prefix of the bench; the parameters are named `<prefix>.<name>`.
        params: instance of a declaration.
        lang: language code of the page.
    """
    declaration = type(params)
    links = {
        relative: {
            name: encoded(getattr(params, name))
            for name, control in controls(declaration, relative)
            if getattr(params, name) != control.default
        }
        for relative in languages(declaration)
    }
    fewest = min(links, key=lambda relative: len(links[relative]))
    link = links[fewest]
    if fewest != DEFAULT or defaults_language(declaration, link, lang) != fewest:
        link[DEFAULTS] = fewest
    return {f"{prefix}.{name}": text for name, text in link.items()}


def parse_params(
    declaration: type[Any], values: Mapping[str, Any], link: bool = False, lang: str = DEFAULT
) -> Any:
    """Return an instance of a declaration with the given values and defaults for the others.

    As on a page, a control that does not apply has its default, and a slider is cut at its upper
    end.

    Args:
        declaration: the dataclass of the controls.
        values: values by name; see `defaults_language` for `DEFAULTS` among them.
        link: True for values of a permalink: unknown names and invalid values are ignored.
        lang: language code of the page.

    Raises:
        ValueError: for an unknown name or an invalid value, unless `link` is set.
    """
    declared = dict(controls(declaration, defaults_language(declaration, values, lang)))
    if not link and (strange := sorted(set(values) - {*declared, DEFAULTS})):
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
