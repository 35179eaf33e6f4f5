"""Client of the Ray cluster in the app, with fallback to local computation.

Entry point: `begin`. A request returns as soon as it is known that the cluster will not answer: it
is disconnected, runs another version, is full, or has taken longer than `SEQVIZ_RAY_SECONDS` for a
forward pass. Reconnection is automatic, after 1 s at first, then after up to 10 s (`BACK_OFF`).
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
LOOK_SECONDS = 0.1  # interval of checks for cancellation while waiting
SILENT_SECONDS = 12.0  # timeout of the bridge, which reports every second
REST_SECONDS = 10.0  # interval of probes of a degraded cluster
BACK_OFF = (1.0, 2.0, 5.0, 10.0)  # seconds between attempts to connect
FULL_SECONDS = 20.0  # maximum wait of a training for a processor of the cluster
_BEGIN = "import sys; from seqviz.integrations.ray import bridge; bridge.main(int(sys.argv[1]))"
log = logging.getLogger(__name__)


class RemoteUnavailableError(Exception):
    """Signal that the cluster will not answer a request.

    Attributes:
        how: the reason, one of `OUTCOMES`.
    """

    def __init__(self, how: str):
        super().__init__(how)
        self.how = how


@dataclass
class Cluster:
    """State of the cluster as last reported by the bridge.

    Attributes:
        nodes: number of live nodes.
        processors: number of CPUs.
        free: number of unused CPUs.
        gpus: number of GPUs.
        replicas: number of replicas of each model that serves forward passes.
        runs: number of trainings that wait or run, of all apps.
        others: by model, a different SeqViz version; such deployments receive no requests.
    """

    nodes: int = 0
    processors: float = 0.0
    free: float = 0.0
    gpus: float = 0.0
    replicas: dict[str, int] = field(default_factory=dict)
    runs: int = 0
    others: dict[str, str] = field(default_factory=dict)


class Engine:
    """Connection to the bridge, kept open until `close`.

    Args:
        address: address of the cluster.
        patience: maximum seconds for the answer to a forward pass.

    Attributes:
        cluster: state of the cluster as last reported.
        counts: number of requests, by kind and outcome.
        seconds: total duration of answered requests, by kind.
        bytes: size of the answers, by kind.
        connections: number of connections so far.
    """

    def __init__(self, address: str, patience: float):
        self._address, self._patience = address, patience
        self._numbers = itertools.count(1)
        self._asked: dict[int, tuple[str, SimpleQueue[tuple[str, Any]]]] = {}
        self._lock = threading.Lock()  # guards `_line` and `_asked`
        self._line: Connection | None = None
        self._child: ChildProcess | None = None
        self._silent = threading.Event()  # an answer timed out; only a probe sends requests
        self._why: State = "disconnected"
        self._closed = threading.Event()
        self._found = threading.Event()
        self.cluster = Cluster()
        self.counts: Counter[tuple[str, str]] = Counter()
        self.seconds: defaultdict[str, float] = defaultdict(float)
        self.bytes: Counter[str] = Counter()
        self.connections = 0
        self._met: set[tuple[str, str]] = set()  # versions already logged
        threading.Thread(target=self._keep, daemon=True, name="seqviz-engine").start()

    @property
    def state(self) -> State:
        """State of the cluster; "incompatible" also where only the deployment of a model is."""
        is_partly = self._ready == "connected" and self.cluster.others
        return "incompatible" if is_partly else self._ready

    @property
    def _ready(self) -> State:
        """State for a new request: "connected", else the reason for computing locally."""
        if not self._found.is_set():
            return self._why
        return "degraded" if self._silent.is_set() else "connected"

    def wait(self, timeout: float) -> bool:
        """Wait at most `timeout` seconds for the cluster; return True if it is connected."""
        return self._found.wait(timeout)

    def close(self) -> None:
        """Stop the bridge; pending requests fail as "disconnected"."""
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
        """Return `what` of a forward pass on the cluster; None if it is to be computed locally.

        Args:
            model: name of the model.
            tokens: tokens of the text.
            masking: the attention mask.
            each: called repeatedly with 0 while waiting; an exception cancels the request.
            what: function of the forward pass, evaluated on the cluster.
        """
        if self._found.is_set() and model not in self.cluster.replicas:
            if model in self.cluster.others:
                self._count("forward", "incompatible")
            return None  # a model that is not deployed does not count as a failure
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
        """Return a job's result in a tuple; None if it is to be computed locally.

        Errors of the training are raised here.

        Args:
            job: the job.
            report: called with each record and the fraction done.
        """
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
                if number > 1 and number != attempt:  # Ray retries after the machine died
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
        """Send no requests until a probe, which repeats this one, is answered in time."""
        with self._lock:
            if self._silent.is_set():
                return
            self._silent.set()
        log.warning("ray: degraded; forward passes are computed locally until a probe succeeds")
        threading.Thread(
            target=self._probe, args=(words,), daemon=True, name="seqviz-engine-probe"
        ).start()

    def _probe(self, words: tuple[Any, ...]) -> None:
        """Repeat a request until it is answered, so that no visitor has to wait for the test."""
        while not self._closed.wait(REST_SECONDS):
            with (
                suppress(RemoteUnavailableError),
                self._asking("forward", words, probes=True) as answers,
            ):
                self._answer(answers, time.monotonic(), None)
                self._silent.clear()
                log.info("ray: the cluster answers in time again")
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
                log.warning("ray: disconnected; pending requests are computed locally")
            with self._lock:
                self._found.clear()
                self._line = None
                requests = [*self._asked.values()]
            for _, answers in requests:
                answers.put(("unavailable", "disconnected"))
            self._closed.wait(BACK_OFF[min(failures, len(BACK_OFF) - 1)])
            failures += 1

    def _run(self) -> None:
        """Run one bridge until it ends or stops reporting."""
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
            log.warning("ray: the cluster cannot be used (%s): %s", why, words)
        self._why = why

    def _meet(self, what: str, version: str) -> None:
        """Log, once, that a deployment or node runs a different version."""
        if (what, version) not in self._met:
            self._met.add((what, version))
            message = "ray: %s runs another SeqViz (%s, here %s); its work is computed locally"
            log.warning(message, what, version, code())

    def _on_connected(self, line: Connection, cluster: Cluster) -> None:
        self.cluster = cluster
        for model, version in cluster.others.items():
            self._meet(f"the deployment of {model}", version)
        if not self._found.is_set():
            self.connections += 1
            models = ",".join(cluster.replicas) or "none"
            log.info("ray: connected to the cluster", extra={"models": models})
            self._line = line
            self._found.set()


class _Asking:
    """Context of one request: yields a queue of its answers and cancels it on error."""

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
    """Return True for a function without a result, called for its effect on this process."""
    return function.__annotations__.get("return", "") in (None, "None")


_engine: Engine | None = None


def begin() -> Engine | None:
    """Connect once per process, if `SEQVIZ_ENGINE` is `ray`, and return the engine or None."""
    global _engine
    if _engine is None and settings.value("SEQVIZ_ENGINE") == "ray":
        from seqviz.jobs import queue

        address = settings.value("SEQVIZ_RAY_ADDRESS")
        _engine = Engine(address, settings.value("SEQVIZ_RAY_SECONDS"))
        forward_cache.remote_forward, queue.remote_executor = _engine.forward, _engine.train
        placement.remote_state = lambda: _engine.state if _engine else ""
    return _engine


def end() -> None:
    """Disconnect; everything is computed locally again."""
    global _engine
    if _engine is not None:
        from seqviz.jobs import queue

        forward_cache.remote_forward = queue.remote_executor = placement.remote_state = None
        _engine.close()
        _engine = None


def engine() -> Engine | None:
    """Return the engine that `begin` has created, or None."""
    return _engine
