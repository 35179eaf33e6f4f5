"""Bridge process: a Ray driver that relays messages between the app and the cluster.

The process ends when the app closes its pipe, or when the cluster stops responding; `client` then
starts another one. Entry point: `main`.
"""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import sys
import threading
import uuid
from collections.abc import Coroutine
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import Any

import ray
from ray import serve
from ray.exceptions import RayError
from ray.serve.exceptions import BackPressureError

from seqviz.integrations.ray.client import Cluster
from seqviz.integrations.ray.cluster import NAMESPACE, PREFIX, long_name, runs
from seqviz.integrations.ray.version import code
from seqviz.models.texts import Tokens

LOOK_SECONDS = 1.0
PATIENCE = 4.0  # timeout of a status request, in seconds
log = logging.getLogger(__name__)


@dataclass(frozen=True)
class App:
    """A deployed model.

    Attributes:
        replicas: number of running replicas.
        deployed_at: time of the deployment, in seconds since 1970.
        is_whole: True where no replica is being replaced.
    """

    replicas: int
    deployed_at: float
    is_whole: bool


class Bridge:
    """Relay between the pipe to the app and the cluster."""

    def __init__(self, line: Connection):
        self._line = line
        self._sending = threading.Lock()
        self._me = uuid.uuid4().hex
        self._tasks: dict[int, asyncio.Task[None]] = {}
        self._deployed: dict[str, float] = {}  # time of deployment, by model
        self._handles: dict[str, Any] = {}  # of deployments of this version, by model
        self._others: dict[str, str] = {}  # version of other deployments, by model
        self._reading: dict[asyncio.Task[Any], str] = {}  # model of each forward pass in progress
        self._runs: Any = None

    def say(self, number: int, what: str, value: Any = None) -> None:
        """Send a message to the app; `number` is that of the request it answers, or 0."""
        with self._sending:
            self._line.send((number, what, value))

    async def work(self) -> None:
        """Connect to the cluster and report its state every second until it stops responding."""
        self._runs = runs()
        loop = asyncio.get_running_loop()
        result = await asyncio.wait_for(self._look(), 60.0)
        self.say(0, "connected", result)
        threading.Thread(target=self._listen, args=(loop,), daemon=True).start()
        while True:
            await asyncio.sleep(LOOK_SECONDS)
            self.say(0, "connected", await asyncio.wait_for(self._look(), PATIENCE))

    async def _look(self) -> Cluster:
        version, running = await self._runs.about.remote()
        if version != code():
            raise RuntimeError("Version mismatch: the cluster runs another SeqViz.")
        nodes, every, free, apps = await asyncio.to_thread(_seen)
        for name in {*self._deployed} - {*apps}:
            del self._deployed[name]
            self._handles.pop(name, None)
            self._others.pop(name, None)
        for task, model in [*self._reading.items()]:
            if model not in apps:  # else Ray lets them wait for a restarting replica
                task.cancel()
        for name, app in apps.items():
            if app.is_whole and self._deployed.get(name) != app.deployed_at:
                await self._meet(name, app)
        replicas = {name: app.replicas for name, app in apps.items() if name in self._handles}
        return Cluster(
            nodes, every.get("CPU", 0.0), free.get("CPU", 0.0), every.get("GPU", 0.0), replicas,
            running, dict(self._others),
        )  # fmt: skip

    async def _meet(self, model: str, app: App) -> None:
        """Ask a new or redeployed deployment for its version."""
        handle = serve.get_app_handle(PREFIX + model)
        try:
            version = await handle.code.remote()
        except BackPressureError:  # retried at the next status request
            return
        self._deployed[model] = app.deployed_at
        self._handles.pop(model, None)
        self._others.pop(model, None)
        if version == code():
            self._handles[model] = handle
        else:
            self._others[model] = version

    def _listen(self, loop: asyncio.AbstractEventLoop) -> None:
        try:
            while True:
                message = self._line.recv()
                loop.call_soon_threadsafe(self._take, *message)
        except (EOFError, OSError):  # the app has ended
            os._exit(0)

    def _take(self, number: int, what: str, *words: Any) -> None:
        if what == "leave":
            if (task := self._tasks.get(number)) is not None:
                task.cancel()
            return
        does: Any = {"forward": self._forward, "training": self._train}[what]
        task = asyncio.get_running_loop().create_task(self._answered(number, does(number, *words)))
        self._tasks[number] = task
        task.add_done_callback(lambda _: self._tasks.pop(number, None))

    async def _answered(self, number: int, work: Coroutine[Any, Any, None]) -> None:
        try:
            await work
        except BackPressureError:
            self.say(number, "unavailable", "full")
        except Exception as error:
            log.warning("ray: a request to the cluster failed: %s", type(error).__name__)
            self.say(number, "unavailable", "failed")

    async def _forward(self, number: int, model: str, tokens: Tokens, *words: Any) -> None:
        handle = self._handles[model]
        if name := long_name(tokens):
            handle = handle.options(multiplexed_model_id=name)
        request = asyncio.ensure_future(_result(handle.remote(tokens, *words)))
        self._reading[request] = model
        try:
            await asyncio.wait({request})
            if request.cancelled():
                self.say(number, "unavailable", "disconnected")
            else:
                self.say(number, "done", request.result())
        finally:
            request.cancel()
            del self._reading[request]

    async def _train(self, number: int, key: bytes, call: bytes) -> None:
        me, attempt, observed, lost = f"{self._me}-{number}", 0, 0, 0
        try:
            await self._runs.join.remote(key, me, call)
            while True:
                try:
                    result = await self._runs.look.remote(key, me, attempt, observed)
                    if result is None:  # the actor was restarted without state
                        await self._runs.join.remote(key, me, call)
                        attempt = observed = 0
                        continue
                except ray.exceptions.ActorUnavailableError:
                    if (lost := lost + 1) > 10:
                        raise
                    await asyncio.sleep(0.5)
                    continue
                state, attempt, where, observed, records, answer = result
                if attempt:
                    self.say(number, "news", (attempt, where, records))
                if state == "done":
                    self.say(number, "done", answer)
                elif state == "died":
                    self.say(number, "died")
                elif state == "version":
                    # A node runs another SeqViz. Its answer is its version as plain bytes, which
                    # `cluster.train` returns in any version.
                    self.say(number, "incompatible", answer.decode())
                elif state == "cancelled":  # not by this request; the client computes it locally
                    self.say(number, "unavailable", "failed")
                else:
                    continue
                return
        finally:
            with suppress(RayError):
                self._runs.leave.remote(key, me)


async def _result(response: Any) -> Any:
    return await response


def _seen() -> tuple[int, dict[str, float], dict[str, float], dict[str, App]]:
    """Return the number of nodes, total resources, free resources, and deployed models."""
    nodes = sum(bool(node["Alive"]) for node in ray.nodes())
    every, free = ray.cluster_resources(), ray.available_resources()
    try:
        apps = serve.status().applications
    except (RayError, RuntimeError):
        apps = {}
    result = {
        name.removeprefix(PREFIX): App(
            sum(
                deployment.replica_states.get("RUNNING", 0)
                for deployment in app.deployments.values()
            ),
            app.last_deployed_time_s,
            app.status == "RUNNING",
        )
        for name, app in apps.items()
        if name.startswith(PREFIX)
    }
    return nodes, every, free, {name: app for name, app in result.items() if app.replicas}


def main(descriptor: int) -> None:
    """Run the bridge process.

    Args:
        descriptor: file descriptor of its end of the pipe.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the app handles it and closes the pipe
    line = Connection(descriptor)
    bridge = Bridge(line)
    try:
        address = line.recv()
        ray.init(address=address, namespace=NAMESPACE, log_to_driver=False, configure_logging=False)
        asyncio.run(bridge.work())
    except (EOFError, OSError):
        pass
    except BaseException as error:
        why = "incompatible" if "ersion mismatch" in str(error) else "disconnected"
        with suppress(OSError):
            bridge.say(0, "error", (why, f"{type(error).__name__}: {str(error)[:300]}"))
    sys.stdout.flush()
    os._exit(0)  # does not wait for pending requests to the cluster
