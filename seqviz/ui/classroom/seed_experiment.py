"""Seed experiments of a room: computed seed by seed, plotted as results arrive.

The server computes, once per seed for all rooms, with each seat as a seed. Results are computed
with DEPENDENT slots, some seeds at a time, charged to the teacher; trainings run in the job queue
and end when they are stopped. The event loop only waits. A class is notified at most once in
THROTTLE_S seconds, and all of one language get the same figure, in which each browser marks its own
seat (`assets/static/classroom/seed_experiment.js`).
"""

from __future__ import annotations

import asyncio
import json
import logging
import time
import weakref
from collections.abc import Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from seqviz import jobs
from seqviz.classroom.room import Room
from seqviz.classroom.seed_experiment import SeedExperimentRun, target_seeds
from seqviz.compute.replicates import Replicates
from seqviz.core import content_hash
from seqviz.core.i18n import Text, number
from seqviz.core.languages import DEFAULT, matching
from seqviz.figures.seed_experiment.distribution import (
    distribution_over_seeds,
    kinds_over_seeds,
    pile,
    row_piles,
)
from seqviz.lessons.framework import markdown
from seqviz.lessons.framework.error_messages import to_message
from seqviz.lessons.framework.host import PendingError
from seqviz.lessons.framework.lesson import Bench, SeedExperiment
from seqviz.lessons.framework.words import LessonWords
from seqviz.ui.classroom.broadcast import broadcast_frames as broadcast_frames
from seqviz.ui.embed.embed_host import EmbedHost
from seqviz.ui.embed.request import bench_of
from seqviz.ui.embed.request import parse_request as settings_of
from seqviz.ui.live import handler
from seqviz.ui.quota import charging
from seqviz.ui.render import html
from seqviz.ui.render.encoding import compress
from seqviz.ui.runtime import result_cache, run_context
from seqviz.ui.runtime.clients import ClientQuota
from seqviz.ui.runtime.run_context import Session
from seqviz.ui.runtime.scheduler import Priority

if TYPE_CHECKING:
    from collections.abc import Iterator

THROTTLE_S = 0.6  # seconds between two figures while results arrive
MIN_FRAMES = 6  # minimum number of figures from none to all seeds
MIN_MEASURED = 0.02  # of a training, from which the time of the whole is estimated
LOOK = 0.4  # seconds between two polls of a training
AGAIN, TRIES = 2.0, 60  # seconds between two polls of a loading model, and their number
log = logging.getLogger(__name__)


class RunFailedError(ValueError):
    """A seed experiment without a result at these settings."""


class RunSession(Session):
    """Session that owns the trainings of a run; it has no page."""

    @property
    def is_open(self) -> bool:
        """Always True: `_trained` unsubscribes when the run is no longer needed."""
        return True


@dataclass(eq=False)
class RunState:
    """State of a run in this process.

    Attributes:
        session: charged for the run.
        experiments: experiment and hash of its settings, by language.
        task: computes the run.
        problem: error with a message for the class.
        version: version of the run that the figures show.
        pictures: figures of this version, by language and presenter mode.
    """

    session: Session
    experiments: dict[str, tuple[SeedExperiment, bytes]] = field(default_factory=dict)
    task: asyncio.Task[None] | None = None
    problem: ValueError | None = None
    version: int = -1
    pictures: dict[tuple[str, bool], asyncio.Future[bytes]] = field(default_factory=dict)


_going: weakref.WeakKeyDictionary[SeedExperimentRun, RunState] = weakref.WeakKeyDictionary()


def start(room: Room, account: ClientQuota) -> None:
    """Start the room's run in the background.

    It computes until all seats have a result, another run replaces it, it is stopped, or the room
    ends; participants who join later get a result as well.

    Args:
        room: with the run.
        account: quota of the teacher.
    """
    run = room.run
    assert run is not None
    going = _going[run] = RunState(run_context.register(RunSession("class", 0.0, account=account)))
    going.task = asyncio.get_running_loop().create_task(_go(room, run, going))


async def _go(room: Room, run: SeedExperimentRun, going: RunState) -> None:
    tries = 0
    try:
        while room.run is run and not (room.ended or run.stopped):
            changed = room.changed
            if missing := run.missing(room.seats):
                portion = -(-len(target_seeds(room.seats)) // MIN_FRAMES)
                begun = time.monotonic()
                result = await _in_turn(
                    going, partial(_found, run.location, going, missing, portion)
                )
                if isinstance(result, TrainingBatch):
                    result = await _trained(room, run, going, result)
                if result is None and (tries := tries + 1) <= TRIES:  # a model is loading
                    await asyncio.sleep(AGAIN)
                    continue
                if result:
                    run.seed_s = (time.monotonic() - begun + THROTTLE_S) / len(result)
                run.results |= result or {}
                run.failed = result is None
            if missing or run.of_class != room.seats.keys():
                run.of_class = frozenset(room.seats)
                run.version += 1
                room.notify()
                if run.failed:
                    return
                await asyncio.sleep(THROTTLE_S)
            else:
                await changed.wait()
    except Exception as error:
        if not isinstance(error, (ValueError, PendingError)):
            log.exception("seed experiment: a run failed")
        going.problem = error if isinstance(error, ValueError) else None
        run.failed = True
        run.version += 1
        room.notify()


async def _in_turn(going: RunState, work: Any) -> Any:
    return await handler.run_scheduled(Priority.DEPENDENT, going.session.account, work)


@contextmanager
def _experiment(
    location: Mapping[str, Any], going: RunState, lang: str
) -> Iterator[tuple[SeedExperiment, bytes]]:
    """Yield the experiment and a hash of its settings; the body's CPU time is charged.

    Raises RunFailedError for a bench without an experiment, and the errors of the bench.
    """
    bench, session = bench_of(location["lesson"], location["bench"]), going.session
    if bench is None or bench.replicate is None:
        raise RunFailedError
    with (
        run_context.acting_as(session, bench.lesson.slug, bench.name),
        charging.charge_cpu(session.account, Priority.DEPENDENT),
    ):
        if lang not in going.experiments:
            going.experiments[lang] = _made(bench, location["values"], session, lang)
        yield going.experiments[lang]


def _made(
    bench: Bench, values: Mapping[str, str], session: Session, lang: str
) -> tuple[SeedExperiment, bytes]:
    request, text = settings_of(bench, values, {}, lang), Text(lang)
    others = {name: request.params[bench.lesson.prefix(name)] for name in bench.after}
    words = LessonWords(bench.lesson.slug, text)
    host = EmbedHost(others, session=session, prefix=bench.prefix, words=words)
    key = content_hash.hash_value(("replicate", bench.prefix, sorted(request.link.items())))
    try:
        with request.reading():
            return bench.replicated(request.bench_parameters, host, text), key
    except PendingError:
        if not host.loading:
            raise
        raise _LoadingError from None


class _LoadingError(Exception):
    """A model that is being loaded."""


@dataclass(frozen=True)
class TrainingBatch:
    """Seeds to be trained in one job.

    Attributes:
        experiment: that they belong to.
        names: cache key of each seed's result.
    """

    experiment: SeedExperiment
    names: Mapping[int, bytes]

    def store(self, result: Any) -> dict[int, Any]:
        """Cache the results for all rooms and return them by seed; raises RunFailedError."""
        if not np.isfinite(result).all():
            raise RunFailedError
        values = dict(zip(self.names, np.asarray(result, float).tolist(), strict=True))
        for seed, value in values.items():
            result_cache.result_cache().get_or_compute(self.names[seed], partial(_same, value))
        return values


def _same(value: Any) -> Any:
    return value


async def _trained(
    room: Room, run: SeedExperimentRun, going: RunState, long: TrainingBatch
) -> dict[int, Any] | None:
    """Train the seeds in the job queue and return the results by seed.

    Empty where the run is no longer needed, None where the queue is full.
    """
    work: Any = long.experiment.values
    seeds, owner = tuple(long.names), going.session.owner
    try:
        job = jobs.queue_for().submit(
            work.func, seeds, *work.args, owner=owner, group=going.session.account.name,
            **work.keywords,
        )  # fmt: skip
    except jobs.QueueFullError:
        return None
    try:
        while job.state in ("queued", "running"):
            if room.run is not run or room.ended or run.stopped:
                return {}
            job.heartbeat(owner)
            if (payload := (len(seeds), int(100 * job.fraction))) != run.training:
                run.training = payload
                if job.fraction > MIN_MEASURED and job.seconds:
                    run.seed_s = job.seconds / job.fraction / len(seeds)
                room.notify()
            await asyncio.sleep(LOOK)
    finally:
        job.unsubscribe(owner)
        run.training = (0, 0)
    if job.state != "done":
        raise job.error or RunFailedError
    return await asyncio.to_thread(long.store, job.result)


def _found(
    location: Mapping[str, Any], going: RunState, missing: list[int], portion: int
) -> dict[int, Any] | TrainingBatch | None:
    """Return results of at most `portion` seeds, or a batch to train; runs in a thread.

    At least one result is computed. None while a model is loading.
    """
    try:
        with _experiment(location, going, DEFAULT) as (experiment, key):
            seeds = missing[: experiment.at_once]
            if not experiment.long:
                seeds = seeds[:portion]
            names = {seed: content_hash.hash_value((key, seed)) for seed in seeds}
            retained = {
                seed: result_cache.result_cache().peek(name) for seed, name in names.items()
            }
            new = [seed for seed, value in retained.items() if value is None]
            left = TrainingBatch(experiment, {seed: names[seed] for seed in new})
            if experiment.long and new:
                existing = {seed: value for seed, value in retained.items() if value is not None}
                return existing or left
            return retained | (left.store(experiment.values(new)) if new else {})
    except _LoadingError:
        return None


async def render_run(room: Room, lang: str, presenting: bool) -> bytes:
    """Return the room's run: two lines like `LiveResponse.encode`, or one with an error.

    Empty without anything to plot. Equal requests share one figure.
    """
    run, lang = room.run, matching(lang) or DEFAULT
    going = None if run is None else _going.get(run)
    if run is None or going is None or not (run.results or run.failed):
        return b""
    if going.version != run.version:
        going.version, going.pictures = run.version, {}
    view = lang, presenting
    if view not in going.pictures:
        seeds, of_class, failed = run.plotted_seeds(), run.of_class, run.failed
        values = np.array([run.results[seed] for seed in seeds], float)
        own = np.isin(seeds, [*of_class]).astype(bool)
        results = [
            Replicates(np.array(seeds, int), item, own)
            for item in (values.T if values.ndim > 1 else [values])
        ]
        work = partial(_picture, run.location, going, results, failed, view)
        going.pictures[view] = asyncio.ensure_future(_in_turn(going, work))
    return await asyncio.shield(going.pictures[view])


def _picture(
    location: Mapping[str, Any], going: RunState, replicates: list[Replicates], failed: bool,
    view: tuple[str, bool],
) -> bytes:  # fmt: skip
    """Return the response of `render_run`, rendered in a thread."""
    lang, style = view[0], html.style(*view)
    problem = Text(lang)("room.run_failed")
    try:
        with _experiment(location, going, lang) as (experiment, _):
            if going.problem is not None:
                raise going.problem
            item, quantity, kinds = replicates[0], experiment.quantity, experiment.kinds
            if item.values.size and not failed:
                if kinds:
                    named = dict(zip(kinds, replicates, strict=True))
                    figure, piles = kinds_over_seeds(named, quantity, style), row_piles(named)
                else:
                    theory = experiment.theory(item.values)
                    figure = distribution_over_seeds(item, quantity, theory, style)
                    piles = pile(item, theory)[..., None]
                values = np.array([row.values for row in replicates]).T.tolist()
                around = {
                    "alt": figure.alt,
                    "settings": markdown.html(experiment.settings),
                    "quantity": quantity,
                    "kinds": [*kinds],
                    "marks": {
                        seed: [*position, [number(value) for value in its]]
                        for seed, position, its in zip(
                            item.seeds.tolist(), piles.tolist(), values, strict=True
                        )
                    },
                }
                return compress((_written(around), b"\n", *figure.parts()))
    except (PendingError, _LoadingError) as waits:
        problem = str(waits) or problem
    except RunFailedError:
        pass
    except ValueError as refusal:
        problem = to_message(refusal, LessonWords(location["lesson"], Text(lang)))
    return compress((_written({"problem": markdown.html(problem)}), b"\n"))


def _written(around: Mapping[str, Any]) -> bytes:
    return json.dumps(around, ensure_ascii=False).encode()
