"""The lesson on attention: several visitors, and models that are not there."""

from __future__ import annotations

import hashlib

import pytest
from attention_page import ENCODER, MODEL_BENCHES, figure, opened, shown
from looking import alerts, bench, figures

from seqviz import jobs
from seqviz.models import pretrained
from seqviz.ui.bench import model_progress
from seqviz.ui.shared import caching

LONG = "Once upon a time there was a king. " * 24  # 30 layers of it take seconds


# ------------------------------------------------------------------------- visitors side by side
def fingerprint(model) -> str:
    found = hashlib.sha256()
    for name, value in sorted(model.network.state_dict().items()):
        found.update(name.encode() + value.cpu().numpy().tobytes())
    return found.hexdigest()


def test_the_heads_that_one_visitor_has_off_are_on_for_another(visit, minilm):
    """In turns, in one process, and computed afresh each time: nothing may hide in the cache."""
    before = fingerprint(minilm)
    wishes = ("", "0.0 0.1 0.2 0.3 5.4", " ".join(f"3.{head}" for head in range(12)))
    pages = [opened(visit, "zh", ablate__off=off, masks__kind=kind)
             for off, kind in zip(wishes, ("own", "reverse", "diagonal"), strict=True)]  # fmt: skip
    known = [everything(page) for page in pages]
    assert len({str(one["ablate"]) for one in known}) == len(wishes)
    assert len({str(one["masks"]) for one in known}) == len(wishes)
    for name in ("real", "apart"):  # what the untouched model says is the same for all
        assert known[0][name] == known[1][name] == known[2][name]
    for page, wanted in (*zip(pages, known, strict=True), (pages[0], known[0])):
        caching.shelves.cache_clear()
        page.run()
        assert everything(page) == wanted
    assert fingerprint(minilm) == before


def everything(page) -> dict[str, tuple]:
    """Read-outs and figures of the benches that use the model."""
    return {name: (shown(page, name), figures(bench(page.app, name))) for name in MODEL_BENCHES}


# ------------------------------------------------------------------------ a model that is not here
@pytest.fixture
def nowhere(minilm, smollm2, monkeypatch, tmp_path):
    """Nothing is loaded, the cache is empty, and no source answers. Call it: all is well again."""
    with monkeypatch.context() as patch:
        patch.setattr(pretrained, "_loaded", {})
        patch.setenv("SEQVIZ_CACHE", str(tmp_path / "cache"))
        patch.setenv("HF_HUB_OFFLINE", "1")
        patch.setenv("PIP_NO_INDEX", "1")
        patch.delenv("PIP_FIND_LINKS", raising=False)
        yield patch.undo


def waits(page, model: str) -> None:
    """The bench that leads says why there is no model, the others that they have none."""
    assert not page.app.error
    assert not page.app.exception
    sentence = page.text("problem.unreachable", model=model, name="@").split("@")[0]
    (warning,) = page.warned()
    assert warning.replace("\\", "").startswith(sentence.replace("\\", ""))
    assert alerts(bench(page.app, "real"))["warning"] == [warning]
    assert not figures(bench(page.app, "real"))
    for name in MODEL_BENCHES[1:]:
        assert alerts(bench(page.app, name))["info"] == [
            page.text("work.model_stopped", model=model)
        ]
        assert not figures(bench(page.app, name))
        assert not bench(page.app, name).metric
    for name in ("by_hand", "scale"):
        assert len(figures(bench(page.app, name))) == 1
    assert page.app.button(key="at.real.again").label == page.text("work.again")


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_a_model_that_cannot_be_had_leaves_the_rest_whole(visit, nowhere, tmp_path, lang):
    page = opened(visit, lang)
    waits(page, "all-MiniLM-L6-v2")
    before = figure(page, "by_hand")
    page.run(at__by_hand__stage=7, at__scale__keys=128)
    assert figure(page, "by_hand") != before
    waits(page, "all-MiniLM-L6-v2")
    assert len(figures(visit("gates").app)) == 6
    left = [path.name for path in (tmp_path / "cache").rglob("*") if path.is_file()]
    assert all(name.endswith(".lock") for name in left)  # nothing half-written


def test_trying_again_fails_again_or_brings_the_model(visit, nowhere):
    page = opened(visit)
    waits(page, "all-MiniLM-L6-v2")
    page.app.button(key="at.real.again").click().run()
    page.served()
    waits(page, "all-MiniLM-L6-v2")
    nowhere()
    pretrained._loaded.pop("minilm")  # it is on this machine, but has to be loaded anew
    page.app.button(key="at.real.again").click().run()
    page.served()
    page.healthy()
    assert not page.warned()
    for name in MODEL_BENCHES:
        assert len(figures(bench(page.app, name))) == 1
    assert pretrained.loaded("minilm")


# -------------------------------------------------------------------------------- the stop button
def test_a_stopped_reading_leaves_the_page_usable(visit):
    page = opened(visit)
    for key, value in {"model": "smollm2", "decoder": LONG}.items():
        page.app.session_state[f"at.real.{key}"] = value
    page.app.run()
    (job,) = jobs.default(model_progress.QUEUE)._active()
    title = "SmolLM2-135M-Instruct"
    for name in MODEL_BENCHES[1:]:
        assert alerts(bench(page.app, name))["info"] == [page.text("work.model_above", model=title)]
    page.app.button(key="at.real.stop").click().run()
    assert job.wait(10)
    assert job.state == "cancelled"
    page.run()
    assert alerts(bench(page.app, "real"))["info"] == [page.text("work.model_stopped", model=title)]
    assert not jobs.default(model_progress.QUEUE)._active()
    page.run(at__by_hand__stage=4, at__real__layer=2)  # it stays stopped whatever is touched
    assert not jobs.default(model_progress.QUEUE)._active()
    page.run(at__real__model="minilm", at__real__encoder=ENCODER)
    for name in MODEL_BENCHES:
        assert len(figures(bench(page.app, name))) == 1
    page.run(at__real__model="smollm2", at__real__decoder="A short one")  # read at once
    assert len(figures(bench(page.app, "real"))) == 1


def test_two_visitors_wait_for_one_reading(visit):
    pages = [opened(visit), opened(visit, "zh")]
    text = LONG + "The end."
    for page in pages:
        page.app.session_state["at.real.model"] = "smollm2"
        page.app.session_state["at.real.decoder"] = text
        page.app.run()
    (job,) = jobs.default(model_progress.QUEUE)._active()
    assert job.owners == 2
    pages[0].app.button(key="at.real.stop").click().run()
    assert job.state == "running"  # the other one still waits for it
    pages[1].served()
    assert job.state == "done"
    pages[1].healthy()
    assert len(figures(bench(pages[1].app, "real"))) == 1
