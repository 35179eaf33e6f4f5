"""The process beside an app that is a driver of the cluster, and passes questions and answers on.

It ends with its end of the pipe, and when it cannot speak with the cluster any more: the app's side
(`client`) then begins another.
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
PATIENCE = 4.0  # that the cluster may take to say how it is
log = logging.getLogger(__name__)


@dataclass(frozen=True)
class App:
    """A model that is deployed. is_whole: no replica is being put in the place of another."""

    replicas: int
    deployed_at: float
    is_whole: bool


class Bridge:
    """Between a line to the app and the cluster."""

    def __init__(self, line: Connection):
        self._line = line
        self._sending = threading.Lock()
        self._me = uuid.uuid4().hex
        self._tasks: dict[int, asyncio.Task[None]] = {}
        self._deployed: dict[str, float] = {}  # by model, when it was deployed
        self._handles: dict[str, Any] = {}  # of those that run this program
        self._others: dict[str, str] = {}  # of those that run another: which
        self._reading: dict[asyncio.Task[Any], str] = {}  # passes, by their model
        self._runs: Any = None

    def say(self, number: int, what: str, value: Any = None) -> None:
        """Answer a question; number 0: said by itself."""
        with self._sending:
            self._line.send((number, what, value))

    async def work(self) -> None:
        """Until the cluster does not answer any more."""
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
            if model not in apps:  # Ray would have them wait for a replica that begins anew
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
        """Ask a deployment that is new, or was deployed again, which program it runs."""
        handle = serve.get_app_handle(PREFIX + model)
        try:
            version = await handle.code.remote()
        except BackPressureError:  # it is asked again with the next look
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
            log.warning("the cluster gave no answer: %s", type(error).__name__)
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
                    if result is None:  # the actor was begun again, and knows nothing
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
                elif state == "version":  # as `cluster.train` of any version says it
                    self.say(number, "incompatible", answer.decode())
                elif state == "cancelled":  # not by who asked here: it is begun anew
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
    """Nodes, all there is, what is free, and the models that are deployed."""
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
    """What runs in the process, at its end of the pipe."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the app's, which then closes the line
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
    os._exit(0)  # without waiting for what the cluster does not answer any more
