"""A training that hangs, raises or runs out of memory in the middle: what its students see."""

from __future__ import annotations

import threading

import pytest
import torch

from seqviz import jobs
from seqviz.core.i18n import LANGUAGES
from seqviz.ui.page import job_progress
from tests.fakes import FakeClock
from tests.pages.page_assertions import alerts, bench, figures

SLUG = "ar_fitting"
OWN = {"ar__networks__preset": "own", "ar__networks__cell": "mlp", "ar__networks__epochs": "50"}
LONG = 60.0  # seconds; a bound that is reached only when something hangs for good


@pytest.fixture
def clock(monkeypatch) -> FakeClock:
    """What the queue goes by."""
    fake_clock = FakeClock()
    monkeypatch.setattr(jobs.queue, "_defaults", {"cpu": jobs.JobQueue(clock=fake_clock)})
    return fake_clock


def press(page) -> None:
    page.app.get_by_key("ar.networks.start").click().run()
    page.healthy()


def offered(page, kind: str, sentence: str) -> None:
    """The bench says why there is no figure and offers the start; the others are whole."""
    assert sentence in alerts(bench(page.app, "networks"))[kind]
    assert page.app.get_by_key("ar.networks.start").label == page.text("work.start")
    assert not figures(bench(page.app, "networks"))
    assert not page.app.exception
    for name in set(page.lesson.benches) - {"networks"}:
        position = bench(page.app, name)
        assert figures(position), name
        assert not alerts(position)["error"], name


def class_of(visit, seed: int) -> list:
    """Two students with the same settings, one in each language."""
    return [visit(SLUG, lang, ar__networks__seed=str(seed), **OWN) for lang in LANGUAGES]


def ended() -> None:
    """Wait until nothing waits or runs any more."""
    for job in jobs.queue_for("cpu")._active():
        assert job.wait(LONG)


def trained(page) -> None:
    """The page has the figure of the training."""
    page.app.run()
    page.healthy()
    assert figures(bench(page.app, "networks"))


def test_training_that_hangs_times_out_and_next_job_runs(visit, at_each_update, clock, gate):
    stuck, there = threading.Event(), threading.Lock()

    def hang() -> None:
        with there:
            first = not stuck.is_set()
            stuck.set()
        if first:
            gate.wait(10 * LONG)

    at_each_update(hang)
    pair, after = class_of(visit, 3), visit(SLUG, ar__networks__seed="4", **OWN)
    for page in pair:
        press(page)
    (job,) = jobs.queue_for("cpu")._active()
    assert job.owners == 2
    press(after)
    (bar,) = bench(after.app, "networks").get("progress")
    assert bar.text == after.text("work.queued", position=1)
    assert stuck.wait(LONG)
    for seconds in (70, 51):  # two minutes and a second, in which the browsers poll
        assert job.state == "running"
        clock.now += seconds
        for page in (pair[0], after):
            page.app.run()
            page.healthy()
    for page in pair:
        page.app.run()
        offered(page, "warning", page.text("problem.job_hung", seconds="120"))

    # Who was behind it has what he asked for, though the hung thread is still there.
    ended()
    trained(after)
    assert jobs.queue_for("cpu").left_behind == 1

    # Pressed again, it runs; when the hung one comes back, nobody notices.
    press(pair[0])
    gate.set()
    ended()
    for page in pair:
        trained(page)
    assert job.state == "failed"


def test_training_that_ends_during_progress_draw_shows_result(
    visit, at_each_update, monkeypatch, gate
):
    """It is running when the bench looks, and done before the bench is drawn to its end."""

    def after_the_first_epoch() -> None:
        if jobs.queue_for("cpu")._running.trail:
            gate.wait(LONG)

    at_each_update(after_the_first_epoch)
    page = visit(SLUG, ar__networks__seed="8", **OWN)
    press(page)
    (job,) = jobs.queue_for("cpu")._active()
    while not job.trail:
        assert not job.wait(0.01)
    draw = job_progress.render

    def drawn(*arguments, **keywords):
        picture = draw(*arguments, **keywords)
        gate.set()
        assert job.wait(LONG)
        return picture

    monkeypatch.setattr(job_progress, "render", drawn)
    page.app.run()
    page.healthy()
    assert job.state == "done"
    trained(page)


def fails_for_all(pair, kind: str, words: str) -> None:
    """One starts it, both read why it ended."""
    pair[0].app.get_by_key("ar.networks.start").click().run()
    ended()
    for page in pair:
        page.app.run()
        offered(page, kind, page.text(words))


def works_for_all(pair) -> None:
    """The other starts it again, both have it."""
    pair[1].app.get_by_key("ar.networks.start").click().run()
    ended()
    for page in pair:
        trained(page)


def test_training_that_raises_reports_error_to_all_owners(visit, at_each_update, caplog):
    """A run that raises is reported to all its students, logged once, and can be run again."""
    broken: list[int] = []

    def fail() -> None:
        if not broken:
            broken.append(1)
            raise RuntimeError("something nobody has thought of")

    at_each_update(fail)
    pair = class_of(visit, 5)
    fails_for_all(pair, "error", "frame.failed")
    payloads = [record for record in caplog.records if record.name.startswith("seqviz.jobs")]
    assert [record.getMessage() for record in payloads] == ["jobs: run failed: fit_network"]  # once
    works_for_all(pair)


def more_than_any_machine_has() -> None:
    torch.empty(10**15)  # 4 PB


def what_a_full_gpu_raises() -> None:
    raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 20.00 MiB.")


@pytest.mark.parametrize("ask", [more_than_any_machine_has, what_a_full_gpu_raises])
def test_training_out_of_memory_warns_all_owners_and_can_rerun(visit, at_each_update, ask):
    """The machine's memory really ends; of the GPU only the error is real, there is none here."""
    full = [True]
    at_each_update(lambda: full and full.pop() and ask())
    pair = class_of(visit, 6)
    fails_for_all(pair, "warning", "problem.job_no_memory")
    works_for_all(pair)
