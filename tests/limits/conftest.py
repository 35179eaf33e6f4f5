"""Pages and models as other tests have them, and settings that a single test changes."""

from __future__ import annotations

import pytest
from borrow import conftest_of, reach

reach("pages", "models")  # for `looking` and `hub`

_pages, _models = conftest_of("pages"), conftest_of("models")
nobody_has_trained, visit = _pages.nobody_has_trained, _pages.visit
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
