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


def test_from_nothing_to_a_reading(hub, shelf):
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


def test_what_is_here_is_not_fetched_again(hub, shelf):
    store.fetch("tiny")
    reports = Reports()
    ready.load_job("tiny", "the cat sat", "on the mat", reports)
    assert reports.phases() == ["load", "read"]
    assert reports.grow()
    assert hub.downloads() == 1
    assert forward_cache.is_cached("tiny", "the cat sat", "on the mat")


def test_given_up_while_it_is_fetched_and_asked_again(hub, shelf):
    for stop in ("fetch", "load", "read"):
        reports = Reports(stop)
        with pytest.raises(CancelledError):
            ready.load_job("tiny", "the cat sat", "", reports)
        assert reports.phases()[-1] == stop
        assert not forward_cache.is_cached("tiny", "the cat sat")
    ready.load_job("tiny", "the cat sat", "", Reports())
    assert forward_cache.is_cached("tiny", "the cat sat")


def test_what_cannot_be_fetched_is_refused(cache, shelf):
    with pytest.raises(UserError) as caught:
        ready.load_job("tiny", "the cat sat", "", Reports())
    assert caught.value.code == "unreachable"
    assert not ready.is_ready("tiny", "the cat sat")


def test_a_long_text_is_read_in_a_job(minilm, shelf):
    assert ready.is_ready("minilm", "the cat sat")
    assert not ready.is_ready("minilm", LONG)
    reports = Reports()
    ready.load_job("minilm", LONG, "", reports)
    assert reports.phases() == ["load", "read"]
    assert reports.grow()
    assert len(reports) == 2 + 6  # a report for each layer
    assert ready.is_ready("minilm", LONG)
    assert not ready.is_ready("minilm", LONG, "dog")  # another text


def test_nothing_to_read_is_refused_before_any_work(smollm2, shelf):
    with pytest.raises(UserError) as caught:
        ready.is_ready("smollm2", "")
    assert caught.value.code == "empty_text"


def test_a_text_too_long_for_a_pass_after_every_press_is_refused(smollm2, minilm):
    text = "one two three " * 100  # 300 tokens and more: 30 layers are too many, 6 are not
    ready.check_interactive_length("minilm", text)
    with pytest.raises(UserError) as refusal:
        ready.check_interactive_length("smollm2", text)
    assert refusal.value.code == "too_long_live"
    assert refusal.value.details["limit"] == 200 < refusal.value.details["found"]
    ready.check_interactive_length("smollm2", "one two three")
