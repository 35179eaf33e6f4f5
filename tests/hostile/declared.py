"""What the lessons declare: their controls by the names that links give them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from seqviz import catalog, lessons
from seqviz.lessons.bench.controls import Control, Sentence, controls

SLUGS = tuple(lesson.slug for lesson in catalog.LESSONS)


@cache
def benches(slug: str) -> Mapping[str, type[Any]]:
    """The declaration of every bench of a lesson."""
    return {
        name: bench.declaration for name, bench in getattr(lessons, slug).lesson.benches.items()
    }


@cache
def keys(slug: str) -> Mapping[str, Control]:
    """Every control of a lesson by its key: the name in a link and in the session."""
    code = catalog.lesson(slug).code
    return {
        f"{code}.{bench}.{name}": control
        for bench, declaration in benches(slug).items()
        for name, control in controls(declaration)
    }


def text_fields() -> Iterator[tuple[str, str, Sentence]]:
    """(lesson, key, control) of every field that takes a text."""
    for slug in SLUGS:
        for key, control in keys(slug).items():
            if isinstance(control, Sentence):
                yield slug, key, control
