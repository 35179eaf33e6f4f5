"""What a figure waits for: fetching, loading, reading, in that order and told along the way."""

from __future__ import annotations

import itertools

import pytest

from seqviz.core.errors import UserError
from seqviz.jobs import CancelledError
from seqviz.models import forward_cache, pretrained, ready, store

LONG = "cat sat " * 200  # 402 tokens in MiniLM's six layers: not at once


@pytest.fixture
def shelf(monkeypatch):
    monkeypatch.setattr(forward_cache, "_shelf", forward_cache.ForwardCache())


class Reports(list):
    """What a job said; it may be given up at the first report of one phase."""

    def __init__(self, stop: str = ""):
        self.stop = stop

    def __call__(self, record, fraction=None):
        self.append((record, fraction))
        if record == self.stop:
            raise CancelledError

    def phases(self):
        return [name for name, _ in itertools.groupby(self, lambda report: report[0])]

    def grow(self):
        fractions = [fraction for _, fraction in self]
        full = fractions[-1] == pytest.approx(1, abs=1e-12)
        return fractions == sorted(fractions) and fractions[0] >= 0 and full


def test_load_job_fetches_loads_and_reads(hub, shelf):
    assert not ready.is_ready("tiny", "the cat sat")
    assert ready.size("tiny") == 4 * 6_832
    reports = Reports()
    device = ready.load_job("tiny", "the cat sat", "", reports)
    assert device == pretrained.load("tiny").device == "cpu"
    assert reports.phases() == ["fetch", "load", "read"]
    assert reports.grow()
    assert hub.downloads() == 1
    assert ready.size("tiny") == 0
    assert ready.is_ready("tiny", "the cat sat")
    assert forward_cache.is_cached("tiny", "the cat sat")
    assert ready.is_ready("tiny", "another text")  # short: read at once


def test_load_job_skips_fetch_of_stored_model(hub, shelf):
    store.fetch("tiny")
    reports = Reports()
    ready.load_job("tiny", "the cat sat", "on the mat", reports)
    assert reports.phases() == ["load", "read"]
    assert reports.grow()
    assert hub.downloads() == 1
    assert forward_cache.is_cached("tiny", "the cat sat", "on the mat")


def test_load_job_can_be_cancelled_and_repeated(hub, shelf):
    for stop in ("fetch", "load", "read"):
        reports = Reports(stop)
        with pytest.raises(CancelledError):
            ready.load_job("tiny", "the cat sat", "", reports)
        assert reports.phases()[-1] == stop
        assert not forward_cache.is_cached("tiny", "the cat sat")
    ready.load_job("tiny", "the cat sat", "", Reports())
    assert forward_cache.is_cached("tiny", "the cat sat")


def test_load_job_rejects_unreachable_model(cache, shelf):
    with pytest.raises(UserError) as caught:
        ready.load_job("tiny", "the cat sat", "", Reports())
    assert caught.value.code == "unreachable"
    assert not ready.is_ready("tiny", "the cat sat")


def test_load_job_reads_long_text(minilm, shelf):
    assert ready.is_ready("minilm", "the cat sat")
    assert not ready.is_ready("minilm", LONG)
    reports = Reports()
    ready.load_job("minilm", LONG, "", reports)
    assert reports.phases() == ["load", "read"]
    assert reports.grow()
    assert len(reports) == 2 + 6  # a report for each layer
    assert ready.is_ready("minilm", LONG)
    assert not ready.is_ready("minilm", LONG, "dog")  # another text


def test_is_ready_rejects_empty_text(smollm2, shelf):
    with pytest.raises(UserError) as caught:
        ready.is_ready("smollm2", "")
    assert caught.value.code == "empty_text"


def test_check_interactive_length_rejects_long_text(smollm2, minilm):
    text = "one two three " * 100  # 300 tokens and more: 30 layers are too many, 6 are not
    ready.check_interactive_length("minilm", text)
    with pytest.raises(UserError) as refusal:
        ready.check_interactive_length("smollm2", text)
    assert refusal.value.code == "too_long_live"
    assert refusal.value.details["limit"] == 200 < refusal.value.details["found"]
    ready.check_interactive_length("smollm2", "one two three")
