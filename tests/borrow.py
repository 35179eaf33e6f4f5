"""What folders of tests have of each other, and what a machine may lack."""

from __future__ import annotations

import importlib.util
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from testing.chromium import NoChromiumError, chromium

TESTS = Path(__file__).resolve().parent
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


class Clock:
    """Seconds that pass when a test says so."""

    now = 1000.0

    def __call__(self) -> float:
        return self.now


def reach(*folders: str) -> None:
    """Let tests import the helpers in these folders."""
    sys.path += [str(TESTS / name) for name in folders if str(TESTS / name) not in sys.path]


def conftest_of(folder: str) -> ModuleType:
    """The fixtures of another folder."""
    name = f"{folder}_fixtures"
    spec = importlib.util.spec_from_file_location(name, TESTS / folder / "conftest.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # dataclasses look there
    spec.loader.exec_module(module)
    return module


@contextmanager
def a_browser() -> Iterator[Any]:
    """A running Chromium; where there is none the test is skipped, or fails if one was promised."""
    try:
        with chromium() as running:
            yield running
    except NoChromiumError as error:
        if BROWSER_PROMISED:
            pytest.fail(str(error), pytrace=False)
        pytest.skip(str(error))
