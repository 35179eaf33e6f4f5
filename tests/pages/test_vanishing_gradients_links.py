"""The lesson on vanishing gradients: sentences too short, a small race, links to every control."""

from __future__ import annotations

from urllib.parse import parse_qs, urlsplit

import pytest
from looking import alerts, applied, as_state, bench, figures, walk
from test_vanishing_gradients import SLUG, note, option, said

from seqviz import jobs
from seqviz.compute import bptt, memory
from seqviz.compute.bptt import Experiment
from seqviz.models import device
from seqviz.text import LANGUAGES
from seqviz.ui import controls


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
    settings = memory.RaceSettings(
        task, 2, ("rnn", "gru"), 8, updates=100, learning_rate=0.003,
        forget_bias=4.0 if task == "first" else 2.0, seed=3,
    )  # fmt: skip
    job = jobs.default("cpu").find(memory.run_race, settings=settings, device="cpu")
    assert job is not None, "the button has started another race"
    assert job.wait(50)
    page.run()
    again = memory.run_race(settings)
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


# ------------------------------------------------------------------------------------------- links
LINKS = (
    {
        "reach": {"cells": ("linear", "relu", "lstm", "gru"), "steps": 30, "init": "radius",
                  "gain": 0.55, "signal": "sentence", "sentence": "a b <i> & 我们 + d=e?",
                  "width": 8, "loss": "mean", "forget_bias": -0.75, "update_bias": 2.25,
                  "seed": 17},
        "pairs": {"cell": "lstm", "earlier": 3, "later": 12, "norm": "largest", "part": "hidden"},
        "paths": {"cell": "rnn", "steps": 12, "t": 7, "gain": 1.05, "printed": True, "seed": 4},
        "back": {"steps": 5, "taken": 3, "cell": "rnn", "width": 3, "seed": 8},
        "cut": {"cell": "gru", "kind": "segments", "window": 6, "seed": 5},
        "gates": {"update": 0.42, "reset": 0.36},
        "race": {"view": "ladder", "delay": 7, "cells": ("lstm",), "bias": 2.5, "updates": 200,
                 "hidden": 16, "rate": 0.0003, "seed": 6},
    },
    {
        "cut": {"view": "random", "cell": "lstm", "stop": 0.26, "seed": 5},
        "race": {"task": "adding", "bias_adding": 1.5, "updates_adding": 900, "hidden": 64,
                 "rate_adding": 0.003},
    },
    {
        "cut": {"view": "clipping", "activation": "rnn", "radius": 1.12, "threshold": 0.03,
                "rate": 0.005},
    },
)  # fmt: skip


def address_bar(page) -> dict[str, str]:
    """One value per name: AppTest gives a list where the page was opened with it."""
    return {
        key: value[0] if isinstance(value, list) else value
        for key, value in page.app.query_params.items()
    }


def test_the_links_above_set_every_control(visit):
    page = visit(SLUG)
    for name, declaration in page.lesson.benches.items():
        tried = {control for link in LINKS for control in link.get(name, {})}
        assert tried == {control for control, _ in controls.controls(declaration)}


@pytest.mark.parametrize("wanted", LINKS)
def test_a_full_link_brings_back_every_control_in_both_languages(visit, wanted):
    """Set by hand, read from the address bar, opened afresh: settings and figures are the same."""
    state = {
        f"vg.{name}.{control}": value
        for name, values in wanted.items()
        for control, value in values.items()
    }
    page = visit(SLUG)
    ends = {key: value for key, value in state.items() if key.endswith(".steps")}
    for some in (ends, state):  # the lengths first: nobody can drag a slider beyond its end
        page.run(**{key: as_state(value) for key, value in some.items()})
    link = address_bar(page)
    assert link.pop("lang") == "en"
    assert link == {key: controls.encoded(value) for key, value in state.items()}
    for lang in LANGUAGES:
        again = visit(SLUG, lang, **link)
        assert address_bar(again) == {**link, "lang": lang}
        for name, declaration in again.lesson.benches.items():
            values = wanted.get(name, {})
            shows = applied(declaration, values)
            assert all(shows[control] for control in values)
            for control, applies in shows.items():
                value = as_state(getattr(declaration(**values), control)) if applies else None
                assert again.value(name, control) == value, (name, control)
            if lang == page.text.lang:
                assert figures(bench(again.app, name)) == figures(bench(page.app, name))


def test_the_link_of_a_bench_carries_the_network_it_studies(visit):
    page = visit(SLUG, vg__reach__gain="0.7", vg__cut__window="6", vg__gates__update="0.4")
    page.app.get_by_key("vg.cut.link").click().run()
    (panel,) = (node for node in walk(page.app._tree) if node.type == "dialog")
    (address,) = panel.get("code")
    query = {key: values[0] for key, values in parse_qs(urlsplit(address.value).query).items()}
    assert query == {"lang": "en", "vg.reach.gain": "0.7", "vg.cut.window": "6"}
