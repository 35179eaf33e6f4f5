"""The server dies in the middle of a training and is started again."""

from __future__ import annotations

import http.client
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest

pytest.importorskip("playwright")
from lesson_page import LessonPage
from playwright.sync_api import expect

from benchmarks import browser as chrome
from seqviz.text import Text

pytestmark = pytest.mark.browser
LONG = 60.0
WORDS = Text("zh")
SETTINGS = {"ar.networks.preset": "own", "ar.networks.cell": "lstm", "ar.networks.hidden": "64",
            "ar.networks.layers": "3", "ar.networks.epochs": "1000", "ar.process.phi": "0.37",
            "lang": "zh"}  # fmt: skip


class Server:
    """The app on one port, however often it is started there."""

    def __init__(self, folder: Path) -> None:
        self.port, self.folder = chrome._free_port(), folder
        self.url = f"http://{chrome.HOST}:{self.port}"
        self.log = folder / "server.log"

    def start(self) -> None:
        command = [*(sys.executable, "-m", "streamlit", "run", "app.py"),
                   *("--server.port", str(self.port), "--server.address", chrome.HOST),
                   *("--server.headless", "true")]  # fmt: skip
        environment = {
            **os.environ,
            **{"HF_HUB_OFFLINE": "1", "PIP_NO_INDEX": "1", "SEQVIZ_DEVICE": "cpu"},
            "SEQVIZ_CACHE": str(self.folder / "cache"),
        }
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                command, cwd=chrome.ROOT, env=environment, stdout=log, stderr=subprocess.STDOUT
            )
        last = time.monotonic() + LONG
        while not self.healthy():
            assert time.monotonic() < last, self.log.read_text("utf-8")[-2000:]
            time.sleep(0.05)

    def healthy(self) -> bool:
        connection = http.client.HTTPConnection(chrome.HOST, self.port, timeout=1)
        try:
            connection.request("GET", "/_stcore/health")
            return connection.getresponse().status == 200
        except OSError:
            return False
        finally:
            connection.close()

    def kill(self) -> None:
        """As a machine that loses its power: no time to clear up."""
        self.process.send_signal(signal.SIGKILL)
        self.process.wait(LONG)


@pytest.fixture
def server(tmp_path):
    made = Server(tmp_path)
    made.start()
    yield made
    made.kill()


@pytest.fixture
def page(server, browser):
    context = browser.new_context(locale="en-US")
    context.set_default_timeout(1000 * LONG)
    yield context.new_page()
    context.close()


def test_a_server_that_is_killed_in_a_training_and_comes_back(server, page):
    lesson = LessonPage(page)
    page.goto(f"{server.url}/ar_fitting?" + "&".join(f"{k}={v}" for k, v in SETTINGS.items()))
    lesson.titled(WORDS("ar_fitting.title"))
    networks = page.locator(chrome.css_class("bench-networks"))
    networks.scroll_into_view_if_needed()
    start = lesson.by_key("ar.networks.start").get_by_role("button", name=WORDS("work.start"))
    start.click()
    progress = page.get_by_test_id("stProgress")
    progress.wait_for()

    server.kill()
    app = page.locator(".stApp")
    expect(app).not_to_have_attribute(
        "data-test-connection-state", "CONNECTED", timeout=1000 * LONG
    )
    server.start()

    # By itself: nobody reloads. The job went with the server; all settings are as they were.
    start.wait_for()
    expect(progress).to_have_count(0, timeout=1000 * LONG)
    lesson.titled(WORDS("ar_fitting.title"))
    query = {key: value for key, (value,) in parse_qs(urlsplit(page.url).query).items()}
    assert query == SETTINGS
    expect(lesson.slider("ar.process.phi")).to_have_value("0.37", timeout=1000 * LONG)
    start.click()
    progress.wait_for()

    made = [path.name for path in (server.folder / "cache").rglob("*") if path.is_file()]
    assert all(name.endswith(".lock") for name in made), made
    assert "Traceback" not in server.log.read_text("utf-8")
