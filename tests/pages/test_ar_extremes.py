"""The AR lesson where its mathematics is at its limits: explosive, unit root, short, shuffled."""

from __future__ import annotations

import json

import numpy as np
import pytest
from looking import HAN, alerts, bench, figures

from seqviz.compute import autoregression as ar
from seqviz.lessons.ar_fitting import lesson
from seqviz.lessons.bench.words import Words
from seqviz.text import LANGUAGES, Text, number
from seqviz.ui.shared.problems import sentence

SLUG = "ar_fitting"
VIEWS = {
    "process": ("correlations", "lag_plot", "roots"),
    "fit": ("estimates", "order", "sampling"),
    "forecast": ("fan", "errors"),
    "real": ("fan", "correlations", "order"),
}
DRAWN = ("process", "by_hand", "fit", "forecast", "real")
EXPLOSIVE = {"process.phi": 1.2, "process.n": 5000}
FREE = {"process.order": 5, "process.free": True}

# Settings, and the benches that refuse in each of the three sets of views: everything else draws.
# Views are taken together by their place: first, second, third (the last where there are fewer).
CASES = {
    "defaults": ({}, ({}, {}, {})),
    "no dependence": ({"process.phi": 0.0}, ({}, {}, {})),
    "explosive": (EXPLOSIVE, (
        {}, {"forecast": "errors_need_stationary"},
        {"fit": "explodes", "forecast": "errors_need_stationary"},
    )),
    "explosive downward": ({"process.phi": -1.2, "process.n": 100}, (
        {}, {"forecast": "errors_need_stationary"}, {"forecast": "errors_need_stationary"},
    )),
    "unit root": ({"process.phi": 1.0}, (
        {}, {"forecast": "errors_need_stationary"}, {"forecast": "errors_need_stationary"},
    )),
    "five free coefficients": (FREE, ({}, {}, {"fit": "sampling_needs_ar1"})),
    "five partial ones near the border": (
        {"process.order": 5, **{f"process.a{k}": 0.95 for k in range(1, 6)}},
        ({}, {}, {"fit": "sampling_needs_ar1"}),
    ),
    "five coefficients that explode": (
        {**FREE, **{f"process.b{k}": 2.0 for k in range(1, 6)}},
        tuple(dict.fromkeys(("process", "fit", "forecast"), None) for _ in range(3)),
    ),
    "shuffled": ({"process.shuffle": True}, ({}, {}, {})),
    "shuffled, order 5": (
        {**FREE, "process.shuffle": True}, ({}, {}, {"fit": "sampling_needs_ar1"}),
    ),
    "as short as it gets": ({"process.n": 50}, (
        {}, {"forecast": "too_short_to_forecast"}, {"forecast": "too_short_to_forecast"},
    )),
    "heavy tails": ({"process.noise": "student_t", "process.df": 2.5, "process.n": 5000},
                    ({}, {}, {})),
    "explosion in the burn-in": ({"process.phi": 1.2, "process.burn_in": 1000}, (
        dict.fromkeys(("process", "by_hand", "fit", "forecast"), "burn_in_explodes"),
        dict.fromkeys(("process", "by_hand", "fit", "forecast"), "burn_in_explodes"),
        dict.fromkeys(("process", "by_hand", "forecast"), "burn_in_explodes"),
    )),
}  # fmt: skip


def is_about(told: str, key: str, text: Text) -> bool:
    """Whether a sentence was made from the words of a problem."""
    words = text.first(f"{SLUG}.problem.{key}", f"problem.{key}").replace("{", "}")
    return all(part in told for part in words.split("}")[::2])


def values(name: str, settings: dict, view: int) -> dict:
    """The settings of a case as a bench has them, at its view of that number."""
    views = VIEWS.get(name, ())
    chosen = {"view": views[min(view, len(views) - 1)]} if views else {}
    own = {key.removeprefix("process."): value for key, value in settings.items()}
    return chosen | {"process": own, "real": {}}.get(name, settings)


IN_TURN = [(case, LANGUAGES[k % 2]) for k, case in enumerate(CASES)]


@pytest.mark.parametrize(("case", "lang"), IN_TURN)
def test_a_figure_or_the_right_sentence(case, lang):
    settings, refusals = CASES[case]
    words = Words(SLUG, Text(lang))
    for turn, refused in enumerate(refusals):
        for name in DRAWN:
            try:
                shown = lesson.benches[name].run(values(name, settings, turn), lang)
            except ValueError as refusal:
                told = sentence(refusal, words)
                assert name in refused, (turn, name, told)
                assert refused[name] is None or is_about(told, refused[name], words.text)
                assert bool(HAN.search(told)) == (lang == "zh"), told
                continue
            # None: it may explode, or be too short to look ahead
            assert refused.get(name) is None, (turn, name)
            assert shown.figure is not None
            for one in shown.readouts.values():
                assert "nan" not in f"{one.value} {one.beside}"


@pytest.mark.parametrize("case", ["explosive", "explosion in the burn-in"])
def test_a_page_where_some_benches_refuse_is_whole(visit, case):
    """What a bench alone raises is its one sentence on the page."""
    settings, (_, refused, _) = CASES[case]
    page = visit(SLUG, "zh")
    views = {f"{name}.view": names[1] for name, names in VIEWS.items()}
    page.run(**{f"ar.{key}": value for key, value in {**settings, **views}.items()})
    for name in DRAWN:
        place = bench(page.app, name)
        told = alerts(place)["warning"]
        assert (len(figures(place)), len(told)) == ((0, 1) if name in refused else (1, 0)), name
        assert all(is_about(one, refused[name], page.text) for one in told)


def beside(name: str, **process: float) -> tuple[str, str | None]:
    """A read-out of the first bench, and what stands beside it."""
    found = lesson.benches["process"].run(process).readouts[name]
    return found.value, found.beside


def theory(value: str) -> str:
    return Text("en")(f"{SLUG}.metric.theory", value=value)


def test_what_theory_says_when_there_is_nothing_to_remember():
    """At phi = 0 the theoretical correlation is 0, which is a number and not the lack of one."""
    assert beside("r1", phi=0.0)[1] == theory("0")
    assert beside("variance", phi=0.0)[1] == theory("1.00")
    assert beside("memory", phi=0.0)[0] == "0"
    assert beside("root", phi=0.0)[0] == "0"


@pytest.mark.parametrize(("phi", "memory"), [(0.8, "14"), (-0.8, "14"), (0.5, "5")])
def test_memory_counts_the_steps_to_five_percent(phi, memory):
    assert beside("memory", phi=phi)[0] == memory
    steps = int(memory)
    assert abs(phi) ** steps < 0.05 <= abs(phi) ** (steps - 1)


def test_at_a_unit_root_there_is_no_theory():
    assert not beside("r1", phi=1.0)[1]
    assert beside("memory", phi=1.0)[0] == "∞"
    assert beside("variance", phi=1.0)[1] == theory("∞")
    drawn = json.loads(lesson.benches["process"].run({"phi": 1.0}).figure.to_json())
    assert Text("en")("figure.theory") not in [trace["name"] for trace in drawn["data"]]


def test_forecasts_are_judged_on_values_they_have_not_seen(visit):
    page = visit(SLUG)
    values = ar.simulate((0.8,), n=500, seed=1).values
    line = ar.fit(values[:-20], 1, "ols")
    fan = ar.forecast_recursive(values[:-20], line.coefficients, line.sigma, 20)
    inside = np.mean((values[-20:] >= fan.lower) & (values[-20:] <= fan.upper))
    (figure,) = figures(bench(page.app, "forecast"))
    box = bench(page.app, "forecast")
    shown = {metric.label: metric.value for metric in box.metric}
    assert shown[page.text(f"{SLUG}.metric.forecast_h.label")] == number(fan.mean[-1])
    assert shown[page.text(f"{SLUG}.metric.inside.label")] == f"{100 * inside:.0f} %"
    assert figure["layout"]["xaxis"]["title"]["text"] == page.text("figure.steps")


def test_shuffling_changes_every_bench_below(visit):
    """The help of the switch says so."""
    page = visit(SLUG)
    below = ("by_hand", "fit", "forecast")
    before = {name: figures(bench(page.app, name)) for name in below}
    page.run(ar__process__shuffle=True)
    for name in below:
        assert figures(bench(page.app, name)) != before[name], name


def test_the_seed_is_the_picture(visit):
    page = visit(SLUG)
    first = figures(bench(page.app, "process"))
    other = figures(bench(page.run(ar__process__seed=2).app, "process"))
    again = figures(bench(page.run(ar__process__seed=1).app, "process"))
    assert first == again
    assert first != other


def test_real_series_do_not_depend_on_the_first_bench(visit):
    page = visit(SLUG)
    before = figures(bench(page.app, "real"))
    page.run(ar__process__seed=2, ar__process__phi=-0.5, ar__process__shuffle=True)
    assert figures(bench(page.app, "real")) == before
