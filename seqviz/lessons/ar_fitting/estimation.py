"""Benches on estimation: a slope by hand, four methods, order selection, sampling."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, isfinite, sqrt
from typing import Any, cast

from seqviz.compute import ar_fitting as ar
from seqviz.compute import replicates
from seqviz.compute.ar_fitting.estimation import Method
from seqviz.core.errors import MessageError
from seqviz.figures.ar_fitting import by_hand, estimation
from seqviz.lessons.ar_fitting.series import ProcessParams, Series, coefficients, studied, theory
from seqviz.lessons.framework.controls import choice, on, slider, toggle, view
from seqviz.lessons.framework.lesson import SeedExperiment, read_params
from seqviz.lessons.framework.show import Show

SLIDER_STEP = 0.01  # of the slope by hand
ROUNDING = 1e-14  # a spread of estimates near 1 that float64 cannot resolve


@dataclass(frozen=True)
class FitByHandParams:
    """Controls of the bench on the slope."""

    view: str = view(("pairs", "runs"), "pairs")
    slope: float = slider(-1.2, 1.2, 0.0, SLIDER_STEP, when=on(view="pairs"))


def fit_by_hand(p: FitByHandParams, show: Show) -> None:
    _, values = studied(read_params("process", ProcessParams), show)
    if p.view == "runs":
        windows = show.run(ar.window_slopes, values, name="windows")
        show.figure(by_hand.slopes_by_window, values, windows)
        smallest, largest = windows.extremes
        best = show.run(ar.fit, values, 1, "ols", name="line").first
        count, width = len(windows.slopes), windows.width
        show.note("runs", count=count, width=width, smallest=smallest, largest=largest, best=best)
        return
    result = show.run(ar.slope_error, values, p.slope)
    show.figure(by_hand.fit_by_hand, values, p.slope)
    show.readouts(result, slope_mse="mse", excess="excess")
    is_found = abs(p.slope - result.best) < SLIDER_STEP / 2 + 1e-9
    show.note("by_hand_found" if is_found else "by_hand", result=result)


@dataclass(frozen=True)
class FitParams:
    """Controls of the bench on estimation."""

    view: str = view(("estimates", "order", "sampling"), "estimates")
    methods: tuple[Method, ...] = choice(
        ar.METHODS, ar.METHODS, many=True, when=on(view="estimates")
    )
    same: bool = toggle(True, when=on(view="estimates"))
    model: int = slider(1, 8, 1, when=on(view="estimates", same=False))
    estimator: str = choice(ar.METHODS, "ols", menu=True, when=on(view="sampling"))
    intercept: bool = toggle(False, more=True)


def draw_sampling(p: FitParams, world: ProcessParams, show: Show) -> None:
    """Show the distribution of the estimator and the coverage of its interval over many series.

    Raises:
        MessageError: the order exceeds 1.
    """
    if world.order > 1:
        raise MessageError("sampling_needs_ar1")
    samples = {"n": world.n, "sigma": world.sigma, "seed": world.seed, "noise": world.noise,
             "df": world.df, "shuffle": world.shuffle}  # fmt: skip
    many = show.run(ar.replicate, world.phi, intercept=p.intercept,
                    method=cast(Method, p.estimator), name="many", **samples)  # fmt: skip
    show.figure(estimation.sampling_distribution, many)
    margin = show.words("metric.bias.margin", value=many.standard_error_of_bias)
    beside = {"bias": margin, "spread": theory(show, many.theory_sd)}
    show.readouts(
        many, bias="mean_bias", theory_bias="theory_bias", spread="standard_deviation",
        coverage="coverage", caption=beside,
    )  # fmt: skip
    tell_replications(p, world, many, samples, show)
    if isfinite(many.theory_sd):
        show.note("spread", many=many, times=many.standard_deviation / many.theory_sd)
    elif world.shuffle and many.mean_bias > 2 * many.standard_error_of_bias:
        show.note("shuffled_mean")


def tell_replications(
    p: FitParams, world: ProcessParams, many: ar.Replications, rendered: dict[str, Any], show: Show
) -> None:
    """State the mean of the estimates over many series, and the coverage of the interval."""
    summary = {"many": many, "method": show.option("methods", p.estimator)}
    if many.standard_deviation < ROUNDING:
        # All estimates are equal: at the truth, or far off for a method that cannot reach it.
        key = "rounding" if abs(many.mean_bias) < 1e-9 else "inside"
        return show.note(f"sampling_{key}", **summary)
    if p.estimator == "ols":
        return show.note("sampling", nominal=round(0.95 * many.coverage.n), **summary)
    ols = show.run(ar.replicate, world.phi, intercept=p.intercept, name="ols", **rendered)
    return show.note("sampling_beside", ols=ols, **summary)


def draw_order(p: FitParams, world: ProcessParams, values: Series, show: Show) -> None:
    """Show AIC and BIC on this series, and how often each finds the order in a hundred others."""
    rule = () if world.shuffle else coefficients(world)
    while rule and abs(rule[-1]) < 1e-12:  # a trailing zero does not count
        rule = rule[:-1]
    chosen = show.run(ar.select_order, values, 10, p.intercept, name="chosen")
    show.figure(estimation.order_criteria, chosen, len(rule))
    show.readouts(chosen, aic_order="chosen_aic", bic_order="chosen_bic")
    if not ar.is_stationary(rule):
        return show.note("order", chosen=chosen, truth=len(rule))
    aic, bic = show.run(
        ar.orders_found, rule, world.n, 10, p.intercept, world.seed, sigma=world.sigma,
        noise=world.noise, df=world.df, burn_in=world.burn_in,
    )  # fmt: skip
    return show.note("order_found", chosen=chosen, truth=len(rule), aic=aic, bic=bic)


def class_estimates(p: FitParams, show: Show) -> SeedExperiment:
    """Return the class experiment: the estimate of phi at each seat's seed, all else equal.

    Raises:
        MessageError: the order of process or model exceeds 1.
    """
    world = read_params("process", ProcessParams)
    if world.order > 1:
        raise MessageError("sampling_needs_ar1")
    if not (p.same or p.model == 1):
        raise MessageError("class_needs_ar1")
    method = cast(Method, p.estimator) if p.view == "sampling" else p.methods[0]
    shuffle, existing = world.shuffle, (p.intercept, method, world.shuffle)
    names = ("n", "sigma", "burn_in", "noise", "df")
    samples: dict[str, Any] = {name: getattr(world, name) for name in names}
    bias, deviation = ar.in_theory(world.phi, world.n, *existing)
    expected = replicates.normal((0.0 if shuffle else world.phi) + bias, deviation)
    settings = show.words(f"class.fit.{'shuffled' if shuffle else 'settings'}", phi=world.phi,
                          n=world.n, method=show.option("methods", method))  # fmt: skip
    return SeedExperiment(
        lambda seeds: ar.estimate_each(seeds, world.phi, *existing, **samples),
        show.words("class.fit.quantity"), settings, lambda values: expected,
    )  # fmt: skip


def fit(p: FitParams, show: Show) -> None:
    world = read_params("process", ProcessParams)
    if p.view == "sampling":
        return draw_sampling(p, world, show)
    path, values = studied(world, show)
    if p.view == "order":
        return draw_order(p, world, values, show)
    truth = (0.0,) * world.order if world.shuffle else tuple(path.coefficients)
    order = world.order if p.same else p.model
    results = [show.run(ar.fit, values, order, m, p.intercept, name=m) for m in p.methods]
    show.figure(estimation.estimates_beside_truth, results, truth)
    method, sigma = show.option("methods", results[0].method), world.sigma
    if world.shuffle:  # a shuffled value is all noise
        steady = ar.is_stationary(path.coefficients)
        sigma = sqrt(ar.stationary_variance(path.coefficients, sigma)) if steady else inf
    beside = {"estimate": method, "sigma_hat": show.words("metric.sigma_hat.truth", value=sigma)}
    show.readouts(results[0], estimate="first", interval="first_interval", sigma_hat="sigma",
                  caption=beside)  # fmt: skip
    held, count = show.readout("covered", ar.covering, results, float(truth[0]))
    firsts, (low, high) = [item.first for item in results], results[0].first_interval
    key = "note.series_shuffled" if world.shuffle else "note.series"
    series = show.words(key, order=world.order, n=len(values))
    labels = {"truth": truth[0], "width": high - low, "series": series}
    if count == 1:
        return show.note("estimate_held" if held else "estimate_missed", method=method, **labels)
    apart = max(firsts) - min(firsts)
    return show.note("estimates", held=held, count=count, apart=apart, **labels)
