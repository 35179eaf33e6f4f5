"""AR fitting: how much of tomorrow is already in today?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import inf, isfinite, sqrt
from typing import Any, cast

from jaxtyping import Float
from numpy import ndarray

from seqviz.compute import ar_fitting as ar
from seqviz.compute import replicates
from seqviz.compute.ar_fitting.ahead import errors_ahead
from seqviz.compute.ar_fitting.estimation import Method, OneStep
from seqviz.compute.ar_fitting.network_settings import CELLS, NetworkSettings
from seqviz.compute.ar_fitting.networks import AHEAD, NetworkFit, fit_network
from seqviz.compute.ar_fitting.nonlinear import RULE_KINDS, Kind
from seqviz.compute.ar_fitting.windows import WINDOWS, fit_windows
from seqviz.core.errors import MessageError
from seqviz.core.i18n import escape_markdown, format_value, number
from seqviz.core.units import Unit, unbroken
from seqviz.data import series, upload
from seqviz.figures.ar_fitting import by_hand, estimation, forecast, training
from seqviz.figures.ar_fitting.diagnosis import residual_check
from seqviz.figures.ar_fitting.series import lag_plot, roots_in_circle, series_and_correlations
from seqviz.lessons.framework.controls import choice, on, seed, select_slider, slider, toggle, view
from seqviz.lessons.framework.lesson import Lesson, SeedExperiment
from seqviz.lessons.framework.show import Show
from seqviz.plotting.tokens import escape, short

Series = Float[ndarray, "time"]
NOISES = ("gaussian", "student_t", "laplace")
PRESETS = {
    "text": NetworkSettings(epochs=100),
    "text_1000": NetworkSettings(epochs=1000),
    "held_out": NetworkSettings(epochs=1000, train=0.6, validation=0.2),
}
SEASONAL = (0.0, 0.0, 0.0, 0.7)  # no window below 4 sees anything that helps
WINDOWED = NetworkSettings(
    "mlp", hidden=8, epochs=200, learning_rate=0.01, train=0.6, validation=0.2
)
SEASONS = {"co2": 12, "elnino": 12, "macro_inflation": 4, "macro_unemployment": 4}

lesson = Lesson("ar_fitting", code=(ar.simulate, ar.fit, ar.forecast_recursive))
OWN = on(preset="own")
ROUNDING = 1e-14  # a spread of estimates near 1 that float64 cannot resolve


def at_lag(lag: int, default: float, free: bool = False) -> Any:
    """Of an AR(2) or higher: a partial autocorrelation, or a coefficient free to explode."""
    orders, end = tuple(range(max(2, lag), 6)), 2.0 if free else 0.95
    return slider(-end, end, default, 0.05, when=on(order=orders, free=free))


@dataclass(frozen=True)
class ProcessParams:
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
    n: int = select_slider((50, 100, 200, 500, 1000, 2000, 5000), 500, unit="values")
    seed: int = seed(1)
    shuffle: bool = toggle(False)
    sigma: float = slider(0.1, 5.0, 1.0, 0.1, more=True)
    noise: str = choice(NOISES, "gaussian", menu=True, more=True)
    df: float = slider(2.5, 30.0, 5.0, 0.5, more=True, when=on(noise="student_t"))
    burn_in: int = select_slider((0, 50, 200, 1000), 0, more=True, unit="steps")


@dataclass(frozen=True)
class FitByHandParams:
    """Nothing to send to the server: the slider of this bench lives in the browser."""


@dataclass(frozen=True)
class FitParams:
    """How the coefficients are estimated."""

    view: str = view(("estimates", "order", "sampling"), "estimates")
    methods: tuple[Method, ...] = choice(
        ar.METHODS, ar.METHODS, many=True, when=on(view="estimates")
    )
    same: bool = toggle(True, when=on(view="estimates"))
    model: int = slider(1, 8, 1, when=on(view="estimates", same=False))
    estimator: str = choice(ar.METHODS, "ols", menu=True, when=on(view="sampling"))
    intercept: bool = toggle(False)


@dataclass(frozen=True)
class NetworksParams:
    """What learns the series: the text's run, or one's own network on the series above."""

    view: str = view(("loss", "map", "predictions", "ahead", "window"), "loss")
    window: int = slider(1, WINDOWS[-1], 3, when=on(view="window"), unit="values")
    preset: str = choice(
        (*PRESETS, "own"), "text", menu=True, when=on(view=("loss", "map", "predictions", "ahead"))
    )
    cell: str = choice(CELLS, "rnn", when=OWN)
    epochs: int = select_slider((50, 100, 200, 500, 1000), 200, when=OWN)
    rate: float = select_slider((0.0003, 0.001, 0.003, 0.01, 0.03, 0.1), 0.01, when=OWN)
    hidden: int = select_slider((2, 4, 8, 16, 32, 64), 16, when=OWN)
    split: bool = toggle(True, when=OWN)
    layers: int = slider(1, 3, 1, more=True, when=OWN)
    lags: int = slider(1, 10, 1, more=True, when=on(preset="own", cell="mlp"), unit="values")
    optimizer: str = choice(("adam", "sgd"), "adam", more=True, when=OWN)
    seed: int = seed(0, more=True)


@dataclass(frozen=True)
class NonlinearParams:
    """A rule that is no line, and the network that learns it."""

    view: str = view(("map", "ahead", "loss"), "map")
    rule: str = choice(RULE_KINDS, "logistic")
    r: float = slider(2.8, 3.7, 3.7, 0.05, when=on(rule="logistic"))
    below: float = slider(-0.9, 0.9, -0.8, 0.1, when=on(rule="threshold"))
    above: float = slider(-0.9, 0.9, 0.8, 0.1, when=on(rule="threshold"))
    cell: str = choice(CELLS, "mlp")
    seed: int = seed(0, more=True)


@dataclass(frozen=True)
class AheadParams:
    """How far to look ahead."""

    view: str = view(("fan", "errors"), "fan")
    horizon: int = slider(1, 50, 20, unit="steps")
    model: int = slider(1, 8, 1)
    intercept: bool = toggle(False, when=on(view="fan"))


@dataclass(frozen=True)
class MeasuredSeriesParams:
    """Measured series, and the student's own."""

    view: str = view(("fan", "correlations", "order", "residuals"), "fan")
    source: str = choice((*series.BUNDLED, "csv"), "sunspots", menu=True)
    difference: bool = toggle(False)
    seasonal: bool = toggle(False, when=on(source=(*SEASONS, "csv")))
    period: int = slider(2, 52, 12, more=True, when=on(source="csv", seasonal=True), unit="steps")
    model: int = slider(1, 12, 2, when=on(view=("fan", "residuals")))
    horizon: int = slider(1, 50, 20, when=on(view="fan"), unit="steps")


def coefficients(p: ProcessParams) -> tuple[float, ...]:
    if p.order == 1:
        return (p.phi,)
    if p.free:
        return (p.b1, p.b2, p.b3, p.b4, p.b5)[: p.order]
    return ar.coefficients_from_partial((p.a1, p.a2, p.a3, p.a4, p.a5)[: p.order])


def studied(world: ProcessParams, show: Show) -> tuple[ar.SimulatedPath, Series]:
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


def draw_fan(
    show: Show, values: Series, order: int, intercept: bool, horizon: int,
    ordinary: bool = False, season: int = 0, index: Sequence[str] | None = None, unit: str = "",
) -> None:  # fmt: skip
    """Forecast the last `horizon` values from those before them.

    Both ways, or by way of the differences.
    """
    needed = 2 * order + max(20, int(intercept) + horizon + 1)  # the latter: directly, H ahead
    if len(values) - horizon - int(ordinary) - season < needed:
        raise MessageError("too_short_to_forecast", horizon=horizon, steps=len(values))
    past, future = values[:-horizon], values[-horizon:]
    steady = past
    if ordinary or season:
        steady = show.run(ar.differenced, past, ordinary, season, name="changes")
    line = show.run(ar.fit, steady, order, "ols", intercept, name="line")
    constant, direct = line.intercept if intercept else 0.0, None
    rule: Any = line.coefficients
    if ordinary or season:
        rule = show.run(ar.undifferenced, line.coefficients, ordinary, season, name="rule")
    fan = show.run(ar.forecast_recursive, past, rule, line.sigma, horizon, constant, name="fan")
    if steady is past:
        direct = show.run(ar.forecast_direct, past, order, horizon, intercept, name="direct")
    level = show.run(ar.long_run_mean, rule, constant, name="level")
    means = None if direct is None else direct.mean
    show.figure(forecast.forecast_fan, past, fan, means, future, level, index=index, unit=unit)
    show.readouts(
        fan, forecast_h="last", width_h="last_width", beside={"forecast_h": f"h = {horizon}"}
    )
    if direct is not None:
        show.readout("difference", fan.distance, direct)
    inside = round(show.readout("inside", fan.covers, future) * horizon)
    kind = "some" if horizon > 1 else "one" if inside else "none"
    came = show.words(f"note.came_{kind}", inside=inside, h=horizon)
    measure = show.words("note.measure_some" if horizon > 1 else "note.measure_one")
    own = show.derive(fan.error, future, name="error")
    naive = show.derive(ar.error_of_repeating, past, future, season or 1, name="repeating")
    repeating = show.words(f"note.repeat_{'season' if season else 'last'}", season=season)
    better = "fan_better" if own < naive else "fan_worse"
    show.note(
        "fan_even" if number(own) == number(naive) else better, came=came, measure=measure,
        error=number(own), naive=number(naive), repeating=repeating,
    )  # fmt: skip


def state_note(p: ProcessParams, found: ar.Correlogram, show: Show, shown: int) -> None:
    """What the roots say of the process, and what the bars say of them."""
    root, acf = ar.largest_root(coefficients(p)), found.acf
    if p.shuffle:
        outside, bars = found.outside_acf()  # of independent values the PACF is nearly the ACF
        show.note("shuffled", outside=outside, bars=bars)
    elif ar.is_stationary(coefficients(p)):
        beyond, after = found.beyond(p.order)
        show.note(
            "stationary", root=number(root), gap=number(found.gap, 2), order=p.order,
            beyond=beyond, after=after,
        )  # fmt: skip
    elif root > 1 + 1e-6:
        key = "explosive" if shown < p.n else "explosive_whole"
        show.note(key, root=number(root), shown=f"{shown:,}", n=f"{p.n:,}")
    else:
        z = ar.roots(coefficients(p))
        on_circle = z[abs(z) > 1 - 1e-6]
        alone = on_circle[0].real if len(on_circle) == 1 else 0.0
        kind = "unit_root" if alone > 0 else "unit_root_minus" if alone < 0 else "unit_roots"
        places = (1, len(acf) // 2, len(acf) - 1)
        show.note(
            kind, count=len(on_circle), first=number(acf[1]), second=number(acf[2]),
            third=number(acf[3]), half=number(acf[places[1]]), last=number(acf[-1]),
            middle=places[1], lags=places[2],
        )  # fmt: skip


@lesson.bench("process", ProcessParams, leads=True)
def process(p: ProcessParams, show: Show) -> None:
    path, values = studied(p, show)
    if len(values) < 40:
        raise MessageError("exploded", steps=len(values))
    stationary = ar.is_stationary(path.coefficients)
    truth = path.coefficients if stationary and not p.shuffle else None
    rule = (0.0,) * p.order if p.shuffle else path.coefficients  # shuffled, nothing depends
    found = show.run(ar.correlogram, values, min(20, len(values) // 4), truth)
    if p.view == "correlations":
        show.figure(series_and_correlations, values, found)
    elif p.view == "roots":
        show.figure(roots_in_circle, show.run(ar.roots, rule, name="z"))
    else:
        line = show.run(ar.fit, values, 1, "ols", name="line")
        slope = p.phi if p.order == 1 and not p.shuffle else None
        show.figure(lag_plot, values, line, slope)
        known = {} if slope is None else {"truth": number(slope)}
        show.note("lag_plot" if known else "lag_line", slope=number(line.first), **known)
    show.readouts(found, "r1", beside={"r1": theory(show, found.theory_r1)})
    spread = ar.stationary_variance(path.coefficients, p.sigma) if stationary else inf
    show.readout("variance", ar.sample_variance, values, beside=theory(show, spread))
    show.readout("root", ar.largest_root, rule)
    show.readout("memory", ar.steps_remembered, rule)
    state_note(p, found, show, len(values))


@lesson.bench("by_hand", FitByHandParams, after=("process",))
def fit_by_hand(p: FitByHandParams, show: Show) -> None:
    _, values = studied(lesson.values("process"), show)
    show.figure(by_hand.fit_by_hand, values)
    start, least = show.run(ar.slope_errors, values, name="errors")
    share = (
        format_value(least / start, Unit("share", 0)) if least >= 0.01 * start else unbroken("< 1%")
    )
    show.note("by_hand", start=number(start), least=number(least), share=share)


def draw_sampling(p: FitParams, world: ProcessParams, show: Show) -> None:
    """The same experiment many times: how the estimator and its interval behave."""
    if world.order > 1:
        raise MessageError("sampling_needs_ar1")
    drawn = {"n": world.n, "sigma": world.sigma, "seed": world.seed, "noise": world.noise,
             "df": world.df, "shuffle": world.shuffle}  # fmt: skip
    many = show.run(
        ar.replicate,
        world.phi,
        intercept=p.intercept,
        method=cast(Method, p.estimator),
        name="many",
        **drawn,
    )
    show.figure(estimation.sampling_distribution, many)
    beside = {"bias": f"± {number(many.standard_error_of_bias, 2)}",
              "spread": theory(show, many.theory_sd)}  # fmt: skip
    show.readouts(
        many, bias="mean_bias", theory_bias="theory_bias", spread="standard_deviation",
        coverage="coverage", beside=beside,
    )  # fmt: skip
    tell_replications(p, world, many, drawn, show)
    if isfinite(many.theory_sd):
        times = number(many.standard_deviation / many.theory_sd)
        sizes = {"spread": number(many.standard_deviation), "theory": number(many.theory_sd)}
        show.note("spread", times=times, **sizes)
    elif world.shuffle and many.mean_bias > 2 * many.standard_error_of_bias:
        show.note("shuffled_mean")


def tell_replications(
    p: FitParams, world: ProcessParams, many: ar.Replications, drawn: dict[str, Any], show: Show
) -> None:
    """What the estimates of many series are on average, and how often the interval is right."""
    coverage = many.coverage
    said = {"method": show.option("methods", p.estimator), "n": f"{world.n:,}",
            "phi": number(many.phi), "bias": number(many.mean_bias, 2), "held": coverage.correct,
            "count": coverage.n}  # fmt: skip
    if many.standard_deviation < ROUNDING:
        # All alike, at the truth or, by a method that cannot reach it, far off.
        key = "rounding" if abs(many.mean_bias) < 1e-9 else "inside"
        return show.note(f"sampling_{key}", spread=number(many.standard_deviation, 2), **said)
    if p.estimator == "ols":
        return show.note("sampling", nominal=round(0.95 * coverage.n), **said)
    ols = show.run(ar.replicate, world.phi, intercept=p.intercept, name="ols", **drawn)
    show.note(
        "sampling_beside", ols=number(ols.mean_bias, 2), ols_held=ols.coverage.correct, **said
    )


def draw_order(p: FitParams, world: ProcessParams, values: Series, show: Show) -> None:
    """AIC and BIC on this series, and how often each finds the order in a hundred others."""
    rule = () if world.shuffle else coefficients(world)
    while rule and abs(rule[-1]) < 1e-12:  # a last coefficient of zero is no order
        rule = rule[:-1]
    chosen = show.run(ar.select_order, values, 10, p.intercept, name="chosen")
    show.figure(estimation.order_criteria, chosen, len(rule))
    show.readouts(chosen, aic_order="chosen_aic", bic_order="chosen_bic")
    said = {"aic": chosen.chosen_aic, "bic": chosen.chosen_bic, "truth": len(rule)}
    if not ar.is_stationary(rule):
        return show.note("order", **said)
    aic, bic = show.run(
        ar.orders_found, rule, world.n, 10, p.intercept, world.seed, sigma=world.sigma,
        noise=world.noise, df=world.df, burn_in=world.burn_in,
    )  # fmt: skip
    show.note("order_found", aic_found=aic.correct, bic_found=bic.correct, count=aic.n, **said)


def class_estimates(p: FitParams, show: Show) -> SeedExperiment:
    """The estimate of phi that each seat reads off at its own seed, all else as it stands."""
    world = lesson.values("process")
    if world.order > 1 or not (p.same or p.model == 1):
        raise MessageError("sampling_needs_ar1")
    method = cast(Method, p.estimator) if p.view == "sampling" else p.methods[0]
    shuffle, known = world.shuffle, (p.intercept, method, world.shuffle)
    drawn = {"n": world.n, "sigma": world.sigma, "burn_in": world.burn_in, "noise": world.noise,
             "df": world.df}  # fmt: skip
    bias, deviation = ar.in_theory(world.phi, world.n, *known)
    expected = replicates.normal((0.0 if shuffle else world.phi) + bias, deviation)
    return SeedExperiment(
        lambda seeds: ar.estimate_each(seeds, world.phi, *known, **drawn),
        show.words("class.fit.quantity"),
        show.words(
            "class.fit.shuffled" if shuffle else "class.fit.settings", phi=number(world.phi),
            n=f"{world.n:,}", method=show.option("methods", method),
        ),
        lambda values: expected,
    )  # fmt: skip


@lesson.bench("fit", FitParams, after=("process",), replicate=class_estimates)
def fit(p: FitParams, show: Show) -> None:
    world = lesson.values("process")
    if p.view == "sampling":
        return draw_sampling(p, world, show)
    path, values = studied(world, show)
    if p.view == "order":
        return draw_order(p, world, values, show)
    truth = (0.0,) * world.order if world.shuffle else tuple(path.coefficients)
    order = world.order if p.same else p.model
    found = [show.run(ar.fit, values, order, m, p.intercept, name=m) for m in p.methods]
    show.figure(estimation.estimates_beside_truth, found, truth)
    method, sigma = show.option("methods", found[0].method), world.sigma
    if world.shuffle:  # nothing of a value is explained: its noise is the whole of it
        steady = ar.is_stationary(path.coefficients)
        sigma = sqrt(ar.stationary_variance(path.coefficients, sigma)) if steady else inf
    show.readouts(
        found[0], estimate="first", interval="first_interval", sigma_hat="sigma",
        beside={"estimate": method, "sigma_hat": f"σ = {number(sigma)}"},
    )  # fmt: skip
    held, count = show.readout("covered", ar.covering, found, float(truth[0]))
    firsts, (low, high) = [one.first for one in found], found[0].first_interval
    said = {"truth": number(truth[0]), "width": number(high - low, 2)}
    if count == 1:
        return show.note("estimate_held" if held else "estimate_missed", method=method, **said)
    apart = number(max(firsts) - min(firsts), 2)
    show.note("estimates", held=held, count=count, apart=apart, **said)


def learn(
    show: Show, view: str, values: Series, settings: NetworkSettings, best: OneStep, floor: float,
    line: tuple[Any, float], rule: Any, slope: float | None = None,
) -> tuple[NetworkFit, float, float]:  # fmt: skip
    """Train a network on a series and draw it.

    best, floor: what least squares and the truth score. line: coefficients and intercept of the
    least squares fit. rule: the truth; slope: of a true line.
    Returns the training and the errors of network and line where the network is judged.
    """
    held_out = settings.train < 1
    targets = len(values) - 1
    ends = [round(share * targets) for share in (settings.train, settings.train + 0.2)]
    levels = (floor, best.least, best.line_mse(*ends) if held_out else None)
    done = show.job(
        fit_network, name="done", values=values, settings=settings,
        so_far=(training.loss_so_far, settings, levels),
    )  # fmt: skip
    if view == "loss":
        show.figure(training.loss_of_fit, done, levels)
        if held_out:
            turned = done.least_epoch < settings.epochs
            show.note(
                "u_curve" if turned else "u_none", least=number(done.least_validation),
                epoch=done.least_epoch, epochs=settings.epochs,
                last=number(done.validation_loss[-1]),
                train=number(done.train_loss[-1]), line=number(levels[2] or 0.0),
            )  # fmt: skip
    elif view == "map":
        if isinstance(rule, ar.Rule):
            true = show.derive(rule.next, done.map.inputs, name="true")
            best_line = show.derive(ar.straight, done.map.inputs, line[1], line[0][0], name="line")
            show.figure(training.one_step_map, done, values, slope, true, best_line)
            gaps = (abs(curve - true).max() for curve in (done.map.mean, best_line))
            show.note("bent_map", **dict(zip(("map", "line"), map(number, gaps), strict=True)))
        else:
            show.figure(training.one_step_map, done, values, slope)
            show.note(
                "map" if done.map.band_width > 0 else "map_of_one", slope=number(done.map.slope),
                band=number(done.map.band_width, 2), line=number(line[0][0]),
            )  # fmt: skip
    elif view == "predictions":
        show.figure(training.one_step_predictions, done)
        drawn = min(120, targets)
        naive = float(((values[1:] - values[:-1])[-drawn:] ** 2).mean())
        mse = number(done.last_mse(drawn))
        show.note("predictions", count=drawn, mse=mse, naive=number(naive))
    else:
        if not done.origins.size:
            raise MessageError("too_short_ahead", horizon=AHEAD, steps=len(values))
        back = show.run(errors_ahead, done, *line, rule, name="back")
        cell, steps, useful = settings.cell.upper(), len(back.network), int(back.useful)
        kind = "all" if useful == steps else {0: "none", 1: "one"}.get(useful, "some")
        rest = steps - max(useful, 1)
        later = int((back.network < back.level)[max(useful, 1) :].sum())
        show.figure(training.errors_fed_back, back, settings.cell)
        show.note(
            "ahead", steps=steps, first=number(back.network[0]),
            last=number(back.network[-1]), rule=number(back.rule[-1]), line=number(back.line[-1]),
            level=number(back.level[-1]), origins=back.origins, cell=cell,
            useful=show.words(
                f"note.useful_{kind}", cell=cell, useful=useful, steps=steps, rest=rest, later=later
            ),
        )  # fmt: skip
    kind, start = ("split", done.validation_end) if held_out else ("train", 0)
    where = show.words(f"metric.network_mse.{kind}")
    score = "test_mse" if held_out else "train_mse"
    show.readouts(done, network_mse=score, beside={"network_mse": where})
    reached = show.readout("ols_mse", best.line_mse, start, beside=where)
    show.readout("floor", best.truth_mse, start, beside=f"σ² = {number(floor)}")
    weights = len(line[0]) + isinstance(rule, ar.Rule)  # beside a bent rule with an intercept
    count = show.words("metric.parameters.delta", count=weights)
    show.readouts(done, "parameters", beside={"parameters": count})
    return done, getattr(done, score), reached


def verdict(error: float, line: float) -> str:
    """Of a network beside a line, to one percent."""
    return "under" if error / line > 1.01 else "over" if error / line < 0.99 else "even"


def draw_windows(p: NetworksParams, show: Show) -> None:
    """MLPs with windows of every length, and an RNN, on a series with a season."""
    path = show.run(ar.simulate, SEASONAL, n=2000, seed=p.seed, name="path")
    settings, order = replace(WINDOWED, seed=p.seed), len(SEASONAL)
    best = show.run(ar.one_step, path.values, order, settings.train, path.innovations, name="best")
    test = round((settings.train + settings.validation) * (len(path.values) - 1))
    noise = best.truth_mse(test)
    done = show.job(
        fit_windows, name="done", values=path.values, settings=settings,
        so_far=(training.windows_so_far, p.window, noise),
    )  # fmt: skip
    show.figure(training.error_by_window, done, p.window, noise)
    error = show.readout("network_mse", done.error, p.window, beside=f"MLP, P = {p.window}")
    show.readouts(done, "rnn_mse")
    show.readout("floor", best.truth_mse, test, beside=f"σ² = {number(path.sigma**2)}")
    beside = show.words("metric.parameters.rnn", count=done.rnn_parameters)
    show.readout("parameters", done.count, p.window, beside=beside)
    few, more, *_, many = done.parameters
    show.note(
        "window", window=p.window, count=done.parameters[p.window - 1], error=number(error),
        enough=done.enough, best=done.best, least=number(done.error(done.best)), each=more - few,
        windows=WINDOWS[-1], many=many, last=number(done.error(WINDOWS[-1])),
        rnn=number(done.rnn_mse), rnn_count=done.rnn_parameters, truth=number(noise),
    )  # fmt: skip


@lesson.bench("networks", NetworksParams, after=("process",))
def networks(p: NetworksParams, show: Show) -> None:
    if p.view == "window":
        return draw_windows(p, show)
    if p.preset == "own":
        world = lesson.values("process")
        train, validation = (0.6, 0.2) if p.split else (1.0, 0.0)
        settings = NetworkSettings(
            p.cell, p.lags, p.hidden, p.layers, p.epochs, p.rate, p.optimizer, train, validation,
            seed=p.seed,
        )  # fmt: skip
    else:  # the text's run: its series does not depend on the bench above
        world = ProcessParams(n=1000, seed=p.seed)
        settings = replace(PRESETS[p.preset], seed=p.seed)
    path, values = studied(world, show)
    if not ar.is_stationary(path.coefficients):
        raise MessageError("train_stationary")
    # What the true rule misses: the noise; of a shuffled series, everything.
    noise = values if world.shuffle else path.innovations
    best = show.run(ar.one_step, values, world.order, settings.train, noise, name="best")
    floor = best.truth_mse() if world.shuffle else world.sigma**2
    slope = world.phi if world.order == 1 and not world.shuffle else None
    seen = values[: 1 + round(settings.train * (len(values) - 1))]
    line = show.run(ar.fit, seen, world.order, "ols", name="line").coefficients
    rule = (0.0,) if world.shuffle else tuple(path.coefficients)
    done, error, reached = learn(
        show, p.view, values, settings, best, floor, (line, 0.0), rule, slope
    )
    kind = "split" if settings.train < 1 else "train"
    true = number(best.truth_mse(done.validation_end if kind == "split" else 0))
    key = f"{kind}_{verdict(error, reached)}"
    show.note(key, error=number(error), floor=number(reached), truth=true)


@lesson.bench("nonlinear", NonlinearParams)
def nonlinear(p: NonlinearParams, show: Show) -> None:
    rule = ar.Rule(cast(Kind, p.rule), p.below, p.above, p.r)
    path = show.run(ar.simulate_rule, rule, n=1000, seed=p.seed, name="path")
    settings = NetworkSettings(
        p.cell, hidden=16, epochs=500, learning_rate=0.01, train=0.6, validation=0.2, seed=p.seed
    )
    best, (intercept, slope) = show.run(ar.against_rule, path, settings.train, name="best")
    done, error, reached = learn(
        show, p.view, path.values, settings, best, rule.noise_variance, ((slope,), intercept), rule
    )
    show.note(
        f"bent_{verdict(error, reached)}", error=number(error), line=number(reached),
        truth=number(best.truth_mse(done.validation_end)), times=number(reached / error),
    )  # fmt: skip


@lesson.bench("forecast", AheadParams, after=("process",))
def ahead(p: AheadParams, show: Show) -> None:
    world = lesson.values("process")
    path, values = studied(world, show)
    if p.view == "fan":
        return draw_fan(show, values, p.model, p.intercept, p.horizon)
    if not ar.is_stationary(path.coefficients):
        raise MessageError("errors_need_stationary")
    if 0.3 * len(values) < p.horizon + 5:
        raise MessageError("too_short_to_forecast", horizon=p.horizon, steps=len(values))
    rule = (0.0,) if world.shuffle else path.coefficients
    sigma = float(values.std()) if world.shuffle else path.sigma
    errors = show.run(
        ar.errors_by_horizon, values, p.model, p.horizon, coefficients=rule, sigma=sigma,
        name="errors",
    )  # fmt: skip
    show.figure(forecast.error_by_horizon, errors)
    ends = {"mse_1": theory(show, errors.theory[0]), "mse_h": theory(show, errors.theory[-1])}
    show.readouts(errors, "mse_1", "mse_h", "mse_direct", "origins", beside=ends)
    several = "errors_recursive" if errors.mse_h <= errors.mse_direct else "errors_direct"
    show.note(
        several if p.horizon > 1 else "errors_one",
        h=p.horizon, recursive=number(errors.mse_h), direct=number(errors.mse_direct),
        theory=number(float(errors.theory[-1])), origins=errors.origins,
    )  # fmt: skip


def own_column(show: Show) -> tuple[Series, str] | None:
    """A column of the student's file, oldest first, and its name; None without a file.

    What the file says against equal steps forward stands above the figure.
    """
    content = show.upload("csv")
    if content is None:
        show.hint("csv")
        return None
    table = show.read_upload(upload.parse, content)
    name = show.pick("column", table.numeric_columns, upload.likely(table))
    values = upload.column(table, name)
    code = f'column(parse(Path("your.csv").read_bytes()), {name!r})'
    for remark in upload.remarks(table, name):
        if remark.code == "newest_first":
            values, code = values[::-1], f"{code}[::-1]"
        details = {
            k: escape_markdown(v) if isinstance(v, str) else v for k, v in remark.details.items()
        }
        show.note(f"own_{remark.code}", **details)
    show.trace.define("values", code, values, upload.column, upload.parse)
    return values, escape(short(name))


@lesson.bench("real", MeasuredSeriesParams)
def real(p: MeasuredSeriesParams, show: Show) -> None:
    index, unit, source = None, "", ""
    if p.source == "csv":
        own = own_column(show)
        if own is None:
            return
        values, unit = own
    else:
        chosen = show.run(series.bundled, p.source, name="chosen")
        values, index, source = chosen.values, chosen.labels, chosen.source
        unit = show.words(f"unit.{p.source}")
    season = (p.period if p.source == "csv" else SEASONS[p.source]) if p.seasonal else 0
    steady = values
    if p.difference or season:
        if len(values) < season + 21:
            raise MessageError("too_short_to_difference", steps=len(values))
        steady = show.run(ar.differenced, values, p.difference, season, name="steady")
    if p.view == "fan":
        draw_fan(show, values, p.model, True, p.horizon, p.difference, season, index, unit)
        check = show.run(ar.diagnose, steady, p.model, name="check")
        if check.refused:
            said = {"q": number(check.q), "limit": number(check.q_limit)}
            show.note("fan_refused", order=p.model, lags=int(check.tested), **said)
    elif p.view == "correlations":
        found = show.run(ar.correlogram, steady, min(40, len(steady) // 4))
        show.figure(series_and_correlations, steady, found, index, unit)
        outside, bars = found.outside
        show.note("bars", outside=outside, bars=bars, chance=f"{bars / 20:g}")
    elif p.view == "order":
        draw_real_orders(show, steady)
    else:
        check = show.run(ar.diagnose, steady, p.model, name="check")
        show.figure(residual_check, check, index, unit)
        tell_diagnosis(show, check)
    if p.source == "sunspots" and steady is values and p.view in ("fan", "residuals"):
        show.target("white", not check.refused, q=number(check.q), limit=number(check.q_limit))
    if source:
        show.caption(source)
        if p.source == "sunspots":
            show.caption(show.words("note.yule"))


def tell_diagnosis(show: Show, check: ar.Diagnosis) -> None:
    """The verdict of the Ljung-Box test in numbers and in a sentence."""
    limit = show.words("metric.q.limit", limit=number(check.q_limit))
    show.readouts(check, "q", "q_p", "strongest", beside={"q": limit})
    show.readout("left_over", check.correlations.outside_acf)
    show.note(
        "refused" if check.refused else "accepted", order=check.order, lags=int(check.tested),
        q=number(check.q), limit=number(check.q_limit), degrees=int(check.tested) - check.order,
        lag=check.strongest_lag, strongest=number(check.strongest, 2),
    )  # fmt: skip


def draw_real_orders(show: Show, values: Series) -> None:
    """AIC and BIC of the orders up to 12, and whether what AIC chooses passes the test."""
    chosen = show.run(ar.select_order, values, min(12, len(values) // 4), True, name="chosen")
    show.figure(estimation.order_criteria, chosen)
    show.readouts(chosen, aic_order="chosen_aic", bic_order="chosen_bic")
    order = max(1, chosen.chosen_aic)
    check = show.run(ar.diagnose, values, order, name="check")
    show.note(
        "order_refused" if check.refused else "order_accepted", order=order,
        aic=chosen.chosen_aic, bic=chosen.chosen_bic, lags=int(check.tested), q=number(check.q),
        limit=number(check.q_limit), highest=len(chosen.orders) - 1,
    )  # fmt: skip


PHIS = (0.5, 0.7, 0.8, 0.9, 0.95)


def steps_to_a_tenth(phi: float) -> float:
    """After how many steps has the correlation of an AR(1) fallen below a tenth?"""
    correlations = ar.theoretical_acf((phi,), 60)
    return next(lag for lag, correlation in enumerate(correlations) if correlation < 0.1)


lesson.exercise("memory", cases=[{"phi": phi} for phi in PHIS], answer=steps_to_a_tenth, within=0.5)

# x_t = 0.9 x_{t-1} - 0.5 x_{t-2} + noise: complex roots, so the correlations swing.
lesson.sketch(
    "waves", kind="bar", bench="process", values={"order": 2, "n": 5000}, panel=("x2", "y2"),
    answer=(1, 2), shown=(3, 4),
)  # fmt: skip
