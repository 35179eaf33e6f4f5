"""Vanishing gradients: how far back does the error reach?"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from math import inf
from typing import Any

from seqviz.compute import vanishing_gradients
from seqviz.compute.vanishing_gradients import GradientExperiment, recall
from seqviz.core.errors import UserError
from seqviz.core.i18n import escape_markdown, format_log10, number, percent
from seqviz.figures.vanishing_gradients.cliff import cliff
from seqviz.figures.vanishing_gradients.clipping import with_and_without_clipping
from seqviz.figures.vanishing_gradients.norms import gradient_reach
from seqviz.figures.vanishing_gradients.pairs import pair_map
from seqviz.figures.vanishing_gradients.paths import path_bars, recursion_step, unrolled_graph
from seqviz.figures.vanishing_gradients.recall import (
    accuracy_by_delay,
    accuracy_by_delay_progress,
    race_course,
    race_progress,
)
from seqviz.figures.vanishing_gradients.simplified_gru import gated_jacobian
from seqviz.figures.vanishing_gradients.truncation import kept_and_lost, mean_of_draws
from seqviz.figures.vanishing_gradients.weights import weights_by_step
from seqviz.lessons.framework.controls import (
    choice,
    on,
    seed,
    slider,
    step_slider,
    text_input,
    toggle,
    view,
)
from seqviz.lessons.framework.controls import select_slider as stops
from seqviz.lessons.framework.lesson import Lesson
from seqviz.lessons.framework.lesson import SeedExperiment as ClassRun
from seqviz.lessons.framework.show import Show

WIDTHS = (2, 4, 8, 16, 32, 64, 128, 256)
SENTENCE = "The flights the airline was cancelling were"  # its last error is that of the verb
# What these benches compute grows with T d^2 and more; beyond this they would keep a class waiting.
MOST_STEPS, MOST_WIDTH, DRAWS = 200, 64, 1024

DIGITS = 10  # of a singular value beside 1, at most
LITTLE = (5.0, 0.1)  # degrees that a gradient turns, and share of its length that it loses
FAR = 50  # steps that the target wants
UNSEEN = 1e-6  # of the gradient's length: what a truncation misses is rounding, or next to it
# The two tasks want different settings to be learned in seconds (see RecallSettings): each has its
# own three controls.
SCALED = tuple(init for init in vanishing_gradients.INITS if init != "non_normal")  # by the gain
UPDATES = (100, 200, 400, 600, 900, 1200, 2000)
OPEN = ("course", "ladder")  # views in which the gates start as the student says
RATES = (0.0003, 0.001, 0.003, 0.01)

lesson = Lesson(
    "vanishing_gradients",
    code=(vanishing_gradients.log_norms, vanishing_gradients.pair_norms, vanishing_gradients.reach),
)


@dataclass(frozen=True)
class ReachParams:
    """The network under study: the benches below work on it."""

    cells: tuple[str, ...] = choice(
        vanishing_gradients.CELLS, ("linear", "rnn", "lstm", "gru"), many=True
    )
    steps: int = slider(2, 500, 100)
    init: str = choice(vanishing_gradients.INITS, "gaussian", menu=True)
    gain: float = slider(0.1, 2.0, 0.9, 0.01, when=on(init=SCALED))
    signal: str = choice(vanishing_gradients.SIGNALS, "random", menu=True)
    sentence: str = text_input(SENTENCE, when=on(signal="sentence"))
    width: int = stops(WIDTHS, 32, more=True)
    loss: str = choice(vanishing_gradients.LOSSES, "last", more=True)
    forget_bias: float = slider(-2.0, 6.0, 1.0, 0.25, more=True, when=on(cells="lstm"))
    update_bias: float = slider(-2.0, 6.0, 1.0, 0.25, more=True, when=on(cells="gru"))
    seed: int = seed(1, more=True)


@dataclass(frozen=True)
class PairsParams:
    """Which pair of steps, of which cell."""

    cell: str = choice(vanishing_gradients.CELLS, "rnn", menu=True)
    earlier: int = slider(1, 500, 40)
    later: int = slider(1, 500, 80)
    norm: str = choice(vanishing_gradients.NORMS, "rms", more=True)
    part: str = choice(vanishing_gradients.STATE_PARTS, "cell_state", when=on(cell="lstm"))


@dataclass(frozen=True)
class PathsParams:
    """A small network, so that every path can be seen."""

    cell: str = choice(("linear", "rnn"), "linear")
    steps: int = slider(2, 30, 6)
    t: int = slider(1, 30, 1, within="steps")
    gain: float = slider(0.1, 1.5, 0.8, 0.05)
    printed: bool = toggle(False)
    seed: int = seed(1, more=True)


@dataclass(frozen=True)
class BackParams:
    """A very small network, so that every number can be written down."""

    steps: int = slider(2, 6, 4)
    taken: int = step_slider(0, 6, 1, within="steps")
    cell: str = choice(("linear", "rnn"), "linear")
    width: int = slider(1, 3, 2)
    shift: float = slider(-3.0, 3.0, 0.0, 0.1)
    seed: int = seed(1, more=True)


@dataclass(frozen=True)
class WeightGradientParams:
    """A small RNN, and the matrix whose gradient is taken apart."""

    matrix: str = choice(vanishing_gradients.MATRICES, "hidden_hidden", menu=True)
    steps: int = slider(2, 30, 20)
    t: int = step_slider(1, 30, 20, within="steps")
    cell: str = choice(("linear", "rnn"), "linear")
    gain: float = slider(0.1, 1.5, 0.8, 0.05)
    loss: str = choice(vanishing_gradients.LOSSES, "last", more=True)
    seed: int = seed(1, more=True)


@dataclass(frozen=True)
class CutParams:
    """How the way back is cut short."""

    view: str = view(("terms", "clipping", "cliff", "random"), "terms")
    cell: str = choice(
        vanishing_gradients.CELLS, "rnn", menu=True, when=on(view=("terms", "random"))
    )
    kind: str = choice(vanishing_gradients.TRUNCATIONS, "window", when=on(view="terms"))
    window: int = slider(1, 200, 10, when=on(view="terms"), unit="steps")
    stop: float = slider(0.02, 0.6, 0.1, 0.02, when=on(view="random"))
    activation: str = choice(("linear", "rnn"), "linear", when=on(view="clipping"))
    radius: float = slider(0.8, 1.3, 1.0, 0.02, when=on(view="clipping"))
    start_weight: float = slider(*vanishing_gradients.WEIGHTS, 5.0, 0.05, when=on(view="cliff"))
    start_bias: float = slider(*vanishing_gradients.BIASES, -2.5, 0.05, when=on(view="cliff"))
    threshold: float = stops(
        (0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0, 1000.0),
        1.0,
        when=on(view=("clipping", "cliff")),
    )
    rate: float = stops(
        (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1),
        0.02,
        when=on(view="clipping"),
    )
    rate_cliff: float = stops((0.01, 0.02, 0.05, 0.1, 0.2, 0.5), 0.1, when=on(view="cliff"))
    seed: int = seed(1, more=True, when=on(view=("random", "clipping")))


@dataclass(frozen=True)
class GatesParams:
    """Two gates that do not change."""

    update: float = slider(0.0, 1.0, 0.1, 0.02)
    reset: float = slider(0.0, 1.0, 1.0, 0.02)


@dataclass(frozen=True)
class RaceParams:
    """Who learns to remember, live."""

    view: str = view(("course", "closed", "ladder"), "course")
    task: str = choice(recall.TASKS, "first")
    delay: int = slider(1, 200, 50, unit="steps")
    cells: tuple[str, ...] = choice(recall.CELLS, recall.CELLS, many=True)
    bias: float = slider(0.0, 6.0, 4.0, 0.5, when=on(task="first", view=OPEN))
    bias_adding: float = slider(0.0, 6.0, 2.0, 0.5, when=on(task="adding", view=OPEN))
    updates: int = stops(UPDATES, 600, more=True, when=on(task="first"))
    updates_adding: int = stops(UPDATES, 1200, more=True, when=on(task="adding"))
    hidden: int = stops((8, 16, 32, 64), 32, more=True)
    rate: float = stops(RATES, 0.001, more=True, when=on(task="first"))
    rate_adding: float = stops(RATES, 0.01, more=True, when=on(task="adding"))
    seed: int = seed(0, more=True)


def experiment(p: ReachParams, cell: str) -> GradientExperiment:
    """The settings of the first bench for one cell."""
    chosen = GradientExperiment(
        cell, p.steps, p.width, p.init, p.gain, p.forget_bias, p.update_bias, p.signal,
        loss=p.loss, seed=p.seed,
    )  # fmt: skip
    return replace(chosen, sentence=p.sentence) if p.signal == "sentence" else chosen


def modest(p: ReachParams, cell: str) -> GradientExperiment:
    """The same, no larger than what answers within a second."""
    asked = experiment(p, cell)
    return replace(
        asked, steps=min(asked.steps, MOST_STEPS), width=min(asked.width, MOST_WIDTH), loss="mean"
    )


def matrix_of(p: ReachParams, show: Show) -> vanishing_gradients.MatrixSpectrum:
    """What its recurrent matrix is like, which all cells share."""
    return show.run(vanishing_gradients.spectrum, p.init, p.width, p.gain, p.seed, name="matrix")


def beside_one(value: float) -> str:
    """With as many digits as it takes to see on which side of 1 it is."""
    digits = next((d for d in range(3, DIGITS + 1) if round(value, d - 1) != 1), 3)
    return number(value, digits)


def on_road(cell: str, show: Show) -> str:
    """The network's name, with the state on which its way back is measured if there are two."""
    name = show.option("cells", cell)
    return show.words("road.cell_state", cell=name) if cell == "lstm" else name


def draw_clipping(p: CutParams, show: Show) -> None:
    activation = "tanh" if p.activation == "rnn" else "linear"
    free, clipped = (
        show.run(
            vanishing_gradients.descend, activation, p.radius, theta, p.rate, p.seed, name=name
        )
        for name, theta in (("without", None), ("with_clipping", p.threshold))
    )
    show.figure(with_and_without_clipping, free, clipped, p.threshold)
    show.readouts(free, loss_free="last_loss")
    show.readouts(clipped, loss_clipped="last_loss", largest_norm="largest_norm")
    show.metrics(clipped=f"{clipped.clipped} / {len(clipped.loss)}")
    if free.left_float32 is not None:
        show.note("free_left", update=free.left_float32)
    if clipped.left_float32 is not None:
        step, theta = number(p.rate * p.threshold), number(p.threshold)
        show.note("clipped_left", update=clipped.left_float32, threshold=theta, step=step)
    elif clipped.last_loss is not None:
        key = "clipping_better" if clipped.last_loss < 1 else "clipping_no_better"
        loss, updates = number(clipped.last_loss), len(clipped.loss)
        show.note(key, loss=loss, updates=updates, clipped=clipped.clipped)


def draw_cliff(p: CutParams, show: Show) -> None:
    ground = show.run(vanishing_gradients.surface, name="ground")
    free, clipped = (
        show.run(
            vanishing_gradients.walk, p.start_weight, p.start_bias, theta, p.rate_cliff, name=name
        )
        for name, theta in (("without", None), ("with_clipping", p.threshold))
    )
    show.figure(cliff, ground, free, clipped, p.threshold)
    show.readouts(
        free, cliff_norm="largest_norm", cliff_step="longest_step", cliff_free="last_error"
    )
    show.readouts(clipped, cliff_clipped="last_error")
    if free.largest_norm <= p.threshold:
        show.note("cliff_same", norm=number(free.largest_norm), threshold=number(p.threshold))
        return
    late = clipped.error[-50:]  # at the foot of the cliff it swings: one error alone is chance
    low, high = number(late.min()), number(late.max())
    show.note(
        "cliff" if low != high else "cliff_still",
        update=free.steepest, norm=number(free.largest_norm),
        step=number(free.longest_step), error=number(free.last_error),
        threshold=number(p.threshold), longest=number(clipped.longest_step),
        clipped=number(clipped.last_error), low=low, high=high,
    )  # fmt: skip


def tell_race(p: RaceParams, done: recall.CellComparison, show: Show) -> None:
    for cell in p.cells:
        update = done.learned_at(cell)
        verdict = show.words("metric.learned.never")
        if update is not None:
            verdict = show.words("metric.learned.at", update=update)
        show.readout(f"learned_{cell}", done.accuracy_at_end, cell, beside=verdict)
    winners, losers = (
        [show.option("cells", c) for c, ok in zip(p.cells, done.learned, strict=True) if ok == won]
        for won in (True, False)
    )
    said = {
        name: show.words("road.names").join(those)
        for name, those in (("winners", winners), ("losers", losers))
    }
    key = "race_none" if not winners else "race_won" if losers else "race_all"
    show.note(key, **said, updates=int(done.updates[-1]))
    felt = [
        f"{show.option('cells', cell)} {format_log10(float(norm))}"
        for cell, norm in zip(p.cells, done.log10_gradients[-1, :, 0], strict=True)
    ]
    key = "race_felt" if p.task == "first" else "race_felt_adding"
    show.note(key, gradients=show.words("road.comma").join(felt))


def tell_sentence(
    p: ReachParams, found: list[vanishing_gradients.GradientReach], show: Show
) -> None:
    """How much of the last word's error reaches the second word (of two, the first)."""
    labels = found[0].labels or ()
    step = 2 if len(labels) > 2 else 1
    shares = show.words("road.comma").join(
        f"{on_road(cell, show)} {percent(one.arrives(step))}"
        for cell, one in zip(p.cells, found, strict=True)
    )
    show.note(
        "sentence", word=escape_markdown(vanishing_gradients.split(p.sentence)[len(labels)]),
        last=escape_markdown(labels[-1]),
        earlier=escape_markdown(labels[step - 1]), back=len(labels) - step, shares=shares,
    )  # fmt: skip


def tell_reach(
    p: ReachParams,
    found: list[vanishing_gradients.GradientReach],
    matrix: vanishing_gradients.MatrixSpectrum,
    show: Show,
) -> None:
    """The verdict on W, and beside it what was measured."""
    sigma, radius = beside_one(matrix.sigma_max), beside_one(matrix.radius)
    show.note(matrix.verdict, sigma=sigma, radius=radius)
    by_cell = dict(zip(p.cells, found, strict=True))
    factors = [f"{on_road(cell, show)} {number(one.factor)}" for cell, one in by_cell.items()]
    show.note("measured", radius=radius, factors=show.words("road.comma").join(factors))
    if "linear" in by_cell and "rnn" in by_cell:
        linear, tanh = (number(by_cell[cell].factor) for cell in ("linear", "rnn"))
        show.note("tanh", linear=linear, tanh=tanh)
    one = by_cell.get("lstm")
    if one is not None and one.horizon != one.horizon_hidden:
        show.note("on_c", cell_state=one.horizon_seen(), hidden=one.horizon_seen(on_h=True))
    if p.signal == "sentence":
        tell_sentence(p, found, show)
    for cell, its in by_cell.items():
        name = show.option("cells", cell)
        if its.overflow is not None:
            show.note("overflow", cell=name, step=its.overflow, last=its.overflow - 1)
        if its.left_with is not None:
            below = "left_zero" if its.left_with == -inf else "left_below"
            key = "left_above" if its.left_with > 0 else below
            show.note(key, cell=name, step=its.left_float32, value=format_log10(its.left_with))


@lesson.bench("reach", ReachParams, leads=True)
def reach(p: ReachParams, show: Show) -> None:
    found = [
        show.run(vanishing_gradients.reach, experiment(p, cell), name=cell) for cell in p.cells
    ]
    matrix = matrix_of(p, show)
    show.figure(gradient_reach, p.cells, found, matrix)
    show.readouts(matrix, "sigma_max", "radius")
    horizons = [one.horizon for one in found]
    for name, steps in {"longest": max(horizons), "shortest": min(horizons)}.items():
        if name == "longest" or steps < max(horizons):
            whose = [on_road(c, show) for c, h in zip(p.cells, horizons, strict=True) if h == steps]
            everyone = len(whose) == len(found) > 1
            beside = show.words("road.all" if everyone else "road.names")
            beside = beside if everyone else beside.join(whose)
            show.readout(name, found[horizons.index(steps)].horizon_seen, beside=beside)
    tell_reach(p, found, matrix, show)
    if "rnn" in p.cells and p.steps > FAR:
        rnn = found[p.cells.index("rnn")]
        show.target("rnn_reaches", rnn.horizon >= FAR, far=FAR, horizon=rnn.horizon_seen())


@lesson.bench("pairs", PairsParams, after=("reach",))
def pairs(p: PairsParams, show: Show) -> None:
    world = lesson.values("reach")
    asked = experiment(world, p.cell)
    part = p.part if p.cell == "lstm" else "hidden"
    found = show.run(vanishing_gradients.pair_norms, asked, part, p.norm)
    last = int(found.steps[-1])
    earlier, later = sorted((min(p.earlier, last), min(p.later, last)))
    chosen = show.run(vanishing_gradients.pair_spectrum, asked, earlier, later, part, name="chosen")
    matrix = matrix_of(world, show)
    show.figure(
        pair_map, found, chosen, earlier, later, p.cell, matrix,
        picks=("earlier", "later"),
    )  # fmt: skip
    show.metrics(pair=f"{earlier} → {later}")
    show.readouts(chosen, "largest")
    show.readouts(chosen, "smallest", digits=chosen.digits)
    show.readout("bound", matrix.bound, later - earlier)
    if earlier == later:
        show.note("pair_same", step=earlier)
    elif chosen.largest == -inf:  # units that ReLU has switched off
        show.note("pair_zero", earlier=earlier, later=later)
    else:
        show.note(
            "pair", earlier=earlier, later=later, largest=format_log10(chosen.largest),
            strong=chosen.strong, count=len(chosen.log10),
        )  # fmt: skip
    if found.stride > 1:
        show.caption(show.words("note.stride", stride=found.stride))
    if chosen.lost and chosen.largest > -inf:
        key = "note.lost" if chosen.lost > 1 else "note.lost_one"
        show.caption(show.words(key, lost=chosen.lost))


@lesson.bench("paths", PathsParams)
def paths(p: PathsParams, show: Show) -> None:
    small = GradientExperiment(p.cell, p.steps, 4, gain=p.gain, loss="mean", seed=p.seed)
    found = show.run(vanishing_gradients.paths, small, p.t)
    show.figure(path_bars, found, p.printed)
    show.readouts(
        found, total="length", autograd="autograd_length", mismatch="mismatch",
        printed_mismatch="printed_mismatch",
        beside={"total": show.words("metric.total.beside"), "autograd": "PyTorch"},
    )  # fmt: skip
    step, share = found.largest
    if p.t == p.steps:
        show.note("share_alone", last=p.steps)
    else:
        show.note(
            "share", step=step, share=number(share), total=number(found.length), t=p.t,
            last=p.steps, stretch=number(float(found.stretch[-1])),
            least=number(float(found.error.min())), most=number(float(found.error.max())),
        )  # fmt: skip
        if not 0 <= share <= found.length:
            show.note("share_over")
    if p.printed:
        show.note("printed_last" if p.t == p.steps else "printed", t=p.t, last=p.steps)


@lesson.bench("back", BackParams)
def back(p: BackParams, show: Show) -> None:
    small = GradientExperiment(
        p.cell, p.steps, p.width, gain=0.8, loss="mean", seed=p.seed, shift=p.shift
    )
    found = show.run(vanishing_gradients.recursion, small)
    show.figure(unrolled_graph, found, p.taken)
    if p.taken == 0:
        return show.note("not_begun", last=p.steps)
    t = p.steps - p.taken + 1
    show.note("equation", equation=recursion_step(found, t))
    carried, own, total = (number(of(t)) for of in (found.carried, found.own_error, found.length))
    key = "entered" if t == p.steps else "carried"
    show.note(key, t=t, carried=carried, own=own, total=total)


@lesson.bench("weights", WeightGradientParams)
def weights(p: WeightGradientParams, show: Show) -> None:
    small = GradientExperiment(p.cell, p.steps, 6, gain=p.gain, loss=p.loss, seed=p.seed)
    found = show.run(vanishing_gradients.weight_steps, small, p.matrix)
    show.figure(weights_by_step, found, p.matrix, p.t)
    show.readouts(
        found, weight_total="length", weight_autograd="autograd_length", weight_mismatch="mismatch",
        beside={"weight_autograd": "PyTorch"},
    )  # fmt: skip
    share = found.shares[p.t - 1] / found.length if found.length > 0 else 0.0
    show.metrics(weight_step=(percent(float(share)), f"t = {p.t}"))
    few = "weights_one" if found.enough == 1 else "weights_enough"
    many = "weights_every" if found.enough == p.steps else "weights_all"
    key = few if found.enough <= p.steps / 2 else many
    matrix = show.option("matrix", p.matrix)
    show.note(key, enough=found.enough, steps=p.steps, matrix=matrix)


@lesson.bench("cut", CutParams, after=("reach",))
def cut(p: CutParams, show: Show) -> None:
    if p.view in ("clipping", "cliff"):
        (draw_clipping if p.view == "clipping" else draw_cliff)(p, show)
        return
    world = lesson.values("reach")
    asked = modest(world, p.cell)
    if p.view == "random":
        found = show.run(vanishing_gradients.randomized, asked, p.stop, DRAWS, p.seed)
        show.figure(mean_of_draws, found)
        show.readouts(
            found, expected="expected", one_draw="error_of_one", all_draws="error_of_all",
            fixed="fixed", beside={"all_draws": f"n = {found.draws[-1]:,}"},
        )  # fmt: skip
        key = "random_nearer" if found.error_of_all < found.fixed else "random_farther"
        show.note(
            "random_little" if found.fixed < UNSEEN else key,
            draws=f"{found.draws[-1]:,}", mean=number(found.error_of_all),
            one=number(found.error_of_one), window=found.window, fixed=number(found.fixed),
        )  # fmt: skip
    else:
        curve = show.run(vanishing_gradients.truncation, asked, p.kind, name="curve")
        window = curve.nearest(p.window)
        parts = show.run(vanishing_gradients.terms, asked, window, p.kind, name="parts")
        show.figure(kept_and_lost, parts, curve, window)
        show.metrics(window=f"k = {window}")
        show.readout("kept", curve.kept_by, window)
        show.readout("angle", curve.angle_of, window)
        show.readout("length", curve.length_of, window)
        angle, length = curve.angle_of(window), curve.length_of(window)
        little = angle <= LITTLE[0] and abs(length - 1) <= LITTLE[1]
        if window >= asked.steps:
            show.note("nothing_dropped", window=window)
        else:
            show.note(
                f"{p.kind}_little" if little else f"{p.kind}_much", window=window,
                kept=percent(curve.kept_by(window)), angle=number(angle), length=number(length),
            )  # fmt: skip
    if asked.steps < world.steps or asked.width < world.width:
        show.caption(show.words("note.modest", steps=asked.steps, width=asked.width))


@lesson.bench("gates", GatesParams, after=("reach",))
def gates(p: GatesParams, show: Show) -> None:
    world = lesson.values("reach")
    steps, width = min(world.steps, MOST_STEPS), min(world.width, MOST_WIDTH)
    found = show.run(
        vanishing_gradients.simplified_gru, p.update, p.reset, world.init, width, world.gain,
        world.seed, steps,
    )  # fmt: skip
    show.figure(gated_jacobian, found, p.update, p.reset)
    powers = dict.fromkeys(("gru_power", "rnn_power"), f"k = {steps}")
    show.readouts(
        found, gru_radius="radius", rnn_radius="radius_rnn", gru_power="last_norm",
        rnn_power="last_norm_rnn", beside=powers,
    )  # fmt: skip
    if (steps, width) != (world.steps, world.width):
        show.caption(show.words("note.modest_gates", steps=steps, width=width))
    if p.update == 0:
        show.note("identity")
    elif (p.update, p.reset) == (1, 0):
        show.note("zero")
    elif (p.update, p.reset) == (1, 1):
        show.note("plain")
    else:
        show.note(
            "gated", radius=number(found.radius_rnn), gated=number(found.radius), steps=steps,
            rnn=format_log10(found.last_norm_rnn), gru=format_log10(found.last_norm),
        )  # fmt: skip


def of_race(p: RaceParams) -> recall.RecallSettings:
    """What the cells are trained with."""
    bias, updates, rate = (
        (p.bias, p.updates, p.rate)
        if p.task == "first"
        else (p.bias_adding, p.updates_adding, p.rate_adding)
    )
    return recall.RecallSettings(
        p.task, p.delay, p.cells, p.hidden, updates=updates, learning_rate=rate,
        forget_bias=0.0 if p.view == "closed" else bias, seed=p.seed,
    )  # fmt: skip


def class_race(p: RaceParams, show: Show) -> ClassRun:
    """What each seat's own cells have learned after half of the updates."""
    if p.view == "ladder":
        raise UserError("class_ladder", "A class runs one delay. Choose another view.")
    usual = of_race(p)
    settings = replace(usual, seed=0, updates=usual.updates // 2)
    chance = percent(recall.baseline(p.task).accuracy)
    return ClassRun(
        partial(recall.compare_seeds, settings=settings),
        show.words("class.race.quantity", updates=settings.updates),
        show.words("class.race.settings", delay=p.delay, updates=settings.updates,
                   usual=usual.updates, bias=f"{settings.forget_bias:g}",
                   task=show.option("task", p.task), chance=chance),
        kinds=[show.option("cells", cell) for cell in p.cells],
        at_once=10, long=True,
    )  # fmt: skip


@lesson.bench("race", RaceParams, replicate=class_race)
def race(p: RaceParams, show: Show) -> None:
    settings = of_race(p)
    train: Any = recall.find_longest_delay
    draw: Any = accuracy_by_delay
    so_far: Any = accuracy_by_delay_progress
    if p.view != "ladder":
        train, draw, so_far = recall.compare, race_course, race_progress
    reports = (so_far, settings)
    done = show.job(train, name="done", settings=settings, then=(draw,), so_far=reports)
    if p.view != "ladder":
        return tell_race(p, done, show)
    for cell in p.cells:
        show.readout(f"longest_{cell}", done.longest_of, cell)
    reached = [f"{show.option('cells', c)} {done.longest_of(c) or '–'}" for c in p.cells]
    reached_by = show.words("road.comma").join(reached)
    show.note("ladder", reached=reached_by, updates=settings.updates)
    last = int(done.delays[-1])
    ended = [show.option("cells", c) for c in p.cells if done.longest_of(c) == last]
    if ended:
        show.note("ladder_end", cells=show.words("road.names").join(ended), last=last)


def horizon(gain: float) -> float:
    """After how many steps has an orthogonal network with this gain lost 99% of the gradient?"""
    return vanishing_gradients.reach(
        GradientExperiment("linear", 200, 8, "orthogonal", gain)
    ).horizon


lesson.exercise(
    "horizon",
    cases=[{"gain": gain} for gain in (0.9, 0.8, 0.95, 0.7, 0.5)],
    answer=horizon,
    within=0.5,
)

# A gain above 1: the linear network explodes, and the tanh network with the same matrix vanishes.
lesson.sketch(
    "tanh", kind="curve", bench="reach", values={"cells": ("linear", "rnn"), "gain": 1.2},
    shown=(0,), answer=(2,),
)  # fmt: skip
