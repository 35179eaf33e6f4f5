"""Bench on the series under study, which the benches on fits and forecasts read, too."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import Any

from jaxtyping import Float
from numpy import ndarray

from seqviz.compute import ar_fitting as ar
from seqviz.core.errors import MessageError
from seqviz.figures.ar_fitting.series import lag_plot, roots_in_circle, series_and_correlations
from seqviz.lessons.framework.controls import choice, on, seed, select_slider, slider, toggle, view
from seqviz.lessons.framework.show import Show

Series = Float[ndarray, "time"]
NOISES = ("gaussian", "student_t", "laplace")


def at_lag(lag: int, default: float, free: bool = False) -> Any:
    """Return the slider of a lag, a partial autocorrelation or, if `free`, a coefficient.

    It is shown for orders from 2 on.
    """
    orders, end = tuple(range(max(2, lag), 6)), 2.0 if free else 0.95
    return slider(-end, end, default, 0.05, when=on(order=orders, free=free))


@dataclass(frozen=True)
class ProcessParams:
    """Controls of the series under study; the benches on fits, networks and forecasts read them."""

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
    n: int = select_slider((50, 100, 200, 500, 1000, 2000, 5000), 500, unit="values", more=True)
    seed: int = seed(1, more=True)
    shuffle: bool = toggle(False, more=True)
    sigma: float = slider(0.1, 5.0, 1.0, 0.1, more=True)
    noise: str = choice(NOISES, "gaussian", menu=True, more=True)
    df: float = slider(2.5, 30.0, 5.0, 0.5, more=True, when=on(noise="student_t"))
    burn_in: int = select_slider((0, 50, 200, 1000), 0, more=True, unit="steps")


def coefficients(p: ProcessParams) -> tuple[float, ...]:
    if p.order == 1:
        return (p.phi,)
    if p.free:
        return (p.b1, p.b2, p.b3, p.b4, p.b5)[: p.order]
    return ar.coefficients_from_partial((p.a1, p.a2, p.a3, p.a4, p.a5)[: p.order])


def studied(world: ProcessParams, show: Show) -> tuple[ar.SimulatedPath, Series]:
    """Return the path of the first bench, and its values in order or shuffled."""
    path = show.run(
        ar.simulate, coefficients(world), sigma=world.sigma, n=world.n, burn_in=world.burn_in,
        seed=world.seed, noise=world.noise, df=world.df, name="path",
    )  # fmt: skip
    if not world.shuffle:
        return path, path.values
    return path, show.run(ar.shuffled, path.values, world.seed, name="values")


def theory(show: Show, value: float | None) -> str | None:
    """Return the caption with a theoretical value, or None."""
    return None if value is None else show.words("metric.theory", value=value)


def state_note(p: ProcessParams, correlogram: ar.Correlogram, show: Show, n_shown: int) -> None:
    """State the verdict of the roots on the process, and what the bars show."""
    root, acf = ar.largest_root(coefficients(p)), correlogram.acf
    size = show.words("note.size_of_one" if p.order == 1 else "note.size", root=root)
    if p.shuffle:
        outside, bars = correlogram.outside_acf()  # the PACF is close to the ACF without dependence
        show.note("shuffled", outside=outside, bars=bars)
    elif ar.is_stationary(coefficients(p)):
        beyond, after = correlogram.beyond(p.order)
        show.note("stationary", size=size, gap=correlogram.gap, order=p.order, beyond=beyond,
                  after=after)  # fmt: skip
    elif root > 1 + 1e-6:
        key = "explosive" if n_shown < p.n else "explosive_whole"
        show.note(key, size=size, shown=n_shown, n=p.n)
    else:
        z = ar.roots(coefficients(p))
        on_circle = z[abs(z) > 1 - 1e-6]
        alone = on_circle[0].real if len(on_circle) == 1 else 0.0
        kind = "unit_root" if alone > 0 else "unit_root_minus" if alone < 0 else "unit_roots"
        first, second, third, half, last = acf[[1, 2, 3, len(acf) // 2, -1]].tolist()
        show.note(kind, count=len(on_circle), first=first, second=second, third=third, half=half,
                  last=last, middle=len(acf) // 2, lags=len(acf) - 1)  # fmt: skip


def process(p: ProcessParams, show: Show) -> None:
    path, values = studied(p, show)
    if len(values) < 40:
        raise MessageError("exploded", steps=len(values))
    stationary = ar.is_stationary(path.coefficients)
    truth = path.coefficients if stationary and not p.shuffle else None
    rule = (0.0,) * p.order if p.shuffle else path.coefficients  # no dependence if shuffled
    show.state(coefficients=path.coefficients)
    correlogram = show.run(ar.correlogram, values, min(20, len(values) // 4), truth)
    if p.view == "correlations":
        show.figure(series_and_correlations, values, correlogram)
    elif p.view == "roots":
        show.figure(roots_in_circle, show.run(ar.roots, rule, name="z"))
        show.note("root_of_one" if p.order == 1 and not p.shuffle else "roots")
    else:
        line = show.run(ar.fit, values, 1, "ols", name="line")
        slope = p.phi if p.order == 1 and not p.shuffle else None
        show.figure(lag_plot, values, line, slope)
        show.note("lag_line" if slope is None else "lag_plot", slope=line.first, truth=slope)
    show.readouts(correlogram, "r1", caption={"r1": theory(show, correlogram.theory_r1)})
    spread = ar.stationary_variance(path.coefficients, p.sigma) if stationary else inf
    show.readout("variance", ar.sample_variance, values, caption=theory(show, spread))
    show.readout("root", ar.largest_root, rule)
    show.readout("memory", ar.steps_remembered, rule)
    state_note(p, correlogram, show, len(values))
