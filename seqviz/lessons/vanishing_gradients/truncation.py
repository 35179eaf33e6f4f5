"""Bench on truncated backpropagation: truncation, clipping, the cliff, random truncation."""

from __future__ import annotations

from dataclasses import dataclass

from seqviz.compute import vanishing_gradients
from seqviz.compute.vanishing_gradients import GradientExperiment
from seqviz.core.i18n import number
from seqviz.figures.vanishing_gradients.cliff import cliff
from seqviz.figures.vanishing_gradients.clipping import with_and_without_clipping
from seqviz.figures.vanishing_gradients.truncation import kept_and_lost, mean_of_draws
from seqviz.lessons.framework.controls import choice, on, seed, slider, view
from seqviz.lessons.framework.controls import select_slider as stops
from seqviz.lessons.framework.lesson import read_params
from seqviz.lessons.framework.show import Show
from seqviz.lessons.vanishing_gradients.error_reach import DRAWS, ReachParams, modest


@dataclass(frozen=True)
class CutParams:
    """Controls of the bench on truncation."""

    view: str = view(("terms", "clipping", "cliff", "random"), "terms")
    cell: str = choice(
        vanishing_gradients.CELLS, "rnn", menu=True, when=on(view=("terms", "random")), more=True
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


def draw_clipping(p: CutParams, show: Show) -> None:
    activation = "tanh" if p.activation == "rnn" else "linear"
    free, clipped = (
        show.run(vanishing_gradients.descend, activation, p.radius, theta, p.rate, p.seed,
                 name=name)
        for name, theta in (("without", None), ("with_clipping", p.threshold))
    )  # fmt: skip
    show.figure(with_and_without_clipping, free, clipped, p.threshold)
    show.readouts(free, loss_free="last_loss")
    show.readouts(clipped, loss_clipped="last_loss", largest_norm="largest_norm")
    show.metrics(clipped=f"{clipped.clipped} / {len(clipped.loss)}")
    if free.left_float32 is not None:
        show.note("free_left", update=free.left_float32)
    if clipped.left_float32 is not None:
        step, update = p.rate * p.threshold, clipped.left_float32
        show.note("clipped_left", update=update, threshold=p.threshold, step=step)
    elif clipped.last_loss is not None:
        key = "clipping_better" if clipped.last_loss < 1 else "clipping_no_better"
        show.note(key, run=clipped, updates=len(clipped.loss))


def draw_cliff(p: CutParams, show: Show) -> None:
    ground = show.run(vanishing_gradients.surface, name="ground")
    start = p.start_weight, p.start_bias
    free, clipped = (
        show.run(vanishing_gradients.walk, *start, theta, p.rate_cliff, name=name)
        for name, theta in (("without", None), ("with_clipping", p.threshold))
    )
    show.figure(cliff, ground, free, clipped, p.threshold)
    show.readouts(free, cliff_norm="largest_norm", cliff_step="longest_step",
                  cliff_free="last_error")  # fmt: skip
    show.readouts(clipped, cliff_clipped="last_error")
    if free.largest_norm <= p.threshold:
        show.note("cliff_same", norm=free.largest_norm, threshold=p.threshold)
        return
    late = clipped.error[-50:]  # the error oscillates below the cliff, so a single one says little
    low, high = number(late.min()), number(late.max())
    key = "cliff" if low != high else "cliff_still"
    show.note(key, free=free, clipped=clipped, threshold=p.threshold, low=low, high=high)
    moved = show.run(vanishing_gradients.walk, start[0] + vanishing_gradients.NUDGE, start[1],
                     p.threshold, p.rate_cliff, name="moved")  # fmt: skip
    if not clipped.ends_like(moved):
        show.note("cliff_rounding", one=clipped.last_error, other=moved.last_error)


def draw_random(p: CutParams, request: GradientExperiment, show: Show) -> None:
    randomized = show.run(vanishing_gradients.randomized, request, p.stop, DRAWS, p.seed)
    show.figure(mean_of_draws, randomized)
    show.readouts(
        randomized, expected="expected", one_draw="error_of_one", all_draws="error_of_all",
        fixed="fixed", caption={"all_draws": f"n = {randomized.draws[-1]:,}"},
    )  # fmt: skip
    show.facts(randomized.compared, note="random")


def draw_terms(p: CutParams, request: GradientExperiment, show: Show) -> None:
    curve = show.run(vanishing_gradients.truncation, request, p.kind, name="curve")
    window = curve.nearest(p.window)
    parts = show.run(vanishing_gradients.terms, request, window, p.kind, name="parts")
    show.figure(kept_and_lost, parts, curve, window)
    show.metrics(window=f"k = {window}")
    show.readout("kept", curve.kept_by, window)
    show.readout("angle", curve.angle_of, window)
    show.readout("length", curve.length_of, window)
    if window >= curve.windows[-1]:
        show.note("nothing_dropped", window=window)
    else:
        show.facts(curve.effect, window, note=p.kind)


def cut(p: CutParams, show: Show) -> None:
    if p.view in ("clipping", "cliff"):
        return (draw_clipping if p.view == "clipping" else draw_cliff)(p, show)
    world = read_params("reach", ReachParams)
    request = modest(world, p.cell)
    (draw_random if p.view == "random" else draw_terms)(p, request, show)
    if request.steps < world.steps or request.width < world.width:
        show.caption(show.words("note.modest", steps=request.steps, width=request.width))
    return None
