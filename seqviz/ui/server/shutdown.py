"""Answers that never end by themselves end at once when the process is told to end.

The server waits for open answers before it tells the app that it ends, so the app hears of the
signal itself. Nor is anything waited for after that: threads that compute, or Python itself, which
clears up every object there is before it ends and needs seconds for that.
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

GRACEFUL_S = 2  # seconds that answers under way may still take
END_S = 2.8  # seconds after a signal in which the process has ended, whatever still runs
SIGNALS = (signal.SIGTERM, signal.SIGINT)
_callbacks: list[Callable[[], None]] = []
_ending = threading.Event()


def on_shutdown(callback: Callable[[], None]) -> None:
    """Call this, on the event loop, when the process is told to end."""
    _callbacks.append(callback)


@contextmanager
def announced() -> Iterator[None]:
    """Within, the callbacks hear of a signal before the server's own handler does.

    Where the loop runs in another thread than the main one (tests) no signal can be heard.
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
    """End the process when all is closed, before Python clears up, or when its time is over."""
    if _ending.is_set():
        return
    _ending.set()

    def end() -> None:
        logging.shutdown()
        with suppress(OSError, ValueError):  # nobody reads it any more
            sys.stdout.flush()
        os._exit(128 + number)

    atexit.register(end)
    timer = threading.Timer(END_S, end)
    timer.daemon = True
    timer.start()


def _limit_patience(handler: Any) -> None:
    """Uvicorn waits for ever for answers under way unless its configuration says how long."""
    with suppress(AttributeError):
        handler.__self__.config.timeout_graceful_shutdown = GRACEFUL_S
