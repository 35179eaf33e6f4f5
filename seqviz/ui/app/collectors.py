"""Prometheus collectors read on demand: queues, models, connections, memory, GC pauses."""

from __future__ import annotations

import gc
import os
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from typing import Any

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from seqviz import jobs
from seqviz.core import gc_tuning
from seqviz.models import device
from seqviz.ui.embed import sessions
from seqviz.ui.runtime import metrics

ENDS = ("done", "failed", "cancelled", "timed_out")


class GcPauses:
    """Number and duration of garbage collector pauses, by generation.

    Plain numbers, because a collection may start in a thread that holds a counter's lock.
    """

    def __init__(self) -> None:
        self.counts = [0, 0, 0]
        self.seconds, self.longest = 0.0, 0.0
        self._started = 0.0

    def __call__(self, phase: str, info: dict[str, int]) -> None:
        """Record a collection; the collector calls this before ("start") and after ("stop")."""
        if phase == "start":
            self._started = time.perf_counter()
            return
        seconds = time.perf_counter() - self._started
        self.counts[info["generation"]] += 1
        self.seconds += seconds
        self.longest = max(self.longest, seconds)


class Connections:
    """Number of open page websockets."""

    def __init__(self) -> None:
        self.open = 0


pauses = GcPauses()
connections = Connections()


class _Now(Collector):
    def describe(self) -> list[Metric]:
        return []  # nothing is read at registration

    def collect(self) -> Iterator[Metric]:
        yield _gauge("sessions_connected", "Browser tabs connected now", connections.open)
        yield _gauge("embeds_open", "Embedded benches in use", sessions.embeds().open)
        yield from _device()
        yield from _queues()
        yield from _models()
        yield from _engine()
        yield from _shared()
        yield from _process()
        collections = CounterMetricFamily(
            "seqviz_gc_pauses", "Garbage collections (2: full)", labels=["generation"]
        )
        for generation, count in enumerate(pauses.counts):
            collections.add_metric([str(generation)], count)
        yield collections
        yield _counter("gc_pause_seconds", "Total duration of garbage collections", pauses.seconds)
        yield _gauge("gc_longest_pause_seconds", "Longest garbage collection", pauses.longest)
        yield _gauge("gc_frozen", "Objects exempt from collection", gc_tuning.frozen.count)


@cache
def install() -> None:
    """Register the collectors; called once, by the server."""
    gc.callbacks.append(pauses)
    metrics.registry.register(_Now())


def _device() -> Iterator[Metric]:
    """Yield 1 for the device of networks, once it was chosen."""
    family = GaugeMetricFamily(
        "seqviz_device",
        "Device that networks run on; note: reason for a fallback",
        labels=["kind", "name", "note"],
    )
    if device.choose.cache_info().currsize:  # choosing may import torch
        chosen = device.choose()
        family.add_metric([chosen.kind, chosen.name, chosen.note], 1)
    yield family


def _queues() -> Iterator[Metric]:
    waiting = GaugeMetricFamily("seqviz_jobs_waiting", "Waiting jobs", labels=["device"])
    running = GaugeMetricFamily("seqviz_jobs_running", "Running jobs", labels=["device"])
    left = GaugeMetricFamily(
        "seqviz_jobs_left_behind", "Threads of abandoned jobs", labels=["device"]
    )
    ended = CounterMetricFamily("seqviz_jobs", "Ended jobs by outcome", labels=["device", "how"])
    seconds = CounterMetricFamily("seqviz_job_seconds", "Run time of jobs", labels=["device"])
    for name, queue in jobs.all_queues().items():
        waiting.add_metric([name], queue.waiting)
        running.add_metric([name], queue.running)
        left.add_metric([name], queue.left_behind)
        for how in ENDS:
            ended.add_metric([name, how], getattr(queue.tally, how))
        seconds.add_metric([name], queue.tally.seconds)
    yield from (waiting, running, left, ended, seconds)


def _models() -> Iterator[Metric]:
    # The module may be absent, or still importing in another thread.
    pretrained = sys.modules.get("seqviz.models.pretrained")
    loaded: tuple[Any, ...] = getattr(pretrained, "all_loaded", tuple)()
    family = GaugeMetricFamily(
        "seqviz_model_bytes", "Weights of a model in memory", labels=["model", "device"]
    )
    for item in loaded:
        size = item.bytes
        family.add_metric([item.card.name, item.device], size)
    yield _gauge("models_loaded", "Pretrained models in memory", len(loaded))
    yield family


def _engine() -> Iterator[Metric]:
    """Yield the state of the cluster and of its client; nothing without a cluster."""
    client: Any = sys.modules.get("seqviz.integrations.ray.client")
    engine = client.engine() if hasattr(client, "engine") else None
    if engine is None:
        return
    state = GaugeMetricFamily("seqviz_engine", "1 for the current cluster state", labels=["state"])
    for name in client.STATES:
        state.add_metric([name], float(engine.state == name))
    calls = CounterMetricFamily(
        "seqviz_engine_calls",
        "Requests to the cluster; how: answered, or reason of the local fallback or failure",
        labels=["kind", "how"],
    )
    seconds = CounterMetricFamily(
        "seqviz_engine_seconds", "Response time of the cluster", labels=["kind"]
    )
    size = CounterMetricFamily("seqviz_engine_bytes", "Bytes of its answers", labels=["kind"])
    for kind in client.REQUEST_KINDS:
        for how in client.OUTCOMES:
            calls.add_metric([kind, how], engine.counts[kind, how])
        seconds.add_metric([kind], engine.seconds[kind])
        size.add_metric([kind], engine.bytes[kind])
    replicas = GaugeMetricFamily(
        "seqviz_cluster_replicas", "Replicas of a model deployment", labels=["model"]
    )
    cluster = engine.cluster
    for model, count in cluster.replicas.items():
        replicas.add_metric([model], count)
    yield from (state, calls, seconds, size, replicas)
    yield _counter("engine_connections", "Connections to the cluster", engine.connections)
    yield _gauge("cluster_nodes", "Nodes of the cluster", cluster.nodes)
    yield _gauge("cluster_processors", "Processors of the cluster", cluster.processors)
    yield _gauge("cluster_processors_free", "Free processors of the cluster", cluster.free)
    yield _gauge("cluster_gpus", "GPUs of the cluster", cluster.gpus)
    yield _gauge("cluster_runs", "Trainings of all replicas, waiting or running", cluster.runs)


def _shared() -> Iterator[Metric]:
    """Yield the state of the Redis connection; nothing without one."""
    module: Any = sys.modules.get("seqviz.ui.quota.redis_sync")
    if (shared := module.replicas() if hasattr(module, "replicas") else None) is None:
        return
    state = GaugeMetricFamily("seqviz_shared", "1 for the current Redis state", labels=["state"])
    payload = CounterMetricFamily("seqviz_shared_exchanges", "Exchanges with Redis", labels=["how"])
    for name in module.STATES:
        state.add_metric([name], float(shared.state == name))
        payload.add_metric([name], shared.exchanges[name])
    yield from (state, payload)
    yield _counter("shared_seconds", "Response time of Redis", shared.seconds)


def _process() -> Iterator[Metric]:
    import psutil

    process = psutil.Process()
    with process.oneshot():
        parts = [process.cpu_times()]
        memory = process.memory_info().rss
        seconds = parts[0].children_user + parts[0].children_system  # of ended workers
        for worker in process.children():
            with suppress(psutil.NoSuchProcess):  # it has ended meanwhile
                memory += worker.memory_info().rss
                parts.append(worker.cpu_times())
        seconds += sum(part.user + part.system for part in parts)
        yield _gauge("memory_bytes", "Resident memory, including workers", memory)
        yield _counter("cpu_seconds", "CPU time, including workers", seconds)
        yield _gauge("started_seconds", "Start time, in Unix seconds", process.create_time())
    if hasattr(os, "sched_getaffinity"):
        yield _gauge("cores", "Available CPU cores", len(os.sched_getaffinity(0)))
    yield _gauge("threads", "Threads", threading.active_count())
    if hasattr(process, "num_fds"):  # not on Windows
        yield _gauge("open_files", "Open files and sockets", process.num_fds())


def _gauge(name: str, meaning: str, value: float) -> Metric:
    return GaugeMetricFamily(f"seqviz_{name}", meaning, value)


def _counter(name: str, meaning: str, value: float) -> Metric:
    return CounterMetricFamily(f"seqviz_{name}", meaning, value)
