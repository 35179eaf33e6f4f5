"""Pages and models as other tests have them, and settings that a single test changes."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parent.parent
for folder in ("pages", "models"):  # for `looking` and `hub`
    if str(TESTS / folder) not in sys.path:
        sys.path.append(str(TESTS / folder))


def _of(folder: str):
    """The conftest of another folder of tests."""
    path = TESTS / folder / "conftest.py"
    spec = importlib.util.spec_from_file_location(f"limits_{folder}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look there
    spec.loader.exec_module(module)
    return module


_pages, _models = _of("pages"), _of("models")
nobody_has_trained, running_server, visit = (
    _pages.nobody_has_trained,
    _pages.running_server,
    _pages.visit,
)
tiny_files, cache, put, config = (
    _models.tiny_files,
    _models.cache,
    _models.put,
    _models.config,
)


@pytest.fixture(autouse=True)
def no_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    """No limit but the one that a test sets."""
    for name in ("SECONDS", "TOKENS", "JOBS"):
        monkeypatch.setenv(f"SEQVIZ_SESSION_{name}", "0")
