"""A student who exceeds a limit reads one sentence in that bench; the class does not notice."""

from __future__ import annotations

import threading
import time

import pytest

from seqviz import jobs
from seqviz.core.i18n import LANGUAGES
from seqviz.jobs import Report
from seqviz.models import forward_cache
from seqviz.ui.runtime import result_cache, run_context
from seqviz.ui.runtime.clients import ClientQuota
from tests.pages.page_assertions import alerts, bench, figures
from tests.sliders import sliders
from tests.tiers import first_only

SLUG = "vanishing_gradients"
SEEDS = iter(range(4000, 9999))  # networks that no other test has computed and left in the cache


@pytest.fixture(autouse=True)
def no_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    """No limit but the one that a test sets."""
    for name in ("SECONDS", "TOKENS", "JOBS"):
        monkeypatch.setenv(f"SEQVIZ_SESSION_{name}", "0")


def opened(visit, lang: str = "en"):
    """A page whose second bench takes about 200 ms of the processor for each other norm."""
    return visit(SLUG, lang, vg__reach__seed=str(next(SEEDS)))


def said(page, code: str, **details) -> str:
    return page.text(f"problem.{code}", **details)


def waits(page, code: str, maximum: int = 300) -> list[str]:
    """What the sentence may be: the seconds to wait differ from machine to machine."""
    return [said(page, code, wait=wait) for wait in range(1, maximum)]


def pressed(page, cell: str, norm: str):
    """Another value of the second bench, which has to be computed."""
    page.run(vg__pairs__cell=cell, vg__pairs__norm=norm)
    return bench(page.app, "pairs")


def account(page) -> ClientQuota:
    """What the device that shows this page has used."""
    return page.app.session_state[run_context.KEY].account


def spend(page, monkeypatch) -> None:
    """More than there is at once."""
    monkeypatch.setenv("SEQVIZ_SESSION_SECONDS", "60")
    account(page).seconds.consume(100.0, 60.0, 0.25)


@pytest.mark.parametrize(
    "lang", first_only(LANGUAGES)
)  # the words: tests/ui/page/test_user_errors.py
def test_seconds_limit_warns_in_bench_and_recovers(visit, monkeypatch, lang):
    """Over the limit: a sentence in that bench; then, by itself, the figure again."""
    page = opened(visit, lang)
    charts = page.charts()
    spend(page, monkeypatch)
    position = pressed(page, "lstm", "rms")
    (warning,) = alerts(position)["warning"]
    assert warning in waits(page, "compute_limit")
    assert not figures(position)
    assert page.charts() == charts - 1  # the other benches stand
    assert sliders(position)  # and the controls of this one
    account(page).seconds.used = 50.0  # some time later
    position = pressed(page, "lstm", "rms")
    assert not alerts(position)["warning"]
    assert page.charts() == charts


def test_seconds_limit_spares_other_session(visit, monkeypatch):
    """Two sessions in one process; and what the class has in its cache costs nobody anything."""
    greedy = opened(visit)
    seed = str(greedy.app.session_state["vg.reach.seed"])
    other = visit(SLUG, vg__reach__seed=seed)
    spend(greedy, monkeypatch)
    assert alerts(pressed(greedy, "lstm", "rms"))["warning"]
    position = pressed(other, "lstm", "rms")
    assert not alerts(position)["warning"]
    assert figures(position)
    position = pressed(greedy, "lstm", "rms")  # the other one has computed it
    assert not alerts(position)["warning"]
    assert figures(position)


def test_seconds_limit_disabled_rejects_no_session(visit):
    page = opened(visit)
    assert not alerts(pressed(page, "gru", "rms"))["warning"]
    assert account(page).seconds.total > 0.1  # it says who goes first
    assert not account(page).seconds.over


@pytest.mark.parametrize(
    "lang", first_only(LANGUAGES)
)  # the words: tests/ui/page/test_user_errors.py
def test_token_limit_warns_in_bench_and_recovers(visit, monkeypatch, lang, minilm):
    # The text that a page opens with is read by the first visitor of this test and by nobody else,
    # whatever other tests have left or pushed out.
    monkeypatch.setattr(forward_cache, "_shelf", forward_cache.ForwardCache())
    result_cache.result_cache.cache_clear()
    page = visit("attention", lang)
    monkeypatch.setenv("SEQVIZ_SESSION_TOKENS", "10")
    first = f"One more text that nobody has had read before, {lang}, so that it counts."
    page.run(at__real__encoder=first)
    position = bench(page.app, "real")
    assert not alerts(position)["warning"]
    assert figures(position)
    page.run(at__real__encoder=f"And then a second one at once, {lang}.")
    position = bench(page.app, "real")
    (warning,) = alerts(position)["warning"]
    assert warning in waits(page, "token_limit")
    page.run(at__real__encoder=first)  # what has been read is there
    assert figures(bench(page.app, "real"))
    another = visit("attention", lang)
    another.run(at__real__encoder=f"Somebody else's text, {lang}.")
    assert figures(bench(another.app, "real"))
    monkeypatch.setenv("SEQVIZ_SESSION_TOKENS", "60000")  # 1,000 come back each second
    page.run(at__real__encoder=f"And then a second one at once, {lang}.")
    assert figures(bench(page.app, "real"))


gate = threading.Event()


def hold(name: str, report: Report, device: str) -> str:
    """A run that goes on until the test lets it end."""
    while not gate.wait(0.01):
        report(name)
    return name


def hold_another(name: str, report: Report, device: str) -> str:
    """Another function, as another lesson's."""
    return hold(name, report, device)


@pytest.mark.parametrize(
    "lang", first_only(LANGUAGES)
)  # the words: tests/ui/page/test_user_errors.py
def test_job_limit_warns_in_bench_and_recovers(visit, monkeypatch, lang):
    monkeypatch.setenv("SEQVIZ_DEVICE", "cpu")
    gate.clear()
    page, other = visit(SLUG, lang), visit(SLUG, lang)
    key = "vg.race.start"
    me = page.app.session_state[run_context.KEY].owner
    mine = {"owner": me, "group": account(page).name, "name": lang, "device": "cpu"}
    running = jobs.queue_for("cpu").submit(hold, **mine)
    waiting = jobs.queue_for("models").submit(hold_another, **mine)
    try:
        monkeypatch.setenv("SEQVIZ_SESSION_JOBS", "2")
        page.app.get_by_key(key).click().run()
        page.healthy()
        position = bench(page.app, "race")
        assert said(page, "job_limit", limit=2) in alerts(position)["warning"]
        assert not position.get("progress")
        other.app.get_by_key(key).click().run()  # another student may
        other.healthy()
        assert bench(other.app, "race").get("progress")
        other.app.get_by_key("vg.race.cancel").click().run()
        waiting.unsubscribe(me)  # one fewer: this student may go on
        page.app.get_by_key(key).click().run()
        page.healthy()
        position = bench(page.app, "race")
        assert not alerts(position)["warning"]
        assert position.get("progress")
        page.app.get_by_key("vg.race.cancel").click().run()
    finally:
        gate.set()
        for job, owner in ((running, me), (waiting, me)):
            job.unsubscribe(owner)
        for queue in jobs.all_queues().values():
            queue.close()


def test_job_queue_eviction_is_reported_in_bench(visit, monkeypatch):
    """Of two that wait for one student the second goes when the queue is full for another."""
    monkeypatch.setenv("SEQVIZ_DEVICE", "cpu")
    queue = jobs.JobQueue(capacity=2)
    monkeypatch.setattr(jobs.queue, "_defaults", {"cpu": queue})
    gate.clear()
    page = visit(SLUG)
    me = page.app.session_state[run_context.KEY].owner
    running = queue.submit(hold, owner="a", name="1", device="cpu")
    while running.state != "running":
        time.sleep(0.01)
    queue.submit(hold_another, owner=me, group=account(page).name, name="2", device="cpu")

    def somebody_comes(job, *_):
        monkeypatch.undo()
        monkeypatch.setattr(jobs.queue, "_defaults", {"cpu": queue})
        assert job.position == 2
        queue.submit(hold, owner="b", name="3", device="cpu")

    monkeypatch.setattr(
        jobs.Job, "subscribe", somebody_comes
    )  # between the page and its first look
    try:
        page.app.get_by_key("vg.race.start").click().run()
        page.healthy()
        position = bench(page.app, "race")
        assert said(page, "queue_full", waiting=2) in alerts(position)["warning"]
        assert not position.get("progress")
    finally:
        gate.set()
        queue.close()


def test_job_queue_held_excludes_run_of_same_bench():
    """A new run of the same bench takes the place of the former one."""
    gate.clear()
    queue = jobs.JobQueue()
    try:
        queue.submit(hold, owner="a", name="1", device="cpu")
        queue.submit(hold_another, owner="a", name="1", device="cpu")
        queue.submit(hold_another, owner="b", name="2", device="cpu")
        assert queue.held("a", besides=hold) == 1
        assert queue.held("a", besides=opened) == 2
        assert queue.held("b", besides=hold) == 1
        assert queue.held("c", besides=hold) == 0
    finally:
        gate.set()
        queue.close()
