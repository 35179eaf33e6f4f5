"""The lesson on vanishing gradients: visits to its page: links, buttons, a small race."""

from __future__ import annotations

from urllib.parse import parse_qs, urlsplit

import numpy as np
import pytest

from seqviz import jobs
from seqviz.compute.vanishing_gradients import recall
from seqviz.core.i18n import format_log10, percent
from seqviz.lessons.framework import controls
from seqviz.lessons.vanishing_gradients.lesson import lesson
from seqviz.plotting.style import LIVE, Style
from testing.fake import fake
from tests.pages.page_assertions import (
    Given,
    alerts,
    bench,
    every_bench_shows,
    figures,
    shows,
    walk,
)
from tests.sliders import sliders

SLUG = lesson.slug


def opened(visit, lang: str = "en", **link: object):
    """The page with some settings in its link, "reach__gain" for one."""
    return visit(SLUG, lang, **{f"vg__{name}": controls.encoded(v) for name, v in link.items()})


# --------------------------------------------------------------------------- the page and the link
@pytest.mark.parametrize(
    ("lang", "link"),
    [
        ("en", {}),
        ("zh", {
            "reach.cells": ("linear", "lstm"), "reach.steps": 60, "reach.init": "orthogonal",
            "reach.signal": "adding", "reach.width": 16, "reach.seed": 7, "reach.forget_bias": 4.0,
            "pairs.cell": "lstm", "pairs.part": "hidden", "pairs.earlier": 50, "pairs.later": 30,
            "paths.steps": 9, "paths.t": 4, "paths.printed": True, "back.cell": "rnn",
            "back.taken": 3, "cut.view": "random", "cut.stop": 0.3, "gates.update": 1.0,
        }),
    ],
)  # fmt: skip
def test_page_matches_bench_output(visit, lang, link):
    page = opened(visit, lang, **{name.replace(".", "__"): value for name, value in link.items()})
    every_bench_shows(page, lesson, link, lang)


def test_page_hides_gain_for_non_normal_preset(visit):
    page = opened(visit, reach__init="non_normal", reach__gain=2.0)
    assert "vg.reach.gain" not in sliders(page.app)
    output = lesson.benches["reach"].run({"init": "non_normal"}, style=Style(LIVE))
    shows(page, "reach", output)


def test_page_warns_about_short_sentence_in_reading_benches(visit):
    """On the bench with the sentence and the two that study the same network; nowhere else."""
    page = opened(visit, "zh", reach__signal="sentence")
    assert len(figures(bench(page.app, "reach"))) == 1
    page.run(vg__reach__sentence="two words")
    warning = page.text("problem.short_sentence")
    for name in ("reach", "pairs", "cut"):
        assert alerts(bench(page.app, name))["warning"] == [warning]
        assert not figures(bench(page.app, name))
        assert not bench(page.app, name).metric
    for name in ("paths", "back", "gates"):
        assert len(figures(bench(page.app, name))) == 1
    assert page.warned() == 3 * [warning]


# ----------------------------------------------------------------------------- step back, by hand
def test_back_bench_slider_steps_through_time(visit):
    page = opened(visit)
    for taken in (0, 1, 4):
        page.run(vg__back__taken=taken)
        assert page.value("back", "taken") == taken
        shows(page, "back", lesson.benches["back"].run({"taken": taken}, style=Style(LIVE)))
    payload = sliders(page.app)["vg.back.taken"]
    assert (payload["low"], payload["high"]) == (0, 4)
    assert payload["words"]["back"] == page.text("frame.earlier")
    assert not alerts(bench(page.app, "back"))["warning"]


def test_back_bench_clamps_step_to_shorter_network(visit):
    page = opened(visit, back__steps=6, back__taken=6)
    page.run(vg__back__steps=3)
    assert page.value("back", "taken") == 3
    output = lesson.benches["back"].run({"steps": 3, "taken": 3}, style=Style(LIVE))
    shows(page, "back", output)


# --------------------------------------------------------------------------------------- the race
@pytest.mark.parametrize(("lang", "task"), [("en", "first"), ("zh", "adding")])
def test_race_bench_trains_and_shows_result(visit, on_the_cpu, lang, task):
    suffix = "" if task == "first" else "_adding"
    link = {
        "task": task, "delay": 2, "cells": ("rnn", "gru"), "hidden": 8, "seed": 3,
        f"updates{suffix}": 100, f"rate{suffix}": 0.003,
    }  # fmt: skip
    page = opened(visit, lang, **{f"race__{name}": value for name, value in link.items()})
    style = Style(LIVE, lang)
    untrained = lesson.benches["race"].run(link, style=style)
    shows(page, "race", untrained)
    assert untrained.waits == page.text(f"{SLUG}.hint.train")
    page.app.get_by_key("vg.race.start").click().run()
    page.healthy()
    settings = recall.RecallSettings(
        task, 2, ("rnn", "gru"), 8, updates=100, learning_rate=0.003,
        forget_bias=4.0 if task == "first" else 2.0, seed=3,
    )  # fmt: skip
    job = jobs.queue_for("cpu").find(recall.compare, settings=settings, device="cpu")
    assert job is not None, "the button has started another race"
    assert job.wait(50)
    page.run()
    again = recall.compare(settings)
    trained = lesson.benches["race"].run(link, style=style, host=Given(again))
    shows(page, "race", trained)
    # The code of the figure is the same in both states; what is read off comes after it.
    calls = untrained.code.split("\n\n")[1].removesuffix("figure\n")
    assert f"\n\n{calls}" in page.lesson.sources()["race"] == trained.code
    assert not any(alerts(bench(page.app, "race")).values())
    expected, names = [], {True: [], False: []}
    for index, (cell, first) in enumerate(
        zip(settings.cells, again.first_learned_update, strict=True)
    ):
        key = "never" if first < 0 else "at"
        beside = page.text(f"{SLUG}.metric.learned.{key}", update=first)
        expected.append((f"learned_{cell}", percent(again.accuracy[-1, index]), beside))
        name = page.text.first(f"{SLUG}.option.cells.{cell}", f"option.{cell}")
        names[bool(again.learned[index])].append(name)
    assert [
        (readout.name, readout.value, readout.caption) for readout in trained.readouts.values()
    ] == expected
    key = "race_none" if not names[True] else "race_won" if names[False] else "race_all"
    comma = page.text(f"{SLUG}.road.names")
    words = {"winners": comma.join(names[True]), "losers": comma.join(names[False])}
    assert trained.notes[0] == page.text(f"{SLUG}.note.{key}", **words, updates=100)
    felt = [format_log10(float(norm)) for norm in again.log10_gradients[-1, :, 0]]
    assert all(norm in trained.notes[1] for norm in felt)
    assert len(trained.notes) == 2
    assert "vg.race.start" not in [button.key for button in page.app.button]


def test_race_bench_reports_longest_delay_per_cell():
    link = {"view": "ladder", "cells": ("rnn", "gru"), "seed": 5}
    untrained = lesson.benches["race"].run(link)
    assert untrained.waits
    settings = recall.RecallSettings(cells=("rnn", "gru"), seed=5)
    longest_delay = fake(recall.LongestDelay, settings=settings, longest=np.array([0, 50]))
    trained = lesson.benches["race"].run(link, host=Given(longest_delay))
    read = {name: readout.value for name, readout in trained.readouts.items()}
    assert read == {"longest_rnn": "–", "longest_gru": "50"}
    assert untrained.code.split("\n\n")[1].removesuffix("figure\n") in trained.code


def test_link_dialog_includes_upstream_network(visit):
    page = opened(visit, reach__gain=0.7, cut__window=6, gates__update=0.4)
    page.app.get_by_key("vg.cut.link").click().run()
    (panel,) = (node for node in walk(page.app._tree) if node.type == "dialog")
    address, _ = panel.get("code")
    query = {key: values[0] for key, values in parse_qs(urlsplit(address.value).query).items()}
    assert query == {"lang": "en", "vg.reach.gain": "0.7", "vg.cut.window": "6"}
