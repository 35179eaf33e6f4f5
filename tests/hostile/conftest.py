"""A server for messages and browsers, and a thread for what has an event loop of its own."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest


@pytest.fixture(scope="session")
def server(minilm_on_disk) -> Iterator[Any]:
    """The app in a process of its own, with its imports done."""
    from benchmarks.browser import serve
    from tests.hostile.wire import Visitor

    async def first(url: str) -> None:
        async with Visitor(url, "vanishing_gradients") as visitor:
            await visitor.ask()

    with serve(environment={"HF_HUB_OFFLINE": "1"}) as running:
        with ThreadPoolExecutor(1) as thread:
            thread.submit(asyncio.run, first(running.url)).result()
        yield running


@pytest.fixture
def apart() -> Callable[..., Any]:
    """`apart(f, *args)` in a thread: Playwright's loop of other tests runs in this one."""

    def call(function: Callable[..., Any], *args: Any) -> Any:
        with ThreadPoolExecutor(1) as thread:
            return thread.submit(function, *args).result()

    return call


@pytest.fixture
def run(apart) -> Callable[[Coroutine[Any, Any, Any]], Any]:
    """The result of a coroutine."""
    return lambda coroutine: apart(asyncio.run, coroutine)
