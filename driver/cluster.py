"""A Ray cluster on this machine, for tests and benchmarks: few processors, a token of its own."""

from __future__ import annotations

import importlib.util
import os
import secrets
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import psutil

from driver.server import ROOT

AGENTS = (
    "dashboard-agent-grpc-port", "dashboard-agent-listen-port", "metrics-export-port",
    "runtime-env-agent-port",
)  # fmt: skip
STORE = 200_000_000  # bytes of a node's object store
NO_RAY = "" if importlib.util.find_spec("ray") else "ray is not installed (requirements-ray.txt)"


@dataclass
class Cluster:
    """Nodes are processes here. environment: what drivers and workers need to be let in."""

    port: int
    environment: Mapping[str, str]
    nodes: list[subprocess.Popen[bytes]] = field(default_factory=list)
    head: int = 0

    @property
    def address(self) -> str:
        """As `SEQVIZ_RAY_ADDRESS` takes it."""
        return f"127.0.0.1:{self.port}"

    def begin(self, processors: int) -> None:
        """A node more; the first one is the head."""
        self.head = self.head if self.nodes else processors
        head = ["--head", f"--port={self.port}", "--include-dashboard=false"]
        command = [
            str(Path(sys.executable).with_name("ray")), "start", "--block", "--disable-usage-stats",
            f"--num-cpus={processors}", f"--object-store-memory={STORE}",
            *([f"--address={self.address}"] if self.nodes else head),
            # Known ones: for those that its agents choose a node waits 15 s, then ends.
            *(f"--{name}={free_ports(1)[0]}" for name in AGENTS),
        ]  # fmt: skip
        self.nodes.append(
            subprocess.Popen(
                command, env=dict(self.environment), start_new_session=True,
                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            )
        )  # fmt: skip

    def deploy(self, *words: str) -> None:
        """`python -m seqviz.engine` with these words; waits for the cluster and the replicas."""
        command = [sys.executable, "-m", "seqviz.engine", "--address", self.address, *words]
        for patience in (2, 1, 0):
            if self.nodes[0].poll() is not None:  # it gives its agents 15 s, few on a busy machine
                self.kill(0)
                others, self.nodes = self.nodes[1:], []
                self.begin(self.head)
                self.nodes += others
            done = subprocess.run(
                command, env=dict(self.environment), capture_output=True, text=True, timeout=150
            )
            if done.returncode == 0:
                return
            if not patience:
                raise RuntimeError(done.stdout[-2000:] + done.stderr[-2000:])

    def workers(self, what: str) -> list[psutil.Process]:
        """Processes of workers that do `what` at the moment, as Ray names them."""
        found = []
        for node in self.nodes:
            with suppress(psutil.NoSuchProcess):
                found += psutil.Process(node.pid).children(recursive=True)
        named = []
        for one in found:
            with suppress(psutil.NoSuchProcess):
                if f"ray::{what}" in " ".join(one.cmdline()):
                    named.append(one)
        return named

    def kill(self, node: int) -> None:
        """End a node at once, with all its processes."""
        with suppress(psutil.NoSuchProcess):
            process = psutil.Process(self.nodes[node].pid)
            for one in (*process.children(recursive=True), process):
                with suppress(psutil.NoSuchProcess):
                    one.send_signal(signal.SIGKILL)
        self.nodes[node].wait()

    def end(self) -> None:
        """End all nodes."""
        for place in range(len(self.nodes)):
            self.kill(place)


def free_ports(count: int) -> list[int]:
    """So many that nobody listens at."""
    with ExitStack() as held:
        every = [held.enter_context(socket.socket()) for _ in range(count)]
        for one in every:
            one.bind(("127.0.0.1", 0))
        return [int(one.getsockname()[1]) for one in every]


@contextmanager
def cluster(*processors: int, path: str = "") -> Iterator[Cluster]:
    """A cluster with nodes of so many processors. path: besides the project, for its workers."""
    (port,) = free_ports(1)
    with tempfile.NamedTemporaryFile("w", prefix="seqviz-token-") as token:
        token.write(secrets.token_hex(32))
        token.flush()
        environment = {
            **os.environ, "RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN_PATH": token.name,
            "PYTHONPATH": os.pathsep.join(filter(None, (str(ROOT), path))), "HF_HUB_OFFLINE": "1",
            "OMP_NUM_THREADS": "1",
        }  # fmt: skip
        found = Cluster(port, environment)
        try:
            for count in processors:
                found.begin(count)
            yield found
        finally:
            found.end()
