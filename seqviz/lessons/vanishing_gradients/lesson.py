"""Declaration of the lesson "Vanishing gradients"."""

from __future__ import annotations

from seqviz.compute import vanishing_gradients
from seqviz.compute.vanishing_gradients import GradientExperiment
from seqviz.lessons.framework.lesson import Lesson
from seqviz.lessons.vanishing_gradients import error_reach, gated_cells, gradient_paths, truncation

lesson = Lesson(
    "vanishing_gradients",
    code=(vanishing_gradients.log_norms, vanishing_gradients.pair_norms, vanishing_gradients.reach),
    core=("race", "reach", "back", "gates"),
)

race = lesson.bench("race", gated_cells.RaceParams, replicate=gated_cells.class_race)(
    gated_cells.race
)
reach = lesson.bench("reach", error_reach.ReachParams, leads=True)(error_reach.reach)
back = lesson.bench("back", gradient_paths.BackParams)(gradient_paths.back)
gates = lesson.bench("gates", gated_cells.GatesParams, after=("reach",))(gated_cells.gates)
paths = lesson.bench("paths", gradient_paths.PathsParams)(gradient_paths.paths)
weights = lesson.bench("weights", gradient_paths.WeightGradientParams)(gradient_paths.weights)
pairs = lesson.bench("pairs", error_reach.PairsParams, after=("reach",))(error_reach.pairs)
cut = lesson.bench("cut", truncation.CutParams, after=("reach",))(truncation.cut)


def horizon(gain: float) -> float:
    """Return the number of steps after which an orthogonal network has lost 99% of the gradient."""
    return vanishing_gradients.reach(
        GradientExperiment("linear", 200, 8, "orthogonal", gain)
    ).horizon


lesson.exercise(
    "horizon",
    cases=[{"gain": gain} for gain in (0.9, 0.8, 0.95, 0.7, 0.5)],
    answer=horizon,
    within=0.5,
)

# With a gain above 1 the linear network explodes; the tanh network with the same matrix vanishes.
lesson.sketch(
    "tanh", kind="curve", bench="reach", values={"cells": ("linear", "rnn"), "gain": 1.2},
    visible=(0,), answer=(2,),
)  # fmt: skip

lesson.question("norm", "reach", at={"init": "non_normal"}, veils=False)
lesson.question("index", "paths")
lesson.question("truncation", "cut", at={"view": "random"})
lesson.question("race", "race")
