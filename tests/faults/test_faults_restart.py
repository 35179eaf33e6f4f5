"""The server dies in the middle of a training and is started again."""

from __future__ import annotations

import json
from urllib.parse import parse_qs, urlsplit

import pytest

pytest.importorskip("playwright")
from playwright.sync_api import expect

from seqviz.core.i18n import Text
from testing.chromium import css_class
from testing.server import serve
from tests.browser.lesson_page import LessonPage

pytestmark = pytest.mark.browser
LONG = 60.0
WORDS = Text("zh")
SETTINGS = {"ar.networks.preset": "own", "ar.networks.cell": "lstm", "ar.networks.hidden": "64",
            "ar.networks.layers": "3", "ar.networks.epochs": "1000", "ar.process.phi": "0.37",
            "lang": "zh"}  # fmt: skip


@pytest.fixture
def server(tmp_path):
    environment = {"HF_HUB_OFFLINE": "1", "PIP_NO_INDEX": "1", "SEQVIZ_DEVICE": "cpu"}
    with serve(environment={**environment, "SEQVIZ_CACHE": str(tmp_path / "cache")}) as running:
        yield running


@pytest.fixture
def page(server, browser):
    context = browser.new_context(locale="en-US")
    context.set_default_timeout(1000 * LONG)
    yield context.new_page()
    context.close()


@pytest.mark.nightly
def test_page_recovers_settings_after_server_restart_in_training(server, page, tmp_path):
    lesson = LessonPage(page)
    page.goto(f"{server.url}/ar_fitting?" + "&".join(f"{k}={v}" for k, v in SETTINGS.items()))
    lesson.titled(WORDS("ar_fitting.title"))
    networks = page.locator(css_class("bench-networks"))
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

    # Of a training nothing; first figures are kept for who comes next (`ui/prerender/figure`).
    built = [path for path in (tmp_path / "cache").rglob("*") if path.is_file()]
    assert all(path.suffix == ".lock" or path.parent.name == "first_figures" for path in built), (
        built
    )
    for path in built:
        assert path.suffix == ".lock" or json.loads(path.read_text("utf-8"))
    assert "Traceback" not in server.log.read_text("utf-8")
