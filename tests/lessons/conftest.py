"""Scenes as the tests of pages have them; what benches ask for is computed once, as for a class."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from seqviz.core.code_trace import Args, Function, Keywords
from seqviz.lessons.framework.host import Computed, LocalHost
from seqviz.ui.runtime.result_cache import cached


@pytest.fixture(autouse=True)
def computed_once(request: pytest.FixtureRequest) -> Iterator[None]:
    """But where a test changes what a bench stands on, that test computes for itself."""

    def call(_: LocalHost, function: Function, args: Args, keywords: Keywords) -> Computed:
        return cached(function)(*args, **keywords)

    if "monkeypatch" in request.fixturenames:
        yield
        return
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(LocalHost, "call", call)
        yield
