"""The lesson on vanishing gradients: sentences too short, a small race, links to every control."""

from __future__ import annotations

from urllib.parse import parse_qs, urlsplit

import pytest
from looking import alerts, bench, figures, walk
from test_vanishing_gradients import SLUG, note, option, said

from seqviz import jobs
from seqviz.compute import bptt, recall
from seqviz.compute.bptt import Experiment
from seqviz.models import device
from seqviz.text import LANGUAGES


# ------------------------------------------------------------------------------ sentences too short
@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("text", ["flights", "", "   ", "two words"])
def test_a_sentence_too_short_is_one_warning_where_it_is_read(visit, lang, text):
    """On the bench with the sentence and the two that study the same network; nowhere else."""
    page = visit(SLUG, lang, vg__reach__signal="sentence")
    assert len(figures(bench(page.app, "reach"))) == 1
    page.run(vg__reach__sentence=text)
    warning = page.text("problem.short_sentence")
    for name in ("reach", "pairs", "cut"):
        assert alerts(bench(page.app, name))["warning"] == [warning]
        assert not figures(bench(page.app, name))
        assert not bench(page.app, name).metric
    for name in ("paths", "back", "gates"):
        assert len(figures(bench(page.app, name))) == 1
    assert page.warned() == 3 * [warning]


@pytest.mark.parametrize("text", ["the cat sat", "我爱你"])
def test_the_shortest_sentence_that_can_be_read(visit, text):
    page = visit(SLUG, vg__reach__signal="sentence", vg__reach__sentence=text)
    assert not page.warned()
    words = bptt.reach(
        Experiment("rnn", 100, 32, "gaussian", 0.9, 1.0, 1.0, "sentence", text)
    ).labels
    (figure,) = figures(bench(page.app, "reach"))
    assert tuple(figure["layout"]["xaxis"]["ticktext"]) == words
    assert len(words) == 2


# --------------------------------------------------------------------------------------- the race
@pytest.fixture
def on_the_cpu(monkeypatch):
    """The numbers below are the CPU's, whatever else this machine has."""
    monkeypatch.setenv("SEQVIZ_DEVICE", "cpu")
    device.choose.cache_clear()
    yield
    device.choose.cache_clear()


@pytest.mark.parametrize(("lang", "task"), [("en", "first"), ("zh", "adding")])
def test_a_small_race(visit, on_the_cpu, lang, task):
    suffix = "" if task == "first" else "_adding"
    page = visit(
        SLUG, lang, vg__race__task=task, vg__race__delay="2", vg__race__cells="gru+rnn",
        vg__race__hidden="8", vg__race__seed="3",
        **{f"vg.race.updates{suffix}": "100", f"vg.race.rate{suffix}": "0.003"},
    )  # fmt: skip
    assert alerts(bench(page.app, "race"))["info"] == [page.text(f"{SLUG}.hint.train")]
    page.app.get_by_key("vg.race.start").click().run()
    page.healthy()
    settings = recall.RecallSettings(
        task, 2, ("rnn", "gru"), 8, updates=100, learning_rate=0.003,
        forget_bias=4.0 if task == "first" else 2.0, seed=3,
    )  # fmt: skip
    job = jobs.default("cpu").find(recall.compare, settings=settings, device="cpu")
    assert job is not None, "the button has started another race"
    assert job.wait(50)
    page.run()
    again = recall.compare(settings)
    box = bench(page.app, "race")
    assert len(figures(box)) == 1
    assert not any(alerts(box).values())
    wanted = []
    for cell, accuracy, first in zip(
        settings.cells, again.accuracy[-1], again.first_learned_update, strict=True
    ):
        key = "never" if first < 0 else "at"
        wanted.append(
            (
                page.text(f"{SLUG}.metric.learned_{cell}.label"),
                f"{100 * accuracy:.1f} %",
                page.text(f"{SLUG}.metric.learned.{key}", update=first),
            )
        )
    assert [(m.label, m.value, m.delta) for m in box.metric] == wanted
    names = {ok: [] for ok in (True, False)}
    for cell, ok in zip(settings.cells, again.learned, strict=True):
        names[bool(ok)].append(option(page, "cells", cell))
    key = "race_none" if not names[True] else "race_won" if names[False] else "race_all"
    words = {"winners": ", ".join(names[True]), "losers": ", ".join(names[False])}
    assert note(page, key, **words) in said(page, "race")
    assert "vg.race.start" not in [button.key for button in page.app.button]


def test_the_link_of_a_bench_carries_the_network_it_studies(visit):
    page = visit(SLUG, vg__reach__gain="0.7", vg__cut__window="6", vg__gates__update="0.4")
    page.app.get_by_key("vg.cut.link").click().run()
    (panel,) = (node for node in walk(page.app._tree) if node.type == "dialog")
    (address,) = panel.get("code")
    query = {key: values[0] for key, values in parse_qs(urlsplit(address.value).query).items()}
    assert query == {"lang": "en", "vg.reach.gain": "0.7", "vg.cut.window": "6"}
