"""What several folders of tests need: models of a lesson, and a browser where there is one."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import TYPE_CHECKING, Any

import pytest

from testing.chromium import NoChromiumError, chromium

if TYPE_CHECKING:
    from seqviz.lessons.framework.lesson import Lesson

# Milliseconds that a test waits for what a page is to show: on two busy cores a page takes seconds.
# Tests of a page's speed measure it themselves.
PATIENCE = 60_000
BROWSER_PROMISED = os.environ.get("SEQVIZ_REQUIRE_BROWSER") == "1"
NO_PLAYWRIGHT = importlib.util.find_spec("playwright") is None and not BROWSER_PROMISED
# Fixtures that a lesson needs.
MODELS = {
    "attention": ("minilm", "smollm2"),
    "positions": ("minilm", "smollm2"),
    "transformer": ("minilm", "smollm2"),
    "bert_accuracy": ("vectors",),
    "gpt": ("smollm2",),
    "text": ("minilm", "smollm2", "glove"),
    "recurrent": ("lac",),
}


def models_of(slug: str, request: pytest.FixtureRequest) -> None:
    """A lesson's models in memory; a skip where they cannot be had."""
    for model in MODELS.get(slug, ()):
        request.getfixturevalue(model)


def lesson_of(slug: str) -> Lesson:
    """The lesson with this slug."""
    lesson: Lesson = import_module(f"seqviz.lessons.{slug}").lesson
    return lesson


def dependents(slug: str, bench: str) -> list[str]:
    """The benches of a lesson that build on this one, in the order of the page."""
    return [name for name, other in lesson_of(slug).benches.items() if bench in other.after]


@contextmanager
def launch_browser() -> Iterator[Any]:
    """A running Chromium; where there is none the test is skipped, or fails if one was promised."""
    try:
        with chromium() as running:
            expect = import_module("playwright.sync_api").expect
            expect.set_options(timeout=PATIENCE)
            yield running
    except NoChromiumError as error:
        if BROWSER_PROMISED:
            pytest.fail(str(error), pytrace=False)
        pytest.skip(str(error))
