"""Networks that learn a series: the text's run, one's own, and rules that are no lines."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, cast

from seqviz.compute import ar_fitting as ar
from seqviz.compute.ar_fitting.ahead import errors_ahead
from seqviz.compute.ar_fitting.estimation import OneStep
from seqviz.compute.ar_fitting.network_settings import CELLS, NetworkSettings
from seqviz.compute.ar_fitting.networks import AHEAD, NetworkFit, fit_network
from seqviz.compute.ar_fitting.nonlinear import RULE_KINDS, Kind
from seqviz.compute.ar_fitting.windows import WINDOWS, fit_windows
from seqviz.core.errors import MessageError
from seqviz.core.i18n import number
from seqviz.figures.ar_fitting import training
from seqviz.lessons.ar_fitting.series import ProcessParams, Series, studied
from seqviz.lessons.framework.controls import choice, on, seed, select_slider, slider, toggle, view
from seqviz.lessons.framework.lesson import read_params
from seqviz.lessons.framework.show import Show

PRESETS = {
    "text": NetworkSettings(epochs=100),
    "text_1000": NetworkSettings(epochs=1000),
    "held_out": NetworkSettings(epochs=1000, train=0.6, validation=0.2),
}
SEASONAL = (0.0, 0.0, 0.0, 0.7)  # no window below 4 sees anything that helps
WINDOWED = NetworkSettings(
    "mlp", hidden=8, epochs=200, learning_rate=0.01, train=0.6, validation=0.2
)
OWN = on(preset="own")


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
    levels = (floor, best.training_mse, best.line_mse(*ends) if held_out else None)
    done = show.job(
        fit_network, name="done", values=values, settings=settings,
        so_far=(training.loss_so_far, settings, levels),
    )  # fmt: skip
    if view == "loss":
        show.figure(training.loss_of_fit, done, levels)
        if held_out:
            turned = done.least_epoch < settings.epochs
            show.note(
                "u_curve" if turned else "u_none", least=done.least_validation,
                epoch=done.least_epoch, epochs=settings.epochs,
                last=done.validation_loss[-1],
                train=done.train_loss[-1], line=levels[2] or 0.0,
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
                "map" if done.map.band_width > 0 else "map_of_one", slope=done.map.slope,
                band=done.map.band_width, line=line[0][0],
            )  # fmt: skip
    elif view == "predictions":
        show.figure(training.one_step_predictions, done)
        rendered = min(120, targets)
        naive = float(((values[1:] - values[:-1])[-rendered:] ** 2).mean())
        mse = number(done.last_mse(rendered))
        show.note("predictions", count=rendered, mse=mse, naive=naive)
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
            "ahead", steps=steps, first=back.network[0],
            last=back.network[-1], rule=back.rule[-1], line=back.line[-1],
            level=back.level[-1], origins=back.origins, cell=cell,
            useful=show.words(
                f"note.useful_{kind}", cell=cell, useful=useful, steps=steps, rest=rest, later=later
            ),
        )  # fmt: skip
    kind, start = ("split", done.validation_end) if held_out else ("train", 0)
    where = show.words(f"metric.network_mse.{kind}")
    score = "test_mse" if held_out else "train_mse"
    show.readouts(done, network_mse=score, caption={"network_mse": where})
    reached = show.readout("ols_mse", best.line_mse, start, caption=where)
    show.readout("floor", best.truth_mse, start, caption=f"σ² = {number(floor)}")
    weights = len(line[0]) + isinstance(rule, ar.Rule)  # beside a bent rule with an intercept
    count = show.words("metric.parameters.delta", count=weights)
    show.readouts(done, "parameters", caption={"parameters": count})
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
    error = show.readout("network_mse", done.error, p.window, caption=f"MLP, P = {p.window}")
    show.readouts(done, "rnn_mse")
    show.readout("floor", best.truth_mse, test, caption=f"σ² = {number(path.sigma**2)}")
    beside = show.words("metric.parameters.rnn", count=done.rnn_parameters)
    show.readout("parameters", done.count, p.window, caption=beside)
    few, more, *_, many = done.parameters
    show.note(
        "window", window=p.window, count=done.parameters[p.window - 1], error=error,
        enough=done.enough, best=done.best, least=done.error(done.best), each=more - few,
        windows=WINDOWS[-1], many=many, last=done.error(WINDOWS[-1]),
        rnn=done.rnn_mse, rnn_count=done.rnn_parameters, truth=noise,
    )  # fmt: skip


def networks(p: NetworksParams, show: Show) -> None:
    if p.view == "window":
        return draw_windows(p, show)
    if p.preset == "own":
        world = read_params("process", ProcessParams)
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
    observed = values[: 1 + round(settings.train * (len(values) - 1))]
    line = show.run(ar.fit, observed, world.order, "ols", name="line").coefficients
    rule = (0.0,) if world.shuffle else tuple(path.coefficients)
    done, error, reached = learn(
        show, p.view, values, settings, best, floor, (line, 0.0), rule, slope
    )
    kind = "split" if settings.train < 1 else "train"
    true = number(best.truth_mse(done.validation_end if kind == "split" else 0))
    key = f"{kind}_{verdict(error, reached)}"
    show.note(key, error=number(error), floor=number(reached), truth=true)


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
        f"bent_{verdict(error, reached)}", error=error, line=number(reached),
        truth=best.truth_mse(done.validation_end), times=reached / error,
    )  # fmt: skip
