"""Benches on a small network with all numbers: paths, the recursion, a weight gradient."""

from __future__ import annotations

from dataclasses import dataclass

from seqviz.compute import vanishing_gradients
from seqviz.compute.vanishing_gradients import GradientExperiment
from seqviz.figures.vanishing_gradients.paths import path_bars, recursion_step, unrolled_graph
from seqviz.figures.vanishing_gradients.weights import weights_by_step
from seqviz.lessons.framework.controls import choice, for_course, seed, slider, step_slider, toggle
from seqviz.lessons.framework.show import Show


@dataclass(frozen=True)
class PathsParams:
    """Controls of the bench on paths in a small network."""

    cell: str = choice(("linear", "rnn"), "linear")
    steps: int = slider(2, 30, 6)
    t: int = slider(1, 30, 1, within="steps", more=True)
    gain: float = slider(0.1, 1.5, 0.8, 0.05)
    printed: bool = for_course(toggle(False))
    seed: int = seed(1, more=True)


def paths(p: PathsParams, show: Show) -> None:
    small = GradientExperiment(p.cell, p.steps, 4, gain=p.gain, loss="mean", seed=p.seed)
    result = show.run(vanishing_gradients.paths, small, p.t)
    show.figure(path_bars, result, p.printed)
    show.readouts(
        result, total="length", autograd="autograd_length", mismatch="mismatch",
        caption={"total": show.words("metric.total.beside"), "autograd": "PyTorch"},
    )  # fmt: skip
    if p.printed:
        show.readouts(result, printed_mismatch="printed_mismatch")
    if p.t == p.steps:
        show.note("share_alone", last=p.steps)
    else:
        show.facts(result.largest_share, note="share")
        if not 0 <= result.largest[1] <= result.length:
            show.note("share_over")
    if p.printed:
        show.note("printed_last" if p.t == p.steps else "printed", t=p.t, last=p.steps)


@dataclass(frozen=True)
class BackParams:
    """Controls of the bench on the recursion in a very small network."""

    steps: int = slider(2, 6, 4)
    taken: int = step_slider(0, 6, 1, within="steps")
    cell: str = choice(("linear", "rnn"), "linear")
    gain: float = slider(0.1, 1.5, 0.8, 0.05, more=True)
    loss: str = choice(vanishing_gradients.LOSSES, "mean", more=True)
    width: int = slider(1, 3, 2, more=True)
    shift: float = slider(-3.0, 3.0, 0.0, 0.1, more=True)
    seed: int = seed(1, more=True)


def back(p: BackParams, show: Show) -> None:
    small = GradientExperiment(
        p.cell, p.steps, p.width, gain=p.gain, loss=p.loss, seed=p.seed, shift=p.shift
    )
    recursion = show.run(vanishing_gradients.recursion, small)
    show.figure(unrolled_graph, recursion, p.taken, picks=("taken", ""))
    if p.taken == 0:
        return show.notice("not_begun", last=p.steps)
    t = p.steps - p.taken + 1
    show.note("equation", equation=recursion_step(recursion, t))
    show.note(
        "entered" if t == p.steps else "carried", t=t, carried=recursion.carried(t),
        own=recursion.own_error(t), total=recursion.length(t), entered=recursion.length(p.steps),
    )  # fmt: skip


@dataclass(frozen=True)
class WeightGradientParams:
    """Controls of the bench on the gradient of a weight matrix."""

    matrix: str = choice(vanishing_gradients.MATRICES, "hidden_hidden", menu=True)
    steps: int = slider(2, 30, 20, more=True)
    t: int = step_slider(1, 30, 20, within="steps")
    cell: str = choice(("linear", "rnn"), "linear", more=True)
    gain: float = slider(0.1, 1.5, 0.8, 0.05)
    loss: str = choice(vanishing_gradients.LOSSES, "last", more=True)
    seed: int = seed(1, more=True)


def weights(p: WeightGradientParams, show: Show) -> None:
    small = GradientExperiment(p.cell, p.steps, 6, gain=p.gain, loss=p.loss, seed=p.seed)
    weight_steps = show.run(vanishing_gradients.weight_steps, small, p.matrix)
    show.figure(weights_by_step, weight_steps, p.matrix, p.t)
    show.readouts(
        weight_steps, weight_total="length", weight_autograd="autograd_length",
        weight_mismatch="mismatch", caption={"weight_autograd": "PyTorch"},
    )  # fmt: skip
    show.readout("weight_step", weight_steps.share_of, p.t, caption=f"t = {p.t}")
    show.facts(weight_steps.needed, note="weights", matrix=show.option("matrix", p.matrix))
