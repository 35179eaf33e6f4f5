"""The app's side: what to ask of the cluster, and what to do without it.

Whoever waits for an answer has one from here as soon as it is known that none will come from there:
the cluster is away, of another version, full, or has taken longer than `SEQVIZ_RAY_SECONDS`. It is
looked for again by itself, at first every second and then every ten.
"""

from __future__ import annotations

import itertools
import logging
import pickle
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from queue import Empty, SimpleQueue
from typing import Any, Literal

from seqviz.compute.attention.tokens import Tokens
from seqviz.core import settings
from seqviz.core.child_process import ChildProcess
from seqviz.core.errors import UserError
from seqviz.integrations.ray.version import code
from seqviz.jobs import CancelledError, Job, Report
from seqviz.models import forward_cache, placement
from seqviz.models.forward_cache import ForwardPass, Masking

State = Literal["connected", "disconnected", "incompatible", "degraded"]
STATES = ("connected", "disconnected", "incompatible", "degraded")
REQUEST_KINDS = ("forward", "training")
OUTCOMES = ("answered", "disconnected", "incompatible", "degraded", "full", "failed")
LOOK_SECONDS = 0.1  # between two looks whether anybody still wants what is computed there
SILENT_SECONDS = 12.0  # without news of the bridge, which sends some every second
REST_SECONDS = 10.0  # between two probes whether a silent cluster answers again
BACK_OFF = (1.0, 2.0, 5.0, 10.0)  # seconds between two attempts to reach the cluster
FULL_SECONDS = 20.0  # that a training waits for a processor of the cluster
_BEGIN = "import sys; from seqviz.integrations.ray import bridge; bridge.main(int(sys.argv[1]))"
log = logging.getLogger(__name__)


class RemoteUnavailableError(Exception):
    """None will come; how: one of `OUTCOMES`."""

    def __init__(self, how: str):
        super().__init__(how)
        self.how = how


@dataclass
class Cluster:
    """What the bridge has last said of it.

    processors, free, gpus: all, those that nothing has taken, GPUs. replicas: by model, of those
    whose forward passes it takes. runs: trainings that wait or run, of all apps. others: versions
    of SeqViz, by model, that are not this one: those deployments are not asked.
    """

    nodes: int = 0
    processors: float = 0.0
    free: float = 0.0
    gpus: float = 0.0
    replicas: dict[str, int] = field(default_factory=dict)
    runs: int = 0
    others: dict[str, str] = field(default_factory=dict)


class Engine:
    """The line to the bridge, which is kept up from when this is made until `close`."""

    def __init__(self, address: str, patience: float):
        self._address, self._patience = address, patience
        self._numbers = itertools.count(1)
        self._asked: dict[int, tuple[str, SimpleQueue[tuple[str, Any]]]] = {}
        self._lock = threading.Lock()  # of the line, and of what is asked
        self._line: Connection | None = None
        self._child: ChildProcess | None = None
        self._silent = (
            threading.Event()
        )  # an answer did not come in time; a probe asks, nobody else
        self._why: State = "disconnected"
        self._closed = threading.Event()
        self._found = threading.Event()
        self.cluster = Cluster()
        self.counts: Counter[tuple[str, str]] = Counter()  # by kind and how
        self.seconds: defaultdict[str, float] = defaultdict(float)  # of those answered, by kind
        self.bytes: Counter[str] = Counter()  # of answers, by kind
        self.connections = 0
        self._met: set[tuple[str, str]] = set()  # versions of which the log knows
        threading.Thread(target=self._keep, daemon=True, name="seqviz-engine").start()

    @property
    def state(self) -> State:
        """How the cluster is: "incompatible", too, where only a model's deployment is."""
        is_partly = self._ready == "connected" and self.cluster.others
        return "incompatible" if is_partly else self._ready

    @property
    def _ready(self) -> State:
        """Return "connected" where it would be asked now, else why it would not."""
        if not self._found.is_set():
            return self._why
        return "degraded" if self._silent.is_set() else "connected"

    def wait(self, timeout: float) -> bool:
        """Until the cluster is there, at most so many seconds; whether it is."""
        return self._found.wait(timeout)

    def close(self) -> None:
        """End the bridge; what is asked is told so."""
        self._closed.set()
        if self._child is not None:
            self._child.kill()

    def forward(
        self,
        model: str,
        tokens: Tokens,
        masking: Masking,
        each: Callable[[int], None] | None,
        what: Callable[[ForwardPass], Any] = forward_cache.sent,
    ) -> Any:
        """`what` of the reading of a model that the cluster has; None: to be computed here.

        each: called now and then with 0, so that who has gone can leave.
        """
        if self._found.is_set() and model not in self.cluster.replicas:
            if model in self.cluster.others:
                self._count("forward", "incompatible")
            return None  # else it is none of those over there, which is no failure
        began = time.monotonic()
        words = model, tokens, masking, what
        try:
            with self._asking("forward", words) as answers:
                result = self._answer(answers, began, each)
        except RemoteUnavailableError as none:
            if none.how == "degraded":
                self._fall_silent(words)
            self._count("forward", none.how)
            return None
        self._count("forward", "answered", began)
        return result

    def train(self, job: Job[Any], report: Report) -> tuple[Any] | None:
        """A job's result in a tuple; None where it has to be computed here. Raises what it did."""
        call = job.call
        if job.device == "models" or _leaves_something_here(call.func):
            return None
        began = time.monotonic()
        try:
            packed = pickle.dumps((call.func, call.args, call.keywords))
        except (pickle.PicklingError, AttributeError, TypeError):
            return None
        try:
            with self._asking("training", (job.key, packed)) as answers:
                result = self._followed(job, report, answers, began)
        except RemoteUnavailableError as none:
            self._count("training", none.how)
            job.begin_again("cluster_away")
            return None
        self._count("training", "answered", began)
        return (result,)

    def _followed(
        self, job: Job[Any], report: Report, answers: SimpleQueue[tuple[str, Any]], began: float
    ) -> Any:
        attempt = 0
        while True:
            if not job.has_subscribers:
                raise CancelledError
            try:
                what, value = answers.get(timeout=LOOK_SECONDS)
            except Empty:
                if not attempt and time.monotonic() - began > FULL_SECONDS:
                    raise RemoteUnavailableError("full") from None
                continue
            if what == "news":
                number, where, records = value
                if number > 1 and number != attempt:  # its machine died; this is the second try
                    job.begin_again("worker_died")
                attempt, job.where = number, where
                for record, fraction in map(pickle.loads, records):
                    report(record, fraction)
            elif what == "done":
                state, result = pickle.loads(value)
                if state == "failed":
                    raise result
                if state == "cancelled":
                    raise CancelledError
                return result
            elif what == "died":
                self._count("training", "failed")
                raise UserError(
                    "worker_died",
                    "The machine that computed this run has failed, and so has the second try.",
                )
            elif what == "incompatible":
                self._meet("a node of the cluster", value)
                raise RemoteUnavailableError("incompatible")
            else:
                raise RemoteUnavailableError(str(value))

    def _answer(
        self, answers: SimpleQueue[tuple[str, Any]], began: float,
        each: Callable[[int], None] | None,
    ) -> Any:  # fmt: skip
        while (left := began + self._patience - time.monotonic()) > 0:
            try:
                what, value = answers.get(timeout=left if each is None else LOOK_SECONDS)
            except Empty:
                if each is not None:
                    each(0)
                continue
            if what == "done":
                return value
            raise RemoteUnavailableError(str(value))
        raise RemoteUnavailableError("degraded")

    def _fall_silent(self, words: tuple[Any, ...]) -> None:
        """Ask nothing more until a probe, which repeats this request, has an answer in time."""
        with self._lock:
            if self._silent.is_set():
                return
            self._silent.set()
        log.warning("the cluster is degraded: forward passes are computed here for a while")
        threading.Thread(
            target=self._probe, args=(words,), daemon=True, name="seqviz-engine-probe"
        ).start()

    def _probe(self, words: tuple[Any, ...]) -> None:
        """Repeat a request until it is answered: no visitor waits to find that out."""
        while not self._closed.wait(REST_SECONDS):
            with (
                suppress(RemoteUnavailableError),
                self._asking("forward", words, probes=True) as answers,
            ):
                self._answer(answers, time.monotonic(), None)
                self._silent.clear()
                log.info("the cluster answers in time again")
                return

    def _asking(self, what: str, words: tuple[Any, ...], probes: bool = False) -> _Asking:
        return _Asking(self, what, words, probes)

    def _count(self, kind: str, how: str, began: float | None = None) -> None:
        with self._lock:
            self.counts[kind, how] += 1
            if began is not None:
                self.seconds[kind] += time.monotonic() - began

    def _keep(self) -> None:
        failures = 0
        while not self._closed.is_set():
            self._run()
            if self._found.is_set():
                failures = 0
                log.warning("the cluster is disconnected: what was asked of it is computed here")
            with self._lock:
                self._found.clear()
                self._line = None
                requests = [*self._asked.values()]
            for _, answers in requests:
                answers.put(("unavailable", "disconnected"))
            self._closed.wait(BACK_OFF[min(failures, len(BACK_OFF) - 1)])
            failures += 1

    def _run(self) -> None:
        """One bridge, until it ends or falls silent."""
        self._child = ChildProcess(_BEGIN)
        with suppress(EOFError, OSError), self._child as line:
            line.send(self._address)
            while line.poll(60.0 if not self._found.is_set() else SILENT_SECONDS):
                packed = line.recv_bytes()
                number, what, value = pickle.loads(packed)
                if number:
                    if (request := self._asked.get(number)) is not None:
                        self.bytes[request[0]] += len(packed)
                        request[1].put((what, value))
                elif what == "error":
                    self._on_error(*value)
                    break
                else:
                    self._on_connected(line, value)
        self._why = "disconnected" if self._found.is_set() else self._why

    def _on_error(self, why: State, words: str) -> None:
        if self._why != why or not self.connections:
            log.warning("the cluster cannot be used (%s): %s", why, words)
        self._why = why

    def _meet(self, what: str, version: str) -> None:
        """Log, once, that something runs another program than this process."""
        if (what, version) not in self._met:
            self._met.add((what, version))
            message = "%s runs another SeqViz (%s, here %s): what it would do is computed here"
            log.warning(message, what, version, code())

    def _on_connected(self, line: Connection, cluster: Cluster) -> None:
        self.cluster = cluster
        for model, version in cluster.others.items():
            self._meet(f"the deployment of {model}", version)
        if not self._found.is_set():
            self.connections += 1
            models = ",".join(cluster.replicas) or "none"
            log.info("the cluster is connected", extra={"models": models})
            self._line = line
            self._found.set()


class _Asking:
    """Within, answers to one question come into a queue; after it nobody listens any more."""

    def __init__(self, engine: Engine, what: str, words: tuple[Any, ...], probes: bool):
        self._engine, self._what, self._words, self._probes = engine, what, words, probes
        self._number = next(engine._numbers)

    def __enter__(self) -> SimpleQueue[tuple[str, Any]]:
        engine, answers = self._engine, SimpleQueue[tuple[str, Any]]()
        if (state := engine._ready) != "connected" and not (self._probes and state == "degraded"):
            raise RemoteUnavailableError(state)
        with engine._lock:
            engine._asked[self._number] = self._what, answers
        try:
            self._send(self._what, *self._words)
        except RemoteUnavailableError:
            del engine._asked[self._number]
            raise
        return answers

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        with self._engine._lock:
            del self._engine._asked[self._number]
        if kind is not None:
            with suppress(RemoteUnavailableError):
                self._send("leave")

    def _send(self, *words: Any) -> None:
        try:
            with self._engine._lock:
                if self._engine._line is None:
                    raise RemoteUnavailableError("disconnected")
                self._engine._line.send((self._number, *words))
        except OSError:
            raise RemoteUnavailableError("disconnected") from None


def _leaves_something_here(function: Callable[..., Any]) -> bool:
    """Whether it is called for what it leaves in this process: it returns nothing."""
    return function.__annotations__.get("return", "") in (None, "None")


_engine: Engine | None = None


def begin() -> Engine | None:
    """Ask the cluster from now on, where that is wished for; once per process."""
    global _engine
    if _engine is None and settings.value("SEQVIZ_ENGINE") == "ray":
        from seqviz.jobs import queue

        address = settings.value("SEQVIZ_RAY_ADDRESS")
        _engine = Engine(address, settings.value("SEQVIZ_RAY_SECONDS"))
        forward_cache.elsewhere, queue.remote_executor = _engine.forward, _engine.train
        placement.elsewhere = lambda: _engine.state if _engine else ""
    return _engine


def end() -> None:
    """Everything is computed here again."""
    global _engine
    if _engine is not None:
        from seqviz.jobs import queue

        forward_cache.elsewhere = queue.remote_executor = placement.elsewhere = None
        _engine.close()
        _engine = None


def engine() -> Engine | None:
    """What `begin` has made; None where nothing goes to a cluster."""
    return _engine
