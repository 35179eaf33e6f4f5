"""Declaration of the lesson "AR fitting"."""

from __future__ import annotations

from itertools import product

from seqviz.compute import ar_fitting as ar
from seqviz.lessons.ar_fitting import estimation, forecast, measured_series, series, training
from seqviz.lessons.framework.lesson import Lesson
from seqviz.lessons.framework.steps import Axis, ControlLight, Trace

lesson = Lesson(
    "ar_fitting",
    code=(ar.simulate, ar.fit, ar.forecast_recursive),
    core=("by_hand", "process", "fit", "networks"),
)

fit_by_hand = lesson.bench("by_hand", estimation.FitByHandParams, after=("process",))(
    estimation.fit_by_hand
)
process = lesson.bench("process", series.ProcessParams, leads=True)(series.process)
fit = lesson.bench(
    "fit", estimation.FitParams, after=("process",), replicate=estimation.class_estimates
)(estimation.fit)
networks = lesson.bench("networks", training.NetworksParams, after=("process",))(training.networks)
nonlinear = lesson.bench("nonlinear", training.NonlinearParams)(training.nonlinear)
ahead = lesson.bench("forecast", forecast.AheadParams, after=("process",))(forecast.ahead)
real = lesson.bench("real", measured_series.MeasuredSeriesParams)(measured_series.real)

PHIS = (0.5, 0.7, 0.8, 0.9, 0.95, 0.3, 0.4, 0.55, 0.6, 0.65, 0.75, 0.85, 0.88, 0.92, 0.94, 0.96)


def steps_to_a_tenth(phi: float) -> float:
    """Return the number of steps after which an AR(1)'s correlation is below a tenth."""
    correlations = ar.theoretical_acf((phi,), 60)
    return next(lag for lag, correlation in enumerate(correlations) if correlation < 0.1)


lesson.exercise("memory", cases=[{"phi": phi} for phi in PHIS], answer=steps_to_a_tenth, within=0.5)
lesson.check(
    "variance",
    cases=[{"phi": phi} for phi in (0.5, 0.6, 0.7, 0.8, 0.9, 0.3, 0.4, -0.5, -0.6, -0.8)],
    answer=lambda phi: ar.stationary_variance((phi,), 1.0),
    share=0.02,
)
lesson.check(
    "correlation",
    cases=[{"phi": p, "lag": k} for p, k in product((0.5, 0.6, 0.7, 0.8, -0.5, -0.8), (2, 3))],
    answer=lambda phi, lag: ar.theoretical_acf((phi,), lag)[lag],
    within=0.006,
)

# x_t = 0.9 x_{t-1} - 0.5 x_{t-2} + noise has complex roots, so the correlations oscillate.
lesson.sketch(
    "waves", kind="bar", bench="process", values={"order": 2, "n": 5000}, panel=("x2", "y2"),
    answer=(1, 2), visible=(3, 4),
)  # fmt: skip

lesson.question("twice", "by_hand", at={"slope": 0.37}, veils=False)
lesson.question("decay", "process", at={"phi": -0.8}, veils=False)
lesson.question(
    "bias", "fit", at={"view": "sampling", "intercept": True},
    above={"process": {"phi": 0.9, "n": 50}},
    lights=[["figure.truth"], [Axis("x", 0.9)], [Axis("x", None, 0.9)]],
)  # fmt: skip
lesson.question("epochs", "networks")
lesson.question("far", "forecast", at={"horizon": 50})
LINE_AND_ERRORS = ["figure.your_line", "figure.misses"]
lesson.step("by_hand", "repeat", {"view": "pairs", "slope": 1.0}, LINE_AND_ERRORS)
lesson.step("by_hand", "rule", {"slope": 0.8}, LINE_AND_ERRORS)

SAMPLE, BAND = Trace("figure.sample", "y2"), Trace("figure.band", "y2")
FLIPPED = {"view": "correlations", "order": 1, "phi": -0.8}
lesson.step("process", "flip", FLIPPED, [SAMPLE, Trace("figure.theory", "y2")])
lesson.step("process", "unit_root", {"phi": 1.0}, ["figure.series", SAMPLE])
lesson.step("process", "shuffle", {"shuffle": True}, [SAMPLE, BAND])

MEANS = ("figure.truth", "figure.mean_estimate", "figure.expected_mean")
lesson.step("fit", "order", {"view": "order"}, ["AIC", "BIC"])
lesson.step("fit", "sampling", {"view": "sampling"}, MEANS[:2])
lesson.step("fit", "intercept", {"view": "sampling", "intercept": True}, MEANS[1:])

# Traces of the loss figure by index, because their names contain numbers: training, then the best
# line; with data held out training, validation, ..., the best line on the validation data.
lesson.step("networks", "long", {"preset": "text_1000"}, [0, 2])
lesson.step("networks", "held_out", {"preset": "held_out"}, [1, 2, 5])
lesson.step(
    "networks", "window", {"view": "window", "window": 4}, [Trace("MLP", "y"), 3, Axis("x", 3, 4)]
)

lesson.step("nonlinear", "ahead", {"view": "ahead"}, ["figure.mean_forecast", 3])
lesson.step("nonlinear", "loss", {"view": "loss"}, [1, 5])

BOTH_FORECASTS = ("figure.recursive", "figure.direct")
lesson.step("forecast", "far", {"horizon": 50}, ["figure.recursive", "figure.interval"])
lesson.step("forecast", "errors", {"view": "errors"}, BOTH_FORECASTS)
lesson.step("forecast", "order", {"view": "fan", "model": 8}, BOTH_FORECASTS)

REMAINING = (Trace("figure.sample", "y2"), Trace("figure.q", "y3"), Trace("figure.q_limit", "y3"))
CO2 = {"source": "co2", "view": "residuals"}
lesson.step("real", "co2", {"source": "co2", "view": "fan"}, ["figure.interval", "figure.future"])
lesson.step("real", "residuals", CO2, REMAINING)
lesson.step("real", "differences", {**CO2, "difference": True, "seasonal": True}, REMAINING)

PHI, SIGMA = ControlLight("phi"), ControlLight("sigma")
lesson.equation(
    "by_hand",
    "[MSE] = Σ_t ([x_t] − [φ] [x_{t−1}])^2 / (n − 1)",
    {
        "MSE": ("squared_error", "{slope_mse:number}", "figure.misses"),
        "x_t": ("series_value", "", Axis("y")),
        "φ": ("ar_coefficient", "{slope:g}", ControlLight("slope"), "figure.your_line"),
        "x_{t−1}": ("value_before", "", Axis("x")),
    },
    when={"view": ("pairs",)},
)
NOISE = {
    "ε_t": ("noise", "", SIGMA),
    "σ": ("noise_sd", "{sigma:g}", SIGMA),
}
lesson.equation(
    "process",
    "[x_t] = [φ] x_{t−1} + [ε_t],  Var ε_t = [σ]^2",
    {
        "x_t": ("series_value", "", "figure.series"),
        "φ": ("ar_coefficient", "{phi:g}", PHI),
        **NOISE,
    },
    when={"order": (1,), "shuffle": (False,)},
)
for order in range(2, 6):
    weights = {
        f"φ_{lag}": ("ar_coefficient", f"{{coefficients[{lag - 1}]:number}}",
                     ControlLight(f"a{lag}"), ControlLight(f"b{lag}"))
        for lag in range(1, order + 1)
    }  # fmt: skip
    lags = " + ".join(f"[φ_{lag}] x_{{t−{lag}}}" for lag in range(1, order + 1))
    lesson.equation(
        "process",
        f"[x_t] = {lags} + [ε_t]",
        {"x_t": ("series_value", "", "figure.series"), **weights, "ε_t": NOISE["ε_t"]},
        when={"order": (order,), "shuffle": (False,)},
    )
LENGTH = ("series_length", "{process.n:,}", ControlLight("process.n"))
TRUE_PHI = ("ar_coefficient", "{truth:g}", ControlLight("process.phi"), "figure.truth")
lesson.equation(
    "fit",
    "[φ_1] ≈ [φ̂_1] ± [w]/2",
    {
        "φ_1": TRUE_PHI,
        "φ̂_1": ("estimate", "{estimate:number}", ControlLight("methods")),
        "w": (
            "interval_width",
            "{width:number}",
            ControlLight("methods"),
            ControlLight("process.n"),
        ),
    },
    when={"view": ("estimates",)},
)
lesson.equation(
    "fit",
    "[AIC] = −2 log L + 2 k,  [BIC] = −2 log L + k log([n] − 10)",
    {
        "AIC": ("criterion", "P = {aic_order}", "AIC"),
        "BIC": ("criterion", "P = {bic_order}", "BIC"),
        "n": LENGTH,
    },
    when={"view": ("order",)},
)
BIAS = {
    "b": ("estimator_bias", "{bias:number.2}", "figure.mean_estimate"),
    "φ": ("ar_coefficient", "{many.phi:g}", ControlLight("process.phi"), "figure.truth"),
    "n": LENGTH,
}
for has_intercept, theory in ((False, "−2 φ/[n]"), (True, "−(1 + 3 φ)/[n]")):
    lesson.equation(
        "fit",
        f"[b] = E φ̂ − [φ] ≈ {theory}",
        BIAS,
        when={"view": ("sampling",), "intercept": (has_intercept,), "estimator": ("ols",)},
    )

LOSS = ("squared_error", "{network_mse:number}", ControlLight("preset"))
PREDICTION = ("prediction", "", Axis("y"))
for view in ("map", "predictions"):
    lesson.equation(
        "networks",
        "[x̂_t] = f([x_{t−1}], [h_{t−1}])",
        {
            "x̂_t": PREDICTION,
            "x_{t−1}": ("value_before", "", Axis("x") if view == "map" else 0),
            "h_{t−1}": ("hidden_state", "", ControlLight("preset")),
        },
        when={"view": (view,)},
    )
lesson.equation(
    "networks",
    "[J] = mean_t (x_t − [x̂_t])^2",
    {"J": (*LOSS, 0), "x̂_t": ("prediction", "", ControlLight("preset"))},
    when={"view": ("loss",)},
)
lesson.equation(
    "networks",
    "[x̂_{n+h}] = f([x̂_{n+h−1}], x̂_{n+h−2}, …)",
    {"x̂_{n+h}": PREDICTION, "x̂_{n+h−1}": ("prediction", "", Axis("x"))},
    when={"view": ("ahead",)},
)
lesson.equation(
    "networks",
    "[x̂_t] = f(x_{t−1}, …, x_{t−P}),  P = [P]",
    {
        "x̂_t": ("prediction", "", Trace("MLP", "y")),
        "P": ("order", "{window}", ControlLight("window"), Axis("x")),
    },
    when={"view": ("window",)},
)
