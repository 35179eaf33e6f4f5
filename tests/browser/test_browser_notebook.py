"""A live bench in a browser, as marimo shows it: drawn, and drawn again as a slider moves."""

from __future__ import annotations

import os
import subprocess
import sys
import urllib.request

import pytest

from driver.server import free_port
from seqviz.paths import ROOT

pytestmark = pytest.mark.nightly
PATIENCE = 60_000


@pytest.fixture
def notebook():
    port = free_port()
    command = [sys.executable, "-m", "marimo", "run", "examples/marimo_reach.py", "--headless",
               "--no-token", "--port", str(port)]  # fmt: skip
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    process = subprocess.Popen(command, cwd=ROOT, env=env, stdout=subprocess.DEVNULL)
    url = f"http://localhost:{port}"
    for _ in range(60):
        try:
            urllib.request.urlopen(url, timeout=1).close()
            break
        except OSError:
            assert process.poll() is None
            subprocess.run(["sleep", "0.5"], check=True)
    yield url
    process.terminate()
    process.wait(10)


def test_a_moved_slider_draws_anew(browser, notebook):
    page = browser.new_page()
    errors, elsewhere = [], []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("request", lambda asked: elsewhere.append(asked.url)
            if not asked.url.startswith((notebook, "data:", "blob:", "ws://localhost")) else None
            )  # fmt: skip
    page.goto(notebook)
    page.locator(".seqviz-bench .main-svg").first.wait_for(timeout=PATIENCE)
    words = page.locator(".seqviz-bench .words")
    assert "0.945" in words.inner_text()
    gain = page.get_by_role("slider", name="Gain")
    before = page.locator(".seqviz-bench [role=img]").get_attribute("aria-label")
    gain.focus()
    for _ in range(3):
        page.keyboard.press("PageUp")
    page.get_by_text("explodes").wait_for(timeout=PATIENCE)
    assert gain.get_attribute("aria-valuetext") == "1.2"
    assert page.locator(".seqviz-bench [role=img]").get_attribute("aria-label") != before
    assert not errors
    assert not [url for url in elsewhere if "seqviz" in url or "plotly" in url]
    page.close()
