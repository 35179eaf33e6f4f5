"""AR fitting: how much of tomorrow is already in today?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf
from typing import Any

from jaxtyping import Float
from numpy import ndarray

from seqviz.compute import autoregression as ar
from seqviz.compute.autoregression.estimation import Method
from seqviz.compute.autoregression.network_settings import CELLS, NetworkSettings
from seqviz.compute.autoregression.networks import fit_network
from seqviz.data import series, upload
from seqviz.figures.autoregression import by_hand, estimation, forecast, training
from seqviz.figures.autoregression.series import lag_plot, roots_in_circle, series_and_correlations
from seqviz.lessons.bench.controls import choice, on, seed, slider, steps, toggle, view
from seqviz.lessons.bench.lesson import Lesson
from seqviz.lessons.bench.show import Show
from seqviz.refusal import Problem
from seqviz.text import number

Series = Float[ndarray, "time"]
NOISES = ("gaussian", "student_t", "laplace")
PRESET_EPOCHS = {"text": 100, "text_1000": 1000}

lesson = Lesson("ar_fitting", code=(ar.simulate, ar.fit, ar.forecast_recursive))
OWN = on(preset="own")


def at_lag(lag: int, default: float, free: bool = False) -> Any:
    """Of an AR(2) or higher: a partial autocorrelation, or a coefficient free to explode."""
    orders, end = tuple(range(max(2, lag), 6)), 2.0 if free else 0.95
    return slider(-end, end, default, 0.05, when=on(order=orders, free=free))


@dataclass(frozen=True)
class Process:
    """The series under study: every other bench but the last works on it."""

    view: str = view(("correlations", "lag_plot", "roots"), "correlations")
    order: int = slider(1, 5, 1)
    phi: float = slider(-1.2, 1.2, 0.8, 0.01, when=on(order=1))
    free: bool = toggle(False, more=True, when=on(order=(2, 3, 4, 5)))
    a1: float = at_lag(1, 0.6)
    a2: float = at_lag(2, -0.5)
    a3: float = at_lag(3, 0.3)
    a4: float = at_lag(4, 0.0)
    a5: float = at_lag(5, 0.0)
    b1: float = at_lag(1, 0.9, free=True)
    b2: float = at_lag(2, -0.5, free=True)
    b3: float = at_lag(3, 0.0, free=True)
    b4: float = at_lag(4, 0.0, free=True)
    b5: float = at_lag(5, 0.0, free=True)
    n: int = steps((50, 100, 200, 500, 1000, 2000, 5000), 500, unit="values")
    seed: int = seed(1)
    shuffle: bool = toggle(False)
    sigma: float = slider(0.1, 5.0, 1.0, 0.1, more=True)
    noise: str = choice(NOISES, "gaussian", menu=True, more=True)
    df: float = slider(2.5, 30.0, 5.0, 0.5, more=True, when=on(noise="student_t"))
    burn_in: int = steps((0, 50, 200, 1000), 0, more=True, unit="steps")


@dataclass(frozen=True)
class ByHand:
    """Nothing to send to the server: the slider of this bench lives in the browser."""


@dataclass(frozen=True)
class Fit:
    """How the coefficients are estimated."""

    view: str = view(("estimates", "order", "sampling"), "estimates")
    methods: tuple[Method, ...] = choice(
        ar.METHODS, ar.METHODS, many=True, when=on(view="estimates")
    )
    same: bool = toggle(True, when=on(view="estimates"))
    model: int = slider(1, 8, 1, when=on(view="estimates", same=False))
    intercept: bool = toggle(False)


@dataclass(frozen=True)
class Networks:
    """What learns the series: the text's run, or one's own network on the series above."""

    view: str = view(("loss", "map", "predictions"), "loss")
    preset: str = choice((*PRESET_EPOCHS, "own"), "text", menu=True)
    cell: str = choice(CELLS, "rnn", when=OWN)
    epochs: int = steps((50, 100, 200, 500, 1000), 200, when=OWN)
    rate: float = steps((0.0003, 0.001, 0.003, 0.01, 0.03, 0.1), 0.01, when=OWN)
    hidden: int = steps((2, 4, 8, 16, 32, 64), 16, when=OWN)
    split: bool = toggle(True, when=OWN)
    layers: int = slider(1, 3, 1, more=True, when=OWN)
    lags: int = slider(1, 10, 1, more=True, when=on(preset="own", cell="mlp"), unit="values")
    optimizer: str = choice(("adam", "sgd"), "adam", more=True, when=OWN)
    seed: int = seed(0, more=True)


@dataclass(frozen=True)
class Ahead:
    """How far to look ahead."""

    view: str = view(("fan", "errors"), "fan")
    horizon: int = slider(1, 50, 20, unit="steps")
    model: int = slider(1, 8, 1)
    intercept: bool = toggle(False, when=on(view="fan"))


@dataclass(frozen=True)
class Real:
    """Measured series, and the student's own."""

    view: str = view(("fan", "correlations", "order"), "fan")
    source: str = choice((*series.BUNDLED, "csv"), "sunspots", menu=True)
    model: int = slider(1, 12, 2)
    horizon: int = slider(1, 50, 20, unit="steps")


def coefficients(p: Process) -> tuple[float, ...]:
    if p.order == 1:
        return (p.phi,)
    if p.free:
        return (p.b1, p.b2, p.b3, p.b4, p.b5)[: p.order]
    return ar.coefficients_from_partial((p.a1, p.a2, p.a3, p.a4, p.a5)[: p.order])


def studied(world: Process, show: Show) -> tuple[ar.Path, Series]:
    """The path of the first bench, and its values as they are studied: in order or shuffled."""
    path = show.run(
        ar.simulate, coefficients(world), sigma=world.sigma, n=world.n, burn_in=world.burn_in,
        seed=world.seed, noise=world.noise, df=world.df, name="path",
    )  # fmt: skip
    if not world.shuffle:
        return path, path.values
    return path, show.run(ar.shuffled, path.values, world.seed, name="values")


def theory(show: Show, value: float | None) -> str | None:
    """What theory says, beside what was measured."""
    return None if value is None else show.words("metric.theory", value=number(value))


def draw_orders(
    show: Show, values: Series, highest: int, intercept: bool, truth: int | None = None
) -> None:
    """AIC and BIC of the orders up to the highest."""
    chosen = show.run(ar.select_order, values, highest, intercept, name="chosen")
    show.figure(estimation.order_criteria, chosen, truth)
    show.readouts(chosen, aic_order="chosen_aic", bic_order="chosen_bic")


def draw_fan(
    show: Show, values: Series, order: int, intercept: bool, horizon: int,
    index: Sequence[str] | None = None, unit: str = "",
) -> None:  # fmt: skip
    """Forecast the last `horizon` values from those before them, both ways."""
    needed = 2 * order + max(20, int(intercept) + horizon + 1)  # the latter: directly, H ahead
    if len(values) - horizon < needed:
        raise Problem("too_short_to_forecast", horizon=horizon, steps=len(values))
    past, future = values[:-horizon], values[-horizon:]
    line = show.run(ar.fit, past, order, "ols", intercept, name="line")
    constant = line.intercept if intercept else 0.0
    fan = show.run(
        ar.forecast_recursive, past, line.coefficients, line.sigma, horizon, constant, name="fan"
    )
    direct = show.run(ar.forecast_direct, past, order, horizon, intercept, name="direct")
    level = show.run(ar.long_run_mean, line.coefficients, constant, name="level")
    show.figure(
        forecast.forecast_fan, past, fan, direct.mean, future, level, index=index, unit=unit
    )
    show.readouts(
        fan, forecast_h="last", width_h="last_width", beside={"forecast_h": f"h = {horizon}"}
    )
    show.readout("difference", fan.distance, direct)
    show.readout("inside", fan.covers, future)


@lesson.bench("process", Process, leads=True)
def process(p: Process, show: Show) -> None:
    path, values = studied(p, show)
    if len(values) < 40:
        raise Problem("exploded", steps=len(values))
    stationary = ar.is_stationary(path.coefficients)
    truth = path.coefficients if stationary and not p.shuffle else None
    found = show.run(ar.correlogram, values, min(20, len(values) // 4), truth, name="found")
    if p.view == "correlations":
        show.figure(series_and_correlations, values, found)
    elif p.view == "roots":
        show.figure(roots_in_circle, show.run(ar.roots, path.coefficients, name="z"))
    else:
        line = show.run(ar.fit, values, 1, "ols", name="line")
        show.figure(lag_plot, values, line, p.phi if p.order == 1 and not p.shuffle else None)
    show.readouts(found, "r1", beside={"r1": theory(show, found.theory_r1)})
    spread = ar.stationary_variance(path.coefficients, p.sigma) if stationary else inf
    show.readout("variance", ar.sample_variance, values, beside=theory(show, spread))
    root = show.readout("root", ar.largest_root, path.coefficients)
    show.readout("memory", ar.steps_remembered, path.coefficients)
    state = "stationary" if stationary else "explosive" if root > 1 + 1e-6 else "unit_root"
    show.note(
        "shuffled" if p.shuffle else state,
        root=number(root), shown=f"{len(values):,}", n=f"{p.n:,}",
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
        error = number(many.standard_error_of_bias, 2)
        beside = {"bias": f"± {error}", "spread": theory(show, many.theory_sd)}
        show.readouts(
            many, bias="mean_bias", theory_bias="theory_bias", spread="standard_deviation",
            beside=beside,
        )  # fmt: skip
        return
    path, values = studied(world, show)
    if p.view == "order":
        draw_orders(show, values, 10, p.intercept, 0 if world.shuffle else world.order)
        return
    truth = (0.0,) * world.order if world.shuffle else tuple(path.coefficients)
    order = world.order if p.same else p.model
    found = [show.run(ar.fit, values, order, m, p.intercept, name=m) for m in p.methods]
    show.figure(estimation.estimates_beside_truth, found, truth)
    method, sigma = show.option("methods", found[0].method), number(world.sigma)
    show.readouts(
        found[0], estimate="first", interval="first_interval", sigma_hat="sigma",
        beside={"estimate": method, "sigma_hat": f"σ = {sigma}"},
    )  # fmt: skip
    show.readout("covered", ar.covering, found, float(truth[0]))


@lesson.bench("networks", Networks, after=("process",))
def networks(p: Networks, show: Show) -> None:
    if p.preset == "own":
        world = lesson.values("process")
        train, validation = (0.6, 0.2) if p.split else (1.0, 0.0)
        settings = NetworkSettings(
            p.cell, p.lags, p.hidden, p.layers, p.epochs, p.rate, p.optimizer, train, validation,
            seed=p.seed,
        )  # fmt: skip
    else:  # the text's run: its series does not depend on the bench above
        world = Process(n=1000, seed=p.seed)
        settings = NetworkSettings(epochs=PRESET_EPOCHS[p.preset], seed=p.seed)
    path, values = studied(world, show)
    if not ar.is_stationary(path.coefficients):
        raise Problem("train_stationary")
    # What the true rule misses: the noise; of a shuffled series, everything.
    noise = values if world.shuffle else path.innovations
    best = show.run(ar.one_step, values, world.order, settings.train, noise, name="best")
    floor = best.truth_mse() if world.shuffle else world.sigma**2
    slope = world.phi if world.order == 1 and not world.shuffle else None
    done = show.job(
        fit_network,
        name="done",
        values=values,
        settings=settings,
        then={
            "loss": (training.loss_of_fit, floor, best.least),
            "map": (training.one_step_map, values, slope),
            "predictions": (training.one_step_predictions,),
        }[p.view],
        so_far=(training.loss_so_far, settings, floor, best.least),
    )
    held_out = settings.train < 1
    kind, start = ("split", done.validation_end) if held_out else ("train", 0)
    where = show.words(f"metric.network_mse.{kind}")
    score = "test_mse" if held_out else "train_mse"
    show.readouts(done, network_mse=score, beside={"network_mse": where})
    line = show.readout("ols_mse", best.line_mse, start, beside=where)
    show.readout("floor", best.truth_mse, start, beside=f"σ² = {number(floor)}")
    count = show.words("metric.parameters.delta", count=world.order)
    show.readouts(done, "parameters", beside={"parameters": count})
    error = done.test_mse if held_out else done.train_mse
    verdict = "under" if error / line > 1.01 else "over" if error / line < 0.99 else "even"
    show.note(f"{kind}_{verdict}", error=number(error), floor=number(line))


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
    ends = {"mse_1": theory(show, errors.theory[0]), "mse_h": theory(show, errors.theory[-1])}
    show.readouts(errors, "mse_1", "mse_h", "mse_direct", "origins", beside=ends)


def own_column(show: Show) -> Series | None:
    """A column of the student's file; None where there is no file yet."""
    content = show.upload("csv")
    if content is None:
        show.hint("csv")
        return None
    table = show.own(upload.parse, content)
    name = show.pick("column", table.numeric_columns, upload.likely(table))
    values = upload.column(table, name)
    code = f'column(parse(Path("your.csv").read_bytes()), {name!r})'
    show.trace.define("values", code, values, upload.column, upload.parse)
    return values


@lesson.bench("real", Real)
def real(p: Real, show: Show) -> None:
    index, unit, source = None, "", ""
    if p.source == "csv":
        own = own_column(show)
        if own is None:
            return
        values = own
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
    correlations = ar.theoretical_acf((phi,), 60)
    return next(lag for lag, correlation in enumerate(correlations) if correlation < 0.1)


lesson.exercise("memory", cases=[{"phi": phi} for phi in PHIS], answer=steps_to_a_tenth, within=0.5)
