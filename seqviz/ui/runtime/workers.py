"""Processes beside this one that answer questions, where there are cores for them.

Python runs one thread at a time: a class in which every hand moves waits for one core. A question
that carries all that its answer needs can go to another process, over a pipe of that process's own.
One that dies, or that takes longer than anybody waits, is replaced: whoever asked it is told so
and finds the answer here. With its end of the pipe a process loses its parent, and ends.

No pool of the standard library: there, one process that dies takes every question along, and one
that hangs cannot be told from the others.
"""

from __future__ import annotations

import logging
import signal
import subprocess
import threading
from collections.abc import Callable, Hashable
from concurrent.futures import Future
from contextlib import suppress
from multiprocessing.connection import Connection
from queue import SimpleQueue
from typing import Any

from seqviz.core.child_process import ChildProcess

PATIENCE = 5.0  # seconds that an answer may take; a browser waits no longer (bench/live.js)
MAX_BACKLOG = 2  # questions that may wait for one process while another has none
_BEGIN = "import sys; from seqviz.ui.runtime import workers; workers.serve(int(sys.argv[1]))"
log = logging.getLogger(__name__)


class WorkerDiedError(Exception):
    """The process has died, or took too long."""


class Worker:
    """One process, and the thread that speaks with it. Both functions must be a module's own.

    prepare: called there once, before the first question. work: gives the answer to a question; it
    raises nothing. ready: set while it can be asked.
    """

    def __init__(self, prepare: Callable[[], None], work: Callable[[Any], Any]):
        self._does = prepare, work
        self._asked: SimpleQueue[tuple[Future[Any], Any] | None] = SimpleQueue()
        self._lock = threading.Lock()
        self.ready = threading.Event()
        self._closed = False
        self._child: ChildProcess | None = None
        threading.Thread(target=self._keep, daemon=True, name="worker").start()

    @property
    def waiting(self) -> int:
        """Questions that nobody has begun to answer."""
        return self._asked.qsize()

    def submit(self, question: Any) -> Future[Any] | None:
        """The answer to come, or `Gone`; None where there is no process at the moment."""
        with self._lock:
            if not self.ready.is_set():
                return None
            future: Future[Any] = Future()
            self._asked.put((future, question))
            return future

    def close(self) -> None:
        """End the process; what waits is told."""
        self._closed = True
        self._asked.put(None)
        if self._child is not None:
            self._child.kill()

    @property
    def process(self) -> subprocess.Popen[bytes] | None:
        """The process; None before the first one."""
        return None if self._child is None else self._child.process

    def _keep(self) -> None:
        while not self._closed:
            self._child = ChildProcess(_BEGIN)
            with self._child as line:
                try:
                    line.send(self._does)
                    line.recv()
                except (EOFError, OSError):  # the next one would end so, too
                    if not self._closed:
                        log.error("a worker does not start: its questions are answered here")
                    return
                self.ready.set()
                self._speak(line)
                with self._lock:
                    self.ready.clear()
            while not self._asked.empty():
                if (item := self._asked.get()) and item[0].set_running_or_notify_cancel():
                    item[0].set_exception(WorkerDiedError())

    def _speak(self, line: Connection) -> None:
        """One question after another, until an answer does not come."""
        while (item := self._asked.get()) is not None:
            future, question = item
            if not future.set_running_or_notify_cancel():
                continue  # nobody waits for it any more
            try:
                line.send(question)
                if not line.poll(PATIENCE):
                    raise TimeoutError
                answer = line.recv()
            except (EOFError, OSError) as error:  # TimeoutError is one of these
                log.warning("a worker is replaced: %s", type(error).__name__)
                future.set_exception(WorkerDiedError())
                return
            future.set_result(answer)


class Workers:
    """So many processes; all: of them."""

    def __init__(self, count: int, prepare: Callable[[], None], work: Callable[[Any], Any]):
        self.all = [Worker(prepare, work) for _ in range(count)]

    @property
    def busy(self) -> bool:
        """Whether anything waits."""
        return any(worker.waiting for worker in self.all)

    def submit(self, key: Hashable, question: Any) -> Future[Any] | None:
        """The answer to come; None where no process is there.

        Equal keys go to one process, which keeps what it has computed, unless others wait for it.
        """
        ready = [worker for worker in self.all if worker.ready.is_set()]
        if not ready:
            return None
        chosen = ready[hash(key) % len(ready)]
        idlest = min(ready, key=lambda worker: worker.waiting)
        return (idlest if chosen.waiting > idlest.waiting + MAX_BACKLOG else chosen).submit(
            question
        )

    def close(self) -> None:
        """End all."""
        for worker in self.all:
            worker.close()


def serve(descriptor: int) -> None:
    """What runs in the process, at the other end of the pipe."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent's, which then closes the line
    line = Connection(descriptor)
    with suppress(EOFError, OSError):  # the parent has gone
        prepare, work = line.recv()
        prepare()
        line.send(None)
        while True:
            line.send(work(line.recv()))
