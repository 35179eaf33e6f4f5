"""The AR lesson where its mathematics is at its limits: explosive, unit root, short, shuffled."""

from __future__ import annotations

import numpy as np
import pytest
from looking import HAN, alerts, bench, figures

from seqviz.compute import autoregression as ar
from seqviz.text import LANGUAGES, Text, number

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


def is_about(sentence: str, key: str, text: Text) -> bool:
    """Whether a sentence was made from the words of a problem."""
    words = text.first(f"{SLUG}.problem.{key}", f"problem.{key}").replace("{", "}")
    return all(part in sentence for part in words.split("}")[::2])


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("case", CASES)
def test_a_figure_or_the_right_sentence(visit, case, lang):
    settings, refusals = CASES[case]
    page = visit(SLUG, lang)
    for turn, refused in enumerate(refusals):
        views = {f"{b}.view": names[min(turn, len(names) - 1)] for b, names in VIEWS.items()}
        page.run(**{f"ar.{key}": value for key, value in {**settings, **views}.items()})
        for name in DRAWN:
            place = bench(page.app, name)
            warned = alerts(place)["warning"]
            known = name in refused
            if known and refused[name] is None:  # may explode, or be too short to look ahead
                assert len(figures(place)) + len(warned) == 1, (turn, name)
            else:
                assert len(figures(place)) == (not known), (turn, name, warned)
                assert len(warned) == known, (turn, name, warned)
            for sentence in warned:
                assert refused[name] is None or is_about(sentence, refused[name], page.text)
                assert bool(HAN.search(sentence)) == (lang == "zh"), sentence
        for metric in page.app.metric:
            assert "nan" not in f"{metric.value} {metric.delta}"


def beside(page, key: str) -> tuple[str, str]:
    (metric,) = (m for m in page.app.metric if m.label == page.text(f"{SLUG}.metric.{key}.label"))
    return metric.value, metric.delta


def test_what_theory_says_when_there_is_nothing_to_remember(visit):
    """At phi = 0 the theoretical correlation is 0, which is a number and not the lack of one."""
    page = visit(SLUG, ar__process__phi="0")
    theory = page.text(f"{SLUG}.metric.theory", value="0")
    assert beside(page, "r1")[1] == theory
    assert beside(page, "variance")[1] == page.text(f"{SLUG}.metric.theory", value="1.00")
    assert beside(page, "memory")[0] == "0"
    assert beside(page, "root")[0] == "0"


@pytest.mark.parametrize(("phi", "memory"), [("0.8", "14"), ("-0.8", "14"), ("0.5", "5")])
def test_memory_counts_the_steps_to_five_percent(visit, phi, memory):
    page = visit(SLUG, ar__process__phi=phi)
    assert beside(page, "memory")[0] == memory
    steps = int(memory)
    assert abs(float(phi)) ** steps < 0.05 <= abs(float(phi)) ** (steps - 1)


def test_at_a_unit_root_there_is_no_theory(visit):
    page = visit(SLUG, ar__process__phi="1")
    assert not beside(page, "r1")[1]
    assert beside(page, "memory")[0] == "∞"
    assert beside(page, "variance")[1] == page.text(f"{SLUG}.metric.theory", value="∞")
    (figure,) = figures(bench(page.app, "process"))
    assert page.text("figure.theory") not in [trace["name"] for trace in figure["data"]]


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


@pytest.mark.parametrize("name", ["by_hand", "fit", "forecast"])
def test_shuffling_changes_every_bench_below(visit, name):
    """The help of the switch says so."""
    page = visit(SLUG)
    before = figures(bench(page.app, name))
    page.run(ar__process__shuffle=True)
    assert figures(bench(page.app, name)) != before


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
