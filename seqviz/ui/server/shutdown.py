"""Graceful shutdown: streaming responses end at once when the process receives a signal.

The server waits for open responses before it notifies the app, so the app handles the signal
itself. After that nothing is waited for: neither computing threads nor Python's own cleanup, which
frees every object and takes seconds.
"""

from __future__ import annotations

import asyncio
import atexit
import logging
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Any

GRACEFUL_S = 2  # seconds for responses in progress
END_S = 2.8  # seconds from the signal to the end of the process, whatever still runs
SIGNALS = (signal.SIGTERM, signal.SIGINT)
_callbacks: list[Callable[[], None]] = []
_ending = threading.Event()


def on_shutdown(callback: Callable[[], None]) -> None:
    """Register a callback that runs on the event loop when the process receives a signal."""
    _callbacks.append(callback)


@contextmanager
def announced() -> Iterator[None]:
    """Call the shutdown callbacks before the server's own signal handler, while the body runs.

    Without effect where the loop is not in the main thread (tests), which alone receives signals.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    loop = asyncio.get_running_loop()
    before = {number: signal.getsignal(number) for number in SIGNALS}

    def handle(number: int, frame: FrameType | None) -> None:
        loop.call_soon_threadsafe(_announce)
        _end_in_time(number)
        if callable(handler := before[signal.Signals(number)]):
            _limit_patience(handler)
            handler(number, frame)

    for number in SIGNALS:
        signal.signal(number, handle)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _announce() -> None:
    while _callbacks:
        _callbacks.pop()()


def _end_in_time(number: int) -> None:
    """End the process before Python's cleanup, or after END_S at the latest."""
    if _ending.is_set():
        return
    _ending.set()

    def end() -> None:
        logging.shutdown()
        with suppress(OSError, ValueError):  # the reader has closed the pipe
            sys.stdout.flush()
        os._exit(128 + number)

    atexit.register(end)
    timer = threading.Timer(END_S, end)
    timer.daemon = True
    timer.start()


def _limit_patience(handler: Any) -> None:
    """Set Uvicorn's graceful timeout; by default it waits forever for open responses."""
    with suppress(AttributeError):
        handler.__self__.config.timeout_graceful_shutdown = GRACEFUL_S
