"""The lesson on accuracy on its page: what is not here, jobs beside shipped results, links."""

from __future__ import annotations

import re
import time

import pytest

from seqviz import jobs
from seqviz.core.i18n import LANGUAGES
from seqviz.data import precomputed
from seqviz.experiments.bert_accuracy import features, heads, systems
from seqviz.lessons.bert_accuracy.lesson import lesson
from seqviz.lessons.framework import controls
from seqviz.lessons.framework.output import Chart
from seqviz.models import device, pretrained
from tests.pages.page_assertions import alerts, bench, figures
from tests.tiers import first_only

SLUG = "bert_accuracy"
EACH = pytest.mark.parametrize("lang", first_only(LANGUAGES))
PATIENCE = 120
NEED_MODEL = {"guess", "modes"}  # these have nothing to show without MiniLM
JOBS = ("knife", "fill", "padding", "looks", "tune", "search")


def badge(page, name: str) -> str:
    """Where the numbers of a bench's figure come from."""
    messages = [element.value for element in bench(page.app, name).get("markdown")]
    messages += [element.value for element in bench(page.app, name).get("caption")]
    (result,) = filter(None, (re.match(r":\w+-badge\[(.*)\]", words) for words in messages))
    return result[1]


def to_start(page, name: str) -> str:
    """The label of the button that starts the work of a bench."""
    return page.app.button(key=f"ba.{name}.start").label


@pytest.fixture
def on_the_cpu(monkeypatch):
    """The numbers below are the CPU's, whatever else this machine has."""
    monkeypatch.setenv("SEQVIZ_DEVICE", "cpu")
    device.choose.cache_clear()
    yield
    for queue in jobs.queue._defaults.values():
        queue.close(30)  # nothing goes on after the test
    device.choose.cache_clear()


# ------------------------------------------------------------------------- a machine without all
@EACH
def test_page_without_model_shows_dated_precomputed_results(visit, vectors, nowhere, lang):
    page = visit(SLUG, lang)
    kind = page.text("frame.precomputed")
    for name in page.lesson.benches:
        boxes = alerts(bench(page.app, name))
        assert len(boxes["warning"] + boxes["info"]) == (name in NEED_MODEL), name
        assert len(figures(bench(page.app, name))) == (name not in NEED_MODEL), name
    for name in (*JOBS, "heads", "compare"):
        assert re.search(rf"{kind} · 20\d\d-\d\d-\d\d · \S", badge(page, name)), name
    for name, declaration in page.lesson.benches.items():  # and every other shipped view
        views = dict(controls.controls(declaration)).get("view")
        for view in set(views.options if views else ()) - {"own", "tokens"}:
            (chart,) = lesson.benches[name].run({"view": view}, lang).of(Chart)
            assert chart.provenance.kind == "precomputed", (name, view)
    assert not pretrained.loaded("minilm")


@EACH
def test_page_reports_missing_result_in_one_bench(visit, monkeypatch, tmp_path, lang):
    """A broken installation: the others are computed on demand, the page stays whole."""
    monkeypatch.setattr(precomputed, "FOLDER", tmp_path)
    for remembered in (precomputed._read, systems.answers, heads.standard_head):
        remembered.cache_clear()
    try:
        page = visit(SLUG, lang)
        assert alerts(bench(page.app, "compare"))["warning"] == page.warned()
        assert len(page.warned()) == 1
        for name in JOBS:
            hint = page.text(f"{SLUG}.hint.train")
            assert alerts(bench(page.app, name))["info"] == [hint], name
            assert to_start(page, name) == page.text(f"{SLUG}.work.start")
        assert len(figures(bench(page.app, "count"))) == 1
    finally:
        monkeypatch.undo()
        for remembered in (precomputed._read, systems.answers, heads.standard_head):
            remembered.cache_clear()


@EACH
def test_heads_bench_waits_for_sentence_vectors(vectors, monkeypatch, lang):
    """The vectors of the sentences are not here yet: what is shipped stays, the rest waits."""
    monkeypatch.setattr(features, "ready", lambda model: False)
    (chart,) = lesson.benches["heads"].run(language=lang).of(Chart)
    assert chart.provenance.kind == "precomputed"
    own = {"view": "own"}  # the standard head is shipped: own sentences need no vectors
    assert lesson.benches["knife"].run(own, lang).figure is not None
    monkeypatch.setattr(heads, "has_standard_head", lambda model, feature="mean": False)
    waits = lesson.benches["heads"].run({"feature": "cls", "epochs": 7}, lang)
    assert waits.figure is None
    assert waits.waits
    assert waits.notes


# --------------------------------------------------------------------------------------------- jobs
def test_training_job_keeps_shipped_figure_and_restores_on_cancel(visit, on_the_cpu, monkeypatch):
    """It reports a curve; the shipped one stays whole meanwhile, and cancel gives all back."""
    built: list[jobs.Job] = []
    submit = jobs.JobQueue.submit
    monkeypatch.setattr(
        jobs.JobQueue,
        "submit",
        lambda *args, **keys: built.append(submit(*args, **keys)) or built[-1],
    )
    page = visit(SLUG)
    for name in JOBS:
        assert to_start(page, name) == page.text("bert_accuracy.work.anew"), name
    before = figures(bench(page.app, "tune"))
    page.app.get_by_key("ba.tune.start").click().run()
    job, last = built[-1], time.monotonic() + PATIENCE
    while not job.trail and time.monotonic() < last:
        time.sleep(0.05)
    page.run(ba__knife__share=80)  # the rest answers
    assert figures(bench(page.app, "tune"))[-1:] == before
    assert len(bench(page.app, "tune").get("progress")) == 1
    assert page.text("frame.precomputed") in badge(page, "tune")
    page.app.get_by_key("ba.tune.cancel").click().run()
    assert job.wait(PATIENCE)
    page.run()
    assert job.state == "cancelled"
    assert figures(bench(page.app, "tune")) == before
    assert to_start(page, "tune") == page.text("bert_accuracy.work.anew")


# -------------------------------------------------------------------------------------------- links
@pytest.mark.parametrize(
    ("query", "opened"),
    [
        ({}, set()),
        ({"ba.looks.sentences": "500"}, set()),
        ({"ba.compare.view": "paired"}, {"compare"}),
        # links of the time when the page had tabs: they name a tab, or a bench in it
        ({"ba.part": "weights", "ba.knife.share": "80"}, {"heads"}),
        ({"ba.part": "tune"}, {"tune"}),
        ({"ba.part": "weights", "ba.count.regime": "all"}, {"heads", "count"}),
        ({"ba.part": "padding"}, set()),
        ({"ba.part": "<script>", "ba.search.budget": "6"}, {"search"}),
        ({"ba.part": "Weights", "ba.nowhere.x": "1"}, set()),
        ({"ba.nowhere": "1", "ba.": "2", "ba": "3", "bas.heads.x": "4"}, set()),
        ({"po.part": "weights"}, set()),
    ],
)
def test_link_opens_card_of_its_bench(visit, monkeypatch, query, opened):
    def opens() -> set[str]:
        return {name for name in page.lesson.benches if name not in lesson.core
                and page.app.get_by_key(f"card-{name}").proto.expanded}  # fmt: skip

    monkeypatch.setenv("SEQVIZ_GUIDED", "1")
    page = visit(SLUG, **query)
    assert opens() == opened
    page.run(ba__count__regime="all", ba__padding__side="left")  # the hand decides from then on
    assert opens() == opened
