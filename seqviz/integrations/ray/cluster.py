"""Services on the cluster: a deployment per model, and trainings shared by all app replicas.

Ray provides replicas, batching, autoscaling, health checks and the retry of a task whose worker has
died. Trainings are pickled between an app's bridge and `Runs`: this actor, the only state that app
replicas share, needs neither torch nor the classes of results.
"""

from __future__ import annotations

import asyncio
import hashlib
import pickle
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import ray
from ray import serve
from ray.serve import Application

from seqviz.integrations.ray import weights
from seqviz.integrations.ray.version import code
from seqviz.jobs import CancelledError
from seqviz.jobs.job import explained
from seqviz.models import device, forward_cache, placement, pretrained
from seqviz.models.forward_cache import LENGTH_GROUP, ForwardPass, Masking
from seqviz.models.texts import MAX_TEXT_TOKENS, Tokens

NAMESPACE = "seqviz"
PREFIX = "seqviz-"  # an application is named by this prefix and the model
TOKENS = 4 * MAX_TEXT_TOKENS  # maximum number of tokens of one batch, padding included
ROWS = placement.TOGETHER["cuda"]
LONG = 90  # minimum tokens of a text that is routed to the replica that has read it
NAMES = 64  # maximum number of such texts that Ray tracks per replica
WAITING = 200  # maximum queue of forward passes per app replica; more are computed locally
AWAY_SECONDS = 5.0  # timeout of a watcher; its app has died
POLL_SECONDS = 0.5  # maximum wait for news in one request
STOP_SECONDS = 0.5  # time for a task to stop by itself before its process is killed
REPORT_SECONDS = 0.1
KEPT, KEPT_BYTES = 64, 256_000_000
RECORDS = 4000  # maximum number of records of one run
TRIES = 2


def long_name(tokens: Tokens) -> str:
    """Return a long text's key for Ray's router; "" for a text that any replica may take."""
    few = len(tokens.ids) < LONG
    return "" if few else hashlib.sha256(tokens.ids.tobytes()).hexdigest()[:16]


@serve.deployment(
    max_ongoing_requests=64,
    max_queued_requests=WAITING,
    health_check_period_s=1.0,
    graceful_shutdown_timeout_s=5.0,
)
class Reads:
    """Deployment: forward passes of one model; waiting texts of similar length are batched."""

    def __init__(self, model: str) -> None:
        device.prepare_torch()
        self._model = pretrained.load(model)
        weights.share(self._model)
        self._shelf = forward_cache.ForwardCache()  # students at several app replicas share a text
        self._lines: dict[int, Callable[[tuple[Tokens, Masking]], Awaitable[ForwardPass]]] = {}
        self._turn = asyncio.Lock()  # one batch computes at a time

    def code(self) -> str:
        """Return the version of this replica (`version.code`)."""
        return code()

    async def __call__(
        self, tokens: Tokens, masking: Masking, what: Callable[[ForwardPass], Any]
    ) -> Any:
        """Return `what` of one forward pass: cached, or batched with others of similar length."""
        if name := long_name(tokens):
            await self._has(name)
        key = (self._model.card.name, tokens.ids.tobytes(), tokens.segments.tobytes(), masking)
        if (result := self._shelf.peek(key)) is None:
            result = await self._line(len(tokens.ids) // LENGTH_GROUP)((tokens, masking))
            self._shelf.put(key, result)
        return await asyncio.to_thread(what, result)

    @serve.multiplexed(max_num_models_per_replica=NAMES)
    async def _has(self, name: str) -> str:
        """Tell Ray's router that this replica has the text."""
        return name

    def _line(self, length: int) -> Callable[[tuple[Tokens, Masking]], Awaitable[ForwardPass]]:
        """Return the batching function of a length group; short texts do not wait for long ones."""
        if length not in self._lines:
            maximum = min(ROWS, TOKENS // ((length + 1) * LENGTH_GROUP))

            @serve.batch(max_batch_size=maximum, batch_wait_timeout_s=0.0)
            async def together(requests: list[tuple[Tokens, Masking]]) -> list[ForwardPass]:
                async with self._turn:
                    return await asyncio.to_thread(forward_cache.forwards, self._model, requests)

            self._lines[length] = together
        return self._lines[length]


def app(arguments: dict[str, str]) -> Application:
    """Return the Serve application of a model.

    Usage: `serve run seqviz.integrations.ray.cluster:app model=minilm`.

    Args:
        arguments: model; least, most: number of replicas (1, 4), at least one; processors, gpus:
            per replica, where a fraction of a GPU lets several share one.
    """
    chosen = {"least": "1", "most": "4", "processors": "1", "gpus": "0", **arguments}
    reads: Any = Reads
    deployed = reads.options(
        autoscaling_config={
            "min_replicas": int(chosen["least"]),
            "max_replicas": int(chosen["most"]),
            "target_ongoing_requests": 8,
        },
        ray_actor_options={
            "num_cpus": float(chosen["processors"]), "num_gpus": float(chosen["gpus"]),
        },
    )  # fmt: skip
    application: Application = deployed.bind(chosen["model"])
    return application


@dataclass
class _Run:
    """A training on the cluster.

    Attributes:
        call: pickled function and arguments.
        watchers: time of the last request of each waiting app.
        attempt: number of the present attempt; 0 before the first.
        where: name of the processor that computes it.
        records: pickled records of the present attempt, from number `first` on.
        state: "waits", "runs", "done", "died", "cancelled" or "version".
        answer: pickled result after the end.
        stopping: time when it was asked to stop; else 0.
    """

    call: bytes
    watchers: dict[str, float]
    task: Any = None
    attempt: int = 0
    where: str = ""
    records: list[bytes] = field(default_factory=list)
    first: int = 0
    state: str = "waits"
    answer: bytes = b""
    stopping: float = 0.0
    changed: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def ended(self) -> bool:
        return self.state not in ("waits", "runs")


class Runs:
    """Actor: trainings of all app replicas; equal ones run once, and results are stored."""

    def __init__(self) -> None:
        self._runs: OrderedDict[bytes, _Run] = OrderedDict()
        self._sweeping: asyncio.Task[None] | None = None

    async def about(self) -> tuple[str, int]:
        """Return the version, and the number of trainings that wait or run."""
        return code(), sum(not run.ended for run in self._runs.values())

    async def join(self, key: bytes, watcher: str, call: bytes) -> None:
        """Wait for a training; start it unless it runs or its result is stored.

        Args:
            key: key of the training; equal calls have equal keys.
            watcher: name of the waiting app and request.
            call: pickled function and arguments.
        """
        if self._sweeping is None:
            self._sweeping = asyncio.create_task(self._sweep())
        run = self._runs.get(key)
        if run is None or run.state in ("died", "cancelled") or run.stopping:
            run = self._runs[key] = _Run(call, {})
            me = ray.get_runtime_context().current_actor
            run.task = train.remote(me, key, code(), call)
            asyncio.create_task(self._end(key, run))  # noqa: RUF006 the actor's loop lives as long
        self._runs.move_to_end(key)
        run.watchers[watcher] = time.monotonic()

    async def look(self, key: bytes, watcher: str, attempt: int, last_seen: int) -> Any:
        """Return the news of a training after `last_seen` records; wait briefly for some.

        Args:
            key: key of the training.
            watcher: name of the waiting app and request.
            attempt: the attempt that `last_seen` counts.
            last_seen: number of records received.

        Returns:
            State, attempt, processor, number of the last record, new records, and answer; None for
            an unknown training.
        """
        run = self._runs.get(key)
        if run is None or watcher not in run.watchers:
            return None
        run.watchers[watcher] = time.monotonic()
        if run.attempt == attempt and run.first + len(run.records) == last_seen and not run.ended:
            with suppress(TimeoutError):
                await asyncio.wait_for(run.changed.wait(), POLL_SECONDS)
        start = max(last_seen - run.first, 0) if run.attempt == attempt else 0
        last = run.first + len(run.records)
        return run.state, run.attempt, run.where, last, run.records[start:], run.answer

    async def leave(self, key: bytes, watcher: str) -> None:
        """Stop waiting; a training without watchers is stopped."""
        if (run := self._runs.get(key)) is not None:
            run.watchers.pop(watcher, None)
            await self._stop_unwanted(run)

    async def begun(self, key: bytes, where: str) -> int:
        """Register the start of a task; return its attempt, or 0 if no app waits for it."""
        run = self._runs.get(key)
        if run is None or run.stopping or run.ended:
            return 0
        run.attempt, run.where, run.state = run.attempt + 1, where, "runs"
        run.records, run.first = [], 0
        self._tell(run)
        return run.attempt

    async def report(self, key: bytes, attempt: int, records: list[bytes]) -> bool:
        """Store records of a task; return False if no app waits for it any more."""
        run = self._runs.get(key)
        if run is None or run.stopping or run.attempt != attempt:
            return False
        run.records += records
        if len(run.records) > RECORDS:
            run.first += RECORDS // 2
            del run.records[: RECORDS // 2]
        self._tell(run)
        return True

    async def _end(self, key: bytes, run: _Run) -> None:
        try:
            run.state, run.answer = await run.task
        except ray.exceptions.TaskCancelledError:
            run.state = "cancelled"
        except ray.exceptions.RayError:  # the worker or machine died, and so did the retry
            run.state = "died"
        run.call, run.task = b"", None
        if run.state != "done":  # the next request starts it again
            run.stopping = time.monotonic()
        self._tell(run)
        retained = [run for run, other in self._runs.items() if other.ended and not other.watchers]
        size = sum(len(self._runs[item].answer) for item in retained)
        for entry in retained:
            if len(retained) <= KEPT and size <= KEPT_BYTES:
                break
            size -= len(self._runs.pop(entry).answer)
            retained = retained[1:]

    @staticmethod
    def _tell(run: _Run) -> None:
        run.changed.set()
        run.changed = asyncio.Event()

    async def _stop_unwanted(self, run: _Run) -> None:
        if run.watchers or run.ended or run.stopping:
            return
        run.stopping = time.monotonic()
        await asyncio.sleep(STOP_SECONDS)
        if run.task is not None:
            ray.cancel(run.task, force=True)

    async def _sweep(self) -> None:
        while True:
            await asyncio.sleep(1.0)
            old = time.monotonic() - AWAY_SECONDS
            for key, run in [*self._runs.items()]:
                run.watchers = {watcher: at for watcher, at in run.watchers.items() if at > old}
                if run.ended and not run.watchers and run.state != "done":
                    del self._runs[key]
                else:
                    asyncio.create_task(self._stop_unwanted(run))  # noqa: RUF006


def runs() -> Any:
    """Return the actor of this version's trainings; create it on first use, detached."""
    return (
        ray.remote(Runs)
        .options(
            name=f"runs-{code()}", namespace=NAMESPACE, lifetime="detached", get_if_exists=True,
            num_cpus=0, max_restarts=-1, max_concurrency=10_000,
        )
        .remote()
    )  # fmt: skip


@ray.remote(num_cpus=1, max_retries=TRIES - 1)
def train(shared: Any, key: bytes, version: str, call: bytes) -> tuple[str, bytes]:
    """Run one training; return how it ended, and the pickled (state, result or error)."""
    if version != code():
        return "version", code().encode()
    device.prepare_torch()
    attempt = ray.get(shared.begun.remote(key, device.cpu_name()))
    if not 1 <= attempt <= TRIES:
        return "cancelled" if not attempt else "died", b""
    function, args, keywords = pickle.loads(call)
    records: list[bytes] = []
    sent, last = None, 0.0

    def report(record: object, fraction: float | None = None) -> None:
        nonlocal sent, last, records
        records.append(pickle.dumps((record, fraction)))
        if time.monotonic() < last + REPORT_SECONDS:
            return
        # Reads the answer to the previous report, which has arrived by now, to avoid a wait.
        if sent is not None and not ray.get(sent):
            raise CancelledError
        sent, records = shared.report.remote(key, attempt, records), []
        last = time.monotonic()

    try:
        answer = "done", function(*args, report=report, **keywords)
    except CancelledError:
        return "cancelled", b""
    except Exception as error:
        answer = "failed", explained(error)
    ray.get(shared.report.remote(key, attempt, records))
    try:
        return "done", pickle.dumps(answer)
    except Exception:  # an error that cannot be pickled
        return "done", pickle.dumps(("failed", RuntimeError(f"{type(answer[1]).__name__}")))
