"""A Chromium and a server of one's own: what browser benchmarks and browser tests share."""

from __future__ import annotations

import http.client
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import psutil
from playwright.sync_api import Browser, Page, Playwright, sync_playwright

ROOT = Path(__file__).resolve().parent.parent
HOST = "127.0.0.1"
ATTEMPTS = 3
TAKEN = "is not available"  # what Streamlit says of a port
NAMES = ("chromium", "chromium-browser", "google-chrome")
FLAGS = (
    "--no-sandbox",  # a container's root may not make one, and only our own pages are opened
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
_here = threading.local()  # its `browser` is the open one
HOW_TO_GET = "No Chromium: `apt-get install chromium` or `python -m playwright install chromium`."

# What a chart shows, as one string: outline and place of its marks (Plotly, Vega as SVG).
MARKS = "svg.main-svg .mlayer :is(path, image), svg.marks path"
GEOMETRY = f"""(host) => [...host.querySelectorAll("{MARKS}")].map((mark) =>
  ["d", "href", "transform"].map((name) => mark.getAttribute(name) ?? "").join(" ")).join("\\n")"""

# Ask for all of a page at once, as for printing; whether it is there.
WHOLE = """() => {
    window.dispatchEvent(new Event("beforeprint"));
    return document.querySelector(".stApp").dataset.testScriptState === "notRunning"
        && document.querySelector('[class*="-waiting"]') === null;
}"""

# The least that Streamlit can be: what the app is measured against.
EMPTY_PAGE = """
import streamlit as st

@st.fragment
def bench():
    value = st.slider("value", -1.2, 1.2, 0.0, 0.01, key="value")
    with st.container(key="shown"):
        st.text(f"{value:.2f}")

bench()
"""


class NoChromium(RuntimeError):
    """There is no Chromium on this machine; the message says how to get one."""


@dataclass(frozen=True)
class Server:
    """A Streamlit server in its own process.

    started: seconds since the epoch just before the process was made; log: what it has printed.
    """

    url: str
    started: float
    log: Path


@contextmanager
def chromium() -> Iterator[Browser]:
    """Playwright's own Chromium where it is installed, else the system's, headless.

    Where one is open in this thread already it is that one: a thread can have but one. So close the
    contexts that you make. Raises NoChromium where there is neither.
    """
    if getattr(_here, "browser", None):
        yield _here.browser
        return
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=_executable(playwright), args=FLAGS)
        _here.browser = browser
        try:
            yield browser
        finally:
            _here.browser = None
            browser.close()


@contextmanager
def serve(
    folder: Path = ROOT,
    script: str = "app.py",
    environment: Mapping[str, str] | None = None,
    patience: float = 60.0,
    options: Mapping[str, str] | None = None,
) -> Iterator[Server]:
    """A server for `script` of `folder` on a free port, from when it is healthy to the end.

    folder: also where `.streamlit/config.toml` is read. environment: set beside what is set here.
    options: Streamlit's own, by name; they go before `.streamlit/config.toml`, which goes before
    the environment. patience: seconds to wait for its health; RuntimeError with its last words
    after that. Where somebody else takes the port between the choice and the start, another one is
    tried.
    """
    with tempfile.TemporaryDirectory() as place:
        log = Path(place) / "server.log"
        for attempt in range(ATTEMPTS):
            port = _free_port()
            started = time.time()
            process = _start(folder, script, environment or {}, options or {}, port, log)
            try:
                _wait_for_health(port, process, log, started + patience)
            except RuntimeError:
                _stop(process)
                if attempt + 1 < ATTEMPTS and TAKEN in log.read_text("utf-8"):
                    continue
                raise
            break
        try:
            yield Server(f"http://{HOST}:{port}", started, log)
        finally:
            _stop(process)


@contextmanager
def serve_empty_page() -> Iterator[Server]:
    """A server for `EMPTY_PAGE` with the app's own configuration, and nothing else."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        (folder / "empty.py").write_text(EMPTY_PAGE, "utf-8")
        shutil.copytree(ROOT / ".streamlit", folder / ".streamlit")
        with serve(folder, "empty.py") as server:
            yield server


def draw_whole(page: Page, patience: float = 60_000) -> None:
    """Wait until the benches out of sight are drawn as well; patience: in milliseconds."""
    page.wait_for_function(WHOLE, polling=100, timeout=patience)


def css_class(key: str) -> str:
    """The CSS selector of the element that Streamlit gives this key."""
    return ".st-key-" + key.replace(".", "-")


def _executable(playwright: Playwright) -> str | None:
    """The path of a system Chromium, None where Playwright has its own."""
    if Path(playwright.chromium.executable_path).exists():
        return None
    for name in NAMES:
        found = shutil.which(name)
        if found is not None:
            return found
    raise NoChromium(HOW_TO_GET)


def _start(
    folder: Path,
    script: str,
    environment: Mapping[str, str],
    options: Mapping[str, str],
    port: int,
    log: Path,
) -> subprocess.Popen[bytes]:
    ours = {"server.port": port, "server.address": HOST, "server.headless": "true"}
    command = [sys.executable, "-m", "streamlit", "run", script]
    command += [f"--{name}={value}" for name, value in {**ours, **options}.items()]
    with log.open("wb") as output:
        return subprocess.Popen(
            command,
            cwd=folder,
            env={**os.environ, **environment},
            stdout=output,
            stderr=subprocess.STDOUT,
        )


def _free_port() -> int:
    """A port that the system gives nobody else for a while: it goes through all of its range."""
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        return int(probe.getsockname()[1])


def _wait_for_health(
    port: int, process: subprocess.Popen[bytes], log: Path, deadline: float
) -> None:
    while process.poll() is None and time.time() < deadline:
        connection = http.client.HTTPConnection(HOST, port, timeout=1)
        try:
            connection.request("GET", "/_stcore/health")
            if connection.getresponse().status == 200 and _listens(process, port):
                return
        except OSError:
            pass
        finally:
            connection.close()
        time.sleep(0.01)  # short against a start, which takes seconds
    raise RuntimeError(f"The server did not start:\n{log.read_text('utf-8')[-2000:]}")


def _listens(process: subprocess.Popen[bytes], port: int) -> bool:
    """Whether it is our own server that answers there, and not somebody else's."""
    ours = psutil.Process(process.pid).net_connections("tcp")
    return any(c.status == psutil.CONN_LISTEN and c.laddr.port == port for c in ours)


def _stop(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    try:
        process.wait(5)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
