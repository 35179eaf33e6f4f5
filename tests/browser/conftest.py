"""A server and a Chromium for the browser tests; the network is cut off, every page is watched."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from testing.server import serve
from tests.shared_fixtures import NO_PLAYWRIGHT

if NO_PLAYWRIGHT:
    collect_ignore_glob = ["test_*.py"]


def pytest_collection_modifyitems(items) -> None:
    for item in items:
        if "/tests/browser/" in item.path.as_posix():
            item.add_marker(pytest.mark.browser)
            # On a machine at full load a browser may miss a deadline. The summary names each rerun.
            item.add_marker(pytest.mark.flaky(reruns=1))


@pytest.fixture(scope="session")
def server(visitors):
    """The app, with its imports done: the first visitor pays for them, not the first test."""
    return visitors.server


@pytest.fixture(scope="session")
def visitors(browser) -> Iterator:
    """Those of the app."""
    from tests.browser.lesson_page import visitors

    with (
        serve(environment={"HF_HUB_OFFLINE": "1"}) as running,
        visitors(browser, running) as created,
    ):
        with created.watched() as open_page:
            open_page()
        yield created


@pytest.fixture(scope="session")
def guided_visitors(browser) -> Iterator:
    """Those of the app as it opens for a student: cards are closed, answers veiled."""
    from tests.browser.lesson_page import visitors

    with (
        serve(environment={"SEQVIZ_GUIDED": "1", "HF_HUB_OFFLINE": "1"}) as running,
        visitors(browser, running) as created,
    ):
        yield created


@pytest.fixture
def visit(visitors) -> Iterator[Callable]:
    """`visit(path, parameters, **context options)` opens a page as a new visitor.

    Afterwards the test fails if a page asked another host for anything or logged an error, or if
    the server printed a traceback.
    """
    with visitors.watched() as open_page:
        yield open_page


@pytest.fixture(scope="module")
def room(browser, server) -> Iterator:
    """All tests of a file are in it."""
    from tests.browser.room_page import a_room

    with a_room(browser, server) as opened:
        yield opened


@pytest.fixture
def teacher(room) -> Iterator:
    """At the beginning of the first lesson."""
    with room.visitors.watched():
        room.at("ar_fitting", "ar.process")
        yield room.teacher


@pytest.fixture
def student(room, teacher):
    """One who has been taken along."""
    return room.student
