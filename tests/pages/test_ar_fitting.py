"""The AR lesson: what each bench says, what it refuses, and its mathematics at its limits."""

from __future__ import annotations

from functools import cache, partial

import numpy as np
import pytest

from seqviz.compute import ar_fitting as ar
from seqviz.core.errors import UserError
from seqviz.core.i18n import LANGUAGES, Text, number
from seqviz.core.units import unbroken
from seqviz.data import series as series_data
from seqviz.figures.ar_fitting import by_hand, estimation, forecast, series, training
from seqviz.figures.ar_fitting.diagnosis import residual_check
from seqviz.lessons.ar_fitting.lesson import lesson
from seqviz.lessons.framework import controls
from seqviz.lessons.framework.error_messages import to_message
from seqviz.lessons.framework.words import LessonWords
from tests.pages.page_assertions import alerts, bench, figures
from tests.pages.scenes import Scene, check, each
from tests.shared_fixtures import dependents
from tools import measure_trainings

SLUG = "ar_fitting"
X = ar.simulate((0.8,), n=500, seed=1).values
LINE = ar.fit(X, 1, "ols")
MANY = ar.replicate(0.8, n=500, seed=1)
PAST, CAME = X[:-20], X[-20:]
AGAIN = ar.fit(PAST, 1, "ols")
FAN = ar.forecast_recursive(PAST, AGAIN.coefficients, AGAIN.sigma, 20)
ERRORS = ar.errors_by_horizon(X, 1, 20, (0.8,), 1.0)

PROCESS = ("r1", "variance", "root", "memory")
NETWORK = ("network_mse", "ols_mse", "floor", "parameters")
OWN = {"preset": "own", "cell": "mlp", "epochs": 50, "hidden": 2}
FREE = {"process.order": 5, "process.free": True}


@cache
def drawn_views() -> dict[str, tuple[str, ...]]:
    """The views ("": one view) of `process` and of what builds on it and trains nothing."""
    result = {}
    for name in ("process", *dependents(SLUG, "process")):
        bench = lesson.benches[name]
        if not measure_trainings.calls(bench):
            declared = dict(controls.controls(bench.declaration))
            result[name] = declared["view"].bounds() if "view" in declared else ("",)
    return result


SCENES = (
    Scene("process", {}, series.series_and_correlations, {
        "r1": number(ar.correlogram(X, 20).acf[1]), "variance": number(X.var()), "root": "0.800",
        "memory": "14",
    }, ("stationary",)),
    Scene("process", {"phi": -0.8, "view": "lag_plot"}, series.lag_plot, PROCESS, ("stationary",)),
    Scene("process", {"phi": 1.2, "n": 5000}, None, PROCESS, ("explosive",)),
    Scene("process", {"phi": 1.2, "n": 50}, None, PROCESS, ("explosive_whole",)),
    Scene("process", {"phi": 1.0, "view": "roots"}, series.roots_in_circle, PROCESS,
          ("unit_root",)),
    Scene("process", {"phi": -1.0, "n": 50}, None, PROCESS, ("unit_root_minus",)),
    Scene("process", {"order": 5, **{f"a{k}": -0.95 for k in range(1, 6)}}, None, PROCESS,
          ("stationary",)),
    Scene("process", {"shuffle": True}, None, PROCESS, ("shuffled",)),
    Scene("by_hand", {}, by_hand.fit_by_hand, {
        "slope_mse": number(float(np.mean(X[1:] ** 2))),
        "excess": number(float(np.mean(X[1:] ** 2) - np.mean((X[1:] - LINE.first * X[:-1]) ** 2))),
    }, ("by_hand",)),
    Scene("by_hand", {"slope": 0.77}, by_hand.fit_by_hand, ("slope_mse", "excess"),
          ("by_hand_found",)),
    Scene("by_hand", {"view": "runs"}, by_hand.slopes_by_window, (), ("runs",)),
    Scene("fit", {}, estimation.estimates_beside_truth, {
        "estimate": number(LINE.first),
        "interval": unbroken(f"{number(LINE.lower[0])} … {number(LINE.upper[0])}"),
        "sigma_hat": number(LINE.sigma), "covered": unbroken("4 / 4"),
    }),
    Scene("fit", {"view": "order", "process.order": 2}, estimation.order_criteria,
          ("aic_order", "bic_order")),
    Scene("fit", {"view": "sampling"}, estimation.sampling_distribution, {
        "bias": number(MANY.mean_bias, 2), "theory_bias": number(-1.6 / 500, 2),
        "spread": number(MANY.standard_deviation),
        "coverage": f"{100 * MANY.coverage.share:.1f}%",
    }),
    # The last values are forecast from those before them, which alone are fitted.
    Scene("forecast", {}, forecast.forecast_fan, {
        "forecast_h": "−0.01", "width_h": number(FAN.upper[-1] - FAN.lower[-1]),
        "difference": number(FAN.distance(ar.forecast_direct(PAST, 1, 20))),
        "inside": f"{100 * np.mean((FAN.lower <= CAME) & (FAN.upper >= CAME)):.0f}%",
    }),
    Scene("forecast", {"view": "errors"}, forecast.error_by_horizon, {
        "mse_1": number(ERRORS.mse_1), "mse_h": number(ERRORS.mse_h),
        "mse_direct": number(ERRORS.mse_direct), "origins": "131",
    }),
    # Printed in the map of the texts, 2.5: seed 0 ends at 1.168; least squares scores 0.977.
    Scene("networks", {}, training.loss_of_fit, {
        "network_mse": "1.17", "ols_mse": "0.977", "floor": "0.977", "parameters": "1,153",
    }, ("train_under",)),
    Scene("networks", {"preset": "own"}, waits="train"),
    Scene("networks", OWN, training.loss_of_fit, NETWORK, train=True),
    Scene("networks", {**OWN, "view": "map", "split": False}, training.one_step_map, NETWORK,
          train=True),
    Scene("networks", {**OWN, "view": "predictions", "process.shuffle": True},
          training.one_step_predictions, NETWORK, train=True),
    # Plain gradient descent with a large step on a strong series.
    Scene("networks", {"preset": "own", "cell": "mlp", "rate": 0.1, "optimizer": "sgd",
                       "process.sigma": 5.0, "process.phi": 0.99}, refuses="diverged", train=True),
    *(Scene("networks", {"preset": "own", "process.phi": phi}, refuses="train_stationary")
      for phi in (1.0, 1.1, -1.2)),
    Scene("networks", {"preset": "text_1000"}, training.loss_of_fit, NETWORK, ("train_over",)),
    Scene("networks", {"preset": "held_out"}, training.loss_of_fit, NETWORK,
          ("u_curve", "split_under")),
    Scene("networks", {"preset": "held_out", "view": "ahead"}, training.errors_fed_back, NETWORK,
          ("ahead", "split_under")),
    Scene("networks", {"view": "window", "window": 10}, training.error_by_window,
          ("network_mse", "rnn_mse", "floor", "parameters"), ("window",)),
    Scene("networks", {"view": "window", "seed": 9}, waits="train"),
    Scene("networks", {**OWN, "view": "ahead", "process.n": 50}, refuses="too_short_ahead",
          train=True),
    Scene("nonlinear", {}, training.one_step_map, NETWORK, ("bent_map", "bent_over")),
    Scene("nonlinear", {"rule": "threshold", "view": "ahead", "below": 0.8},
          training.errors_fed_back, NETWORK, ("ahead", "bent_under"), train=True),
)  # fmt: skip

REAL = (  # in English: a source is cited in the language that it has
    Scene(
        "real",
        {"view": "residuals", "source": "co2", "difference": True, "seasonal": True},
        residual_check,
        ("q", "q_p", "strongest", "left_over"),
        ("refused",),
    ),
    Scene(
        "real",
        {"source": "co2", "seasonal": True},
        forecast.forecast_fan,
        ("forecast_h", "width_h", "inside"),
        ("fan_better", "fan_refused"),
    ),
    Scene(
        "real",
        {"view": "order", "source": "macro_unemployment"},
        estimation.order_criteria,
        ("aic_order", "bic_order"),
        ("order_accepted",),
    ),
)


@each(SCENES)
def test_bench_matches_scene(scene, language):
    check(lesson, scene, language)


@pytest.mark.parametrize("scene", REAL, ids=str)
def test_real_bench_matches_scene(scene):
    check(lesson, scene)


@pytest.mark.parametrize("view", ["fan", "correlations", "order", "residuals"])
@pytest.mark.parametrize("source", ["sunspots", "co2"])
def test_real_bench_names_source_in_every_view(source, view):
    visible = lesson.benches["real"].run({"source": source, "view": view})
    assert visible.figure is not None
    assert series_data.bundled(source).source in visible.notes


def theory(value: float) -> str:
    return Text("en")(f"{SLUG}.metric.theory", value=value)


@pytest.mark.parametrize(
    ("name", "values", "beside"),
    [
        # at phi = 0 the theoretical correlation is 0, which is a number and not the lack of one
        ("process", {"phi": 0.0}, {"r1": theory(0.0), "variance": theory(1.0)}),
        ("process", {"phi": 1.0}, {"r1": None, "variance": theory(np.inf)}),
        ("process", {"sigma": 2.0}, {"r1": theory(0.8), "variance": theory(4 / 0.36)}),
        ("fit", {"process.sigma": 2.0}, {"estimate": "OLS", "sigma_hat": unbroken("σ = 2.00")}),
        ("fit", {"view": "sampling"}, {"spread": theory(np.sqrt(0.36 / 500))}),
        ("forecast", {"view": "errors"},
         {"mse_1": theory(1.0), "mse_h": theory(ERRORS.theory[-1])}),
        ("forecast", {"view": "errors", "process.shuffle": True},
         dict.fromkeys(("mse_1", "mse_h"), theory(X.var()))),
    ],
)  # fmt: skip
def test_readout_shows_expected_caption(name, values, beside):
    visible = lesson.benches[name].run(values)
    assert {key: visible.readouts[key].caption for key in beside} == beside


def test_shuffle_changes_dependent_benches():
    """The help of the switch says so."""
    for name in drawn_views().keys() - {"process"}:
        run = lesson.benches[name].run
        assert run({}).figure.to_json() != run({"process.shuffle": True}).figure.to_json(), name
    visible = lesson.benches["fit"].run({"process.shuffle": True})
    # Four standard errors of an OLS coefficient on 500 independent values.
    assert abs(float(visible.readouts["estimate"].value.replace("−", "-"))) < 4 / np.sqrt(500)


# --- at the limits ------------------------------------------------------------------------------

NOT_STATIONARY = {"forecast.errors": "errors_need_stationary"}
AR1_ONLY = {"fit.sampling": "sampling_needs_ar1"}
# Settings, and what is refused: a bench, or one view of it. Everything else draws.
CASES = {
    "explosive": ({"process.phi": 1.2, "process.n": 5000},
                  {**NOT_STATIONARY, "fit.sampling": "explodes"}),
    "explosive downward": ({"process.phi": -1.2, "process.n": 100}, NOT_STATIONARY),
    "unit root": ({"process.phi": 1.0}, NOT_STATIONARY),
    "five free coefficients": (FREE, AR1_ONLY),
    "five near the border": (
        {"process.order": 5, **{f"process.a{k}": 0.95 for k in range(1, 6)}}, AR1_ONLY,
    ),
    "five that explode": ({**FREE, **{f"process.b{k}": 2.0 for k in range(1, 6)}}, {
        "process": "exploded", **AR1_ONLY,
        "forecast": "too_short_to_forecast", **NOT_STATIONARY,
    }),
    "shuffled, order 5": ({**FREE, "process.shuffle": True}, AR1_ONLY),
    "as short as it gets": ({"process.n": 50}, {"forecast.errors": "too_short_to_forecast"}),
    "just long enough for a direct forecast": ({"process.n": 50, "forecast.horizon": 23},
                                               {"forecast.errors": "too_short_to_forecast"}),
    "too short to look ahead": ({"process.n": 50, "forecast.horizon": 24},
                                {"forecast": "too_short_to_forecast"}),
    "just long enough for errors": ({"process.n": 100, "forecast.horizon": 25}, {}),
    "heavy tails": ({"process.noise": "student_t", "process.df": 2.5, "process.n": 5000}, {}),
    "explosion in the burn-in": ({"process.phi": 1.2, "process.burn_in": 1000}, {
        "every bench": "burn_in_explodes", "fit.sampling": None,
    }),
}  # fmt: skip


@pytest.mark.parametrize(("case", "lang"), [(c, LANGUAGES[k % 2]) for k, c in enumerate(CASES)])
def test_bench_draws_figure_or_raises_expected_error(case, lang):
    settings, refusals = CASES[case]
    text = Text(lang)
    for name, view in [(name, view) for name, views in drawn_views().items() for view in views]:
        reached = {f"{name}.view": view} if view else {}
        reached |= {key: settings[key] for key in settings if key.startswith(("process.", name))}
        run = partial(
            lesson.benches[name].run,
            {key.removeprefix(f"{name}."): value for key, value in reached.items()}, lang,
        )  # fmt: skip
        code = refusals.get(f"{name}.{view}", refusals.get(name, refusals.get("every bench")))
        if code is None:
            for item in run().readouts.values():
                assert "nan" not in f"{item.value} {item.caption}", (name, view)
            continue
        with pytest.raises(UserError) as refusal:
            run()
        assert refusal.value.code == code, (name, view)
        words = text.first(f"{SLUG}.problem.{code}", f"problem.{code}")
        message = to_message(refusal.value, LessonWords(SLUG, text))
        assert message == words.format(**refusal.value.details)


# --- on the page --------------------------------------------------------------------------------


def test_page_shows_one_warning_per_refusing_bench(visit):
    """What a bench alone raises is its one sentence on the page."""
    link = {"process__phi": "1.2", "process__burn_in": "1000", "fit__view": "sampling"}
    page = visit(SLUG, "zh", **{f"ar__{key}": value for key, value in link.items()})
    words = page.text.first(f"{SLUG}.problem.burn_in_explodes", "problem.burn_in_explodes")
    for name in (*drawn_views(), "real"):
        payloads = [] if name in ("fit", "real") else [words]
        position = bench(page.app, name)
        assert (alerts(position)["warning"], len(figures(position))) == (
            payloads,
            1 - len(payloads),
        ), name


def test_prediction_reveals_answer_for_each_choice(visit):
    """A wrong answer gets a second try, the right one and a second wrong one the explanation."""
    words = f"{SLUG}.predict.decay"
    for choices in ((1,), (0, 1), (0, 2)):
        page = visit(SLUG)
        for at, choice in enumerate(choices, 1):
            page.app.radio(key="ar.predict.decay").set_value(choice).run()
            right = choice == int(page.text(f"{words}.answer"))
            boxes = page.app.success if right else page.app.info
            answered = any(page.text(f"{words}.reveal") in box.value for box in boxes)
            assert answered is (at == len(choices))


def test_exercise_grades_answers_and_changes_variant(visit):
    page, text = visit(SLUG), Text("en")
    for variant, phi in enumerate((0.5, 0.7, 0.8, 0.9, 0.95)):
        right = int(np.floor(np.log(0.1) / np.log(phi))) + 1
        assert lesson.exercises["memory"].variant_of(variant) == ({"phi": phi}, right, 0.5)
        if variant < 2:
            question = text(f"{SLUG}.exercise.memory.question", phi=phi)
            assert any(question in markdown.value for markdown in page.app.markdown)
            for answer, box, message in (
                (right, "success", "right"),
                (right + 1, "info", "not_yet"),
            ):
                page.run(**{f"ar.exercise.memory.{variant}": float(answer)})
                boxes = page.app.get(box)
                assert any(text(f"frame.{message}") in box.value for box in boxes), (phi, answer)
            page.app.button(key="ar.exercise.memory.next").click().run()
