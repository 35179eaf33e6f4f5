"""AR fitting: how much of tomorrow is already in today?"""

from dataclasses import dataclass

import numpy as np

from seqviz.compute import autoregression as ar
from seqviz.data import series, upload
from seqviz.figures import by_hand, estimation, forecast, training
from seqviz.figures.series import lag_plot, roots_in_circle, series_and_correlations
from seqviz.text import number
from seqviz.ui.controls import choice, seed, slider, steps, toggle, view
from seqviz.ui.lesson import begin
from seqviz.ui.problems import Problem

NOISES = ("gaussian", "student_t", "laplace")
PRESET_EPOCHS = {"text": 100, "text_1000": 1000}


def of_order_one(v):
    return v["order"] == 1


def partial_at(lag):
    return lambda v: 1 < v["order"] >= lag and not v["free"]


def free_at(lag):
    return lambda v: 1 < v["order"] >= lag and v["free"]


def own(v):
    return v["preset"] == "own"


@dataclass(frozen=True)
class Process:
    """The series under study: every other bench but the last works on it."""

    view: str = view(("correlations", "lag_plot", "roots"), "correlations")
    order: int = slider(1, 5, 1)
    phi: float = slider(-1.2, 1.2, 0.8, 0.01, when=of_order_one)
    free: bool = toggle(False, more=True, when=lambda v: v["order"] > 1)
    a1: float = slider(-0.95, 0.95, 0.6, 0.05, when=partial_at(1))
    a2: float = slider(-0.95, 0.95, -0.5, 0.05, when=partial_at(2))
    a3: float = slider(-0.95, 0.95, 0.3, 0.05, when=partial_at(3))
    a4: float = slider(-0.95, 0.95, 0.0, 0.05, when=partial_at(4))
    a5: float = slider(-0.95, 0.95, 0.0, 0.05, when=partial_at(5))
    b1: float = slider(-2.0, 2.0, 0.9, 0.05, when=free_at(1))
    b2: float = slider(-2.0, 2.0, -0.5, 0.05, when=free_at(2))
    b3: float = slider(-2.0, 2.0, 0.0, 0.05, when=free_at(3))
    b4: float = slider(-2.0, 2.0, 0.0, 0.05, when=free_at(4))
    b5: float = slider(-2.0, 2.0, 0.0, 0.05, when=free_at(5))
    n: int = steps((50, 100, 200, 500, 1000, 2000, 5000), 500)
    seed: int = seed(1)
    shuffle: bool = toggle(False)
    sigma: float = slider(0.1, 5.0, 1.0, 0.1, more=True)
    noise: str = choice(NOISES, "gaussian", menu=True, more=True)
    df: float = slider(2.5, 30.0, 5.0, 0.5, more=True, when=lambda v: v["noise"] == "student_t")
    burn_in: int = steps((0, 50, 200, 1000), 0, more=True)


@dataclass(frozen=True)
class ByHand:
    """Nothing to send to the server: the slider of this bench lives in the browser."""


@dataclass(frozen=True)
class Fit:
    """How the coefficients are estimated."""

    view: str = view(("estimates", "order", "sampling"), "estimates")
    methods: tuple[str, ...] = choice(
        ar.METHODS, ar.METHODS, many=True, when=lambda v: v["view"] == "estimates"
    )
    same: bool = toggle(True, when=lambda v: v["view"] == "estimates")
    model: int = slider(1, 8, 1, when=lambda v: v["view"] == "estimates" and not v["same"])
    intercept: bool = toggle(False)


@dataclass(frozen=True)
class Networks:
    """What learns the series: the text's run, or one's own network on the series above."""

    view: str = view(("loss", "map", "predictions"), "loss")
    preset: str = choice((*PRESET_EPOCHS, "own"), "text", menu=True)
    cell: str = choice(("mlp", "rnn", "lstm", "gru"), "rnn", when=own)
    epochs: int = steps((50, 100, 200, 500, 1000), 200, when=own)
    rate: float = steps((0.0003, 0.001, 0.003, 0.01, 0.03, 0.1), 0.01, when=own)
    hidden: int = steps((2, 4, 8, 16, 32, 64), 16, when=own)
    split: bool = toggle(True, when=own)
    layers: int = slider(1, 3, 1, more=True, when=own)
    lags: int = slider(1, 10, 1, more=True, when=lambda v: own(v) and v["cell"] == "mlp")
    optimizer: str = choice(("adam", "sgd"), "adam", more=True, when=own)
    seed: int = seed(0, more=True)


@dataclass(frozen=True)
class Ahead:
    """How far to look ahead."""

    view: str = view(("fan", "errors"), "fan")
    horizon: int = slider(1, 50, 20)
    model: int = slider(1, 8, 1)
    intercept: bool = toggle(False, when=lambda v: v["view"] == "fan")


@dataclass(frozen=True)
class Real:
    """Measured series, and the student's own."""

    view: str = view(("fan", "correlations", "order"), "fan")
    source: str = choice((*series.BUNDLED, "csv"), "sunspots", menu=True)
    model: int = slider(1, 12, 2)
    horizon: int = slider(1, 50, 20)


def coefficients(p: Process) -> tuple[float, ...]:
    if p.order == 1:
        return (p.phi,)
    if p.free:
        return (p.b1, p.b2, p.b3, p.b4, p.b5)[: p.order]
    return ar.coefficients_from_partial((p.a1, p.a2, p.a3, p.a4, p.a5)[: p.order])


def simulated(p: Process, show) -> ar.Path:
    """The path of the first bench, the same in each bench that builds on it."""
    return show.run(
        ar.simulate, coefficients(p), p.sigma, n=p.n, burn_in=p.burn_in, seed=p.seed,
        noise=p.noise, df=p.df, name="path",
    )  # fmt: skip


def draw_fan(show, history, future, order, intercept, horizon, index=None, unit="") -> None:
    line = show.run(ar.fit, history, order, "ols", intercept, name="line")
    constant = line.intercept if intercept else 0.0
    fan = show.run(
        ar.forecast_recursive, history, line.coefficients, line.sigma, horizon, constant, name="fan"
    )
    direct = show.run(ar.forecast_direct, history, order, horizon, intercept, name="direct")
    stationary = ar.is_stationary(line.coefficients)
    mean = constant / (1 - float(line.coefficients.sum())) if stationary else np.nan
    show.figure(
        forecast.forecast_fan, history, fan, direct.mean, future, mean, index=index, unit=unit
    )
    inside = np.mean((future >= fan.lower[: len(future)]) & (future <= fan.upper[: len(future)]))
    show.metric("forecast_h", number(fan.mean[-1]), f"h = {horizon}")
    show.metric("width_h", number(fan.upper[-1] - fan.lower[-1]))
    show.metric("difference", number(float(np.abs(fan.mean - direct.mean).max())))
    show.metric("inside", f"{100 * inside:.0f} %")


def mean(squares) -> float:
    """Mean squared error where there is a prediction (an AR(P) has none for the first P - 1)."""
    return float(np.nanmean(squares))


def pose_memory(variant: int) -> tuple[dict[str, object], float, float]:
    """After how many steps has the correlation of an AR(1) fallen below a tenth?"""
    phi = (0.5, 0.7, 0.8, 0.9, 0.95)[variant % 5]
    correlation = ar.theoretical_acf((phi,), 60)
    return {"phi": phi}, float(np.argmax(correlation < 0.1)), 0.5


lesson = begin("ar_fitting")


@lesson.bench("process", Process)
def process(p: Process, show) -> None:
    path = simulated(p, show)
    if len(path.values) < 40:
        raise Problem("exploded", steps=len(path.values))
    stationary = ar.is_stationary(path.coefficients)
    values = path.values
    if p.shuffle:
        values = show.run(ar.shuffled, path.values, p.seed, name="values")
    truth = path.coefficients if stationary and not p.shuffle else None
    found = show.run(ar.correlogram, values, min(20, len(values) // 4), truth, name="found")
    z = show.run(ar.roots, path.coefficients, name="z")
    if p.view == "correlations":
        show.figure(series_and_correlations, values, found)
    elif p.view == "roots":
        show.figure(roots_in_circle, z)
    else:
        line = show.run(ar.fit, values, 1, "ols", name="line")
        phi = p.phi if p.order == 1 and not p.shuffle else None
        show.figure(lag_plot, values, float(line.coefficients[0]), phi)
    largest = float(np.abs(z).max())
    theory = found.theory_acf[1] if truth is not None else np.nan
    show.metric("r1", number(found.acf[1]), show.words("metric.theory", value=number(theory)))
    variance = ar.stationary_variance(path.coefficients, p.sigma) if stationary else np.inf
    show.metric(
        "variance", number(float(values.var())),
        show.words("metric.theory", value=number(variance)),
    )  # fmt: skip
    show.metric("root", number(largest))
    memory = np.inf if largest >= 1 else np.ceil(np.log(0.05) / np.log(largest)) if largest else 0
    show.metric("memory", f"{memory:.0f}" if np.isfinite(memory) else "∞")
    state = "shuffled" if p.shuffle else "stationary" if stationary else "unit_root"
    if largest > 1 + 1e-6 and not p.shuffle:
        state = "explosive"
    show.note(state, root=number(largest), shown=f"{len(values):,}", n=f"{p.n:,}")


lesson.predict("decay")
lesson.prose("process")
lesson.prose("by_hand")


@lesson.bench("by_hand", ByHand, after=("process",))
def hand(p: ByHand, show) -> None:
    show.figure(by_hand.fit_by_hand, simulated(lesson.values("process"), show).values)


lesson.prose("fit")
lesson.predict("bias")


@lesson.bench("fit", Fit, after=("process",))
def fit(p: Fit, show) -> None:
    world = lesson.values("process")
    path = simulated(world, show)
    values = path.values
    if world.shuffle:
        values = show.run(ar.shuffled, path.values, world.seed, name="values")
    truth = tuple(path.coefficients) if not world.shuffle else (0.0,) * world.order
    if p.view == "sampling":
        if world.order > 1:
            raise Problem("sampling_needs_ar1")
        many = show.run(
            ar.replicate, world.phi, n=world.n, sigma=world.sigma, seed=world.seed,
            intercept=p.intercept, name="many",
        )  # fmt: skip
        show.figure(estimation.sampling_distribution, many)
        show.metric(
            "bias", number(many.mean_bias, 2), f"± {number(many.standard_error_of_bias, 2)}"
        )
        show.metric("theory_bias", number(many.theory_bias, 2))
        show.metric(
            "spread",
            number(many.standard_deviation),
            show.words("metric.theory", value=number(many.theory_sd)),
        )
        return
    if p.view == "order":
        selection = show.run(ar.select_order, values, 10, p.intercept, name="selection")
        show.figure(estimation.order_criteria, selection, None if world.shuffle else world.order)
        show.metric("aic_order", str(selection.chosen_aic))
        show.metric("bic_order", str(selection.chosen_bic))
        return
    order = world.order if p.same else p.model
    found = [
        show.run(ar.fit, values, order, method, p.intercept, name=method) for method in p.methods
    ]
    show.figure(estimation.estimates_beside_truth, found, truth)
    first = found[0]
    inside = [bool(e.lower[0] <= truth[0] <= e.upper[0]) for e in found]
    show.metric("estimate", number(first.coefficients[0]), show.option("methods", first.method))
    show.metric("interval", f"{number(first.lower[0])} … {number(first.upper[0])}")
    show.metric("sigma_hat", number(first.sigma), f"σ = {number(world.sigma)}")
    show.metric("covered", f"{sum(inside)} / {len(inside)}")


lesson.prose("methods")
lesson.exercise("memory", pose_memory)
lesson.prose("networks")
lesson.predict("epochs")


@lesson.bench("networks", Networks, after=("process",))
def networks(p: Networks, show) -> None:
    # torch is imported by the bench that needs it, not at the start of the app
    from seqviz.compute.autoregression.networks import NetworkSettings, fit_network

    if p.preset == "own":
        world = lesson.values("process")
        share = {"train": 0.6, "validation": 0.2} if p.split else {}
        settings = NetworkSettings(
            p.cell, p.lags, p.hidden, p.layers, p.epochs, p.rate, p.optimizer, seed=p.seed, **share
        )
    else:  # the text's run: its series does not depend on the bench above
        world = Process(n=1000, seed=p.seed)
        settings = NetworkSettings(epochs=PRESET_EPOCHS[p.preset], seed=p.seed)
    path = simulated(world, show)
    if not ar.is_stationary(path.coefficients):
        raise Problem("train_stationary")
    values = path.values
    known = values[: 1 + round(settings.train * (len(values) - 1))]
    line = show.run(ar.fit, known, world.order, "ols", name="line")
    misses = show.run(ar.one_step_errors, values, line.coefficients, name="misses") ** 2
    floors = {"noise_floor": world.sigma**2, "ols_mse": mean(misses[: len(known) - 1])}

    def so_far(trail):
        rows = np.array([(r.epoch, r.train_loss, r.validation_loss) for r in trail])
        return training.loss_curve, (*rows.T, settings.cell, settings.epochs), floors

    done = show.job(fit_network, so_far, name="done", values=values, settings=settings)
    if done is None:
        return
    if p.view == "loss":
        epochs = np.arange(1.0, settings.epochs + 1)
        show.figure(
            training.loss_curve, epochs, done.train_loss, done.validation_loss,
            settings.cell, settings.epochs, **floors,
        )  # fmt: skip
    elif p.view == "map":
        truth = world.phi if world.order == 1 else None
        show.figure(
            training.one_step_map, done.map_inputs, done.map_mean, done.map_low, done.map_high,
            settings.cell, values, truth,
        )  # fmt: skip
    else:
        show.figure(training.one_step_predictions, done.targets, done.predictions, settings.cell)
    held_out = settings.train < 1
    error = done.test_mse if held_out else done.train_mse
    reference = mean(misses[done.validation_end :] if held_out else misses)
    scored = show.words("metric.network_mse.test" if held_out else "metric.network_mse.train")
    show.metric("network_mse", number(error), scored)
    show.metric("ols_mse", number(reference), scored)
    show.metric("floor", number(world.sigma**2))
    lags = show.words("metric.parameters.delta", count=world.order)
    show.metric("parameters", f"{done.parameters:,}", lags)
    verdict = (
        "under" if error > 1.01 * reference else "over" if error < 0.99 * reference else "even"
    )
    kind = "split" if held_out else "train"
    show.note(f"{kind}_{verdict}", error=number(error), floor=number(reference))


lesson.prose("verdict")
lesson.prose("forecast")
lesson.predict("far")


@lesson.bench("forecast", Ahead, after=("process",))
def ahead(p: Ahead, show) -> None:
    world = lesson.values("process")
    path = simulated(world, show)
    if len(path.values) < p.horizon + 40:
        raise Problem("too_short_to_forecast", horizon=p.horizon, steps=len(path.values))
    if p.view == "errors":
        if not ar.is_stationary(path.coefficients):
            raise Problem("errors_need_stationary")
        errors = show.run(
            ar.errors_by_horizon, path.values, p.model, p.horizon,
            coefficients=path.coefficients, sigma=path.sigma, name="errors",
        )  # fmt: skip
        show.figure(forecast.error_by_horizon, errors)
        for name, at in (("mse_1", 0), ("mse_h", -1)):
            theory = show.words("metric.theory", value=number(errors.theory[at]))
            show.metric(name, number(errors.recursive_mse[at]), theory)
        show.metric("mse_direct", number(errors.direct_mse[-1]))
        show.metric("origins", f"{errors.origins:,}")
        return
    history, future = path.values[: -p.horizon], path.values[-p.horizon :]
    draw_fan(show, history, future, p.model, p.intercept, p.horizon)


lesson.prose("real")


@lesson.bench("real", Real)
def real(p: Real, show) -> None:
    if p.source == "csv":
        content = show.upload("csv")
        if content is None:
            show.hint("csv")
            return
        table = show.run(upload.parse, content, name="table", private=True)
        column = show.pick("column", table.numeric_columns)
        values, index, unit, source = upload.column(table, column), None, "", ""
    else:
        chosen = show.run(series.bundled, p.source, name="chosen")
        values, index, source = chosen.values, chosen.labels, chosen.source
        unit = show.words(f"unit.{p.source}")
    if len(values) < p.horizon + p.model + 20:
        raise Problem("too_short_to_forecast", horizon=p.horizon, steps=len(values))
    if p.view == "correlations":
        found = show.run(ar.correlogram, values, min(40, len(values) // 4), name="found")
        show.figure(series_and_correlations, values, found, index, unit)
    elif p.view == "order":
        selection = show.run(ar.select_order, values, 12, True, name="selection")
        show.figure(estimation.order_criteria, selection)
        show.metric("aic_order", str(selection.chosen_aic))
        show.metric("bic_order", str(selection.chosen_bic))
    else:
        history, future = values[: -p.horizon], values[-p.horizon :]
        draw_fan(show, history, future, p.model, True, p.horizon, index, unit)
    if source:
        show.caption(source)


lesson.prose("equations")
lesson.code(ar.simulate, ar.fit, ar.forecast_recursive)
lesson.end()
