"""What the browser is told of a bench's controls, where Streamlit does not draw them.

A slider is one of our own everywhere (`components/slider.js`); in a page of a single bench and
in a notebook all controls are (`assets/static/components/native_controls.js`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

from seqviz.core.i18n import Text, number
from seqviz.lessons.framework import controls as kinds
from seqviz.lessons.framework.controls import Control, SelectSlider, Slider, Sortable, encoded
from seqviz.lessons.framework.words import LessonWords


def active_controls(params: Any) -> Iterator[tuple[str, Control, dict[str, Any]]]:
    """Each control that applies at these parameters, with the values down to its own."""
    values: dict[str, Any] = {}
    for name, control in kinds.controls(type(params)):
        applies = control.when is None or control.when(values)
        values[name] = getattr(params, name)
        if applies:
            yield name, control, values


def is_constant(control: Control, values: Mapping[str, Any]) -> bool:
    """Whether there is nothing to choose, such as a place in a text of one token: not drawn."""
    return isinstance(control, Slider) and control.top(values) <= control.low


def describe_controls(
    params: Any, words: LessonWords, prefix: str, inline: Callable[[str], str]
) -> list[dict[str, Any]]:
    """The controls that apply at these parameters, in their order.

    Each has key (`prefix` and its name), kind, label, help and value (as in a link); more and above
    as it is declared; and what its kind needs: slider (see `slider_options`), number, options,
    limit. inline: the HTML of an option's name in Markdown.
    """
    return [
        _one(prefix, name, control, values, words, inline)
        for name, control, values in active_controls(params)
        if not control.client and not is_constant(control, values)
    ]


def _one(
    prefix: str,
    name: str,
    control: Control,
    values: Mapping[str, Any],
    words: LessonWords,
    inline: Callable[[str], str],
) -> dict[str, Any]:
    (label, about), value = words.control(name), values[name]
    common = {
        "key": f"{prefix}{name}",
        "label": label,
        "help": about,
        "value": encoded(value),
        "more": control.more,
        "above": getattr(control, "above", False),
    }
    match control:
        case Slider() | SelectSlider():
            options = slider_options(control, value, label, about, words.text, values)
            return {**common, "kind": "slider", "slider": options}
        case Sortable():
            options = order_options(
                control, value, label, about, words.text, partial(words.option, name)
            )
            return {**common, "kind": "order", "order": options}
        case kinds.Choice():
            named = [
                {"value": option, "html": inline(words.option(name, option))}
                for option in control.options
            ]
            kind = "multiple_choice" if control.many else "menu" if control.menu else "choice"
            return {**common, "kind": kind, "options": named, "none": control.none}
        case kinds.TextInput():
            maximum = words.text("frame.text_limit", limit=control.limit)
            about = f"{about} {maximum}" if about else maximum
            return {**common, "kind": "text", "help": about, "limit": control.limit,
                    "typed": control.typed}  # fmt: skip
        case kinds.Toggle():
            return {**common, "kind": "switch"}
        case kinds.Seed():
            number = seed_options(control, value, label, about, words.text)
            return {**common, "kind": "number", "number": number}
    raise TypeError(f"no control for {type(control).__name__}")


def slider_options(
    control: Slider | SelectSlider,
    value: Any,
    label: str,
    help_text: str | None,
    text: Text,
    values: Mapping[str, Any],
) -> dict[str, Any]:
    """A slider as JSON. values: of the controls before it."""
    words: dict[str, Any] = {"exact": text("frame.exact")}
    if isinstance(control, Slider) and control.buttons:
        words |= {"back": text("frame.earlier"), "forward": text("frame.later")}
    common = {
        "label": label,
        "help": help_text,
        "start": encoded(control.default),
        "value": encoded(value),
        "unit": text(f"unit.{control.unit}") if control.unit else "",
        "words": words,
    }
    if isinstance(control, SelectSlider):
        stops = [{"text": _stop(stop), "value": encoded(stop)} for stop in control.stops]
        return {**common, "stops": stops}
    words["field"] = text.table("number_field")
    return {
        **common,
        "start": encoded(control.display_value(control.default, values)),
        "value": encoded(control.display_value(value, values)),
        "low": control.low,
        "high": control.top(values),
        "step": control.step,
        "whole": isinstance(control.default, int),
    }


def number_options(label: str, help_text: str | None, text: Text) -> dict[str, Any]:
    """A field for any number as JSON (`components/number_box.js`), which has none yet."""
    anything = {"low": None, "high": None, "step": None, "unit": None, "whole": False}
    words = text.table("number_field")
    return {"label": label, "help": help_text, "value": None, **anything, "words": words}


def seed_options(
    control: kinds.Seed, value: int, label: str, help_text: str | None, text: Text
) -> dict[str, Any]:
    """The same for a seed."""
    low, high = control.bounds()
    return {**number_options(label, help_text, text), "value": value, "low": low, "high": high,
            "step": 1, "unit": 1, "whole": True}  # fmt: skip


def order_options(
    control: Sortable,
    value: Any,
    label: str,
    help_text: str | None,
    text: Text,
    option: Callable[[str], str],
) -> dict[str, Any]:
    """A row to put in order as JSON (`components/sortable.js`). option: the name of one."""
    summary = ("order_place", "order_earlier", "order_later", "order_start", "order_how")
    return {
        "label": label,
        "help": help_text,
        "start": encoded(control.default),
        "value": encoded(value),
        "names": {item: option(item) for item in control.default},
        "words": {key.removeprefix("order_"): text(f"frame.{key}") for key in summary},
    }


def _stop(value: Any) -> str:
    return f"{value:,}" if isinstance(value, int) else number(value, 2)
