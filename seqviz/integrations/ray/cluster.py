"""What runs on the cluster: a deployment for each model, and the trainings, which replicas share.

Replicas, batching, autoscaling, health checks and the second try of a task whose worker has died
are Ray's. Between an app's bridge and `Runs` trainings travel packed: that actor, which is the only
state that app replicas share, needs neither torch nor the classes of results.
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
from seqviz.models.forward_cache import LIKE, ForwardPass, Masking
from seqviz.models.texts import MAX_TEXT_TOKENS, Tokens

NAMESPACE = "seqviz"
PREFIX = "seqviz-"  # of an application's name, before the model's
TOKENS = 4 * MAX_TEXT_TOKENS  # of one pass, padded
ROWS = placement.TOGETHER["cuda"]
LONG = 90  # tokens from which on a text is asked of the replica that has read it
NAMES = 64  # of such texts that Ray knows of a replica
WAITING = 200  # forward passes of one app replica that may wait; more are computed there
AWAY_SECONDS = 5.0  # without a look of a watcher: its app has died
POLL_SECONDS = 0.5  # that a look waits for news
STOP_SECONDS = 0.5  # that a task has to stop by itself, before its process is ended
REPORT_SECONDS = 0.1
KEPT, KEPT_BYTES = 64, 256_000_000
RECORDS = 4000  # of one run
TRIES = 2


def long_name(tokens: Tokens) -> str:
    """Of a long text, for Ray's router; the others go to whoever has least to do."""
    few = len(tokens.ids) < LONG
    return "" if few else hashlib.sha256(tokens.ids.tobytes()).hexdigest()[:16]


@serve.deployment(
    max_ongoing_requests=64,
    max_queued_requests=WAITING,
    health_check_period_s=1.0,
    graceful_shutdown_timeout_s=5.0,
)
class Reads:
    """Forward passes of one model; those of about one length that wait go together in one."""

    def __init__(self, model: str) -> None:
        device.prepare_torch()
        self._model = pretrained.load(model)
        weights.share(self._model)
        self._shelf = forward_cache.ForwardCache()  # a class has one text, at several app replicas
        self._lines: dict[int, Callable[[tuple[Tokens, Masking]], Awaitable[ForwardPass]]] = {}
        self._turn = asyncio.Lock()  # of the lines, so that one pass has the processor

    def code(self) -> str:
        """Which program this replica runs."""
        return code()

    async def __call__(
        self, tokens: Tokens, masking: Masking, what: Callable[[ForwardPass], Any]
    ) -> Any:
        """`what` of one reading, which is read with others of its length where others wait."""
        if name := long_name(tokens):
            await self._has(name)
        key = (self._model.card.name, tokens.ids.tobytes(), tokens.segments.tobytes(), masking)
        if (result := self._shelf.peek(key)) is None:
            result = await self._line(len(tokens.ids) // LIKE)((tokens, masking))
            self._shelf.put(key, result)
        return await asyncio.to_thread(what, result)

    @serve.multiplexed(max_num_models_per_replica=NAMES)
    async def _has(self, name: str) -> str:
        """Tells Ray that this text is here."""
        return name

    def _line(self, length: int) -> Callable[[tuple[Tokens, Masking]], Awaitable[ForwardPass]]:
        """Where texts of about one length wait for a pass: a short one waits for no long one's."""
        if length not in self._lines:
            maximum = min(ROWS, TOKENS // ((length + 1) * LIKE))

            @serve.batch(max_batch_size=maximum, batch_wait_timeout_s=0.0)
            async def together(requests: list[tuple[Tokens, Masking]]) -> list[ForwardPass]:
                async with self._turn:
                    return await asyncio.to_thread(forward_cache.forwards, self._model, requests)

            self._lines[length] = together
        return self._lines[length]


def app(arguments: dict[str, str]) -> Application:
    """What `serve run seqviz.integrations.ray.cluster:app model=minilm` deploys.

    least, most: replicas (1, 4), one or more. processors, gpus: of each; a share of a GPU is
    enough for several on one.
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
    """A training; watchers: when each app that waits for it has last looked.

    records: packed, from number `first` on, of the present attempt. answer: packed, when it has
    ended. where: the processor that computes.
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
    """The trainings of all app replicas, equal ones as one; results are kept for who asks later."""

    def __init__(self) -> None:
        self._runs: OrderedDict[bytes, _Run] = OrderedDict()
        self._sweeping: asyncio.Task[None] | None = None

    async def about(self) -> tuple[str, int]:
        """Which program this is, and how many trainings wait or run."""
        return code(), sum(not run.ended for run in self._runs.values())

    async def join(self, key: bytes, watcher: str, call: bytes) -> None:
        """Wait for this training, which begins unless it runs or is kept."""
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
        """What is new since `last_seen` records of an attempt; waits for it a little.

        (state, attempt, where, number of the last record, records, answer), or None where this
        training is not known.
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
        """Wait no more; what nobody waits for stops."""
        if (run := self._runs.get(key)) is not None:
            run.watchers.pop(watcher, None)
            await self._stop_unwanted(run)

    async def begun(self, key: bytes, where: str) -> int:
        """A task says that it begins; its number, 0 where nobody wants it."""
        run = self._runs.get(key)
        if run is None or run.stopping or run.ended:
            return 0
        run.attempt, run.where, run.state = run.attempt + 1, where, "runs"
        run.records, run.first = [], 0
        self._tell(run)
        return run.attempt

    async def report(self, key: bytes, attempt: int, records: list[bytes]) -> bool:
        """What a task has reported; whether anybody still wants it."""
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
        except ray.exceptions.RayError:  # its worker or its machine, and those of the second try
            run.state = "died"
        run.call, run.task = b"", None
        if run.state != "done":  # that anybody may try again
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
    """The actor of this program's trainings, made by who asks first; it outlives who made it."""
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
    """One training: how it ended, and (state, result or error) packed."""
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
        # Nobody waits for the answer: that to the last question is there by now.
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
    except Exception:  # an error that cannot travel
        return "done", pickle.dumps(("failed", RuntimeError(f"{type(answer[1]).__name__}")))
