"""What the pages declare, read from the page scripts without drawing them."""

from __future__ import annotations

import runpy
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from functools import cache
from pathlib import Path
from typing import Any
from unittest.mock import patch

from seqviz import catalog
from seqviz.lessons.bench.controls import Control, Sentence, controls
from seqviz.ui.page import lesson as frame

ROOT = Path(__file__).resolve().parents[2]
SLUGS = tuple(lesson.slug for lesson in catalog.LESSONS)


class Contents:
    """Takes the place of a lesson while its page script runs: notes the benches, draws nothing."""

    def __init__(self) -> None:
        self.benches: dict[str, type[Any]] = {}

    def bench(self, name: str, declaration: type[Any], **_: object) -> Callable[[Any], None]:
        self.benches[name] = declaration
        return lambda _: None

    def tabs(self, parts: Mapping[str, Sequence[str]]) -> dict[str, Any]:
        return {part: nullcontext() for part in parts}

    def __getattr__(self, name: str) -> Callable[..., None]:
        return lambda *_, **__: None  # prose, predict, exercise, code, end


@cache
def benches(slug: str) -> Mapping[str, type[Any]]:
    """The declaration of every bench of a lesson."""
    contents = Contents()
    with patch.object(frame, "begin", lambda _: contents):
        runpy.run_path(str(ROOT / "pages" / f"{slug}.py"))
    return contents.benches


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
