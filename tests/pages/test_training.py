"""Training on a page: start, progress, cancel, result, one run for equal wishes."""

from __future__ import annotations

import os
import subprocess
import sys
import time

import numpy as np
import pytest

from seqviz import jobs
from seqviz.compute import ar_fitting as ar
from seqviz.compute.ar_fitting.network_settings import NetworkSettings
from seqviz.compute.ar_fitting.networks import fit_network
from seqviz.core.i18n import ASSETS, Text, number
from seqviz.figures.ar_fitting.training import (
    loss_of_fit,
)
from seqviz.lessons.ar_fitting.lesson import lesson
from seqviz.ui.page import job_progress
from tests.pages.page_assertions import alerts, bench, figures
from tests.pages.scenes import Scene, check, words_of

SLUG = "ar_fitting"
OWN = {"preset": "own", "cell": "mlp", "epochs": 50}


pytestmark = pytest.mark.usefixtures("on_the_cpu")  # the numbers below are the CPU's


def settled(hidden: int, seed: int) -> tuple[np.ndarray, NetworkSettings]:
    """What the bench trains with `OWN`, these units and this seed: series and settings."""
    settings = NetworkSettings(
        "mlp", hidden=hidden, epochs=50, learning_rate=0.01, train=0.6, validation=0.2, seed=seed
    )
    return ar.simulate((0.8,), n=500, seed=1).values, settings


def test_networks_bench_scores_own_run_on_held_out_data():
    values, settings = settled(4, 3)
    fitted = fit_network(values, settings)
    # least squares on the same training data (the first 60% of the targets), scored on the same
    # last 20%
    existing = values[: 1 + round(0.6 * 499)]
    phi = float(existing[1:] @ existing[:-1] / (existing[:-1] @ existing[:-1]))
    errors = (values[1:] - phi * values[:-1])[fitted.validation_end :]
    networks = Scene("networks", {**OWN, "hidden": 4, "seed": 3}, loss_of_fit, train=True,
                     readouts=("network_mse", "ols_mse", "floor", "parameters"))  # fmt: skip
    out = check(lesson, networks)
    read = {name: (readout.value, readout.caption) for name, readout in out.readouts.items()}
    where = Text("en")(f"{SLUG}.metric.network_mse.split")
    assert read["network_mse"] == (number(fitted.test_mse), where)
    assert read["ols_mse"] == (number(float(np.mean(errors**2))), where)
    assert read["parameters"][0] == f"{fitted.parameters:,}"
    verdicts = [words_of(lesson, f"note.split_{v}", "en") for v in ("under", "over", "even")]
    assert sum(any(verdict.fullmatch(note) for verdict in verdicts) for note in out.notes) == 1


def test_networks_bench_reuses_equal_run(visit):
    """Whoever comes with the settings of a run that somebody has made sees its result at once."""
    values, settings = settled(8, 17)
    job = jobs.queue_for("cpu").submit(
        fit_network, owner="another", values=values, settings=settings, device="cpu"
    )
    assert job.wait(60)
    link = {f"ar__networks__{name}": str(value) for name, value in OWN.items()}
    page = visit(SLUG, "zh", **link, ar__networks__hidden="8", ar__networks__seed="17")
    network = bench(page.app, "networks")
    assert len(figures(network)) == 1
    assert network.metric[0].value == number(job.result.test_mse)
    page.run(ar__networks__seed=18)
    assert not figures(bench(page.app, "networks"))


LONG = {"ar__networks__preset": "own", "ar__networks__cell": "lstm", "ar__networks__layers": "3",
        "ar__networks__epochs": "1000", "ar__networks__hidden": "64"}  # fmt: skip


def test_networks_bench_shows_progress_and_cancels(visit):
    page = visit(SLUG, ar__networks__seed="99", **LONG)
    page.app.get_by_key("ar.networks.start").click().run()
    (job,) = jobs.queue_for("cpu")._active()
    assert job.state in job_progress.ACTIVE
    page.app.run()
    page.healthy()
    (bar,) = bench(page.app, "networks").get("progress")
    assert bar.text.startswith(page.text("work.running").split("{")[0])
    assert "ar.networks.start" not in [b.key for b in page.app.button]
    page.app.get_by_key("ar.networks.cancel").click().run()
    assert job.wait(60), "the run does not end"
    page.run()  # as the browser does, which asks again until it has ended
    assert job.state == "cancelled"
    assert page.app.get_by_key("ar.networks.start")
    assert not bench(page.app, "networks").get("progress")


def test_networks_bench_reports_queue_position_and_full_queue(visit):
    """The worker is busy with somebody else's run, and others wait before this visitor."""
    worker = jobs.queue_for("cpu")
    values = ar.simulate((0.8,), n=1000, seed=0).values
    waiting = []
    try:
        positions = 0
        for seed in range(1000, 1100):
            if waiting and waiting[0][0].state == "queued":
                time.sleep(0.02)  # until the worker has taken the first one, its place is not free
            settings = NetworkSettings("lstm", hidden=64, layers=3, epochs=1000, seed=seed)
            try:
                job = worker.submit(
                    fit_network, owner=f"v{seed}", values=values, settings=settings, device="cpu"
                )
                waiting.append((job, f"v{seed}"))
            except jobs.QueueFullError as full:
                positions = full.waiting
                if waiting[0][0].state == "running":
                    break
        assert positions > 5
        page = visit(SLUG, ar__networks__seed="98", **LONG)
        page.app.get_by_key("ar.networks.start").click().run()
        page.healthy()
        sentence = page.text("problem.queue_full", waiting=positions)
        assert sentence in alerts(bench(page.app, "networks"))["warning"]
        job, owner = waiting.pop()
        job.unsubscribe(owner)
        page.app.get_by_key("ar.networks.start").click().run()
        page.healthy()
        (bar,) = bench(page.app, "networks").get("progress")
        assert bar.text == page.text("work.queued", position=positions)
        page.app.get_by_key("ar.networks.cancel").click().run()
    finally:
        for job, owner in waiting:
            job.unsubscribe(owner)
    assert all(job.wait(20) for job, _ in waiting)


LOOK = """
import sys
from streamlit.testing.v1 import AppTest
app = AppTest.from_file("app.py", default_timeout=60).run()
app.switch_page("pages/ar_fitting.py").run()
assert not app.exception and not app.error
assert app.get("metric")
print(sorted({"torch", "transformers"} & set(sys.modules)))
"""


def test_lesson_visit_imports_no_torch():
    """Whether somebody has trained already must not cost the first visitor two seconds."""
    done = subprocess.run(
        [sys.executable, "-c", LOOK], cwd=ASSETS.parent, capture_output=True, text=True,
        timeout=120, env={**os.environ, "PYTHONPATH": str(ASSETS.parent)},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    assert done.stdout.split() == ["[]"]


@pytest.mark.parametrize(("watchers", "seconds"), [(1, 0.2), (10, 0.2), (20, 0.4), (300, 0.6)])
def test_a_class_asks_for_a_running_training_less_often_than_a_reader(watchers, seconds):
    """Each page draws its own figure: a class would leave nothing for the training."""
    assert job_progress.seconds_between_polls(watchers) == pytest.approx(seconds)
