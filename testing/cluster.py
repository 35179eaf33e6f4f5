"""Local Ray cluster with few processors and its own token, for tests and benchmarks."""

from __future__ import annotations

import importlib.util
import os
import secrets
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import psutil

from testing.server import ROOT

AGENTS = (
    "dashboard-agent-grpc-port", "dashboard-agent-listen-port", "metrics-export-port",
    "runtime-env-agent-port",
)  # fmt: skip
STORE = 200_000_000  # bytes of a node's object store
BEGINS = 90.0  # startup timeout of a head in seconds
SESSIONS = Path("/tmp/ray")
NO_RAY = "" if importlib.util.find_spec("ray") else "ray is not installed (requirements-ray.txt)"


@dataclass
class Cluster:
    """Ray cluster whose nodes are local processes.

    Attributes:
        port: port of the head.
        environment: environment that drivers and workers need for access.
        nodes: processes of the nodes, the head first.
    """

    port: int
    environment: Mapping[str, str]
    nodes: list[subprocess.Popen[bytes]] = field(default_factory=list)

    @property
    def address(self) -> str:
        """Address in the form of `SEQVIZ_RAY_ADDRESS`."""
        return f"127.0.0.1:{self.port}"

    def begin(self, processors: int) -> None:
        """Start a node; the first one is the head, and the call waits until it responds.

        Args:
            processors: number of processors of the node.

        Raises:
            RuntimeError: the head does not come up.
        """
        name = secrets.token_hex(28)
        ports = dict(zip(AGENTS, free_ports(len(AGENTS)), strict=True))
        head = ["--head", f"--port={self.port}", "--include-dashboard=false", "--no-monitor",
                f"--ray-client-server-port={free_ports(1)[0]}"]  # fmt: skip
        command = [
            str(Path(sys.executable).with_name("ray")), "start", "--block", "--disable-usage-stats",
            "--include-log-monitor=false", f"--num-cpus={processors}",
            f"--object-store-memory={STORE}",
            *([f"--address={self.address}"] if self.nodes else head),
            *(f"--{name}={port}" for name, port in ports.items()),
        ]  # fmt: skip
        node = subprocess.Popen(
            command, env={**self.environment, "RAY_OVERRIDE_NODE_ID_FOR_TESTING": name},
            start_new_session=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        self.nodes.append(node)
        last = time.monotonic() + BEGINS
        while len(self.nodes) == 1 and not self._answers():
            if node.poll() is not None or time.monotonic() > last:
                raise RuntimeError("The head of the Ray cluster did not start.")
            time.sleep(0.1)
        # A node ends unless its agent writes its port into this file within 15 s, too short on a
        # busy machine. The port is known, so it is written here; the agent writes the same.
        listens = ports["dashboard-agent-listen-port"]
        (self.session / f"dashboard_agent_listen_port_{name}").write_text(str(listens))

    @property
    def session(self) -> Path:
        """Session folder of the cluster; raises StopIteration where it does not exist yet."""
        return next(SESSIONS.glob(f"session_*_{self.nodes[0].pid}"))

    def _answers(self) -> bool:
        with socket.socket() as probe:
            return not probe.connect_ex(("127.0.0.1", self.port))

    def deploy(self, *words: str) -> None:
        """Run `python -m seqviz.integrations.ray` with these arguments and wait for the replicas.

        Raises:
            RuntimeError: the command failed; the message is the end of its output.
        """
        done = subprocess.run(
            [sys.executable, "-m", "seqviz.integrations.ray", "--address", self.address, *words],
            env=dict(self.environment), capture_output=True, text=True, timeout=150,
        )  # fmt: skip
        if done.returncode:
            raise RuntimeError(done.stdout[-2000:] + done.stderr[-2000:])

    def workers(self, what: str) -> list[psutil.Process]:
        """Return the worker processes that currently run a task or actor of this Ray name."""
        results = []
        for node in self.nodes:
            with suppress(psutil.NoSuchProcess):
                results += psutil.Process(node.pid).children(recursive=True)
        named = []
        for item in results:
            with suppress(psutil.NoSuchProcess):
                if f"ray::{what}" in " ".join(item.cmdline()):
                    named.append(item)
        return named

    def kill(self, node: int) -> None:
        """Kill a node with all its processes."""
        _kill(self.nodes[node])

    def end(self) -> None:
        """Kill all nodes."""
        for index in range(len(self.nodes)):
            self.kill(index)


def _kill(node: subprocess.Popen[bytes]) -> None:
    with suppress(psutil.NoSuchProcess):
        process = psutil.Process(node.pid)
        for item in (*process.children(recursive=True), process):
            with suppress(psutil.NoSuchProcess):
                item.send_signal(signal.SIGKILL)
    node.wait()


def free_ports(count: int) -> list[int]:
    """Return several unused ports."""
    with ExitStack() as held:
        every = [held.enter_context(socket.socket()) for _ in range(count)]
        for item in every:
            item.bind(("127.0.0.1", 0))
        return [int(entry.getsockname()[1]) for entry in every]


@contextmanager
def cluster(*processors: int) -> Iterator[Cluster]:
    """Yield a cluster with one node for each number of processors."""
    (port,) = free_ports(1)
    with tempfile.NamedTemporaryFile("w", prefix="seqviz-token-") as token:
        token.write(secrets.token_hex(32))
        token.flush()
        environment = {
            **os.environ, "RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN_PATH": token.name,
            "PYTHONPATH": str(ROOT), "HF_HUB_OFFLINE": "1",
            "OMP_NUM_THREADS": "1", "RAY_agent_register_timeout_ms": "120000",
        }  # fmt: skip
        cluster = Cluster(port, environment)
        try:
            for count in processors:
                cluster.begin(count)
            yield cluster
        finally:
            cluster.end()
