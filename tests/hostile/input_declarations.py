"""What the lessons declare: their controls by the names that links give them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from seqviz import lessons
from seqviz.content import catalog
from seqviz.lessons.framework import controls as kinds

SLUGS = tuple(lesson.slug for lesson in catalog.LESSONS)


@cache
def benches(slug: str) -> Mapping[str, type[Any]]:
    """The declaration of every bench of a lesson."""
    return {
        name: bench.declaration for name, bench in getattr(lessons, slug).lesson.benches.items()
    }


@cache
def keys(slug: str) -> Mapping[str, kinds.Control]:
    """Every control of a lesson by its key: the name in a link and in the session."""
    code = catalog.lesson(slug).code
    return {
        f"{code}.{bench}.{name}": control
        for bench, declaration in benches(slug).items()
        for name, control in kinds.controls(declaration)
    }


def text_fields() -> Iterator[tuple[str, str, kinds.TextInput]]:
    """(lesson, key, control) of every field that takes a text."""
    for slug in SLUGS:
        for key, control in keys(slug).items():
            if isinstance(control, kinds.TextInput):
                yield slug, key, control


def fits(control: kinds.Control, value: Any) -> bool:
    """Whether the widget of a control takes a value without complaint."""
    match control:
        case kinds.Slider(opens=opens, default=default) if opens is not None and value == default:
            return type(value) is type(default)  # nobody has moved it
        case kinds.Slider(low=low, high=high, default=default):
            full = type(value) is type(default) and math.isfinite(value) and low <= value <= high
            return full and str(value) != "-0.0"
        case kinds.SelectSlider(stops=stops):
            return type(value) is type(stops[0]) and value in stops
        case kinds.Choice(many=True, options=options, none=none):
            ordered = tuple(option for option in options if option in value)
            return isinstance(value, tuple) and value == ordered and bool(value or none)
        case kinds.Choice(options=options):
            return value in options
        case kinds.Sortable(default=default):
            return isinstance(value, tuple) and sorted(value) == sorted(default)
        case kinds.Toggle():
            return isinstance(value, bool)
        case kinds.TextInput(limit=limit):
            return isinstance(value, str) and len(value) <= limit
        case kinds.Seed():
            return type(value) is int and 0 <= value <= 9999
    raise TypeError(control)
