"""AR fitting: what its questions and hints say is what its benches compute."""

from __future__ import annotations

import re
from math import floor, log

import numpy as np
import pytest

from seqviz.compute import ar_fitting as ar
from seqviz.core.errors import UserError
from seqviz.core.i18n import LANGUAGES, Text, number
from seqviz.core.units import unbroken
from seqviz.lessons.ar_fitting.lesson import lesson

EN = Text("en")


def run(bench, language="en", **values):
    return lesson.benches[bench].run(
        {key.replace("__", "."): value for key, value in values.items()}, language, code=False
    )


def read(bench, name, **values):
    """A read-out as a number."""
    message = run(bench, **values).readouts[name].value
    return float(message.replace("−", "-").replace("%", "").replace(",", ""))


def right(question):
    """The option that is marked correct."""
    return EN.items(f"ar_fitting.predict.{question}.options")[
        int(EN(f"ar_fitting.predict.{question}.answer"))
    ]


def quotes(question, *payload):
    """Each of these stands in the reveal, in both languages."""
    for language in LANGUAGES:
        reveal = Text(language)(f"ar_fitting.predict.{question}.reveal")
        for item in payload:
            assert item in reveal, (item, reveal)


def traces(figure):
    return {trace["name"]: trace for trace in reversed(figure.traces)}  # the first of a name


def test_twice_answer_is_four_times():
    """On both sides of the best slope, for every distance; the read-out says the same."""
    for phi in (0.8, -0.5):
        values = ar.simulate((phi,), n=500, seed=1).values
        best = ar.fit(values, 1, "ols").first
        for distance in (0.1, -0.1, 0.25):
            near, far = (ar.slope_error(values, best + k * distance) for k in (1, 2))
            assert far.mse - far.least_mse == pytest.approx(4 * (near.mse - near.least_mse))
            assert far.excess == pytest.approx(4 * near.excess)
    near, far = (run("by_hand", slope=slope).readouts["excess"].value for slope in (0.57, 0.37))
    assert float(far) == pytest.approx(4 * float(near), rel=0.02)
    best = ar.fit(ar.simulate((0.8,), n=500, seed=1).values, 1, "ols").first
    quotes("twice", number(best), near, far)
    assert right("twice") == "It becomes four times as large"


def test_decay_answer_alternates_in_sign():
    """From 0.8 to -0.8 the theoretical ACF changes its sign at odd lags, and nothing else."""
    acf = [np.array(traces(run("process", phi=phi).figure)["theory"]["y"]) for phi in (0.8, -0.8)]
    np.testing.assert_allclose(np.abs(acf[0]), np.abs(acf[1]), rtol=1e-12)
    assert (np.sign(acf[1][:4]) == [-1, 1, -1, 1]).all()
    values = ar.simulate((-0.8,), n=5000, seed=1).values
    share = (values[1:] * values[:-1] < 0).mean()  # most, not all: arcsin(0.8) / π + 1/2
    assert share == pytest.approx(0.795, abs=0.02)
    for language, mostly in (("en", "mostly"), ("zh", "多半")):
        assert mostly in Text(language)("ar_fitting.predict.decay.reveal")
    assert right("decay") == "Every second value flips its sign; each |ρₖ| is as before"


def test_bias_answer_matches_sampling_bias():
    settings = {"view": "sampling", "intercept": True, "process__phi": 0.9, "process__n": 50}
    bias, theory = (read("fit", name, **settings) for name in ("bias", "theory_bias"))
    error = float(run("fit", **settings).readouts["bias"].caption.removeprefix("±").strip())
    assert bias < -10 * error
    assert right("bias") == "Below 0.9"
    assert theory == pytest.approx(-3.7 / 50, abs=5e-4)
    quotes("bias", number(-theory, 2), number(-bias, 2))


def test_replicate_paths_draws_start_only_if_stationary():
    for phi, spread in ((0.9, (1 - 0.81) ** -0.5), (1.0, 0.0)):
        first = ar.replicate_paths(phi, 50)[:, 0]
        assert first.std() == pytest.approx(spread, rel=0.15)


def test_epochs_answer_matches_training_runs():
    short, long = run("networks"), run("networks", preset="text_1000")
    held_out = run("networks", preset="held_out")
    error, line = (float(short.readouts[name].value) for name in ("network_mse", "ols_mse"))
    assert error > 1.05 * line
    assert right("epochs").startswith("No: after 100 epochs it has not even reached")
    ended = long.readouts["network_mse"].value
    assert float(ended) < 0.9 * line
    # The U, in the numbers of the sentence under the figure.
    numbers = re.findall(r"[\d,]*\d(?:\.\d+)?", held_out.notes[0])
    epoch, epochs, minimum, last, _, ols, truth = numbers
    assert 50 < int(epoch) < 1000
    assert epochs == "1,000"
    assert abs(float(truth) - float(ols)) < 0.01 < float(ols) - float(minimum)  # "by luck"
    assert float(last) > 1.2 * float(minimum)
    quotes("epochs", number(error), number(line), ended, minimum, last, epoch, ols)


def test_far_answer_matches_forecast_mean():
    """After 50 steps the forecast is the mean, with the variance of the series."""
    result = run("forecast", horizon=50, process__burn_in=200)
    fan = traces(result.figure)["recursive"]["y"]
    assert abs(fan[-1]) < 1e-3 * abs(fan[0])
    theory = run("forecast", view="errors", horizon=50).readouts["mse_h"].caption
    assert theory == run("process").readouts["variance"].caption  # σ²/(1 − φ²)
    walk = traces(run("forecast", horizon=50, process__phi=1.0).figure)["recursive"]["y"]
    assert abs(walk[-1] - walk[0]) < abs(0.5 * walk[0])  # the estimate is a little below 1
    assert right("far") == "The mean of the series, nearly"
    assert f"{0.8**50:.6f}" == "0.000014"
    quotes("far", "0.000014")


@pytest.mark.parametrize("variant", range(5))
def test_memory_answer_matches_hint_formula(variant):
    """The hint: the smallest whole k above log 0.1 / log phi."""
    case, answer, within = lesson.exercises["memory"].variant_of(variant)
    assert abs(floor(log(0.1) / log(case["phi"])) + 1 - answer) < within


def test_texts_table_matches_networks_bench():
    """What stands there of S0's run is what the first run computes."""
    visible = run("networks")
    trace = traces(visible.figure)["RNN, training"]["y"]
    for language in LANGUAGES:
        table = " ".join(str(row) for row in Text(language).items("ar_fitting.texts.rows"))
        for payload in (f"{trace[0]:.3f}", "1.168", visible.readouts["ols_mse"].value):
            assert payload in table
    assert visible.readouts["network_mse"].value == "1.17"


# Sentences: the settings, and how the first of them begins or what it holds.
SAYS = (
    ("process", {}, (unbroken("**Stationary.** |φ| = 0.800 is below"), "beyond lag 1: 1 of 19")),
    ("process", {"order": 3}, ("The largest root, |z|", "beyond lag 3:")),
    ("process", {"view": "roots"}, ("The mark is the root", "the number φ itself")),
    ("process", {"view": "roots", "order": 2}, ("Each mark is a root, a solution z",)),
    ("process", {"shuffle": True}, ("3 of 20 bars of the sample ACF are outside the 95% band",)),
    ("process", {"shuffle": True, "seed": 2}, ("1 of 20 bars",)),
    ("process", {"phi": 1.0}, ("Unit root at +1", "almost straight fall")),
    ("process", {"phi": -1.0}, ("Unit root at −1", "changes its sign", "−0.99")),
    ("process", {"order": 2, "free": True, "b1": 0.0, "b2": -1.0}, ("2 roots on the unit",)),
    ("process", {"phi": 1.1}, ("Explosive", "|φ|", "1.10", "294 of 500 values", "the path is cut")),
    ("process", {"phi": 1.1, "n": 50}, ("Explosive", "All 50 values", "none of them")),
    ("process", {"view": "lag_plot", "phi": 0.3}, ("slope", "0.300")),
    ("process", {"view": "lag_plot", "order": 2}, ("has slope",)),
    ("by_hand", {"process__phi": 1.2}, ("of the best slope, is 0.80",)),
    ("by_hand", {"slope": 0.77}, ("Found: no slope", unbroken("φ̂ = 0.771"))),
    ("by_hand", {"slope": 0.76}, ("the least possible error, that of the best slope, is 0.980",)),
    ("by_hand", {"view": "runs"}, ("In 450 runs of 50", "between 0.54 and 0.92")),
    ("by_hand", {"view": "runs", "process__n": 50}, ("In 26 runs of 24",)),
    ("fit", {}, (unbroken("4 of 4 intervals contain the true φ₁ = 0.800 of the series above"),)),
    ("fit", {"process__order": 2}, (unbroken("an AR(2) with n = 500"),)),
    ("fit", {"process__shuffle": True}, (unbroken("a shuffled AR(1) with n = 500"),)),
    ("fit", {"methods": ("ols",)}, (unbroken("contains the true φ₁ = 0.800"),)),
    ("fit", {"methods": ("ols",), "process__order": 3, "same": False}, ("misses the true",)),
    ("fit", {"view": "order", "process__order": 2}, ("the process has order 2",)),
    ("fit", {"view": "order", "process__phi": 0.0}, ("the process has order 0",)),
    ("fit", {"view": "order", "process__phi": 1.0}, ("AIC chooses",)),
    ("fit", {"view": "sampling"}, ("OLS in 500 series", "(95% would be 475)")),
    ("fit", {"view": "sampling", "process__phi": 1.0}, ("OLS in 500 series",)),
    ("fit", {"view": "sampling", "process__phi": 1.2}, ("the rounding of float64",)),
    ("fit", {"view": "sampling", "process__shuffle": True}, (unbroken("from φ = 0"),)),
    ("forecast", {"horizon": 5}, ("of the 5 actual values",)),
    ("forecast", {"horizon": 1}, ("The one actual value is inside", "The error is 1.19")),
    ("forecast", {"view": "errors", "horizon": 5}, ("At 5 steps",)),
    ("forecast", {"view": "errors", "horizon": 1}, ("the same one: its error is 1.08",)),
    ("real", {"source": "nile"}, ("gives less",)),
    ("real", {"source": "nile", "difference": True}, ("is 123; repeating", "gives the same")),
    ("fit", {"view": "sampling", "process__phi": 1.2, "estimator": "yule_walker"},
     (unbroken("off by −0.37 from φ = 1.20. All estimates are alike"),
     "stationary models only")),
    ("fit", {"view": "sampling", "process__phi": 1.2, "estimator": "conditional_ml"},
     ("the rounding of float64",)),
    ("real", {"source": "elnino"}, ("repeating the last value gives",)),
    ("real", {"source": "elnino", "seasonal": True}, ("last season, 12 values",)),
    ("real", {"view": "residuals", "source": "co2"},
     (unbroken("**Rejected.** Q(20) = 1,055 is above 28.9"),)),
    ("real", {"view": "residuals", "source": "nile"}, ("**Not rejected.**",)),
    ("real", {"view": "residuals", "model": 9}, ("**Not rejected.**", "11 degrees of freedom")),
    ("real", {"view": "order"}, ("pass the test",)),
    ("real", {"view": "order", "source": "co2"}, ("Even the AR(11)",)),
    ("real", {"view": "correlations"}, ("42 of 80", "about 4")),
    ("networks", {}, ("**Underfit.**",)),
    ("networks", {"preset": "text_1000"}, ("**Below the line.**",)),
    ("networks", {"preset": "held_out"}, ("The validation loss is least at epoch",)),
    ("networks", {"preset": "held_out", "view": "ahead"}, ("Fed its own forecasts, the RNN",)),
    ("networks", {"view": "map"}, ("In the middle tenth",)),
    ("networks", {"view": "predictions"}, ("last 120 values",)),
    ("networks", {"view": "window"}, (unbroken("With P = 3 the MLP has 41"),
     unbroken("**P = 4** is the smallest window"), unbroken("0.970 at P = 4"))),
    ("nonlinear", {}, ("true rule", )),
    ("nonlinear", {"view": "ahead"}, ("for the first 5 steps and at 0 of the 15",)),
    ("networks", {"view": "ahead"}, ("for the first 8 steps and at",)),
    ("nonlinear", {"view": "loss"}, ("at the last of 500 epochs", "it has not turned")),
)  # fmt: skip


@pytest.mark.parametrize(("bench", "values", "told"), SAYS, ids=str)
def test_note_matches_figure_in_both_languages(bench, values, told):
    notes = run(bench, **values).notes
    for part in told:
        assert part in notes[0], notes
    chinese = run(bench, "zh", **values).notes
    numbers = [sorted(re.findall(r"\d+\.\d+", " ".join(message))) for message in (notes, chinese)]
    assert numbers[0] == numbers[1]


def test_real_note_reports_ljung_box_rejection():
    """All 20 values are inside the interval, and yet the model is wrong."""
    for source in ("sunspots", "co2", "elnino"):
        visible = run("real", source=source)
        assert visible.readouts["inside"].value == "100%"
        assert "Ljung-Box rejects this AR(2)" in visible.notes[1]
    assert "rejects" not in " ".join(run("real", source="nile").notes)


def test_real_forecast_improves_with_seasonal_differences():
    """By way of seasonal differences the error of CO2 falls to a third and below."""
    errors = [
        float(re.search(r"error is ([\d.]+)", run("real", source="co2", **more).notes[0])[1])
        for more in ({}, {"seasonal": True})
    ]
    assert errors[1] < errors[0] / 3
    assert "difference" not in run("real", source="co2", seasonal=True).readouts


def test_window_error_drops_at_process_order():
    """Nothing at P = 1, 2, 3 announces it; the table of the texts has the numbers."""
    visible = [run("networks", view="window", window=window).readouts for window in range(1, 11)]
    error = [float(item["network_mse"].value) for item in visible]
    truth = float(visible[0]["floor"].value)
    assert min(error[:3]) > 2 * truth
    assert error[0] < error[1] < error[2]  # a longer window looks like a loss
    assert truth < error[3] == min(error) < 1.05 * truth
    assert error[9] > 1.1 * error[3]  # what is beyond the order costs
    assert [item["parameters"].value for item in visible] == [str(17 + 8 * p) for p in range(1, 11)]
    assert {item["parameters"].caption for item in visible} == {"the RNN: 97"}
    assert float(visible[0]["rnn_mse"].value) < error[9]
    payloads = [visible[position]["network_mse"].value for position in (0, 2, 3)]
    for language in LANGUAGES:
        table = " ".join(str(row) for row in Text(language).items("ar_fitting.texts.rows"))
        assert all(item in table for item in (*payloads, visible[0]["floor"].value))


def test_networks_note_describes_user_network():
    own = {"preset": "own", "process.n": 50, "epochs": 50}
    say = lesson.benches["networks"].run
    item = say({**own, "view": "map", "cell": "mlp"}, train=True, code=False).notes[0]
    assert "reads the last value alone" in item
    several = say({**own, "view": "predictions"}, train=True, code=False).notes[0]
    assert "over the last 49 values" in several
    mlp = {**own, "cell": "mlp", "lags": 10, "view": "predictions"}
    windows = say(mlp, train=True, code=False).notes[0]
    assert "over the last 40 values" in windows  # the first 9 targets have no full window


def test_nonlinear_note_states_error_ratio_above_one():
    """It is told from one percent on: two digits would say "1.0 times as much"."""
    assert re.search(r"which is \d\d\.\d times as much", run("nonlinear").notes[1])


def test_process_readouts_report_no_memory_when_shuffled():
    visible = run("process", shuffle=True).readouts
    assert (visible["root"].value, visible["memory"].value) == ("0", "0")


def test_slope_errors_minimum_matches_ols():
    for phi in (0.8, 1.2):  # the latter reaches 10¹²
        values = ar.simulate((phi,), n=500, seed=1).values
        start, minimum = ar.slope_errors(values)
        residuals = values[1:] - ar.fit(values, 1, "ols").first * values[:-1]
        assert start == pytest.approx((values[1:] ** 2).mean())
        assert minimum == pytest.approx((residuals**2).mean(), rel=1e-6)


def test_slope_found_at_one_stop_of_slider_only():
    for seed in range(3):
        stops = np.arange(40, 121) / 100
        notes = [run("by_hand", slope=slope, process__seed=seed).notes[0] for slope in stops]
        assert sum("Found" in note for note in notes) == 1


def test_class_experiment_names_the_control_in_the_way():
    experiment = lesson.benches["fit"].experiment
    with pytest.raises(UserError, match="sampling_needs_ar1"):
        experiment({"process.order": 2})
    with pytest.raises(UserError, match="class_needs_ar1"):
        experiment({"same": False, "model": 2})


def test_window_slopes_match_fit_of_each_run():
    values = ar.simulate((0.8,), n=120, seed=3).values
    windows = ar.window_slopes(values, 30)
    assert len(windows.slopes) == 119 - 30 + 1
    for start in (0, 17, 89):
        run_of_pairs = values[start : start + 31]
        assert windows.slopes[start] == pytest.approx(ar.fit(run_of_pairs, 1, "ols").first)
    assert windows.extremes == (windows.slopes.min(), windows.slopes.max())


def test_parameters_readout_counts_line_with_intercept():
    for bench, count in (("networks", 1), ("nonlinear", 2)):
        assert run(bench).readouts["parameters"].caption == f"the line: {count}"


def test_sigma_readout_uses_series_deviation_when_shuffled():
    visible = run("fit", process__shuffle=True).readouts["sigma_hat"]
    assert (
        visible.caption
        == unbroken(f"σ = {number((1 / (1 - 0.8**2)) ** 0.5)}")
        == unbroken("σ = 1.67")
    )
    assert run("fit").readouts["sigma_hat"].caption == unbroken("σ = 1.00")
    walk = run("fit", process__shuffle=True, process__phi=1.0).readouts["sigma_hat"]
    assert walk.caption == unbroken("σ = ∞")


def test_ahead_note_counts_steps_better_than_mean():
    visible = run("networks", view="ahead")
    network, level = (
        np.array(traces(visible.figure)[name]["y"]) for name in ("RNN", "always the mean")
    )
    better = network < level
    first, later, rest = map(
        int, re.search(r"first (\d+) steps and at (\d+) of the (\d+)", visible.notes[0]).groups()
    )
    assert better[:first].all()
    assert (better[first:].sum(), len(better) - first) == (later, rest)
    for end in (0, -1):
        assert re.search(rf"(?<![\d.]){number(network[end])}(?!\d)", visible.notes[0])
    assert better[-1] > better[first]  # it is worse at first and better at the last step again


@pytest.mark.parametrize("source", ["macro_inflation", "macro_unemployment"])
def test_real_figure_orders_quarters_by_time(source):
    """As names they stood in the order of the traces: the forecast before the history."""
    for view in ("fan", "correlations", "residuals"):
        rendered = traces(run("real", source=source, view=view).figure)
        xs = [
            str(x)
            for x in next(
                t for n, t in rendered.items() if n in ("history", "series", "residuals")
            )["x"]
        ]
        assert all(re.fullmatch(r"\d{4}-(01|04|07|10)", x) for x in xs), xs[:3]
        assert xs == sorted(xs)


def test_real_forecasts_match_at_horizon_one():
    for source in ("sunspots", "nile"):
        assert run("real", source=source, horizon=1).readouts["difference"].value == "0"
