"""Training on a page: start, progress, cancel, result, one run for equal wishes."""

from __future__ import annotations

import os
import subprocess
import sys
import time

import numpy as np
import pytest
from looking import alerts, bench, figures

from seqviz import jobs
from seqviz.compute import autoregression as ar
from seqviz.compute.autoregression.network_settings import NetworkSettings
from seqviz.compute.autoregression.networks import fit_network
from seqviz.models import device
from seqviz.text import ASSETS, number
from seqviz.ui.bench import job_progress

SLUG = "ar_fitting"
OWN = {"ar__networks__preset": "own", "ar__networks__cell": "mlp", "ar__networks__epochs": "50"}


@pytest.fixture(autouse=True)
def on_the_cpu(monkeypatch):
    """The numbers below are the CPU's, whatever else this machine has."""
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


def finished(page, job: jobs.Job) -> None:
    """Wait for the work as the browser does, which asks again until it has ended."""
    assert job.wait(60), "the run does not end"
    page.app.run()
    page.healthy()


def shown(page, key: str) -> tuple[str, str]:
    label = page.text(f"{SLUG}.metric.{key}.label")
    ((value, beside),) = (
        (m.value, m.delta) for m in bench(page.app, "networks").metric if m.label == label
    )
    return value, beside


def test_a_run_of_ones_own_scores_on_data_held_out(visit, submitted):
    page = visit(SLUG, ar__networks__hidden="4", ar__networks__seed="3", **OWN)
    assert not figures(bench(page.app, "networks"))
    page.app.get_by_key("ar.networks.start").click().run()
    finished(page, submitted[-1])
    values = ar.simulate((0.8,), n=500, seed=1).values
    settings = NetworkSettings(
        "mlp", hidden=4, epochs=50, learning_rate=0.01, train=0.6, validation=0.2, seed=3
    )
    fitted = fit_network(values, settings)
    assert shown(page, "network_mse") == (
        number(fitted.test_mse), page.text(f"{SLUG}.metric.network_mse.split"),
    )  # fmt: skip
    assert shown(page, "parameters")[0] == f"{fitted.parameters:,}"
    # least squares on the same training data (the first 60 % of the targets), scored on the same
    # last 20 %
    known = values[: 1 + round(0.6 * 499)]
    phi = float(known[1:] @ known[:-1] / (known[:-1] @ known[:-1]))
    error = np.mean((values[1:] - phi * values[:-1])[fitted.validation_end :] ** 2)
    assert shown(page, "ols_mse")[0] == number(float(error))
    (loss,) = figures(bench(page.app, "networks"))
    names = [trace["name"] for trace in loss["data"]]
    assert page.text("figure.validation_loss", cell="MLP") in names
    said = [m.value for m in bench(page.app, "networks").markdown]
    verdicts = [
        page.text(f"{SLUG}.note.split_{v}").split("{")[0] for v in ("under", "over", "even")
    ]
    assert any(sentence.startswith(tuple(verdicts)) for sentence in said)


def test_the_three_views_of_a_trained_network_and_their_code(visit, submitted):
    page = visit(SLUG, ar__networks__hidden="2", **OWN)
    page.app.get_by_key("ar.networks.start").click().run()
    finished(page, submitted[-1])
    specs = []
    for view in ("loss", "map", "predictions"):
        page.run(ar__networks__view=view)
        (spec,) = figures(bench(page.app, "networks"))
        specs.append(spec["layout"]["meta"]["alt"])
        space: dict = {}
        exec(page.lesson.sources()["networks"], space)  # trains again, 50 epochs
        assert space["figure"].layout.meta["alt"] == specs[-1]
        assert not alerts(bench(page.app, "networks"))["info"]
    assert len(set(specs)) == 3


def test_equal_wishes_cost_one_run(visit, submitted):
    """The second visitor with the same settings sees the result without pressing."""
    link = {**OWN, "ar__networks__hidden": "8", "ar__networks__seed": "17"}
    first = visit(SLUG, **link)
    first.app.get_by_key("ar.networks.start").click().run()
    finished(first, submitted[-1])
    second = visit(SLUG, "zh", **link)
    assert len(figures(bench(second.app, "networks"))) == 1
    assert shown(second, "network_mse")[0] == shown(first, "network_mse")[0]
    other = visit(SLUG, **{**link, "ar__networks__seed": "18"})
    assert not figures(bench(other.app, "networks"))


LONG = {"ar__networks__preset": "own", "ar__networks__cell": "lstm", "ar__networks__layers": "3",
        "ar__networks__epochs": "1000", "ar__networks__hidden": "64"}  # fmt: skip


def test_a_run_shows_its_progress_and_can_be_cancelled(visit, submitted):
    page = visit(SLUG, ar__networks__seed="99", **LONG)
    page.app.get_by_key("ar.networks.start").click().run()
    assert submitted[-1].state in job_progress.ACTIVE
    page.app.run()
    page.healthy()
    (bar,) = bench(page.app, "networks").get("progress")
    before = page.text("work.running").split("{")[0]
    assert bar.text.startswith(before)
    assert "ar.networks.start" not in [b.key for b in page.app.button]
    page.app.get_by_key("ar.networks.cancel").click().run()
    finished(page, submitted[-1])
    assert submitted[-1].state == "cancelled"
    assert page.app.get_by_key("ar.networks.start")
    assert not bench(page.app, "networks").get("progress")


def test_the_queue_tells_the_place_and_when_it_is_full(visit):
    """The worker is busy with somebody else's run, and others wait before this visitor."""
    worker = jobs.default("cpu")
    values = ar.simulate((0.8,), n=1000, seed=0).values
    waiting = []
    try:
        places = 0
        for seed in range(1000, 1100):
            if waiting and waiting[0][0].state == "queued":
                time.sleep(0.02)  # until the worker has taken the first one, its place is not free
            settings = NetworkSettings("lstm", hidden=64, layers=3, epochs=1000, seed=seed)
            try:
                job = worker.submit(
                    fit_network, owner=f"v{seed}", values=values, settings=settings, device="cpu"
                )
                waiting.append((job, f"v{seed}"))
            except jobs.QueueFull as full:
                places = full.waiting
                if waiting[0][0].state == "running":
                    break
        assert places > 5
        page = visit(SLUG, ar__networks__seed="98", **LONG)
        page.app.get_by_key("ar.networks.start").click().run()
        page.healthy()
        sentence = page.text("problem.queue_full", waiting=places)
        assert sentence in alerts(bench(page.app, "networks"))["warning"]
        job, owner = waiting.pop()
        job.leave(owner)
        page.app.get_by_key("ar.networks.start").click().run()
        page.healthy()
        (bar,) = bench(page.app, "networks").get("progress")
        assert bar.text == page.text("work.queued", position=places)
        page.app.get_by_key("ar.networks.cancel").click().run()
    finally:
        for job, owner in waiting:
            job.leave(owner)
    assert all(job.wait(20) for job, _ in waiting)


@pytest.mark.parametrize("phi", ["1", "1.1", "-1.2"])
def test_what_is_not_stationary_is_not_trained(visit, phi):
    page = visit(SLUG, ar__process__phi=phi, **OWN)
    assert alerts(bench(page.app, "networks"))["warning"] == [
        page.text(f"{SLUG}.problem.train_stationary")
    ]
    assert "ar.networks.start" not in [b.key for b in page.app.button]


LOOK = """
import sys
from streamlit.testing.v1 import AppTest
app = AppTest.from_file("app.py", default_timeout=60).run()
app.switch_page("pages/ar_fitting.py").run()
assert not app.exception and not app.error
assert app.get("metric")
print(sorted({"torch", "transformers"} & set(sys.modules)))
"""


def test_looking_at_a_lesson_does_not_load_torch():
    """Whether somebody has trained already must not cost the first visitor two seconds."""
    done = subprocess.run(
        [sys.executable, "-c", LOOK], cwd=ASSETS.parent, capture_output=True, text=True,
        timeout=120, env={**os.environ, "PYTHONPATH": str(ASSETS.parent)},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    assert done.stdout.split() == ["[]"]
