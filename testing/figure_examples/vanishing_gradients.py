"""Every figure of gradients through time, with small seeded networks and what came with the app."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TypeVar

import numpy as np

from seqviz.compute import vanishing_gradients
from seqviz.compute.vanishing_gradients import GradientExperiment
from seqviz.compute.vanishing_gradients.recall.results import (
    CellComparison,
    ComparisonReport,
    LongestDelay,
    LongestDelayReport,
)
from seqviz.compute.vanishing_gradients.recall.settings import RecallSettings
from seqviz.core.paths import ASSETS
from seqviz.figures.vanishing_gradients import (
    cliff,
    clipping,
    norms,
    pairs,
    paths,
    recall,
    simplified_gru,
    truncation,
    weights,
)
from testing.figure_examples import Example

R = TypeVar("R")
HOSTILE = "<b>a</b> b %{x} & c"


def examples() -> tuple[Example, ...]:
    """Every figure function of the subject; more than one where they have branches."""
    return (*_reaches(), *_pairs(), *_backward(), *_shortened(), *_trained())


def _reaches() -> tuple[Example, ...]:
    cells = ("linear", "rnn", "relu", "lstm", "gru")
    every = [vanishing_gradients.reach(GradientExperiment(cell, 30, 6)) for cell in cells]
    read = vanishing_gradients.reach(
        GradientExperiment("gru", signal="sentence", sentence=HOSTILE, width=6)
    )
    far = vanishing_gradients.reach(GradientExperiment("linear", 300, 6, gain=2.0))
    wide, shared = (
        vanishing_gradients.spectrum("gaussian", 6, 2.0, 1),
        vanishing_gradients.spectrum("gaussian", 6, 1.0, 1),
    )
    gated = [
        vanishing_gradients.simplified_gru(update, 0.7, "gaussian", 8, 1.2, 1, 20)
        for update in (0.1, 0.0)
    ]
    return (
        Example("reach of all cells", norms.gradient_reach, (cells, every, shared),
                every[3].horizon),
        Example("reach over a sentence", norms.gradient_reach, (("gru",), (read,), shared),
                read.horizon),
        Example("reach beyond float32", norms.gradient_reach, (("linear",), (far,), wide),
                far.horizon),
        Example("gates that do not change", simplified_gru.gated_jacobian, (gated[0], 0.1, 0.7),
                0.1),
        Example("a gate that keeps all", simplified_gru.gated_jacobian, (gated[1], 0.0, 0.7), 0.7),
    )  # fmt: skip


def _pairs() -> tuple[Example, ...]:
    shared = vanishing_gradients.spectrum("gaussian", 8, 1.0, 1)
    built = []
    for cell, part in (("rnn", "hidden"), ("lstm", "cell_state")):
        experiment = GradientExperiment(cell, 30, 8)
        every, item = (
            vanishing_gradients.pair_norms(experiment, part),
            vanishing_gradients.pair_spectrum(experiment, 5, 20, part),
        )
        built.append(
            Example(f"pairs of steps, {cell}", pairs.pair_map,
                    (every, item, 5, 20, cell, shared), 20)
        )  # fmt: skip
    return tuple(built)


def _backward() -> tuple[Example, ...]:
    result = vanishing_gradients.paths(GradientExperiment("linear", 6, 4, gain=0.8, loss="mean"), 2)
    back = vanishing_gradients.recursion(GradientExperiment("rnn", 4, 2, loss="mean"))
    total = float(result.along(result.terms).sum())
    sizes = np.linalg.norm(back.total, axis=1)
    parts = {
        matrix: vanishing_gradients.weight_steps(GradientExperiment(cell, 8, 4, loss=loss), matrix)
        for matrix, cell, loss in zip(
            vanishing_gradients.MATRICES,
            ("linear", "rnn", "linear"),
            ("last", "mean", "last"),
            strict=True,
        )
    }
    return (
        *(
            Example(f"gradient of {matrix} by step", weights.weights_by_step, (part, matrix, 7),
                    part.length)
            for matrix, part in parts.items()
        ),
        Example("paths of the errors", paths.path_bars, (result,), total),
        Example("paths as printed", paths.path_bars, (result, True), total),
        Example("backward, nothing yet", paths.unrolled_graph, (back, 0), 4),
        Example("backward, one step", paths.unrolled_graph, (back, 1), float(sizes[3])),
        Example("backward, all steps", paths.unrolled_graph, (back, 4), float(sizes[0])),
    )  # fmt: skip


def _shortened() -> tuple[Example, ...]:
    experiment = GradientExperiment("rnn", 20, 8, loss="mean")
    curve, parts = (
        vanishing_gradients.truncation(experiment),
        vanishing_gradients.truncation(experiment, "segments"),
    )
    samples = vanishing_gradients.randomized(experiment, 0.2, 64)
    free, clipped = (
        vanishing_gradients.descend("linear", 1.0, theta, updates=20) for theta in (None, 1.0)
    )
    calm = vanishing_gradients.descend("tanh", 0.9, None, updates=8)
    thrown, held = (vanishing_gradients.walk(5.0, -2.5, theta, 0.1, 70) for theta in (None, 1.0))
    return (
        Example("terms kept and lost", truncation.kept_and_lost,
                (vanishing_gradients.terms(experiment, 5), curve, 5), float(curve.length[4])),
        Example("no term lost", truncation.kept_and_lost,
                (vanishing_gradients.terms(experiment, 20, "segments"), parts, 20),
                float(parts.length[19])),
        Example("mean of random truncations", truncation.mean_of_draws, (samples,), samples.fixed),
        Example("a cliff", cliff.cliff, (vanishing_gradients.surface(), thrown, held, 1.0),
                held.last_error),
        Example("clipping", clipping.with_and_without_clipping, (free, clipped, 1.0),
                float(clipped.loss[-1])),
        Example("clipping that is not needed", clipping.with_and_without_clipping,
                (calm, calm, 10.0), float(calm.loss[-1])),
    )  # fmt: skip


def _trained() -> tuple[Example, ...]:
    race, search = shipped("compare", CellComparison), shipped("find_longest_delay", LongestDelay)
    begun = reports(race)[:3]
    return (
        Example("accuracy in a race", recall.race_course, (race,), int(race.updates[-1])),
        Example("accuracy while they train", recall.race_progress, (begun, race.settings),
                begun[-1].update),
        Example("longest delay learned", recall.accuracy_by_delay, (search,),
            int(search.longest[0])),
        Example("longest delay so far", recall.accuracy_by_delay_progress,
                (rungs(search)[:2], search.settings), int(search.delays[1])),
    )  # fmt: skip


def shipped(name: str, kind: Callable[..., R]) -> R:
    """What the function of this name found at the default settings: it came with the app.

    Only its arrays are read: training takes torch, which is not a figure's business.
    """
    folder, settings = ASSETS / "data" / "measured", RecallSettings()
    requested = f'"forget_bias": {settings.forget_bias}'  # its views differ in nothing else
    (path,) = (
        folder / entry["file"]
        for entry in json.loads((folder / "index.json").read_text("utf-8"))
        if entry["call"].startswith(f"{name} ") and requested in entry["call"]
    )
    return kind(settings=settings, **np.load(path, allow_pickle=False), device="cpu")


def reports(done: CellComparison) -> list[ComparisonReport]:
    """What it has reported on its way."""
    rows = zip(done.updates.tolist(), done.accuracy, done.loss, done.log10_gradients, strict=True)
    return [ComparisonReport(row[0], done.settings.updates, *row[1:]) for row in rows]


def rungs(done: LongestDelay) -> list[LongestDelayReport]:
    """The last report on each delay."""
    longest = np.maximum.accumulate(done.delays[:, None] * done.learned)
    return [
        LongestDelayReport(
            delay, int(done.updates[rung].max()), done.settings.updates, done.accuracy[rung],
            longest[rung], float(done.delays[: rung + 1].sum() / done.delays.sum()),
        )
        for rung, delay in enumerate(done.delays.tolist())
    ]  # fmt: skip
