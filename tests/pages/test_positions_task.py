"""Tiny Transformers trained on the page: one training for all that there is to see of it."""

from __future__ import annotations

import time

import numpy as np
import pytest
from looking import alerts, bench, figures
from positions_page import SLUG, drawn, figure, opened, said, shown

from seqviz import jobs
from seqviz.compute.positions import tiny
from seqviz.compute.positions.tiny.training import train
from seqviz.figures.positions.tasks import accuracies, learning_curves, learning_progress
from seqviz.models import device

# The fewest letters and one answer a sequence: some 15 seconds of one core.
LINK = {"task__task": "before", "task__letters": 6, "task__causal": True, "task__seed": 2}
PATIENCE = 300


@pytest.fixture(autouse=True)
def on_the_cpu(monkeypatch):
    monkeypatch.setenv("SEQVIZ_DEVICE", "cpu")
    device.choose.cache_clear()
    yield
    device.choose.cache_clear()


@pytest.fixture
def submitted(monkeypatch) -> list[jobs.Job]:
    """The jobs that a press of the button has put into the queue, the latest last."""
    made: list[jobs.Job] = []
    submit = jobs.Jobs.submit

    def noted(self, *args, **keywords):
        made.append(submit(self, *args, **keywords))
        return made[-1]

    monkeypatch.setattr(jobs.Jobs, "submit", noted)
    return made


def begun(page, submitted) -> jobs.Job:
    """Press the button; the page with the first accuracies."""
    page.app.get_by_key("po.task.start").click().run()
    page.healthy()
    job, last = submitted[-1], time.monotonic() + PATIENCE
    while not job.trail and time.monotonic() < last:
        time.sleep(0.1)
    page.app.run()
    page.healthy()
    return job


def test_a_training_from_the_button_to_both_views(visit, submitted):
    page = opened(visit, **LINK)
    assert not figures(bench(page.app, "task"))
    assert alerts(bench(page.app, "task"))["info"] == [page.text(f"{SLUG}.hint.train")]
    job = begun(page, submitted)
    settings = tiny.OrderSettings("before", 6, True, 2)
    growing = figures(bench(page.app, "task"))
    assert job.wait(PATIENCE)
    trail = job.trail  # the page has shown some of it while it was on the way
    steps = [drawn(page, learning_progress, trail[:end], settings)
             for end in range(1, len(trail) + 1)]  # fmt: skip
    assert len(growing) == 1
    assert growing[0] in steps
    page.app.run()
    page.healthy()
    result = job.result
    assert result.settings == settings
    check(page, result)

    # Somebody else of the class, in the other language, has it without pressing.
    other = opened(visit, "zh", task__view="curves", **LINK)
    check(other, result, learning_curves)
    assert len(submitted) == 1
    assert jobs.default(device.choose().kind).find(train, settings=settings, device="cpu") is job
    assert "figure = learning_curves(found" in other.lesson.sources()["task"]
    assert "settings=OrderSettings(" in other.lesson.sources()["task"].replace("\n", "")

    # With anything else set, nobody has trained.
    page.run(po__task__causal=False)
    assert not figures(bench(page.app, "task"))
    assert not bench(page.app, "task").metric
    page.run(po__task__causal=True)
    check(page, result)


def check(page, result, draw=accuracies) -> None:
    assert figure(page, "task") == drawn(page, draw, result)
    row = result.settings.encodings.index
    mean = {
        "task_none": result.test.accuracy[row("none")].mean(),
        "task_sinusoidal": result.test.accuracy[row("sinusoidal")].mean(),
        "task_rotary": result.test.accuracy[row("rotary")].mean(),
        "task_longer": result.longer.accuracy[row("rotary")].mean(),
    }
    assert shown(page, "task") == {name: f"{100 * v:.1f} %" for name, v in mean.items()}
    assert all(np.isfinite(value) for value in mean.values())
    caption = page.text(
        f"{SLUG}.note.task",
        runs=3,
        sequences="1,000",
        chance=f"{100 * result.test.chance:.1f} %",
        blind=f"{100 * result.test.order_blind:.1f} %",
    )
    assert caption in said(page, "task")
    assert not alerts(bench(page.app, "task"))["info"]


def test_a_cancelled_training_offers_another(visit, submitted):
    page = opened(visit, **LINK)
    job = begun(page, submitted)
    assert job.state == "running"
    page.app.get_by_key("po.task.cancel").click().run()
    assert job.wait(PATIENCE)
    page.app.run()
    page.healthy()
    assert job.state == "cancelled"
    assert alerts(bench(page.app, "task"))["info"] == [page.text(f"{SLUG}.hint.train")]
    assert page.app.get_by_key("po.task.start").label == page.text(f"{SLUG}.work.start")
    assert not figures(bench(page.app, "task"))
