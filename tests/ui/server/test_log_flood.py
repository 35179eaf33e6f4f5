"""A log that a flood cannot fill."""

from __future__ import annotations

import io
import logging
import urllib.request

import pytest

from seqviz.ui.runtime import logs
from seqviz.ui.server import log_flood
from seqviz.ui.server.log_flood import FloodFilter
from tests.fakes import FakeClock


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock(0.0)


@pytest.fixture
def flood(clock) -> FloodFilter:
    return FloodFilter(clock)


def record(message: str = "refused", level: int = logging.WARNING, exc_text: str = "", **args):
    created = logging.LogRecord("seqviz.x", level, "x.py", 1, message, (), None)
    created.exc_text = exc_text or None
    return created


def test_flood_filter_limits_lines_and_counts_rest_per_minute(flood, clock):
    written = [flood.filter(record()) for _ in range(1000)]
    assert sum(written) == log_flood.MAX_LINES
    assert flood.filter(record("another"))
    assert flood.summaries() == []
    clock.now = 61.0
    (summary,) = flood.summaries()
    assert (summary.getMessage(), summary.repeated) == ("refused", 1000 - log_flood.MAX_LINES)
    assert flood.filter(summary)
    assert not flood.filter(record())  # of the next minute it is the sum alone that is written
    clock.now = 130.0
    assert [summary.repeated for summary in flood.summaries()] == [1]
    clock.now = 200.0
    assert flood.summaries() == []
    assert flood.filter(record())


def test_flood_filter_keeps_one_traceback_per_site_and_minute(flood, clock):
    here, there = ({"level": logging.ERROR, "exc_text": f"Traceback {k}"} for k in "ab")
    written = [[flood.filter(record("it failed", **item)) for item in (here, there)] for _ in "123"]
    assert written == [[True, True], [False, False], [False, False]]
    clock.now = 61.0
    assert [(summary.exc_text, summary.repeated) for summary in flood.summaries()] == [
        (None, 2),
        (None, 2),
    ]


def test_flood_filter_passes_all_info_records(flood):
    assert all(flood.filter(record(level=logging.INFO)) for _ in range(100))


def test_flood_filter_bounds_number_of_kinds(flood):
    for k in range(2 * log_flood.MAX_KINDS):
        flood.filter(record(f"{k}"))
    assert len(flood._kinds) == log_flood.MAX_KINDS


def test_flood_filter_logs_repeat_count(clock, monkeypatch):
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    handler.setFormatter(logs.LineFormatter())
    flood = FloodFilter(clock)
    handler.addFilter(flood)
    monkeypatch.setattr(logs, "_flood", flood)
    log = logging.getLogger("seqviz.test_flood")
    log.handlers, log.propagate = [handler], False
    for _ in range(20):
        log.warning("refused")
    clock.now = 61.0
    logs.summarize()
    lines = stream.getvalue().splitlines()
    assert len(lines) == log_flood.MAX_LINES + 1
    assert lines[-1].endswith("seqviz.test_flood: refused repeated=15")


def test_flood_filter_limits_oauth_callback_errors(server):
    """Streamlit has a route for one, and writes an error at each request."""
    before = server.log.stat().st_size
    for _ in range(50):
        with urllib.request.urlopen(f"{server.url}/oauth2callback", timeout=20) as answer:
            assert answer.status == 200  # of the page to which it leads back
    written = server.log.read_text("utf-8")[before:]
    assert 1 <= written.count("redirect_uri") <= log_flood.MAX_LINES + 1
