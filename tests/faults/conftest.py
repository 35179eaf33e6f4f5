"""Pages, hubs and models as other tests have them, and faults that really happen."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator

import pytest

from seqviz.ui.runtime import result_cache
from tests.models import conftest as models
from tests.pages import conftest as pages

nobody_has_trained, visit = pages.nobody_has_trained, pages.visit

tiny_files, cache, hub = models.tiny_files, models.cache, models.hub
small_disk = models.small_disk


@pytest.fixture
def nothing_kept() -> None:
    """No result of another test: what a page shows has to be computed now."""
    result_cache.result_cache.cache_clear()


@pytest.fixture
def at_each_update(on_the_cpu) -> Iterator[Callable]:
    """`at_each_update(act)`: before each update of any network's weights, `act()` is called."""
    from torch.optim.optimizer import register_optimizer_step_pre_hook

    handles = []

    def hook(act: Callable[[], object]) -> None:
        def called(*_: object) -> None:
            act()

        handles.append(register_optimizer_step_pre_hook(called))

    yield hook
    for handle in handles:
        handle.remove()


@pytest.fixture
def gate() -> Iterator[threading.Event]:
    """What a hung job waits for; opened at the end, whatever happens, so that no thread stays."""
    event = threading.Event()
    yield event
    event.set()
