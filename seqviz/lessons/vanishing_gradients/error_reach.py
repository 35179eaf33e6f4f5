"""Benches on the reach of the error: by cell, and between every pair of steps."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import inf
from typing import Any, TypeAlias

from seqviz.compute import vanishing_gradients
from seqviz.compute.vanishing_gradients import GradientExperiment
from seqviz.core.i18n import number
from seqviz.figures.vanishing_gradients.norms import gradient_reach
from seqviz.figures.vanishing_gradients.pairs import pair_map
from seqviz.lessons.framework.controls import choice, on, seed, slider, text_input
from seqviz.lessons.framework.controls import select_slider as stops
from seqviz.lessons.framework.lesson import read_params
from seqviz.lessons.framework.show import Show

Reaches: TypeAlias = Mapping[str, vanishing_gradients.GradientReach]  # by cell
WIDTHS = (2, 4, 8, 16, 32, 64, 128, 256)
SENTENCE = "The flights the airline was cancelling were"  # the last error is that of the verb
# Limits for a class: the cost of these benches grows at least with T d^2.
MOST_STEPS, MOST_WIDTH, DRAWS = 200, 64, 1024
DIGITS = 10  # maximum number of digits of a singular value near 1
MENTIONED_PEAK = 1.01  # growth of an error that a sentence states
FAR = 50  # horizon in steps that reaches the target
# Each of the two tasks has its three controls, because they need different settings to be learned
# in seconds (see RecallSettings).
SCALED = tuple(init for init in vanishing_gradients.INITS if init != "non_normal")  # by the gain


@dataclass(frozen=True)
class ReachParams:
    """Controls of the network under study, which the benches below read, too."""

    cells: tuple[str, ...] = choice(
        vanishing_gradients.CELLS, ("linear", "rnn", "lstm", "gru"), many=True
    )
    steps: int = slider(2, 500, 100)
    init: str = choice(vanishing_gradients.INITS, "gaussian", menu=True, more=True)
    gain: float = slider(0.1, 2.0, 0.9, 0.01, when=on(init=SCALED))
    signal: str = choice(vanishing_gradients.SIGNALS, "random", menu=True, more=True)
    sentence: str = text_input(SENTENCE, when=on(signal="sentence"), more=True)
    width: int = stops(WIDTHS, 32, more=True)
    loss: str = choice(vanishing_gradients.LOSSES, "last", more=True)
    forget_bias: float = slider(-2.0, 6.0, 1.0, 0.25, more=True, when=on(cells="lstm"))
    update_bias: float = slider(-2.0, 6.0, 1.0, 0.25, more=True, when=on(cells="gru"))
    seed: int = seed(1, more=True)


def experiment(p: ReachParams, cell: str) -> GradientExperiment:
    """Return the settings of the first bench for one cell."""
    chosen = GradientExperiment(
        cell, p.steps, p.width, p.init, p.gain, p.forget_bias, p.update_bias, p.signal,
        loss=p.loss, seed=p.seed,
    )  # fmt: skip
    return replace(chosen, sentence=p.sentence) if p.signal == "sentence" else chosen


def modest(p: ReachParams, cell: str) -> GradientExperiment:
    """Return the same settings, limited in size to answer within a second."""
    request = experiment(p, cell)
    steps, width = min(request.steps, MOST_STEPS), min(request.width, MOST_WIDTH)
    return replace(request, steps=steps, width=width, loss="mean")


def matrix_of(p: ReachParams, show: Show) -> vanishing_gradients.MatrixSpectrum:
    """Return the spectrum of the recurrent matrix, which all cells share."""
    return show.run(vanishing_gradients.spectrum, p.init, p.width, p.gain, p.seed, name="matrix")


def beside_one(value: float) -> str:
    """Return a number with enough digits to show on which side of 1 it is."""
    digits = next((d for d in range(3, DIGITS + 1) if round(value, d - 1) != 1), 3)
    return number(value, digits)


def on_road(cell: str, show: Show) -> str:
    """Return the cell's name, with the state of the measured path if there are two."""
    name = show.option("cells", cell)
    return show.words("road.cell_state", cell=name) if cell == "lstm" else name


def list_cells(key: str, values: Mapping[str, Any], show: Show) -> str:
    """Return a list of the values of the cells, each formatted by `road.<key>` of the texts."""
    words = [show.words(f"road.{key}", cell=cell, value=value) for cell, value in values.items()]
    return show.words("road.comma").join(words)


def tell_sentence(p: ReachParams, reaches: Reaches, show: Show) -> None:
    """State the share of the last word's error that reaches the second word (of two, the first)."""
    labels = next(iter(reaches.values())).labels or ()
    step = 2 if len(labels) > 2 else 1
    shares = {on_road(cell, show): item.arrives(step) for cell, item in reaches.items()}
    show.note(
        "sentence", word=vanishing_gradients.split(p.sentence)[len(labels)], last=labels[-1],
        earlier=labels[step - 1], back=len(labels) - step,
        shares=list_cells("share", shares, show),
    )  # fmt: skip


def tell_reach(
    p: ReachParams, reaches: Reaches, matrix: vanishing_gradients.MatrixSpectrum, show: Show
) -> None:
    """State the verdict on W and the measured factors."""
    sigma, radius = beside_one(matrix.sigma_max), beside_one(matrix.radius)
    linear = reaches.get("linear")
    grown = matrix.verdict == "between" and linear is not None and linear.peak > MENTIONED_PEAK
    verdict = "between_grown" if grown else matrix.verdict
    show.note(verdict, sigma=sigma, radius=radius, linear=linear)
    factors = {on_road(cell, show): item.factor for cell, item in reaches.items()}
    show.note("measured", radius=radius, factors=list_cells("factor", factors, show))
    if "linear" in reaches and "rnn" in reaches:
        show.note("tanh", linear=reaches["linear"], rnn=reaches["rnn"])
    entry = reaches.get("lstm")
    if entry is not None and entry.horizon != entry.horizon_hidden:
        show.note("on_c", cell_state=entry.horizon_seen(), hidden=entry.horizon_seen(on_h=True))
    if p.signal == "sentence":
        tell_sentence(p, reaches, show)
    for cell, its in reaches.items():
        name = show.option("cells", cell)
        if its.overflow is not None:
            show.note("overflow", cell=name, step=its.overflow, last=its.overflow - 1)
        if its.left_with is not None:
            show.facts(its.end_of_float32, note="left", cell=name)


def reach(p: ReachParams, show: Show) -> None:
    results = [show.run(vanishing_gradients.reach, experiment(p, cell), name=cell)
               for cell in p.cells]  # fmt: skip
    matrix = matrix_of(p, show)
    show.figure(gradient_reach, p.cells, results, matrix)
    show.readouts(matrix, "sigma_max", "radius")
    horizons = [item.horizon for item in results]
    for name, steps in {"longest": max(horizons), "shortest": min(horizons)}.items():
        if name == "longest" or steps < max(horizons):
            whose = [on_road(c, show) for c, h in zip(p.cells, horizons, strict=True) if h == steps]
            everyone = len(whose) == len(results) > 1
            beside = show.words("road.all" if everyone else "road.names")
            beside = beside if everyone else beside.join(whose)
            show.readout(name, results[horizons.index(steps)].horizon_seen, caption=beside)
    tell_reach(p, dict(zip(p.cells, results, strict=True)), matrix, show)
    if "rnn" in p.cells and p.steps > FAR:
        rnn = results[p.cells.index("rnn")]
        show.target("rnn_reaches", rnn.horizon >= FAR, far=FAR, horizon=rnn.horizon_seen())


@dataclass(frozen=True)
class PairsParams:
    """Controls of the bench on pairs of steps."""

    cell: str = choice(vanishing_gradients.CELLS, "rnn", menu=True)
    earlier: int = slider(1, 500, 40)
    later: int = slider(1, 500, 80)
    norm: str = choice(vanishing_gradients.NORMS, "rms", more=True)
    part: str = choice(vanishing_gradients.STATE_PARTS, "cell_state", when=on(cell="lstm"))


def pairs(p: PairsParams, show: Show) -> None:
    world = read_params("reach", ReachParams)
    request = experiment(world, p.cell)
    part = p.part if p.cell == "lstm" else "hidden"
    pair_norms = show.run(vanishing_gradients.pair_norms, request, part, p.norm)
    last = int(pair_norms.steps[-1])
    earlier, later = sorted((min(p.earlier, last), min(p.later, last)))
    pair = request, earlier, later, part
    chosen = show.run(vanishing_gradients.pair_spectrum, *pair, name="chosen")
    matrix = matrix_of(world, show)
    picks = ("earlier", "later")
    show.figure(pair_map, pair_norms, chosen, earlier, later, p.cell, matrix, picks=picks)
    show.metrics(pair=f"{earlier} → {later}")
    show.readouts(chosen, "largest")
    show.readouts(chosen, "smallest", digits=chosen.digits)
    show.readout("bound", matrix.bound, later - earlier)
    if earlier == later:
        show.note("pair_same", step=earlier)
    elif chosen.largest == -inf:  # units that ReLU has switched off
        show.note("pair_zero", earlier=earlier, later=later)
    else:
        show.note("pair", earlier=earlier, later=later, chosen=chosen, count=len(chosen.log10))
    if pair_norms.stride > 1:
        show.caption(show.words("note.stride", stride=pair_norms.stride))
    if chosen.lost and chosen.largest > -inf:
        key = "note.lost" if chosen.lost > 1 else "note.lost_one"
        show.caption(show.words(key, lost=chosen.lost))
