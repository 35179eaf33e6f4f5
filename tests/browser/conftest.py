"""A server and a Chromium for the browser tests, with the network cut off and every page watched."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from urllib.parse import urlencode, urlsplit

import pytest
from lesson_page import LessonPage

try:
    from benchmarks.browser import NoChromium, Server, chromium, serve

    MISSING = ""
except ModuleNotFoundError as error:
    MISSING = f"No Playwright ({error}): `pip install playwright`, then a Chromium."

# On a deep link Streamlit's page asks for these first, to learn under which path it is served.
PROBES = re.compile(r"/[a-z_]+/_stcore/(health|host-config)")


def absent(reason: str) -> None:
    """Skip with the reason, or fail where a browser was promised."""
    if os.environ.get("SEQVIZ_REQUIRE_BROWSER") == "1":
        pytest.fail(reason, pytrace=False)
    pytest.skip(reason)


@pytest.fixture(scope="session")
def browser():
    if MISSING:
        absent(MISSING)
    try:
        with chromium() as running:
            yield running
    except NoChromium as error:
        absent(str(error))


@pytest.fixture(scope="session")
def server(browser) -> Iterator[Server]:
    """The app, warm: the first visitor pays for the imports, and the tests' patience is for pages."""
    with serve(environment={"HF_HUB_OFFLINE": "1"}) as running:
        context = browser.new_context()
        page = context.new_page()
        page.goto(running.url)
        page.locator("h1").wait_for()
        context.close()
        yield running


@pytest.fixture
def visit(browser, server) -> Iterator[Callable[..., LessonPage]]:
    """`visit(path, parameters, **context options)`: a new visitor on that page.

    Afterwards the test fails if any visitor's page asked another host for anything, logged an
    error, or if the server printed a traceback.
    """
    contexts, foreign, errors = [], [], []
    own = urlsplit(server.url).netloc
    already = server.log.stat().st_size

    def refuse(route) -> None:
        foreign.append(route.request.url)
        route.abort()

    def watch(page) -> None:
        page.on("console", lambda message: errors.append(message) if _is_error(message) else None)
        page.on("pageerror", lambda error: errors.append(error))
        page.on("websocket", lambda socket: _check(socket.url))

    def _check(url: str) -> None:
        if urlsplit(url).netloc != own:
            foreign.append(url)

    def open_page(path: str = "", parameters: dict[str, str] | None = None, **options):
        options = {"locale": "en-US", "viewport": {"width": 1280, "height": 800}, **options}
        context = browser.new_context(**options)
        context.set_default_timeout(20_000)
        contexts.append(context)
        # Not for our own requests: a routed page has no HTTP cache.
        context.route(re.compile(rf"^(?!(http://{re.escape(own)}/|blob:|data:))"), refuse)
        context.on("page", watch)
        page = context.new_page()
        page.goto(f"{server.url}/{path}" + (f"?{urlencode(parameters)}" if parameters else ""))
        return LessonPage(page)

    yield open_page
    for context in contexts:
        context.close()
    with server.log.open("rb") as log:
        log.seek(already)
        printed = log.read().decode()
    assert not foreign, "asked another host"
    assert not [getattr(error, "text", error) for error in errors], "errors in the browser"
    assert "Traceback" not in printed, printed


def _is_error(message) -> bool:
    path = urlsplit(message.location["url"]).path
    return message.type == "error" and not PROBES.fullmatch(path)


def pytest_terminal_summary(terminalreporter) -> None:
    """One line for all tests that had no browser."""
    reasons = {
        report.longrepr[2].removeprefix("Skipped: ")
        for report in terminalreporter.stats.get("skipped", ())
        if "tests/browser/" in report.nodeid and isinstance(report.longrepr, tuple)
    }
    for reason in sorted(reasons):
        terminalreporter.write_line(f"Browser tests skipped. {reason}")


def pytest_collection_modifyitems(items) -> None:
    for item in items:
        if "/browser/" in item.path.as_posix():
            item.add_marker(pytest.mark.browser)
