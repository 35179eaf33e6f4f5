"""JSON descriptions of a bench's controls for the browser; entry point: `describe_controls`.

Sliders are drawn by `components/slider.js` everywhere, in the app as well. Embeds and notebooks
draw all their controls in the browser (`assets/static/components/native_controls.js`).
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
    """Yield each control that applies, with its name and the values of the controls up to it.

    All items share one dictionary of values, which grows while the iteration proceeds.
    """
    values: dict[str, Any] = {}
    for name, control in kinds.controls(type(params)):
        applies = control.when is None or control.when(values)
        values[name] = getattr(params, name)
        if applies:
            yield name, control, values


def is_constant(control: Control, values: Mapping[str, Any]) -> bool:
    """Return True for a slider with a single possible value; such a slider is not drawn.

    Example: the position in a text of one token.

    Args:
        control: the declaration.
        values: values of the earlier controls, which can set the slider's upper end.
    """
    return isinstance(control, Slider) and control.top(values) <= control.low


def describe_controls(
    params: Any, words: LessonWords, prefix: str, inline: Callable[[str], str]
) -> list[dict[str, Any]]:
    """Return the JSON descriptions of the controls that apply, in the order of declaration.

    Constant controls (`is_constant`) and those that the bench's component draws (`client`) are left
    out.

    Args:
        params: instance of the bench's declaration.
        words: labels, help texts and names of options, in the reader's language.
        prefix: prepended to a control's name to form its key.
        inline: converts the name of an option from Markdown to HTML.

    Returns:
        One dictionary per control with key, kind, label, help, value (as in a permalink), more and
        above (as declared), and what its kind needs: slider (see `slider_options`), order, number,
        options or limit.
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
    """Return the JSON description of a slider.

    Args:
        control: the declaration.
        value: the current value.
        label: the label, in the reader's language.
        help_text: the help text; None for a control without one.
        text: shared texts in the reader's language.
        values: values of the controls before this one; they can set its upper end and initial
            position.
    """
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
    """Return the JSON description of an empty, unbounded number field.

    It is drawn by `components/number_box.js`.

    Args:
        label: the label, in the reader's language.
        help_text: the help text, or None.
        text: shared texts in the reader's language.
    """
    anything = {"low": None, "high": None, "step": None, "unit": None, "whole": False}
    words = text.table("number_field")
    return {"label": label, "help": help_text, "value": None, **anything, "words": words}


def seed_options(
    control: kinds.Seed, value: int, label: str, help_text: str | None, text: Text
) -> dict[str, Any]:
    """Return the JSON description of a number field for a seed.

    Args:
        control: the declaration.
        value: the current seed.
        label: the label, in the reader's language.
        help_text: the help text, or None.
        text: shared texts in the reader's language.
    """
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
    """Return the JSON description of a sortable row (`components/sortable.js`).

    Args:
        control: the declaration.
        value: names of the items in their current order.
        label: the label, in the reader's language.
        help_text: the help text, or None.
        text: shared texts in the reader's language.
        option: returns the displayed name of an item.
    """
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
