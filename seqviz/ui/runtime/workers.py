"""Worker processes that answer self-contained requests on further cores.

Python runs one thread at a time, so a class that drags sliders waits for one core. A request that
carries everything its response needs can go to a worker process over a pipe. A worker that dies or
exceeds PATIENCE is replaced; the caller gets WorkerDiedError and computes in this process. A worker
ends when the parent's end of the pipe closes.

`concurrent.futures` is not used: there one dead process fails every request, and a hanging one
cannot be told from the others. `Workers` is the public entry.
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

PATIENCE = 5.0  # seconds for a response; a browser waits no longer (bench/live.js)
MAX_BACKLOG = 2  # requests that may wait for one worker while another has none
_BEGIN = "import sys; from seqviz.ui.runtime import workers; workers.serve(int(sys.argv[1]))"
log = logging.getLogger(__name__)


class WorkerDiedError(Exception):
    """A worker process that died or took too long."""


class Worker:
    """One worker process and the thread that talks to it.

    Args:
        prepare: module-level function, called once in the process before the first request.
        work: module-level function that maps a request to a response; it never raises.

    Attributes:
        ready: set while the process accepts requests.
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
        """Number of requests that have not started."""
        return self._asked.qsize()

    def submit(self, question: Any) -> Future[Any] | None:
        """Return the future response, which may raise WorkerDiedError; None without a process."""
        with self._lock:
            if not self.ready.is_set():
                return None
            future: Future[Any] = Future()
            self._asked.put((future, question))
            return future

    def close(self) -> None:
        """End the process; waiting requests raise WorkerDiedError."""
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
                except (EOFError, OSError):  # the next process would fail, too
                    if not self._closed:
                        log.error("worker: no process starts; this process answers instead")
                    return
                self.ready.set()
                self._speak(line)
                with self._lock:
                    self.ready.clear()
            while not self._asked.empty():
                if (item := self._asked.get()) and item[0].set_running_or_notify_cancel():
                    item[0].set_exception(WorkerDiedError())

    def _speak(self, line: Connection) -> None:
        """Send one request after another until a response fails."""
        while (item := self._asked.get()) is not None:
            future, question = item
            if not future.set_running_or_notify_cancel():
                continue  # the caller has cancelled it
            try:
                line.send(question)
                if not line.poll(PATIENCE):
                    raise TimeoutError
                answer = line.recv()
            except (EOFError, OSError) as error:  # TimeoutError is an OSError
                log.warning("worker: the process is replaced (%s)", type(error).__name__)
                future.set_exception(WorkerDiedError())
                return
            future.set_result(answer)


class Workers:
    """A fixed number of workers; `all` lists them."""

    def __init__(self, count: int, prepare: Callable[[], None], work: Callable[[Any], Any]):
        self.all = [Worker(prepare, work) for _ in range(count)]

    @property
    def busy(self) -> bool:
        """True where a request waits."""
        return any(worker.waiting for worker in self.all)

    def submit(self, key: Hashable, question: Any) -> Future[Any] | None:
        """Return the future response; None where no process is ready.

        Requests with equal keys go to the same worker, which caches its results, unless its backlog
        exceeds the shortest one by more than MAX_BACKLOG.
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
        """End all workers."""
        for worker in self.all:
            worker.close()


def serve(descriptor: int) -> None:
    """Run the request loop of a worker process.

    Args:
        descriptor: file descriptor of the pipe to the parent.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent handles it and closes the pipe
    line = Connection(descriptor)
    with suppress(EOFError, OSError):  # the parent has ended
        prepare, work = line.recv()
        prepare()
        line.send(None)
        while True:
            line.send(work(line.recv()))
