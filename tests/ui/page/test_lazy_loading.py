"""Which benches a page draws when the browser will ask for the others."""

from __future__ import annotations

import threading

import pytest
from streamlit.testing.v1 import AppTest

from seqviz import jobs
from seqviz.core.i18n import Text
from seqviz.core.paths import ROOT
from seqviz.models import pretrained
from seqviz.ui.page import lazy_loading
from seqviz.ui.page import model_progress as models
from tests.sliders import sliders


@pytest.fixture
def waiting(monkeypatch):
    monkeypatch.setattr(lazy_loading.LAZY, "on", True)


go_on = threading.Event()


def hold(report) -> None:
    """A job that is in the way of what comes after it."""
    go_on.wait(60)


@pytest.fixture
def loading(vectors, minilm, monkeypatch):
    """No model is loaded, and what is asked for waits."""
    monkeypatch.setattr(jobs.queue, "_defaults", {})
    monkeypatch.setattr(pretrained, "_loaded", {})
    go_on.clear()
    jobs.queue_for(models.QUEUE).submit(hold, owner="another class")
    yield
    go_on.set()
    for job in jobs.queue_for(models.QUEUE)._active():
        assert job.wait(60)


def opened(path: str, **parameters: str) -> AppTest:
    app = AppTest.from_file(str(ROOT / "pages" / f"{path}.py"), default_timeout=120)
    for key, value in parameters.items():
        app.query_params[key.replace("__", ".")] = value
    return app.run()


def drawn(app: AppTest, code: str) -> list[str]:
    keys = (element.proto.id.split("-", 2)[-1] for element in app.get("bidi_component"))
    return [key for key in keys if key.startswith(f"{code}.") and key.endswith(".chart")]


def test_lazy_loading_draws_all_benches_when_off():
    """Without a browser, lazy loading is off."""
    assert len(drawn(opened("gates"), "ga")) >= 5


def test_lazy_loading_draws_first_bench_immediately(waiting):
    app = opened("gates")
    assert drawn(app, "ga") == ["ga.one.chart"]
    assert not app.exception


def test_lazy_loading_draws_first_bench_with_those_it_depends_on(waiting):
    app = opened("ar_fitting")
    assert drawn(app, "ar") == ["ar.by_hand.chart", "ar.process.chart"]
    assert not app.exception


def test_lazy_loading_draws_first_bench_beside_linked_card(waiting):
    app = opened("bert_accuracy", **{"ba__part": "weights"})
    assert not app.exception
    reached = app.session_state[lazy_loading.KEY][1]
    assert reached == {"guess"}  # the browser asks for the bench of the card


def test_lazy_loading_keeps_reached_benches_per_lesson(waiting):
    app = opened("gates")
    app.session_state[lazy_loading.KEY] = ("gates", frozenset({"watch", "force"}))
    assert set(drawn(app.run(), "ga")) == {f"ga.{name}.chart" for name in ("one", "watch", "force")}
    app.session_state[lazy_loading.KEY] = ("positions", frozenset({"watch", "force"}))
    assert drawn(app.run(), "ga") == ["ga.one.chart"]


def test_lazy_loading_keeps_link_settings_of_undrawn_bench(waiting):
    app = opened("gates", **{"ga__force__f": "0.25"})
    assert app.query_params["ga.force.f"] in ("0.25", ["0.25"])
    app.session_state[lazy_loading.KEY] = ("gates", frozenset({"watch", "force"}))
    assert sliders(app.run())["ga.force.f"]["value"] == "0.25"


# ------------------------------------------------------------ two benches that wait for one model
@pytest.mark.parametrize(
    ("slug", "other", "asked", "prefix", "settings"),
    [
        ("positions", "learned", "encoder", "po", {}),
    ],
)
def test_model_progress_shows_once_in_first_drawn_bench(
    waiting, loading, slug, other, asked, prefix, settings
):
    """Not "see above" where nothing above it waits; and not twice."""
    above = Text("en")("work.model_above", model="all-MiniLM-L6-v2")
    app = opened(slug, **settings)
    app.session_state[lazy_loading.KEY] = (slug, frozenset({asked}))
    app.run()
    assert app.button(key=f"{prefix}.{asked}.stop").label == Text("en")("work.cancel")
    assert above not in [box.value for box in app.info]
    app.session_state[lazy_loading.KEY] = (slug, frozenset({asked, other}))
    app.run()
    assert app.button(key=f"{prefix}.{other}.stop").label == Text("en")("work.cancel")
    assert not app.exception
    with pytest.raises(KeyError):
        app.button(key=f"{prefix}.{asked}.stop")
    assert above in [box.value for box in app.info]
