"""Streamlit servers for tests and benchmarks, as processes on free ports: `serve`."""

from __future__ import annotations

import http.client
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from textwrap import indent

import psutil
from prometheus_client.parser import text_string_to_metric_families

from seqviz.core import brotli_assets

ROOT = Path(__file__).resolve().parent.parent
HOST = "127.0.0.1"
ATTEMPTS = 3
IDLE = 0.1  # CPU share of an idle server
# Python imports `sitecustomize` automatically; child processes of the server are not affected.
FIRST = "import sys\nif 'streamlit' in sys.orig_argv:\n"
TAKEN = "is not available"  # Streamlit's message on a port in use
# For `before`: a network whose DNS does not respond. Lookups of other machines fail and are logged
# in the file named by ASKED.
NO_DNS = """
import os, socket, time
known = socket.getaddrinfo
def getaddrinfo(host, *arguments, **keywords):
    name = host.decode() if isinstance(host, bytes) else str(host)
    if name.strip("0123456789.:") and name != "localhost":
        with open(os.environ["ASKED"], "a") as file:
            file.write(name + "\\n")
        time.sleep(5)
        raise socket.gaierror("nobody answers")
    return known(host, *arguments, **keywords)
socket.getaddrinfo = getaddrinfo
"""

# Minimal Streamlit page, the baseline of measurements.
EMPTY_PAGE = """
import streamlit as st

@st.fragment
def bench():
    value = st.slider("value", -1.2, 1.2, 0.0, 0.01, key="value")
    with st.container(key="shown"):
        st.text(f"{value:.2f}")

bench()
"""


@dataclass
class Server:
    """Streamlit server process, created and stopped by `serve`.

    Attributes:
        folder: working directory.
        script: main script in `folder`.
        environment: variables added to the environment of this process.
        options: Streamlit options by name.
        patience: startup timeout in seconds.
        log: file with its output.
        port: its port.
        started: seconds since the epoch just before the process was created.
        process: the server process.
    """

    folder: Path
    script: str
    environment: Mapping[str, str]
    options: Mapping[str, str]
    patience: float
    log: Path
    port: int = 0
    started: float = 0.0
    process: subprocess.Popen[bytes] = field(init=False, repr=False)

    @property
    def url(self) -> str:
        """Address of the server."""
        return f"http://{HOST}:{self.port}"

    def start(self) -> None:
        """Start the server and wait until it is healthy; after `kill`, with the same port and log.

        Raises:
            RuntimeError: it ended, or was not healthy in time; the message is the end of its log.
        """
        ours = {"server.port": self.port, "server.address": HOST, "server.headless": "true"}
        command = [sys.executable, "-m", "streamlit", "run", self.script]
        command += [f"--{name}={value}" for name, value in {**ours, **self.options}.items()]
        self.started = time.time()
        with self.log.open("ab") as output:
            self.process = subprocess.Popen(
                command,
                cwd=self.folder,
                env={**os.environ, **self.environment},
                stdout=output,
                stderr=subprocess.STDOUT,
            )
        while not self.healthy():
            if self.process.poll() is not None or time.time() > self.started + self.patience:
                self.stop()
                message = self.log.read_text("utf-8")[-2000:]
                raise RuntimeError(f"The server did not start:\n{message}")
            time.sleep(0.01)

    def healthy(self, seconds: float = 1.0) -> bool:
        """Return True where this process, not another one on its port, reports health in time."""
        connection = http.client.HTTPConnection(HOST, self.port, timeout=seconds)
        try:
            connection.request("GET", "/_stcore/health")
            well = connection.getresponse().status == 200
            return well and self.process.poll() is None and self._listens()
        except OSError:
            return False
        finally:
            connection.close()

    def stop(self, seconds: float = 5.0) -> None:
        """Terminate the server, and kill it after a timeout in seconds."""
        self.process.terminate()
        try:
            self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            self.kill()

    def kill(self) -> None:
        """Kill the server without cleanup, like a power failure."""
        self.process.kill()
        self.process.wait()

    def megabytes(self) -> float:
        """Return its resident memory in MB."""
        return float(psutil.Process(self.process.pid).memory_info().rss / 1e6)

    def cpu_seconds(self) -> float:
        """Return its CPU time so far in seconds."""
        used = psutil.Process(self.process.pid).cpu_times()
        return float(used.user + used.system)

    def until_idle(self, patience: float = 120.0) -> float:
        """Wait until the server is idle, at most `patience` seconds; return the seconds waited."""
        started = time.monotonic()
        while time.monotonic() < started + patience:
            before = self.cpu_seconds()
            time.sleep(1.0)
            if self.cpu_seconds() - before < IDLE:
                break
        return round(time.monotonic() - started, 1)

    def metrics(self) -> dict[tuple[str, str], float]:
        """Return the metrics of `/metrics`: (name, labels as "a=b,c=d") -> value."""
        token = self.environment.get("SEQVIZ_METRICS_TOKEN", "")
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        request = urllib.request.Request(f"{self.url}/metrics", headers=headers)
        with urllib.request.urlopen(request, timeout=20) as answer:
            families = text_string_to_metric_families(answer.read().decode())
        return {
            (
                sample.name,
                ",".join(f"{k}={v}" for k, v in sorted(sample.labels.items())),
            ): sample.value
            for family in families
            for sample in family.samples
        }

    def counter(self, name: str, **labels: str) -> float:
        """Return a metric of `/metrics`, summed over the labels that are not given."""
        requested = {f"{key}={value}" for key, value in labels.items()}
        return sum(
            value
            for (its_name, its_labels), value in self.metrics().items()
            if its_name == name and requested <= {*its_labels.split(",")}
        )

    def _listens(self) -> bool:
        ours = psutil.Process(self.process.pid).net_connections("tcp")
        return any(c.status == psutil.CONN_LISTEN and c.laddr.port == self.port for c in ours)


@contextmanager
def serve(
    folder: Path = ROOT,
    script: str = "app.py",
    environment: Mapping[str, str] | None = None,
    patience: float = 60.0,
    options: Mapping[str, str] | None = None,
    before: str = "",
) -> Iterator[Server]:
    """Yield a healthy server on a free port, and stop it at the end.

    Another port is tried where a process takes the chosen one before the start.

    Args:
        folder: working directory; its `.streamlit/config.toml` takes precedence over the
            environment.
        script: main script in `folder`.
        environment: variables added to the environment of this process. Benches show their results
            at once unless it has SEQVIZ_GUIDED.
        patience: startup timeout in seconds.
        options: Streamlit options by name, which take precedence over the configuration file.
        before: Python code that the server process runs before it imports Streamlit.

    Raises:
        RuntimeError: the server does not start; the message is the end of its log.
    """
    with tempfile.TemporaryDirectory() as position:
        given = {"SEQVIZ_GUIDED": "0", **(environment or {})}
        if before:
            (Path(position) / "sitecustomize.py").write_text(
                FIRST + indent(before, "    "), "utf-8"
            )
            given["PYTHONPATH"] = _path(Path(position))
        log = Path(position) / "server.log"
        server = Server(folder, script, given, options or {}, patience, log)
        for attempt in range(ATTEMPTS):
            server.port = free_port()
            try:
                server.start()
                break
            except RuntimeError:
                if attempt + 1 == ATTEMPTS or TAKEN not in log.read_text("utf-8"):
                    raise
        try:
            yield server
        finally:
            server.stop()


@contextmanager
def serve_page(folder: Path, page: str) -> Iterator[Server]:
    """Yield a server for the source of a page, with the app's configuration and static files.

    Args:
        folder: working directory, with any files that the page reads.
        page: source of the page, which can import the app's packages.
    """
    (folder / "page.py").write_text(page, "utf-8")
    shutil.copytree(ROOT / ".streamlit", folder / ".streamlit")
    static = folder / "static"
    shutil.copytree(ROOT / "assets" / "static", static)
    for path in static.glob(f"*{brotli_assets.PACKED}"):  # only the app decompresses these
        path.with_suffix("").write_bytes(brotli_assets.read_asset(path.with_suffix("")))
    with serve(folder, "page.py", {"PYTHONPATH": _path()}) as server:
        yield server


@contextmanager
def serve_empty_page() -> Iterator[Server]:
    """Yield a server for `EMPTY_PAGE`."""
    with (
        tempfile.TemporaryDirectory() as position,
        serve_page(Path(position), EMPTY_PAGE) as server,
    ):
        yield server


def free_port() -> int:
    """Return an unused port, which the system does not assign again soon."""
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        return int(probe.getsockname()[1])


def _path(*folders: Path) -> str:
    """Return a PYTHONPATH with these folders and the app's before the existing entries."""
    existing = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    return os.pathsep.join(filter(None, [*map(str, folders), str(ROOT), *existing]))
