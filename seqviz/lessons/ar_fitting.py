"""AR fitting: how much of tomorrow is already in today?"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from seqviz.compute import autoregression as ar
from seqviz.compute.autoregression.network_settings import CELLS, NetworkSettings
from seqviz.compute.autoregression.networks import fit_network
from seqviz.data import series, upload
from seqviz.figures.autoregression import by_hand, estimation, forecast, training
from seqviz.figures.autoregression.series import lag_plot, roots_in_circle, series_and_correlations
from seqviz.lessons.bench.controls import choice, seed, slider, steps, toggle, view
from seqviz.lessons.bench.lesson import Lesson
from seqviz.lessons.bench.show import Show
from seqviz.refusal import Problem
from seqviz.text import number

NOISES = ("gaussian", "student_t", "laplace")
PRESET_EPOCHS = {"text": 100, "text_1000": 1000}

lesson = Lesson("ar_fitting", code=(ar.simulate, ar.fit, ar.forecast_recursive))


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
    cell: str = choice(CELLS, "rnn", when=own)
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


def studied(world: Process, show: Show) -> tuple[ar.Path, np.ndarray]:
    """The path of the first bench, and its values as they are studied: in order or shuffled."""
    path = show.run(
        ar.simulate, coefficients(world), sigma=world.sigma, n=world.n, burn_in=world.burn_in,
        seed=world.seed, noise=world.noise, df=world.df, name="path",
    )  # fmt: skip
    if not world.shuffle:
        return path, path.values
    return path, show.run(ar.shuffled, path.values, world.seed, name="values")


def theory(show, value: float) -> str:
    return show.words("metric.theory", value=number(value))


def mean(squares: np.ndarray) -> float:
    """Mean squared error where there is a prediction (an AR(P) has none for the first P - 1)."""
    return float(np.nanmean(squares))


def draw_orders(show, values, highest, intercept, truth=None) -> None:
    chosen = show.run(ar.select_order, values, highest, intercept, name="chosen")
    show.figure(estimation.order_criteria, chosen, truth)
    show.metrics(aic_order=str(chosen.chosen_aic), bic_order=str(chosen.chosen_bic))


def draw_fan(show, values, order, intercept, horizon, index=None, unit="") -> None:
    """Forecast the last `horizon` values from those before them, both ways."""
    if len(values) < horizon + 2 * order + 20:
        raise Problem("too_short_to_forecast", horizon=horizon, steps=len(values))
    past, future = values[:-horizon], values[-horizon:]
    line = show.run(ar.fit, past, order, "ols", intercept, name="line")
    constant = line.intercept if intercept else 0.0
    fan = show.run(
        ar.forecast_recursive, past, line.coefficients, line.sigma, horizon, constant, name="fan"
    )
    direct = show.run(ar.forecast_direct, past, order, horizon, intercept, name="direct")
    stationary = ar.is_stationary(line.coefficients)
    level = constant / (1 - float(line.coefficients.sum())) if stationary else np.nan
    show.figure(
        forecast.forecast_fan, past, fan, direct.mean, future, level, index=index, unit=unit
    )
    inside = mean((future >= fan.lower) & (future <= fan.upper))
    show.metrics(
        forecast_h=(number(fan.mean[-1]), f"h = {horizon}"),
        width_h=number(fan.upper[-1] - fan.lower[-1]),
        difference=number(float(np.abs(fan.mean - direct.mean).max())),
        inside=f"{100 * inside:.0f} %",
    )


@lesson.bench("process", Process, leads=True)
def process(p: Process, show: Show) -> None:
    path, values = studied(p, show)
    if len(values) < 40:
        raise Problem("exploded", steps=len(values))
    stationary = ar.is_stationary(path.coefficients)
    truth = path.coefficients if stationary and not p.shuffle else None
    found = show.run(ar.correlogram, values, min(20, len(values) // 4), truth, name="found")
    z = show.run(ar.roots, path.coefficients, name="z")
    if p.view == "correlations":
        show.figure(series_and_correlations, values, found)
    elif p.view == "roots":
        show.figure(roots_in_circle, z)
    else:
        line = show.run(ar.fit, values, 1, "ols", name="line")
        show.figure(lag_plot, values, line, p.phi if p.order == 1 and not p.shuffle else None)
    largest = float(np.abs(z).max())
    variance = ar.stationary_variance(path.coefficients, p.sigma) if stationary else np.inf
    steps_back = np.log(0.05) / np.log(largest) if 0 < largest < 1 else np.inf if largest else 0
    show.metrics(
        r1=(number(found.acf[1]), theory(show, found.theory_acf[1]) if truth is not None else None),
        variance=(number(float(values.var())), theory(show, variance)),
        root=number(largest),
        memory=f"{np.ceil(steps_back):.0f}" if np.isfinite(steps_back) else "∞",
    )
    state = "stationary" if stationary else "explosive" if largest > 1 + 1e-6 else "unit_root"
    show.note(
        "shuffled" if p.shuffle else state,
        root=number(largest), shown=f"{len(values):,}", n=f"{p.n:,}",
    )  # fmt: skip


@lesson.bench("by_hand", ByHand, after=("process",))
def hand(p: ByHand, show: Show) -> None:
    _, values = studied(lesson.values("process"), show)
    show.figure(by_hand.fit_by_hand, values)


@lesson.bench("fit", Fit, after=("process",))
def fit(p: Fit, show: Show) -> None:
    world = lesson.values("process")
    if p.view == "sampling":
        if world.order > 1:
            raise Problem("sampling_needs_ar1")
        many = show.run(
            ar.replicate, world.phi, n=world.n, sigma=world.sigma, seed=world.seed,
            intercept=p.intercept, name="many",
        )  # fmt: skip
        show.figure(estimation.sampling_distribution, many)
        show.metrics(
            bias=(number(many.mean_bias, 2), f"± {number(many.standard_error_of_bias, 2)}"),
            theory_bias=number(many.theory_bias, 2),
            spread=(number(many.standard_deviation), theory(show, many.theory_sd)),
        )
        return
    path, values = studied(world, show)
    if p.view == "order":
        draw_orders(show, values, 10, p.intercept, 0 if world.shuffle else world.order)
        return
    truth = (0.0,) * world.order if world.shuffle else tuple(path.coefficients)
    order = world.order if p.same else p.model
    found = [show.run(ar.fit, values, order, m, p.intercept, name=m) for m in p.methods]
    show.figure(estimation.estimates_beside_truth, found, truth)
    first = found[0]
    inside = [bool(e.lower[0] <= truth[0] <= e.upper[0]) for e in found]
    show.metrics(
        estimate=(number(first.coefficients[0]), show.option("methods", first.method)),
        interval=f"{number(first.lower[0])} … {number(first.upper[0])}",
        sigma_hat=(number(first.sigma), f"σ = {number(world.sigma)}"),
        covered=f"{sum(inside)} / {len(inside)}",
    )


@lesson.bench("networks", Networks, after=("process",))
def networks(p: Networks, show: Show) -> None:
    if p.preset == "own":
        world = lesson.values("process")
        share = {"train": 0.6, "validation": 0.2} if p.split else {}
        settings = NetworkSettings(
            p.cell, p.lags, p.hidden, p.layers, p.epochs, p.rate, p.optimizer, seed=p.seed, **share
        )
    else:  # the text's run: its series does not depend on the bench above
        world = Process(n=1000, seed=p.seed)
        settings = NetworkSettings(epochs=PRESET_EPOCHS[p.preset], seed=p.seed)
    path, values = studied(world, show)
    if not ar.is_stationary(path.coefficients):
        raise Problem("train_stationary")
    known = values[: 1 + round(settings.train * (len(values) - 1))]
    line = show.run(ar.fit, known, world.order, "ols", name="line")
    misses = ar.one_step_errors(values, line.coefficients) ** 2
    # What the true rule misses: the noise; of a shuffled series, everything.
    noise = (values if world.shuffle else path.innovations)[1:] ** 2
    floor = mean(noise) if world.shuffle else world.sigma**2
    least = mean(misses[: len(known) - 1])
    slope = world.phi if world.order == 1 and not world.shuffle else None
    done = show.job(
        fit_network,
        name="done",
        values=values,
        settings=settings,
        then={
            "loss": (training.loss_of_fit, floor, least),
            "map": (training.one_step_map, values, slope),
            "predictions": (training.one_step_predictions,),
        }[p.view],
        so_far=(training.loss_so_far, settings, floor, least),
    )
    kind = "split" if settings.train < 1 else "train"
    scored = slice(done.validation_end if kind == "split" else 0, None)
    error = mean((done.targets - done.predictions)[scored] ** 2)
    reference = mean(misses[scored])
    where = show.words(f"metric.network_mse.{kind}")
    show.metrics(
        network_mse=(number(error), where),
        ols_mse=(number(reference), where),
        floor=(number(mean(noise[scored])), f"σ² = {number(floor)}"),
        parameters=(
            f"{done.parameters:,}",
            show.words("metric.parameters.delta", count=world.order),
        ),
    )
    ratio = error / reference
    verdict = "under" if ratio > 1.01 else "over" if ratio < 0.99 else "even"
    show.note(f"{kind}_{verdict}", error=number(error), floor=number(reference))


@lesson.bench("forecast", Ahead, after=("process",))
def ahead(p: Ahead, show: Show) -> None:
    world = lesson.values("process")
    path, values = studied(world, show)
    if p.view == "fan":
        draw_fan(show, values, p.model, p.intercept, p.horizon)
        return
    if not ar.is_stationary(path.coefficients):
        raise Problem("errors_need_stationary")
    if 0.3 * len(values) < p.horizon + 5:
        raise Problem("too_short_to_forecast", horizon=p.horizon, steps=len(values))
    rule = (0.0,) if world.shuffle else path.coefficients
    sigma = float(values.std()) if world.shuffle else path.sigma
    errors = show.run(
        ar.errors_by_horizon, values, p.model, p.horizon, coefficients=rule, sigma=sigma,
        name="errors",
    )  # fmt: skip
    show.figure(forecast.error_by_horizon, errors)
    show.metrics(
        mse_1=(number(errors.recursive_mse[0]), theory(show, errors.theory[0])),
        mse_h=(number(errors.recursive_mse[-1]), theory(show, errors.theory[-1])),
        mse_direct=number(errors.direct_mse[-1]),
        origins=f"{errors.origins:,}",
    )


@lesson.bench("real", Real)
def real(p: Real, show: Show) -> None:
    if p.source == "csv":
        content = show.upload("csv")
        if content is None:
            show.hint("csv")
            return
        table = show.own(upload.parse, content)
        name = show.pick("column", table.numeric_columns, upload.likely(table))
        values, index, unit, source = upload.column(table, name), None, "", ""
        code = f'column(parse(Path("your.csv").read_bytes()), {name!r})'
        show.trace.define("values", code, values, upload.column, upload.parse)
    else:
        chosen = show.run(series.bundled, p.source, name="chosen")
        values, index, source = chosen.values, chosen.labels, chosen.source
        unit = show.words(f"unit.{p.source}")
    if p.view == "correlations":
        found = show.run(ar.correlogram, values, min(40, len(values) // 4), name="found")
        show.figure(series_and_correlations, values, found, index, unit)
    elif p.view == "order":
        draw_orders(show, values, min(12, len(values) // 4), True)
    else:
        draw_fan(show, values, p.model, True, p.horizon, index, unit)
    if source:
        show.caption(source)


PHIS = (0.5, 0.7, 0.8, 0.9, 0.95)


def steps_to_a_tenth(phi: float) -> float:
    """After how many steps has the correlation of an AR(1) fallen below a tenth?"""
    return float(np.argmax(ar.theoretical_acf((phi,), 60) < 0.1))


lesson.exercise("memory", cases=[{"phi": phi} for phi in PHIS], answer=steps_to_a_tenth, within=0.5)
